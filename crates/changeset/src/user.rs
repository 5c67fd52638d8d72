//! The user's own rearranging of the tree: create, rename, move, delete, and taking any of it back.
//!
//! Owns what each step means and what taking it back needs. Contents of files change through the journaled commit of
//! `apply`, all or none; a rename is one step of the file system. Links and empty folders of a deleted tree go after
//! its files: a crash in between leaves them behind, never a file half gone. Agents have no way here.

mod step;
mod undo;

use std::{ffi::OsString, path::Path};

use store::{Document, Durability};
use workspace::WorkspacePath;

use crate::{
    ChangeSets,
    apply::{self, Committed},
    disk::{
        self, DiskError, FileState,
        entries::{self, EntryKind, FolderMode},
    },
    error::ApplyError,
    plan::Write,
    record::{Located, StoredPath, USER_STEP},
    set,
};
pub(crate) use step::{Inverse, UserStepRecord};
use step::{Restorable, StoredFolder, StoredLink};

/// The most files that are deleted in one step, because deleting keeps them for undo.
pub const MAX_DELETED_FILES: usize = 2_000;
/// And the most bytes of them.
pub const MAX_DELETED_BYTES: u64 = 64 * 1024 * 1024;

/// A step that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserStep {
    /// Names the step for [`ChangeSets::undo_step`].
    pub undo: String,
    /// Paths that changed, as displayed.
    pub paths: Vec<String>,
    pub notes: Vec<String>,
}

impl ChangeSets {
    /// Makes an empty file, and the folders above it where they are missing.
    pub fn create_file(&self, path: &WorkspacePath) -> Result<UserStep, ApplyError> {
        let mut state = self.lock();
        let notes = self.recover_first(&mut state)?;
        let path = self.free(path)?;
        let after = FileState::new(&b""[..], disk::new_file_mode(disk::Executable::No));
        let located = Located {
            path: path.clone(),
            version: after.version.clone(),
        };
        let write = Write {
            path: path.clone(),
            before: None,
            after: Some(after),
        };
        self.write(&[write], vec![path.display()], notes, |made| Inverse::Remove {
            files: vec![located.clone()],
            folders: made.to_vec(),
            links: Vec::new(),
        })
    }

    /// Makes a folder, and those above it where they are missing.
    pub fn create_folder(&self, path: &WorkspacePath) -> Result<UserStep, ApplyError> {
        let mut state = self.lock();
        let notes = self.recover_first(&mut state)?;
        let path = self.free(path)?;
        let root = self.workspace().root();
        let mut folders = self.missing_above(&path.0);
        folders.push(path.clone());
        for folder in &folders {
            entries::make_folder(root, &folder.0, FolderMode::ByUmask)
                .map_err(|error| apply::io(folder, error))?;
        }
        let inverse = Inverse::Remove {
            files: Vec::new(),
            folders,
            links: Vec::new(),
        };
        self.done(vec![path.display()], notes, inverse)
    }

    /// Renames or moves a file, a link, or a folder with all it holds. The new path must be free; folders above it
    /// are made.
    pub fn rename_entry(&self, from: &WorkspacePath, to: &WorkspacePath) -> Result<UserStep, ApplyError> {
        let mut state = self.lock();
        let notes = self.recover_first(&mut state)?;
        let from = self.present(from)?;
        let to = self.free(to)?;
        self.move_entry(&from, &to, notes)
    }

    /// Deletes files, links, and folders with all they hold: all of them or none. What is deleted is kept for undo,
    /// so there is a limit: [`MAX_DELETED_FILES`] and [`MAX_DELETED_BYTES`].
    pub fn delete_entries(&self, paths: &[WorkspacePath]) -> Result<UserStep, ApplyError> {
        let mut state = self.lock();
        let notes = self.recover_first(&mut state)?;
        let mut stored = paths
            .iter()
            .map(|path| self.present(path))
            .collect::<Result<Vec<_>, _>>()?;
        stored.sort();
        // What lies in another one that goes, goes with it.
        let mut outermost: Vec<StoredPath> = Vec::new();
        for path in stored {
            if !outermost.last().is_some_and(|above| path.0.starts_with(&above.0)) {
                outermost.push(path);
            }
        }
        let (restorable, before) = self.look_at(&outermost)?;
        self.delete_known(&outermost, restorable, before, notes)
    }

    fn move_entry(
        &self,
        from: &StoredPath,
        to: &StoredPath,
        notes: Vec<String>,
    ) -> Result<UserStep, ApplyError> {
        if to.0.starts_with(&from.0) {
            return Err(ApplyError::IntoItself { path: from.display() });
        }
        let folders = self.missing_above(&to.0);
        match entries::move_entry(self.workspace().root(), &from.0, &to.0) {
            Ok(true) => {}
            Ok(false) => return Err(ApplyError::Taken { path: to.display() }),
            Err(error) => {
                self.remove_empty(&folders);
                return Err(apply::io(from, error));
            }
        }
        let inverse = Inverse::Rename {
            from: to.clone(),
            to: from.clone(),
            folders,
        };
        self.done(vec![from.display(), to.display()], notes, inverse)
    }

    /// What the paths are made of, within the limits, with the contents of the files.
    fn look_at(&self, paths: &[StoredPath]) -> Result<(Restorable, Vec<FileState>), ApplyError> {
        let root = self.workspace().root();
        let mut all = entries::Tree::default();
        for path in paths {
            let failed = |error| apply::io(path, error);
            match entries::kind(root, &path.0).map_err(failed)? {
                Some(EntryKind::Folder) => {
                    let held = all.files.len();
                    let tree =
                        entries::tree(root, &path.0, |tree| held + tree.files.len() > MAX_DELETED_FILES)
                            .map_err(failed)?;
                    all.folders.extend(tree.folders);
                    all.files.extend(tree.files);
                    all.links.extend(tree.links);
                    all.special = all.special.or(tree.special);
                }
                Some(EntryKind::File) => {
                    let size = root
                        .join(&path.0)
                        .symlink_metadata()
                        .map_or(0, |found| found.len());
                    all.files.push((path.0.clone(), size));
                }
                Some(EntryKind::Link) => {
                    let target = entries::link_target(root, &path.0).map_err(failed)?;
                    all.links.push((path.0.clone(), target.unwrap_or_default()));
                }
                Some(EntryKind::Special) => all.special = Some(path.0.clone()),
                None => return Err(ApplyError::Missing { path: path.display() }),
            }
            if let Some(special) = &all.special {
                return Err(ApplyError::Special {
                    path: workspace::display_path(special),
                });
            }
            let bytes: u64 = all.files.iter().map(|(_, size)| size).sum();
            if all.files.len() > MAX_DELETED_FILES || bytes > MAX_DELETED_BYTES {
                return Err(ApplyError::TooMuch { path: path.display() });
            }
        }
        if let Some((repository, _)) = all.folders.iter().find(|(folder, _)| is_git(folder)) {
            return Err(ApplyError::Protected {
                path: workspace::display_path(repository),
            });
        }
        let mut files = Vec::with_capacity(all.files.len());
        let mut contents = Vec::with_capacity(all.files.len());
        for (path, _) in all.files {
            let path = StoredPath(path);
            let found = disk::read(root, &path.0)
                .map_err(|error| apply::io(&path, error))?
                .ok_or_else(|| ApplyError::Moved { path: path.display() })?;
            files.push(Located {
                path,
                version: found.version.clone(),
            });
            contents.push(found);
        }
        let folders = all.folders.into_iter().map(|(path, mode)| StoredFolder {
            path: StoredPath(path),
            mode,
        });
        let links = all.links.into_iter().map(|(path, target)| StoredLink {
            path: StoredPath(path),
            target: StoredPath(target.into()),
        });
        let restorable = Restorable {
            files,
            folders: folders.collect(),
            links: links.collect(),
        };
        Ok((restorable, contents))
    }

    fn delete_known(
        &self,
        paths: &[StoredPath],
        restorable: Restorable,
        before: Vec<FileState>,
        mut notes: Vec<String>,
    ) -> Result<UserStep, ApplyError> {
        let writes: Vec<Write> = restorable
            .files
            .iter()
            .zip(before)
            .map(|(file, before)| Write {
                path: file.path.clone(),
                before: Some(before),
                after: None,
            })
            .collect();
        let shown = paths.iter().map(StoredPath::display).collect();
        let inverse = Inverse::Restore(restorable.clone());
        let mut done = self.write(&writes, shown, Vec::new(), |_| inverse.clone())?;
        notes.append(&mut done.notes);
        let root = self.workspace().root();
        for link in &restorable.links {
            if !entries::remove_link(root, &link.path.0, link.target.0.as_os_str()).unwrap_or(false) {
                notes.push(format!("{} was left: it changed meanwhile.", link.path.display()));
            }
        }
        for folder in restorable.folders.iter().rev() {
            disk::remove_empty_folder(root, &folder.path.0);
        }
        for path in paths {
            if matches!(entries::kind(root, &path.0), Ok(Some(EntryKind::Folder))) {
                notes.push(format!("{} was left: something new is in it.", path.display()));
            }
        }
        done.notes = notes;
        Ok(done)
    }

    /// Commits writes together with the record of how to take them back.
    fn write(
        &self,
        writes: &[Write],
        paths: Vec<String>,
        mut notes: Vec<String>,
        inverse: impl FnOnce(&[StoredPath]) -> Inverse,
    ) -> Result<UserStep, ApplyError> {
        let mut undo = String::new();
        let committed = apply::commit(self.store(), self.workspace().root(), writes, |made| {
            let (id, document) = record(inverse(made))?;
            undo = id;
            Ok(vec![document])
        })?;
        match committed {
            Committed::Yes { notes: written } => {
                notes.extend(written);
                Ok(UserStep { undo, paths, notes })
            }
            Committed::Moved => Err(ApplyError::Moved {
                path: paths.first().cloned().unwrap_or_default(),
            }),
        }
    }

    /// Records a step that needed no commit.
    fn done(&self, paths: Vec<String>, notes: Vec<String>, inverse: Inverse) -> Result<UserStep, ApplyError> {
        let (undo, document) = record(inverse)?;
        self.store().put_documents(&[document], Durability::Full)?;
        Ok(UserStep { undo, paths, notes })
    }

    fn free(&self, path: &WorkspacePath) -> Result<StoredPath, ApplyError> {
        let stored = self.allowed(path)?;
        self.must_be(&stored, Wanted::Absent)?;
        Ok(stored)
    }

    fn present(&self, path: &WorkspacePath) -> Result<StoredPath, ApplyError> {
        let stored = self.allowed(path)?;
        self.must_be(&stored, Wanted::Present)?;
        Ok(stored)
    }

    fn allowed(&self, path: &WorkspacePath) -> Result<StoredPath, ApplyError> {
        if path.is_root() {
            return Err(ApplyError::WholeWorkspace);
        }
        if path.is_protected() {
            return Err(ApplyError::Protected { path: path.display() });
        }
        Ok(StoredPath(path.relative().to_owned()))
    }

    fn must_be(&self, path: &StoredPath, wanted: Wanted) -> Result<(), ApplyError> {
        let found = match entries::kind(self.workspace().root(), &path.0) {
            // A file or a link stands where the path needs a folder.
            Err(DiskError::NotADirectory) => match wanted {
                Wanted::Present => None,
                Wanted::Absent => return Err(ApplyError::UnderFile { path: path.display() }),
            },
            other => other.map_err(|error| apply::io(path, error))?,
        };
        match (wanted, found) {
            (Wanted::Absent, Some(_)) => Err(ApplyError::Taken { path: path.display() }),
            (Wanted::Present, None) => Err(ApplyError::Missing { path: path.display() }),
            (Wanted::Absent, None) | (Wanted::Present, Some(_)) => Ok(()),
        }
    }

    /// Folders above a path that do not exist, outermost first.
    fn missing_above(&self, path: &Path) -> Vec<StoredPath> {
        let root = self.workspace().root();
        let mut missing: Vec<StoredPath> = path
            .ancestors()
            .skip(1)
            .take_while(|folder| {
                !folder.as_os_str().is_empty() && root.join(folder).symlink_metadata().is_err()
            })
            .map(|folder| StoredPath(folder.to_owned()))
            .collect();
        missing.reverse();
        missing
    }

    fn remove_empty(&self, folders: &[StoredPath]) {
        for folder in folders.iter().rev() {
            disk::remove_empty_folder(self.workspace().root(), &folder.0);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Present,
    Absent,
}

fn is_git(folder: &Path) -> bool {
    folder
        .file_name()
        .is_some_and(|name| name.eq_ignore_ascii_case(OsString::from(".git")))
}

/// The outermost of the paths a step is about.
fn paths_of(files: &[Located], folders: &[StoredPath], links: &[StoredLink]) -> Vec<String> {
    let mut all: Vec<&StoredPath> = (files.iter().map(|file| &file.path))
        .chain(folders)
        .chain(links.iter().map(|link| &link.path))
        .collect();
    all.sort();
    let mut outermost: Vec<&StoredPath> = Vec::new();
    for path in all {
        if !outermost.last().is_some_and(|above| path.0.starts_with(&above.0)) {
            outermost.push(path);
        }
    }
    outermost.into_iter().map(StoredPath::display).collect()
}

fn record(inverse: Inverse) -> Result<(String, Document), ApplyError> {
    let id = format!(
        "usr_{}",
        protocol::SnapshotId::mint().as_str().trim_start_matches("snp_")
    );
    let record = UserStepRecord {
        created_at: set::now(),
        inverse,
    };
    let document = Document {
        kind: USER_STEP.to_owned(),
        id: id.clone(),
        session_id: None,
        value: Some(serde_json::to_value(&record).map_err(|error| ApplyError::Internal(error.to_string()))?),
    };
    Ok((id, document))
}

pub(crate) fn removal(id: &str) -> Document {
    Document {
        kind: USER_STEP.to_owned(),
        id: id.to_owned(),
        session_id: None,
        value: None,
    }
}
