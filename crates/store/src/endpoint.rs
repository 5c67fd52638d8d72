//! Where the engine of a workspace listens for clients: a socket in a folder that only this user may enter, named by
//! a record in the workspace's data. Knows paths and permissions, nothing of what is said over the socket.

use std::{
    fs, io,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    DataHome, OpenError, Store, StoreError,
    files::{self, Sync},
    home::DataPath,
    identity::{self, Root},
};

const WHAT: &str = "offer the workspace to other windows";
const RECORD: &str = "engine.json";
/// What fits into a socket address, its closing NUL included, is 108 bytes on Linux and 104 on macOS.
const LONGEST_SOCKET_PATH: usize = 103;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    pid: u32,
    socket: PathBuf,
}

/// A place to listen that belongs to this process alone, since it holds the workspace. Removed when dropped.
#[derive(Debug)]
pub struct Endpoint {
    socket: DataPath,
    record: DataPath,
    temporary: DataPath,
}

impl Endpoint {
    /// Free to be bound. What a killed process left there is gone.
    pub fn socket(&self) -> &Path {
        self.socket.as_path()
    }

    /// Lets others find the socket, which must accept connections by now.
    pub fn announce(&self) -> Result<(), StoreError> {
        let record = Record {
            pid: std::process::id(),
            socket: self.socket.to_path_buf(),
        };
        let failed = |source| StoreError::io(WHAT, self.record.as_path(), source);
        let text = serde_json::to_vec(&record).map_err(|error| failed(error.into()))?;
        remove_if_there(&self.temporary).map_err(failed)?;
        files::replace(&self.record, &self.temporary, &text, Sync::Contents).map_err(failed)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        // Left-overs mislead nobody: nothing answers there.
        let _ = remove_if_there(&self.record);
        let _ = remove_if_there(&self.socket);
    }
}

impl Store {
    /// A place for this process to listen at. `runtime` is the user's folder for sockets, `XDG_RUNTIME_DIR`; where it
    /// cannot be used, one of our own below `/tmp`.
    ///
    /// # Errors
    /// Neither can be made, or both are open to other users.
    pub fn endpoint(&self, runtime: Option<&Path>) -> Result<Endpoint, StoreError> {
        self.require_write_access(WHAT)?;
        let data = self.data_folder();
        let owner = fs::metadata(data)
            .map_err(|source| StoreError::io(WHAT, data, source))?
            .uid();
        let name = blake3::hash(data.as_os_str().as_bytes()).to_hex();
        let name = format!("{}.sock", &name[..16]);
        let fits = |folder: &Path| folder.join(&name).as_os_str().len() <= LONGEST_SOCKET_PATH;
        let own = Path::new("/tmp").join(format!("vibe-coder-{owner}"));
        let folders = runtime
            .map(|runtime| runtime.join("vibe-coder"))
            .filter(|folder| folder.is_absolute() && fits(folder))
            .into_iter()
            .chain([own]);
        let mut usable = Err(io::ErrorKind::NotFound.into());
        for folder in folders {
            let folder = DataPath::for_sockets(folder);
            usable = private_folder(&folder, owner).map(|()| folder);
            if usable.is_ok() {
                break;
            }
        }
        let folder = usable.map_err(|source| StoreError::io(WHAT, runtime.unwrap_or(data), source))?;
        let socket = folder.join(&name);
        remove_if_there(&socket).map_err(|source| StoreError::io(WHAT, socket.as_path(), source))?;
        Ok(Endpoint {
            socket,
            record: self.inner.folder.join(RECORD),
            temporary: self.inner.folder.join("engine.json.tmp"),
        })
    }
}

impl DataHome {
    /// Where an engine of the workspace was last said to listen. It may have ended since: then nothing answers.
    pub fn endpoint_of(&self, workspace_root: &Path) -> Result<Option<PathBuf>, OpenError> {
        let root = Root::examine(workspace_root)?;
        let Some(folder) = identity::find(self, &root)? else {
            return Ok(None);
        };
        let record = fs::read(folder.join(RECORD))
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok());
        Ok(record.map(|record| record.socket))
    }
}

/// Whoever can enter the folder can speak to the engine, so it must be the user's own and closed to all others.
fn private_folder(folder: &DataPath, owner: u32) -> io::Result<()> {
    files::create_folder(folder)?;
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.uid() != owner || found.mode() & 0o077 != 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the folder belongs to another user or is open to others; remove it",
        ));
    }
    Ok(())
}

fn remove_if_there(path: &DataPath) -> io::Result<()> {
    match files::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare what is found")]
mod tests {
    use std::{
        os::unix::{
            fs::PermissionsExt,
            net::{UnixListener, UnixStream},
        },
        time::Duration,
    };

    use super::*;

    struct Place {
        folder: tempfile::TempDir,
        store: Store,
        home: DataHome,
    }

    fn place() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("ws");
        fs::create_dir(&root).unwrap();
        let home = DataHome::at(folder.path().join("home"));
        let (store, _) = Store::open(&home, &root, Duration::ZERO).unwrap();
        Place { folder, store, home }
    }

    #[test]
    fn an_endpoint_is_found_while_it_lasts_and_what_was_left_behind_is_in_nobodys_way() {
        let place = place();
        let (runtime, root) = (place.folder.path().join("run"), place.folder.path().join("ws"));
        assert_eq!(place.home.endpoint_of(&root).unwrap(), None);
        for _ in 0..2 {
            let endpoint = place.store.endpoint(Some(&runtime)).unwrap();
            let _listener = UnixListener::bind(endpoint.socket()).unwrap();
            endpoint.announce().unwrap();
            let found = place.home.endpoint_of(&root).unwrap().unwrap();
            UnixStream::connect(&found).unwrap();
            let mode = fs::metadata(found.parent().unwrap()).unwrap().mode();
            assert_eq!(mode & 0o777, 0o700);
            // As after a kill: nothing is tidied up.
            std::mem::forget(endpoint);
        }
        drop(place.store.endpoint(Some(&runtime)).unwrap());
        assert_eq!(place.home.endpoint_of(&root).unwrap(), None);
    }

    #[test]
    fn folders_that_others_can_enter_and_those_with_too_long_a_name_are_not_used() {
        let place = place();
        let open = place.folder.path().join("open");
        fs::create_dir_all(open.join("vibe-coder")).unwrap();
        fs::set_permissions(open.join("vibe-coder"), fs::Permissions::from_mode(0o755)).unwrap();
        let linked = place.folder.path().join("linked");
        fs::create_dir_all(&linked).unwrap();
        std::os::unix::fs::symlink("/tmp", linked.join("vibe-coder")).unwrap();
        let long = place.folder.path().join("x".repeat(100));
        for runtime in [&open, &linked, &long] {
            let endpoint = place.store.endpoint(Some(runtime)).unwrap();
            assert!(endpoint.socket().starts_with("/tmp"), "{runtime:?}");
            assert!(!endpoint.socket().starts_with(runtime), "{runtime:?}");
            assert_eq!(
                fs::metadata(endpoint.socket().parent().unwrap()).unwrap().mode() & 0o777,
                0o700
            );
        }
    }
}
