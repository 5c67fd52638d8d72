//! The only writer of user files. What an agent wants changed is a draft until a person accepts it; what was
//! accepted can be undone; and no byte of the user is lost on the way.
//!
//! Owns drafts, differences, merges, accepting, rejecting, undoing, and the staged copy a command runs in. It must
//! not know models, tools or screens: callers name a session and a tool call, and get change sets as the wire
//! shows them. All functions block.
//!
//! How it holds together: an edit works on bytes ([`edit`], [`patch`]) and joins a draft, which is a list of
//! effects on files. Accepting plans those effects on the disk as it is now, merging where the user went on
//! editing, and commits the resulting writes as one step. Undo and redo are the reversed effects of what was
//! committed, planned and committed in the same way.

mod apply;
mod content;
mod diff;
mod disk;
mod draft;
pub mod edit;
mod editing;
mod error;
mod faults;
pub mod hunks;
mod lines;
pub mod machine;
mod merge;
mod nearest;
pub mod patch;
mod plan;
mod prune;
mod rebase;
mod record;
mod recover;
mod review;
mod save;
mod set;
mod show;
mod sides;
pub mod stage;
mod transaction;
mod undo;
mod unified;
mod user;

pub use disk::{MAX_FILE_BYTES, hash};
pub use edit::{Mismatch, Replacement, ReplacementError};
pub use editing::{EditOutcome, EditedFile};
pub use error::{ApplyError, EditError, FileVerdict, PathConflict};
pub use nearest::Nearest;
pub use review::Applied;
pub use save::Expected;
pub use set::{ChangeSets, DEFAULT_SNAPSHOT_BUDGET, OpenError};
pub use sides::Sides;
pub use user::{MAX_DELETED_BYTES, MAX_DELETED_FILES, UserStep};
