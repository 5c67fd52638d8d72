//! The files by which the one host of a user is found, and the folders it hands to what it starts. Knows where they
//! lie and that they are private; not how a host works.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use protocol::Millis;
use serde::{Deserialize, Serialize};

use crate::{
    DataHome, StoreError,
    files::{self, Sync},
    home::{self, DataPath},
    lock::{self, Acquired, FileLock},
};

/// How a running host is reached. The token is what its file's mode (0600) protects.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostRecord {
    pub pid: u32,
    pub port: u16,
    pub token: String,
    pub started_at: Millis,
}

impl std::fmt::Debug for HostRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostRecord")
            .field("pid", &self.pid)
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

/// Being the one host of this data folder. The record that it published is removed when it is dropped; one that a killed
/// host left behind is told by the lock that nobody holds.
#[derive(Debug)]
pub struct HostLock {
    record: DataPath,
    temporary: DataPath,
    _lock: FileLock,
}

impl HostLock {
    /// Tells the next launch where this host is.
    pub fn publish(&self, record: &HostRecord) -> Result<(), StoreError> {
        const WHAT: &str = "write down where the host is reached";
        let failed = |source| StoreError::io(WHAT, self.record.as_path(), source);
        let text = serde_json::to_vec(record).map_err(|error| failed(error.into()))?;
        if self.temporary.as_path().exists() {
            files::remove_file(&self.temporary).map_err(failed)?;
        }
        files::replace(&self.record, &self.temporary, &text, Sync::Contents).map_err(failed)
    }
}

impl Drop for HostLock {
    fn drop(&mut self) {
        // A record that stays is stale, and is known to be by the released lock.
        drop(files::remove_file(&self.record));
    }
}

impl DataHome {
    /// Becomes the one host, or `None` when another process is it.
    pub fn lock_host(&self) -> Result<Option<HostLock>, StoreError> {
        self.create()?;
        let path = self.root().join("host.lock");
        let acquired = lock::acquire(&path, Duration::ZERO)
            .map_err(|source| StoreError::io("look for a running host", path.as_path(), source))?;
        Ok(match acquired {
            Acquired::Lock(lock) => Some(HostLock {
                record: self.host_file(),
                temporary: self.root().join("host.json.tmp"),
                _lock: lock,
            }),
            Acquired::Held(_) => None,
        })
    }

    /// What a host published, whether or not it still runs; `None` when there is nothing that can be read.
    pub fn host_record(&self) -> Option<HostRecord> {
        let text = std::fs::read(self.host_file()).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn host_file(&self) -> DataPath {
        self.root().join("host.json")
    }

    /// A new, empty folder for a practice repository.
    pub fn new_sample_folder(&self) -> Result<PathBuf, StoreError> {
        const WHAT: &str = "make a folder for the sample";
        let samples = self.root().join("samples");
        let failed = |source| StoreError::io(WHAT, samples.as_path(), source);
        files::create_folder(&samples).map_err(failed)?;
        let mut number = 1;
        loop {
            let folder = samples.join(&format!("sample-{number}"));
            match files::create_new_folder(&folder) {
                Ok(()) => return Ok(folder.to_path_buf()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(failed(error)),
            }
        }
    }

    /// The practice model's script that belongs to a workspace, when that is a sample made here.
    pub fn sample_scenario(&self, workspace_root: &Path) -> Option<PathBuf> {
        let folder = workspace_root.parent()?;
        let samples = std::fs::canonicalize(self.root().join("samples")).ok()?;
        let scenario = folder.join("scenario.yaml");
        (folder.parent()? == samples && scenario.is_file()).then_some(scenario)
    }

    /// The folders in which the user has put contexts of other kinds, each with its `context.yaml`.
    pub fn context_folders(&self) -> Result<Vec<PathBuf>, StoreError> {
        let contexts = self.root().join("contexts");
        let found = home::folders_and_links(&contexts)
            .map_err(|source| StoreError::io("look for contexts", contexts.as_path(), source))?;
        Ok(found)
    }

    /// The private folder of one context's own data, made when it is missing.
    pub fn context_data(&self, key: &str) -> Result<PathBuf, StoreError> {
        self.private_folder(&["context-data", key])
    }

    /// Where a browser keeps what it stores for the product's window.
    pub fn browser_profile(&self) -> Result<PathBuf, StoreError> {
        self.private_folder(&["browser"])
    }

    fn private_folder(&self, names: &[&str]) -> Result<PathBuf, StoreError> {
        let folder = names
            .iter()
            .fold(self.root().clone(), |folder, name| folder.join(name));
        files::create_folder(&folder)
            .map_err(|source| StoreError::io("make a private folder", folder.as_path(), source))?;
        Ok(folder.to_path_buf())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn one_host_at_a_time_and_its_token_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataHome::at(folder.path().join("data"));
        let lock = home.lock_host().unwrap().unwrap();
        assert!(home.lock_host().unwrap().is_none());
        let record = HostRecord {
            pid: 1,
            port: 2,
            token: "secret".to_owned(),
            started_at: 3,
        };
        lock.publish(&record).unwrap();
        lock.publish(&record).unwrap();
        assert_eq!(home.host_record(), Some(record.clone()));
        let mode = std::fs::metadata(folder.path().join("data/host.json"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!format!("{record:?}").contains("secret"));
        drop(lock);
        assert_eq!(home.host_record(), None);
        assert!(home.lock_host().unwrap().is_some());
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "a test prepares what a sample consists of"
    )]
    fn only_a_sample_made_here_has_a_scenario() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        let home = DataHome::at(root.join("data"));
        let sample = home.new_sample_folder().unwrap();
        assert_ne!(home.new_sample_folder().unwrap(), sample);
        let elsewhere = root.join("elsewhere");
        for place in [&sample, &elsewhere] {
            std::fs::create_dir_all(place.join("till")).unwrap();
            std::fs::write(place.join("scenario.yaml"), "").unwrap();
        }
        assert_eq!(
            home.sample_scenario(&sample.join("till")),
            Some(sample.join("scenario.yaml"))
        );
        assert_eq!(home.sample_scenario(&elsewhere.join("till")), None);
    }
}
