//! Files of the workspace by directory handle: reading one, and the few atomic steps a write is made of.
//!
//! Every path is walked component by component without following links, so that a folder swapped for a link
//! between check and write cannot lead a write out of the workspace. It knows nothing of change sets; in what
//! order steps are taken and what they mean is `apply`'s.

pub(crate) mod entries;

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read, Seek},
    os::fd::{AsFd, OwnedFd},
    path::{Component, Path},
    sync::Arc,
};

use protocol::ContentHash;
use rustix::{
    fs::{AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Uid},
    io::Errno,
};

use crate::{content::Content, record::Version};

/// Larger files are not taken into memory, so they are neither edited nor merged: only replaced as a whole.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// The hash contents are named by.
pub fn hash(bytes: &[u8]) -> ContentHash {
    ContentHash(blake3::hash(bytes).to_hex().to_string())
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum DiskError {
    #[error("it is a folder")]
    IsDirectory,
    #[error("a part of its path is not a folder, or is a link")]
    NotADirectory,
    #[error("it is not a regular file")]
    Special,
    #[error("it has {size} bytes, more than the {MAX_FILE_BYTES} that can be edited")]
    TooLarge { size: u64 },
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl From<Errno> for DiskError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOTDIR | Errno::LOOP => DiskError::NotADirectory,
            Errno::ISDIR => DiskError::IsDirectory,
            other => DiskError::Io(other.into()),
        }
    }
}

/// A regular file as it was read.
#[derive(Clone, Debug)]
pub(crate) struct FileState {
    pub content: Content,
    pub version: Version,
    /// Names the file has on disk; more than one means that a rename parts them.
    pub links: u64,
}

impl FileState {
    pub fn new(bytes: impl Into<Arc<[u8]>>, mode: u32) -> FileState {
        let bytes = bytes.into();
        FileState {
            version: Version {
                hash: hash(&bytes),
                mode,
            },
            content: Content::Bytes(bytes),
            links: 1,
        }
    }

    /// A content whose hash is known.
    pub fn of(content: Content, version: Version) -> FileState {
        FileState {
            content,
            version,
            links: 1,
        }
    }

    /// Absent for a file that is too large to be worked on.
    pub fn bytes(&self) -> Option<&Arc<[u8]>> {
        self.content.bytes()
    }
}

/// The file at a path relative to `root`; nothing where there is none.
pub(crate) fn read(root: &Path, relative: &Path) -> Result<Option<FileState>, DiskError> {
    match Place::find(root, relative)? {
        Some(place) => place.read(),
        None => Ok(None),
    }
}

/// The same for a file of any size.
pub(crate) fn look(root: &Path, relative: &Path) -> Result<Option<FileState>, DiskError> {
    match Place::find(root, relative)? {
        Some(place) => place.look(),
        None => Ok(None),
    }
}

/// Opens a file for reading without following a link anywhere on the way.
pub(crate) fn open(root: &Path, relative: &Path) -> io::Result<Option<File>> {
    let opened = Place::find(root, relative).and_then(|place| match place {
        Some(place) => place.open(&place.name),
        None => Ok(None),
    });
    match opened {
        Ok(handle) => Ok(handle.map(File::from)),
        Err(DiskError::Io(error)) => Err(error),
        Err(error) => Err(io::Error::other(error.to_string())),
    }
}

/// A name in an open folder.
pub(crate) struct Place {
    folder: OwnedFd,
    name: OsString,
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

impl Place {
    /// Nothing where the folder does not exist.
    pub fn find(root: &Path, relative: &Path) -> Result<Option<Place>, DiskError> {
        let (parents, name) = steps(relative)?;
        let mut folder = open_root(root)?;
        for parent in parents {
            folder = match rustix::fs::openat(&folder, parent, FOLDER, Mode::empty()) {
                Ok(next) => next,
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => return Err(errno.into()),
            };
        }
        Ok(Some(Place { folder, name }))
    }

    /// Makes the folders that are missing.
    pub fn make(root: &Path, relative: &Path) -> Result<Place, DiskError> {
        let (parents, name) = steps(relative)?;
        let mut folder = open_root(root)?;
        for parent in parents {
            let mut next = rustix::fs::openat(&folder, parent, FOLDER, Mode::empty());
            if matches!(next, Err(Errno::NOENT)) {
                match rustix::fs::mkdirat(&folder, parent, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno.into()),
                }
                rustix::fs::fsync(&folder)?;
                next = rustix::fs::openat(&folder, parent, FOLDER, Mode::empty());
            }
            folder = next?;
        }
        Ok(Place { folder, name })
    }

    pub fn read(&self) -> Result<Option<FileState>, DiskError> {
        match self.look()? {
            Some(FileState {
                content: Content::Stored { size },
                ..
            }) => Err(DiskError::TooLarge { size }),
            found => Ok(found),
        }
    }

    /// What is here, whatever its size. Takes time in proportion to it.
    pub fn look(&self) -> Result<Option<FileState>, DiskError> {
        self.look_at(&self.name)
    }

    /// Looks at another name of the same folder.
    pub fn look_at(&self, name: &OsStr) -> Result<Option<FileState>, DiskError> {
        let Some(handle) = self.open(name)? else {
            return Ok(None);
        };
        let status = rustix::fs::fstat(&handle)?;
        match FileType::from_raw_mode(status.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Err(DiskError::IsDirectory),
            _ => return Err(DiskError::Special),
        }
        let size = u64::try_from(status.st_size).unwrap_or(0);
        let mode = status.st_mode & 0o7777;
        let mut file = File::from(handle);
        let mut bytes = Vec::new();
        if size <= MAX_FILE_BYTES {
            bytes.reserve(size as usize);
            (&mut file).take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
        }
        let is_large = size > MAX_FILE_BYTES || bytes.len() as u64 > MAX_FILE_BYTES;
        let mut state = match is_large {
            true => large(file, mode)?,
            false => FileState::new(bytes, mode),
        };
        state.links = status.st_nlink as u64;
        Ok(Some(state))
    }

    fn open(&self, name: &OsStr) -> Result<Option<OwnedFd>, DiskError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.folder, name, flags, Mode::empty()) {
            Ok(handle) => Ok(Some(handle)),
            Err(Errno::NOENT) => Ok(None),
            // A link or a socket: there is something, and it is no file.
            Err(Errno::LOOP | Errno::NXIO) => Err(DiskError::Special),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Writes a new file beside this one, durable before it returns. It takes over owner and extended attributes of
    /// the file it is to replace, as far as the system lets it.
    pub fn write_beside(
        &self,
        temporary: &OsStr,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
        mode: u32,
    ) -> Result<(), DiskError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&self.folder, temporary, flags, Mode::from_raw_mode(0o600))?;
        let mut file = File::from(handle);
        fill(&mut file)?;
        let mut mode = mode;
        if let Ok(Some(existing)) = self.open(&self.name) {
            let (old, new) = (rustix::fs::fstat(&existing)?, rustix::fs::fstat(&file)?);
            if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) {
                let owner = Some(Uid::from_raw(old.st_uid));
                let group = Some(Gid::from_raw(old.st_gid));
                if rustix::fs::fchown(&file, owner, group).is_err() {
                    // Only a privileged process keeps the owner. Set-id bits would then lend ours.
                    mode &= 0o1777;
                }
            }
            copy_attributes(&existing, &file);
        }
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
        rustix::fs::fsync(&file)?;
        Ok(())
    }

    /// Puts the temporary file in this place, which must be free. False if it is not.
    pub fn fill(&self, temporary: &OsStr) -> Result<bool, DiskError> {
        match self.rename(temporary, &self.name, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                // A hard link refuses an existing name too.
                match rustix::fs::linkat(
                    &self.folder,
                    temporary,
                    &self.folder,
                    &self.name,
                    AtFlags::empty(),
                ) {
                    Ok(()) => self.remove_named(temporary).map(|()| true),
                    Err(Errno::EXIST) => Ok(false),
                    Err(errno) => Err(errno.into()),
                }
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// Swaps this file and the temporary one in one step, so that what was here is never gone even if it changed a
    /// moment ago. False where the file system cannot; nothing was done then.
    pub fn exchange(&self, temporary: &OsStr) -> Result<bool, DiskError> {
        match self.rename(temporary, &self.name, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Replaces this file by the temporary one.
    pub fn replace(&self, temporary: &OsStr) -> Result<(), DiskError> {
        rustix::fs::renameat(&self.folder, temporary, &self.folder, &self.name)?;
        Ok(())
    }

    /// Moves this file to the temporary name, leaving its place free.
    pub fn vacate(&self, temporary: &OsStr) -> Result<(), DiskError> {
        rustix::fs::renameat(&self.folder, &self.name, &self.folder, temporary)?;
        Ok(())
    }

    /// Removes another name of the folder; one that is not there is fine.
    pub fn remove_named(&self, name: &OsStr) -> Result<(), DiskError> {
        match rustix::fs::unlinkat(&self.folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Removes this file, for good.
    pub fn remove(&self) -> Result<(), DiskError> {
        self.remove_named(&self.name)
    }

    /// The open folder and the name in it.
    pub fn parts(&self) -> (&OwnedFd, &OsStr) {
        (&self.folder, &self.name)
    }

    /// Makes renames in the folder durable.
    pub fn sync_folder(&self) -> Result<(), DiskError> {
        rustix::fs::fsync(&self.folder)?;
        Ok(())
    }

    fn rename(&self, from: &OsStr, to: &OsStr, flags: RenameFlags) -> rustix::io::Result<()> {
        rustix::fs::renameat_with(&self.folder, from, &self.folder, to, flags)
    }
}

/// The state of a file that is not taken into memory.
fn large(mut file: File, mode: u32) -> io::Result<FileState> {
    file.rewind()?;
    let mut hasher = blake3::Hasher::new();
    let size = io::copy(&mut file, &mut hasher)?;
    Ok(FileState::of(
        Content::Stored { size },
        Version {
            hash: ContentHash(hasher.finalize().to_hex().to_string()),
            mode,
        },
    ))
}

/// Removes a folder if it is empty; anything else is left as it is.
pub(crate) fn remove_empty_folder(root: &Path, relative: &Path) {
    if let Ok(Some(place)) = Place::find(root, relative) {
        // Not empty, gone or not ours any more: all are reasons to leave it.
        let _ = rustix::fs::unlinkat(&place.folder, &place.name, AtFlags::REMOVEDIR);
    }
}

/// The mode of a newly made file: as the user's umask has it.
pub(crate) fn new_file_mode(executable: Executable) -> u32 {
    let umask = std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
            u32::from_str_radix(line.trim(), 8).ok()
        })
        .unwrap_or(0o022);
    let wanted = match executable {
        Executable::Yes => 0o777,
        Executable::No => 0o666,
    };
    wanted & !umask
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Executable {
    Yes,
    No,
}

fn open_root(root: &Path) -> Result<OwnedFd, DiskError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(root, flags, Mode::empty())?)
}

/// The folders of a relative path and its last name.
fn steps(relative: &Path) -> Result<(Vec<&OsStr>, OsString), DiskError> {
    let mut names = Vec::new();
    for component in relative.components() {
        match component {
            Component::Normal(name) => names.push(name),
            _ => return Err(DiskError::NotADirectory),
        }
    }
    let name = names.pop().ok_or(DiskError::IsDirectory)?;
    Ok((names, name.to_owned()))
}

/// Extended attributes, access lists among them. What the file system or our rights do not allow stays behind.
fn copy_attributes(from: impl AsFd, to: impl AsFd) {
    let mut names = vec![0u8; 64 * 1024];
    let Ok(length) = rustix::fs::flistxattr(&from, &mut names[..]) else {
        return;
    };
    for name in names[..length]
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
    {
        let mut value = vec![0u8; 64 * 1024];
        if let Ok(size) = rustix::fs::fgetxattr(&from, name, &mut value[..]) {
            let _ = rustix::fs::fsetxattr(&to, name, &value[..size], rustix::fs::XattrFlags::empty());
        }
    }
}
