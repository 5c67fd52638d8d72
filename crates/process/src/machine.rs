//! The command state machine of §51.2. Pure: whoever owns a command feeds it inputs and stores the state.

use protocol::{CommandState, ErrorCode, RuntimeError};

/// What can happen to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommandInput {
    /// The policy wants a person's decision.
    AskApproval,
    /// The policy or a person allowed it.
    Approve,
    /// The policy or a person refused it: it never starts.
    Refuse,
    /// The process exists.
    Spawned,
    /// The process could not be made.
    SpawnFailed,
    /// The shell ended with status 0.
    ExitedZero,
    /// The shell ended with another status, or by a signal that was not ours.
    ExitedNonZero,
    /// The time limit passed and the tree was killed.
    TimeLimit,
    /// A person pressed Stop; the tree is being killed.
    Stop,
    /// After Stop: nothing of the tree is left.
    TreeGone,
    /// The turn or the session it belongs to was cancelled.
    Cancel,
}

impl CommandInput {
    pub const ALL: &[CommandInput] = &[
        CommandInput::AskApproval,
        CommandInput::Approve,
        CommandInput::Refuse,
        CommandInput::Spawned,
        CommandInput::SpawnFailed,
        CommandInput::ExitedZero,
        CommandInput::ExitedNonZero,
        CommandInput::TimeLimit,
        CommandInput::Stop,
        CommandInput::TreeGone,
        CommandInput::Cancel,
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a command that is {from} cannot take {input:?}")]
pub struct IllegalTransition {
    pub from: CommandState,
    pub input: CommandInput,
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
/// | queued | ask approval → awaiting_approval, approve → starting |
/// | awaiting_approval | approve → starting |
/// | starting | spawned → running, spawn failed → failed, stop → stopping |
/// | running | exited zero → succeeded, exited non-zero → failed, time limit → timed_out, stop → stopping |
/// | stopping | tree gone or exited → stopped |
/// | queued, awaiting_approval | refuse → cancelled |
/// | every state that is not terminal | cancel → cancelled |
///
/// A terminal state takes nothing, not even a cancel: a command has exactly one end.
pub fn next(from: CommandState, input: CommandInput) -> Result<CommandState, IllegalTransition> {
    use CommandInput as I;
    use CommandState as S;
    let to = match (from, input) {
        (S::Queued, I::AskApproval) => S::AwaitingApproval,
        (S::Queued | S::AwaitingApproval, I::Approve) => S::Starting,
        (S::Queued | S::AwaitingApproval, I::Refuse) => S::Cancelled,
        (S::Starting, I::Spawned) => S::Running,
        (S::Starting, I::SpawnFailed) => S::Failed,
        (S::Starting | S::Running, I::Stop) => S::Stopping,
        (S::Running, I::ExitedZero) => S::Succeeded,
        (S::Running, I::ExitedNonZero) => S::Failed,
        (S::Running, I::TimeLimit) => S::TimedOut,
        (S::Stopping, I::TreeGone | I::ExitedZero | I::ExitedNonZero) => S::Stopped,
        (state, I::Cancel) if !state.is_terminal() => S::Cancelled,
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
        for &from in CommandState::ALL {
            for &input in CommandInput::ALL {
                let to = next(from, input).map_or("-".to_owned(), |state| state.to_string());
                table.push_str(&format!(
                    "{:<18} {:<14} {to}\n",
                    from.as_str(),
                    format!("{input:?}")
                ));
            }
        }
        insta::assert_snapshot!(table);
    }
}
