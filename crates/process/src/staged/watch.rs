//! Limits that the kernel does not hold for a group of processes: how many there are, their memory together, and the
//! space left on the disk. Looked at from the view's first process.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

use super::Limits;
use super::layers::place;
use super::spec::Spec;

pub(super) struct Watch {
    limits: Limits,
    /// File systems the command writes to, with the bytes that are to stay free.
    disks: Vec<(OwnedFd, u64)>,
    page: u64,
    stopped: bool,
}

/// The machine's memory in bytes.
pub(super) fn machine_memory() -> Option<u64> {
    let known = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = known.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

fn free_bytes(disk: &OwnedFd) -> Option<u64> {
    let status = rustix::fs::fstatvfs(disk).ok()?;
    Some(status.f_bavail * status.f_frsize)
}

impl Watch {
    pub(super) fn new(spec: &Spec) -> Self {
        let limits = spec.limits;
        let disk = |path: &Path| {
            let disk = place(path).ok()?;
            // On a disk that is nearly full already, a command may still write half of what is left.
            let reserve = limits.free_space?.min(free_bytes(&disk)? / 2);
            Some((disk, reserve))
        };
        Self {
            limits,
            disks: [&spec.upper.0, &spec.root.0]
                .into_iter()
                .filter_map(|path| disk(path))
                .collect(),
            page: rustix::param::page_size() as u64,
            stopped: false,
        }
    }

    /// The first limit that is exceeded, as a sentence; told once.
    pub(super) fn exceeded(&mut self) -> Option<String> {
        if self.stopped {
            self.end_everything();
            return None;
        }
        let found = self.processes_and_memory().or_else(|| self.disk())?;
        self.stopped = true;
        Some(found)
    }

    fn processes_and_memory(&self) -> Option<String> {
        let mut processes = 0;
        let mut memory = 0;
        for entry in std::fs::read_dir("/proc").ok()?.flatten() {
            let name = entry.file_name();
            if !name
                .to_str()
                .is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
            {
                continue;
            }
            processes += 1;
            memory += own_pages(&entry.path()).unwrap_or(0) * self.page;
        }
        if let Some(limit) = self.limits.processes.filter(|limit| processes > *limit) {
            return Some(format!("Stopped: it had more than {limit} processes."));
        }
        let limit = self.limits.memory.filter(|limit| memory > *limit)?;
        Some(format!(
            "Stopped: it used more than {} MiB of memory.",
            limit >> 20
        ))
    }

    fn disk(&self) -> Option<String> {
        let full = self
            .disks
            .iter()
            .any(|(disk, reserve)| free_bytes(disk).is_some_and(|free| free < *reserve));
        full.then(|| "Stopped: it had nearly filled the disk.".to_owned())
    }

    /// Everything but this process itself, again each time it is called: some of it may be forking.
    pub(super) fn end_everything(&self) {
        for _ in 0..10 {
            let Ok(folder) = std::fs::read_dir("/proc") else {
                return;
            };
            let others = folder
                .flatten()
                .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
            for pid in others.filter(|pid| *pid != 1).filter_map(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

/// Resident pages that are not shared with other processes or files.
fn own_pages(process: &Path) -> Option<u64> {
    let sizes = std::fs::read_to_string(process.join("statm")).ok()?;
    let mut sizes = sizes.split(' ').skip(1);
    let resident: u64 = sizes.next()?.parse().ok()?;
    let shared: u64 = sizes.next()?.parse().ok()?;
    Some(resident.saturating_sub(shared))
}
