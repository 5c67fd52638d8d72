//! A workspace with an engine on it, and a client that speaks lines of JSON.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use engine::{Breadth, Client, Engine, EngineConfig, Environment, wire};
use protocol::{
    ErrorCode, EventEnvelope, RuntimeError,
    request::{EngineFrame, Method, Notice, Request, RequestFrame},
};
use store::DataHome;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    sync::mpsc,
};

pub struct Place {
    pub folder: TempDir,
    pub engine: Engine,
    pub client: Client,
    pub events: mpsc::Receiver<EventEnvelope>,
}

impl Place {
    pub fn new(make: impl FnOnce(&Path)) -> Self {
        Self::with_scenario("steps:\n  - text: Done.\n", make)
    }

    /// The practice model answers as the scenario says.
    pub fn with_scenario(scenario: &str, make: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("ws")).unwrap();
        fs::write(folder.path().join("scenario.yaml"), scenario).unwrap();
        make(&folder.path().join("ws"));
        let engine = open(folder.path());
        let (client, events) = Client::in_process(engine.clone());
        Self {
            folder,
            engine,
            client,
            events,
        }
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("ws")
    }

    pub async fn call<M: Method>(&self, params: M) -> M::Result
    where
        Request: From<M>,
    {
        self.client
            .call(params)
            .await
            .unwrap_or_else(|error| panic!("{}: {error}", M::NAME))
    }

    pub async fn refused<M: Method>(&self, params: M) -> RuntimeError
    where
        Request: From<M>,
        M::Result: std::fmt::Debug,
    {
        match self.client.call(params).await {
            Ok(result) => panic!("{}: {result:?}", M::NAME),
            Err(error) => error,
        }
    }

    pub async fn code<M: Method>(&self, params: M) -> ErrorCode
    where
        Request: From<M>,
        M::Result: std::fmt::Debug,
    {
        self.refused(params).await.code
    }

    /// Everything in the workspace: kind, mode and content of each entry by its path.
    pub fn tree(&self) -> BTreeMap<PathBuf, String> {
        let mut tree = BTreeMap::new();
        describe(&self.root(), &self.root(), &mut tree);
        tree
    }

    pub fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
        let done = Command::new("git")
            .args(identity)
            .args(arguments)
            .current_dir(self.root())
            .env_remove("GIT_DIR")
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    }
}

pub fn open(folder: &Path) -> Engine {
    let environment = Environment::default().with(
        "VIBE_CODER_SCENARIO",
        folder.join("scenario.yaml").to_str().unwrap(),
    );
    let environment = environment.with("PATH", &std::env::var("PATH").unwrap());
    Engine::open(EngineConfig {
        workspace: folder.join("ws"),
        breadth: Breadth::Project,
        home: DataHome::at(folder.join("home")),
        environment,
        lock_wait: Duration::from_secs(5),
    })
    .unwrap()
}

/// Opens the folder's workspace again once the engine that had it is gone.
pub async fn open_when_free(folder: &Path) -> Engine {
    let folder = folder.to_owned();
    tokio::task::spawn_blocking(move || open(&folder)).await.unwrap()
}

fn describe(root: &Path, at: &Path, tree: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        let mode = metadata.permissions().mode();
        let relative = path.strip_prefix(root).unwrap().to_owned();
        if metadata.is_symlink() {
            tree.insert(relative, format!("link {:?}", fs::read_link(&path).unwrap()));
        } else if metadata.is_dir() {
            tree.insert(relative, format!("folder {mode:o}"));
            describe(root, &path, tree);
        } else {
            let content = fs::read(&path).unwrap();
            tree.insert(relative, format!("file {mode:o} {}", content.escape_ascii()));
        }
    }
}

/// A client that sees notices too.
pub struct Lined {
    output: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Lined {
    pub fn new(engine: &Engine, conversation: wire::Conversation) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(theirs);
        tokio::spawn(wire::converse(engine.clone(), input, output, conversation));
        let (input, output) = tokio::io::split(ours);
        Self {
            output,
            lines: BufReader::new(input).lines(),
        }
    }

    pub async fn send(&mut self, request: impl Into<Request>) {
        let frame = RequestFrame {
            id: 1,
            request: request.into(),
        };
        let mut line = serde_json::to_vec(&frame).unwrap();
        line.push(b'\n');
        self.output.write_all(&line).await.unwrap();
    }

    /// The next notice, or nothing within the time.
    pub async fn notice_within(&mut self, time: Duration) -> Option<Notice> {
        tokio::time::timeout(time, async {
            while let Some(line) = self.lines.next_line().await.unwrap() {
                if let EngineFrame::Notice { notice } = serde_json::from_str(&line).unwrap() {
                    return Some(notice);
                }
            }
            None
        })
        .await
        .ok()
        .flatten()
    }

    /// Waits for a notice of a kind, two seconds at most.
    pub async fn notice(&mut self, wanted: impl Fn(&Notice) -> bool) -> Option<Notice> {
        let end = tokio::time::Instant::now() + Duration::from_secs(2);
        loop {
            let left = end.checked_duration_since(tokio::time::Instant::now())?;
            let notice = self.notice_within(left).await?;
            if wanted(&notice) {
                return Some(notice);
            }
        }
    }
}
