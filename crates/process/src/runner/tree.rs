//! Finds and ends all processes of one command, also those that left its group or session.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::guard::MARK_VARIABLE;

/// A process that a command left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    /// Its command line, for a person; at most 200 characters.
    pub command: String,
}

/// How a command's processes are told from all others: by session, by mark and by descent.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// The shell's id: also that of its session and its group.
    pub(crate) leader: u32,
    pub(crate) mark: String,
}

/// Between the polite signal and the one that cannot be ignored.
pub(crate) const DEFAULT_GRACE: Duration = Duration::from_millis(300);
/// Most time spent on killing after the grace. What is left then (a process stuck in the kernel) is reported.
const KILL_LIMIT: Duration = Duration::from_millis(1500);

impl Tree {
    /// The live members now. Zombies are not counted: they hold nothing and run nothing.
    pub(crate) fn members(&self) -> Vec<Process> {
        let table = read_process_table();
        self.member_ids(&table)
            .into_iter()
            .map(|pid| Process {
                pid,
                command: command_line(pid),
            })
            .collect()
    }

    fn member_ids(&self, table: &HashMap<u32, Entry>) -> Vec<u32> {
        let marked = format!("{MARK_VARIABLE}={}", self.mark);
        let own = std::process::id();
        let mut members: HashSet<u32> = table
            .iter()
            .filter(|(pid, entry)| {
                **pid != own
                    && (entry.session == self.leader || **pid == self.leader || carries(**pid, &marked))
            })
            .map(|(pid, _)| *pid)
            .collect();
        loop {
            let found: Vec<u32> = table
                .iter()
                .filter(|(pid, entry)| {
                    !members.contains(pid) && members.contains(&entry.parent) && **pid != own
                })
                .map(|(pid, _)| *pid)
                .collect();
            if found.is_empty() {
                break;
            }
            members.extend(found);
        }
        let mut live: Vec<u32> = members
            .into_iter()
            .filter(|pid| table.get(pid).is_some_and(|entry| entry.alive))
            .collect();
        live.sort_unstable();
        live
    }

    /// Ends every member: asks with SIGTERM, waits for `grace`, then kills, looking again until none is left.
    /// Returns what could not be killed.
    pub(crate) async fn kill(&self, grace: Duration) -> Vec<Process> {
        let started = Instant::now();
        let mut seen: HashSet<u32> = HashSet::new();
        let mut asked: HashSet<u32> = HashSet::new();
        loop {
            let force = started.elapsed() >= grace;
            let tree = self.clone();
            let known = seen.clone();
            let members = tokio::task::spawn_blocking(move || tree.members_or_known(&known))
                .await
                .unwrap_or_default();
            seen.extend(&members);
            if members.is_empty() {
                return Vec::new();
            }
            if started.elapsed() >= grace + KILL_LIMIT {
                return members
                    .into_iter()
                    .map(|pid| Process {
                        pid,
                        command: command_line(pid),
                    })
                    .collect();
            }
            if force {
                signal_group(self.leader, Signal::KILL);
                members.iter().for_each(|pid| signal(*pid, Signal::KILL));
            } else {
                for pid in &members {
                    if asked.insert(*pid) {
                        signal(*pid, Signal::TERM);
                        // A stopped process acts on nothing but SIGKILL until it is continued.
                        signal(*pid, Signal::CONT);
                    }
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The members of a tree that runs in a view. The helper and the view's first process are not among them: they
    /// belong to the view, and end with it.
    pub(super) fn members_in_view(&self) -> Vec<Process> {
        let table = read_process_table();
        self.member_ids(&table)
            .into_iter()
            .filter(|pid| {
                *pid != self.leader && table.get(pid).is_some_and(|entry| entry.parent != self.leader)
            })
            .map(|pid| Process {
                pid,
                command: command_line(pid),
            })
            .collect()
    }

    /// Ends a view: asks its processes with SIGTERM, waits for `grace` at most, then kills the helper, with which the
    /// kernel ends everything in the view. Returns what is still there, which only a process stuck in the kernel is.
    pub(super) async fn end_view(&self, grace: Duration) -> Vec<Process> {
        let started = Instant::now();
        let mut asked: HashSet<u32> = HashSet::new();
        while started.elapsed() < grace {
            let members = self.look(Self::members_in_view).await;
            if members.is_empty() {
                break;
            }
            for process in members {
                if asked.insert(process.pid) {
                    signal(process.pid, Signal::TERM);
                    signal(process.pid, Signal::CONT);
                }
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        signal(self.leader, Signal::KILL);
        loop {
            let members = self.look(Self::members).await;
            if members.is_empty() || started.elapsed() >= grace + KILL_LIMIT {
                return members;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    async fn look(&self, members: fn(&Self) -> Vec<Process>) -> Vec<Process> {
        let tree = self.clone();
        tokio::task::spawn_blocking(move || members(&tree))
            .await
            .unwrap_or_default()
    }

    /// Kills without waiting, for a tree whose supervisor is going away. Three looks catch what forks meanwhile.
    pub(crate) fn kill_now(&self) {
        for _ in 0..3 {
            let members = self.member_ids(&read_process_table());
            if members.is_empty() {
                return;
            }
            signal_group(self.leader, Signal::KILL);
            members.iter().for_each(|pid| signal(*pid, Signal::KILL));
        }
    }

    /// Members, and processes that were members before: one that lost its parent and has no mark is remembered.
    fn members_or_known(&self, known: &HashSet<u32>) -> Vec<u32> {
        let table = read_process_table();
        let mut members = self.member_ids(&table);
        let remembered = known
            .iter()
            .filter(|pid| table.get(pid).is_some_and(|entry| entry.alive) && !members.contains(pid));
        let remembered: Vec<u32> = remembered.copied().collect();
        members.extend(remembered);
        members
    }
}

struct Entry {
    parent: u32,
    session: u32,
    alive: bool,
    /// Processor time, in the kernel's ticks.
    work: u64,
}

/// Processor time of a process and all that descend from it. In a view the helper and the view's first process, which
/// watch the command, do not count.
pub(super) fn work_of(leader: u32, place: Place) -> u64 {
    let table = read_process_table();
    let watches = |pid: u32| {
        let parent = table.get(&pid).map(|entry| entry.parent);
        place == Place::View && (pid == leader || parent == Some(leader))
    };
    let descends = |pid: u32| {
        let mut at = Some(pid);
        // As deep as a tree can be; a table read while processes move may hold a ring.
        for _ in 0..table.len() {
            match at {
                Some(pid) if pid == leader => return true,
                Some(pid) => at = table.get(&pid).map(|entry| entry.parent),
                None => return false,
            }
        }
        false
    };
    table
        .iter()
        .filter(|(pid, _)| descends(**pid) && !watches(**pid))
        .map(|(_, entry)| entry.work)
        .sum()
}

/// Where a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    View,
    Machine,
}

fn read_process_table() -> HashMap<u32, Entry> {
    let Ok(folders) = std::fs::read_dir("/proc") else {
        return HashMap::new();
    };
    folders
        .filter_map(|folder| {
            let pid: u32 = folder.ok()?.file_name().to_str()?.parse().ok()?;
            // Some program names are not UTF-8, and may contain spaces and parentheses: fields follow the last one.
            let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
            let stat = String::from_utf8_lossy(&stat);
            let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
            let state = fields.next()?;
            let parent = fields.next()?.parse().ok()?;
            let session = fields.nth(1)?.parse().ok()?;
            let ticks = |field: Option<&str>| field.and_then(|text| text.parse::<u64>().ok());
            let work = ticks(fields.nth(7))? + ticks(fields.next())?;
            Some((
                pid,
                Entry {
                    parent,
                    session,
                    alive: !matches!(state, "Z" | "X"),
                    work,
                },
            ))
        })
        .collect()
}

fn carries(pid: u32, marked: &str) -> bool {
    std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
        environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == marked.as_bytes())
    })
}

fn command_line(pid: u32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&line).replace('\0', " ");
    if text.contains(super::report::OWN_NAME) {
        return "a part of the command".to_owned();
    }
    let text: String = text
        .trim_end()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(200)
        .collect();
    if text.is_empty() {
        format!("process {pid}")
    } else {
        text
    }
}

/// A failure means that the process is gone already, which is the aim.
fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

fn signal_group(leader: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(pid, signal);
    }
}
