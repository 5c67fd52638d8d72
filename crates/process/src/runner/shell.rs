//! Which shell runs commands, and the process that it becomes.

use std::ffi::OsStr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::{fs, io};

use super::guard::MARK_VARIABLE;
use super::report::prelude;
use super::session::own_session;
use crate::environment::{CommandEnvironment, QUIET};
use crate::tool::git_overrides;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shell {
    /// Tells how each part of a command ended.
    Bash(PathBuf),
    /// Always there, and tells only the last status.
    Posix,
}

impl Shell {
    pub(super) fn find() -> &'static Shell {
        static SHELL: OnceLock<Shell> = OnceLock::new();
        SHELL.get_or_init(|| {
            [
                "/bin/bash",
                "/usr/bin/bash",
                "/usr/local/bin/bash",
                "/run/current-system/sw/bin/bash",
            ]
            .iter()
            .map(PathBuf::from)
            .find(|path| path.is_file())
            .map_or(Shell::Posix, Shell::Bash)
        })
    }

    fn program(&self) -> &OsStr {
        match self {
            Shell::Bash(path) => path.as_os_str(),
            Shell::Posix => OsStr::new("/bin/sh"),
        }
    }
}

/// A pipe for the statuses of a command's parts; the writing end goes to the shell.
pub(super) struct ReportPipe {
    pub(super) read: io::PipeReader,
    write: OwnedFd,
}

impl ReportPipe {
    /// The writing end gets a high number: scripts use the low ones for themselves.
    pub(super) fn new() -> io::Result<Self> {
        let (read, write) = io::pipe()?;
        let write = rustix::io::fcntl_dupfd_cloexec(&write, 63)?;
        Ok(Self { read, write })
    }

    /// The command line with the reporting in front, where the shell and the command allow it.
    pub(super) fn script(&self, shell: &Shell, command: &str) -> Option<String> {
        match shell {
            Shell::Bash(_) => Some(prelude(command, self.write.as_raw_fd())? + command),
            Shell::Posix => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RepositoryCode {
    MayRun,
    Off,
}

pub(super) struct Invocation<'a> {
    pub(super) shell: &'a Shell,
    pub(super) script: &'a str,
    pub(super) report: Option<&'a ReportPipe>,
    pub(super) cwd: &'a Path,
    pub(super) environment: &'a CommandEnvironment,
    /// Whether a repository's monitor and hooks are kept from running, as for a command that nobody was asked about.
    pub(super) repository_code: RepositoryCode,
    pub(super) mark: &'a str,
    pub(super) stdout: io::PipeWriter,
    pub(super) stderr: io::PipeWriter,
}

#[expect(clippy::disallowed_methods, reason = "the runner is the only spawner")]
pub(super) fn spawn(invocation: Invocation<'_>) -> io::Result<tokio::process::Child> {
    let mut command = Command::new(invocation.shell.program());
    command
        .arg("-c")
        .arg(invocation.script)
        .current_dir(invocation.cwd)
        .env_clear()
        .envs(invocation.environment.iter())
        .envs(QUIET)
        .env(MARK_VARIABLE, invocation.mark)
        .stdin(Stdio::null())
        .stdout(invocation.stdout)
        .stderr(invocation.stderr);
    if invocation.repository_code == RepositoryCode::Off {
        command.envs(git_overrides()).env("GIT_OPTIONAL_LOCKS", "0");
    }
    own_session(&mut command, invocation.report.map(|pipe| pipe.write.as_raw_fd()));
    tokio::process::Command::from(command).spawn()
}

/// Where a command really runs.
pub(super) struct Directory {
    pub(super) path: PathBuf,
    pub(super) note: Option<String>,
}

/// `cwd` through its links, or `root` when `cwd` is gone.
pub(super) fn directory(cwd: &Path, root: &Path) -> Option<Directory> {
    let enter = |path: &Path| fs::canonicalize(path).ok().filter(|real| real.is_dir());
    if let Some(path) = enter(cwd) {
        return Some(Directory { path, note: None });
    }
    let note = format!(
        "The folder {} is gone; the command ran in {} instead.",
        cwd.display(),
        root.display()
    );
    Some(Directory {
        path: enter(root)?,
        note: Some(note),
    })
}
