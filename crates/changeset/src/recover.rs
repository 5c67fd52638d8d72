//! Ends the commits a crash interrupted, before anything else is written.
//!
//! Works from the journal and the stored contents only. A file that is neither as before nor as after the commit was
//! changed by the user since: it is left alone, and the commit is taken back around it.

use std::{ffi::OsString, path::Path};

use store::Store;

use crate::{
    apply::{self, Journal, JournalWrite, Phase, io},
    disk::{DiskError, FileState, Place},
    error::ApplyError,
    plan,
    record::{JOURNAL, Version},
};

/// Ends every commit that was interrupted: carried out if each of its files still is as before or after it, taken
/// back otherwise. Returns what it did, in words.
///
/// # Errors
/// A file could not be read or written; the journal stays, to be tried again.
pub(crate) fn recover(store: &Store, root: &Path) -> Result<Vec<String>, ApplyError> {
    let mut notes = Vec::new();
    for (id, value) in store.documents(JOURNAL)? {
        let journal: Journal = match serde_json::from_value(value) {
            Ok(journal) => journal,
            Err(error) => {
                return Err(ApplyError::Internal(format!(
                    "the write journal {id} cannot be read: {error}"
                )));
            }
        };
        notes.push(
            recover_one(store, root, &journal).map_err(|error| ApplyError::Recovery {
                detail: error.to_string(),
                written: Vec::new(),
            })?,
        );
    }
    Ok(notes)
}

fn recover_one(store: &Store, root: &Path, journal: &Journal) -> Result<String, ApplyError> {
    let count = match journal.writes.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    if journal.phase == Phase::Preparing {
        apply::abandon(store, root, journal)?;
        return Ok(format!(
            "An interrupted write of {count} was taken back before it had changed anything."
        ));
    }
    let mut places = Vec::new();
    let mut foreign = Vec::new();
    for write in &journal.writes {
        let place = Place::make(root, &write.path.0).map_err(|error| io(&write.path, error))?;
        put_back_racing_save(&place, write).map_err(|error| io(&write.path, error))?;
        let known = match place.look() {
            Ok(found) => {
                plan::same(found.as_ref(), write.before.as_ref())
                    || plan::same(found.as_ref(), write.after.as_ref())
            }
            Err(DiskError::Io(error)) => return Err(io(&write.path, error.into())),
            Err(_) => false,
        };
        if !known {
            foreign.push(write.path.display());
        }
        places.push(place);
    }
    let note = if foreign.is_empty() {
        format!("An interrupted write of {count} was completed.")
    } else {
        format!(
            "An interrupted write of {count} was taken back. Left as they are, because they were changed since: {}.",
            foreign.join(", ")
        )
    };
    for (place, write) in places.iter().zip(&journal.writes) {
        let (from, to) = match foreign.is_empty() {
            true => (write.before.as_ref(), write.after.as_ref()),
            false => (write.after.as_ref(), write.before.as_ref()),
        };
        let found = match place.look() {
            Ok(found) => found,
            Err(_) => continue,
        };
        if plan::same(found.as_ref(), to) || !plan::same(found.as_ref(), from) {
            continue;
        }
        ensure_temporary(store, place, write, to)?;
        apply::swap(place, from, to, &write.temporary, store).map_err(|error| io(&write.path, error))?;
    }
    if foreign.is_empty() {
        apply::finish(store, &places, journal)?;
    } else {
        apply::abandon(store, root, journal)?;
    }
    Ok(note)
}

/// A crash between a swap and its check may have left a user's save under the temporary name: it goes back.
fn put_back_racing_save(place: &Place, write: &JournalWrite) -> Result<(), DiskError> {
    let Some(aside) = place.look_at(write.temporary.as_ref())? else {
        return Ok(());
    };
    let is = |version: &Option<Version>| version.as_ref() == Some(&aside.version);
    if is(&write.before) || is(&write.after) {
        return Ok(());
    }
    // A cut-off new content can not be it: contents were complete and durable before the first swap.
    let found = place.look()?;
    if found.is_none() {
        place.fill(write.temporary.as_ref())?;
    } else if plan::same(found.as_ref(), write.after.as_ref()) && !place.exchange(write.temporary.as_ref())? {
        place.replace(write.temporary.as_ref())?;
    }
    Ok(())
}

/// Makes sure that the content to swap in lies under the temporary name.
fn ensure_temporary(
    store: &Store,
    place: &Place,
    write: &JournalWrite,
    to: Option<&Version>,
) -> Result<(), ApplyError> {
    let failed = |error| io(&write.path, error);
    let temporary: OsString = write.temporary.clone().into();
    let there = place.look_at(&temporary).map_err(failed)?;
    let Some(to) = to else {
        return place.remove_named(&temporary).map_err(failed);
    };
    if there.is_some_and(|there: FileState| there.version == *to) {
        return Ok(());
    }
    place.remove_named(&temporary).map_err(failed)?;
    apply::write_stored(store, place, &temporary, to).map_err(failed)
}
