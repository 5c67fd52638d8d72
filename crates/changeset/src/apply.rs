//! The only code that writes user files. Several files change as one step: all or none, also across a crash.
//!
//! How a commit goes:
//! 1. A journal naming every write becomes durable (phase `preparing`).
//! 2. Folders are made and each new content is written beside its target, durable.
//! 3. The journal turns to `committing`. From here on a crash is finished at the next open.
//! 4. Each file is checked once more against the content the plan was made for and then swapped in. The swap gives
//!    the old file back under the temporary name, where it is checked again: a save by the user in between is put
//!    back and the whole commit is taken back.
//! 5. Temporary files go, folders are made durable, and one store transaction records the outcome and drops the
//!    journal.
//!
//! It knows nothing of drafts or decisions; what to record is handed to it as documents. What a crash interrupts is
//! ended by `recover`.

use std::{collections::BTreeSet, ffi::OsStr, fs::File, io::Write as _, path::Path};

use serde::{Deserialize, Serialize};
use store::{Document, Durability, Store};

use crate::{
    disk::{self, DiskError, Place},
    error::ApplyError,
    faults,
    plan::{self, Write},
    record::{JOURNAL, StoredPath, Version},
    set,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Phase {
    Preparing,
    Committing,
}

/// What a commit is going to do, stored before it does it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Journal {
    pub id: String,
    pub phase: Phase,
    pub writes: Vec<JournalWrite>,
    created_directories: Vec<StoredPath>,
    /// Stored when all is written.
    documents: Vec<JournalDocument>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JournalWrite {
    pub path: StoredPath,
    pub before: Option<Version>,
    pub after: Option<Version>,
    /// Name beside the file, for its new content and then for its old one.
    pub temporary: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct JournalDocument {
    kind: String,
    id: String,
    session: Option<protocol::SessionId>,
    value: Option<serde_json::Value>,
}

impl Journal {
    fn document(&self) -> Result<Document, ApplyError> {
        Ok(Document {
            kind: JOURNAL.to_owned(),
            id: self.id.clone(),
            session_id: None,
            value: Some(serde_json::to_value(self).map_err(|error| ApplyError::Internal(error.to_string()))?),
        })
    }

    /// The documents that end this journal: its outcome, where it is carried out, and its own removal.
    fn ending(&self, carried_out: CarriedOut) -> Vec<Document> {
        let outcome = match carried_out {
            CarriedOut::Yes => &self.documents[..],
            CarriedOut::No => &[],
        };
        let mut documents: Vec<Document> = outcome
            .iter()
            .map(|document| Document {
                kind: document.kind.clone(),
                id: document.id.clone(),
                session_id: document.session.clone(),
                value: document.value.clone(),
            })
            .collect();
        documents.push(Document {
            kind: JOURNAL.to_owned(),
            id: self.id.clone(),
            session_id: None,
            value: None,
        });
        documents
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CarriedOut {
    Yes,
    No,
}

/// How a commit ended without an error.
pub(crate) enum Committed {
    Yes {
        notes: Vec<String>,
    },
    /// A file changed on disk after the plan was made. Everything is as it was; plan again.
    Moved,
}

/// Writes all of `writes` and stores what `documents` makes of the folders that were created, or does neither.
pub(crate) fn commit(
    store: &Store,
    root: &Path,
    writes: &[Write],
    documents: impl FnOnce(&[StoredPath]) -> Result<Vec<Document>, ApplyError>,
) -> Result<Committed, ApplyError> {
    for write in writes {
        for state in [&write.before, &write.after].into_iter().flatten() {
            match state.bytes() {
                Some(bytes) => store.put_blob(bytes).map(drop)?,
                // What is to be written is stored already; what it replaces is on disk.
                None => set::keep_large(store, root, &write.path, state)?,
            }
        }
    }
    let mut journal = Journal {
        id: format!(
            "jrn_{}",
            protocol::SnapshotId::mint().as_str().trim_start_matches("snp_")
        ),
        phase: Phase::Preparing,
        writes: writes
            .iter()
            .map(|write| JournalWrite {
                path: write.path.clone(),
                before: write.before.as_ref().map(|state| state.version.clone()),
                after: write.after.as_ref().map(|state| state.version.clone()),
                temporary: format!(".{}.vibe-coder.tmp", protocol::SnapshotId::mint()),
            })
            .collect(),
        created_directories: missing_folders(root, writes),
        documents: Vec::new(),
    };
    journal.documents = documents(&journal.created_directories)?
        .into_iter()
        .map(|document| JournalDocument {
            kind: document.kind,
            id: document.id,
            session: document.session_id,
            value: document.value,
        })
        .collect();
    if writes.is_empty() {
        store.put_documents(&journal.ending(CarriedOut::Yes), Durability::Full)?;
        return Ok(Committed::Yes { notes: Vec::new() });
    }
    store.put_documents(&[journal.document()?], Durability::Full)?;
    faults::point("accept.journal");
    let places = match prepare(store, root, writes, &journal) {
        Ok(places) => places,
        Err(error) => {
            abandon(store, root, &journal)?;
            return Err(error);
        }
    };
    journal.phase = Phase::Committing;
    store.put_documents(&[journal.document()?], Durability::Full)?;
    faults::point("accept.committing");
    for (index, write) in journal.writes.iter().enumerate() {
        let step = swap(
            &places[index],
            write.before.as_ref(),
            write.after.as_ref(),
            &write.temporary,
            store,
        );
        faults::point("accept.rename");
        match step {
            Ok(true) => {}
            outcome => {
                take_back(&places[..index], &journal.writes[..index], store)?;
                abandon(store, root, &journal)?;
                return match outcome {
                    Err(error) => Err(io(&write.path, error)),
                    Ok(_) => Ok(Committed::Moved),
                };
            }
        }
    }
    finish(store, &places, &journal)?;
    let notes = writes.iter().filter_map(link_note).collect();
    Ok(Committed::Yes { notes })
}

/// A rename gives the path a new file; other names of the old one keep the old text.
fn link_note(write: &Write) -> Option<String> {
    let before = write.before.as_ref()?;
    let others = before.links.checked_sub(1).filter(|others| *others > 0)?;
    let names = if others == 1 {
        "1 other hard link".to_owned()
    } else {
        format!("{others} other hard links")
    };
    Some(format!(
        "{} has {names}, which still have the old content.",
        write.path.display()
    ))
}

/// Folders the writes need and the disk does not have, outermost first.
fn missing_folders(root: &Path, writes: &[Write]) -> Vec<StoredPath> {
    let mut missing = BTreeSet::new();
    for write in writes.iter().filter(|write| write.after.is_some()) {
        for folder in write.path.0.ancestors().skip(1) {
            if folder.as_os_str().is_empty() || root.join(folder).symlink_metadata().is_ok() {
                break;
            }
            missing.insert(StoredPath(folder.to_owned()));
        }
    }
    missing.into_iter().collect()
}

fn prepare(
    store: &Store,
    root: &Path,
    writes: &[Write],
    journal: &Journal,
) -> Result<Vec<Place>, ApplyError> {
    let mut places = Vec::with_capacity(writes.len());
    for (write, entry) in writes.iter().zip(&journal.writes) {
        let place = Place::make(root, &write.path.0).map_err(|error| io(&write.path, error))?;
        if let Some(after) = &write.after {
            let temporary: &OsStr = entry.temporary.as_ref();
            match after.bytes() {
                Some(bytes) => {
                    place.write_beside(temporary, |file| file.write_all(bytes), after.version.mode)
                }
                None => write_stored(store, &place, temporary, &after.version),
            }
            .map_err(|error| io(&write.path, error))?;
            faults::point("accept.temporary");
        }
        places.push(place);
    }
    Ok(places)
}

/// Writes a content of the store beside a place, whatever its size.
pub(crate) fn write_stored(
    store: &Store,
    place: &Place,
    temporary: &OsStr,
    version: &Version,
) -> Result<(), DiskError> {
    let fill = |file: &mut File| {
        store
            .copy_blob(&version.hash, file)
            .map_err(std::io::Error::other)
    };
    place.write_beside(temporary, fill, version.mode)
}

/// Turns `before` at a place into `after`, whose content lies under `temporary`; afterwards `before` lies there.
/// False, with nothing changed, if the place does not have `before`.
pub(crate) fn swap(
    place: &Place,
    before: Option<&Version>,
    after: Option<&Version>,
    temporary: &str,
    store: &Store,
) -> Result<bool, DiskError> {
    let temporary: &OsStr = temporary.as_ref();
    let found = match place.look() {
        Ok(found) => found,
        Err(DiskError::IsDirectory | DiskError::Special) => return Ok(false),
        Err(error) => return Err(error),
    };
    if !plan::same(found.as_ref(), before) {
        return Ok(false);
    }
    faults::point("accept.checked");
    match (before, after) {
        (None, None) => Ok(true),
        (None, Some(_)) => place.fill(temporary),
        (Some(before), Some(after)) => {
            if !place.exchange(temporary)? {
                // The file system cannot swap. The last check was a moment ago, and the old content is stored.
                place.replace(temporary)?;
                write_stored(store, place, temporary, before)?;
                return Ok(true);
            }
            if plan::same(place.look_at(temporary)?.as_ref(), Some(before)) {
                return Ok(true);
            }
            // A save came in between: it goes back. If yet another one followed, that is the newer and stays.
            place.exchange(temporary)?;
            if !plan::same(place.look_at(temporary)?.as_ref(), Some(after)) {
                place.exchange(temporary)?;
            }
            Ok(false)
        }
        (Some(before), None) => {
            place.vacate(temporary)?;
            if plan::same(place.look_at(temporary)?.as_ref(), Some(before)) {
                return Ok(true);
            }
            place.fill(temporary)?;
            Ok(false)
        }
    }
}

/// Reverses swaps that were done, newest first. A file the user changed since keeps what the user has.
fn take_back(places: &[Place], writes: &[JournalWrite], store: &Store) -> Result<(), ApplyError> {
    for (place, write) in places.iter().zip(writes).rev() {
        swap(
            place,
            write.after.as_ref(),
            write.before.as_ref(),
            &write.temporary,
            store,
        )
        .map_err(|error| io(&write.path, error))?;
        place.sync_folder().map_err(|error| io(&write.path, error))?;
    }
    Ok(())
}

/// Ends a journal of which nothing is on disk any more but temporary files and folders.
pub(crate) fn abandon(store: &Store, root: &Path, journal: &Journal) -> Result<(), ApplyError> {
    for write in &journal.writes {
        if let Ok(Some(place)) = Place::find(root, &write.path.0) {
            place
                .remove_named(write.temporary.as_ref())
                .map_err(|error| io(&write.path, error))?;
        }
    }
    for folder in journal.created_directories.iter().rev() {
        disk::remove_empty_folder(root, &folder.0);
    }
    store.put_documents(&journal.ending(CarriedOut::No), Durability::Full)?;
    Ok(())
}

pub(crate) fn finish(store: &Store, places: &[Place], journal: &Journal) -> Result<(), ApplyError> {
    for (place, write) in places.iter().zip(&journal.writes) {
        place
            .remove_named(write.temporary.as_ref())
            .and_then(|()| place.sync_folder())
            .map_err(|error| io(&write.path, error))?;
        faults::point("accept.cleanup");
    }
    faults::point("accept.synced");
    store.put_documents(&journal.ending(CarriedOut::Yes), Durability::Full)?;
    faults::point("accept.finished");
    Ok(())
}

pub(crate) fn io(path: &StoredPath, error: DiskError) -> ApplyError {
    ApplyError::Io {
        path: path.display(),
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests play the user, who writes files")]

    use std::{collections::BTreeMap, fs, path::PathBuf, time::Duration};

    use store::DataHome;

    use super::*;
    use crate::disk::FileState;

    fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let entries = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
        entries
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect()
    }

    /// The user's editor saves, by rename, in the moment between our last look and our swap.
    #[test]
    fn a_save_between_check_and_swap_is_put_back_and_the_commit_taken_back() {
        // Which of the three writes is raced: a modification, a creation, a deletion.
        for (raced, path) in ["a-modified", "b-created", "c-deleted"].into_iter().enumerate() {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("ws");
            fs::create_dir(&root).unwrap();
            let home = DataHome::at(folder.path().join("home"));
            let (store, _) = Store::open(&home, &root, Duration::ZERO).unwrap();
            fs::write(root.join("a-modified"), "old\n").unwrap();
            fs::write(root.join("c-deleted"), "old\n").unwrap();
            let before = tree(&root);
            let old = || disk::read(&root, Path::new("a-modified")).unwrap();
            let write = |path: &str, before: Option<FileState>, after: Option<&str>| Write {
                path: StoredPath(path.into()),
                before,
                after: after.map(|text| FileState::new(text.as_bytes(), 0o644)),
            };
            let writes = [
                write("a-modified", old(), Some("new\n")),
                write("b-created", None, Some("new\n")),
                write(
                    "c-deleted",
                    disk::read(&root, Path::new("c-deleted")).unwrap(),
                    None,
                ),
            ];
            let mut swaps = 0;
            let (target, other) = (root.join(path), folder.path().join("saved"));
            faults::hook(move |point| {
                if point == "accept.checked" {
                    if swaps == raced {
                        fs::write(&other, "typed\n").unwrap();
                        fs::rename(&other, &target).unwrap();
                    }
                    swaps += 1;
                }
            });
            let outcome = commit(&store, &root, &writes, |_| Ok(Vec::new())).unwrap();
            faults::hook(|_| {});
            assert!(matches!(outcome, Committed::Moved), "{path}");
            let mut expected = before;
            expected.insert(root.join(path), b"typed\n".to_vec());
            assert_eq!(tree(&root), expected, "{path}");
            assert!(store.documents(JOURNAL).unwrap().is_empty());
        }
    }

    /// A write that fails in the middle takes the others back and says which file it was.
    #[test]
    fn an_error_in_the_middle_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("ws");
        fs::create_dir(&root).unwrap();
        let home = DataHome::at(folder.path().join("home"));
        let (store, _) = Store::open(&home, &root, Duration::ZERO).unwrap();
        fs::write(root.join("file"), "x").unwrap();
        let before = tree(&root);
        let write = |path: &str| Write {
            path: StoredPath(path.into()),
            before: None,
            after: Some(FileState::new(&b"new"[..], 0o644)),
        };
        let writes = [write("dir/made"), write("file/below-a-file")];
        let error = commit(&store, &root, &writes, |_| Ok(Vec::new())).err().unwrap();
        assert!(error.to_string().contains("file/below-a-file"), "{error}");
        assert_eq!(tree(&root), before);
        assert!(store.documents(JOURNAL).unwrap().is_empty());
    }
}
