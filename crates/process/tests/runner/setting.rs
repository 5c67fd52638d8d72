//! A workspace in a temporary folder, and one helper that runs a command in it to its end.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use process::policy::{Grant, PolicyContext, judge};
use process::runner::{CommandEnd, CommandEvent, RunOptions, RunningCommand, start};
use process::{ApprovedCommand, CommandEnvironment};

pub struct Setting {
    _temporary: Option<tempfile::TempDir>,
    pub root: PathBuf,
    pub log: Log,
}

/// The whole output of a command, in memory.
#[derive(Clone, Default)]
pub struct Log(pub Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Setting {
    pub fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        Self {
            _temporary: Some(temporary),
            root,
            log: Log::default(),
        }
    }

    /// The same folder with an empty log.
    pub fn again(&self) -> Self {
        Self {
            _temporary: None,
            root: self.root.clone(),
            log: Log::default(),
        }
    }

    /// A person said yes to it.
    pub fn approved(&self, command: &str) -> ApprovedCommand {
        let context = PolicyContext::new(&self.root, &self.root);
        judge(command, &context)
            .approve_by(Grant::by_person("a test"))
            .unwrap()
    }

    pub fn options(&self) -> RunOptions {
        let mut options = RunOptions::new(
            &self.root,
            &self.root,
            CommandEnvironment::inherited(),
            Box::new(self.log.clone()),
        );
        options.time_limit = Some(Duration::from_secs(30));
        options
    }

    pub fn start(&self, command: &str) -> RunningCommand {
        start(self.approved(command), self.options()).unwrap()
    }

    pub async fn run(&self, command: &str) -> CommandEnd {
        self.start(command).ended().await.unwrap()
    }

    pub fn logged(&self) -> String {
        String::from_utf8_lossy(&self.log.0.lock().unwrap()).into_owned()
    }
}

pub fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/cmd")
        .join(name)
        .display()
        .to_string()
}

/// Takes events until the output contains `text`; returns the output so far.
pub async fn output_until(command: &mut RunningCommand, text: &str) -> String {
    let mut output = String::new();
    while !output.contains(text) {
        match command
            .next()
            .await
            .expect("the command ended before it printed what was waited for")
        {
            CommandEvent::Output { bytes, .. } => output.push_str(&String::from_utf8_lossy(&bytes)),
            CommandEvent::Started { .. } => {}
            CommandEvent::Ended(end) => panic!("the command ended: {end:?} {output}"),
        }
    }
    output
}

/// Whether a live process has `text` in its command line. Zombies have none.
pub fn runs(text: &str) -> bool {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).replace('\0', " ").contains(text))
}

/// A text that no other process has in its command line: a number of seconds to sleep.
pub fn unique_seconds() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(100);
    format!(
        "600.{}{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}
