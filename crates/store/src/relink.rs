//! Giving a workspace's data to a folder that it cannot be found by: a project that was moved to another disk, or
//! restored from a backup. Only on request.

use std::{path::Path, time::Duration};

use crate::{
    DataHome, Durability, OpenError, Store, StoreError,
    database::{self, Database},
    files,
    home::DataPath,
    identity::{self, Root},
    store,
};

const WHAT: &str = "give the workspace's data to another folder";
const WAIT: Duration = Duration::from_secs(1);

impl Store {
    /// Makes the data kept for `from` (a root as [`DataHome::workspaces`] lists it, which is no longer there) the
    /// data of the folder `to`. Refused while `from` still exists, and when `to` has conversations of its own.
    pub fn relink(home: &DataHome, from: &Path, to: &Path) -> Result<(), OpenError> {
        let root = Root::examine(to)?;
        let refused = |reason| OpenError::NotRelinked {
            from: from.to_owned(),
            to: root.path.clone(),
            reason,
        };
        let (folder, mut identity) = identity::all(home)?
            .into_iter()
            .find(|(_, identity)| identity.root_path() == from)
            .ok_or_else(|| OpenError::Absent {
                root: from.to_owned(),
            })?;
        if from.is_dir() && from != root.path {
            return Err(refused("the folder it belongs to still exists"));
        }
        let _lock = store::take_lock(&folder, &root, WAIT)?;
        if let Some(other) = identity::find(home, &root)?.filter(|other| *other != folder) {
            let _other_lock = store::take_lock(&other, &root, WAIT)?;
            if has_records(&other)? {
                return Err(refused("the new folder has conversations of its own"));
            }
            set_aside(home, &other)?;
        }
        identity.set_root(&root);
        let (mut database, _) = Database::open(&folder)?;
        database.write(WHAT, Durability::Full, |transaction| {
            database::set_identity(transaction, &identity)
        })?;
        identity::write(&folder, &identity)?;
        Ok(())
    }
}

fn has_records(folder: &DataPath) -> Result<bool, OpenError> {
    if !database::file_in(folder).as_path().exists() {
        return Ok(false);
    }
    let Some(database) = Database::open_read_only(folder)? else {
        return Ok(false);
    };
    Ok(database.read(WHAT, |connection| {
        connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM events) OR EXISTS (SELECT 1 FROM sessions) \
             OR EXISTS (SELECT 1 FROM documents)",
            [],
            |row| row.get(0),
        )
    })?)
}

/// An empty workspace's data gives way, under a name that is not looked at. It is not deleted.
fn set_aside(home: &DataHome, folder: &DataPath) -> Result<(), StoreError> {
    let name = folder.as_path().file_name().unwrap_or_default().to_string_lossy();
    let aside = home
        .workspaces_folder()
        .join(&format!(".replaced-{}-{name}", crate::now_millis()));
    files::rename(folder, &aside).map_err(|source| StoreError::io(WHAT, folder.as_path(), source))
}
