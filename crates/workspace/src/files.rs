//! Finding files by name, the draft laid over the disk. Fuzzy ranking is the `index` crate's.

use std::path::PathBuf;

use crate::{
    Overlay, Stop, Workspace,
    search::{SearchError, glob_set},
    walk::{Skipped, WalkError, WalkOptions, walk},
};

/// Files and links as the draft leaves them, in path order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    /// Relative to the workspace root.
    pub paths: Vec<PathBuf>,
    pub skipped: Skipped,
    /// The caller asked to stop, so paths are missing.
    pub stopped: bool,
}

/// The files that match a glob, those with the fewest folders above them first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileMatches {
    pub paths: Vec<PathBuf>,
    /// Matches beyond the limit.
    pub omitted: usize,
    pub files_seen: usize,
    pub skipped: Skipped,
    pub stopped: bool,
}

/// Every file that is not left out, with the files the draft creates and without those it deletes.
pub fn all(
    workspace: &Workspace,
    overlay: &Overlay,
    options: &WalkOptions,
    stop: Stop<'_>,
) -> Result<FileList, WalkError> {
    let found = walk(workspace, options, stop)?;
    let mut paths: Vec<PathBuf> = found.files.into_iter().map(|file| file.path).collect();
    if !overlay.is_empty() {
        paths.retain(|path| overlay.get(path).is_none());
        let drafted = overlay
            .entries
            .iter()
            .filter(|(_, entry)| entry.is_content())
            .map(|(path, _)| path)
            .filter(|path| {
                options.starts.is_empty()
                    || options
                        .starts
                        .iter()
                        .any(|start| path.starts_with(start.relative()))
            });
        paths.extend(drafted.cloned());
        paths.sort();
    }
    Ok(FileList {
        paths,
        skipped: found.skipped,
        stopped: found.stopped,
    })
}

/// Files whose path matches one of the globs; one without `/` is for the name in any folder.
pub fn matching(
    workspace: &Workspace,
    overlay: &Overlay,
    globs: &[String],
    options: &WalkOptions,
    max_paths: usize,
    stop: Stop<'_>,
) -> Result<FileMatches, SearchError> {
    let set = glob_set(globs)?;
    let list = all(workspace, overlay, options, stop)?;
    let files_seen = list.paths.len();
    let mut paths = list.paths;
    if let Some(set) = set {
        paths.retain(|path| set.is_match(path));
    }
    paths.sort_by_cached_key(|path| (path.components().count(), path.clone()));
    let omitted = paths.len().saturating_sub(max_paths);
    paths.truncate(max_paths);
    Ok(FileMatches {
        paths,
        omitted,
        files_seen,
        skipped: list.skipped,
        stopped: list.stopped,
    })
}
