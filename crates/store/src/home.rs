//! The data folder: where it is, and the paths below it. Knows names and permissions, not contents.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use etcetera::BaseStrategy;
use protocol::{ContextId, ErrorCode, Millis, RuntimeError};

use crate::{StoreError, files, identity};

/// A path below the data folder. Only this crate makes one, so holding it means that writing there is allowed
/// and touches no file of the user.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataPath(PathBuf);

impl DataPath {
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// A direct child. Names with a separator or `..` would leave the folder; their separators are replaced.
    pub(crate) fn join(&self, name: &str) -> DataPath {
        let safe = match name {
            "" | "." | ".." => "_".to_owned(),
            name => name.replace(['/', '\0'], "_"),
        };
        DataPath(self.0.join(safe))
    }

    /// The one folder of ours outside the data folder, which a socket's short address cannot reach.
    pub(crate) fn for_sockets(folder: PathBuf) -> DataPath {
        DataPath(folder)
    }

    pub(crate) fn to_path_buf(&self) -> PathBuf {
        self.0.clone()
    }
}

impl AsRef<Path> for DataPath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

/// The data folder of one user. Cheap to clone; nothing is created before something is written.
#[derive(Clone, Debug)]
pub struct DataHome {
    root: DataPath,
}

/// One workspace that has data, for lists and for relinking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceEntry {
    pub context_id: ContextId,
    /// The root as it was last opened.
    pub root: PathBuf,
    /// Whether that root is still there.
    pub root_exists: bool,
    /// When a process last opened it for writing, as far as is known.
    pub opened_at: Option<Millis>,
    pub folder: PathBuf,
}

impl DataHome {
    /// `VIBE_CODER_HOME`, else `vibe-coder` in the user's data folder (`XDG_DATA_HOME`, else `~/.local/share`).
    pub fn locate() -> Result<DataHome, RuntimeError> {
        Self::from_environment(|name| std::env::var_os(name))
    }

    /// As [`locate`](Self::locate), with the variable read through `lookup`.
    pub fn from_environment(lookup: impl Fn(&str) -> Option<OsString>) -> Result<DataHome, RuntimeError> {
        let no_home = |why: &dyn std::fmt::Display| {
            RuntimeError::new(
                ErrorCode::StoreIo,
                "No folder for Vibe Coder's data could be found.",
            )
            .because(why)
            .action("Set VIBE_CODER_HOME to a folder that can be written.")
        };
        match lookup("VIBE_CODER_HOME").filter(|value| !value.is_empty()) {
            Some(folder) => {
                let absolute = std::path::absolute(folder).map_err(|error| no_home(&error))?;
                Ok(Self::at(absolute))
            }
            None => {
                let strategy = etcetera::choose_base_strategy().map_err(|error| no_home(&error))?;
                Ok(Self::at(strategy.data_dir().join("vibe-coder")))
            }
        }
    }

    /// The data folder at an absolute path.
    pub fn at(folder: PathBuf) -> DataHome {
        DataHome {
            root: DataPath(folder),
        }
    }

    pub fn path(&self) -> &Path {
        self.root.as_path()
    }

    /// Every workspace that has data and whose identity can be read, by path.
    pub fn workspaces(&self) -> Result<Vec<WorkspaceEntry>, StoreError> {
        let mut entries: Vec<_> = identity::all(self)?
            .into_iter()
            .map(|(folder, identity)| {
                let root = identity.root_path();
                WorkspaceEntry {
                    context_id: identity.context_id,
                    root_exists: root.is_dir(),
                    opened_at: modified_at(&folder.join("lock")),
                    root,
                    folder: folder.to_path_buf(),
                }
            })
            .collect();
        entries.sort_by(|a, b| a.root.cmp(&b.root));
        Ok(entries)
    }

    pub(crate) fn root(&self) -> &DataPath {
        &self.root
    }

    pub(crate) fn workspaces_folder(&self) -> DataPath {
        self.root.join("workspaces")
    }

    /// Makes the folder itself.
    pub(crate) fn create(&self) -> Result<(), StoreError> {
        files::create_folder(&self.root)
            .map_err(|source| StoreError::io("make the data folder", self.path(), source))
    }
}

/// The lock is signed anew at each opening.
fn modified_at(file: &DataPath) -> Option<Millis> {
    let modified = fs::metadata(file).and_then(|metadata| metadata.modified()).ok()?;
    let since = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

/// The sub-folders of `folder` without hidden ones; none when it does not exist.
pub(crate) fn subfolders(folder: &DataPath) -> io::Result<Vec<DataPath>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !hidden && entry.file_type()?.is_dir() {
            found.push(DataPath(entry.path()));
        }
    }
    Ok(found)
}

/// The folders directly in `folder`, also where they are links; sorted, none when it does not exist.
pub(crate) fn folders_and_links(folder: &DataPath) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The files directly in `folder` with their metadata; none when it does not exist.
pub(crate) fn files_in(folder: &DataPath) -> io::Result<Vec<(DataPath, fs::Metadata)>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if metadata.is_file() {
            found.push((DataPath(entry.path()), metadata));
        }
    }
    Ok(found)
}
