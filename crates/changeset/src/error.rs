//! What can go wrong with drafts, accepts and undos, one enum per kind of operation, and how a user is told.

use protocol::{ChangeSetId, ChangeSetStatus, ErrorCode, FilesChanged, RuntimeError};
use store::StoreError;
use workspace::PathError;

use crate::{
    disk::DiskError,
    edit::{Mismatch, ReplacementError},
    hunks::HunkError,
    machine::IllegalTransition,
    patch::MalformedPatch,
};

/// Why an edit did not join the draft. Nothing of that edit did, and nothing was written to the workspace.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("{path} already exists")]
    Exists { path: String },
    #[error("{path} does not exist")]
    NotFound { path: String },
    #[error("{path} is a folder")]
    IsDirectory { path: String },
    #[error("{path}: {parent} is a file, not a folder")]
    ParentIsFile { path: String, parent: String },
    /// Repository metadata.
    #[error("{path} belongs to git itself and is never edited")]
    Protected { path: String },
    #[error("{0}")]
    Path(#[from] PathError),
    #[error("{path}: {error}")]
    Text { path: String, error: ReplacementError },
    #[error("{path}: {error}")]
    Hunk { path: String, error: HunkError },
    #[error("{path} has changed since you read it; read it again")]
    Stale { path: String },
    /// The user changed the same lines on disk. The draft of this file is set aside; a new edit starts from the disk.
    #[error("{path} was changed on disk in the same place as in the draft ({detail})")]
    Conflict { path: String, detail: String },
    #[error("{path} has {size} bytes; files of more than {limit} bytes are not edited")]
    TooLarge { path: String, size: u64, limit: u64 },
    #[error("{0}")]
    PatchMalformed(#[from] MalformedPatch),
    /// Every file of the patch and whether it fits.
    #[error("the patch was not applied: {}", files.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    PatchRejected { files: Vec<FileVerdict> },
    #[error("{path} could not be read: {reason}")]
    Io { path: String, reason: String },
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("{0}")]
    State(#[from] IllegalTransition),
    #[error("{0}")]
    Internal(String),
}

/// What became of one file of a patch that was refused as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileVerdict {
    pub path: String,
    /// Why it does not fit; nothing where it would have.
    pub problem: Option<String>,
}

impl std::fmt::Display for FileVerdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.problem {
            Some(problem) if problem.starts_with(&self.path) => f.write_str(problem),
            Some(problem) => write!(f, "{}: {problem}", self.path),
            None => write!(f, "{}: fits, not applied", self.path),
        }
    }
}

impl EditError {
    pub(crate) fn disk(path: impl Into<String>, error: DiskError) -> EditError {
        let path = path.into();
        match error {
            DiskError::IsDirectory => EditError::IsDirectory { path },
            DiskError::TooLarge { size } => EditError::TooLarge {
                path,
                size,
                limit: crate::MAX_FILE_BYTES,
            },
            other => EditError::Io {
                path,
                reason: other.to_string(),
            },
        }
    }
}

impl From<EditError> for RuntimeError {
    fn from(error: EditError) -> Self {
        let message = format!("The edit was not made: {error}.");
        let with = |code| RuntimeError::new(code, message.clone());
        match error {
            EditError::Exists { .. } => with(ErrorCode::PathExists)
                .action("Choose another path, or replace the file as an edit of its own."),
            EditError::NotFound { .. } => {
                with(ErrorCode::PathNotFound).action("Check the path, or create the file.")
            }
            EditError::IsDirectory { .. } => with(ErrorCode::PathIsDirectory).action("Name a file."),
            EditError::ParentIsFile { .. } => {
                with(ErrorCode::PathNotADirectory).action("Choose another path.")
            }
            EditError::Protected { .. } => {
                with(ErrorCode::PathProtected).action("Change repository settings with git itself.")
            }
            EditError::Path(error) => error.into(),
            EditError::Text { error, .. } => {
                let (code, action) = match error.mismatch {
                    Mismatch::EmptyOld => (ErrorCode::ToolArguments, "Give the exact text to replace."),
                    Mismatch::NoChange => (ErrorCode::EditNoChange, "Nothing needs to be done."),
                    Mismatch::NotFound { .. } => (
                        ErrorCode::EditNotFound,
                        "Read the place again and quote it exactly.",
                    ),
                    Mismatch::Ambiguous { .. } => (
                        ErrorCode::EditAmbiguous,
                        "Quote more lines, so that the place is the only one.",
                    ),
                    Mismatch::Unencodable { .. } => (
                        ErrorCode::FileEncoding,
                        "Use characters the file's encoding has, or convert the file first.",
                    ),
                    Mismatch::Binary { .. } => (ErrorCode::FileBinary, "Only text files can be edited."),
                };
                with(code).action(action)
            }
            EditError::Hunk { .. } => {
                with(ErrorCode::PatchRejected).action("Read the file again and quote its lines exactly.")
            }
            EditError::Stale { .. } => {
                with(ErrorCode::EditStale).action("Read the file again, then edit it.")
            }
            EditError::Conflict { .. } => with(ErrorCode::EditStale)
                .action("Read the file again: it shows the user's text now. Then make the edit anew."),
            EditError::TooLarge { .. } => {
                with(ErrorCode::FileTooLarge).action("Change it with a program of yours.")
            }
            EditError::PatchMalformed(_) => with(ErrorCode::PatchMalformed)
                .action("Send a unified diff: `--- a/path`, `+++ b/path`, `@@`, then the lines."),
            EditError::PatchRejected { .. } => with(ErrorCode::PatchRejected)
                .action("Read the files that do not fit, correct the patch and send all of it again."),
            EditError::Io { .. } => with(ErrorCode::FileIo).action("Check the file and its permissions."),
            EditError::Store(error) => error.into(),
            EditError::State(error) => with(ErrorCode::IllegalTransition).because(error),
            EditError::Internal(detail) => RuntimeError::internal(detail),
        }
    }
}

/// Why an accept, reject, undo, redo or save was not done. Nothing was written, except where it says so.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error("there is no change set {0}")]
    UnknownSet(ChangeSetId),
    #[error("the changes have no pending {what}")]
    NotPending { what: String },
    #[error("the changes are {status}; there is nothing to decide")]
    Decided { status: ChangeSetStatus },
    /// One pending file takes the place that another one leaves.
    #[error("{path} can only be accepted together with {other}, which leaves its place")]
    DependsOn { path: String, other: String },
    #[error("the changes are still being worked on")]
    BeingDrafted,
    /// The disk and the change overlap. Each entry names a file and both sides.
    #[error("{}", conflicts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Conflict { conflicts: Vec<PathConflict> },
    #[error("there is nothing to {what}")]
    NothingTo { what: &'static str },
    #[error("what the changes replaced is no longer kept, so they cannot be undone")]
    Pruned,
    /// The user's own save met another content than the one it was based on.
    #[error("{path} has changed on disk since it was opened")]
    Moved { path: String },
    #[error("{path} belongs to git itself and is never written")]
    Protected { path: String },
    /// Of the user's own steps: something has the name already.
    #[error("{path} already exists")]
    Taken { path: String },
    #[error("{path} does not exist")]
    Missing { path: String },
    #[error("a part of the path {path} is a file or a link, not a folder")]
    UnderFile { path: String },
    #[error("the workspace itself is not moved or deleted from within")]
    WholeWorkspace,
    #[error("{path} cannot be moved into itself")]
    IntoItself { path: String },
    #[error("{path} is a pipe, a socket or a device, which could not be brought back")]
    Special { path: String },
    /// More than a deletion keeps for undo.
    #[error(
        "{path} holds more than {} files or {} MB, which is more than a deletion keeps for undo",
        crate::MAX_DELETED_FILES, crate::MAX_DELETED_BYTES / 1024 / 1024
    )]
    TooMuch { path: String },
    #[error("{0}")]
    Path(#[from] PathError),
    #[error("{path} could not be written: {reason}")]
    Io { path: String, reason: String },
    /// A write was interrupted earlier and could not be finished or taken back yet.
    #[error("an interrupted write could not be recovered yet: {detail}")]
    Recovery { detail: String, written: Vec<String> },
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("{0}")]
    State(#[from] IllegalTransition),
    #[error("{0}")]
    Internal(String),
}

/// Where a file on disk and a change to it cannot both be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathConflict {
    pub path: String,
    /// Both sides in words.
    pub detail: String,
}

impl std::fmt::Display for PathConflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.detail)
    }
}

impl From<ApplyError> for RuntimeError {
    fn from(error: ApplyError) -> Self {
        let message = format!("Nothing was written: {error}.");
        let with = |code| RuntimeError::new(code, message.clone());
        match error {
            ApplyError::UnknownSet(_) => with(ErrorCode::ChangesNotFound).action("List the changes to see their ids."),
            ApplyError::NotPending { .. } | ApplyError::Decided { .. } => {
                with(ErrorCode::ChangesNotPending).action("Show the changes to see what is still pending.")
            }
            ApplyError::DependsOn { .. } => with(ErrorCode::ChangesNotPending)
                .action("Accept all of the changes, or the other file first."),
            ApplyError::BeingDrafted => {
                with(ErrorCode::ChangesNotPending).action("Decide when the turn has ended, or cancel it.")
            }
            ApplyError::Conflict { .. } => with(ErrorCode::ChangesConflict).action(
                "Reject the file, ask for the change again, or edit the file so that the two no longer overlap.",
            ),
            ApplyError::NothingTo { .. } => with(ErrorCode::ChangesNothingToUndo)
                .action("List the changes to see what was accepted."),
            ApplyError::Pruned => with(ErrorCode::ChangesNothingToUndo)
                .action("Older snapshots are dropped to stay within the disk budget; use your version control."),
            ApplyError::Moved { .. } => with(ErrorCode::EditStale).action("Compare the two texts, then save again."),
            ApplyError::Protected { .. } => {
                with(ErrorCode::PathProtected).action("Change repository settings with git itself.")
            }
            ApplyError::Taken { .. } => with(ErrorCode::PathExists).action("Choose another name."),
            ApplyError::Missing { .. } => {
                with(ErrorCode::PathNotFound).action("Look at the folder again; it may have changed.")
            }
            ApplyError::UnderFile { .. } => with(ErrorCode::PathNotADirectory).action("Choose another place."),
            ApplyError::WholeWorkspace => {
                with(ErrorCode::PathProtected).action("Close it, then move or delete its folder.")
            }
            ApplyError::IntoItself { .. } => with(ErrorCode::PathExists).action("Choose a place outside of it."),
            ApplyError::Special { .. } => with(ErrorCode::FileIo).action("Remove it in a terminal."),
            ApplyError::TooMuch { .. } => {
                with(ErrorCode::FileTooLarge).action("Delete it in a terminal, where it cannot be undone.")
            }
            ApplyError::Path(error) => error.into(),
            ApplyError::Io { .. } => with(ErrorCode::FileIo).action("Check free space and permissions, then try again."),
            ApplyError::Recovery { detail, written } => RuntimeError::new(
                ErrorCode::ChangesRecovery,
                "A write was interrupted and could not be finished or taken back yet.",
            )
            .because(detail)
            .action("Check free space and permissions, then try again: recovery is tried first.")
            .files(if written.is_empty() { FilesChanged::Unknown } else { FilesChanged::Some(written) }),
            ApplyError::Store(error) => error.into(),
            ApplyError::State(error) => with(ErrorCode::IllegalTransition).because(error),
            ApplyError::Internal(detail) => RuntimeError::internal(detail),
        }
    }
}
