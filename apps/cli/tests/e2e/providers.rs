//! What becomes of a turn when a model or the way to it fails, and what every request must look like.

use std::time::{Duration, Instant};

use protocol::{ItemKind, ItemStatus};
use serde_json::{Value, json};
use testkit::{ModelServer, model_server::Recording};

use crate::{
    agent::{call, command, create, edit, fixture_path, read},
    support::{ALL_FAMILIES, FAMILIES, OUTPUT, Played, json_lines},
    told::{expect_failure, last_results, spoken, tool_results},
};

/// V07, V08: each cause has its own code, is tried again only where that helps, and leaves a session that can go on.
#[test]
fn provider_failures_are_typed_and_the_session_goes_on() {
    for family in FAMILIES {
        // (error, code, requests made, whether a person may simply send again)
        for (error, code, requests, retryable) in [
            ("{ kind: auth }", "provider.auth", 1, false),
            ("{ kind: model_unknown }", "provider.modelUnknown", 1, false),
            ("{ kind: quota }", "provider.quota", 1, false),
            ("{ kind: context_too_long }", "provider.contextTooLong", 1, false),
            ("{ kind: refused }", "provider.refused", 1, false),
            ("{ kind: server }", "provider.overloaded", 2, true),
            ("{ kind: overloaded }", "provider.overloaded", 2, true),
            (
                "{ kind: rate_limited, retry_after: 7000 }",
                "provider.rateLimited",
                1,
                true,
            ),
            ("{ kind: not_a_model }", "provider.other", 1, false),
        ] {
            let scenario = format!(
                "steps: [{{ when: {{ user: Work }}, error: {error}, repeat: {requests} }}, {{ text: Good again. }}]"
            );
            let played = Played::new(family, &scenario);
            // The second try comes after a second; the default of three would cost a test many.
            set(&played, &format!("providers.{family}.maxRetries"), "1");
            let run = played.exec(&["Work."]);
            expect_failure(&run, 1, code);
            assert_eq!(run.result["error"]["retryable"], retryable, "{family} {code}");
            assert_eq!(run.result["state"], "failed");
            assert_eq!(played.server.requests().len(), requests, "{family} {code}");
            let shown = run.items().any(|item| match &item.kind {
                ItemKind::Error { error } => error.code.as_str() == code && item.status == ItemStatus::Failed,
                _ => false,
            });
            assert!(shown, "{family} {code}: the failure is on the timeline");
            // Error texts are not part of what the model reads later.
            played
                .exec(&["--session", &run.session(), "Go on."])
                .expect_code(0);
            let said = spoken(played.server.requests().last().unwrap());
            assert!(
                said.iter()
                    .all(|(role, text)| role == "system" || text.contains("Work.") || text == "Go on."),
                "{said:?}"
            );
        }
    }
}

fn set(played: &Played, name: &str, value: &str) {
    let output = played.place.vibe(&["settings", "set", name, value]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A wait that the provider asks for is kept, shown, and the finished tools do not run again.
#[test]
fn v07_rate_limit_is_waited_for_and_no_tool_runs_twice() {
    let scenario = json!({ "steps": [
        { "tools": [command("echo once"), read("a.txt")] },
        { "when": { "tool_result": "content a" }, "error": { "kind": "rate_limited", "retry_after": 1 } },
        { "when": { "tool_result": "content a" }, "text": "Done." },
    ] })
    .to_string();
    for family in FAMILIES {
        let played = Played::new(family, &scenario);
        played.place.write("a.txt", "content a\n");
        let began = Instant::now();
        let run = played.exec(&["--approvals", "allow", "Work."]).expect_code(0);
        assert!(began.elapsed() >= Duration::from_secs(1));
        assert_eq!((run.commands().len(), run.tool_calls().len()), (1, 1));
        let requests = played.server.requests();
        assert_eq!(requests.len(), 3);
        assert_eq!(requests[1].body, requests[2].body, "the same request again");
        let waiting = run.items().find_map(|item| match &item.kind {
            ItemKind::Error { error } => Some((item.status, error.clone())),
            _ => None,
        });
        let (status, error) = waiting.expect("the wait is on the timeline");
        assert_eq!(error.code.as_str(), "provider.rateLimited");
        assert!(error.user_action.unwrap().contains("Trying again in 1 s"));
        assert_eq!(status, ItemStatus::Succeeded, "and over when it went on");
    }
}

/// An answer that breaks off after it began is not asked for again by itself: what was shown stays, and is said to be cut.
#[test]
fn v05_broken_stream_keeps_what_was_shown_and_is_not_repeated() {
    let scenario =
        "steps: [{ text: The first half of an answer, error: { kind: stream_broken } }, { text: Whole. }]";
    for family in FAMILIES {
        let played = Played::new(family, scenario);
        let run = played.exec(&["Work."]);
        expect_failure(&run, 1, "provider.streamBroken");
        assert_eq!(run.result["error"]["retryable"], true);
        assert_eq!(played.server.requests().len(), 1);
        assert_eq!(run.answer(), "The first half of an answer");
        let (_, shown) = json_lines(&played.place, &["sessions", "show", "--json", &run.session()]);
        let cut = shown[0]["timeline"]
            .as_array()
            .unwrap()
            .iter()
            .find(|item| item["type"] == "assistant_message")
            .expect("the half answer");
        assert_eq!(cut["status"], "failed");
        played
            .exec(&["--session", &run.session(), "Again."])
            .expect_code(0);
    }
}

/// V05: Stop works while a provider says nothing, before its answer and in the middle of it.
#[test]
fn v05_stop_works_while_a_stream_is_silent() {
    for family in ALL_FAMILIES {
        for (step, shown) in [
            ("{ stall: true }", ""),
            ("{ text: The first half, stall: true }", "The first half"),
        ] {
            let played = Played::new(family, &format!("steps: [{step}, {{ text: Going on. }}]"));
            let mut running = played
                .place
                .start(&["exec", "--json", "--provider", family, "Work."]);
            match shown {
                "" => played.wait_for_request(Duration::from_secs(20)),
                shown => drop(running.wait_for(shown, Duration::from_secs(20))),
            }
            running.signal("INT");
            let run = running.finish(Duration::from_secs(10)).expect_code(130);
            assert_eq!(run.answer(), shown, "{family}: what was shown stays");
            played
                .exec(&["--session", &run.session(), "Go on."])
                .expect_code(0);
        }
    }
}

/// V01 through a history that another program left: the calls without a result get one, and it is said.
#[test]
fn v01_tool_call_without_result() {
    let neutral: Vec<Value> =
        serde_json::from_slice(&std::fs::read(fixture_path("session/dangling-tool-call.json")).unwrap())
            .unwrap();
    let (last, earlier) = neutral.split_last().unwrap();
    for family in FAMILIES {
        let played = Played::new(
            family,
            "steps: [{ text: Hello., repeat: 1 }, { text: Going on. }]",
        );
        let run = played.exec(&["Hi."]).expect_code(0);
        let session = run.session();
        let database = crate::database::open(&played.place);
        for message in earlier {
            let record = json!({ "turnId": "trn_earlier", "at": 1, "message": in_our_form(message) });
            database
                .execute(
                    "INSERT INTO messages (session, record) VALUES (?1, ?2)",
                    (&session, record.to_string()),
                )
                .unwrap();
        }
        drop(database);
        let run = played
            .exec(&["--session", &session, last["text"].as_str().unwrap()])
            .expect_code(0);
        let results = tool_results(played.server.requests().last().unwrap());
        let ids: Vec<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(ids, ["t1", "t2"], "{family}: exactly one result each");
        assert!(
            results[0].1.contains("Its effects are not known"),
            "{}",
            results[0].1
        );
        assert_eq!(results[1].1, "ok");
        let noted = run.items().any(|item| match &item.kind {
            ItemKind::Summary(summary) => summary.notes.iter().any(|note| note.contains("no result")),
            _ => false,
        });
        assert!(noted, "{family}: the timeline says what was added");
    }
}

fn in_our_form(message: &Value) -> Value {
    let text = json!({ "type": "text", "text": message["text"] });
    match message["role"].as_str().unwrap() {
        "tool" => json!({ "role": "user", "blocks": [
            { "type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["text"] },
        ] }),
        role => match message["tool_calls"].as_array() {
            None => json!({ "role": role, "blocks": [text] }),
            Some(calls) => {
                let blocks: Vec<Value> = calls
                    .iter()
                    .map(|call| {
                        json!({ "type": "tool_use", "id": call["id"], "name": call["name"], "input": call["args"] })
                    })
                    .collect();
                json!({ "role": role, "blocks": blocks })
            }
        },
    }
}

/// V01 when the user stops a running tool: what ran, what was cut off and what never began are told apart.
#[test]
fn v01_cancelled_during_a_tool() {
    let scenario = json!({ "steps": [
        { "tools": [read("a.txt"), command("echo begun; sleep 300"), read("a.txt")] },
        { "when": { "user": "continue" }, "text": "Going on." },
    ] })
    .to_string();
    for family in FAMILIES {
        let played = Played::new(family, &scenario);
        played.place.write("a.txt", "content a\n");
        let mut running = played.place.start(&[
            "exec",
            "--json",
            "--approvals",
            "allow",
            "--provider",
            family,
            "Work.",
        ]);
        running.wait_for(OUTPUT, Duration::from_secs(20));
        running.signal("INT");
        let run = running.finish(Duration::from_secs(10)).expect_code(130);
        played
            .exec(&["--session", &run.session(), "continue"])
            .expect_code(0);
        let results = tool_results(played.server.requests().last().unwrap());
        assert_eq!(results.len(), 3, "{family}: {results:?}");
        assert!(results[0].1.contains("content a"));
        assert!(!results[1].1.is_empty());
        assert!(results[2].1.contains("Not run"), "{}", results[2].1);
    }
}

/// V02: arguments that the output limit cut never run; the model is told, and three in a row are the end.
#[test]
fn v02_tool_arguments_cut_by_the_output_limit() {
    let cut = json!({ "tools": [create("out.txt", &"line\n".repeat(50))], "cut": true });
    let whole = json!({ "tools": [create("out.txt", "short\n")] });
    for family in FAMILIES {
        let scenario = json!({ "steps": [cut, whole, { "text": "Done." }] }).to_string();
        let played = Played::new(family, &scenario);
        let run = played.exec(&["Work."]).expect_code(3);
        let told: Vec<(String, String)> = spoken(&played.server.requests()[1]);
        let last = &told.last().unwrap().1;
        assert!(last.contains("cut off by the output limit"), "{family}: {last}");
        assert!(last.contains("Send less at a time"), "{family}: {last}");
        assert_eq!(
            run.result["changeSets"][0]["files"][0]["added"], 1,
            "only the whole call counts"
        );

        let scenario = json!({ "steps": [{ "tools": cut["tools"], "cut": true, "repeat": 3 }] }).to_string();
        let played = Played::new(family, &scenario);
        let run = played.exec(&["Work."]);
        expect_failure(&run, 1, "provider.outputLimit");
        assert_eq!(played.server.requests().len(), 3);
        assert_eq!(run.result["changeSets"], json!([]));
        assert!(!played.place.exists("out.txt"));
    }
    // The recorded answer of a real server, again and again.
    let recording = Recording::load(fixture_path("streams/tool-args-cut.json"));
    let mut played = Played::new("openai", "steps: [{ text: unused }]");
    played.play(ModelServer::spawn(recording));
    let run = played.exec(&["Write out.txt."]);
    expect_failure(&run, 1, "provider.outputLimit");
    assert_eq!(played.server.requests().len(), 3);
    assert!(run.tool_calls().is_empty(), "nothing executes");
    assert!(!played.place.exists("out.txt"));
}

/// X04: content is looked at before it becomes part of the conversation.
#[test]
fn x04_a_file_that_poisons_the_session() {
    let paths = ["corrupt.png", "empty.png", "large.txt", "paper.pdf"];
    let calls: Vec<Value> = paths.iter().map(|path| read(path)).collect();
    let scenario = json!({ "steps": [
        { "tools": calls },
        { "text": "Seen." },
        { "when": { "user": "go on" }, "text": "Going on." },
    ] })
    .to_string();
    for family in FAMILIES {
        let played = Played::new(family, &scenario);
        played.place.write(
            "corrupt.png",
            std::fs::read(fixture_path("search/corrupt.png")).unwrap(),
        );
        played.place.write("empty.png", b"");
        let line = "a line of twenty MB, fifty characters or so long\n";
        played
            .place
            .write("large.txt", line.repeat(20 * 1024 * 1024 / line.len()));
        played.place.write(
            "paper.pdf",
            b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n1 0 obj\n<<>>\nendobj\n",
        );
        let run = played.exec(&["Read them."]).expect_code(0);
        let requests = played.server.requests();
        let results = tool_results(&requests[1]);
        assert_eq!(results.len(), 4, "{family}");
        for (place, part) in [(0, "not text"), (1, "empty"), (2, "large.txt"), (3, "not text")] {
            let text = &results[place].1;
            assert!(
                text.to_lowercase().contains(part),
                "{family} {}: {text}",
                paths[place]
            );
            let limit = if place == 2 { 64 * 1024 } else { 400 };
            assert!(
                text.len() <= limit,
                "{family} {}: {} bytes",
                paths[place],
                text.len()
            );
            assert!(
                !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'),
                "{family} {}",
                paths[place]
            );
        }
        assert!(requests[1].body.len() < 160 * 1024, "{}", requests[1].body.len());
        played
            .exec(&["--session", &run.session(), "go on"])
            .expect_code(0);
        assert!(played.server.requests()[2].body.len() < 160 * 1024);
    }
}

/// X04 where a provider objects to what a tool brought in: it is taken out, and the turn goes on.
#[test]
fn x04_a_result_the_provider_rejects_is_taken_out() {
    let scenario = json!({ "steps": [
        { "tools": [read("strange.txt"), edit("b.txt", "one", "two")] },
        { "when": { "tool_result": "unspeakable" }, "error": { "kind": "invalid_request" }, "repeat": "always" },
        { "when": { "tool_result": "left out" }, "text": "I go on without it." },
        { "when": { "user": "And now" }, "text": "Still good." },
    ] })
    .to_string();
    for family in FAMILIES {
        let played = Played::new(family, &scenario);
        played.place.write("strange.txt", "unspeakable\n");
        played.place.write("b.txt", "one\n");
        let run = played.exec(&["Work."]).expect_code(3);
        let results = tool_results(played.server.requests().last().unwrap());
        assert_eq!(results.len(), 2, "{family}: the calls keep a result");
        assert_eq!(run.result["changeSets"][0]["files"][0]["path"], "b.txt");
        let noted = run.items().any(|item| match &item.kind {
            ItemKind::Summary(summary) => summary.notes.iter().any(|note| note.contains("did not accept")),
            _ => false,
        });
        assert!(noted, "{family}: a person is told");
        // And it stays out when the session is opened again.
        played
            .exec(&["--session", &run.session(), "And now?"])
            .expect_code(3);
        assert!(!last_results(&played).contains("unspeakable"), "{family}");
        // A provider that rejects everything ends the turn with its error.
        let refuses = json!({ "steps": [
            { "tools": [read("strange.txt")] },
            { "error": { "kind": "invalid_request" }, "repeat": "always" },
        ] });
        let played = Played::new(family, &refuses.to_string());
        played.place.write("strange.txt", "unspeakable\n");
        let run = played.exec(&["Work."]);
        expect_failure(&run, 1, "provider.invalidRequest");
        assert_eq!(
            played.server.requests().len(),
            3,
            "{family}: one more try, no more"
        );
    }
}

/// Over twenty rounds of tools each request is the one before, byte for byte, plus what is new at its end.
#[test]
fn each_request_begins_with_the_one_before() {
    let mut steps: Vec<Value> = (0..20)
        .map(|round| {
            let calls = match round % 4 {
                0 => vec![read("a.txt"), call("list_directory", json!({}))],
                1 => vec![create(&format!("new-{round}.txt"), "text\n")],
                2 => vec![command("ls")],
                _ => vec![call("search_content", json!({ "pattern": "content" }))],
            };
            json!({ "thinking": "I think.", "text": format!("Round {round}."), "tools": calls })
        })
        .collect();
    steps.push(json!({ "text": "Done." }));
    steps.push(json!({ "text": "Again." }));
    let scenario = json!({ "steps": steps }).to_string();
    for family in ALL_FAMILIES {
        let played = Played::new(family, &scenario);
        played.place.write("a.txt", "content a\n");
        played
            .place
            .write("AGENTS.md", "Answer in short sentences. Größe zählt.\n");
        let run = played.exec(&["Work."]).expect_code(3);
        // A later turn, of another process, continues the same bytes.
        played
            .exec(&["--session", &run.session(), "Once more."])
            .expect_code(3);
        let requests = played.server.requests();
        assert_eq!(requests.len(), 22);
        for (number, pair) in requests.windows(2).enumerate() {
            let [before, after] = [&pair[0].body, &pair[1].body];
            let before_text = std::str::from_utf8(before).unwrap();
            // Everything up to the end of the last message.
            let end = before_text.rfind(']').unwrap();
            assert!(
                before_text[end..].len() < 200,
                "what follows the messages is short and fixed"
            );
            assert!(
                after.starts_with(&before[..end]),
                "{family}: request {}",
                number + 1
            );
            let tail = &before[end..];
            assert!(after.ends_with(tail), "{family}: request {}", number + 1);
        }
        // What comes before the first message of the user: tokens by the usual four characters each.
        let body = requests[0].json();
        let system = match family {
            "anthropic" => body["system"].to_string(),
            "gemini" => body["systemInstruction"].to_string(),
            "responses" => body["instructions"].to_string(),
            _ => body["messages"][0]["content"].to_string(),
        };
        let tokens = (system.chars().count() + body["tools"].to_string().chars().count()).div_ceil(4);
        assert!(tokens < 3_000, "{family}: {tokens} tokens");
        assert!(String::from_utf8_lossy(&requests[1].body).contains("content a"));
    }
}
