//! Our own fixed programs, run to their end: captured, bounded in time and memory, in a neutral environment.
//!
//! No shell and no policy are involved, since the program is one of a closed list and the arguments come from our
//! own code. What a user or a model wants to run goes through `policy` and `runner` instead.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use protocol::{ErrorCode, RuntimeError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// The programs the product itself calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Git,
}

impl Tool {
    pub fn program(self) -> &'static str {
        match self {
            Tool::Git => "git",
        }
    }
}

/// Bounds of one run.
#[derive(Clone, Copy, Debug)]
pub struct ToolLimits {
    /// After this the whole process group is killed and the run is an error.
    pub timeout: Duration,
    /// Bytes of standard output kept. The rest is read and dropped, so that the exit status stays the real one.
    pub max_stdout: usize,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            max_stdout: 16 * 1024 * 1024,
        }
    }
}

/// What a finished program left. A non-zero status is not an error here: callers know what theirs means.
#[derive(Debug)]
pub struct ToolOutput {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    /// At most the first 64 KiB.
    pub stderr: Vec<u8>,
    /// Whether standard output was longer than `max_stdout`.
    pub truncated: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum ToolRunError {
    #[error("{} is not installed or not on PATH", .0.program())]
    Missing(Tool),
    /// The directory to run in does not exist or is no directory. Told apart from a missing program, which the
    /// operating system reports in the same words.
    #[error("the folder {0} cannot be entered")]
    Directory(String),
    #[error("{} did not finish within {} s", .tool.program(), .after.as_secs_f32())]
    TimedOut { tool: Tool, after: Duration },
    #[error("{} could not be run: {source}", .tool.program())]
    Io { tool: Tool, source: io::Error },
}

impl From<ToolRunError> for RuntimeError {
    fn from(error: ToolRunError) -> Self {
        let text = error.to_string();
        match error {
            ToolRunError::Missing(Tool::Git) => {
                RuntimeError::new(ErrorCode::GitMissing, "Git is not installed or not on PATH.")
                    .action("Install git, or start Vibe Coder from a shell in which `git --version` works.")
            }
            ToolRunError::Directory(_) => {
                RuntimeError::new(ErrorCode::WorkspaceNotFound, "The folder to run git in is gone.")
                    .because(text)
            }
            ToolRunError::TimedOut { tool: Tool::Git, .. } => {
                RuntimeError::new(ErrorCode::GitFailed, "Git took too long and was stopped.")
                    .because(text)
                    .retryable()
            }
            ToolRunError::Io { tool: Tool::Git, .. } => {
                RuntimeError::new(ErrorCode::GitFailed, "Git could not be run.").because(text)
            }
        }
    }
}

const MAX_STDERR: usize = 64 * 1024;

/// Runs one of our programs in `cwd` and waits for it; blocks the calling thread for at most `limits.timeout`.
///
/// Standard input is empty. Inherited variables that would point git at another repository are dropped, prompts
/// and pagers are off, and hooks and file monitors that a repository's configuration names do not run. The
/// program gets its own process group, which is killed whole at the timeout.
pub fn run_tool(
    tool: Tool,
    args: &[OsString],
    cwd: &Path,
    limits: ToolLimits,
) -> Result<ToolOutput, ToolRunError> {
    let failed = |source| ToolRunError::Io { tool, source };
    let deadline = Instant::now() + limits.timeout;
    let mut child = match command(tool, args, cwd).spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound && cwd.is_dir() => {
            return Err(ToolRunError::Missing(tool));
        }
        Err(_) if !cwd.is_dir() => return Err(ToolRunError::Directory(cwd.display().to_string())),
        Err(source) => return Err(failed(source)),
    };
    match capture(&mut child, limits.max_stdout, deadline) {
        Ok(Captured::Ended {
            stdout,
            stderr,
            truncated,
        }) => {
            let status = child.wait().map_err(failed)?;
            Ok(ToolOutput {
                status,
                stdout,
                stderr,
                truncated,
            })
        }
        Ok(Captured::DeadlinePassed) => {
            kill_group(&mut child);
            Err(ToolRunError::TimedOut {
                tool,
                after: limits.timeout,
            })
        }
        Err(source) => {
            kill_group(&mut child);
            Err(failed(source))
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this crate is the only spawner")]
fn command(tool: Tool, args: &[OsString], cwd: &Path) -> Command {
    let mut command = Command::new(tool.program());
    command
        .args(args)
        .current_dir(cwd)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    match tool {
        Tool::Git => neutral_git_environment(&mut command),
    }
    command
}

/// Settings that win over every configuration file: a repository must not be able to make a mere reading of it run
/// programs. An external diff cannot be switched off here; callers say `--no-ext-diff --no-textconv`.
const GIT_CONFIG: [(&str, &str); 5] = [
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("log.showSignature", "false"),
    ("gc.auto", "0"),
    // A diff would refresh the index, whose lock the user's own commit needs; no option against locks stops it.
    ("diff.autoRefreshIndex", "false"),
];

fn neutral_git_environment(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if redirects_git(&name) {
            command.env_remove(name);
        }
    }
    command
        .envs(git_overrides())
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_PAGER", "cat")
        .env("GIT_EDITOR", "false")
        .env("GIT_ASKPASS", "false")
        .env("SSH_ASKPASS", "false")
        .env("LC_ALL", "C");
}

/// Variables that give git the settings of `GIT_CONFIG`.
pub(crate) fn git_overrides() -> Vec<(String, String)> {
    let mut variables = vec![("GIT_CONFIG_COUNT".to_owned(), GIT_CONFIG.len().to_string())];
    for (index, (key, value)) in GIT_CONFIG.iter().enumerate() {
        variables.push((format!("GIT_CONFIG_KEY_{index}"), (*key).to_owned()));
        variables.push((format!("GIT_CONFIG_VALUE_{index}"), (*value).to_owned()));
    }
    variables
}

/// Every `GIT_*` variable but those that say which configuration files to read and where to look for git itself.
/// `GIT_DIR`, `GIT_WORK_TREE`, `GIT_INDEX_FILE` and their like are set in hooks and would answer for the wrong
/// repository.
fn redirects_git(name: &OsStr) -> bool {
    const KEPT: [&str; 5] = [
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CEILING_DIRECTORIES",
        "GIT_EXEC_PATH",
    ];
    name.as_encoded_bytes().starts_with(b"GIT_") && !KEPT.iter().any(|kept| name == *kept)
}

pub(crate) enum Captured {
    Ended {
        stdout: Vec<u8>,
        stderr: Vec<u8>,
        truncated: bool,
    },
    DeadlinePassed,
}

/// Reads both pipes until the program has ended. A child it left behind may hold the pipes open longer; that is
/// not waited for.
pub(crate) fn capture(child: &mut Child, max_stdout: usize, deadline: Instant) -> io::Result<Captured> {
    let pid = Pid::from_child(child);
    let exit = pidfd_open(pid, PidfdFlags::empty())?;
    let mut stdout = Stream::new(child.stdout.take(), max_stdout)?;
    let mut stderr = Stream::new(child.stderr.take(), MAX_STDERR)?;
    loop {
        let Some(left) = deadline.checked_duration_since(Instant::now()) else {
            return Ok(Captured::DeadlinePassed);
        };
        let ended = {
            let mut waiting = vec![PollFd::new(&exit, PollFlags::IN)];
            waiting.extend(
                stdout
                    .pipe
                    .as_ref()
                    .map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)),
            );
            waiting.extend(
                stderr
                    .pipe
                    .as_ref()
                    .map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)),
            );
            let timeout = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            };
            match poll(&mut waiting, Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            waiting.first().is_some_and(|fd| !fd.revents().is_empty())
        };
        stdout.read_available()?;
        stderr.read_available()?;
        if ended {
            return Ok(Captured::Ended {
                truncated: stdout.dropped,
                stdout: stdout.kept,
                stderr: stderr.kept,
            });
        }
    }
}

/// One output pipe, read without blocking into a bounded buffer.
struct Stream<P> {
    pipe: Option<P>,
    kept: Vec<u8>,
    limit: usize,
    dropped: bool,
}

impl<P: Read + AsFd> Stream<P> {
    fn new(pipe: Option<P>, limit: usize) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(Self {
            pipe,
            kept: Vec::new(),
            limit,
            dropped: false,
        })
    }

    /// Reads at most 4 MiB before it gives the deadline another look: a program that writes without end must not
    /// outrun its timeout.
    fn read_available(&mut self) -> io::Result<()> {
        let mut chunk = [0; 64 * 1024];
        for _ in 0..64 {
            let Some(pipe) = &mut self.pipe else { return Ok(()) };
            match pipe.read(&mut chunk) {
                Ok(0) => self.pipe = None,
                Ok(read) => {
                    let room = self.limit.saturating_sub(self.kept.len()).min(read);
                    self.kept.extend(chunk.iter().take(room));
                    self.dropped |= room < read;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

pub(crate) fn kill_group(child: &mut Child) {
    // Both only fail when there is nothing left to kill, which is the aim.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(args: &[&str], cwd: &Path, limits: ToolLimits) -> Result<ToolOutput, ToolRunError> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        run_tool(Tool::Git, &args, cwd, limits)
    }

    #[test]
    fn output_status_and_truncation_are_exact() {
        let folder = tempfile::tempdir().unwrap();
        let version = git(&["--version"], folder.path(), ToolLimits::default()).unwrap();
        assert!(version.status.success() && version.stdout.starts_with(b"git version"));
        assert!(!version.truncated);

        let failed = git(&["status"], folder.path(), ToolLimits::default()).unwrap();
        assert_eq!(failed.status.code(), Some(128));
        assert!(String::from_utf8_lossy(&failed.stderr).contains("not a git repository"));

        let limits = ToolLimits {
            max_stdout: 10,
            ..ToolLimits::default()
        };
        let cut = git(&["help", "-a"], folder.path(), limits).unwrap();
        assert!(cut.status.success() && cut.truncated);
        assert_eq!(cut.stdout.len(), 10);
    }

    #[test]
    fn a_hanging_program_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let limits = ToolLimits {
            timeout: Duration::from_millis(500),
            ..ToolLimits::default()
        };
        let started = Instant::now();
        let alias = format!("alias.hang=!sleep 61.{} & sleep 600", std::process::id());
        let error = git(&["-c", &alias, "hang"], folder.path(), limits).unwrap_err();
        assert!(matches!(error, ToolRunError::TimedOut { .. }), "{error}");
        assert!(started.elapsed() < Duration::from_secs(5));
        // A killed process may be seen for a moment longer.
        let survives = || {
            std::fs::read_dir("/proc")
                .unwrap()
                .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
                .any(|line| {
                    String::from_utf8_lossy(&line).starts_with(&format!("sleep\061.{}", std::process::id()))
                })
        };
        while survives() {
            assert!(started.elapsed() < Duration::from_secs(8), "a child survived");
            std::thread::yield_now();
        }
    }

    /// A background child that inherited the pipe does not keep us waiting.
    #[test]
    fn an_inherited_pipe_does_not_hold_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let started = Instant::now();
        let output = git(
            &["-c", "alias.bg=!sleep 5 & echo done", "bg"],
            folder.path(),
            ToolLimits::default(),
        )
        .unwrap();
        assert_eq!(output.stdout, b"done\n");
        assert!(started.elapsed() < Duration::from_secs(4));
    }

    #[test]
    fn repository_configuration_does_not_run_programs() {
        let folder = tempfile::tempdir().unwrap();
        for args in [
            &["init", "-q"][..],
            &["config", "core.fsmonitor", "touch MARK; false"],
            &["config", "core.pager", "touch MARK"],
            &["config", "core.hooksPath", "hooks"],
            &["status", "--short"],
        ] {
            assert!(
                git(args, folder.path(), ToolLimits::default())
                    .unwrap()
                    .status
                    .success(),
                "{args:?}"
            );
        }
        assert!(!folder.path().join("MARK").exists());
    }

    #[test]
    fn a_missing_folder_is_not_a_missing_program() {
        let error = git(
            &["--version"],
            Path::new("/no/such/folder"),
            ToolLimits::default(),
        )
        .unwrap_err();
        assert!(matches!(error, ToolRunError::Directory(_)), "{error}");
    }

    #[test]
    fn variables_that_redirect_git_are_dropped() {
        for (name, dropped) in [
            ("GIT_DIR", true),
            ("GIT_INDEX_FILE", true),
            ("GIT_CONFIG_PARAMETERS", true),
            ("GIT_EXTERNAL_DIFF", true),
            ("GIT_CONFIG_NOSYSTEM", false),
            ("GIT_CONFIG_GLOBAL", false),
            ("HOME", false),
        ] {
            assert_eq!(redirects_git(OsStr::new(name)), dropped, "{name}");
        }
    }
}
