//! Brings home what a command wrote to ignored places that were not bound into its view: files that git ignores, and
//! ignored folders that did not exist before. They are real, as they would be without a view.
//!
//! A file the user changed while the command ran stays the user's. Nothing is followed out of the workspace.

use std::{
    fs::{File, Metadata},
    io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
};

use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, RenameFlags},
    io::Errno,
};

use super::{copy, layer::is_whiteout, view::changed};
use crate::disk::{DiskError, Place};

/// Returns what could not be brought home, one line each.
pub(super) fn bring_home(upper: &Path, root: &Path, path: &Path, started: (i64, i64)) -> Vec<String> {
    let mut notes = Vec::new();
    entry(upper, root, path, started, &mut notes);
    notes
}

fn entry(upper: &Path, root: &Path, path: &Path, started: (i64, i64), notes: &mut Vec<String>) {
    let from = upper.join(path);
    let Ok(metadata) = from.symlink_metadata() else {
        return;
    };
    let real = root.join(path).symlink_metadata().ok();
    if is_whiteout(&metadata) {
        notes.extend(remove(root, path, started));
        return;
    }
    let kept_by_user = real
        .as_ref()
        .is_some_and(|real| !real.is_dir() && changed(real) >= started);
    if kept_by_user {
        notes.push(line(path, "it was changed while the command ran"));
        return;
    }
    let done = match real {
        Some(real) if metadata.is_dir() && real.is_dir() => {
            return below(upper, root, path, started, notes);
        }
        Some(real) if metadata.is_dir() != real.is_dir() => Err(io::Error::other(
            "a file and a folder of that name stand against each other",
        )),
        _ => move_to(&from, &metadata, root, path),
    };
    match done {
        Ok(Moved::Whole) => {}
        Ok(Moved::OnlyItself) => below(upper, root, path, started, notes),
        Err(error) => notes.push(line(path, &error.to_string())),
    }
}

fn below(upper: &Path, root: &Path, path: &Path, started: (i64, i64), notes: &mut Vec<String>) {
    let folder = upper.join(path);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        notes.push(line(path, "it could not be read"));
        return;
    };
    if copy::is_opaque(&folder) {
        notes.push(line(
            path,
            "it was made anew; what the command had removed from it is still there",
        ));
    }
    for child in entries.flatten() {
        entry(upper, root, &path.join(child.file_name()), started, notes);
    }
}

/// Removes an ignored file, or says why an ignored folder was left.
pub(super) fn remove(root: &Path, path: &Path, started: (i64, i64)) -> Option<String> {
    let real = root.join(path).symlink_metadata().ok()?;
    if real.is_dir() {
        return Some(line(path, "it is an ignored folder, its deletion was left out"));
    }
    if changed(&real) >= started {
        return Some(line(
            path,
            "it was changed while the command ran, and the command deleted it",
        ));
    }
    let removed = Place::find(root, path).and_then(|place| match place {
        Some(place) => place.remove(),
        None => Ok(()),
    });
    removed.err().map(|error| line(path, &error.to_string()))
}

enum Moved {
    Whole,
    /// A folder was made; what is in it is still to come.
    OnlyItself,
}

fn move_to(from: &Path, metadata: &Metadata, root: &Path, path: &Path) -> Result<Moved, io::Error> {
    let place = Place::make(root, path).map_err(plain)?;
    // A new folder must not land in a place that is taken meanwhile; a file replaces the one that was judged.
    let flags = match metadata.is_dir() {
        true => RenameFlags::NOREPLACE,
        false => RenameFlags::empty(),
    };
    if !metadata.is_dir() {
        copy::forget_layer(from);
    }
    let (folder, name) = place.parts();
    match rustix::fs::renameat_with(CWD, from, folder, name, flags) {
        Ok(()) => return Ok(Moved::Whole),
        Err(Errno::XDEV | Errno::INVAL) => {}
        Err(errno) => return Err(errno.into()),
    }
    // The layer is on another file system.
    if metadata.is_dir() {
        rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(metadata.mode() & 0o7777))?;
        return Ok(Moved::OnlyItself);
    }
    if metadata.is_symlink() {
        let target = std::fs::read_link(from)?;
        let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
        rustix::fs::symlinkat(target, folder, name)?;
        return Ok(Moved::Whole);
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let temporary = format!(".vibe-{}", metadata.ino());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(
        folder,
        &temporary,
        flags,
        Mode::from_raw_mode(0o600),
    )?);
    let copied = copy::copy_with_times(from, &file, metadata.permissions().mode());
    let replaced = copied.and_then(|()| Ok(rustix::fs::renameat(folder, &temporary, folder, name)?));
    if replaced.is_err() {
        let _ = rustix::fs::unlinkat(folder, &temporary, AtFlags::empty());
    }
    replaced.map(|()| Moved::Whole)
}

fn plain(error: DiskError) -> io::Error {
    match error {
        DiskError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

fn line(path: &Path, reason: &str) -> String {
    format!("not brought home: {} ({reason})", workspace::display_path(path))
}
