//! A small process that outlives us by a moment: when this program dies, by whatever cause, its commands die too.
//!
//! One `sh` per program, started with the first command, reads from a pipe whose other end only we hold. End of
//! file means we are gone. It then kills the groups we had told it of, those that end by themselves only after a
//! second's patience, and everything whose environment carries our mark, until a look through `/proc` finds nothing
//! more. Not covered: a child that left its group, cleared its environment and lost its parent; and a guard that was
//! itself killed.

use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::session::own_session;

/// The variable that marks every process of a command. Its value is `<program mark>-<command mark>`.
pub(crate) const MARK_VARIABLE: &str = "VIBE_COMMAND_ID";

/// Unique to this run of the program.
pub(crate) fn program_mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| uuid::Uuid::now_v7().simple().to_string())
}

const SCRIPT: &str = r#"
trap '' HUP INT TERM QUIT
groups=' '
patient=' '
while read -r line; do
  group=${line#?}
  case $line in
    +*) groups="$groups$group " ;;
    =*) patient="$patient$group " ;;
    -*)
      case $groups in *" $group "*) groups="${groups%% "$group" *} ${groups#* "$group" }" ;; esac
      case $patient in *" $group "*) patient="${patient%% "$group" *} ${patient#* "$group" }" ;; esac ;;
  esac
done
for group in $groups; do kill -KILL "-$group"; done
round=0
while [ "$patient" != ' ' ] && [ $round -lt 10 ]; do
  round=$((round + 1))
  left=' '
  for group in $patient; do kill -0 "-$group" && left="$left$group "; done
  patient=$left
  [ "$patient" = ' ' ] || sleep 0.1
done
for group in $patient; do kill -KILL "-$group"; done
round=0
while [ $round -lt 50 ]; do
  round=$((round + 1))
  found=
  for file in /proc/[0-9]*/environ; do
    if grep -qzF "VIBE_COMMAND_ID=$1" "$file"; then
      process=${file#/proc/}
      kill -KILL "${process%/environ}" && found=1
    fi
  done
  [ -n "$found" ] || exit 0
done
"#;

/// Tells the guard of a running command for as long as the value lives.
pub(crate) struct Watched {
    group: u32,
}

impl Watched {
    /// Killed at once when this program dies.
    pub(crate) fn group(group: u32) -> Self {
        tell(format_args!("+{group}\n"));
        Self { group }
    }

    /// Ends by itself when this program dies, and is killed if it has not within a second.
    pub(crate) fn patiently(group: u32) -> Self {
        tell(format_args!("={group}\n"));
        Self { group }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        tell(format_args!("-{}\n", self.group));
    }
}

fn tell(line: std::fmt::Arguments<'_>) {
    static GUARD: OnceLock<Mutex<Option<ChildStdin>>> = OnceLock::new();
    let guard = GUARD.get_or_init(|| Mutex::new(start()));
    let mut pipe = guard.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(stdin) = pipe.as_mut()
        && stdin.write_all(line.to_string().as_bytes()).is_err()
    {
        // The guard was killed. Commands still end with their own limits and with Stop.
        *pipe = None;
    }
}

#[expect(clippy::disallowed_methods, reason = "the runner is the only spawner")]
fn start() -> Option<ChildStdin> {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", SCRIPT, "vibe-coder-guard", program_mark()])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    own_session(&mut command, None);
    command.spawn().ok()?.stdin.take()
}
