//! The state machine of a context. Pure: the supervisor feeds it what happened and stores the state.

use protocol::{ContextState, ErrorCode, RuntimeError};

/// What can happen to a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContextInput {
    /// Someone needs it.
    Start,
    /// The backend said that it serves.
    Ready,
    /// The backend ended, or did not come up, and is started again.
    Ended,
    /// It is not started again: it cannot come up, or ended too often.
    GiveUp,
    /// It is being ended on purpose.
    Stop,
    /// After Stop: nothing of it is left.
    Gone,
    /// As `Gone`, when it was ended because nobody used it.
    Parked,
}

impl ContextInput {
    pub const ALL: &[ContextInput] = &[
        ContextInput::Start,
        ContextInput::Ready,
        ContextInput::Ended,
        ContextInput::GiveUp,
        ContextInput::Stop,
        ContextInput::Gone,
        ContextInput::Parked,
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a context that is {from} cannot take {input:?}")]
pub struct IllegalTransition {
    pub from: ContextState,
    pub input: ContextInput,
}

impl From<IllegalTransition> for RuntimeError {
    fn from(error: IllegalTransition) -> Self {
        let mut internal = RuntimeError::internal(error);
        internal.code = ErrorCode::IllegalTransition;
        internal
    }
}

/// The state after `input`.
///
/// | from | input → to |
/// |---|---|
/// | stopped, suspended, failed | start → starting |
/// | suspended, failed | stop → stopped |
/// | starting | ready → ready, ended → starting, give up → failed, stop → stopping |
/// | ready | ended → starting, stop → stopping |
/// | stopping | gone → stopped, parked → suspended |
pub fn next(from: ContextState, input: ContextInput) -> Result<ContextState, IllegalTransition> {
    use ContextInput as I;
    use ContextState as S;
    let to = match (from, input) {
        (S::Stopped | S::Suspended | S::Failed, I::Start) => S::Starting,
        (S::Suspended | S::Failed, I::Stop) => S::Stopped,
        (S::Starting, I::Ready) => S::Ready,
        (S::Starting | S::Ready, I::Ended) => S::Starting,
        (S::Starting, I::GiveUp) => S::Failed,
        (S::Starting | S::Ready, I::Stop) => S::Stopping,
        (S::Stopping, I::Gone) => S::Stopped,
        (S::Stopping, I::Parked) => S::Suspended,
        (from, input) => return Err(IllegalTransition { from, input }),
    };
    Ok(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_matrix() {
        let mut table = String::new();
        for &from in ContextState::ALL {
            for &input in ContextInput::ALL {
                let to = next(from, input).map_or("-", ContextState::as_str);
                table.push_str(&format!(
                    "{:<10} {:<8} {to}\n",
                    from.as_str(),
                    format!("{input:?}")
                ));
            }
        }
        insta::assert_snapshot!(table);
    }
}
