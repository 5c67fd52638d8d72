//! The first process of a view: builds it, starts the shell in it, reaps whatever is left to it, holds the limits, and
//! reports how the shell ended. When it ends, the kernel ends everything in the view.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, chdir, pidfd_open, set_dumpable_behavior,
    set_parent_process_death_signal, setsid, wait,
};

use super::Network;
use super::gate;
use super::helper::silence_output;
use super::mounts::{self, Trouble};
use super::probe;
use super::restrict;
use super::spec::{Report, Spec, Task};
use super::sys::{self, Forked};
use super::watch::Watch;

/// How often the limits are looked at while the shell runs, and how often left-over processes after its end.
const WATCH_MS: i64 = 100;
const REAP_MS: i64 = 10;

pub(super) fn run(spec: Spec, mut status: File, mut ids_known: io::PipeReader) -> ExitCode {
    match begin(&spec, &mut status, &mut ids_known) {
        Ok(Begun::Task) => match become_task(&spec, &mut status) {
            Ok(code) => code,
            Err(trouble) => {
                Report::Failed(trouble.to_string()).send(&mut status);
                ExitCode::from(127)
            }
        },
        Ok(Begun::Watching { shell, watch }) => watch_shell(shell, watch, status),
        Err(trouble) => {
            Report::Failed(trouble.to_string()).send(&mut status);
            ExitCode::FAILURE
        }
    }
}

enum Begun {
    Task,
    Watching { shell: Pid, watch: Watch },
}

fn begin(spec: &Spec, status: &mut File, ids_known: &mut io::PipeReader) -> Result<Begun, Trouble> {
    // The helper outside may be killed at any time; nothing of the view outlives it.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(Trouble::at("following the helper"))?;
    ids_known
        .read_exact(&mut [0])
        .map_err(Trouble::at("its user ids"))?;
    let watch = Watch::new(spec);
    for note in mounts::build(spec)? {
        Report::Note(note).send(status);
    }
    match spec.network {
        Network::Loopback | Network::Hosts => {
            sys::raise_loopback().map_err(Trouble::at("the loopback interface"))?;
        }
        Network::Off | Network::On => {}
    }
    if let Some(number) = spec.gate {
        sys::inherited(number)
            .and_then(gate::hand_out)
            .map_err(Trouble::at("the way to the allowed hosts"))?;
    }
    // Nothing in the view may trace this process or look into it. The shell is open again once it is executed.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(Trouble::at("closing itself"))?;
    match sys::fork_into(0).map_err(Trouble::at("starting the shell"))? {
        Forked::Child => Ok(Begun::Task),
        Forked::Parent(shell) => {
            let _ = silence_output();
            if let Some(report) = spec.report {
                drop(sys::inherited(report));
            }
            Ok(Begun::Watching { shell, watch })
        }
    }
}

/// In the child: gives up what the command must not have, and becomes it.
fn become_task(spec: &Spec, status: &mut File) -> Result<ExitCode, Trouble> {
    setsid().map_err(Trouble::at("a session of its own"))?;
    if spec.terminal {
        rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())
            .map_err(Trouble::at("a terminal of its own"))?;
    }
    if chdir(&spec.cwd.0).is_err() {
        Report::Note(format!(
            "The folder {} is gone; the command ran in {} instead.",
            spec.cwd.0.display(),
            spec.root.0.display()
        ))
        .send(status);
        chdir(&spec.root.0).map_err(Trouble::at("entering the workspace"))?;
    }
    restrict::restrict(spec)?;
    match &spec.task {
        Task::Shell { program, arguments } => {
            #[expect(
                clippy::disallowed_methods,
                reason = "the process itself becomes the shell; nothing is started"
            )]
            let error = Command::new(&program.0).args(arguments).exec();
            Err(Trouble::at("starting the shell")(error))
        }
        Task::SelfTest { outside, port } => {
            probe::try_everything(&spec.root.0, &outside.0, *port);
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn watch_shell(shell: Pid, mut watch: Watch, mut status: File) -> ExitCode {
    let process = pidfd_open(shell, PidfdFlags::empty()).ok();
    let mut reported = false;
    loop {
        let (limit, process) = match (&process, reported) {
            (Some(process), false) => (WATCH_MS, Some(process)),
            _ => (REAP_MS, None),
        };
        nap(limit, process);
        // Everything that has ended by now.
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, end))) if pid == shell => {
                    Report::Ended(end.as_raw()).send(&mut status);
                    reported = true;
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(rustix::io::Errno::INTR) => {}
                // No child is left.
                Err(_) => return ExitCode::SUCCESS,
            }
        }
        if let Some(note) = watch.exceeded() {
            Report::Note(note).send(&mut status);
            watch.end_everything();
        }
    }
}

fn nap(milliseconds: i64, process: Option<&OwnedFd>) {
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: milliseconds * 1_000_000,
    };
    let mut waiting: Vec<PollFd<'_>> = process
        .iter()
        .map(|process| PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN))
        .collect();
    // However it ends, what follows looks again.
    let _ = poll(&mut waiting, Some(&timeout));
}
