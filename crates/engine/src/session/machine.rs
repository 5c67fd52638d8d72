//! The session state machine (§51.1). No IO: the session's owner asks for the next state, records it as an
//! event, and only then acts on it.

use protocol::SessionState;
use thiserror::Error;

/// What happens to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionInput {
    /// The user sends a message.
    Send,
    /// The context is collected and the first model request is about to be sent.
    ContextReady,
    /// The model is asked for a plan first.
    PlanFirst,
    PlanProposed,
    PlanApproved,
    /// A call needs a person.
    ApprovalNeeded,
    ApprovalAnswered,
    /// An edit tool changes the draft.
    ChangeStarted,
    ChangeDone,
    /// A check of the project runs.
    CheckStarted,
    CheckDone,
    /// A check failed and is repaired.
    RepairStarted,
    /// The turn ended with nothing to review.
    Finished,
    /// The turn ended with changes to review.
    ReviewNeeded,
    AllAccepted,
    AllRejected,
    /// The review's outcome is recorded; nothing is left to do.
    Settled,
    Cancel,
    /// Everything the turn started has ended.
    CancelDone,
    Fail,
    /// Found at the next start: the process ended during a turn.
    Interrupted,
    /// The same, and its draft waits for review.
    InterruptedWithChanges,
}

impl SessionInput {
    pub const ALL: &[SessionInput] = &[
        SessionInput::Send,
        SessionInput::ContextReady,
        SessionInput::PlanFirst,
        SessionInput::PlanProposed,
        SessionInput::PlanApproved,
        SessionInput::ApprovalNeeded,
        SessionInput::ApprovalAnswered,
        SessionInput::ChangeStarted,
        SessionInput::ChangeDone,
        SessionInput::CheckStarted,
        SessionInput::CheckDone,
        SessionInput::RepairStarted,
        SessionInput::Finished,
        SessionInput::ReviewNeeded,
        SessionInput::AllAccepted,
        SessionInput::AllRejected,
        SessionInput::Settled,
        SessionInput::Cancel,
        SessionInput::CancelDone,
        SessionInput::Fail,
        SessionInput::Interrupted,
        SessionInput::InterruptedWithChanges,
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a session that is {state} cannot take {input:?}")]
pub struct IllegalTransition {
    pub state: SessionState,
    pub input: SessionInput,
}

/// | from | input | to |
/// |---|---|---|
/// | idle, complete, cancelled, awaiting_diff_review | Send | preparing_context |
/// | failed | Send | retrying |
/// | preparing_context, retrying | ContextReady | executing (retrying: preparing_context first) |
/// | preparing_context | PlanFirst | planning |
/// | planning | PlanProposed | awaiting_plan_approval |
/// | planning, awaiting_plan_approval | PlanApproved | executing |
/// | executing | ApprovalNeeded, ChangeStarted, CheckStarted | awaiting_tool_approval, applying_changes, verifying |
/// | those three | ApprovalAnswered, ChangeDone, CheckDone | executing |
/// | verifying | RepairStarted | repairing; repairing + ContextReady → executing |
/// | executing | Finished, ReviewNeeded | complete, awaiting_diff_review |
/// | awaiting_diff_review | AllAccepted, AllRejected | accepted, rejected |
/// | accepted, rejected | Settled | complete |
/// | any active | Cancel, Fail | cancelling, failed |
/// | any active | Interrupted, InterruptedWithChanges | failed, awaiting_diff_review |
/// | cancelling | CancelDone | cancelled |
pub fn next(state: SessionState, input: SessionInput) -> Result<SessionState, IllegalTransition> {
    use SessionInput as I;
    use SessionState as S;
    let to = match (state, input) {
        (S::Idle | S::Complete | S::Cancelled | S::AwaitingDiffReview, I::Send) => S::PreparingContext,
        (S::Failed, I::Send) => S::Retrying,
        (S::Retrying, I::ContextReady) => S::PreparingContext,
        (S::PreparingContext | S::Repairing, I::ContextReady) => S::Executing,
        (S::PreparingContext, I::PlanFirst) => S::Planning,
        (S::Planning, I::PlanProposed) => S::AwaitingPlanApproval,
        (S::Planning | S::AwaitingPlanApproval, I::PlanApproved) => S::Executing,
        (S::Executing, I::ApprovalNeeded) => S::AwaitingToolApproval,
        (S::AwaitingToolApproval, I::ApprovalAnswered) => S::Executing,
        (S::Executing, I::ChangeStarted) => S::ApplyingChanges,
        (S::ApplyingChanges, I::ChangeDone) => S::Executing,
        (S::Executing, I::CheckStarted) => S::Verifying,
        (S::Verifying, I::CheckDone) => S::Executing,
        (S::Verifying, I::RepairStarted) => S::Repairing,
        (S::Executing, I::Finished) => S::Complete,
        (S::Executing, I::ReviewNeeded) => S::AwaitingDiffReview,
        (S::AwaitingDiffReview, I::AllAccepted) => S::Accepted,
        (S::AwaitingDiffReview, I::AllRejected) => S::Rejected,
        (S::Accepted | S::Rejected, I::Settled) => S::Complete,
        (S::Cancelling, I::CancelDone) => S::Cancelled,
        (S::Cancelling, I::Cancel) => return Err(IllegalTransition { state, input }),
        (active, I::Cancel) if active.is_active() => S::Cancelling,
        (active, I::InterruptedWithChanges) if active.is_active() => S::AwaitingDiffReview,
        (active, I::Fail | I::Interrupted) if active.is_active() => S::Failed,
        _ => return Err(IllegalTransition { state, input }),
    };
    Ok(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_matrix() {
        let mut table = String::new();
        for state in SessionState::ALL {
            for input in SessionInput::ALL {
                let to = next(*state, *input).map_or("–".to_owned(), |to| to.to_string());
                table.push_str(&format!("{state:<22} {:<18} {to}\n", format!("{input:?}")));
            }
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn every_active_state_can_be_cancelled_and_can_fail() {
        for state in SessionState::ALL.iter().filter(|state| state.is_active()) {
            assert_eq!(
                next(*state, SessionInput::Fail),
                Ok(SessionState::Failed),
                "{state}"
            );
            if *state != SessionState::Cancelling {
                assert_eq!(
                    next(*state, SessionInput::Cancel),
                    Ok(SessionState::Cancelling),
                    "{state}"
                );
            }
        }
    }
}
