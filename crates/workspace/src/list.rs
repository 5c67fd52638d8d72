//! The entries of one directory, the draft laid over them.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io,
    os::{fd::AsFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
};

use protocol::{ErrorCode, RuntimeError};

use crate::{
    Overlay, OverlayEntry, SkipReason, Workspace, WorkspacePath,
    beneath::{self, NodeKind},
    walk::rules_for,
};

/// Entries a listing shows unless asked for fewer.
pub const DEFAULT_MAX_ENTRIES: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Folders first, each group by name. `.git` is left out.
    pub entries: Vec<Entry>,
    /// Entries beyond the limit.
    pub omitted: usize,
    /// Names that are on disk but deleted in the draft, and so not among `entries`.
    pub deleted_in_draft: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: OsString,
    /// Relative to the workspace root.
    pub path: PathBuf,
    pub kind: EntryKind,
    /// Bytes, of files only.
    pub size: Option<u64>,
    /// Why walks and searches leave it out.
    pub ignored: Option<SkipReason>,
    pub draft: Option<DraftMark>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    Directory,
    File,
    Link {
        /// The text of the link.
        target: String,
        leads_to: LinkTarget,
    },
    /// A pipe, socket or device.
    Special,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkTarget {
    File,
    Directory,
    /// Out of the workspace: it cannot be read through here.
    Outside,
    Missing,
}

/// What the draft does to the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftMark {
    Created,
    Changed,
}

impl Entry {
    /// The name for people and models; `/` follows a folder's and `@` and the target a link's.
    pub fn label(&self) -> String {
        let name = self.name.to_string_lossy();
        let name = crate::on_one_line(&name);
        match &self.kind {
            EntryKind::Directory => format!("{name}/"),
            EntryKind::File => name.into_owned(),
            EntryKind::Link { target, leads_to } => match leads_to {
                LinkTarget::Outside => format!("{name} -> {target} (outside the workspace)"),
                LinkTarget::Missing => format!("{name} -> {target} (missing)"),
                LinkTarget::File | LinkTarget::Directory => format!("{name} -> {target}"),
            },
            EntryKind::Special => format!("{name} (not a regular file)"),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ListError {
    #[error("{path} does not exist")]
    NotFound { path: String, similar: Vec<String> },
    #[error("{path} is a file, not a folder")]
    NotADirectory { path: String },
    #[error("the folder {path} cannot be read: {reason}")]
    Unreadable { path: String, reason: io::Error },
}

impl From<ListError> for RuntimeError {
    fn from(error: ListError) -> Self {
        let message = format!("{error}.");
        match error {
            ListError::NotFound { similar, .. } => {
                let action = match similar.is_empty() {
                    true => "List the folder above it to see what there is.".to_owned(),
                    false => format!("Did you mean {}?", similar.join(", ")),
                };
                RuntimeError::new(ErrorCode::PathNotFound, message).action(action)
            }
            ListError::NotADirectory { .. } => {
                RuntimeError::new(ErrorCode::PathNotADirectory, message).action("Read it instead.")
            }
            ListError::Unreadable { reason, .. } => RuntimeError::new(ErrorCode::FileIo, message)
                .because(reason)
                .action("Check the folder's permissions."),
        }
    }
}

/// Lists one directory, at most `max_entries` of it.
pub fn list(
    workspace: &Workspace,
    directory: &WorkspacePath,
    overlay: &Overlay,
    max_entries: usize,
) -> Result<Listing, ListError> {
    let relative = directory.relative();
    let unreadable = |reason| ListError::Unreadable {
        path: directory.display(),
        reason,
    };
    let root = workspace.open_root().map_err(unreadable)?;
    let mut entries: BTreeMap<OsString, Entry> = BTreeMap::new();
    match beneath::open_directory(&root, relative) {
        Ok(opened) => {
            for entry in rustix::fs::Dir::read_from(&opened).map_err(|error| unreadable(error.into()))? {
                let entry = entry.map_err(|error| unreadable(error.into()))?;
                let name = entry.file_name().to_bytes();
                if matches!(name, b"." | b".." | b".git") {
                    continue;
                }
                let name = OsStr::from_bytes(name);
                // Gone again since the folder was read.
                let Ok(stat) = beneath::stat(&opened, Path::new(name)) else {
                    continue;
                };
                let kind = match NodeKind::of(&stat) {
                    NodeKind::Directory => EntryKind::Directory,
                    NodeKind::File => EntryKind::File,
                    NodeKind::Special => EntryKind::Special,
                    NodeKind::Link => link(workspace, &opened, &relative.join(name), name),
                };
                entries.insert(
                    name.to_owned(),
                    Entry {
                        name: name.to_owned(),
                        path: relative.join(name),
                        size: (kind == EntryKind::File).then(|| beneath::size_of(&stat)),
                        kind,
                        ignored: None,
                        draft: None,
                    },
                );
            }
            mark_ignored(workspace, &root, relative, &mut entries);
        }
        Err(reason) => match reason.kind() {
            _ if overlay.has_content_below(relative) => {}
            io::ErrorKind::NotFound => {
                return Err(ListError::NotFound {
                    path: directory.display(),
                    similar: crate::read::similar_names(directory, overlay),
                });
            }
            io::ErrorKind::NotADirectory => {
                return Err(ListError::NotADirectory {
                    path: directory.display(),
                });
            }
            _ => return Err(unreadable(reason)),
        },
    }
    let deleted_in_draft = lay_over(overlay, relative, &mut entries);
    let mut entries: Vec<Entry> = entries.into_values().collect();
    entries.sort_by_key(|entry| entry.kind != EntryKind::Directory);
    let omitted = entries.len().saturating_sub(max_entries);
    entries.truncate(max_entries);
    Ok(Listing {
        entries,
        omitted,
        deleted_in_draft,
    })
}

fn link(workspace: &Workspace, directory: impl AsFd, relative: &Path, name: &OsStr) -> EntryKind {
    let target = rustix::fs::readlinkat(directory, name, Vec::new())
        .map(|target| String::from_utf8_lossy(target.as_bytes()).into_owned())
        .unwrap_or_default();
    let leads_to = match workspace.resolve(workspace.root().join(relative)) {
        Err(_) => LinkTarget::Outside,
        Ok(real) => match std::fs::symlink_metadata(real.absolute()) {
            Ok(metadata) if metadata.is_dir() => LinkTarget::Directory,
            Ok(_) => LinkTarget::File,
            Err(_) => LinkTarget::Missing,
        },
    };
    EntryKind::Link { target, leads_to }
}

fn mark_ignored(
    workspace: &Workspace,
    root: impl AsFd,
    relative: &Path,
    entries: &mut BTreeMap<OsString, Entry>,
) {
    // Marks are a courtesy: a listing is right without them.
    let Ok((rules, inherited)) = rules_for(workspace, root.as_fd(), relative) else {
        return;
    };
    for entry in entries.values_mut() {
        let is_directory = entry.kind == EntryKind::Directory;
        entry.ignored = inherited.or_else(|| rules.skips(&entry.path, is_directory));
    }
}

/// Applies the draft and returns the names it takes away.
fn lay_over(overlay: &Overlay, relative: &Path, entries: &mut BTreeMap<OsString, Entry>) -> Vec<String> {
    let mut deleted = Vec::new();
    for (path, change) in overlay.below(relative) {
        let Ok(rest) = path.strip_prefix(relative) else {
            continue;
        };
        let mut parts = rest.components();
        let Some(first) = parts.next().map(|part| part.as_os_str().to_owned()) else {
            continue;
        };
        let deeper = parts.next().is_some();
        match change {
            OverlayEntry::Content { .. } | OverlayEntry::Stored { .. } if deeper => {
                entries.entry(first.clone()).or_insert_with(|| Entry {
                    path: relative.join(&first),
                    name: first,
                    kind: EntryKind::Directory,
                    size: None,
                    ignored: None,
                    draft: Some(DraftMark::Created),
                });
            }
            OverlayEntry::Content { .. } | OverlayEntry::Stored { .. } => {
                let before = entries.get(&first);
                let draft = match before {
                    Some(_) => DraftMark::Changed,
                    None => DraftMark::Created,
                };
                let ignored = before.and_then(|entry| entry.ignored);
                entries.insert(
                    first.clone(),
                    Entry {
                        name: first,
                        path: path.clone(),
                        kind: EntryKind::File,
                        size: change.size(),
                        ignored,
                        draft: Some(draft),
                    },
                );
            }
            OverlayEntry::Deleted if deeper => {}
            OverlayEntry::Deleted => {
                if entries.remove(&first).is_some() {
                    deleted.push(first.to_string_lossy().into_owned());
                }
            }
        }
    }
    deleted
}
