//! The file operations of staged copies and layers: they read the user's files and write below the scratch folder.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::MetadataExt,
    path::{Component, Path, PathBuf},
};

use protocol::{ContentHash, Millis};
use rustix::{
    fs::{AtFlags, CWD, FileType, Mode, OFlags, SeekFrom as SeekTo, Timespec, Timestamps},
    io::Errno,
};
use workspace::OverlayEntry;

use super::Staged;
use crate::{disk, record::Version};

/// What tells that a file was written to. The change time cannot be set back by a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub fn of(metadata: &std::fs::Metadata) -> Stamp {
        Stamp {
            inode: metadata.ino(),
            size: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// What a source's change time must be older than its copy for the two to be told apart for sure: change times
/// advance in steps, and a write within the same step leaves no trace.
const CLOCK_STEP_NANOSECONDS: i128 = 100_000_000;

impl Stamp {
    /// Whether a write after `copied` was made cannot have left this stamp as it is.
    fn is_settled(&self, copied: &Stamp) -> bool {
        let nanoseconds =
            |(seconds, rest): (i64, i64)| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        nanoseconds(copied.changed) - nanoseconds(self.changed) >= CLOCK_STEP_NANOSECONDS
    }
}

/// Fails when something is there already: a link in the folder's place would lead what is written into it elsewhere.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::mkdirat(CWD, path, Mode::from_raw_mode(0o777))?)
}

/// Removes an empty folder.
pub(super) fn remove_folder(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(CWD, path, AtFlags::REMOVEDIR)?)
}

/// Removes a folder and all below it, without following links.
#[expect(
    clippy::disallowed_methods,
    reason = "below the scratch folder; links are removed, not followed"
)]
pub(super) fn remove_tree(path: &Path) -> io::Result<()> {
    std::fs::remove_dir_all(path)
}

pub(super) fn link(target: &Path, at: &Path) -> io::Result<()> {
    Ok(rustix::fs::symlinkat(target, CWD, at)?)
}

/// Removes a file or a link itself.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(CWD, path, AtFlags::empty())?)
}

fn create(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(
        CWD,
        path,
        flags,
        Mode::from_raw_mode(0o600),
    )?))
}

/// A drafted file as it is put into a copy or a layer.
pub(super) struct Drafted<'a> {
    content: DraftedContent<'a>,
    mode: u32,
}

enum DraftedContent<'a> {
    Bytes(&'a [u8]),
    /// A file of the store, named by its hash.
    File(&'a Path),
}

impl<'a> Drafted<'a> {
    /// Nothing where the draft deletes.
    pub fn of(entry: &'a OverlayEntry) -> Option<Self> {
        let (content, mode) = match entry {
            OverlayEntry::Content { bytes, mode } => (DraftedContent::Bytes(bytes), *mode),
            OverlayEntry::Stored { file, mode, .. } => (DraftedContent::File(file), *mode),
            OverlayEntry::Deleted => return None,
        };
        Some(Self { content, mode })
    }

    pub fn version(&self) -> Version {
        Version {
            hash: match self.content {
                DraftedContent::Bytes(bytes) => disk::hash(bytes),
                DraftedContent::File(file) => ContentHash(
                    file.file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned(),
                ),
            },
            mode: self.mode,
        }
    }
}

/// Writes a drafted file as if it had been written `at` the time it was drafted: a build that has seen it does not see
/// it as new with each command.
pub(super) fn write(path: &Path, drafted: &Drafted, at: Option<Millis>) -> io::Result<Stamp> {
    unhide(path)?;
    let mut file = create(path)?;
    match drafted.content {
        DraftedContent::Bytes(bytes) => file.write_all(bytes)?,
        DraftedContent::File(from) => {
            let source = File::open(from)?;
            if rustix::fs::ioctl_ficlone(&file, &source).is_err() {
                copy_data(&source, &file, source.metadata()?.len())?;
            }
        }
    }
    rustix::fs::fchmod(&file, Mode::from_raw_mode(drafted.mode))?;
    if let Some(at) = at {
        let time = Timespec {
            tv_sec: (at / 1000).cast_signed(),
            tv_nsec: (at % 1000 * 1_000_000).cast_signed(),
        };
        let times = Timestamps {
            last_access: time,
            last_modification: time,
        };
        rustix::fs::futimens(&file, &times)?;
    }
    Ok(Stamp::of(&file.metadata()?))
}

/// Copies one file with mode and modification time; nothing where it is gone or no file any more.
pub(super) fn copy(root: &Path, relative: &Path, destination: &Path) -> io::Result<Option<Staged>> {
    let Some(mut source) = disk::open(root, relative)? else {
        return Ok(None);
    };
    let metadata = source.metadata()?;
    if !metadata.is_file() {
        return Ok(None);
    }
    let mut file = create(destination)?;
    let cloned = rustix::fs::ioctl_ficlone(&file, &source).is_ok();
    let mode = metadata.mode() & 0o7777;
    let hash = if metadata.len() > disk::MAX_FILE_BYTES {
        if !cloned {
            copy_data(&source, &file, metadata.len())?;
        }
        source.rewind()?;
        let mut hasher = blake3::Hasher::new();
        io::copy(&mut source, &mut hasher)?;
        ContentHash(hasher.finalize().to_hex().to_string())
    } else {
        let mut bytes = Vec::with_capacity(metadata.len() as usize);
        source.read_to_end(&mut bytes)?;
        if !cloned {
            file.write_all(&bytes)?;
        }
        disk::hash(&bytes)
    };
    rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    let time = |seconds, nanoseconds| Timespec {
        tv_sec: seconds,
        tv_nsec: nanoseconds,
    };
    let times = Timestamps {
        last_access: time(metadata.atime(), metadata.atime_nsec()),
        last_modification: time(metadata.mtime(), metadata.mtime_nsec()),
    };
    rustix::fs::futimens(&file, &times)?;
    let stamp = Stamp::of(&file.metadata()?);
    let source = Some(Stamp::of(&metadata)).filter(|source| source.is_settled(&stamp));
    Ok(Some(Staged::File {
        version: Version { hash, mode },
        stamp,
        source,
    }))
}

/// Copies what a file holds and leaves its holes empty: a large sparse file must not fill the disk.
fn copy_data(mut source: &File, mut target: &File, length: u64) -> io::Result<()> {
    let mut at = 0;
    while at < length {
        let start = match rustix::fs::seek(source, SeekTo::Data(at)) {
            Ok(start) => start,
            // Nothing but a hole is left.
            Err(Errno::NXIO) => break,
            // The file system does not tell: everything counts as data.
            Err(Errno::INVAL) => at,
            Err(errno) => return Err(errno.into()),
        };
        let end = rustix::fs::seek(source, SeekTo::Hole(start)).unwrap_or(length);
        source.seek(SeekFrom::Start(start))?;
        target.seek(SeekFrom::Start(start))?;
        // A file that is cut short meanwhile ends the copy too.
        let copied = io::copy(&mut source.take(end.saturating_sub(start)), &mut target)?;
        if copied == 0 {
            break;
        }
        at = start + copied;
    }
    Ok(rustix::fs::ftruncate(target, length)?)
}

/// Where a link must lead in the copy: inside the workspace to the copy, outside to where it led before.
pub(super) fn retarget(target: &Path, link: &Path, real: &Path, copy: &Path) -> PathBuf {
    if target.is_absolute() {
        return match target.strip_prefix(real) {
            Ok(inside) => copy.join(inside),
            Err(_) => target.to_owned(),
        };
    }
    let mut depth = link.components().count().saturating_sub(1);
    for component in target.components() {
        match component {
            Component::ParentDir if depth == 0 => {
                return real.join(link.parent().unwrap_or(Path::new(""))).join(target);
            }
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            _ => {}
        }
    }
    target.to_owned()
}

/// Puts a whiteout: what the layer below has at this path is not there.
pub(super) fn hide(path: &Path) -> io::Result<()> {
    let nothing = rustix::fs::makedev(0, 0);
    Ok(rustix::fs::mknodat(
        CWD,
        path,
        FileType::CharacterDevice,
        Mode::empty(),
        nothing,
    )?)
}

/// Takes a whiteout away; where there is none nothing is done.
pub(super) fn unhide(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(metadata) if super::layer::is_whiteout(&metadata) => remove(path),
        _ => Ok(()),
    }
}

/// Gives a folder of a layer the mode of the real one, since it is what a command sees.
pub(super) fn like_real(root: &Path, relative: &Path, folder: &Path) -> io::Result<()> {
    let Ok(real) = root.join(relative).symlink_metadata() else {
        return Ok(());
    };
    if real.is_dir() {
        rustix::fs::chmodat(
            CWD,
            folder,
            Mode::from_raw_mode(real.mode() & 0o7777),
            AtFlags::empty(),
        )?;
    }
    Ok(())
}

/// Whether a folder of a layer hides what the layer below has in it.
pub(super) fn is_opaque(folder: &Path) -> bool {
    let mut value = [0; 4];
    let length = rustix::fs::lgetxattr(folder, "user.overlay.opaque", &mut value[..]);
    length.is_ok_and(|length| value.get(..length) == Some(&b"y"[..]))
}

/// Removes what the overlay noted on a file.
pub(super) fn forget_layer(file: &Path) {
    for name in ["user.overlay.origin", "user.overlay.impure", "user.overlay.nlink"] {
        // Most files carry none of them.
        let _ = rustix::fs::lremovexattr(file, name);
    }
}

/// The time the file system of `folder` gives to a file changed now.
pub(super) fn clock(folder: &Path) -> io::Result<(i64, i64)> {
    let path = folder.join("clock");
    drop(create(&path)?);
    let metadata = path.symlink_metadata()?;
    remove(&path)?;
    Ok(super::view::changed(&metadata))
}

/// Makes a file of the user's look changed just now, without changing it.
pub(super) fn touch(root: &Path, relative: &Path) -> io::Result<()> {
    let Some(file) = disk::open(root, relative)? else {
        return Ok(());
    };
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: rustix::fs::UTIME_NOW,
    };
    let keep = Timespec {
        tv_sec: 0,
        tv_nsec: rustix::fs::UTIME_OMIT,
    };
    let times = Timestamps {
        last_access: keep,
        last_modification: now,
    };
    Ok(rustix::fs::futimens(&file, &times)?)
}

/// Content, mode and time of a file for an open one.
pub(super) fn copy_with_times(from: &Path, to: &File, mode: u32) -> io::Result<()> {
    let source = File::open(from)?;
    let metadata = source.metadata()?;
    if rustix::fs::ioctl_ficlone(to, &source).is_err() {
        copy_data(&source, to, metadata.len())?;
    }
    rustix::fs::fchmod(to, Mode::from_raw_mode(mode & 0o7777))?;
    let time = Timespec {
        tv_sec: metadata.mtime(),
        tv_nsec: metadata.mtime_nsec(),
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    Ok(rustix::fs::futimens(to, &times)?)
}
