//! What a command changed in its copy, as edits of the draft.

use std::{
    collections::BTreeSet,
    fs::Metadata,
    io::{self, Read, Seek},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use protocol::{ChangeSet, RuntimeError, SessionId};
use store::Store;
use workspace::{
    Breadth, Workspace,
    walk::{self, WalkOptions, WalkedKind},
};

use super::{Staged, StagedCopy, copy::Stamp};
use crate::{
    ChangeSets, EditedFile,
    content::Content,
    disk::{self, FileState},
    editing::Author,
    error::EditError,
    plan,
    record::Version,
    set,
    transaction::Editing,
};

/// Larger results of a command go to the store without being taken into memory.
const MAX_READ_BYTES: u64 = 8 * 1024 * 1024;

/// What became of a command's changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Harvest {
    /// The session's draft with the changes in it; absent when nothing was taken over.
    pub change_set: Option<ChangeSet>,
    pub files: Vec<EditedFile>,
    /// What was left behind and why, one line each: "not taken over: out.bin (it is not text)".
    pub notes: Vec<String>,
}

/// One path as the command left it.
pub(super) enum Found {
    Content { was: Option<Version>, now: FileState },
    Deleted { was: Version },
    NotTaken { reason: &'static str },
}

pub(super) fn harvest(
    sets: &ChangeSets,
    copy: &StagedCopy,
    session: &SessionId,
    command: &str,
) -> Result<Harvest, RuntimeError> {
    let mut changes: Vec<(PathBuf, Found)> = Vec::new();
    for path in paths(copy)? {
        match examine(sets, copy, &path) {
            Ok(Some(found)) => changes.push((path, found)),
            Ok(None) => {}
            Err(_) => changes.push((
                path,
                Found::NotTaken {
                    reason: "it could not be read",
                },
            )),
        }
    }
    join(sets, session, command, changes)
}

/// Makes changes part of the draft, labelled with the command.
pub(super) fn join(
    sets: &ChangeSets,
    session: &SessionId,
    command: &str,
    changes: Vec<(PathBuf, Found)>,
) -> Result<Harvest, RuntimeError> {
    let mut harvest = Harvest::default();
    if changes.is_empty() {
        return Ok(harvest);
    }
    let notes = &mut harvest.notes;
    let outcome = sets.edited(session, Author::Command { line: command }, |editing| {
        for (path, found) in changes {
            let large = large_size(&found);
            if let Some(reason) = take_over(sets, editing, &path, found)? {
                notes.push(format!(
                    "not taken over: {} ({reason})",
                    workspace::display_path(&path)
                ));
            } else if let Some(size) = large {
                notes.push(format!(
                    "{} has {} MiB; it is reviewed as a whole",
                    workspace::display_path(&path),
                    size >> 20
                ));
            }
        }
        Ok(())
    })?;
    if !outcome.files.is_empty() {
        harvest.change_set = Some(outcome.change_set);
        harvest.files = outcome.files;
    }
    Ok(harvest)
}

/// Bytes of a content that the review cannot show as lines for its size.
fn large_size(found: &Found) -> Option<u64> {
    match found {
        Found::Content { now, .. } => Some(now.content.size()).filter(|size| *size > MAX_READ_BYTES),
        Found::Deleted { .. } | Found::NotTaken { .. } => None,
    }
}

/// Everything that was put into the copy and everything that is there now, but for what leads to the real workspace.
fn paths(copy: &StagedCopy) -> Result<BTreeSet<PathBuf>, RuntimeError> {
    let place = Workspace::open(&copy.root, Breadth::Any)?;
    let walk = walk::walk(&place, &WalkOptions::default(), &workspace::never)?;
    let mut paths: BTreeSet<PathBuf> = copy.staged.keys().cloned().collect();
    paths.extend(
        walk.files
            .into_iter()
            .filter(|file| !(file.kind == WalkedKind::Link && copy.linked.contains(&file.path)))
            .map(|file| file.path),
    );
    Ok(paths)
}

fn examine(sets: &ChangeSets, copy: &StagedCopy, path: &Path) -> std::io::Result<Option<Found>> {
    let staged = copy.staged.get(path);
    let metadata = match copy.root.join(path).symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(match staged {
                Some(Staged::File { version, .. }) => Some(Found::Deleted { was: version.clone() }),
                Some(Staged::Link { .. }) => not_taken("it is a link, its deletion was left out"),
                None => None,
            });
        }
        Err(error) => return Err(error),
    };
    if metadata.is_symlink() {
        let target = std::fs::read_link(copy.root.join(path))?;
        return Ok(match staged {
            Some(Staged::Link { target: before }) if *before == target => None,
            _ => not_taken("it is a link"),
        });
    }
    if !metadata.is_file() {
        return Ok(not_taken("it is not a regular file"));
    }
    let was = match staged {
        Some(Staged::File { stamp, .. }) if *stamp == Stamp::of(&metadata) => {
            return Ok(None);
        }
        Some(Staged::File { version, .. }) => Some(version.clone()),
        Some(Staged::Link { .. }) => return Ok(not_taken("it replaces a link")),
        None => None,
    };
    content(sets.store(), &copy.root, path, &metadata, was)
}

/// The content a command left at a path; nothing where it is what was there before.
pub(super) fn content(
    store: &Store,
    root: &Path,
    path: &Path,
    metadata: &Metadata,
    was: Option<Version>,
) -> io::Result<Option<Found>> {
    let Some(mut file) = disk::open(root, path)? else {
        return Ok(None);
    };
    let mode = metadata.mode() & 0o7777;
    let mut bytes = Vec::new();
    if metadata.len() <= MAX_READ_BYTES {
        (&mut file).take(MAX_READ_BYTES + 1).read_to_end(&mut bytes)?;
    }
    let is_large = metadata.len() > MAX_READ_BYTES || bytes.len() as u64 > MAX_READ_BYTES;
    let now = if is_large {
        file.rewind()?;
        let (hash, size) = store.put_blob_from(&mut file).map_err(io::Error::other)?;
        FileState::of(Content::Stored { size }, Version { hash, mode })
    } else {
        FileState::new(bytes, mode)
    };
    if was.as_ref() == Some(&now.version) {
        return Ok(None);
    }
    Ok(Some(Found::Content { was, now }))
}

pub(super) fn not_taken(reason: &'static str) -> Option<Found> {
    Some(Found::NotTaken { reason })
}

/// Makes one change part of the draft, or says why not.
fn take_over(
    sets: &ChangeSets,
    editing: &mut Editing,
    path: &Path,
    found: Found,
) -> Result<Option<String>, EditError> {
    if let Found::NotTaken { reason } = found {
        return Ok(Some(reason.to_owned()));
    }
    match try_take_over(sets, editing, path, found) {
        Err(error @ (EditError::Store(_) | EditError::Internal(_))) => Err(error),
        Err(error) => Ok(Some(error.to_string())),
        Ok(problem) => Ok(problem.map(str::to_owned)),
    }
}

fn try_take_over(
    sets: &ChangeSets,
    editing: &mut Editing,
    path: &Path,
    found: Found,
) -> Result<Option<&'static str>, EditError> {
    let resolved = sets.workspace().resolve(sets.workspace().root().join(path))?;
    if resolved.relative() != path {
        return Ok(Some("it is behind a link in the workspace"));
    }
    let path = editing.writable(&resolved)?;
    let current = editing.current(&path)?;
    match (found, current) {
        (Found::NotTaken { reason }, _) => Ok(Some(reason)),
        (Found::Deleted { was }, Some(current)) if was.hash == current.version.hash => {
            editing.delete(&path)?;
            Ok(None)
        }
        (Found::Deleted { .. }, None) => Ok(None),
        (Found::Deleted { .. }, Some(_)) => Ok(Some(
            "it was changed while the command ran, and the command deleted it",
        )),
        (Found::Content { was: None, now }, None) => {
            match now.bytes() {
                Some(bytes) => editing.create(&path, bytes, now.version.mode)?,
                None => editing.create_stored(&path, now)?,
            }
            Ok(None)
        }
        (Found::Content { now, .. }, Some(current)) if now.version == current.version => Ok(None),
        (Found::Content { was: Some(was), now }, Some(current)) => {
            if was.hash == current.version.hash {
                match now.bytes() {
                    Some(bytes) => editing.write(&path, Some(&current), bytes, now.version.mode)?,
                    None => editing.put(&path, Some(&current), now)?,
                }
                return Ok(None);
            }
            let merged = set::stored_content(sets.store(), &was.hash)
                .map_err(|_| String::new())
                .and_then(|base| {
                    plan::merge_contents(&base, &current.content, &now.content, "by the command")
                });
            match merged {
                Ok(bytes) => editing.write(&path, Some(&current), &bytes, now.version.mode)?,
                Err(_) => return Ok(Some("it was changed while the command ran")),
            }
            Ok(None)
        }
        (Found::Content { .. }, Some(_)) => Ok(Some("a file of that name was made while the command ran")),
        (Found::Content { .. }, None) => Ok(Some("it was deleted while the command ran")),
    }
}
