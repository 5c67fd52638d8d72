//! The life of one model request (§51.4), pure. The gateway asks it before every step, so that an attempt after
//! visible output or an event after the end cannot happen unnoticed.

use protocol::ProviderRequestState;

/// ```text
/// created ──enqueue──▶ queued ──send──▶ sending ──opened──▶ streaming ──output──▶ streaming, visible
///                        ▲                │                    │                        │
///                        └─────send────── retrying ◀──retry────┘ (never from visible)   │
/// streaming, visible ──finish──▶ completed;  any unfinished ──fail──▶ failed, ──cancel──▶ cancelled
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestState {
    Created,
    /// Waiting for one of the provider's slots.
    Queued,
    Sending,
    /// Accepted; nothing shown yet, so it may still be retried.
    Streaming,
    /// Something was shown. Sending the request again would show it twice.
    StreamingVisible,
    /// Waiting before the next attempt.
    Retrying,
    Completed,
    Failed,
    Cancelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestInput {
    Enqueue,
    Send,
    /// The answer's headers arrived and are good.
    Opened,
    /// Text, reasoning or a piece of a tool call was passed on.
    Output,
    Retry,
    Finish,
    Fail,
    Cancel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a request that is {state:?} cannot take {input:?}")]
pub struct IllegalTransition {
    pub state: RequestState,
    pub input: RequestInput,
}

impl RequestState {
    pub fn next(self, input: RequestInput) -> Result<RequestState, IllegalTransition> {
        use RequestInput as Input;
        use RequestState as State;
        let next = match (self, input) {
            (State::Created, Input::Enqueue) => State::Queued,
            (State::Queued | State::Retrying, Input::Send) => State::Sending,
            (State::Sending, Input::Opened) => State::Streaming,
            (State::Streaming | State::StreamingVisible, Input::Output) => State::StreamingVisible,
            (State::Sending | State::Streaming, Input::Retry) => State::Retrying,
            // An answer may be empty.
            (State::Streaming | State::StreamingVisible, Input::Finish) => State::Completed,
            (state, Input::Fail) if !state.is_terminal() => State::Failed,
            (state, Input::Cancel) if !state.is_terminal() => State::Cancelled,
            (state, input) => return Err(IllegalTransition { state, input }),
        };
        Ok(next)
    }

    pub fn is_terminal(self) -> bool {
        matches!(
            self,
            RequestState::Completed | RequestState::Failed | RequestState::Cancelled
        )
    }

    /// The state as the wire names it.
    pub fn public(self) -> ProviderRequestState {
        match self {
            RequestState::Created => ProviderRequestState::Created,
            RequestState::Queued => ProviderRequestState::Queued,
            RequestState::Sending => ProviderRequestState::Sending,
            RequestState::Streaming | RequestState::StreamingVisible => ProviderRequestState::Streaming,
            RequestState::Retrying => ProviderRequestState::Retrying,
            RequestState::Completed => ProviderRequestState::Completed,
            RequestState::Failed => ProviderRequestState::Failed,
            RequestState::Cancelled => ProviderRequestState::Cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RequestInput::*, RequestState::*, *};

    #[test]
    fn transition_matrix() {
        let states = [
            Created,
            Queued,
            Sending,
            Streaming,
            StreamingVisible,
            Retrying,
            Completed,
            Failed,
            Cancelled,
        ];
        let inputs = [Enqueue, Send, Opened, Output, Retry, Finish, Fail, Cancel];
        let mut matrix = String::new();
        for state in states {
            for input in inputs {
                let outcome = match state.next(input) {
                    Ok(next) => format!("{next:?}"),
                    Err(IllegalTransition { .. }) => "illegal".to_owned(),
                };
                matrix.push_str(&format!("{state:?} + {input:?} → {outcome}\n"));
            }
        }
        insta::assert_snapshot!(matrix);
    }
}
