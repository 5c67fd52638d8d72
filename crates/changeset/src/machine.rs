//! The state machine of a change set (§51.3). Pure: it decides whether a step is legal, nothing else.

use protocol::ChangeSetStatus::{self, *};

/// What happens to a change set.
///
/// | from | input | to |
/// |---|---|---|
/// | draft | Propose | proposed |
/// | draft | Close (nothing is pending any more, something was accepted before) | accepted |
/// | draft | Withdraw (nothing is pending and nothing was accepted) | rejected |
/// | proposed | Show | pending_review |
/// | proposed | ShowRest (parts were accepted before it was reopened) | partially_accepted |
/// | pending_review, partially_accepted | AcceptPart | partially_accepted |
/// | pending_review, partially_accepted | AcceptRest | accepted |
/// | pending_review, partially_accepted | RejectPart | unchanged |
/// | pending_review, partially_accepted | RejectRest | rejected, or accepted if a part was accepted |
/// | pending_review, partially_accepted, conflicted | Conflict | conflicted |
/// | conflicted | Resolve | pending_review |
/// | conflicted | ResolveRest (parts were accepted before) | partially_accepted |
/// | pending_review, partially_accepted, conflicted | Reopen (more edits in the same session) | draft |
/// | partially_accepted, accepted, conflicted | Undo | restored |
/// | restored | Redo | accepted |
/// | restored | RedoPart (parts are pending again) | partially_accepted |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    Propose,
    Close,
    Withdraw,
    Show,
    ShowRest,
    AcceptPart,
    AcceptRest,
    RejectPart,
    RejectRest,
    Conflict,
    Resolve,
    ResolveRest,
    Reopen,
    Undo,
    Redo,
    RedoPart,
}

impl Input {
    pub const ALL: &[Input] = &[
        Input::Propose,
        Input::Close,
        Input::Withdraw,
        Input::Show,
        Input::ShowRest,
        Input::AcceptPart,
        Input::AcceptRest,
        Input::RejectPart,
        Input::RejectRest,
        Input::Conflict,
        Input::Resolve,
        Input::ResolveRest,
        Input::Reopen,
        Input::Undo,
        Input::Redo,
        Input::RedoPart,
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a change set that is {from} cannot take {input:?}")]
pub struct IllegalTransition {
    pub from: ChangeSetStatus,
    pub input: Input,
}

/// The state after `input`, as the table of [`Input`] says.
pub fn next(from: ChangeSetStatus, input: Input) -> Result<ChangeSetStatus, IllegalTransition> {
    let to = match (from, input) {
        (Draft, Input::Propose) => Proposed,
        (Draft, Input::Close) => Accepted,
        (Draft, Input::Withdraw) => Rejected,
        (Proposed, Input::Show) => PendingReview,
        (Proposed, Input::ShowRest) => PartiallyAccepted,
        (PendingReview | PartiallyAccepted, Input::AcceptPart) => PartiallyAccepted,
        (PendingReview | PartiallyAccepted, Input::AcceptRest) => Accepted,
        (PendingReview, Input::RejectPart) => PendingReview,
        (PendingReview, Input::RejectRest) => Rejected,
        (PartiallyAccepted, Input::RejectPart) => PartiallyAccepted,
        (PartiallyAccepted, Input::RejectRest) => Accepted,
        (PendingReview | PartiallyAccepted | Conflicted, Input::Conflict) => Conflicted,
        (Conflicted, Input::Resolve) => PendingReview,
        (Conflicted, Input::ResolveRest) => PartiallyAccepted,
        (PendingReview | PartiallyAccepted | Conflicted, Input::Reopen) => Draft,
        (PartiallyAccepted | Accepted | Conflicted, Input::Undo) => Restored,
        (Restored, Input::Redo) => Accepted,
        (Restored, Input::RedoPart) => PartiallyAccepted,
        _ => return Err(IllegalTransition { from, input }),
    };
    Ok(to)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    #[test]
    fn the_whole_matrix() {
        let mut matrix = String::new();
        for from in ChangeSetStatus::ALL {
            for input in Input::ALL {
                let to = next(*from, *input).map_or("illegal", ChangeSetStatus::as_str);
                writeln!(matrix, "{from:18} {:12} {to}", format!("{input:?}")).unwrap();
            }
        }
        insta::assert_snapshot!(matrix);
    }
}
