//! The helper outside the view: starts the view's first process, gives it its user ids, and ends it when the launcher
//! is gone.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getegid, geteuid, kill_process, pidfd_open, waitpid,
};

use super::spec::{Report, Spec};
use super::sys::{self, Forked};
use super::{Network, init};

/// The first argument of a program that is to be the helper.
pub(super) const HELPER_MODE: &str = "__stage";

/// Acts as the helper and returns its exit code if the program was started as one. Must be called first thing in
/// `main`, while the process has a single thread.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != OsStr::new(HELPER_MODE) {
        return None;
    }
    let mut descriptor = || {
        let number = arguments.next()?.to_str()?.parse().ok()?;
        sys::inherited(number).ok()
    };
    // By hand it has no pipes, and nothing to do.
    let (Some(spec), Some(status)) = (descriptor(), descriptor()) else {
        return Some(ExitCode::from(2));
    };
    Some(run(File::from(spec), File::from(status)))
}

fn run(mut launcher: File, mut status: File) -> ExitCode {
    let spec = match Spec::receive(&mut launcher) {
        Ok(spec) => spec,
        Err(error) => return failed(&mut status, "the helper was not told what to do", &error),
    };
    let (ids_known, tell_ids) = match io::pipe() {
        Ok(pipe) => pipe,
        Err(error) => return failed(&mut status, "a pipe", &error),
    };
    let mut namespaces = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    if spec.network != Network::On {
        namespaces |= libc::CLONE_NEWNET;
    }
    match sys::fork_into(namespaces) {
        Ok(Forked::Child) => {
            drop((launcher, tell_ids));
            init::run(spec, status, ids_known)
        }
        Ok(Forked::Parent(pid)) => {
            drop(spec.gate.map(sys::inherited));
            drop((spec, ids_known));
            watch_over(pid, launcher, status, tell_ids)
        }
        Err(error) => failed(&mut status, "new namespaces are refused", &error),
    }
}

fn failed(status: &mut File, what: &str, error: &io::Error) -> ExitCode {
    Report::Failed(format!("{what}: {error}")).send(status);
    ExitCode::FAILURE
}

fn watch_over(init: Pid, launcher: File, mut status: File, mut tell_ids: io::PipeWriter) -> ExitCode {
    let given = give_ids(init).and_then(|()| tell_ids.write_all(b"!"));
    if let Err(error) = given {
        // The child sees the pipe close and ends.
        drop(tell_ids);
        let code = failed(&mut status, "user ids for the view are refused", &error);
        let _ = waitpid(Some(init), WaitOptions::empty());
        return code;
    }
    drop((tell_ids, status));
    let _ = silence_output();
    let ended =
        pidfd_open(init, PidfdFlags::empty()).and_then(|process| wait_for_either(&process, &launcher));
    if !matches!(ended, Ok(FirstEnd::View)) {
        let _ = kill_process(init, Signal::KILL);
    }
    let _ = waitpid(Some(init), WaitOptions::empty());
    ExitCode::SUCCESS
}

enum FirstEnd {
    View,
    Launcher,
}

fn wait_for_either(view: &OwnedFd, launcher: &File) -> rustix::io::Result<FirstEnd> {
    loop {
        let mut waiting = [
            PollFd::new(view, PollFlags::IN),
            PollFd::new(launcher, PollFlags::IN),
        ];
        match poll(&mut waiting, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        let [view, launcher] = waiting.map(|one| !one.revents().is_empty());
        if view {
            return Ok(FirstEnd::View);
        }
        if launcher {
            return Ok(FirstEnd::Launcher);
        }
    }
}

/// Gives the output up, so that it closes when the last process of the command has ended.
pub(super) fn silence_output() -> io::Result<()> {
    let nowhere = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&nowhere)?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    rustix::stdio::dup2_stderr(&nowhere)?;
    Ok(())
}

/// Everybody keeps the ids they have. An ordinary user can only map themself; root maps every id it has, since a
/// workspace of root's often holds files of others.
fn give_ids(process: Pid) -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let folder = format!("/proc/{}", process.as_raw_nonzero());
    if user == 0 {
        let all = |kind: &str| -> io::Result<String> {
            let mut known = String::new();
            File::open(format!("/proc/self/{kind}"))?.read_to_string(&mut known)?;
            Ok(identity_map(&known))
        };
        let users = all("uid_map")?;
        let groups = all("gid_map")?;
        // Refused to a root without the right to set ids, as in some containers.
        if write(&format!("{folder}/uid_map"), &users).is_ok() {
            return write(&format!("{folder}/gid_map"), &groups);
        }
    }
    write(&format!("{folder}/setgroups"), "deny")?;
    write(&format!("{folder}/uid_map"), &format!("{user} {user} 1\n"))?;
    write(&format!("{folder}/gid_map"), &format!("{group} {group} 1\n"))
}

/// Each range of ids that is known here, as itself.
fn identity_map(known: &str) -> String {
    let mut map = String::new();
    for line in known.lines() {
        let mut numbers = line.split_whitespace();
        if let (Some(first), _, Some(count)) = (numbers.next(), numbers.next(), numbers.next()) {
            map.push_str(&format!("{first} {first} {count}\n"));
        }
    }
    map
}

fn write(path: &str, text: &str) -> io::Result<()> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    // A map is accepted in one write or not at all.
    rustix::io::write(&file, text.as_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_known_id_is_itself() {
        assert_eq!(
            super::identity_map("         0          0 4294967295\n"),
            "0 0 4294967295\n"
        );
        assert_eq!(
            super::identity_map("0 100000 1000\n1000 1000 1\n"),
            "0 0 1000\n1000 1000 1\n"
        );
    }
}
