//! The environment that the user's own terminal would have (C08). Started from a desktop icon, this program has a bare
//! one: the `PATH` that tools need is set by the shell's start-up files.
//!
//! Those files may print, wait or ask. So they run once, without a terminal, with a time limit, and what they print is
//! told from the answer by a mark.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::CommandEnvironment;
use crate::runner::session::own_session;
use crate::tool::{Captured, capture, kill_group};

#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    #[error("the shell's start-up files took longer than {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    #[error("the shell {0} did not say which environment it has")]
    NoAnswer(String),
    #[error("the shell {shell} could not be run: {source}")]
    Io { shell: String, source: io::Error },
}

/// Most bytes taken from the shell, start-up messages and all.
const MAX_OUTPUT: usize = 4 * 1024 * 1024;

/// Asks the user's login shell for its environment, filtered like any other. Blocks for at most `limit`; call it once, off
/// the critical path. On an error, [`CommandEnvironment::inherited`] is what there is, and the card should say so.
///
/// `shell` is the value of `SHELL`; without one, or with one of a kind that is not known, `/bin/sh` is asked.
pub fn login_environment(shell: Option<&OsStr>, limit: Duration) -> Result<CommandEnvironment, LoginError> {
    let shell = known_shell(shell);
    let name = shell.display().to_string();
    let failed = |source| LoginError::Io {
        shell: name.clone(),
        source,
    };
    let mark = format!("vibe-coder-{}", uuid::Uuid::now_v7().simple());
    let deadline = Instant::now() + limit;
    let mut child = command(&shell, &mark).spawn().map_err(failed)?;
    let output = match capture(&mut child, MAX_OUTPUT, deadline) {
        Ok(Captured::Ended { stdout, .. }) => {
            // Whatever a start-up file left running in the group has no reason to stay.
            kill_group(&mut child);
            stdout
        }
        Ok(Captured::DeadlinePassed) => {
            kill_group(&mut child);
            return Err(LoginError::TimedOut(limit));
        }
        Err(source) => {
            kill_group(&mut child);
            return Err(failed(source));
        }
    };
    let variables = between_marks(&output, mark.as_bytes())
        .map(parse)
        .unwrap_or_default();
    if variables.is_empty() {
        return Err(LoginError::NoAnswer(name));
    }
    Ok(CommandEnvironment::filtered(variables))
}

/// Shells whose `-i -l -c` means the same.
fn known_shell(shell: Option<&OsStr>) -> PathBuf {
    let known = ["bash", "zsh", "fish", "ksh", "dash", "sh"];
    shell
        .map(Path::new)
        .filter(|path| {
            path.is_absolute()
                && path
                    .file_name()
                    .is_some_and(|name| known.iter().any(|known| name == *known))
        })
        .map_or_else(|| PathBuf::from("/bin/sh"), Path::to_path_buf)
}

#[expect(clippy::disallowed_methods, reason = "this crate is the only spawner")]
fn command(shell: &Path, mark: &str) -> Command {
    // Interactive, since many set `PATH` in the file that only interactive shells read. The environment program is
    // named by its path: the start-up files may have put another one in front.
    let script = format!("printf '%s' '{mark}'; /usr/bin/env -0; printf '%s' '{mark}'; exit 0");
    let mut command = Command::new(shell);
    command
        .args(["-i", "-l", "-c", &script])
        .current_dir("/")
        .env("TERM", "dumb")
        .env("PAGER", "cat")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    own_session(&mut command, None);
    command
}

/// What stands between the first and the last mark. One more is within it: the shell keeps the last argument in `_`.
fn between_marks<'a>(output: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let first = output.windows(mark.len()).position(|window| window == mark)?;
    let last = output.windows(mark.len()).rposition(|window| window == mark)?;
    output.get(first + mark.len()..last)
}

fn parse(bytes: &[u8]) -> Vec<(OsString, OsString)> {
    bytes
        .split(|byte| *byte == 0)
        .filter_map(|entry| {
            let equals = entry.iter().position(|byte| *byte == b'=')?;
            let (name, value) = entry.split_at(equals);
            Some((
                OsString::from_vec(name.to_vec()),
                OsString::from_vec(value.get(1..)?.to_vec()),
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell script stands for a login shell with start-up files: it runs them, then what it is asked.
    #[expect(clippy::disallowed_methods, reason = "a test makes its shell")]
    fn shell(folder: &Path, startup: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.join("sh");
        std::fs::write(&path, format!("#!/bin/bash\n{startup}\neval \"${{@: -1}}\"\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn start_up_files_may_print_ask_and_set() {
        let folder = tempfile::tempdir().unwrap();
        let startup =
            "echo welcome back\nread -r answer\nexport PATH=/tools-from-rc:$PATH MY_API_KEY=x\nsleep 60 &";
        let path = shell(folder.path(), startup);
        let environment = login_environment(Some(path.as_os_str()), Duration::from_secs(10)).unwrap();
        let found = environment.get("PATH").unwrap().to_string_lossy().into_owned();
        assert!(found.starts_with("/tools-from-rc:"), "{found}");
        assert_eq!(environment.get("MY_API_KEY"), None);
    }

    #[test]
    fn slow_or_broken_start_up_files_are_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = shell(folder.path(), "sleep 60");
        let started = Instant::now();
        let error = login_environment(Some(path.as_os_str()), Duration::from_millis(500)).unwrap_err();
        assert!(matches!(error, LoginError::TimedOut(_)), "{error}");
        assert!(started.elapsed() < Duration::from_secs(5));

        let path = shell(folder.path(), "exit 1");
        let error = login_environment(Some(path.as_os_str()), Duration::from_secs(10)).unwrap_err();
        assert!(matches!(error, LoginError::NoAnswer(_)), "{error}");
    }

    #[test]
    fn the_real_shell_answers() {
        for shell in [
            None,
            Some(OsStr::new("/bin/bash")),
            Some(OsStr::new("/usr/bin/python3")),
        ] {
            let environment = login_environment(shell, Duration::from_secs(20)).unwrap();
            assert!(environment.get("PATH").is_some(), "{shell:?}");
        }
    }
}
