//! What the tests of the host share: a host in a folder of its own.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use host::{Host, HostConfig, Started, supervise::Supervision};
use serde_json::Value;
use store::{DataHome, HostRecord};
use tempfile::TempDir;
pub use testkit::{Answer, Window, request};

/// Anything local takes less.
pub const SOON: Duration = Duration::from_secs(20);

/// A host with its own data folder; the runtime it lives in goes on beside the test's own thread.
pub struct Place {
    pub host: Option<Host>,
    pub runtime: tokio::runtime::Runtime,
    folder: TempDir,
}

/// Times that make a test short.
pub fn quick() -> Supervision {
    Supervision {
        first_pause: Duration::from_millis(20),
        longest_pause: Duration::from_millis(200),
        restarts: 5,
        window: Duration::from_secs(60),
        idle_after: Duration::from_secs(3600),
        patience: Duration::from_millis(500),
    }
}

pub fn empty_folder() -> TempDir {
    tempfile::Builder::new()
        .prefix("vibe-host-test-")
        .tempdir()
        .expect("a temporary folder")
}

impl Place {
    pub fn new() -> Self {
        Self::with(quick(), |_| {})
    }

    /// `prepare` is given the data folder before the host starts.
    pub fn with(times: Supervision, prepare: impl FnOnce(&Path)) -> Self {
        let folder = empty_folder();
        let data = folder.path().join("data");
        fs::create_dir(&data).expect("a data folder");
        prepare(&data);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        let mut config = HostConfig::new(DataHome::at(data), "/no/such/vibe-coder".into());
        config.times = times;
        let host = match runtime.block_on(host::start(config)).expect("a host") {
            Started::Here(host) => host,
            Started::Elsewhere(_) => panic!("another host in a new folder"),
        };
        Self {
            host: Some(host),
            runtime,
            folder,
        }
    }

    pub fn host(&self) -> &Host {
        self.host.as_ref().expect("a running host")
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn home(&self) -> DataHome {
        DataHome::at(self.data())
    }

    pub fn record(&self) -> HostRecord {
        self.home().host_record().expect("a published record")
    }

    pub fn port(&self) -> u16 {
        self.host().port()
    }

    /// The host's own address, as a browser names it.
    pub fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    pub fn bearer(&self) -> (&'static str, String) {
        ("Authorization", format!("Bearer {}", self.record().token))
    }

    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        request(self.port(), "GET", path, headers, b"")
    }

    /// A window that bears the token.
    pub fn window(&self) -> Window {
        let (name, value) = self.bearer();
        Window::open(self.port(), &[(name, &value)]).expect("a window")
    }

    pub fn log(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.data().join("logs/vibe-coder.jsonl")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a log line"))
            .collect()
    }

    /// Ends the host in order and waits for it.
    pub fn end(&mut self) {
        let host = self.host.take().expect("a running host");
        self.runtime
            .block_on(host.run(std::future::ready(())))
            .expect("an orderly end");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _inside = self.runtime.enter();
        drop(self.host.take());
    }
}

/// Processes whose command line contains a text, zombies left out.
pub fn processes_with(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc") {
        let name = entry.expect("an entry").file_name();
        let Ok(pid) = name.to_string_lossy().parse::<u32>() else {
            continue;
        };
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if pid != std::process::id() && String::from_utf8_lossy(&command).contains(text) {
            found.push(pid);
        }
    }
    found
}

/// Looks again and again until it holds.
#[track_caller]
pub fn eventually(what: &str, limit: Duration, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + limit;
    while !holds() {
        assert!(Instant::now() < deadline, "not within {limit:?}: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
