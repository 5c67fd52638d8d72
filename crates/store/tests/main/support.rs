//! A data home and a workspace folder of a test's own, and children of the test binary for what needs more than
//! one process.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use protocol::{
    EventBody, ItemId, ItemKind, ItemStatus, Mode, SessionId, SessionState, TimelineItem, TurnId,
};
use store::{DataHome, Durability, NewEvent, SessionRow, Store};

pub struct Place {
    pub folder: tempfile::TempDir,
    pub home: DataHome,
    pub root: PathBuf,
}

impl Place {
    pub fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        std::fs::create_dir(&root).unwrap();
        Place {
            home: DataHome::at(folder.path().join("home")),
            root,
            folder,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn open(&self) -> Store {
        self.open_noting().0
    }

    pub fn open_noting(&self) -> (Store, Vec<String>) {
        open(&self.home, &self.root)
    }

    /// The workspace's database as a program that is not ours would open it.
    pub fn database(&self, store: &Store) -> rusqlite::Connection {
        rusqlite::Connection::open(store.data_folder().join("store.db")).unwrap()
    }
}

pub fn open(home: &DataHome, root: &Path) -> (Store, Vec<String>) {
    Store::open(home, root, Duration::ZERO).unwrap()
}

pub fn session(name: &str) -> SessionId {
    SessionId::from_text(format!("ses_{name}"))
}

pub fn note(text: &str) -> EventBody {
    EventBody::Recovered {
        notes: vec![text.to_owned()],
    }
}

pub fn created(title: &str) -> EventBody {
    EventBody::SessionCreated {
        title: title.to_owned(),
    }
}

pub fn message(kind: ItemKind) -> EventBody {
    EventBody::ItemCompleted {
        item: TimelineItem {
            id: ItemId::mint(),
            session_id: session("a"),
            correlation_id: TurnId::from_text("trn_1"),
            created_at: 1,
            updated_at: None,
            status: ItemStatus::Succeeded,
            visible: true,
            kind,
        },
    }
}

pub fn user(text: &str) -> EventBody {
    message(ItemKind::UserMessage {
        text: text.to_owned(),
        mode: Mode::Ask,
    })
}

pub fn assistant(text: &str) -> EventBody {
    message(ItemKind::AssistantMessage {
        text: text.to_owned(),
        provider: "p".to_owned(),
        model: "m".to_owned(),
    })
}

pub fn event(session_name: &str, at: u64, body: EventBody) -> NewEvent {
    NewEvent {
        session_id: Some(session(session_name)),
        at,
        body,
    }
}

pub fn append(store: &Store, body: EventBody) -> u64 {
    store
        .append(vec![event("a", 1, body)], Durability::Normal)
        .unwrap()[0]
        .seq
}

pub fn session_row(name: &str) -> SessionRow {
    SessionRow {
        id: session(name),
        title: format!("Session {name}"),
        created_at: 10,
        updated_at: 20,
        state: SessionState::Complete,
        settings: serde_json::json!({"mode": "ask"}),
    }
}

/// The numbers of all events, and that they have no gap.
pub fn sequence(store: &Store) -> Vec<u64> {
    let page = store.events_after(0, usize::MAX).unwrap();
    assert_eq!(page.damaged, []);
    page.events.iter().map(|event| event.seq).collect()
}

const ROLE: &str = "STORE_TEST_ROLE";
const ARGUMENTS: &str = "STORE_TEST_ARGUMENTS";
const MARK: &str = "child> ";

/// This test binary, running one role of [`child`] in a process of its own.
pub struct Other {
    pub process: Child,
    pub output: BufReader<ChildStdout>,
    /// Closed to let it end.
    pub input: Option<ChildStdin>,
}

impl Other {
    pub fn start(role: &str, arguments: &[&Path]) -> Other {
        let exe = std::env::current_exe().unwrap();
        Self::spawn(
            Command::new(exe).args(["support::child", "--exact", "--nocapture"]),
            role,
            arguments,
        )
    }

    pub fn spawn(command: &mut Command, role: &str, arguments: &[&Path]) -> Other {
        let mut process = command
            .env(ROLE, role)
            .env(ARGUMENTS, std::env::join_paths(arguments).unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Other {
            output: BufReader::new(process.stdout.take().unwrap()),
            input: process.stdin.take(),
            process,
        }
    }

    /// The next thing it said; `None` when it has ended.
    pub fn said(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 || !line.ends_with('\n') {
                return None;
            }
            if let Some((_, said)) = line.trim_end().split_once(MARK) {
                return Some(said.to_owned());
            }
        }
    }

    /// SIGKILL, then everything that it had said.
    pub fn kill(&mut self) -> Vec<String> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        std::iter::from_fn(|| self.said()).collect()
    }

    pub fn end(&mut self) {
        drop(self.input.take());
        while self.said().is_some() {}
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

pub fn say(text: impl std::fmt::Display) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{MARK}{text}").unwrap();
    out.flush().unwrap();
}

/// Not a test by itself: what [`Other`] runs.
#[test]
fn child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let arguments: Vec<PathBuf> =
        std::env::split_paths(&std::env::var_os(ARGUMENTS).unwrap_or_default()).collect();
    match role.as_str() {
        "hold" => crate::locks::hold(&arguments),
        "write" => crate::crash::write(&arguments),
        "set" => crate::settings::set(&arguments),
        "fill" => crate::full::fill(&arguments),
        other => panic!("no role {other}"),
    }
}
