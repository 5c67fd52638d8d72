//! A workspace's database from outside: damaged, aged or looked into, as no code of the product would.

use std::path::PathBuf;

use rusqlite::Connection;
use testkit::Hermetic;

/// The folder that holds the data of the place's only workspace.
pub fn data_folder(place: &Hermetic) -> PathBuf {
    let folders: Vec<PathBuf> = std::fs::read_dir(place.data().join("workspaces"))
        .expect("stored workspaces")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir())
        .collect();
    assert_eq!(folders.len(), 1, "{folders:?}");
    folders.into_iter().next().expect("a folder")
}

pub fn file(place: &Hermetic) -> PathBuf {
    data_folder(place).join("store.db")
}

pub fn open(place: &Hermetic) -> Connection {
    Connection::open(file(place)).expect("a database")
}

/// Moves what lies in the log into the file itself, where damage cannot be healed from it.
pub fn settle(place: &Hermetic) {
    let connection = open(place);
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .expect("a checkpoint");
}

/// Everything that was ever written below the data folder, as one heap of bytes with its paths.
pub fn everything_written(place: &Hermetic) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut waiting = vec![place.data()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let bytes = std::fs::read(&path).expect("a file");
                found.push((path, bytes));
            }
        }
    }
    found
}
