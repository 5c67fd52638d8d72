//! Entries of the tree as a whole: folders, links, and moving either. The steps a user's own rearranging is made of;
//! contents of files are `Place`'s. Nothing here follows a link.

use std::{
    ffi::{OsStr, OsString},
    os::{fd::OwnedFd, unix::ffi::OsStrExt, unix::ffi::OsStringExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, RenameFlags, Stat},
    io::Errno,
};

use super::{DiskError, FOLDER, Place};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Folder,
    Link,
    Special,
}

impl EntryKind {
    fn of(stat: &Stat) -> Self {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Folder,
            FileType::Symlink => EntryKind::Link,
            _ => EntryKind::Special,
        }
    }
}

/// What lies below a folder, each list with outer folders first.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub folders: Vec<(PathBuf, u32)>,
    /// With their sizes.
    pub files: Vec<(PathBuf, u64)>,
    /// With the bytes of their targets.
    pub links: Vec<(PathBuf, OsString)>,
    /// A pipe, socket or device, which cannot be brought back.
    pub special: Option<PathBuf>,
}

/// Nothing where there is nothing.
pub(crate) fn kind(root: &Path, relative: &Path) -> Result<Option<EntryKind>, DiskError> {
    let Some(place) = Place::find(root, relative)? else {
        return Ok(None);
    };
    Ok(place.stat()?.map(|stat| EntryKind::of(&stat)))
}

/// Makes one folder; its parents exist. False where there is something of that name.
pub(crate) fn make_folder(root: &Path, relative: &Path, mode: FolderMode) -> Result<bool, DiskError> {
    let place = Place::make(root, relative)?;
    let wanted = match mode {
        FolderMode::ByUmask => 0o777,
        FolderMode::Exactly(mode) => mode,
    };
    match rustix::fs::mkdirat(&place.folder, &place.name, Mode::from_raw_mode(wanted)) {
        Ok(()) => {}
        Err(Errno::EXIST) => return Ok(false),
        Err(errno) => return Err(errno.into()),
    }
    if let FolderMode::Exactly(mode) = mode {
        let made = rustix::fs::openat(&place.folder, &place.name, FOLDER, Mode::empty())?;
        rustix::fs::fchmod(&made, Mode::from_raw_mode(mode))?;
    }
    place.sync_folder()?;
    Ok(true)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FolderMode {
    ByUmask,
    Exactly(u32),
}

pub(crate) fn set_folder_mode(root: &Path, relative: &Path, mode: u32) -> Result<(), DiskError> {
    if let Some(place) = Place::find(root, relative)? {
        let opened = rustix::fs::openat(&place.folder, &place.name, FOLDER, Mode::empty())?;
        rustix::fs::fchmod(&opened, Mode::from_raw_mode(mode))?;
    }
    Ok(())
}

/// Moves an entry, whatever it is, in one step. False where something has the new name already.
pub(crate) fn move_entry(root: &Path, from: &Path, to: &Path) -> Result<bool, DiskError> {
    let missing = || DiskError::Io(std::io::ErrorKind::NotFound.into());
    let source = Place::find(root, from)?.ok_or_else(missing)?;
    let target = Place::make(root, to)?;
    let renamed = rustix::fs::renameat_with(
        &source.folder,
        &source.name,
        &target.folder,
        &target.name,
        RenameFlags::NOREPLACE,
    );
    match renamed {
        Ok(()) => {}
        Err(Errno::EXIST) => return Ok(false),
        // A file system that cannot refuse by itself. The look and the move are a moment apart there.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if !to.starts_with(from) => {
            if target.stat()?.is_some() {
                return Ok(false);
            }
            rustix::fs::renameat(&source.folder, &source.name, &target.folder, &target.name)?;
        }
        Err(errno) => return Err(errno.into()),
    }
    target.sync_folder()?;
    source.sync_folder()?;
    Ok(true)
}

/// The text of a link; nothing where there is no link.
pub(crate) fn link_target(root: &Path, relative: &Path) -> Result<Option<OsString>, DiskError> {
    match Place::find(root, relative)? {
        Some(place) => read_link(&place.folder, &place.name),
        None => Ok(None),
    }
}

fn read_link(folder: &OwnedFd, name: &OsStr) -> Result<Option<OsString>, DiskError> {
    match rustix::fs::readlinkat(folder, name, Vec::new()) {
        Ok(target) => Ok(Some(OsString::from_vec(target.into_bytes()))),
        Err(Errno::NOENT | Errno::INVAL) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// False where something has the name already.
pub(crate) fn make_link(root: &Path, relative: &Path, target: &OsStr) -> Result<bool, DiskError> {
    let place = Place::make(root, relative)?;
    match rustix::fs::symlinkat(target, &place.folder, &place.name) {
        Ok(()) => place.sync_folder().map(|()| true),
        Err(Errno::EXIST) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Removes a link if it still leads where it did. False where it does not.
pub(crate) fn remove_link(root: &Path, relative: &Path, target: &OsStr) -> Result<bool, DiskError> {
    let Some(place) = Place::find(root, relative)? else {
        return Ok(false);
    };
    if read_link(&place.folder, &place.name)?.as_deref() != Some(target) {
        return Ok(false);
    }
    place.remove_named(&place.name)?;
    place.sync_folder()?;
    Ok(true)
}

/// Everything below a folder and the folder itself, until `enough` says that it is too much.
pub(crate) fn tree(root: &Path, relative: &Path, enough: impl Fn(&Tree) -> bool) -> Result<Tree, DiskError> {
    let mut tree = Tree::default();
    let mut pending = vec![relative.to_owned()];
    while let Some(folder) = pending.pop() {
        let Some(place) = Place::find(root, &folder)? else {
            continue;
        };
        let opened = rustix::fs::openat(&place.folder, &place.name, FOLDER, Mode::empty())?;
        let mode = rustix::fs::fstat(&opened)?.st_mode & 0o7777;
        tree.folders.push((folder.clone(), mode));
        for entry in Dir::read_from(&opened)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let path = folder.join(name);
            let stat = rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW)?;
            match EntryKind::of(&stat) {
                EntryKind::File => tree.files.push((path, u64::try_from(stat.st_size).unwrap_or(0))),
                EntryKind::Folder => pending.push(path),
                EntryKind::Link => {
                    let target = read_link(&opened, name)?.unwrap_or_default();
                    tree.links.push((path, target));
                }
                EntryKind::Special => tree.special = Some(path),
            }
            if enough(&tree) || tree.special.is_some() {
                return Ok(tree);
            }
        }
    }
    tree.folders.sort();
    tree.files.sort();
    tree.links.sort();
    Ok(tree)
}

impl Place {
    fn stat(&self) -> Result<Option<Stat>, DiskError> {
        match rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }
}
