//! Which data folder belongs to which workspace. Knows the file `workspace.json` and its copy in the database;
//! nothing of what else a folder holds.
//!
//! A workspace is found by the canonical path of its root. When no folder names that path, one whose root has
//! the same device, inode and birth time is taken, provided that its recorded path no longer leads there: the
//! workspace was renamed. A copy has another inode and is a workspace of its own.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::MetadataExt,
    },
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use protocol::{ContextId, Millis};
use serde::{Deserialize, Serialize};

use crate::{
    OpenError, StoreError, database,
    files::{self, Sync},
    home::{self, DataHome, DataPath},
    lock::{self, Acquired},
};

/// The root of a workspace as it is on the disk now.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    pub path: PathBuf,
    mark: Mark,
}

/// What stays when a folder is renamed. The birth time guards against a reused inode number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mark {
    device: u64,
    inode: u64,
    /// Nanoseconds since the epoch; absent where the file system does not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    born: Option<u64>,
}

impl Mark {
    fn of(metadata: &fs::Metadata) -> Mark {
        let born = metadata
            .created()
            .ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
            .and_then(|since| u64::try_from(since.as_nanos()).ok());
        Mark {
            device: metadata.dev(),
            inode: metadata.ino(),
            born,
        }
    }
}

impl Root {
    /// Resolves symbolic links, so that every way to a folder finds the same data.
    pub(crate) fn examine(workspace_root: &Path) -> Result<Root, OpenError> {
        let failed = |source| OpenError::Root {
            path: workspace_root.to_owned(),
            source,
        };
        let path = fs::canonicalize(workspace_root).map_err(failed)?;
        let metadata = fs::metadata(&path).map_err(failed)?;
        if !metadata.is_dir() {
            return Err(failed(io::ErrorKind::NotADirectory.into()));
        }
        Ok(Root {
            path,
            mark: Mark::of(&metadata),
        })
    }

    fn folder_name(&self) -> String {
        let hash = blake3::hash(self.path.as_os_str().as_bytes()).to_hex();
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let slug: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .take(40)
            .collect();
        format!("{}-{}", slug.to_ascii_lowercase(), &hash[..12])
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Identity {
    pub context_id: ContextId,
    /// For a reader; `root_bytes` wins where the path is not UTF-8.
    root: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    root_bytes: Option<Vec<u8>>,
    #[serde(flatten)]
    mark: Mark,
    pub created_at: Millis,
    /// Whether the database was made: if it is gone afterwards, something was lost.
    #[serde(default)]
    pub database_made: bool,
}

impl Identity {
    pub(crate) fn new(root: &Root) -> Identity {
        let mut identity = Identity {
            context_id: ContextId::mint(),
            root: String::new(),
            root_bytes: None,
            mark: root.mark,
            created_at: crate::now_millis(),
            database_made: false,
        };
        identity.set_root(root);
        identity
    }

    pub(crate) fn set_root(&mut self, root: &Root) {
        self.root = root.path.to_string_lossy().into_owned();
        self.root_bytes = match root.path.to_str() {
            Some(_) => None,
            None => Some(root.path.as_os_str().as_bytes().to_vec()),
        };
        self.mark = root.mark;
    }

    pub(crate) fn root_path(&self) -> PathBuf {
        match &self.root_bytes {
            Some(bytes) => PathBuf::from(OsString::from_vec(bytes.clone())),
            None => PathBuf::from(&self.root),
        }
    }

    /// Whether `root` is this workspace under another path.
    fn was_renamed_to(&self, root: &Root) -> bool {
        self.mark == root.mark
            && fs::metadata(self.root_path()).map_or(true, |metadata| Mark::of(&metadata) != self.mark)
    }
}

const FILE: &str = "workspace.json";

fn read_file(folder: &DataPath) -> Option<Identity> {
    serde_json::from_slice(&fs::read(folder.join(FILE)).ok()?).ok()
}

/// The identity of a folder: from its file, else from its database.
pub(crate) fn read(folder: &DataPath) -> Option<Identity> {
    read_file(folder).or_else(|| database::read_identity(&database::file_in(folder)))
}

/// Writes `workspace.json` if it does not already say the same.
pub(crate) fn write(folder: &DataPath, identity: &Identity) -> Result<(), StoreError> {
    const WHAT: &str = "record which workspace this data belongs to";
    if read_file(folder).as_ref() == Some(identity) {
        return Ok(());
    }
    let target = folder.join(FILE);
    let temporary = folder.join(&format!("{FILE}.{}.tmp", std::process::id()));
    serde_json::to_vec_pretty(identity)
        .map_err(io::Error::from)
        .and_then(|text| files::replace(&target, &temporary, &text, Sync::Contents))
        .map_err(|source| StoreError::io(WHAT, target.as_path(), source))
}

/// Every folder with an identity that can be read.
pub(crate) fn all(home: &DataHome) -> Result<Vec<(DataPath, Identity)>, StoreError> {
    let folder = home.workspaces_folder();
    let folders = home::subfolders(&folder)
        .map_err(|source| StoreError::io("list the workspaces", folder.as_path(), source))?;
    Ok(folders
        .into_iter()
        .filter_map(|folder| read(&folder).map(|identity| (folder, identity)))
        .collect())
}

/// The data folder of `root`, if there is one.
pub(crate) fn find(home: &DataHome, root: &Root) -> Result<Option<DataPath>, StoreError> {
    let named = home.workspaces_folder().join(&root.folder_name());
    if read_file(&named).is_some_and(|identity| identity.root_path() == root.path) {
        return Ok(Some(named));
    }
    let all = all(home)?;
    let matching = all
        .iter()
        .find(|(_, identity)| identity.root_path() == root.path)
        .or_else(|| all.iter().find(|(_, identity)| identity.was_renamed_to(root)));
    if let Some((folder, _)) = matching {
        return Ok(Some(folder.clone()));
    }
    // Neither file nor database of the folder can be read: it is still this workspace's by its name, and
    // opening its database says what is wrong. A second, empty one beside it would hide the conversations.
    let unreadable = database::file_in(&named).as_path().exists() && read(&named).is_none();
    Ok(unreadable.then_some(named))
}

/// How long a first opening waits for another first opening; each takes milliseconds.
const CREATION_WAIT: Duration = Duration::from_secs(5);

/// The data folder of `root`, made with a new identity when there is none. Two processes that open a new
/// workspace at the same time get the same folder.
pub(crate) fn find_or_create(home: &DataHome, root: &Root) -> Result<DataPath, OpenError> {
    const WHAT: &str = "make a folder for the workspace's data";
    let parent = home.workspaces_folder();
    if let Some(folder) = find(home, root)? {
        return Ok(folder);
    }
    home.create()?;
    let failed = |source| StoreError::io(WHAT, parent.as_path(), source);
    files::create_folder(&parent).map_err(failed)?;
    let lock_path = parent.join(".lock");
    let _creating = match lock::acquire(&lock_path, CREATION_WAIT).map_err(failed)? {
        Acquired::Lock(lock) => lock,
        Acquired::Held(_) => {
            return Err(StoreError::Busy {
                what: WHAT,
                path: lock_path.to_path_buf(),
            }
            .into());
        }
    };
    if let Some(folder) = find(home, root)? {
        return Ok(folder);
    }
    let name = root.folder_name();
    let mut folder = parent.join(&name);
    let mut number = 2;
    // The name may be taken by a workspace that was renamed away from this path.
    while read(&folder).is_some() {
        folder = parent.join(&format!("{name}-{number}"));
        number += 1;
    }
    files::create_folder(&folder).map_err(failed)?;
    write(&folder, &Identity::new(root))?;
    Ok(folder)
}
