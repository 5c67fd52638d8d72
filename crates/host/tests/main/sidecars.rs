//! Sidecars: the example, and programs that misbehave in every way.

use std::{fs, path::Path, time::Duration};

use serde_json::{Value, json};

use crate::support::{Place, SOON, Window, eventually, processes_with, quick};

/// Puts a context whose program is a Python script into the data folder.
fn script(data: &Path, manifest: &str, program: &str) {
    let folder = data.join("contexts/it");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("context.yaml"),
        format!("name: It\nkind: http\ncommand: [python3, server.py]\n{manifest}"),
    )
    .unwrap();
    fs::write(folder.join("server.py"), format!("{SERVER}\n{program}")).unwrap();
}

/// A server that does as little as it must; `serve()` starts it and says where it is.
const SERVER: &str = r#"
import json, os, signal, subprocess, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = b'{"capabilities": []}'
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
    def do_POST(self):
        turn = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if turn["message"] == "die": os.kill(os.getpid(), signal.SIGKILL)
        if turn["message"] == "hang": time.sleep(600)
        body = json.dumps({"threadId": "t", "text": turn["message"]}).encode()
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
def serve():
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_address[1]}), flush=True)
"#;

fn the_context(window: &mut Window) -> String {
    let contexts = window.ask(None, "host/contexts", json!({}));
    contexts["contexts"][0]["context"].as_str().unwrap().to_owned()
}

fn say(text: &str) -> Value {
    json!({ "message": text })
}

#[test]
fn the_python_example_chats_lists_and_tells() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/contexts/python");
    let mut place = Place::with(quick(), |data| {
        let folder = data.join("contexts/notebook");
        fs::create_dir_all(&folder).unwrap();
        for name in ["context.yaml", "server.py"] {
            fs::copy(example.join(name), folder.join(name)).unwrap();
        }
    });
    let mut window = place.window();
    let hello = window.ask(None, "host/hello", json!({}));
    let summary = &hello["contexts"][0];
    assert_eq!(
        (&summary["kind"], &summary["name"]),
        (&json!("http"), &json!("Notebook"))
    );
    assert_eq!(summary["state"], "stopped", "nothing starts before it is needed");
    let key = summary["context"].as_str().unwrap().to_owned();
    let key = Some(key.as_str());

    window.ask(key, "events/subscribe", json!({ "fromSeq": 0 }));
    assert_eq!(window.states_up_to("ready"), ["starting", "ready"]);
    let kept = window.ask(key, "chat/turn", say("remember buy milk"));
    assert_eq!(kept["text"], "Kept. 1 in all.");
    let thread = kept["threadId"].clone();
    let event = window.until(|frame| frame["event"]["type"] == "noteKept");
    assert_eq!(
        (&event["event"]["seq"], &event["event"]["text"]),
        (&json!(1), &json!("buy milk"))
    );
    let found = window.ask(
        key,
        "chat/turn",
        json!({ "message": "find MILK", "threadId": thread }),
    );
    assert_eq!(
        (&found["text"], &found["threadId"]),
        (&json!("buy milk"), &thread)
    );
    let capabilities = window.ask(key, "capabilities/list", json!({}));
    assert_eq!(capabilities["capabilities"][2]["name"], "forget");
    assert_eq!(capabilities["capabilities"][2]["requiresConfirmation"], true);
    assert_eq!(
        window.refused(key, "files/list", json!({ "path": "." }))["code"],
        "request.unknown"
    );
    assert_eq!(
        window.refused(key, "chat/turn", json!({ "wrong": 1 }))["code"],
        "request.invalid"
    );

    // Its notes are its own and outlive it; the events of a new run are numbered anew.
    window.ask(None, "host/restart", json!({ "context": key }));
    let found = window.ask(key, "chat/turn", say("find milk"));
    assert_eq!(found["text"], "buy milk");

    let mark = place
        .data()
        .join("contexts/notebook")
        .to_string_lossy()
        .into_owned();
    drop(window);
    place.end();
    assert!(processes_in(&mark).is_empty(), "a sidecar outlived the host");
}

/// Processes that work in a folder.
fn processes_in(folder: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap();
    entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let pid = path.file_name()?.to_str()?.parse().ok()?;
            (fs::read_link(path.join("cwd")).ok()?.to_str()? == folder).then_some(pid)
        })
        .collect()
}

fn folder_of(place: &Place) -> String {
    let folder = fs::canonicalize(place.data().join("contexts/it")).unwrap();
    folder.to_string_lossy().into_owned()
}

#[test]
fn a_sidecar_that_does_not_come_up_says_why() {
    for (what, manifest, program, why) in [
        (
            "never ready",
            "readyTimeoutSeconds: 1\n",
            "print('no port here', flush=True); time.sleep(600)",
            "not ready within 1 s",
        ),
        (
            "dies with a word",
            "",
            "sys.exit('no model found')",
            "no model found",
        ),
        (
            "prints a port that nobody serves",
            "readyTimeoutSeconds: 1\n",
            "print('{\"port\": 9}', flush=True); time.sleep(600)",
            "not ready within 1 s",
        ),
    ] {
        let mut times = quick();
        times.restarts = 1;
        let place = Place::with(times, |data| script(data, manifest, program));
        let mut window = place.window();
        let key = the_context(&mut window);
        let error = window.refused(Some(&key), "chat/turn", say("hi"));
        assert_eq!(error["code"], "context.failed", "{what}: {error}");
        assert!(error.to_string().contains(why), "{what}: {error}");
        assert!(error["userAction"].is_string(), "{what}: {error}");
        assert_eq!(window.states_up_to("failed"), ["starting", "failed"], "{what}");
        let summary = window.ask(None, "host/contexts", json!({}));
        assert_eq!(summary["contexts"][0]["state"], "failed", "{what}");
        // It is not tried again by what a window happens to ask.
        assert_eq!(
            window.refused(Some(&key), "chat/turn", say("hi"))["code"],
            "context.failed"
        );
        assert!(processes_in(&folder_of(&place)).is_empty(), "{what}");
    }
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let place = Place::with(quick(), |data| {
        let folder = data.join("contexts/it");
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join("context.yaml"),
            "name: It\nkind: http\ncommand: [no-such-program-7]\n",
        )
        .unwrap();
    });
    let mut window = place.window();
    let key = the_context(&mut window);
    let error = window.refused(Some(&key), "capabilities/list", json!({}));
    assert_eq!(error["code"], "command.spawn");
    assert!(error["message"].as_str().unwrap().contains("no-such-program-7"));
}

#[test]
fn a_sidecar_that_dies_is_started_again_and_leaves_no_question_open() {
    let place = Place::with(quick(), |data| script(data, "", "serve(); sys.stdin.read()"));
    let mut window = place.window();
    let key = the_context(&mut window);
    assert_eq!(window.ask(Some(&key), "chat/turn", say("hello"))["text"], "hello");
    window.seen.clear();
    let error = window.refused(Some(&key), "chat/turn", say("die"));
    assert!(
        ["interrupted", "context.failed"].contains(&error["code"].as_str().unwrap()),
        "{error}"
    );
    window.until_state("ready");
    assert_eq!(window.ask(Some(&key), "chat/turn", say("again"))["text"], "again");
}

#[test]
fn a_sidecar_that_dies_again_and_again_is_left_alone_until_a_person_says_so() {
    let place = Place::with(quick(), |data| {
        script(data, "", "serve(); time.sleep(0.2); sys.exit(3)");
    });
    let mut window = place.window();
    let key = the_context(&mut window);
    window.send(Some(&key), "capabilities/list", json!({}));
    let states = window.states_up_to("failed");
    let starts = states.iter().filter(|state| *state == "ready").count();
    assert_eq!(starts, 6, "{states:?}");
    let failed = window.until_state("failed");
    let reason = failed["hostEvent"]["reason"].as_str().unwrap();
    assert!(
        reason.contains("6 times") && reason.contains("exit code 3"),
        "{reason}"
    );
    fs::write(
        place.data().join("contexts/it/server.py"),
        format!("{SERVER}\nserve(); sys.stdin.read()"),
    )
    .unwrap();
    window.ask(None, "host/restart", json!({ "context": key }));
    assert_eq!(
        window.ask(Some(&key), "chat/turn", say("mended"))["text"],
        "mended"
    );
}

#[test]
fn a_sidecar_that_floods_its_output_costs_nothing_and_works() {
    let flood = "
serve()
line = 'x' * 100000
def flood(stream):
    for _ in range(2000): stream.write(line + ('\\n' if stream is sys.stdout else ''))
    stream.flush(); print('flooded', file=open('flooded', 'w'))
threading.Thread(target=flood, args=[sys.stdout], daemon=True).start()
threading.Thread(target=flood, args=[sys.stderr], daemon=True).start()
sys.stdin.read()";
    let place = Place::with(quick(), |data| script(data, "", flood));
    let mut window = place.window();
    let key = the_context(&mut window);
    let before = memory_kilobytes();
    assert_eq!(window.ask(Some(&key), "chat/turn", say("hello"))["text"], "hello");
    eventually("its output is read to the end", SOON, || {
        place.data().join("contexts/it/flooded").exists()
    });
    assert_eq!(window.ask(Some(&key), "chat/turn", say("still"))["text"], "still");
    let grown = memory_kilobytes().saturating_sub(before);
    assert!(grown < 40 * 1024, "400 MB of output cost {grown} KiB");
}

fn memory_kilobytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// It ignores the polite signal and the end of its input, and its children left its group, its session and their
/// parent.
#[test]
fn a_sidecar_that_does_not_want_to_end_is_ended_with_its_children() {
    let tag = format!("6{}", std::process::id());
    let program = format!(
        "
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(['sleep', '{tag}1'])
subprocess.Popen(['setsid', 'sleep', '{tag}2'])
subprocess.Popen(['sh', '-c', 'trap \"\" TERM; (setsid sleep {tag}3 &) ; exit'])
serve()
while True: time.sleep(60)"
    );
    for way in ["close", "end"] {
        let mut place = Place::with(quick(), |data| script(data, "", &program));
        let mut window = place.window();
        let key = the_context(&mut window);
        let asked = window.send(Some(&key), "chat/turn", say("hang"));
        window.until_state("ready");
        eventually("its children run", SOON, || {
            processes_with(&format!("sleep\0{tag}")).len() == 3
        });
        match way {
            "close" => {
                let started = std::time::Instant::now();
                window.ask(None, "host/close", json!({ "context": key }));
                assert!(started.elapsed() < Duration::from_secs(4));
                let lost = window.reply(asked);
                assert_eq!(lost["ok"], false, "the open question is answered: {lost}");
            }
            _ => {
                drop(window);
                place.end();
            }
        }
        let folder = folder_of(&place);
        let left = || processes_with(&format!("sleep\0{tag}")).len() + processes_in(&folder).len();
        eventually("nothing is left of it", Duration::from_secs(1), || left() == 0);
    }
}

#[test]
fn an_unused_context_rests_and_wakes() {
    let mut times = quick();
    times.idle_after = Duration::from_millis(200);
    let place = Place::with(times, |data| script(data, "", "serve(); sys.stdin.read()"));
    let mut watching = place.window();
    let mut window = place.window();
    let key = the_context(&mut window);
    window.ask(Some(&key), "chat/turn", say("hello"));
    watching.until_state("ready");
    // A window that uses it keeps it awake.
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(the_state(&mut watching), "ready");
    drop(window);
    watching.until_state("suspended");
    assert!(processes_in(&folder_of(&place)).is_empty());
    assert_eq!(
        watching.ask(Some(&key), "chat/turn", say("awake"))["text"],
        "awake"
    );
    assert_eq!(the_state(&mut watching), "ready");
}

fn the_state(window: &mut Window) -> String {
    let contexts = window.ask(None, "host/contexts", json!({}));
    contexts["contexts"][0]["state"].as_str().unwrap().to_owned()
}

/// A backend that is at work without a window, for example for a script, is not put to rest.
#[test]
fn a_busy_context_is_not_put_to_rest() {
    let mut times = quick();
    times.idle_after = Duration::from_millis(100);
    let place = Place::with(times, |data| {
        script(data, "port: assigned\n", "serve(); sys.stdin.read()")
    });
    let key = place.host().registry().summaries()[0].context.clone();
    let handle = place.host().registry().get(&key).unwrap();
    let adapter = place.runtime.block_on(handle.ready()).unwrap();
    let working = adapter.clone();
    let turn = serde_json::from_value(say("hang")).unwrap();
    let chat = place.runtime.spawn(async move { working.chat_turn(turn).await });
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(handle.state(), protocol::ContextState::Ready);
    chat.abort();
    eventually("it rests when the work is done", SOON, || {
        handle.state() == protocol::ContextState::Suspended
    });
}

#[test]
fn a_manifest_that_is_wrong_costs_only_itself() {
    let place = Place::with(quick(), |data| {
        script(data, "", "serve(); sys.stdin.read()");
        let wrong = data.join("contexts/wrong");
        fs::create_dir_all(&wrong).unwrap();
        fs::write(
            wrong.join("context.yaml"),
            "name: Wrong\nkind: http\ncommand: [x]\nsandbox: off\n",
        )
        .unwrap();
    });
    assert_eq!(place.host().registry().summaries().len(), 1);
    let log = place.log();
    assert!(
        log.iter().any(|line| line["code"] == "context.manifest"),
        "{log:?}"
    );
}
