//! The only writer of app data: event log, sessions, model history, change-set documents, blobs, artifacts,
//! settings and the log file, all below one data folder and never inside the user's repository.
//!
//! Owns where things lie, how they become durable and how they are mended. It must not know what an event
//! means (except the texts it makes searchable), how a change set works, or anything of providers and prompts.
//!
//! Layout below the data folder:
//! ```text
//! settings.json   logs/vibe-coder.jsonl
//! credentials.json   sealed keys of providers, or where they are    credentials.key
//! requests/2026-11-30.jsonl   what was asked of models that day, without contents
//! host.json host.lock   where the one host is reached    samples/ contexts/ context-data/ browser/
//! workspaces/<name>-<hash of path>/
//!     workspace.json   identity: context id, path and inode of the root
//!     lock             held by the one writer process
//!     store.db         SQLite, WAL
//!     blobs/ab/…       contents by BLAKE3 hash     artifacts/   logs of commands and the like
//!     scratch/         staged copies and unfinished files; emptied at open
//! ```

mod artifacts;
mod blobs;
mod budget;
pub mod credentials;
mod database;
mod documents;
mod endpoint;
mod error;
mod events;
mod files;
mod home;
mod host;
mod identity;
pub mod ledger;
mod lock;
pub mod log;
mod messages;
pub mod redact;
mod relink;
mod salvage;
mod schema;
mod scratch;
mod search;
mod sessions;
pub mod settings;
mod shelf;
mod store;

pub use artifacts::{ARTIFACT_CAP_BYTES, ArtifactWriter};
pub use blobs::GcReport;
pub use database::Durability;
pub use documents::{DamagedDocument, Document};
pub use endpoint::Endpoint;
pub use error::{OpenError, SettingsError, StoreError};
pub use events::{DamagedRecord, EventPage, NewEvent};
pub use home::{DataHome, DataPath, WorkspaceEntry};
pub use host::{HostLock, HostRecord};
pub use messages::MessagePage;
pub use redact::Redactor;
pub use salvage::SalvageReport;
pub use scratch::ScratchDir;
pub use search::{SearchHit, Speaker};
pub use sessions::SessionRow;
pub use settings::{
    AutomaticChecks, CheckSettings, SandboxLimits, SandboxNetwork, SandboxSettings, Settings,
    SpendingSettings, StagedView, TurnSettings, WorkspaceSandbox,
};
pub use shelf::Shelf;
pub use store::{OpenOptions, Store};

/// Milliseconds since the Unix epoch by the system clock; 0 if the clock is set before it.
fn now_millis() -> protocol::Millis {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |elapsed| {
            u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
        })
}
