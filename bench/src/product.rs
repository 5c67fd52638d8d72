//! Runs of the release binary as a bench sees them: CPU, memory, end. The model server runs in this process, so its
//! work never counts as the product's.

use std::{
    fs,
    io::Read,
    path::PathBuf,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use nix::{
    sys::{
        resource::{UsageWho, getrusage},
        wait::{Id, WaitPidFlag, waitid},
    },
    time::{clock_getcpuclockid, clock_gettime},
    unistd::Pid,
};
use testkit::{Hermetic, ModelServer};

/// Beside this program: both are built into the same folder.
pub fn binary() -> PathBuf {
    let own = std::env::current_exe().expect("this program's path");
    let binary = own.with_file_name("vibe-coder");
    assert!(
        binary.is_file(),
        "{} is missing: `cargo xtask bench` builds it",
        binary.display()
    );
    binary
}

/// An empty place whose Anthropic provider is the server.
pub fn place(server: &ModelServer) -> Hermetic {
    let mut place = Hermetic::new(binary());
    place.set_variable("ANTHROPIC_BASE_URL", server.anthropic_base_url());
    place.set_variable("ANTHROPIC_API_KEY", "sk-ant-bench-0123456789");
    place
}

/// A repository of `files` small source files in folders of 50, with everything committed.
pub fn repository(place: &Hermetic, files: usize) {
    for number in 0..files {
        place.write(&source_path(number), source_text(number));
    }
    place.commit_all();
}

pub fn source_path(number: usize) -> String {
    format!("src/part{:04}/file{:02}.rs", number / 50, number % 50)
}

/// About 2 KiB.
pub fn source_text(number: usize) -> String {
    let mut text = format!("//! Part {number} of a sample.\n\npub const NUMBER: u32 = {number};\n");
    for line in 0..40 {
        text.push_str(&format!(
            "pub fn step_{line}(value: u32) -> u32 {{ value + {line} }}\n"
        ));
    }
    text
}

/// The product while it runs.
pub struct Run {
    child: Child,
    pub started_at: Instant,
    /// CPU of all earlier children of this process.
    children_before: Duration,
}

/// What a run has cost.
pub struct Cost {
    /// User and system time of the product's own process.
    pub own_cpu: Duration,
    /// With the processes it started and waited for.
    pub all_cpu: Duration,
    pub wall: Duration,
}

impl Run {
    pub fn start(place: &Hermetic, arguments: &[&str]) -> Self {
        let children_before = children_cpu();
        let mut command = place.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let started_at = Instant::now();
        let child = command.spawn().expect("the product starts");
        Self {
            child,
            started_at,
            children_before,
        }
    }

    /// Whether it has not ended yet.
    pub fn is_running(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let state = stat
            .rsplit(')')
            .next()
            .and_then(|rest| rest.split_whitespace().next());
        !matches!(state, None | Some("Z" | "X"))
    }

    /// Proportional set size and the most that was ever resident, in MB.
    pub fn memory(&self) -> (f64, f64) {
        let pid = self.child.id();
        let kilobytes = |file: &str, key: &str| -> f64 {
            let text = fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
            text.lines()
                .find_map(|line| {
                    line.strip_prefix(key)?
                        .split_whitespace()
                        .next()?
                        .parse::<f64>()
                        .ok()
                })
                .unwrap_or(0.0)
        };
        (
            kilobytes("smaps_rollup", "Pss:") / 1024.0,
            kilobytes("status", "VmHWM:") / 1024.0,
        )
    }

    /// Waits for the end; panics with what the product said when the exit code is not `expected`.
    pub fn finish(mut self, expected: i32) -> Cost {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"));
        // The clock of an ended process can be read until somebody reaps it.
        waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT).expect("a child to wait for");
        let wall = self.started_at.elapsed();
        let clock = clock_getcpuclockid(pid).expect("the child's clock");
        let own_cpu = Duration::from(clock_gettime(clock).expect("the child's clock"));
        let status = self.child.wait().expect("a child");
        let all_cpu = children_cpu() - self.children_before;
        if status.code() != Some(expected) {
            let mut words = String::new();
            if let Some(mut stderr) = self.child.stderr.take() {
                let _ = stderr.read_to_string(&mut words);
            }
            panic!("the product ended with {status} instead of {expected}:\n{words}");
        }
        Cost {
            own_cpu,
            all_cpu,
            wall,
        }
    }
}

pub fn children_cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("resource usage");
    let micros = |time: nix::sys::time::TimeVal| {
        u64::try_from(time.tv_sec()).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_usec()).unwrap_or(0)
    };
    Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time()))
}

/// Waits until the server has received request `number` (from 0).
pub fn wait_for_request(server: &ModelServer, number: usize) {
    let end = Instant::now() + Duration::from_secs(60);
    while server.requests().len() <= number {
        assert!(Instant::now() < end, "the product sent no request");
        std::thread::sleep(Duration::from_millis(1));
    }
}
