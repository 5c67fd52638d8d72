//! What has to happen between fork and exec, and cannot be said to the standard library safely.

#![allow(unsafe_code)]

use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::fd::BorrowedFd;
use rustix::io::{FdFlags, fcntl_setfd};

/// Makes the child the leader of its own session, and so of its own process group: it has no controlling
/// terminal to ask on, and a signal to the group reaches all that stay in it. `kept` stays open in the child
/// under the same number.
///
/// `kept` must stay open until the spawn has returned.
pub(crate) fn own_session(command: &mut Command, kept: Option<RawFd>) {
    own_session_keeping(command, kept.into_iter().collect(), OwnTerminal::No);
}

/// Whether the child's standard input is a terminal that becomes its session's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnTerminal {
    No,
    Take,
}

/// The same with any number of descriptors that stay open.
pub(crate) fn own_session_keeping(command: &mut Command, kept: Vec<RawFd>, terminal: OwnTerminal) {
    let hook = move || {
        rustix::process::setsid()?;
        if terminal == OwnTerminal::Take {
            rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
        }
        for number in &kept {
            // SAFETY: the caller keeps the descriptor open until the spawn has returned, and the child has its
            // copy of it; the borrow ends with this statement.
            let descriptor = unsafe { BorrowedFd::borrow_raw(*number) };
            fcntl_setfd(descriptor, FdFlags::empty())?;
        }
        Ok(())
    };
    // SAFETY: the hook runs in the forked child and makes system calls through rustix, which go straight to the
    // kernel: no allocation, no lock, nothing of the parent's state is touched. The list was made before the fork.
    unsafe {
        command.pre_exec(hook);
    }
}
