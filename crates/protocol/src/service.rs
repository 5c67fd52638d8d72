//! The workspace service of the wire contract: files, search, git, settings and client state, for whoever draws a
//! window. Paths are relative to the workspace, `/` between parts; "." or "" is its root.

use serde::{Deserialize, Serialize};

use crate::{ChangeSetId, ContentHash, Millis, Spending, request::wire};

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    Folder,
    File,
    Link,
    /// A pipe, socket or device; never opened.
    Special,
}

/// The letter a row of the tree shows for its state in git.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum GitLetter {
    Modified,
    Added,
    Deleted,
    Renamed,
    Untracked,
    Conflicted,
}

/// How a provider has been doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum HealthState {
    Untried,
    Working,
    /// It asked us to wait.
    Limited,
    /// Its last requests failed; it may come back.
    Failing,
    /// Nothing will work until somebody changes something.
    Unusable,
}

/// How a file is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FileView {
    Text {
        /// Decoded, line endings as they are.
        text: String,
        /// For example "utf-8", "utf-8-bom", "windows-1252".
        encoding: String,
        /// "lf", "crlf", "mixed" or "none".
        endings: String,
    },
    /// Only the beginning and the end of a file too large to edit.
    Large {
        head: String,
        tail: String,
        omitted_bytes: u64,
    },
    Binary {
        what: String,
    },
}

/// One step of the user in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "what", rename_all = "camelCase")]
pub enum FileOperation {
    CreateFile {
        path: String,
    },
    CreateFolder {
        path: String,
    },
    /// Also moves. The target must be free.
    Rename {
        from: String,
        to: String,
    },
    /// Files and folders with everything in them.
    Delete {
        paths: Vec<String>,
    },
}

/// Something a client should look at again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Notice {
    /// Entries of these folders changed; `files` are those whose content did.
    FilesChanged {
        folders: Vec<String>,
        files: Vec<String>,
    },
    GitChanged,
    /// Whether changes are seen as they happen. When not, `reason` says why and what still works.
    Watching {
        live: bool,
        reason: Option<String>,
    },
    SettingsChanged,
}

wire! {
    pub struct FilesListParams {
        path: String,
        /// At most this many; 2,000 when absent.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        max: Option<u32>,
    }
    /// Columns of equal length, folders first, each group by name.
    pub struct FilesListResult {
        path: String,
        names: Vec<String>,
        kinds: Vec<EntryKind>,
        ignored: Vec<bool>,
        omitted: u64,
    }

    pub struct FilesReadParams {
        path: String,
    }
    pub struct FilesReadResult {
        path: String,
        view: FileView,
        /// What `files/save` expects. Of a large file, which cannot be saved, only good for noticing a change.
        content_hash: ContentHash,
        size: u64,
        /// Unix permission bits.
        mode: u32,
        read_only: bool,
    }
    pub struct FilesSaveParams {
        path: String,
        text: String,
        /// The hash the text was loaded with; absent for a file that must not exist yet.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        expected: Option<ContentHash>,
        /// As read; the file keeps it. A character it cannot hold is refused.
        encoding: String,
    }
    pub struct FilesSaveResult {
        content_hash: ContentHash,
    }
    pub struct FilesChangeParams {
        operation: FileOperation,
    }
    pub struct FilesChangeResult {
        /// For `files/undo`.
        undo: String,
        /// Paths that changed.
        paths: Vec<String>,
        notes: Vec<String>,
    }
    pub struct FilesUndoParams {
        undo: String,
    }
    pub struct FilesFindParams {
        query: String,
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        max: Option<u32>,
    }
    pub struct FoundPath {
        path: String,
        /// Indexes of the matched characters.
        positions: Vec<u32>,
    }
    pub struct FilesFindResult {
        found: Vec<FoundPath>,
    }
    /// Lines that match, in files that are not ignored. The pattern is a regular expression unless `literal`.
    pub struct FilesSearchParams {
        pattern: String,
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        literal: bool,
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        ignore_case: bool,
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        globs: Vec<String>,
    }
    pub struct SearchHitLine {
        path: String,
        line: u64,
        column: u64,
        text: String,
    }
    pub struct FilesSearchResult {
        hits: Vec<SearchHitLine>,
        /// How much was searched, what was not and why.
        notes: Vec<String>,
    }
    /// Replaces the folders this connection watches. Their content and the repository's state are told as notices.
    pub struct FilesWatchParams {
        folders: Vec<String>,
    }

    pub struct GitStatusParams {}
    /// A path that was changed in the index and again since is there twice, staged first.
    pub struct GitEntry {
        path: String,
        letter: GitLetter,
        staged: bool,
    }
    pub struct GitStatusResult {
        /// False where the workspace is no repository; then the rest is empty.
        repository: bool,
        branch: Option<String>,
        ahead: u64,
        behind: u64,
        entries: Vec<GitEntry>,
    }
    pub struct GitShowParams {
        path: String,
    }
    pub struct GitShowResult {
        /// Absent when the last commit does not have the file or it is not text.
        text: Option<String>,
    }
    pub struct ChangesFileParams {
        id: ChangeSetId,
        path: String,
    }
    pub struct ChangesFileResult {
        /// Absent for a creation.
        before: Option<String>,
        /// Absent for a deletion.
        after: Option<String>,
    }

    pub struct SettingsGetParams {
        /// Dotted name; absent for all.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        key: Option<String>,
    }
    pub struct SettingsSetParams {
        key: String,
        /// Null unsets.
        value: serde_json::Value,
    }
    pub struct SettingsValue {
        value: serde_json::Value,
    }
    pub struct ProvidersListParams {}
    pub struct ProviderSummary {
        id: String,
        family: String,
        /// Used when a turn names none.
        is_default: bool,
        ready: bool,
        /// What is missing and what to do, when it is not ready.
        problem: Option<String>,
        base_url: String,
        models: Vec<String>,
        key_variable: Option<String>,
    }
    pub struct ProvidersListResult {
        providers: Vec<ProviderSummary>,
    }

    pub struct ProvidersHealthParams {}
    /// From the requests of the last two days, of all the user's workspaces (§14.5).
    pub struct ProviderHealth {
        id: String,
        state: HealthState,
        /// The state in words, and the way out where something is wrong.
        summary: String,
        #[cfg_attr(test, ts(optional = nullable))]
        last_success: Option<Millis>,
        consecutive_failures: u64,
        #[cfg_attr(test, ts(optional = nullable))]
        limited_until: Option<Millis>,
        /// From sending to the first byte, the newest counting most.
        #[cfg_attr(test, ts(optional = nullable))]
        first_byte_ms: Option<u64>,
        /// Answers that came to their end, and that broke off.
        streams_whole: u64,
        streams_broken: u64,
        /// Tool calls whose arguments could be read, and could not.
        calls_readable: u64,
        calls_unreadable: u64,
        /// Models that the provider said it does not have.
        unknown_models: Vec<String>,
        today: Spending,
    }
    pub struct ProvidersHealthResult {
        /// Those that can be used or have been tried.
        providers: Vec<ProviderHealth>,
        /// Of all providers on this day (UTC).
        today: Spending,
    }

    pub struct UiLoadParams {
        /// Keys begin with this.
        prefix: String,
    }
    pub struct UiEntry {
        key: String,
        value: serde_json::Value,
        updated_at: Millis,
    }
    pub struct UiLoadResult {
        entries: Vec<UiEntry>,
    }
    pub struct UiSaveParams {
        /// At most 512 bytes.
        key: String,
        /// Null deletes. At most 8 MiB as JSON.
        value: serde_json::Value,
    }
}
