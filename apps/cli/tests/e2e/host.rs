//! The host with real engines: a window works through it, and nothing that dies takes more with it than it must.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::{Hermetic, Running, Window, request};

use crate::support::{hermetic, processes_with};

const SOON: Duration = Duration::from_secs(20);

/// A running `vibe-coder serve` on the place's workspace, and a window of it.
struct Served {
    process: Running,
    port: u16,
    token: String,
}

impl Served {
    fn start(place: &Hermetic, more: &[&str]) -> Self {
        let workspace = place.workspace();
        let mut arguments = vec!["serve", "--json", workspace.to_str().unwrap()];
        arguments.extend(more);
        let mut process = place.start(&arguments);
        let line = process.wait_for("url", SOON);
        let printed: Value = serde_json::from_str(&line).unwrap();
        assert!(
            printed["url"].as_str().unwrap().starts_with("http://127.0.0.1:"),
            "{printed}"
        );
        let record = host_record(place);
        Self {
            process,
            port: u16::try_from(record["port"].as_u64().unwrap()).unwrap(),
            token: record["token"].as_str().unwrap().to_owned(),
        }
    }

    fn window(&self) -> Window {
        Window::open(self.port, &[("authorization", &format!("Bearer {}", self.token))]).unwrap()
    }
}

fn host_record(place: &Hermetic) -> Value {
    serde_json::from_slice(&fs::read(place.data().join("host.json")).unwrap()).unwrap()
}

fn the_context(window: &mut Window) -> String {
    let hello = window.ask(None, "host/hello", json!({}));
    hello["contexts"][0]["context"].as_str().unwrap().to_owned()
}

/// The pid of the engine of the place's workspace.
fn engine(place: &Hermetic) -> Option<u32> {
    let workspace = place.workspace().to_string_lossy().into_owned();
    let marker = format!("--listen\0--workspace\0{workspace}");
    processes_with(&marker).first().copied()
}

#[track_caller]
fn eventually(what: &str, limit: Duration, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + limit;
    while !holds() {
        assert!(Instant::now() < deadline, "not within {limit:?}: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn kill(pid: u32) {
    let status = std::process::Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .status();
    assert!(status.unwrap().success());
}

/// A place with the practice model; `scenario` lies outside the workspace.
fn scripted(scenario: &str) -> Hermetic {
    let mut place = hermetic();
    let file = place.outside().join("scenario.yaml");
    fs::write(&file, scenario).unwrap();
    place.set_variable("VIBE_CODER_SCENARIO", file);
    place.write("src/add.rs", "fn add() {}\n");
    place.commit_all();
    place
}

/// A turn that runs a command which does not end by itself, and whose processes can be told by `tag`.
fn long_command(tag: &str) -> String {
    format!(
        "steps:\n  - tools:\n      - name: run_command\n        arguments: {{ command: \"sleep {tag} & sleep {tag}\" }}\n  - text: Done.\n"
    )
}

fn start_turn(window: &mut Window, context: &str) -> String {
    let key = Some(context);
    let session = window.ask(key, "session/start", json!({}))["sessionId"]
        .as_str()
        .unwrap()
        .to_owned();
    window.ask(key, "events/subscribe", json!({ "fromSeq": 0 }));
    window.ask(
        key,
        "turn/send",
        json!({ "sessionId": session, "text": "go", "approvals": "allow" }),
    );
    session
}

#[test]
fn a_turn_through_a_window_reaches_its_end_and_the_diff_is_accepted() {
    let place = scripted(
        "steps:\n  - tools:\n      - name: create_file\n        arguments: { path: new.txt, content: \"one\\n\" }\n  - text: Written.\n",
    );
    let served = Served::start(&place, &[]);
    let mut window = served.window();
    let context = the_context(&mut window);
    let key = Some(context.as_str());
    start_turn(&mut window, &context);
    let end = window.until(|frame| frame["event"]["body"]["type"] == "turnCompleted");
    assert_eq!(end["context"], context.as_str(), "every frame names its context");
    assert_eq!(
        end["event"]["body"]["outcome"]["result"],
        json!("completed"),
        "{end}"
    );
    assert!(
        !place.exists("new.txt"),
        "nothing reaches the disk before it is accepted"
    );
    window.ask(key, "changes/accept", json!({ "selection": { "what": "all" } }));
    assert_eq!(place.read_text("new.txt"), "one\n");

    // A second window sees the same from where it says.
    let mut second = served.window();
    second.ask(key, "events/subscribe", json!({ "fromSeq": 0 }));
    let first = second.until(|frame| frame["event"].is_object());
    assert_eq!(first["event"]["seq"], 1);
    // The conversation that every kind of context can have.
    assert!(
        second.ask(key, "capabilities/list", json!({}))["capabilities"]
            .as_array()
            .unwrap()
            .len()
            > 5
    );
}

#[test]
fn paths_outside_the_workspace_are_refused_by_the_engine() {
    let place = scripted("steps: []\n");
    fs::write(place.outside().join("secret.txt"), "secret").unwrap();
    fs::create_dir(place.outside().join("ws-evil")).unwrap();
    fs::write(place.outside().join("ws-evil/secret.txt"), "secret").unwrap();
    place.link("way-out", "../secret.txt");
    place.link("folder-out", "..");
    let served = Served::start(&place, &[]);
    let mut window = served.window();
    let context = the_context(&mut window);
    let absolute = place.outside().join("secret.txt");
    for path in [
        "../secret.txt",
        "src/../../secret.txt",
        "../ws-evil/secret.txt",
        absolute.to_str().unwrap(),
        "way-out",
        "folder-out/secret.txt",
    ] {
        let error = window.refused(Some(&context), "files/read", json!({ "path": path }));
        assert_eq!(error["code"], "path.outside", "{path}: {error}");
        assert!(!error.to_string().contains("secret\n"), "{error}");
    }
    let listed = window.refused(Some(&context), "files/list", json!({ "path": "folder-out" }));
    assert_eq!(listed["code"], "path.outside");
}

#[test]
fn a_killed_engine_is_started_again_and_the_window_catches_up() {
    let tag = format!("71{}", std::process::id());
    let place = scripted(&long_command(&tag));
    let served = Served::start(&place, &[]);
    let mut window = served.window();
    let context = the_context(&mut window);
    let key = Some(context.as_str());
    let session = start_turn(&mut window, &context);
    eventually("the command runs", SOON, || {
        processes_with(&format!("sleep\0{tag}")).len() == 2
    });
    let mut last = 0;
    for frame in &window.seen {
        last = frame["event"]["seq"].as_u64().unwrap_or(last);
    }
    // Something is under way while it dies: a chat turn waits for the turn's end.
    let open = window.send(
        key,
        "chat/turn",
        json!({ "message": "and?", "threadId": session }),
    );
    kill(engine(&place).unwrap());

    let lost = window.reply(open);
    assert_eq!(lost["ok"], false, "{lost}");
    window.seen.retain(|frame| frame["hostEvent"].is_null());
    window.until_state("ready");
    eventually(
        "the command of the killed engine is gone",
        Duration::from_secs(2),
        || processes_with(&format!("sleep\0{tag}")).is_empty(),
    );
    window.ask(key, "events/subscribe", json!({ "fromSeq": last }));
    window.seen.clear();
    let sessions = window.ask(key, "session/list", json!({}));
    assert_eq!(sessions["sessions"][0]["id"], session.as_str());
    assert_eq!(sessions["sessions"][0]["interrupted"], true, "{sessions}");
    let again = window.ask(key, "session/resume", json!({ "sessionId": session }));
    assert!(again["timeline"].as_array().unwrap().len() >= 2, "{again}");
    let sessions = window.ask(key, "session/list", json!({}));
    assert_eq!(
        sessions["sessions"][0]["interrupted"], false,
        "it is not offered again: {sessions}"
    );
}

#[test]
fn a_killed_host_leaves_nothing_running() {
    let tag = format!("72{}", std::process::id());
    let place = scripted(&long_command(&tag));
    let mut served = Served::start(&place, &[]);
    let mut window = served.window();
    let context = the_context(&mut window);
    start_turn(&mut window, &context);
    eventually("the command runs", SOON, || {
        processes_with(&format!("sleep\0{tag}")).len() == 2
    });
    served.process.child.kill().unwrap();
    served.process.child.wait().unwrap();
    eventually("engine and command are gone", Duration::from_secs(2), || {
        engine(&place).is_none() && processes_with(&format!("sleep\0{tag}")).is_empty()
    });
    // The next start is not held up by what is left on disk.
    let served = Served::start(&place, &[]);
    let mut window = served.window();
    let context = the_context(&mut window);
    let sessions = window.ask(Some(&context), "session/list", json!({}));
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_second_launch_asks_the_first_for_a_window() {
    let place = scripted("steps: []\n");
    let mut served = Served::start(&place, &[]);
    let other = place.outside().join("other");
    fs::create_dir(&other).unwrap();
    let output = place.vibe(&["--no-open", other.to_str().unwrap()]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let url = String::from_utf8(output.stdout).unwrap();
    let path = url
        .trim()
        .strip_prefix(&format!("http://127.0.0.1:{}", served.port))
        .unwrap();
    assert_eq!(request(served.port, "GET", path, &[], b"").status, 303);
    let mut window = served.window();
    let contexts = window.ask(None, "host/contexts", json!({}));
    let names: Vec<_> = contexts["contexts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|context| &context["name"])
        .collect();
    assert!(
        names.contains(&&json!("ws")) && names.contains(&&json!("other")),
        "{contexts}"
    );
    let gone = place.vibe(&["--no-open", "/no/such/folder"]);
    assert_eq!(gone.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&gone.stderr).contains("workspace.notFound"));

    served.process.signal("INT");
    eventually("it ends when it is told to", SOON, || {
        // Its record goes with it.
        !place.data().join("host.json").exists()
    });
    assert!(served.process.child.wait().unwrap().success());
    assert_eq!(engine(&place), None);
}

#[test]
fn an_engine_that_nobody_uses_rests_and_wakes() {
    let tag = format!("73{}", std::process::id());
    let place = scripted(&format!("{}  - text: More.\n", long_command(&tag)));
    let served = Served::start(&place, &["--idle-after", "1"]);
    let mut watching = served.window();
    let mut window = served.window();
    let context = the_context(&mut window);
    let session = start_turn(&mut window, &context);
    eventually("the command runs", SOON, || {
        processes_with(&format!("sleep\0{tag}")).len() == 2
    });
    drop(window);
    // The turn goes on without a window, and the engine with it.
    std::thread::sleep(Duration::from_millis(2500));
    assert!(engine(&place).is_some() && processes_with(&format!("sleep\0{tag}")).len() == 2);
    let mut back = served.window();
    back.ask(Some(&context), "turn/cancel", json!({ "sessionId": session }));
    drop(back);
    watching.until_state("suspended");
    assert_eq!(engine(&place), None);
    assert!(processes_with(&format!("sleep\0{tag}")).is_empty());
    let listed = watching.ask(Some(&context), "session/list", json!({}));
    assert_eq!(listed["sessions"][0]["id"], session.as_str());
    assert!(engine(&place).is_some());
}

#[test]
fn the_practice_repository_opens_with_the_practice_model() {
    let place = hermetic();
    let served = Served::start(&place, &[]);
    let mut window = served.window();
    let context = window.ask(None, "host/sample", json!({}))["context"]
        .as_str()
        .unwrap()
        .to_owned();
    let key = Some(context.as_str());
    let listed = window.ask(key, "files/list", json!({ "path": "." }));
    assert!(
        listed["names"].as_array().unwrap().contains(&json!("Cargo.toml")),
        "{listed}"
    );
    let providers = window.ask(key, "providers/list", json!({}));
    let scripted = providers["providers"]
        .as_array()
        .unwrap()
        .iter()
        .find(|provider| provider["id"] == "scripted")
        .unwrap();
    assert_eq!(
        (&scripted["isDefault"], &scripted["ready"]),
        (&json!(true), &json!(true)),
        "{scripted}"
    );
    let recent = window.ask(None, "host/recent", json!({}));
    let entry = &recent["recent"][0];
    assert_eq!(
        (&entry["name"], &entry["exists"]),
        (&json!("till"), &json!(true)),
        "{recent}"
    );
    assert!(entry["openedAt"].as_u64().unwrap() > 0);
    assert!(Path::new(entry["path"].as_str().unwrap()).starts_with(place.data()));
}

#[test]
fn what_is_typed_opens_a_window_or_runs_a_command() {
    let place = scripted("steps: []\n");
    for (arguments, words) in [
        (&["--no-open", "/no/such/folder"][..], "workspace.notFound"),
        (&["--no-open", "src/add.rs"], "workspace.notADirectory"),
        (&["--no-open", "/"], "--allow-wide-workspace"),
        (&["src", "doctor"], "--workspace DIR"),
        (&["--no-open", "changes", "list"], "--workspace DIR"),
        (&["--sample", "src"], "cannot be used with"),
    ] {
        let output = place.vibe(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_ne!(output.status.code(), Some(0), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
        assert!(
            !place.data().join("host.json").exists(),
            "{arguments:?} left a record"
        );
    }
}
