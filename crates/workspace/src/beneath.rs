//! Opening things below the workspace root without ever following a link, so that a path checked a moment ago
//! cannot be swapped for a way out. Knows file descriptors only; paths come in already resolved.

use std::{
    fs::File,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Component, Path},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, Stat},
    io::Errno,
};

/// What a directory entry is, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    File,
    Directory,
    Link,
    /// A pipe, socket or device: opening one can block or have effects.
    Special,
}

impl NodeKind {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self::from_type(rustix::fs::FileType::from_raw_mode(stat.st_mode))
    }

    pub(crate) fn from_type(kind: rustix::fs::FileType) -> Self {
        match kind {
            rustix::fs::FileType::RegularFile => NodeKind::File,
            rustix::fs::FileType::Directory => NodeKind::Directory,
            rustix::fs::FileType::Symlink => NodeKind::Link,
            _ => NodeKind::Special,
        }
    }
}

/// The size in bytes; never negative for what exists.
pub(crate) fn size_of(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

/// The permission bits, without the kind of file.
pub(crate) fn mode_of(stat: &Stat) -> u32 {
    stat.st_mode & 0o7777
}

const READ: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOCTTY)
    // A pipe that took a file's place since it was looked at must not block us.
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOFOLLOW);
const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW);

/// The workspace root itself, by its canonical path.
pub(crate) fn open_root(root: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(root, DIRECTORY, Mode::empty())?)
}

pub(crate) fn open_directory(root: impl AsFd, relative: &Path) -> io::Result<OwnedFd> {
    Ok(open(root.as_fd(), relative, DIRECTORY)?)
}

/// A regular file, ready to read. Anything else is refused: links with `FilesystemLoop`, other kinds with
/// `InvalidInput`.
pub(crate) fn open_file(directory: impl AsFd, relative: &Path) -> io::Result<(File, Stat)> {
    let file = File::from(open(directory.as_fd(), relative, READ)?);
    let stat = rustix::fs::fstat(&file)?;
    if NodeKind::of(&stat) != NodeKind::File {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    Ok((file, stat))
}

/// What is at `relative` now; a link is described itself. Nothing is opened.
pub(crate) fn stat(root: impl AsFd, relative: &Path) -> io::Result<Stat> {
    let Some(name) = relative.file_name() else {
        return Ok(rustix::fs::fstat(root)?);
    };
    match relative.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => {
            let directory = open(root.as_fd(), parent, DIRECTORY)?;
            Ok(rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?)
        }
        _ => Ok(rustix::fs::statat(root, name, AtFlags::SYMLINK_NOFOLLOW)?),
    }
}

fn open(root: BorrowedFd<'_>, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::ResolveFlags;
        let path = if relative.as_os_str().is_empty() {
            Path::new(".")
        } else {
            relative
        };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(root, path, flags, Mode::empty(), resolve) {
            // Missing in old kernels, and forbidden by some containers.
            Err(Errno::NOSYS | Errno::PERM) => {}
            done => return done,
        }
    }
    open_step_by_step(root, relative, flags)
}

/// The same promise where the kernel cannot give it: each component is opened from the one above it.
fn open_step_by_step(root: BorrowedFd<'_>, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut directory = rustix::fs::openat(root, ".", DIRECTORY, Mode::empty())?;
    let mut parts = relative.components().peekable();
    if parts.peek().is_none() {
        return Ok(directory);
    }
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else {
            return Err(Errno::XDEV);
        };
        if parts.peek().is_none() {
            return rustix::fs::openat(&directory, name, flags, Mode::empty());
        }
        directory = rustix::fs::openat(&directory, name, DIRECTORY, Mode::empty())?;
    }
    Ok(directory)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make the files they read")]
mod tests {
    use super::*;

    /// Both ways of opening refuse a link at the end and in the middle, and agree on what they open.
    #[test]
    fn links_are_never_followed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        std::fs::create_dir_all(root.join("real/deep")).unwrap();
        std::fs::write(root.join("real/deep/file"), "x").unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        std::os::unix::fs::symlink("file", root.join("real/deep/link")).unwrap();
        let root = open_root(root).unwrap();
        for (path, opens) in [
            ("real/deep/file", true),
            ("link/deep/file", false),
            ("real/deep/link", false),
            ("real/../real/deep/file", false),
            ("real/missing", false),
        ] {
            let path = Path::new(path);
            if !path.components().any(|part| part == Component::ParentDir) {
                assert_eq!(open(root.as_fd(), path, READ).is_ok(), opens, "{path:?}");
            }
            let stepwise = open_step_by_step(root.as_fd(), path, READ);
            assert_eq!(stepwise.is_ok(), opens, "{path:?}");
        }
    }
}
