//! Runs approved shell commands: start, output, time limit, stop, and exactly one end.
//!
//! It does not decide what may run (`policy` does, and its approval is the only thing that starts), and it knows
//! nothing of sessions or cards: it hands over events and an end.

pub(crate) mod guard;
mod output;
mod report;
pub(crate) mod session;
mod shell;
pub(crate) mod supervise;
mod terminal;
pub(crate) mod tree;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use protocol::{CommandState, ErrorCode, RuntimeError};
use tokio::sync::{mpsc, watch};

pub use output::{OutputStream, OutputSummary};
pub use report::EndedPart;
pub use terminal::{Terminal, Typist};
pub use tree::Process;

use crate::environment::CommandEnvironment;
use crate::policy::ApprovedCommand;
use crate::staged::Staged;

/// What happens to processes that are still running when the shell has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leftover {
    /// They are ended, and named in the end.
    #[default]
    Kill,
    /// They stay, named in the end; their late output goes to the command's log. They end with this program.
    Keep,
}

/// How to run one command.
pub struct RunOptions {
    /// The directory to run in. If it is gone, the command runs in `root` and the end says so.
    pub cwd: PathBuf,
    /// The workspace's root.
    pub root: PathBuf,
    pub environment: CommandEnvironment,
    /// After this the whole tree is killed. `None` means no limit.
    pub time_limit: Option<Duration>,
    /// Between SIGTERM and SIGKILL. The tree is gone at most 1.5 s later.
    pub grace: Duration,
    /// Bytes kept in memory of the output's head, and as many of its tail.
    pub keep_output: usize,
    /// Events that may wait for the consumer; each output event has at most 64 KiB.
    pub event_capacity: usize,
    pub leftover: Leftover,
    pub terminal: Terminal,
    /// The view of the workspace to run in; without one the command runs on the machine as it is.
    pub staged: Option<Staged>,
    /// Receives every byte of both streams, raw and in order. It caps itself; writing to it may block.
    pub log: Box<dyn Write + Send>,
}

impl RunOptions {
    /// Ten minutes, 64 KiB of head and of tail, leftovers killed.
    pub fn new(
        cwd: impl Into<PathBuf>,
        root: impl Into<PathBuf>,
        environment: CommandEnvironment,
        log: Box<dyn Write + Send>,
    ) -> Self {
        Self {
            cwd: cwd.into(),
            root: root.into(),
            environment,
            time_limit: Some(Duration::from_secs(600)),
            grace: tree::DEFAULT_GRACE,
            keep_output: 64 * 1024,
            event_capacity: 32,
            leftover: Leftover::default(),
            terminal: Terminal::default(),
            staged: None,
            log,
        }
    }
}

/// In order: one `Started`, any number of `Output`, one `Ended`, then nothing.
#[derive(Debug)]
pub enum CommandEvent {
    Started {
        pid: u32,
        /// The directory it really runs in, through links.
        cwd: PathBuf,
    },
    Output {
        stream: OutputStream,
        bytes: Vec<u8>,
    },
    Ended(Box<CommandEnd>),
}

/// How a command ended.
#[derive(Clone, Debug)]
pub struct CommandEnd {
    /// Always terminal.
    pub state: CommandState,
    /// The shell's own status, unchanged. `None` when a signal ended it.
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub duration: Duration,
    pub cwd: PathBuf,
    /// The status of each stage of the last pipeline, left to right; `None` where it is not known.
    pub stages: Option<Vec<i32>>,
    /// Earlier pipelines of the same command in which something did not end with 0.
    pub failed_before: Vec<EndedPart>,
    /// Whether "passed" may be said of it.
    pub outcome: Outcome,
    pub output: OutputSummary,
    /// What was still running when the shell had ended. `notes` says whether it was stopped.
    pub still_running: Vec<Process>,
    /// Why its view could not be entered, so that nothing of it ran.
    pub not_entered: Option<String>,
    /// What else the reader must know, in whole sentences.
    pub notes: Vec<String>,
}

/// Whether the work that a command stands for succeeded, which its exit code alone does not tell (C06).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Exit code 0, and no part is known to have failed.
    Passed,
    /// Exit code 0, but an earlier part or stage failed.
    PartFailed,
    /// Exit code 0, and how its parts ended is not known.
    Unknown,
    /// It failed, or was ended from outside.
    Failed,
}

#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("neither {cwd} nor {root} can be entered")]
    Directory { cwd: String, root: String },
    #[error("the command contains a NUL character")]
    NulCharacter,
    #[error("no tokio runtime is running")]
    NoRuntime,
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl From<SpawnError> for RuntimeError {
    fn from(error: SpawnError) -> Self {
        match &error {
            SpawnError::Directory { .. } => RuntimeError::new(
                ErrorCode::CommandSpawn,
                "The folder to run the command in is gone.",
            )
            .because(error)
            .action("Open the workspace again from a folder that exists."),
            SpawnError::NulCharacter => {
                RuntimeError::new(ErrorCode::CommandSpawn, "The command cannot be run.").because(error)
            }
            SpawnError::NoRuntime => RuntimeError::internal(error),
            SpawnError::Io(_) => RuntimeError::new(
                ErrorCode::CommandSpawn,
                "The command could not be started.",
            )
            .because(error)
            .action("Close some programs if the machine is short of memory or processes, then run it again.")
            .retryable(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndRequest {
    Stop,
    Cancel,
}

/// Ends a command from anywhere. Ending one that has ended does nothing.
#[derive(Clone, Debug)]
pub struct StopHandle {
    request: watch::Sender<Option<EndRequest>>,
}

impl StopHandle {
    /// A person's Stop: the whole tree is ended, and the command is `stopped`.
    pub fn stop(&self) {
        self.ask(EndRequest::Stop);
    }

    /// The turn was cancelled: the whole tree is ended, and the command is `cancelled`.
    pub fn cancel(&self) {
        self.ask(EndRequest::Cancel);
    }

    fn ask(&self, request: EndRequest) {
        self.request
            .send_if_modified(|current| current.replace(request).is_none());
    }
}

/// A command that has started. Dropping it cancels the command.
pub struct RunningCommand {
    pid: u32,
    cwd: PathBuf,
    started: Instant,
    events: mpsc::Receiver<CommandEvent>,
    stop: StopHandle,
    typist: Option<Typist>,
    place: tree::Place,
}

impl RunningCommand {
    /// The shell's process id, which is also its session's and its group's.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Processor time of all its processes so far, in the kernel's ticks: the same twice means that it did nothing.
    pub fn work_done(&self) -> u64 {
        tree::work_of(self.pid, self.place)
    }

    /// Absent for a command without a terminal.
    pub fn typist(&self) -> Option<Typist> {
        self.typist.clone()
    }

    /// The next event; `None` after the end. Safe to drop and call again, as in `select!`. The command waits
    /// while events are not taken.
    pub async fn next(&mut self) -> Option<CommandEvent> {
        self.events.recv().await
    }

    /// Takes all remaining events and returns the end.
    pub async fn ended(mut self) -> Option<CommandEnd> {
        while let Some(event) = self.next().await {
            if let CommandEvent::Ended(end) = event {
                return Some(*end);
            }
        }
        None
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Starts a command and watches over it until its end. Must be called within a tokio runtime.
///
/// The command gets its own session (no terminal to ask on), an empty standard input, the given environment with
/// pagers, editors and prompts switched off, and a mark by which all its processes are found again. When this
/// program dies, its commands die too.
pub fn start(command: ApprovedCommand, options: RunOptions) -> Result<RunningCommand, SpawnError> {
    supervise::start(command, options)
}
