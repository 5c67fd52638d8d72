//! Change sets as the wire shows them (§52.2). The contents themselves are blobs; only hashes and hunks travel.

use serde::{Deserialize, Serialize};

use crate::{ChangeSetId, ChangeSetStatus, ContentHash, Millis, SessionId, SnapshotId, ToolCallId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ChangeSet {
    pub id: ChangeSetId,
    pub session_id: SessionId,
    pub title: String,
    pub reason: String,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub status: ChangeSetStatus,
    pub files: Vec<ChangeSetFile>,
    /// What the accept wrote, to be undone by; one per accept, newest last.
    pub snapshots: Vec<SnapshotId>,
    pub source_tool_call_ids: Vec<ToolCallId>,
}

impl ChangeSet {
    /// Added and deleted lines over all files that are not rejected.
    pub fn line_counts(&self) -> (u64, u64) {
        self.files
            .iter()
            .filter(|file| file.status != FileStatus::Rejected)
            .fold((0, 0), |(added, deleted), file| {
                (added + file.added, deleted + file.deleted)
            })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum ChangeType {
    Create,
    Modify,
    Delete,
    Rename,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum FileStatus {
    Pending,
    Accepted,
    Rejected,
    Conflicted,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ChangeSetFile {
    /// Relative to the workspace, `/` between parts; bytes that are not UTF-8 are shown as U+FFFD.
    pub path: String,
    pub change_type: ChangeType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    pub status: FileStatus,
    /// Unix permission bits before and after, where they differ or the file is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_mode: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_mode: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_content_hash: Option<ContentHash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_content_hash: Option<ContentHash>,
    pub added: u64,
    pub deleted: u64,
    /// Content that is not shown as lines; such a file is accepted or rejected whole.
    pub binary: bool,
    /// The pending differences between what is on disk and what is proposed. Empty for binary files.
    pub hunks: Vec<DiffHunk>,
    /// Why the file cannot be accepted as it stands, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<String>,
    /// The command that made this change, when it was not an edit tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_command: Option<String>,
}

/// One contiguous group of changed lines with its context. Hunks are numbered from 1 within their file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DiffHunk {
    pub number: u32,
    /// First line and count on each side, as in a unified diff header (1-based; 0 when the side is empty).
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
    pub lines: Vec<DiffLine>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum LineKind {
    Context,
    Added,
    Deleted,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DiffLine {
    pub kind: LineKind,
    /// The line without its ending, decoded for display.
    pub text: String,
    /// "lf", "crlf" or "none": a change of only the ending must be visible.
    pub ending: LineEnding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum LineEnding {
    Lf,
    Crlf,
    None,
}

/// What a user decides about: everything, one file, or one hunk of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", tag = "what")]
pub enum Selection {
    All,
    File { path: String },
    Hunk { path: String, number: u32 },
}
