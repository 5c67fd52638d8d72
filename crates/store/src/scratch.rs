//! The scratch folder: staged copies and unfinished files. Whatever is in it when a workspace is opened was left
//! by a process that crashed, because there is one writer, and is removed.

use std::{
    path::{Path, PathBuf},
    sync::atomic::Ordering,
};

use crate::{Store, StoreError, files, home, home::DataPath};

pub(crate) fn folder_in(workspace: &DataPath) -> DataPath {
    workspace.join("scratch")
}

/// A folder below the data folder that is removed when dropped.
#[derive(Debug)]
pub struct ScratchDir {
    folder: DataPath,
}

impl ScratchDir {
    pub fn path(&self) -> &Path {
        self.folder.as_path()
    }

    /// The folder as a place that may be written.
    pub fn data_path(&self) -> &DataPath {
        &self.folder
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        // What cannot be removed now is swept when the workspace is opened next.
        drop(files::remove_tree(&self.folder));
    }
}

impl Store {
    /// A new, empty folder for a staged copy.
    pub fn scratch_dir(&self) -> Result<ScratchDir, StoreError> {
        const WHAT: &str = "make a folder for a staged copy";
        self.require_write_access(WHAT)?;
        let folder = self.temporary_path("stage")?;
        files::create_new_folder(&folder).map_err(|source| StoreError::io(WHAT, folder.as_path(), source))?;
        Ok(ScratchDir { folder })
    }

    /// A name in the scratch folder that nothing has yet.
    pub(crate) fn temporary_path(&self, kind: &str) -> Result<DataPath, StoreError> {
        let scratch = folder_in(&self.inner.folder);
        files::create_folder(&scratch)
            .map_err(|source| StoreError::io("make the scratch folder", scratch.as_path(), source))?;
        let number = self.inner.temporary.fetch_add(1, Ordering::Relaxed);
        Ok(scratch.join(&format!("{kind}-{}-{number}", std::process::id())))
    }
}

/// Empties the scratch folder and removes unfinished files beside it. Only under the writer lock.
pub(crate) fn sweep(workspace: &DataPath) -> Result<(), StoreError> {
    let scratch = folder_in(workspace);
    let failed = |path: PathBuf| move |source| StoreError::io("remove unfinished files", path, source);
    if scratch.as_path().exists() {
        files::remove_tree(&scratch).map_err(failed(scratch.to_path_buf()))?;
    }
    for (file, _) in home::files_in(workspace).map_err(failed(workspace.to_path_buf()))? {
        if file
            .as_path()
            .extension()
            .is_some_and(|extension| extension == "tmp")
        {
            files::remove_file(&file).map_err(failed(file.to_path_buf()))?;
        }
    }
    Ok(())
}
