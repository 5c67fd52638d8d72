//! Long-lived children of the product: an engine of a workspace, a sidecar of a context.
//!
//! Owns their life: own session, standard input as a lifeline, both outputs always drained, and an end that leaves
//! nothing of the tree. It does not know what they serve or what their lines mean.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use protocol::{ErrorCode, RuntimeError};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::CommandEnvironment;
use crate::runner::Process;
use crate::runner::guard::{MARK_VARIABLE, Watched, program_mark};
use crate::runner::session::own_session;
use crate::runner::supervise::Unfinished;
use crate::runner::tree::{DEFAULT_GRACE, Tree};

/// What to start.
#[derive(Clone, Debug)]
pub struct ServiceSpec {
    /// A path, or a name that is looked up on `PATH`.
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// The directory it runs in.
    pub directory: PathBuf,
    pub environment: ServiceEnvironment,
    pub orphaned: Orphaned,
}

#[derive(Clone, Debug)]
pub enum ServiceEnvironment {
    /// All that this program has and these on top: for the product's own programs, which need the user's keys.
    Inherited(Vec<(OsString, OsString)>),
    /// These and nothing else: for programs of others.
    Only(CommandEnvironment),
}

/// What becomes of the child when this program is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orphaned {
    /// It sees the end of its standard input and ends by itself; it is killed if it has not within a second.
    EndsItself,
    /// It is killed at once, with everything it started.
    IsKilled,
}

/// How a child ended.
#[derive(Clone, Debug)]
pub struct ServiceEnd {
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    /// What of its tree could not be killed.
    pub survivors: Vec<Process>,
}

impl std::fmt::Display for ServiceEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.exit_code, self.signal) {
            (Some(code), _) => write!(f, "exit code {code}"),
            (None, Some(signal)) => write!(f, "signal {signal}"),
            (None, None) => f.write_str("an unknown status"),
        }
    }
}

/// Bytes kept of the end of standard error.
const STDERR_TAIL: usize = 16 * 1024;
/// A longer line of standard output is cut there.
const LONGEST_LINE: usize = 64 * 1024;
/// Lines that wait to be read. What comes while that many wait is read and dropped: a flood costs no memory and does
/// not stop the child.
const WAITING_LINES: usize = 256;

/// A child that was started. Dropping it kills its tree.
#[derive(Debug)]
pub struct Service {
    pid: u32,
    lines: tokio::sync::Mutex<mpsc::Receiver<String>>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
    stop: watch::Sender<Option<Duration>>,
    ended: watch::Receiver<Option<ServiceEnd>>,
}

impl Service {
    /// The child's process id, which is also its session's and its group's.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The next line of standard output without its ending; `None` when there will be no more.
    pub async fn next_line(&self) -> Option<String> {
        self.lines.lock().await.recv().await
    }

    /// The end of what it wrote to standard error so far, decoded for display; at most 16 KiB.
    pub fn stderr_tail(&self) -> String {
        let tail = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = tail.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits for the child's end, whatever its cause; nothing of its tree is left then, but what the end names.
    pub async fn ended(&self) -> ServiceEnd {
        let mut ended = self.ended.clone();
        let end = ended
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|end| end.clone());
        // The supervisor only goes without a word when the runtime is shut down, and kills the tree then.
        end.unwrap_or(ServiceEnd {
            exit_code: None,
            signal: None,
            survivors: Vec::new(),
        })
    }

    /// Closes the child's standard input, gives it `patience` to end by itself, then ends its tree. Returns when
    /// that is done: at most two seconds after `patience`.
    pub async fn stop(&self, patience: Duration) -> ServiceEnd {
        self.stop
            .send_if_modified(|asked| asked.replace(patience).is_none());
        self.ended().await
    }
}

/// A child that could not be started.
#[derive(Debug, thiserror::Error)]
#[error("{} could not be started: {source}", program.display())]
pub struct ServiceError {
    program: PathBuf,
    source: io::Error,
}

impl From<ServiceError> for RuntimeError {
    fn from(error: ServiceError) -> Self {
        let name = error.program.display();
        let message = format!("The program {name} could not be started.");
        let failure = RuntimeError::new(ErrorCode::CommandSpawn, message);
        match error.source.kind() {
            io::ErrorKind::NotFound => failure
                .because(&error.source)
                .action(format!("Install {name}, or correct its path.")),
            _ => failure
                .because(&error.source)
                .action("Close some programs if the machine is short of memory or processes, then try again.")
                .retryable(),
        }
    }
}

/// Starts a child and watches over it until its end. Must be called within a tokio runtime.
pub fn start_service(spec: ServiceSpec) -> Result<Service, ServiceError> {
    let failed = |source| ServiceError {
        program: spec.program.clone(),
        source,
    };
    let mark = format!("{}-{}", program_mark(), uuid::Uuid::now_v7().simple());
    let mut child = spawn(&spec, &mark).map_err(failed)?;
    let pid = child
        .id()
        .ok_or_else(|| failed(io::Error::other("it ended before it could be seen")))?;
    let watched = match spec.orphaned {
        Orphaned::EndsItself => Watched::patiently(pid),
        Orphaned::IsKilled => Watched::group(pid),
    };
    let tree = Tree { leader: pid, mark };
    // From here on the tree dies with this value.
    let unfinished = Unfinished::new(tree.clone(), watched);

    let (send_line, lines) = mpsc::channel(WAITING_LINES);
    let stderr = Arc::new(Mutex::new(VecDeque::new()));
    let readers = [
        child
            .stdout
            .take()
            .map(|stdout| tokio::spawn(read_lines(stdout, send_line))),
        child
            .stderr
            .take()
            .map(|pipe| tokio::spawn(keep_tail(pipe, stderr.clone()))),
    ];
    let (stop, asked) = watch::channel(None);
    let (send_end, ended) = watch::channel(None);
    let supervisor = Supervisor {
        lifeline: child.stdin.take(),
        child,
        tree,
        unfinished,
        readers: readers.into_iter().flatten().collect(),
        asked,
        ended: send_end,
    };
    tokio::spawn(supervisor.run());
    Ok(Service {
        pid,
        lines: tokio::sync::Mutex::new(lines),
        stderr,
        stop,
        ended,
    })
}

#[expect(clippy::disallowed_methods, reason = "this crate is the only spawner")]
fn spawn(spec: &ServiceSpec, mark: &str) -> io::Result<Child> {
    let mut command = Command::new(&spec.program);
    command
        .args(&spec.arguments)
        .current_dir(&spec.directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    match &spec.environment {
        ServiceEnvironment::Inherited(more) => {
            command.envs(more.iter().map(|(name, value)| (name, value)));
        }
        ServiceEnvironment::Only(environment) => {
            command.env_clear().envs(environment.iter());
        }
    }
    // The guard kills what carries the mark at once; a child that ends by itself is not to carry it.
    match spec.orphaned {
        Orphaned::EndsItself => command.env_remove(MARK_VARIABLE),
        Orphaned::IsKilled => command.env(MARK_VARIABLE, mark),
    };
    own_session(&mut command, None);
    tokio::process::Command::from(command).spawn()
}

struct Supervisor {
    child: Child,
    lifeline: Option<ChildStdin>,
    tree: Tree,
    unfinished: Unfinished,
    readers: Vec<JoinHandle<()>>,
    asked: watch::Receiver<Option<Duration>>,
    ended: watch::Sender<Option<ServiceEnd>>,
}

/// How long outputs are still read after the end: a grandchild that escaped may hold them open for ever.
const LAST_WORDS: Duration = Duration::from_millis(200);

impl Supervisor {
    async fn run(mut self) {
        let patience = tokio::select! {
            status = self.child.wait() => { drop(status); None }
            // Nobody holds the service any more: it ends at once.
            asked = self.asked.wait_for(Option::is_some) => {
                Some(asked.ok().and_then(|asked| *asked).unwrap_or_default())
            }
        };
        drop(self.lifeline.take());
        if let Some(patience) = patience {
            let _ = tokio::time::timeout(patience, self.child.wait()).await;
        }
        let survivors = self.tree.kill(DEFAULT_GRACE).await;
        let status = tokio::time::timeout(LAST_WORDS, self.child.wait()).await;
        let status: Option<ExitStatus> = status.ok().and_then(Result::ok);
        for mut reader in self.readers {
            if tokio::time::timeout(LAST_WORDS, &mut reader).await.is_err() {
                reader.abort();
            }
        }
        self.unfinished.finished();
        self.ended.send_replace(Some(ServiceEnd {
            exit_code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
            survivors,
        }));
    }
}

async fn read_lines(mut pipe: impl AsyncRead + Unpin, lines: mpsc::Sender<String>) {
    let mut chunk = vec![0; 16 * 1024];
    let mut line = Vec::new();
    while let Ok(read) = pipe.read(&mut chunk).await {
        if read == 0 {
            break;
        }
        for byte in chunk.iter().take(read) {
            match byte {
                b'\n' => send_line(&mut line, &lines),
                _ if line.len() < LONGEST_LINE => line.push(*byte),
                _ => {}
            }
        }
    }
    if !line.is_empty() {
        send_line(&mut line, &lines);
    }
}

fn send_line(line: &mut Vec<u8>, lines: &mpsc::Sender<String>) {
    let text = String::from_utf8_lossy(line);
    // Full or closed: nobody waits for this line.
    let _ = lines.try_send(text.trim_end_matches('\r').to_owned());
    line.clear();
}

async fn keep_tail(mut pipe: impl AsyncRead + Unpin, tail: Arc<Mutex<VecDeque<u8>>>) {
    let mut chunk = vec![0; 4 * 1024];
    while let Ok(read) = pipe.read(&mut chunk).await {
        if read == 0 {
            break;
        }
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(chunk.iter().take(read));
        let over = tail.len().saturating_sub(STDERR_TAIL);
        tail.drain(..over);
    }
}
