//! What of an earlier command's copy can serve the next one. Everything here removes or keeps; nothing is written.
//!
//! A command may have left anything in its copy, links that lead out of it included. So the copy is first reduced to
//! what is still exactly as it was put there, and only then built upon.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use workspace::walk::WalkedKind;

use super::{
    StageError, Staged, StagedCopy,
    copy::{self, Stamp},
    failed,
};
use crate::record::Version;

/// Removes from a copy whatever is not as it was put there. Afterwards its records say exactly what is in it. `real` is
/// the workspace that it links to.
///
/// # Errors
/// Something could not be looked at or removed, or a folder was closed; the copy is of no further use.
pub(super) fn clean(mut copy: StagedCopy, real: &Path) -> io::Result<StagedCopy> {
    let mut staged = BTreeMap::new();
    let mut linked = BTreeSet::new();
    let mut folders = BTreeSet::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(folder) = waiting.pop() {
        let place = copy.root.join(&folder);
        if Some(folder_mode(&place)?) != copy.folder_mode {
            return Err(io::Error::other("a folder was replaced, or its mode changed"));
        }
        for entry in std::fs::read_dir(&place)? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                match copy.folders.contains(&path) {
                    true => waiting.push(path),
                    false => copy::remove_tree(&entry.path())?,
                }
            } else if copy.linked.contains(&path) && leads_to(&entry.path(), &real.join(&path)) {
                linked.insert(path);
            } else if let Some(found) = copy.staged.remove(&path)
                && is_as_put(&found, &entry.path())?
            {
                staged.insert(path, found);
            } else {
                copy::remove(&entry.path())?;
            }
        }
        folders.insert(folder);
    }
    Ok(StagedCopy {
        staged,
        linked,
        folders,
        ..copy
    })
}

/// The type and permissions of what is at a path, which a link does not share with a folder.
pub(super) fn folder_mode(path: &Path) -> io::Result<u32> {
    Ok(path.symlink_metadata()?.mode())
}

fn leads_to(link: &Path, target: &Path) -> bool {
    std::fs::read_link(link).is_ok_and(|found| found == target)
}

fn is_as_put(staged: &Staged, at: &Path) -> io::Result<bool> {
    Ok(match staged {
        Staged::File { stamp, .. } => Stamp::of(&at.symlink_metadata()?) == *stamp,
        Staged::Link { target } => leads_to(at, target),
    })
}

/// What is in a copy that is being brought up to date and was not needed so far.
#[derive(Debug)]
pub(super) struct Before {
    pub staged: BTreeMap<PathBuf, Staged>,
    pub linked: BTreeSet<PathBuf>,
    pub folders: BTreeSet<PathBuf>,
}

impl Before {
    /// The earlier copy of a file or link of the workspace, if that has not changed since.
    pub fn take_copied(&mut self, real: &Path, copy: &Path, path: &Path, kind: WalkedKind) -> Option<Staged> {
        let original = real.join(path);
        let fresh = match (self.staged.get(path)?, kind) {
            (Staged::File { source, .. }, WalkedKind::File) => {
                source.is_some() && *source == original.symlink_metadata().ok().map(|found| Stamp::of(&found))
            }
            (Staged::Link { target }, WalkedKind::Link) => {
                let now = std::fs::read_link(&original).ok()?;
                copy::retarget(&now, path, real, copy) == *target
            }
            _ => false,
        };
        match fresh {
            true => self.staged.remove(path),
            false => None,
        }
    }

    /// The file of an earlier draft, if its content and mode are still wanted.
    pub fn take_drafted(&mut self, path: &Path, wanted: &Version) -> Option<Staged> {
        match self.staged.get(path)? {
            Staged::File { version, .. } if version == wanted => {}
            _ => return None,
        }
        let Staged::File { version, stamp, .. } = self.staged.remove(path)? else {
            return None;
        };
        Some(Staged::File {
            version,
            stamp,
            source: None,
        })
    }

    /// Makes room for something else at a path.
    pub fn clear(&mut self, root: &Path, path: &Path) -> Result<(), StageError> {
        if self.staged.remove(path).is_some() | self.linked.remove(path) {
            copy::remove(&root.join(path)).map_err(failed(path))?;
        }
        Ok(())
    }

    /// Removes what nothing needed.
    pub fn remove_rest(&mut self, root: &Path) -> Result<(), StageError> {
        for path in self.staged.keys().chain(&self.linked) {
            copy::remove(&root.join(path)).map_err(failed(path))?;
        }
        // What is in a folder comes after it in this order.
        for path in self.folders.iter().rev() {
            copy::remove_folder(&root.join(path)).map_err(failed(path))?;
        }
        Ok(())
    }
}
