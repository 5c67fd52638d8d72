//! The file primitives of app data: everything private to the user (folders 0700, files 0600), replaced
//! atomically. They take a [`DataPath`], so a path outside the data folder cannot be written through them.
#![expect(
    clippy::disallowed_methods,
    reason = "this module is the owner of app-data writes"
)]

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

use crate::home::DataPath;

const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Makes a folder and its missing parents.
pub(crate) fn create_folder(path: &DataPath) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Makes a folder that must not exist yet.
pub(crate) fn create_new_folder(path: &DataPath) -> io::Result<()> {
    DirBuilder::new().mode(FOLDER_MODE).create(path)
}

/// Opens for reading and writing; creates it when missing, keeps what it holds.
pub(crate) fn open_or_create(path: &DataPath) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(FILE_MODE)
        .open(path)
}

/// Creates a file that must not exist yet, open for appending.
pub(crate) fn create_new(path: &DataPath) -> io::Result<File> {
    OpenOptions::new()
        .append(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(path)
}

/// Creates a file that must not exist yet, open for writing anywhere in it.
pub(crate) fn create_new_file(path: &DataPath) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(path)
}

/// Copies the rest of `source`, whatever its size, and hashes it. Where it holds nothing but zeros the copy has holes.
pub(crate) fn copy_hashed(
    source: &mut File,
    mut target: &File,
    hasher: &mut blake3::Hasher,
) -> io::Result<u64> {
    let mut piece = vec![0; 256 * 1024];
    let mut size = 0;
    loop {
        let read = match source.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let piece = &piece[..read];
        hasher.update(piece);
        size += read as u64;
        match piece.iter().all(|byte| *byte == 0) {
            true => target.seek(SeekFrom::Current(read as i64)).map(drop)?,
            false => target.write_all(piece)?,
        }
    }
    target.set_len(size)?;
    target.sync_data()?;
    Ok(size)
}

/// Gives a finished file its name, durably.
pub(crate) fn put_in_place(temporary: &DataPath, target: &DataPath) -> io::Result<()> {
    fs::rename(temporary, target)?;
    match target.as_path().parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

pub(crate) fn open_append(path: &DataPath) -> io::Result<File> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(FILE_MODE)
        .open(path)
}

/// Whether a replaced file must be on the disk, with its name, before the call returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sync {
    /// For what can be made again: after a power cut it may be gone, or damaged.
    Never,
    /// Contents before the name: after a power cut there is the old file or the new one, whole.
    Contents,
    /// Also the name: the new file is there.
    ContentsAndName,
}

/// Writes `bytes` to `temporary` and renames it to `target`. Nothing is left of it on failure.
pub(crate) fn replace(target: &DataPath, temporary: &DataPath, bytes: &[u8], sync: Sync) -> io::Result<()> {
    let written = (|| {
        let mut file = create_new(temporary)?;
        file.write_all(bytes)?;
        if sync != Sync::Never {
            file.sync_data()?;
        }
        fs::rename(temporary, target)
    })();
    if written.is_err() {
        // The first error is the one to tell; what remains is swept at the next open.
        drop(fs::remove_file(temporary));
        return written;
    }
    if sync == Sync::ContentsAndName
        && let Some(folder) = target.as_path().parent()
    {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

pub(crate) fn rename(from: &DataPath, to: &DataPath) -> io::Result<()> {
    fs::rename(from, to)
}

pub(crate) fn copy(from: &DataPath, to: &DataPath) -> io::Result<u64> {
    let mut source = File::open(from)?;
    let mut target = create_new(to)?;
    io::copy(&mut source, &mut target)
}

pub(crate) fn remove_file(path: &DataPath) -> io::Result<()> {
    fs::remove_file(path)
}

/// Removes a folder with all it holds, also where a staged copy kept folders that cannot be written.
/// Symbolic links are removed, never followed. A missing folder is fine.
pub(crate) fn remove_tree(path: &DataPath) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_folders_writable(path.as_path())?;
            fs::remove_dir_all(path)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn make_folders_writable(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(FOLDER_MODE))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_folders_writable(&entry.path())?;
        }
    }
    Ok(())
}
