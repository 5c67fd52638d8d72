//! Why a file was not read, and what a reader can do about it.

use std::io;

use protocol::{ErrorCode, RuntimeError};

use crate::{Overlay, OverlayEntry, WorkspacePath, beneath, display_path, size_in_words};

/// Paths are as displayed, relative to the workspace.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{path} does not exist")]
    NotFound {
        path: String,
        /// Up to three existing names that look like it, nearest first.
        similar: Vec<String>,
    },
    #[error("{path} is deleted in the pending changes")]
    DeletedInDraft { path: String },
    #[error("{path} is a folder")]
    IsDirectory { path: String },
    /// A pipe, socket or device.
    #[error("{path} is a pipe, a socket or a device, not a file")]
    Special { path: String },
    /// A link or a folder took its place since the path was resolved.
    #[error("{path} changed while it was being opened")]
    Moved { path: String },
    #[error("{path} is {kind}, not text ({})", size_in_words(*size))]
    Binary {
        path: String,
        /// To be read after "is": "a PNG image", "binary data".
        kind: String,
        size: u64,
    },
    #[error("{path} has {}; the limit is {}", size_in_words(*size), size_in_words(*max))]
    TooLarge { path: String, size: u64, max: u64 },
    #[error("{path} has {total} lines; line {first} is past its end")]
    PastEnd { path: String, first: u64, total: u64 },
    #[error("lines {first} to {last} are not a range; lines count from 1")]
    BadRange { first: u64, last: u64 },
    #[error("{path} cannot be read: {reason}")]
    Io { path: String, reason: io::Error },
}

impl ReadError {
    pub(super) fn io(path: &WorkspacePath, reason: io::Error) -> Self {
        let path = path.display();
        // How the kernel says that something else stands there than a moment ago.
        let moved = reason.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
            || reason.kind() == io::ErrorKind::InvalidInput;
        match moved {
            true => ReadError::Moved { path },
            false => ReadError::Io { path, reason },
        }
    }

    pub fn code(&self) -> ErrorCode {
        match self {
            ReadError::NotFound { .. } | ReadError::DeletedInDraft { .. } => ErrorCode::PathNotFound,
            ReadError::IsDirectory { .. } => ErrorCode::PathIsDirectory,
            ReadError::Binary { .. } => ErrorCode::FileBinary,
            ReadError::TooLarge { .. } => ErrorCode::FileTooLarge,
            ReadError::PastEnd { .. } | ReadError::BadRange { .. } => ErrorCode::ToolArguments,
            ReadError::Special { .. } | ReadError::Moved { .. } | ReadError::Io { .. } => ErrorCode::FileIo,
        }
    }

    fn way_out(&self) -> String {
        match self {
            ReadError::NotFound { similar, .. } if !similar.is_empty() => {
                format!("Did you mean {}?", similar.join(", "))
            }
            ReadError::NotFound { .. } => "List the folder or search for the file's name.".to_owned(),
            ReadError::DeletedInDraft { .. } => {
                "Create it anew, or reject the pending deletion to get it back.".to_owned()
            }
            ReadError::IsDirectory { .. } => "List it, and read one of its files.".to_owned(),
            ReadError::Special { .. } => "Read a regular file.".to_owned(),
            ReadError::Moved { .. } => "Try again.".to_owned(),
            ReadError::Binary { .. } => {
                "Only text can be read; use a command that understands this kind of file.".to_owned()
            }
            ReadError::TooLarge { .. } => {
                "Search in it, or use a command that shows a part of it.".to_owned()
            }
            ReadError::PastEnd { total, .. } => format!("Ask for lines between 1 and {total}."),
            ReadError::BadRange { .. } => {
                "Give a first line of at least 1 and a last line not before it.".to_owned()
            }
            ReadError::Io { .. } => "Check the file's permissions.".to_owned(),
        }
    }
}

impl From<ReadError> for RuntimeError {
    fn from(error: ReadError) -> Self {
        let made = RuntimeError::new(error.code(), format!("{error}.")).action(error.way_out());
        match error {
            ReadError::Moved { .. } => made.retryable(),
            ReadError::Io { reason, .. } => made.because(reason),
            _ => made,
        }
    }
}

/// Up to three names that exist, on disk or in the draft, and look like the missing one: in its folder, or where
/// the folder itself is missing, beside the first missing part.
pub(crate) fn similar_names(path: &WorkspacePath, overlay: &Overlay) -> Vec<String> {
    let Ok(root) = path.open_root() else {
        return Vec::new();
    };
    let mut missing = path.relative();
    let (parent, directory, name) = loop {
        let (Some(parent), Some(name)) = (missing.parent(), missing.file_name()) else {
            return Vec::new();
        };
        match beneath::open_directory(&root, parent) {
            Ok(directory) => break (parent, Some(directory), name),
            Err(_) if overlay.has_content_below(parent) => break (parent, None, name),
            Err(_) => missing = parent,
        }
    };
    let wanted = name.to_string_lossy().to_lowercase();
    let mut names: Vec<String> = Vec::new();
    if let Some(entries) = directory.and_then(|directory| rustix::fs::Dir::read_from(directory).ok()) {
        let on_disk = entries
            .filter_map(Result::ok)
            .map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.extend(on_disk.filter(|name| !matches!(name.as_str(), "." | ".." | ".git")));
    }
    for (below, entry) in overlay.below(parent) {
        let first = below
            .strip_prefix(parent)
            .ok()
            .and_then(|rest| rest.components().next());
        let Some(first) = first.map(|part| part.as_os_str().to_string_lossy().into_owned()) else {
            continue;
        };
        let is_file = parent.join(&first) == *below;
        match entry {
            OverlayEntry::Content { .. } | OverlayEntry::Stored { .. } if !names.contains(&first) => {
                names.push(first)
            }
            OverlayEntry::Deleted if is_file => names.retain(|name| *name != first),
            _ => {}
        }
    }
    let allowed = (wanted.chars().count() / 3).clamp(1, 4);
    let mut ranked: Vec<(usize, String)> = names
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let distance = edit_distance(&wanted, &lower, allowed).or_else(|| {
                // Another extension, or one given where there is none.
                (stem(&lower) == stem(&wanted)).then_some(allowed + 1)
            })?;
            Some((distance, name))
        })
        .collect();
    ranked.sort();
    ranked.truncate(3);
    ranked
        .into_iter()
        .map(|(_, name)| display_path(&parent.join(name)))
        .collect()
}

fn stem(name: &str) -> &str {
    name.split('.').find(|part| !part.is_empty()).unwrap_or(name)
}

/// Insertions, deletions, substitutions and swaps of neighbours between two texts, or `None` when there are more
/// than `max`.
fn edit_distance(a: &str, b: &str, max: usize) -> Option<usize> {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.len().abs_diff(b.len()) > max {
        return None;
    }
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let substituted = rows[i][j] + usize::from(a[i] != b[j]);
            let mut best = substituted.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows.last()?.last().copied().filter(|distance| *distance <= max)
}
