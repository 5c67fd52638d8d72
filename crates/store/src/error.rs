//! What can go wrong with app data, and how each failure is told to a user. No variant ever means that a file
//! of the user changed: this crate does not touch them.

use std::{io, path::PathBuf};

use protocol::{ArtifactId, ContentHash, ErrorCode, RuntimeError};

/// A failed operation of an open store. `what` completes the sentence "Could not …".
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("could not {what}: no room is left ({detail})")]
    Full { what: &'static str, detail: String },
    #[error("could not {what}: the workspace's data would grow beyond {limit_bytes} bytes")]
    OverLimit { what: &'static str, limit_bytes: u64 },
    #[error("could not {what}: {} is damaged ({detail})", database.display())]
    Corrupt {
        what: &'static str,
        database: PathBuf,
        detail: String,
    },
    #[error("could not {what}: {} is in use by another program", path.display())]
    Busy { what: &'static str, path: PathBuf },
    #[error("could not {what}: {}: {source}", path.display())]
    Io {
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// The store was opened for reading only.
    #[error("could not {what}: the store is open for reading only")]
    ReadOnly { what: &'static str },
    /// One stored record cannot be read; the others can.
    #[error("the stored {record} is damaged: {reason}")]
    DamagedRecord { record: String, reason: String },
    #[error("the stored content {0} is missing")]
    BlobMissing(ContentHash),
    #[error("the stored content {0} is damaged")]
    BlobDamaged(ContentHash),
    #[error("there is no artifact {0}")]
    ArtifactMissing(ArtifactId),
    /// A value that has no JSON form, or SQL that does not run: a bug of ours.
    #[error("could not {what}: {detail}")]
    Invariant { what: &'static str, detail: String },
}

impl StoreError {
    pub(crate) fn io(what: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                StoreError::Full {
                    what,
                    detail: source.to_string(),
                }
            }
            _ => StoreError::Io {
                what,
                path: path.into(),
                source,
            },
        }
    }
}

const UNTOUCHED: &str = "Your files were not changed.";

impl From<StoreError> for RuntimeError {
    fn from(error: StoreError) -> Self {
        let sentence = |what: &str| format!("Could not {what}.");
        match error {
            StoreError::Full { what, detail } => RuntimeError::new(
                ErrorCode::StoreFull,
                format!("Could not {what}: the disk is full."),
            )
            .because(detail)
            .action(format!("Free some disk space, then try again. {UNTOUCHED}"))
            .retryable(),
            StoreError::OverLimit { what, limit_bytes } => RuntimeError::new(
                ErrorCode::StoreFull,
                format!("Could not {what}: the data kept for this workspace has reached its limit."),
            )
            .because(format!("The setting store.limitBytes is {limit_bytes}."))
            .action(format!(
                "Raise or remove the setting store.limitBytes, or free disk space if the disk is full, then start again. \
                 {UNTOUCHED}"
            )),
            StoreError::Corrupt {
                what,
                database,
                detail,
            } => RuntimeError::new(
                ErrorCode::StoreCorrupt,
                format!(
                    "Could not {what}: the database {} is damaged.",
                    database.display()
                ),
            )
            .because(detail)
            .action(format!(
                "Run `vibe-coder doctor`: it says what is readable and can save it. Nothing was deleted. \
                 {UNTOUCHED}"
            ))
            .unrecoverable(),
            StoreError::Busy { what, path } => RuntimeError::new(ErrorCode::StoreLocked, sentence(what))
                .because(format!("{} is in use by another program.", path.display()))
                .action("Close the other program, then try again.")
                .retryable(),
            StoreError::Io { what, path, source } => RuntimeError::new(ErrorCode::StoreIo, sentence(what))
                .because(format!("{}: {source}", path.display()))
                .action(format!(
                    "Check that the data folder is writable, then try again. {UNTOUCHED}"
                )),
            StoreError::ReadOnly { what } => RuntimeError::new(ErrorCode::StoreLocked, sentence(what))
                .because("The workspace's data was opened for reading only.")
                .action("Close the other Vibe Coder on this workspace, then try again.")
                .retryable(),
            StoreError::DamagedRecord { record, reason } => RuntimeError::new(
                ErrorCode::SessionDamaged,
                format!("The stored {record} cannot be read."),
            )
            .because(reason)
            .action("Everything else is intact and can be used. `vibe-coder doctor` lists damaged records."),
            StoreError::BlobMissing(hash) => RuntimeError::new(
                ErrorCode::StoreCorrupt,
                "A stored file content is missing; it may have been pruned to keep within the budget.",
            )
            .because(hash)
            .action(format!("What depends on it cannot be restored. {UNTOUCHED}")),
            StoreError::BlobDamaged(hash) => {
                RuntimeError::new(ErrorCode::StoreCorrupt, "A stored file content is damaged.")
                    .because(hash)
                    .action(format!("What depends on it cannot be restored. {UNTOUCHED}"))
            }
            StoreError::ArtifactMissing(id) => {
                RuntimeError::new(ErrorCode::ArtifactNotFound, format!("There is no artifact {id}."))
                    .action("Check the id; artifacts belong to one workspace.")
            }
            StoreError::Invariant { what, detail } => {
                RuntimeError::internal(format!("could not {what}: {detail}"))
            }
        }
    }
}

/// Why a workspace's store was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{}: {source}", path.display())]
    Root { path: PathBuf, source: io::Error },
    #[error("{} is in use by {}", root.display(), holder(*pid))]
    InUse {
        root: PathBuf,
        pid: Option<u32>,
        /// When the holder took the lock, if it has said so.
        since: Option<protocol::Millis>,
    },
    #[error("{} has version {found}, this program knows {known}", database.display())]
    Newer {
        database: PathBuf,
        found: i64,
        known: i64,
    },
    /// Only from read-only opening, relinking and salvage: nothing was ever stored for this folder.
    #[error("nothing is stored for {}", root.display())]
    Absent { root: PathBuf },
    #[error("the data of {} was not given to {}: {reason}", from.display(), to.display())]
    NotRelinked {
        from: PathBuf,
        to: PathBuf,
        reason: &'static str,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

impl From<OpenError> for RuntimeError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Root { path, source } => {
                let code = match source.kind() {
                    io::ErrorKind::NotFound => ErrorCode::WorkspaceNotFound,
                    io::ErrorKind::NotADirectory => ErrorCode::WorkspaceNotADirectory,
                    _ => ErrorCode::WorkspaceUnreadable,
                };
                RuntimeError::new(code, format!("The folder {} cannot be opened.", path.display()))
                    .because(source)
                    .action("Check the path and its permissions.")
            }
            OpenError::InUse { root, pid, since } => {
                let mut error = RuntimeError::new(
                    ErrorCode::StoreLocked,
                    format!("{} is in use by {}.", root.display(), holder(pid)),
                )
                .action("Use the window that has it open, or end that process, then try again.")
                .retryable();
                if let Some(since) = since {
                    let seconds = crate::now_millis().saturating_sub(since) / 1000;
                    error = error.because(format!("It has been open there for {seconds} s."));
                }
                error
            }
            OpenError::Newer {
                database,
                found,
                known,
            } => RuntimeError::new(
                ErrorCode::StoreNewer,
                "The data of this workspace was written by a newer Vibe Coder.",
            )
            .because(format!(
                "{} has version {found}; this program knows up to {known}.",
                database.display()
            ))
            .action("Start the newer version. Nothing was changed.")
            .unrecoverable(),
            OpenError::Absent { root } => RuntimeError::new(
                ErrorCode::SessionNotFound,
                format!("Nothing is stored for {} yet.", root.display()),
            )
            .action("Start a session there first."),
            OpenError::NotRelinked { from, to, reason } => RuntimeError::new(
                ErrorCode::RequestInvalid,
                format!(
                    "The conversations of {} were not given to {}.",
                    from.display(),
                    to.display()
                ),
            )
            .because(format!("{reason}."))
            .action("Open each folder by itself: every one keeps its own conversations."),
            OpenError::Store(error) => error.into(),
        }
    }
}

/// Why settings could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// Not JSON, or a value of the wrong type. `line` and `column` count from 1.
    #[error("{} line {line}, column {column}: {reason}", path.display())]
    Invalid {
        path: PathBuf,
        line: usize,
        column: usize,
        reason: String,
    },
    /// The change asked for would leave settings that cannot be read.
    #[error("{key}: {reason}")]
    Rejected { key: String, reason: String },
    /// A credential; `variable` is the environment variable to use in its place.
    #[error("{key} looks like a secret")]
    Secret { key: String, variable: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<SettingsError> for RuntimeError {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::Invalid {
                path,
                line,
                column,
                reason,
            } => RuntimeError::new(
                ErrorCode::SettingsInvalid,
                format!("The settings file {} has a mistake in line {line}.", path.display()),
            )
            .because(format!("line {line}, column {column}: {reason}"))
            .action("Correct that line, or move the file away to go back to the defaults."),
            SettingsError::Rejected { key, reason } => RuntimeError::new(
                ErrorCode::SettingsInvalid,
                format!("The setting “{key}” was not changed."),
            )
            .because(reason)
            .action("Correct the name or the value and try again."),
            SettingsError::Secret { key, variable } => RuntimeError::new(
                ErrorCode::SettingsInvalid,
                format!("“{key}” looks like a secret; secrets are not kept in the settings file."),
            )
            .action(format!(
                "Put it in the environment variable {variable}; the setting apiKeyEnv of a provider names another \
                 variable."
            )),
            SettingsError::Store(error) => error.into(),
        }
    }
}
