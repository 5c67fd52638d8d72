//! Mounts that are not attached anywhere yet: overlays, copies of a part of the tree, small file systems of their own.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

use super::sys;

pub(super) const HARMLESS: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);

/// A place, without any right to what is there.
pub(super) fn place(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(
        path,
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

/// A place below a folder that is reached without any link.
pub(super) fn place_below(folder: impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(rustix::fs::openat2(folder, path, flags, Mode::empty(), resolve)?)
}

/// What is at a place with everything mounted below it, as a mount of its own.
pub(super) fn copy_of(place: impl AsFd) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(place, "", flags)?)
}

pub(super) fn read_only_copy_of(place: impl AsFd) -> io::Result<OwnedFd> {
    let copy = copy_of(place)?;
    sys::restrict_mounts(
        &copy,
        MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOSUID,
    )?;
    Ok(copy)
}

/// An overlay whose changes go to `upper`. Named by descriptors, since a path may contain what separates options, and
/// may be covered later.
pub(super) fn overlay(lower: impl AsFd, upper: impl AsFd, work: impl AsFd) -> io::Result<OwnedFd> {
    let name = |place: &dyn AsRawFd| format!("/proc/self/fd/{}", place.as_raw_fd());
    let system = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&system, "source", "staged")?;
    fsconfig_set_string(&system, "lowerdir", name(&lower.as_fd()))?;
    fsconfig_set_string(&system, "upperdir", name(&upper.as_fd()))?;
    fsconfig_set_string(&system, "workdir", name(&work.as_fd()))?;
    fsconfig_set_flag(&system, "userxattr")?;
    // The layer does not outlive the command, so nothing in it need survive a crash.
    fsconfig_set_flag(&system, "volatile")?;
    create(system, HARMLESS)
}

/// An empty file system in memory of at most `size` bytes.
pub(super) fn memory(size: u64, mode: &str) -> io::Result<OwnedFd> {
    let system = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&system, "size", size.to_string())?;
    fsconfig_set_string(&system, "mode", mode)?;
    create(system, HARMLESS)
}

/// Terminals of the view's own.
pub(super) fn terminals() -> io::Result<OwnedFd> {
    let system = fsopen("devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&system, "ptmxmode", "0666")?;
    fsconfig_set_string(&system, "mode", "0620")?;
    create(
        system,
        MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC,
    )
}

/// The processes of this namespace, and nothing to be set.
pub(super) fn processes() -> io::Result<OwnedFd> {
    let system = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    create(
        system,
        HARMLESS | MountAttrFlags::MOUNT_ATTR_NOEXEC | MountAttrFlags::MOUNT_ATTR_RDONLY,
    )
}

fn create(system: OwnedFd, attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    fsconfig_create(&system)?;
    Ok(fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

pub(super) fn attach(mount: &OwnedFd, at: impl AsFd) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(mount, "", at, "", flags)?)
}

/// Makes a folder; one that is there is fine.
pub(super) fn make_folder(folder: impl AsFd, name: impl AsRef<Path>, mode: u32) -> io::Result<()> {
    match rustix::fs::mkdirat(folder, name.as_ref(), Mode::from_raw_mode(mode)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Makes an empty file to mount a file on.
pub(super) fn make_file(folder: impl AsFd, name: impl AsRef<Path>) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    match rustix::fs::openat(folder, name.as_ref(), flags, Mode::from_raw_mode(0o644)) {
        Ok(_) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Makes what is missing of a path's folders. Only the view's own hidden places let it.
pub(super) fn make_folders(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        make_folders(parent)?;
    }
    make_folder(CWD, path, 0o755)
}
