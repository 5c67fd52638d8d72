//! Names of the states of §51. The machines that move between them live with their owners: sessions in the
//! engine, commands in `process`, change sets in `changeset`, requests in `provider`.

use serde::{Deserialize, Serialize};

macro_rules! states {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(test, derive(ts_rs::TS))]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$variant),*];

            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )*};
}

states! {
    /// §51.1.
    SessionState {
        Idle = "idle",
        PreparingContext = "preparing_context",
        Planning = "planning",
        AwaitingPlanApproval = "awaiting_plan_approval",
        Executing = "executing",
        AwaitingToolApproval = "awaiting_tool_approval",
        ApplyingChanges = "applying_changes",
        Verifying = "verifying",
        Repairing = "repairing",
        AwaitingDiffReview = "awaiting_diff_review",
        Accepted = "accepted",
        Rejected = "rejected",
        Complete = "complete",
        Cancelling = "cancelling",
        Cancelled = "cancelled",
        Failed = "failed",
        Retrying = "retrying",
    }

    /// §23.1: the session as a list shows it.
    SessionStatus {
        Idle = "idle",
        Running = "running",
        NeedsReview = "needs_review",
        Failed = "failed",
        Cancelled = "cancelled",
        Complete = "complete",
    }

    /// §51.2.
    CommandState {
        Queued = "queued",
        AwaitingApproval = "awaiting_approval",
        Starting = "starting",
        Running = "running",
        Stopping = "stopping",
        Stopped = "stopped",
        Succeeded = "succeeded",
        Failed = "failed",
        TimedOut = "timed_out",
        Cancelled = "cancelled",
    }

    /// §51.3.
    ChangeSetStatus {
        Draft = "draft",
        Proposed = "proposed",
        PendingReview = "pending_review",
        PartiallyAccepted = "partially_accepted",
        Accepted = "accepted",
        Rejected = "rejected",
        Conflicted = "conflicted",
        Restored = "restored",
    }

    /// A live context of the host: a process that serves one workspace or another backend.
    ContextState {
        Stopped = "stopped",
        Starting = "starting",
        Ready = "ready",
        /// Ended because nobody used it; the next request starts it again.
        Suspended = "suspended",
        /// Not started again by itself; the reason is in the summary.
        Failed = "failed",
        Stopping = "stopping",
    }

    /// §51.4.
    ProviderRequestState {
        Created = "created",
        Queued = "queued",
        Sending = "sending",
        Streaming = "streaming",
        Completed = "completed",
        Retrying = "retrying",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl CommandState {
    /// A command has exactly one of these, and it is its last.
    pub fn is_terminal(self) -> bool {
        matches!(
            self,
            CommandState::Stopped
                | CommandState::Succeeded
                | CommandState::Failed
                | CommandState::TimedOut
                | CommandState::Cancelled
        )
    }
}

impl SessionState {
    /// Whether a turn is under way (a provider stream, a tool or a write may be active).
    pub fn is_active(self) -> bool {
        matches!(
            self,
            SessionState::PreparingContext
                | SessionState::Planning
                | SessionState::AwaitingPlanApproval
                | SessionState::Executing
                | SessionState::AwaitingToolApproval
                | SessionState::ApplyingChanges
                | SessionState::Verifying
                | SessionState::Repairing
                | SessionState::Cancelling
                | SessionState::Retrying
        )
    }

    pub fn status(self) -> SessionStatus {
        match self {
            SessionState::Idle => SessionStatus::Idle,
            SessionState::AwaitingDiffReview => SessionStatus::NeedsReview,
            SessionState::Failed => SessionStatus::Failed,
            SessionState::Cancelled => SessionStatus::Cancelled,
            SessionState::Accepted | SessionState::Rejected | SessionState::Complete => {
                SessionStatus::Complete
            }
            _ => SessionStatus::Running,
        }
    }
}

impl ChangeSetStatus {
    /// Whether a user's decision is still wanted.
    pub fn is_open(self) -> bool {
        matches!(
            self,
            ChangeSetStatus::Draft
                | ChangeSetStatus::Proposed
                | ChangeSetStatus::PendingReview
                | ChangeSetStatus::PartiallyAccepted
                | ChangeSetStatus::Conflicted
        )
    }
}
