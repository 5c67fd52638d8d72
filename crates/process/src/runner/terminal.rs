//! A terminal of a command's own, for programs that do nothing useful without one, and somebody's typing into it.

use std::fs::File;
use std::io::{self, PipeReader};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// What a command has for its input and output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Terminal {
    /// No input, and pipes for the output: nothing waits for an answer that nobody can give.
    #[default]
    None,
    /// A terminal of 80 by 24 characters. Both output streams are one.
    Own,
}

pub(super) struct Pair {
    pub(super) ours: OwnedFd,
    pub(super) theirs: OwnedFd,
}

pub(super) fn open() -> io::Result<Pair> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let theirs = rustix::fs::open(name.as_c_str(), flags, Mode::empty())?;
    let size = Winsize {
        ws_row: 24,
        ws_col: 80,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&theirs, size)?;
    Ok(Pair { ours, theirs })
}

/// Types into a command's terminal. What has ended takes no more.
#[derive(Clone, Debug)]
pub struct Typist(Arc<File>);

impl Typist {
    /// For the side that is read, too.
    pub(super) fn of(ours: &OwnedFd) -> io::Result<Self> {
        Ok(Self(Arc::new(File::from(ours.try_clone()?))))
    }

    /// Types `text` as it is; a line ends with `\r` or `\n`. A terminal holds about 4 KiB that nobody has read.
    pub fn write(&self, text: &[u8]) -> io::Result<()> {
        use std::io::Write as _;
        (&*self.0).write_all(text)
    }
}

/// The reading side, and an error stream that is at its end: a terminal has only one.
pub(super) fn streams(ours: OwnedFd) -> io::Result<(PipeReader, PipeReader)> {
    let (nothing, _) = io::pipe()?;
    Ok((PipeReader::from(ours), nothing))
}
