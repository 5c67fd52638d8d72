//! Taking a step of the user back, if what it left is still as it left it.

use std::os::unix::fs::PermissionsExt;

use store::Durability;

use super::{
    UserStep, Wanted, paths_of, removal,
    step::{Inverse, Restorable, StoredFolder, StoredLink, UserStepRecord},
};
use crate::{
    ChangeSets, apply,
    disk::{
        self, FileState,
        entries::{self, FolderMode},
    },
    error::ApplyError,
    plan::Write,
    record::{Located, StoredPath, USER_STEP},
    set::State,
};

impl ChangeSets {
    /// Takes a step back, if what it left is still as it left it. The result is a step of its own, so that it can be
    /// taken back too.
    pub fn undo_step(&self, undo: &str) -> Result<UserStep, ApplyError> {
        let mut state = self.lock();
        let notes = self.recover_first(&mut state)?;
        let value = self
            .store()
            .document(USER_STEP, undo)?
            .ok_or(ApplyError::NothingTo { what: "undo" })?;
        let record: UserStepRecord = serde_json::from_value(value)
            .map_err(|error| ApplyError::Internal(format!("the step {undo} cannot be read: {error}")))?;
        let done = match record.inverse {
            Inverse::Rename { from, to, folders } => {
                self.must_be(&from, Wanted::Present)?;
                self.must_be(&to, Wanted::Absent)?;
                let done = self.move_entry(&from, &to, notes)?;
                self.remove_empty(&folders);
                done
            }
            Inverse::Remove {
                files,
                folders,
                links,
            } => self.remove(&files, &folders, &links, notes)?,
            Inverse::Restore(restorable) => self.restore(&mut state, restorable, notes)?,
        };
        self.store().put_documents(&[removal(undo)], Durability::Normal)?;
        Ok(done)
    }

    /// Takes back a creation: only what still is as it was made.
    fn remove(
        &self,
        files: &[Located],
        folders: &[StoredPath],
        links: &[StoredLink],
        notes: Vec<String>,
    ) -> Result<UserStep, ApplyError> {
        let root = self.workspace().root();
        let mut writes = Vec::with_capacity(files.len());
        for file in files {
            let found = disk::read(root, &file.path.0).map_err(|error| apply::io(&file.path, error))?;
            let Some(before) = found.filter(|found| found.version == file.version) else {
                return Err(ApplyError::Moved {
                    path: file.path.display(),
                });
            };
            writes.push(Write {
                path: file.path.clone(),
                before: Some(before),
                after: None,
            });
        }
        let mode = |folder: &StoredPath| {
            let metadata = root.join(&folder.0).symlink_metadata().ok()?;
            metadata.is_dir().then(|| metadata.permissions().mode() & 0o7777)
        };
        let kept: Vec<StoredFolder> = folders
            .iter()
            .filter_map(|folder| {
                Some(StoredFolder {
                    path: folder.clone(),
                    mode: mode(folder)?,
                })
            })
            .collect();
        // A folder that was made and has got something of the user's since stays, and with it the step.
        if files.is_empty()
            && links.is_empty()
            && let Some(innermost) = folders.last()
            && std::fs::read_dir(root.join(&innermost.0)).is_ok_and(|mut entries| entries.next().is_some())
        {
            return Err(ApplyError::Moved {
                path: innermost.display(),
            });
        }
        let shown = paths_of(files, folders, links);
        let inverse = Inverse::Restore(Restorable {
            files: files.to_vec(),
            folders: kept,
            links: links.to_vec(),
        });
        let done = self.write(&writes, shown, notes, |_| inverse.clone())?;
        for link in links {
            // One that was changed is the user's by now.
            let _ = entries::remove_link(root, &link.path.0, link.target.0.as_os_str());
        }
        self.remove_empty(folders);
        Ok(done)
    }

    /// Brings back what was deleted, if nothing has taken its place.
    fn restore(
        &self,
        state: &mut State,
        restorable: Restorable,
        mut notes: Vec<String>,
    ) -> Result<UserStep, ApplyError> {
        let root = self.workspace().root();
        let mut writes = Vec::with_capacity(restorable.files.len());
        for file in &restorable.files {
            self.must_be(&file.path, Wanted::Absent)?;
            let content = self.content(state, &file.version.hash)?;
            writes.push(Write {
                path: file.path.clone(),
                before: None,
                after: Some(FileState::of(content, file.version.clone())),
            });
        }
        for link in &restorable.links {
            self.must_be(&link.path, Wanted::Absent)?;
        }
        let mut made = Vec::new();
        for folder in &restorable.folders {
            made.extend(self.missing_above(&folder.path.0));
            // While files are put in it, it must be open to us; its own mode comes last.
            match entries::make_folder(root, &folder.path.0, FolderMode::Exactly(folder.mode | 0o700)) {
                Ok(true) => made.push(folder.path.clone()),
                Ok(false) => {}
                Err(error) => {
                    self.remove_empty(&made);
                    return Err(apply::io(&folder.path, error));
                }
            }
        }
        let folders: Vec<StoredPath> = restorable
            .folders
            .iter()
            .map(|folder| folder.path.clone())
            .collect();
        let shown = paths_of(&restorable.files, &folders, &restorable.links);
        let written = self.write(&writes, shown, Vec::new(), |above| {
            let mut folders = made.clone();
            folders.extend(above.iter().cloned());
            folders.sort();
            folders.dedup();
            Inverse::Remove {
                files: restorable.files.clone(),
                folders,
                links: restorable.links.clone(),
            }
        });
        let mut done = match written {
            Ok(done) => done,
            Err(error) => {
                self.remove_empty(&made);
                return Err(error);
            }
        };
        notes.append(&mut done.notes);
        for link in &restorable.links {
            if !entries::make_link(root, &link.path.0, link.target.0.as_os_str()).unwrap_or(false) {
                notes.push(format!(
                    "The link {} could not be made again.",
                    link.path.display()
                ));
            }
        }
        for folder in restorable.folders.iter().rev() {
            if folder.mode & 0o700 != 0o700 {
                entries::set_folder_mode(root, &folder.path.0, folder.mode)
                    .map_err(|error| apply::io(&folder.path, error))?;
            }
        }
        done.notes = notes;
        Ok(done)
    }
}
