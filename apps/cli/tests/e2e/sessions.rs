//! The session cases: damaged records, two windows, conversations that must be found again, and Stop.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use protocol::ItemStatus;
use serde_json::{Value, json};
use testkit::Hermetic;

use crate::{
    agent::{command, fixture_path, rename},
    database,
    support::{FAMILIES, OUTPUT, Played, hermetic, json_lines, processes_with},
    told::{expect_failure, expect_refusal, spoken, tool_results},
    wire::Wire,
};

/// S01: a record that was half written costs that record only.
#[test]
fn s01_damaged_transcripts() {
    let text = fs::read_to_string(fixture_path("session/torn-tail.jsonl")).unwrap();
    let whole: Vec<String> = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|record| record["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(whole.len(), 7, "the eighth is torn");
    let answers: Vec<Value> = whole
        .iter()
        .skip(1)
        .step_by(2)
        .map(|answer| json!({ "text": answer }))
        .chain([json!({ "text": "this record was cut by a power failure" })])
        .chain([
            json!({ "text": "the new answer" }),
            json!({ "text": "beside it" }),
        ])
        .collect();
    let scenario = json!({ "steps": answers }).to_string();
    for family in FAMILIES {
        let played = Played::new(family, &scenario);
        let place = &played.place;
        let mut session = String::new();
        for said in whole.iter().step_by(2) {
            session = match session.as_str() {
                "" => played.exec(&[said]).expect_code(0).session(),
                id => played.exec(&["--session", id, said]).expect_code(0).session(),
            };
        }
        tear_last_record(place, &session);
        // Another session is used after it; the one that a crash ended is offered first all the same.
        played.exec(&["Something else."]).expect_code(0);
        let (_, sessions) = json_lines(place, &["sessions", "list", "--json"]);
        assert_eq!(sessions[0]["id"], session.as_str(), "{family}");
        assert_eq!(sessions[0]["interrupted"], true);

        let (code, shown) = json_lines(place, &["sessions", "resume", "--json", &session]);
        assert_eq!(code, Some(0));
        assert_eq!(messages(&shown[0]), whole, "{family}: seven turns");
        let notes = shown[0]["notes"].as_array().unwrap();
        assert_eq!(notes.len(), 1, "one visible note: {notes:?}");
        let output = place.vibe(&["sessions", "resume", &session]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains(notes[0].as_str().unwrap()), "{stderr}");

        played
            .exec(&["--session", &session, "the new message"])
            .expect_code(0);
        let said = spoken(played.server.requests().last().unwrap());
        let before: Vec<&String> = said
            .iter()
            .filter(|(role, _)| role != "system")
            .map(|(_, text)| text)
            .collect();
        assert_eq!(before.len(), 8, "{family}: seven and the new one: {before:?}");
        let (_, shown) = json_lines(place, &["sessions", "resume", "--json", &session]);
        let mut expected = whole.clone();
        expected.extend(["the new message".to_owned(), "beside it".to_owned()]);
        // "the new answer" went to the session in between.
        assert_eq!(messages(&shown[0]), expected, "{family}");
    }
}

/// The texts of a timeline's messages; one that never got any text was not said.
fn messages(shown: &Value) -> Vec<String> {
    shown["timeline"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item["type"] == "user_message" || item["type"] == "assistant_message")
        .map(|item| item["text"].as_str().unwrap().to_owned())
        .filter(|text| !text.is_empty())
        .collect()
}

/// What a power cut in the middle of writing the last answer leaves: half a record, and nothing after it.
fn tear_last_record(place: &Hermetic, session: &str) {
    let connection = database::open(place);
    let torn: i64 = connection
        .query_row(
            "SELECT max(seq) FROM events WHERE session = ?1 AND body LIKE '%itemCompleted%assistant_message%'",
            [session],
            |row| row.get(0),
        )
        .unwrap();
    for (sql, number) in [
        ("DELETE FROM events WHERE seq > ?1", torn),
        (
            "UPDATE events SET body = substr(body, 1, length(body) / 2) WHERE seq = ?1",
            torn,
        ),
    ] {
        connection.execute(sql, [number]).unwrap();
    }
    connection
        .execute(
            "UPDATE messages SET record = substr(record, 1, length(record) / 2) \
             WHERE number = (SELECT max(number) FROM messages WHERE session = ?1)",
            [session],
        )
        .unwrap();
    connection
        .execute("UPDATE sessions SET state = 'executing' WHERE id = ?1", [session])
        .unwrap();
}

/// How long the windows of S02 write.
const WRITING: Duration = Duration::from_secs(4);

/// S02: two windows on one workspace, three on others, all writing settings and session events; one is killed.
#[test]
fn s02_two_windows() {
    let place = scripted("steps: [{ text: Done., repeat: always }]");
    let folders: Vec<PathBuf> = ["one", "one", "two", "three", "four"]
        .iter()
        .map(|name| {
            let folder = place.outside().join(name);
            fs::create_dir_all(&folder).unwrap();
            folder
        })
        .collect();
    let settings = place.data().join("settings.json");
    let over = AtomicBool::new(false);
    let windows: Vec<Window> = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            while !over.load(Ordering::Relaxed) {
                if let Ok(text) = fs::read_to_string(&settings) {
                    let read: Result<Value, _> = serde_json::from_str(&text);
                    assert!(read.is_ok(), "an unreadable settings file: {text:?}");
                    reads += 1;
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            reads
        });
        let place = &place;
        let writers: Vec<_> = (0..)
            .zip(&folders)
            .map(|(number, folder)| scope.spawn(move || write(place, number, folder)))
            .collect();
        let windows: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        // Also when a writer has failed, or the reader would read on for ever.
        over.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 20);
        windows.into_iter().map(Result::unwrap).collect()
    });

    let stored: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    let mut expected: BTreeMap<&Path, Vec<&str>> = BTreeMap::new();
    for (number, (window, folder)) in windows.iter().zip(&folders).enumerate() {
        assert!(window.settings > 2 && window.sessions.len() > 2, "{window:?}");
        let value = stored["providers"][format!("w{number}")]["maxRetries"]
            .as_u64()
            .unwrap();
        // A killed write may have happened or not; an acknowledged one has.
        assert!(
            value == window.settings || (window.killed > 0 && value == window.settings + 1),
            "window {number}: {value} {window:?}"
        );
        let sessions = window.sessions.iter().map(String::as_str);
        expected.entry(folder).or_default().extend(sessions);
    }
    assert!(windows[4].killed > 0);
    for (folder, sessions) in expected {
        let folder = folder.to_str().unwrap();
        let (_, listed) = json_lines(&place, &["sessions", "list", "--json", "--workspace", folder]);
        for id in sessions {
            assert!(
                listed.iter().any(|session| session["id"] == id),
                "{folder}: {id} is lost"
            );
        }
        let doctor = place.vibe(&["doctor", "--workspace", folder]);
        let text = String::from_utf8_lossy(&doctor.stdout).into_owned();
        assert!(text.contains("is whole"), "{text}");
        // Numbers without a gap, whoever wrote them.
        let records = json_lines(
            &place,
            &[
                "sessions",
                "export",
                "--workspace",
                folder,
                listed[0]["id"].as_str().unwrap(),
            ],
        );
        assert_eq!(records.0, Some(0));
    }
}

#[derive(Debug, Default)]
struct Window {
    /// The newest acknowledged value.
    settings: u64,
    sessions: Vec<String>,
    killed: u32,
}

fn write(place: &Hermetic, number: usize, folder: &Path) -> Window {
    let mut window = Window::default();
    let name = format!("providers.w{number}.maxRetries");
    let folder = folder.to_str().unwrap();
    let began = Instant::now();
    while began.elapsed() < WRITING {
        let next = window.settings + 1;
        let output = place.vibe(&["settings", "set", &name, &next.to_string()]);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        window.settings = next;
        let run = place
            .exec(&["--workspace", folder, "--provider", "scripted", "Hello."])
            .expect_code(0);
        window.sessions.push(run.session());
        if number == 4 {
            for arguments in [
                vec!["settings", "set", &name, "0"],
                vec![
                    "exec",
                    "--json",
                    "--workspace",
                    folder,
                    "--provider",
                    "scripted",
                    "Hello.",
                ],
            ] {
                let killed = place.start(&arguments);
                std::thread::sleep(Duration::from_millis(u64::from(window.killed * 7 % 25)));
                // It may be over already.
                drop(killed);
                window.killed += 1;
            }
            // What the killed write left is not known, so it is written again.
            place.vibe(&["settings", "set", &name, &next.to_string()]);
        }
    }
    window
}

fn scripted(scenario: &str) -> Hermetic {
    let place = hermetic();
    let file = place.outside().join("scenario.yaml");
    fs::write(&file, scenario).unwrap();
    place.with_variable("VIBE_CODER_SCENARIO", file)
}

/// S02: the second window on a workspace is told who has it; the first one is not disturbed.
#[test]
fn s02_the_same_session_has_one_writer() {
    let played = Played::new("anthropic", "steps: [{ text: First. }, { text: Second. }]");
    let mut first = Wire::open(&played);
    let session = first.session();
    assert_eq!(first.turn(&session, "Hello.").answer(), "First.");
    let run = played.exec(&["--session", &session, "From the second window."]);
    expect_failure(&run, 1, "store.locked");
    assert_eq!(run.result["error"]["retryable"], true);
    let message = run.result["error"]["message"].as_str().unwrap();
    assert!(
        message.contains(&format!("process {}", first.running.pid())),
        "{message}"
    );
    assert_eq!(played.server.requests().len(), 1, "nothing was sent");
    let turn = first.turn(&session, "From the first window.");
    assert_eq!(turn.answer(), "Second.");
    // A killed window gives the workspace free at once.
    first.running.signal("KILL");
    drop(first);
    let (code, shown) = json_lines(&played.place, &["sessions", "show", "--json", &session]);
    assert_eq!(code, Some(0));
    assert!(messages(&shown[0]).contains(&"From the first window.".to_owned()));
}

/// S03: however the folder is reached and whatever of the index is gone, its conversations are found.
#[test]
fn s03_conversations_vanish_from_the_list() {
    let place = scripted("steps: [{ text: Done., repeat: always }]");
    let project = place.outside().join("project");
    let renamed = place.outside().join("renamed");
    let link = place.outside().join("link");
    fs::create_dir(&project).unwrap();
    let list = |folder: &Path| {
        let folder = folder.to_str().unwrap();
        let (code, sessions) = json_lines(&place, &["sessions", "list", "--json", "--workspace", folder]);
        assert_eq!(code, Some(0), "{folder}");
        let ids: Vec<String> = sessions
            .iter()
            .map(|session| session["id"].as_str().unwrap().to_owned())
            .collect();
        ids
    };
    let at = project.to_str().unwrap();
    let run = place
        .exec(&["--workspace", at, "--provider", "scripted", "Hello."])
        .expect_code(0);
    let known = vec![run.session()];
    let index = database::data_folder(&place).join("workspace.json");

    fs::rename(&project, &renamed).unwrap();
    assert_eq!(list(&renamed), known, "after a rename");
    std::os::unix::fs::symlink(&renamed, &link).unwrap();
    assert_eq!(list(&link), known, "through a link");
    assert_eq!(
        list(&renamed.join("../link/.")),
        known,
        "through a path with dots"
    );
    fs::remove_file(&index).unwrap();
    assert_eq!(list(&renamed), known, "without its index file");
    assert!(index.exists(), "which is made again");
    fs::write(&index, "{ not json").unwrap();
    assert_eq!(list(&renamed), known, "with a damaged index file");
    fs::remove_file(&index).unwrap();
    fs::rename(&renamed, &project).unwrap();
    assert_eq!(list(&project), known, "renamed, and without its index file");

    // A newer program's data is refused and left as it is; the newer program still finds all of it.
    let version = set_version(&place, 99);
    let before = database::everything_written(&place);
    for arguments in [
        vec!["sessions", "list", "--workspace", at],
        vec!["exec", "--workspace", at, "--provider", "scripted", "Hello."],
    ] {
        let output = place.vibe(&arguments);
        expect_refusal(&output, 1, "store.newer");
    }
    let contents = |written: &[(PathBuf, Vec<u8>)]| -> Vec<(PathBuf, Vec<u8>)> {
        let kept = |path: &Path| path.extension().is_some_and(|end| end == "db" || end == "json");
        let mut files: Vec<_> = written.iter().filter(|(path, _)| kept(path)).cloned().collect();
        files.sort();
        files
    };
    assert!(
        contents(&before) == contents(&database::everything_written(&place)),
        "nothing changed"
    );
    set_version(&place, version);
    assert_eq!(list(&project), known, "after the way back");
}

fn set_version(place: &Hermetic, version: i64) -> i64 {
    let connection = database::open(place);
    let before = connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    connection.pragma_update(None, "user_version", version).unwrap();
    before
}

/// S04: a turn renames fifty files and is stopped after the tenth, whose successor does not listen.
#[test]
fn s04_stop() {
    for family in FAMILIES {
        let tag = format!("s04-{family}-{}", std::process::id());
        let name = |number: usize| (format!("old-{number:02}.txt"), format!("new-{number:02}.txt"));
        let renames = |numbers: std::ops::Range<usize>| {
            numbers.map(|number| {
                let (from, to) = name(number);
                rename(&from, &to)
            })
        };
        // A command that ignores every polite request to end.
        let deaf = format!(
            "trap '' TERM INT HUP; echo begun; (exec -a {tag} sleep 300) & while :; do sleep 1; done"
        );
        let calls: Vec<Value> = renames(0..10)
            .chain([command(&deaf)])
            .chain(renames(10..50))
            .collect();
        let scenario = json!({ "steps": [
            { "tools": calls },
            { "when": { "user": "go on" }, "text": "Going on." },
        ] })
        .to_string();
        let played = Played::new(family, &scenario);
        let place = &played.place;
        for number in 0..50 {
            place.write(&name(number).0, format!("file {number}\n"));
        }
        let before = place.tree();
        let mut running = place.start(&[
            "exec",
            "--json",
            "--approvals",
            "allow",
            "--provider",
            family,
            "Rename them all.",
        ]);
        running.wait_for(OUTPUT, Duration::from_secs(30));
        let stopped = Instant::now();
        running.signal("INT");
        let run = running.finish(Duration::from_secs(10)).expect_code(130);
        let took = stopped.elapsed();
        assert!(took < Duration::from_secs(2), "{family}: {took:?}");
        assert_eq!(processes_with(&tag), Vec::<u32>::new());
        assert_eq!(run.result["state"], "cancelled");
        assert_eq!(run.event_types().last().unwrap(), "turnCompleted");
        assert_eq!(
            run.event_types()
                .iter()
                .filter(|name| *name == "turnCompleted")
                .count(),
            1
        );
        let cards = run.tool_calls();
        assert_eq!(cards.len(), 10, "{family}: the queued calls never begin");
        let ends: BTreeMap<String, ItemStatus> = run
            .items()
            .map(|item| (item.id.to_string(), item.status))
            .collect();
        assert!(ends.values().all(|status| status.is_final()), "{ends:?}");
        let files = run.result["changeSets"][0]["files"].as_array().unwrap();
        assert_eq!(files.len(), 10);
        assert_eq!(place.tree(), before, "nothing reaches the disk");

        // The same after a reload, and nothing was added to the change set since.
        let (_, shown) = json_lines(place, &["sessions", "show", "--json", &run.session()]);
        let reloaded: BTreeMap<String, ItemStatus> = shown[0]["timeline"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| {
                let status = serde_json::from_value(item["status"].clone()).unwrap();
                (item["id"].as_str().unwrap().to_owned(), status)
            })
            .collect();
        assert_eq!(reloaded, ends);
        assert_eq!(shown[0]["changeSets"], run.result["changeSets"]);
        assert_eq!(shown[0]["session"]["state"], "cancelled");

        // Each of the 51 calls has its answer, so that the session can go on.
        played
            .exec(&["--session", &run.session(), "go on"])
            .expect_code(3);
        let results = tool_results(played.server.requests().last().unwrap());
        assert_eq!(results.len(), 51);
        assert!(results[..10].iter().all(|(_, text)| text.contains("new-")));
        assert!(results[11..].iter().all(|(_, text)| text.contains("Not run")));
    }
}

/// S04 where each call is a request of its own: the stream ends and no further call comes.
#[test]
fn s04_stop_between_the_requests() {
    let step = |number: usize| {
        json!({ "text": "On to the next.", "chunk": 4, "delay_ms": 10,
            "tools": [rename(&format!("old-{number}.txt"), &format!("new-{number}.txt"))] })
    };
    let scenario = json!({ "steps": (0..50).map(step).collect::<Vec<_>>() }).to_string();
    let played = Played::new("openai", &scenario);
    for number in 0..50 {
        played.place.write(&format!("old-{number}.txt"), "x\n");
    }
    let mut running = played
        .place
        .start(&["exec", "--json", "--provider", "openai", "Rename them."]);
    // The eleventh begins, so the tenth is done.
    running.wait_for("old-10.txt", Duration::from_secs(30));
    let stopped = Instant::now();
    running.signal("INT");
    let run = running.finish(Duration::from_secs(10)).expect_code(130);
    assert!(stopped.elapsed() < Duration::from_secs(2));
    let files = run.result["changeSets"][0]["files"].as_array().unwrap().len();
    assert!((10..13).contains(&files), "{files}");
    let asked = played.server.requests().len();
    assert!((11..14).contains(&asked), "{asked}");
    assert!(run.items().all(|item| item.status.is_final()));
}
