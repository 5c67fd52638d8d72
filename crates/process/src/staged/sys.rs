//! The few system calls that no safe wrapper covers. Everything here is called from the helper, which is a process of
//! one thread.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use rustix::fd::BorrowedFd;
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use rustix::mount::MountAttrFlags;
use rustix::process::Pid;

pub(super) enum Forked {
    Child,
    Parent(Pid),
}

/// Forks into new namespaces (`CLONE_NEW*` flags); with none it is a plain fork.
pub(super) fn fork_into(namespaces: libc::c_int) -> io::Result<Forked> {
    let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
    let none: libc::c_long = 0;
    // SAFETY: no memory is shared (no CLONE_VM) and no new stack is given, so this returns twice as fork does. The
    // process has one thread, so no lock is held by another that the child would wait for.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) };
    match i32::try_from(pid) {
        Ok(0) => Ok(Forked::Child),
        Ok(pid) if pid > 0 => Pid::from_raw(pid)
            .map(Forked::Parent)
            .ok_or_else(|| io::Error::other("a process without an id")),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Takes over a descriptor that the program was started with, and keeps it from being passed on.
pub(super) fn inherited(number: i32) -> io::Result<OwnedFd> {
    if number <= 2 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the borrow is checked to be an open descriptor by the call it is made for, and ends with it.
    let flags = fcntl_getfd(unsafe { BorrowedFd::borrow_raw(number) })?;
    // SAFETY: it is open, as was just seen, and the launcher passed it to this process for this one owner.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    fcntl_setfd(&descriptor, flags | FdFlags::CLOEXEC)?;
    Ok(descriptor)
}

/// Sets attributes of a mount and all below it.
pub(super) fn restrict_mounts(mount: impl AsFd, attributes: MountAttrFlags) -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: attributes.bits().into(),
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path is an empty C string, and the structure lives until the call returns and has the size given.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_fd().as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Brings up the loopback interface of this network namespace.
pub(super) fn raise_loopback() -> io::Result<()> {
    let socket = rustix::net::socket(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        None,
    )?;
    // SAFETY: a structure of integers and a union of integers, for which zero is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = from.cast_signed();
    }
    let up = libc::IFF_UP | libc::IFF_RUNNING;
    request.ifr_ifru.ifru_flags = i16::try_from(up).unwrap_or_default();
    // SAFETY: the request reads a whole `ifreq`, which lives until the call returns.
    match unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
