//! Long sessions: what is sent fits the model, and nothing that matters is lost on the way.

use std::time::Duration;

use protocol::{ItemKind, timeline::CondensedItem};
use serde_json::{Value, json};
use testkit::{ExecRun, model_server::RecordedRequest};

use crate::{
    agent::{call, create, read, turns},
    support::{FAMILIES, Played},
    told::{expect_failure, results_text, spoken, tool_results},
    wire::Wire,
};

/// Tokens that the model of these tests holds, its answer included.
const WINDOW: u64 = 20_000;
const RULE: &str = "Always write the word marmalade in comments.";

fn played(family: &'static str, scenario: &str) -> Played {
    let played = Played::new(family, scenario);
    let models =
        json!({ "claude-sonnet-5": { "contextWindow": WINDOW }, "gpt-5.5": { "contextWindow": WINDOW } });
    let key = format!("providers.{family}.models");
    let set = played.place.vibe(&["settings", "set", &key, &models.to_string()]);
    assert!(set.status.success(), "{}", String::from_utf8_lossy(&set.stderr));
    played
}

fn marks(run: &ExecRun) -> Vec<CondensedItem> {
    run.items()
        .filter_map(|item| match &item.kind {
            ItemKind::Condensed(condensed) => Some(condensed.clone()),
            _ => None,
        })
        .collect()
}

fn all_words(request: &RecordedRequest) -> String {
    let words: Vec<String> = spoken(request).into_iter().map(|(_, text)| text).collect();
    words.join("\n")
}

/// About 3,000 tokens each.
fn write_files(played: &Played, count: usize) {
    for number in 0..count {
        let line = format!("file {number}: some forty characters of text\n");
        played
            .place
            .write(&format!("f{number}.txt"), line.repeat(12_000 / line.len()));
    }
}

/// A turn that reads more than fits goes on, each request fits, and the prefix changes in big steps only.
#[test]
fn a_session_over_a_small_window_goes_on() {
    let mut steps: Vec<Value> = (0..14)
        .map(|number| json!({ "tools": [read(&format!("f{number}.txt"))] }))
        .collect();
    steps.push(json!({ "text": "I have read them all." }));
    for family in FAMILIES {
        let played = played(family, &json!({ "steps": steps }).to_string());
        played.place.write("AGENTS.md", RULE);
        write_files(&played, 14);
        let run = played.exec(&["Read all files, then stop."]).expect_code(0);
        assert_eq!(run.answer(), "I have read them all.", "{family}");
        let requests = played.server.requests();
        assert_eq!(requests.len(), 15, "{family}");
        for request in &requests {
            assert!(
                request.body.len() < WINDOW as usize * 4,
                "{family}: {}",
                request.body.len()
            );
            let body = String::from_utf8_lossy(&request.body);
            assert!(
                body.contains("marmalade") && body.contains("Read all files"),
                "{family}"
            );
        }
        let shown = marks(&run);
        assert!((1..=5).contains(&shown.len()), "{family}: {shown:#?}");
        for mark in &shown {
            assert!(mark.tokens_after < mark.tokens_before, "{family}: {mark:#?}");
            assert!(!mark.left_out.is_empty() && mark.original.is_some(), "{family}");
        }
        // The newest result is there, the oldest is not, and its place says what was there.
        let last = results_text(requests.last().unwrap()) + &all_words(requests.last().unwrap());
        assert!(last.contains("file 13: some"), "{family}");
        assert!(!last.contains("file 0: some"), "{family}");
        assert!(last.contains("left out to make room"), "{family}: {last}");
    }
}

/// What was left out can be read, and is sent again when a person wants it.
#[test]
fn what_was_left_out_can_be_viewed_and_sent_again() {
    let mut steps: Vec<Value> = (0..6)
        .map(|number| json!({ "tools": [read(&format!("f{number}.txt"))] }))
        .collect();
    steps.push(json!({ "text": "Read.", "repeat": "always" }));
    let played = played("anthropic", &json!({ "steps": steps }).to_string());
    write_files(&played, 6);
    let mut wire = Wire::open(&played);
    let session = wire.session();
    wire.turn(&session, "Read them.");
    let shown = wire.ask("session/show", json!({ "sessionId": session }));
    let mark = shown["timeline"]
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["type"] == "condensed")
        .expect("a mark")
        .clone();
    assert!(
        mark["title"].as_str().unwrap().contains("no longer sent"),
        "{mark}"
    );
    let original = wire.ask("artifact/read", json!({ "id": mark["original"]["id"] }));
    assert!(
        original["text"].as_str().unwrap().contains("file 0: some forty"),
        "{original}"
    );
    let before = results_text(played.server.requests().last().unwrap());
    assert!(!before.contains("file 0: some"));
    wire.ask(
        "session/restore",
        json!({ "sessionId": session, "itemId": mark["id"] }),
    );
    let shown = wire.ask("session/show", json!({ "sessionId": session }));
    let again = shown["timeline"]
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["id"] == mark["id"]);
    assert_eq!(again.unwrap()["undone"], true);
    wire.turn(&session, "And again.");
    let after = results_text(played.server.requests().last().unwrap());
    assert!(
        after.contains("file 0: some"),
        "what was wanted back is sent, others go first"
    );
    assert!(!after.contains("file 3: some"), "others go first");
    let error = wire
        .try_ask(
            "session/restore",
            json!({ "sessionId": session, "itemId": "itm_none" }),
        )
        .unwrap_err();
    assert_eq!(error.code.to_string(), "request.invalid");
}

/// A file that has not changed is not sent twice; one that has is, and so is one whose text was left out.
#[test]
fn an_unchanged_file_is_not_sent_twice() {
    let range = call(
        "read_file",
        json!({ "path": "f0.txt", "start_line": 2, "end_line": 3 }),
    );
    let scenario = json!({ "steps": [
        { "tools": [read("f0.txt")] }, { "text": "Read." },
        { "tools": [range] }, { "text": "Known." },
        { "tools": [read("f0.txt")] }, { "text": "Changed." },
    ] });
    for family in FAMILIES {
        let played = Played::new(family, &scenario.to_string());
        write_files(&played, 1);
        let run = played.exec(&["Read it."]).expect_code(0);
        let session = run.session();
        // Another process: what it knows of the conversation is what is stored.
        played.exec(&["--session", &session, "Again."]).expect_code(0);
        let results = tool_results(played.server.requests().last().unwrap());
        assert!(
            results[1].1.contains("unchanged since you read it"),
            "{family}: {results:?}"
        );
        played.place.write("f0.txt", "file 0: other text\n");
        played.exec(&["--session", &session, "Once more."]).expect_code(0);
        let results = tool_results(played.server.requests().last().unwrap());
        assert!(results[2].1.contains("other text"), "{family}: {results:?}");
    }
}

/// V08: a provider that says “too long” is sent less, without a model's help; its words do not become history.
#[test]
fn v08_context_overflow() {
    let scenario = json!({ "steps": [
        { "tools": [read("big.txt"), read("f0.txt"), read("f1.txt")] },
        { "when": { "tool_result": "some forty" }, "error": { "kind": "context_too_long" } },
        { "error": { "kind": "context_too_long" } },
        { "text": "Now it fits." },
        { "when": { "user": "go on" }, "text": "Going on." },
    ] });
    for family in FAMILIES {
        let played = Played::new(family, &scenario.to_string());
        played
            .place
            .write("big.txt", "900 KB of lines that are of no use\n".repeat(26_000));
        write_files(&played, 2);
        let run = played.exec(&["Read them."]).expect_code(0);
        assert_eq!(run.answer(), "Now it fits.", "{family}");
        let requests = played.server.requests();
        assert_eq!(requests.len(), 4, "{family}");
        let sizes: Vec<usize> = requests.iter().map(|request| request.body.len()).collect();
        assert!(
            sizes[1] < 200 * 1024,
            "{family}: bounded when it was made: {sizes:?}"
        );
        assert!(sizes[2] < sizes[1] && sizes[3] < sizes[2], "{family}: {sizes:?}");
        assert_eq!(
            tool_results(&requests[3]).len(),
            3,
            "{family}: each call has its result"
        );
        played
            .exec(&["--session", &run.session(), "go on"])
            .expect_code(0);
        let last = played.server.requests().pop().unwrap();
        let body = String::from_utf8_lossy(&last.body).to_lowercase();
        assert!(
            !body.contains("too long"),
            "{family}: no error text in the history"
        );
    }
}

/// V08: one that never accepts anything ends the turn with its error and a way out, and does not try for ever.
#[test]
fn v08_a_provider_that_accepts_nothing_ends_the_turn() {
    let scenario = json!({ "steps": [
        { "tools": [read("f0.txt")] },
        { "error": { "kind": "context_too_long" }, "repeat": "always" },
    ] });
    let played = Played::new("openai", &scenario.to_string());
    write_files(&played, 1);
    let run = played.exec(&["Read it."]);
    expect_failure(&run, 1, "provider.contextTooLong");
    assert!(played.server.requests().len() <= 4);
}

/// X02: rules come from their file, and what waits, runs and was decided comes from stored state.
#[test]
fn x02_after_compaction() {
    let line = "python3 -c \"import time; print('ready', flush=True); time.sleep(600)\"";
    let background = call("run_command", json!({ "command": line, "background": true }));
    let read_all: Vec<Value> = (0..4).map(|number| read(&format!("f{number}.txt"))).collect();
    let more: Vec<Value> = (4..8).map(|number| read(&format!("f{number}.txt"))).collect();
    let scenario = turns(&[
        &[background, create("proposed.txt", "a line to review\n")],
        &read_all,
        &more,
        &[read("f8.txt")],
        &[],
    ])
    .replace(r#"{"tools":[]},"#, "");
    for family in FAMILIES {
        let played = played(family, &scenario);
        played.place.write("AGENTS.md", RULE);
        write_files(&played, 9);
        let mut wire = Wire::open(&played);
        let session = wire.session();
        wire.turn(
            &session,
            "Start the server and write the file; call it step alpha.",
        );
        for words in ["Read the first four.", "Read four more.", "Read one more."] {
            wire.turn(&session, words);
        }
        let requests = played.server.requests();
        let summarized = requests
            .iter()
            .any(|request| all_words(request).contains("<condensed>"));
        assert!(summarized, "{family}: whole turns were condensed");
        // The review is decided now: what is told later is the state, not what a summary said.
        let set = wire.change_set(&session);
        wire.ask(
            "changes/reject",
            json!({ "id": set["id"], "selection": { "what": "all" } }),
        );
        played
            .place
            .write("AGENTS.md", "Always write the word quince in comments.");
        let run = wire.turn(&session, "What now?");
        let asked = run.items().any(|item| matches!(item.kind, ItemKind::Approval(_)));
        assert!(!asked, "{family}: no question about work that is not open");
        let last = played.server.requests().pop().unwrap();
        let (body, words) = (String::from_utf8_lossy(&last.body).into_owned(), all_words(&last));
        assert!(
            body.contains("quince") && !body.contains("marmalade"),
            "{family}: rules from their source"
        );
        assert!(
            words.contains("step alpha"),
            "{family}: what was asked is kept in the user's words: {words}"
        );
        assert!(words.contains("was rejected"), "{family}: {words}");
        let newest = spoken(&last).pop().unwrap().1;
        assert!(
            newest.contains("time.sleep(600)"),
            "{family}: the running command: {newest}"
        );
        assert!(!newest.contains("waits for review"), "{family}: {newest}");
        let listed = wire.ask("command/list", json!({}))["commands"].clone();
        wire.ask("command/stop", json!({ "commandId": listed[0]["commandId"] }));
        wire.until(Duration::from_secs(30), |event| match &event.body {
            protocol::EventBody::ItemCompleted { item } => match &item.kind {
                ItemKind::Command(command) if command.command == line => Some(()),
                _ => None,
            },
            _ => None,
        });
    }
}
