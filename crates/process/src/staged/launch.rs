//! The launcher's side: the pipes to the helper, the program to start, and the reports it sends.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

use super::gate::Handover;
use super::helper::HELPER_MODE;
use super::spec::{Raw, Report, Spec, Task};
use super::{Network, Staged};

/// The program itself, also when its file was replaced since it started.
pub(crate) const THIS_PROGRAM: &str = "/proc/self/exe";

/// One helper that is about to be started.
pub(crate) struct Launch {
    spec: Spec,
    theirs: (PipeReader, PipeWriter),
    ours: (PipeWriter, PipeReader),
    handover: Option<Handover>,
}

/// A helper that runs. Dropping `alive` ends it and everything in its view.
pub(crate) struct Launched {
    pub(crate) alive: PipeWriter,
    pub(crate) status: PipeReader,
    /// Where the socket of the view's proxy comes from, if it has one.
    pub(crate) gate: Option<UnixStream>,
}

impl Launch {
    pub(crate) fn shell(staged: &Staged, program: &Path, script: &str, cwd: &Path) -> io::Result<Self> {
        let task = Task::Shell {
            program: Raw(program.to_owned()),
            arguments: vec!["-c".to_owned(), script.to_owned()],
        };
        Self::task(staged, cwd, task)
    }

    pub(super) fn task(staged: &Staged, cwd: &Path, task: Task) -> io::Result<Self> {
        let (their_spec, our_spec) = io::pipe()?;
        let (our_status, their_status) = io::pipe()?;
        let mut spec = Spec::new(staged, cwd, task);
        let handover = match staged.sandbox.network {
            Network::Hosts => Some(Handover::new()?),
            Network::Off | Network::Loopback | Network::On => None,
        };
        spec.gate = handover.as_ref().map(Handover::theirs);
        Ok(Self {
            spec,
            theirs: (their_spec, their_status),
            ours: (our_spec, our_status),
            handover,
        })
    }

    /// A descriptor of ours that the shell inherits under the same number.
    pub(crate) fn pass_on(&mut self, report: RawFd) {
        self.spec.report = Some(report);
    }

    /// Makes the shell's standard input the terminal of its session.
    pub(crate) fn with_terminal(&mut self) {
        self.spec.terminal = true;
    }

    /// Descriptors that must stay open in the helper.
    pub(crate) fn kept(&self) -> Vec<RawFd> {
        let [spec, status] = self.pipes();
        [spec, status].into_iter().chain(self.spec.gate).collect()
    }

    fn pipes(&self) -> [RawFd; 2] {
        [self.theirs.0.as_raw_fd(), self.theirs.1.as_raw_fd()]
    }

    /// What makes the program its own helper.
    pub(crate) fn arguments(&self) -> [String; 3] {
        let [spec, status] = self.pipes();
        [HELPER_MODE.to_owned(), spec.to_string(), status.to_string()]
    }

    /// Tells the started helper what to do.
    pub(crate) fn begin(self) -> io::Result<Launched> {
        drop(self.theirs);
        let (mut alive, status) = self.ours;
        self.spec.send(&mut alive)?;
        let gate = self.handover.map(Handover::ours);
        Ok(Launched { alive, status, gate })
    }
}

/// Reports as they come, for the supervisor of a command.
pub(crate) struct StatusPipe {
    /// Kept open for as long as the command may run.
    _alive: PipeWriter,
    status: pipe::Receiver,
    line: Vec<u8>,
}

impl StatusPipe {
    pub(crate) fn new(launched: Launched) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&launched.status, true)?;
        Ok(Self {
            _alive: launched.alive,
            status: pipe::Receiver::from_owned_fd(OwnedFd::from(launched.status))?,
            line: Vec::new(),
        })
    }

    /// How the shell ended; `None` when the helper ended without saying so. Safe to drop and call again.
    pub(crate) async fn ended(&mut self, notes: &mut Vec<String>) -> io::Result<Option<ExitStatus>> {
        loop {
            while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.line.drain(..=end).collect();
                match Report::parse(&line) {
                    Some(Report::Note(note)) => notes.push(note),
                    Some(Report::Failed(why)) => return Err(io::Error::other(why)),
                    Some(Report::Ended(status)) => return Ok(Some(ExitStatus::from_raw(status))),
                    None => {}
                }
            }
            if self.status.read_buf(&mut self.line).await? == 0 {
                return Ok(None);
            }
        }
    }
}

/// All reports of a helper that has ended.
pub(super) fn reports(mut status: PipeReader) -> Vec<Report> {
    let mut text = Vec::new();
    // What could not be read counts as not said.
    let _ = status.read_to_end(&mut text);
    text.split(|byte| *byte == b'\n')
        .filter_map(Report::parse)
        .collect()
}
