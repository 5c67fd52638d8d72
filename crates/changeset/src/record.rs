//! What is kept of a change set between calls: JSON documents in the store, contents as blobs named by hash.
//!
//! Owns the persisted shapes and nothing that acts on them.

use std::{
    ffi::OsString,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use protocol::{
    ChangeSetId, ChangeSetStatus, ChangeType, ContentHash, FileStatus, Millis, SessionId, SnapshotId,
    ToolCallId,
};
use serde::{Deserialize, Serialize};

/// Document kinds in the store.
pub(crate) const CHANGE_SET: &str = "changeset";
pub(crate) const SNAPSHOT: &str = "snapshot";
pub(crate) const JOURNAL: &str = "journal";
pub(crate) const USER_STEP: &str = "userstep";

/// A real path relative to the workspace root. Names that are not UTF-8 are stored as their bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "PathText", into = "PathText")]
pub(crate) struct StoredPath(pub PathBuf);

impl StoredPath {
    pub fn display(&self) -> String {
        workspace::display_path(&self.0)
    }
}

impl AsRef<Path> for StoredPath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PathText {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<PathText> for StoredPath {
    fn from(text: PathText) -> Self {
        StoredPath(match text {
            PathText::Text(text) => PathBuf::from(text),
            PathText::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
        })
    }
}

impl From<StoredPath> for PathText {
    fn from(path: StoredPath) -> Self {
        match path.0.into_os_string().into_string() {
            Ok(text) => PathText::Text(text),
            Err(bytes) => PathText::Bytes(bytes.as_bytes().to_vec()),
        }
    }
}

/// A file's content and permission bits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Version {
    pub hash: ContentHash,
    pub mode: u32,
}

/// A version at a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Located {
    pub path: StoredPath,
    #[serde(flatten)]
    pub version: Version,
}

/// A change of one file, and by swapping its ends the reverse of it: a creation has no `from`, a deletion no `to`,
/// a rename two different paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Effect {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Located>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Located>,
}

impl Effect {
    pub fn reversed(&self) -> Effect {
        Effect {
            from: self.to.clone(),
            to: self.from.clone(),
        }
    }

    /// The path the file is shown under: its new one, or the one it is deleted from.
    pub fn path(&self) -> Option<&StoredPath> {
        self.to
            .as_ref()
            .or(self.from.as_ref())
            .map(|located| &located.path)
    }

    pub fn kind(&self) -> ChangeType {
        match (&self.from, &self.to) {
            (None, _) => ChangeType::Create,
            (Some(_), None) => ChangeType::Delete,
            (Some(from), Some(to)) if from.path == to.path => ChangeType::Modify,
            (Some(_), Some(_)) => ChangeType::Rename,
        }
    }

    pub fn changes_nothing(&self) -> bool {
        self.from == self.to
    }

    pub fn hashes(&self) -> impl Iterator<Item = &ContentHash> {
        self.from
            .iter()
            .chain(&self.to)
            .map(|located| &located.version.hash)
    }
}

/// Lines added and deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub added: u64,
    pub deleted: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.added += other.added;
        self.deleted += other.deleted;
    }
}

/// One file of a change set. While it is pending, `effect` is the whole difference between disk and proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileRecord {
    pub effect: Effect,
    pub status: FileStatus,
    pub updated_at: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_command: Option<String>,
    /// What was accepted of it so far, or what was rejected as a whole.
    #[serde(default)]
    pub decided: Counts,
}

impl FileRecord {
    /// Whether a decision is still wanted.
    pub fn is_open(&self) -> bool {
        matches!(self.status, FileStatus::Pending | FileStatus::Conflicted)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetRecord {
    pub id: ChangeSetId,
    pub session_id: SessionId,
    pub title: String,
    pub reason: String,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub status: ChangeSetStatus,
    pub files: Vec<FileRecord>,
    /// What accepting (or redoing) wrote and has not been undone, oldest first.
    pub snapshots: Vec<SnapshotId>,
    /// What undoing wrote, while the set is restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<SnapshotId>,
    pub source_tool_call_ids: Vec<ToolCallId>,
}

impl SetRecord {
    pub fn open_files(&self) -> impl Iterator<Item = &FileRecord> {
        self.files.iter().filter(|file| file.is_open())
    }
}

/// What a snapshot was made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Cause {
    Accept,
    Undo,
    Redo,
}

/// Exactly what one accept, undo or redo did to the disk; undoing it is doing the reverse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Snapshot {
    pub id: SnapshotId,
    pub change_set_id: ChangeSetId,
    pub created_at: Millis,
    pub cause: Cause,
    /// In the order they were done. The effects of one step happened together.
    pub steps: Vec<Vec<Effect>>,
    /// Folders made for it, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub created_directories: Vec<StoredPath>,
    /// Bytes of the contents it refers to.
    pub bytes: u64,
    /// Its contents were dropped to stay within the budget.
    #[serde(default)]
    pub pruned: bool,
}

impl Snapshot {
    pub fn hashes(&self) -> impl Iterator<Item = &ContentHash> {
        self.steps.iter().flatten().flat_map(Effect::hashes)
    }

    /// The steps that take everything back.
    pub fn reversed_steps(&self) -> Vec<Vec<Effect>> {
        (self.steps.iter().rev())
            .map(|step| step.iter().map(Effect::reversed).collect())
            .collect()
    }
}
