//! One engine for many clients: the windows of a host and the command line.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::{Hermetic, Running};

use crate::support::{Played, hermetic, json_lines, processes_with};

/// Longest wait for anything that should come at once; generous, because the machine may be busy.
const LIMIT: Duration = Duration::from_secs(30);

struct Listening {
    engine: Running,
    socket: PathBuf,
}

impl Listening {
    fn start(place: &Hermetic) -> Self {
        let mut engine = place.start(&["engine", "--listen"]);
        let line = engine.wait_for("{", LIMIT);
        let first: Value = serde_json::from_str(&line).unwrap();
        assert!(
            first["ready"]["contextId"].as_str().unwrap().starts_with("ctx_"),
            "{first}"
        );
        assert_eq!(first["ready"]["version"], env!("CARGO_PKG_VERSION"));
        let socket = PathBuf::from(first["ready"]["socket"].as_str().unwrap());
        Self { engine, socket }
    }
}

struct Client {
    stream: UnixStream,
    lines: BufReader<UnixStream>,
}

impl Client {
    fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap());
        Self { stream, lines }
    }

    fn send(&mut self, method: &str, params: Value) {
        let request = json!({ "id": 1, "method": method, "params": params });
        writeln!(self.stream, "{request}").unwrap();
    }

    /// The next frame that is wanted; what comes before it is passed over. Nothing when the engine has closed.
    fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let frame: Value = serde_json::from_str(&line).unwrap();
            if wanted(&frame) {
                return Some(frame);
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(method, params);
        let reply = self.until(|frame| frame["id"] == 1).expect("an open engine");
        assert_eq!(reply["ok"], true, "{method}: {reply}");
        reply["data"].clone()
    }
}

fn is_event(kind: &'static str) -> impl Fn(&Value) -> bool {
    move |frame| frame["event"]["body"]["type"] == kind
}

const ANSWERING: &str = "
steps:
  - text: Hello.
  - text: Hello again.
";

#[test]
fn two_windows_and_the_command_line_share_one_engine() {
    let played = Played::new("anthropic", ANSWERING);
    let place = &played.place;
    let listening = Listening::start(place);
    let mut one = Client::connect(&listening.socket);
    let mut two = Client::connect(&listening.socket);
    let session = one.ask("session/start", json!({}))["sessionId"].clone();
    two.ask("events/subscribe", json!({ "fromSeq": 0 }));
    one.ask(
        "turn/send",
        json!({ "sessionId": session, "text": "Hi", "mode": "ask", "provider": "anthropic" }),
    );
    // Whoever asked may leave at once.
    drop(one);
    let completed = two.until(is_event("turnCompleted")).unwrap();
    assert_eq!(completed["event"]["body"]["outcome"]["result"], "completed");

    // The command line finds the engine that has the workspace, whose lock it could not get.
    let (code, sessions) = json_lines(place, &["sessions", "list", "--json"]);
    assert_eq!((code, &sessions[0]["id"]), (Some(0), &session));
    let run = played.exec(&[
        "--mode",
        "ask",
        "--session",
        session.as_str().unwrap(),
        "Hi again",
    ]);
    let run = run.expect_code(0);
    assert_eq!(run.answer(), "Hello again.");
    let seen = two.until(is_event("turnCompleted"));
    assert!(seen.is_some(), "what the command line does, windows see");
    // And leaves it running.
    two.ask("engine/hello", json!({}));
    assert_eq!(played.server.requests().len(), 2);
}

#[test]
fn a_second_engine_of_a_workspace_says_why_it_does_not_start() {
    let place = hermetic();
    let _listening = Listening::start(&place);
    let second = place.vibe(&["engine", "--listen"]);
    assert_eq!(second.status.code(), Some(1));
    let line: Value = serde_json::from_slice(&second.stdout).unwrap();
    assert_eq!(line["failed"]["code"], "store.locked", "{line}");
}

const SLEEPING: &str = "
steps:
  - tools:
      - name: run_command
        arguments: { command: \"sleep 301.7 & sh -c 'sleep 301.7; true'\" }
  - text: Done.
";

/// Closing the input, a signal, and a client's request end the engine and everything it runs, and leave no socket.
#[test]
fn the_end_of_its_input_ends_the_engine_and_all_it_runs() {
    type End = fn(&mut Listening, &mut Client);
    let ends: [(&str, End); 3] = [
        ("input", |listening, _| drop(listening.engine.stdin.take())),
        ("signal", |listening, _| listening.engine.signal("TERM")),
        ("request", |_, client| client.send("engine/shutdown", json!({}))),
    ];
    for (name, end) in ends {
        let played = Played::new("anthropic", SLEEPING);
        let mut listening = Listening::start(&played.place);
        let mut client = Client::connect(&listening.socket);
        let session = client.ask("session/start", json!({}))["sessionId"].clone();
        client.ask("events/subscribe", json!({ "fromSeq": 0 }));
        client.ask(
            "turn/send",
            json!({ "sessionId": session, "text": "Hi", "provider": "anthropic", "approvals": "allow" }),
        );
        client
            .until(|frame| frame["event"]["body"]["delta"]["state"] == "running")
            .unwrap();
        let started = Instant::now();
        while processes_with("301.7").len() < 2 && started.elapsed() < LIMIT {
            std::thread::yield_now();
        }
        let asked = Instant::now();
        end(&mut listening, &mut client);
        while listening.engine.child.try_wait().unwrap().is_none() {
            assert!(asked.elapsed() < LIMIT, "{name}: still there");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(processes_with("301.7"), [0; 0], "{name}");
        assert!(!listening.socket.exists(), "{name}");
        // The turn's end was recorded.
        let (_, shown) = json_lines(&played.place, &["sessions", "list", "--json"]);
        assert_eq!(shown[0]["state"], "cancelled", "{name}");
    }
}

#[test]
fn what_a_killed_engine_left_behind_misleads_nobody() {
    let place = hermetic();
    let listening = Listening::start(&place);
    let record = || {
        let folders = fs::read_dir(place.data().join("workspaces")).unwrap();
        let mut records = folders.map(|folder| folder.unwrap().path().join("engine.json"));
        records.find(|record| record.exists())
    };
    listening.engine.signal("KILL");
    drop(listening.engine);
    assert!(record().is_some() && listening.socket.exists());
    let (code, sessions) = json_lines(&place, &["sessions", "list", "--json"]);
    assert_eq!((code, sessions.len()), (Some(0), 0));
    // Nor is it in the way of the next.
    let listening = Listening::start(&place);
    Client::connect(&listening.socket).ask("engine/hello", json!({}));
}
