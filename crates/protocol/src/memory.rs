//! What is remembered of a repository and of a session (§20): found without a model, to be looked at and deleted.

use serde::{Deserialize, Serialize};

use crate::{Millis, SessionId, request::wire};

wire! {
    pub struct MemoryShowParams {
        /// Also what its records say of a session.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        session_id: Option<SessionId>,
    }
    pub struct MemoryShowResult {
        /// Of the workspace: its structure, its modules, and the commands that build and test it.
        repository: Vec<MemoryEntry>,
        /// Follows from the session's own records and goes with them.
        session: Vec<MemoryEntry>,
        /// Whether anything is remembered beyond workspaces. Off unless it is switched on.
        long_term: bool,
    }
    pub struct MemoryEntry {
        name: String,
        text: String,
        /// Why it is known: the files it was read from, or the records.
        because: String,
        found_at: Millis,
    }
    /// Forgets what is remembered of the repository. It is found anew when a session begins.
    pub struct MemoryClearParams {}
    pub struct MemoryClearResult {
        forgotten: u32,
    }
}
