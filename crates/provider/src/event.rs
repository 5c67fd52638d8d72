//! What a model request reports while it runs.

use std::time::Duration;

use protocol::Usage;

use crate::{
    error::ProviderError,
    message::{Answer, Origin},
};

/// Exactly one `Done` or `Failed` ends a stream, and nothing follows it.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// An attempt was accepted by the provider and its stream is open.
    Started {
        /// 1 for the first attempt.
        attempt: u32,
        /// The provider's id of the request, to quote to its support.
        provider_request_id: Option<String>,
    },
    Text {
        delta: String,
    },
    Thinking {
        delta: String,
    },
    /// The model began a tool call. `index` counts the calls of this answer from 0.
    ToolStarted {
        index: usize,
        id: String,
        name: String,
    },
    ToolArguments {
        index: usize,
        delta: String,
    },
    /// The attempt failed before anything visible came; the next begins after `after`.
    Retrying {
        after: Duration,
        reason: ProviderError,
        /// The number of the attempt that will follow.
        attempt: u32,
        /// How many attempts there will be at most.
        attempts: u32,
    },
    /// The provider could not answer, nothing visible had come, and another one is asked.
    Switched {
        to: Origin,
        reason: ProviderError,
    },
    /// Counts so far for this attempt; each replaces the one before.
    Usage(Usage),
    Done(Answer),
    Failed(ProviderError),
}
