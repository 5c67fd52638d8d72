//! Which shell runs commands, and the process that it becomes.

use std::ffi::OsStr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::{fs, io};

use super::guard::MARK_VARIABLE;
use super::report::prelude;
use super::session::{OwnTerminal, own_session_keeping};
use crate::environment::{CommandEnvironment, QUIET};
use crate::staged::{Launch, Launched, Network, Staged, THIS_PROGRAM, proxy_variables};
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
    /// The view it runs in; without one it runs on the machine as it is.
    pub(super) staged: Option<&'a Staged>,
    pub(super) environment: &'a CommandEnvironment,
    /// Whether a repository's monitor and hooks are kept from running, as for a command that nobody was asked about.
    pub(super) repository_code: RepositoryCode,
    pub(super) mark: &'a str,
    pub(super) ends: Ends,
}

/// The command's side of what its output is read from.
pub(super) enum Ends {
    Pipes(io::PipeWriter, io::PipeWriter),
    Terminal(OwnedFd),
}

/// The shell, or the helper that becomes it in a view.
pub(super) struct Spawned {
    pub(super) child: tokio::process::Child,
    pub(super) view: Option<Launched>,
}

#[expect(clippy::disallowed_methods, reason = "the runner is the only spawner")]
pub(super) fn spawn(invocation: Invocation<'_>) -> io::Result<Spawned> {
    let report = invocation.report.map(|pipe| pipe.write.as_raw_fd());
    let mut kept: Vec<RawFd> = report.into_iter().collect();
    let mut launch = None;
    let mut command = match invocation.staged {
        None => {
            let mut command = Command::new(invocation.shell.program());
            command
                .arg("-c")
                .arg(invocation.script)
                .current_dir(invocation.cwd);
            command
        }
        Some(staged) => {
            let shell = Path::new(invocation.shell.program());
            let new = launch.insert(Launch::shell(staged, shell, invocation.script, invocation.cwd)?);
            if let Some(report) = report {
                new.pass_on(report);
            }
            kept.extend(new.kept());
            let mut command = Command::new(THIS_PROGRAM);
            command.arg0("vibe-coder").args(new.arguments()).current_dir("/");
            command
        }
    };
    command
        .env_clear()
        .envs(invocation.environment.iter())
        .envs(QUIET)
        .env(MARK_VARIABLE, invocation.mark);
    let terminal = match invocation.ends {
        Ends::Pipes(stdout, stderr) => {
            command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
            OwnTerminal::No
        }
        Ends::Terminal(theirs) => {
            command.env("TERM", "xterm-256color");
            command
                .stdin(theirs.try_clone()?)
                .stdout(theirs.try_clone()?)
                .stderr(theirs);
            match &mut launch {
                // Only one session can have it, and the shell's own begins in the view.
                Some(launch) => {
                    launch.with_terminal();
                    OwnTerminal::No
                }
                None => OwnTerminal::Take,
            }
        }
    };
    if let Some(staged) = invocation.staged {
        if staged.sandbox.network == Network::Hosts {
            command.envs(proxy_variables());
        }
        // Temporary files have their place in the view.
        for name in ["TMPDIR", "TMP", "TEMP"] {
            command.env_remove(name);
        }
    }
    if invocation.repository_code == RepositoryCode::Off {
        command.envs(git_overrides()).env("GIT_OPTIONAL_LOCKS", "0");
    }
    own_session_keeping(&mut command, kept, terminal);
    let mut child = tokio::process::Command::from(command).spawn()?;
    let view = match launch.map(Launch::begin).transpose() {
        Ok(view) => view,
        Err(error) => {
            let _ = child.start_kill();
            return Err(error);
        }
    };
    Ok(Spawned { child, view })
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
