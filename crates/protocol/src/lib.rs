//! The wire contract: what the engine, the command line, the host and the screen say to each other.
//!
//! Owns ids, errors, events, timeline items, requests, state names and feature flags. It does no IO and knows
//! nothing of how any of it is produced. JSON is camelCase; every enum that crosses the wire is closed.

pub mod changes;
pub mod checks;
pub mod commands;
pub mod context;
pub mod error;
pub mod event;
pub mod flags;
pub mod host;
pub mod ids;
pub mod memory;
pub mod request;
pub mod service;
pub mod state;
pub mod timeline;
pub mod tool;
#[cfg(test)]
mod typescript;
pub mod usage;

pub use changes::{ChangeSet, ChangeSetFile, ChangeType, DiffHunk, DiffLine, FileStatus, LineKind};
pub use error::{ErrorCode, FilesChanged, RuntimeError};
pub use event::{EventBody, EventEnvelope, ItemDelta};
pub use ids::*;
pub use state::{
    ChangeSetStatus, CommandState, ContextState, ProviderRequestState, SessionState, SessionStatus,
};
pub use timeline::{ItemKind, ItemStatus, TimelineItem};
pub use tool::{ArtifactRef, ToolClass, ToolError, ToolId, ToolResult, ToolSchema};
pub use usage::{Spending, Usage};

/// Milliseconds since the Unix epoch.
pub type Millis = u64;

/// The three modes a user can choose (§11.2). The mode shown is the mode enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Answers only: reads and read-only commands.
    Ask,
    /// Proposes edits for review; read-only commands.
    Edit,
    /// Plans, edits, runs commands and repairs.
    #[default]
    Agent,
}

impl Mode {
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Ask => "ask",
            Mode::Edit => "edit",
            Mode::Agent => "agent",
        }
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Mode {
    type Err = RuntimeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "ask" => Ok(Mode::Ask),
            "edit" => Ok(Mode::Edit),
            "agent" => Ok(Mode::Agent),
            _ => Err(
                RuntimeError::new(ErrorCode::UsageInvalid, format!("“{text}” is not a mode."))
                    .action("Use ask, edit or agent."),
            ),
        }
    }
}
