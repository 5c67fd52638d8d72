//! What `exec` promises to a script: exit codes, lines, approvals, limits, and sessions that go on.

use std::time::{Duration, Instant};

use protocol::{ItemKind, timeline::ApprovalDecision};
use serde_json::{Value, json};

use crate::{
    agent::{call, command, create, read},
    support::{FAMILIES, Played, json_lines, processes_with},
    told::{expect_failure, last_results, spoken, tool_results},
};

#[test]
fn exit_codes_are_those_of_the_contract() {
    let cases: [(&str, &[&str], i32); 6] = [
        ("steps: [{ text: Done. }]", &["Hello"], 0),
        ("steps: [{ error: { kind: auth } }]", &["Hello"], 1),
        ("steps: [{ text: Done. }]", &["--mode", "everything", "Hello"], 2),
        ("steps: [{ text: Done. }]", &[], 2),
        ("steps: [{ text: Done. }]", &["--timeout", "0", "Hello"], 2),
        (
            "steps: [{ tools: [{ name: create_file, arguments: { path: new.txt, content: x } }] }, { text: Done. }]",
            &["Hello"],
            3,
        ),
    ];
    for (scenario, arguments, code) in cases {
        let played = Played::new("anthropic", scenario);
        let mut all = vec!["exec", "--provider", "anthropic"];
        all.extend_from_slice(arguments);
        let output = played.place.vibe(&all);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(played.place.tree().is_empty(), "{arguments:?}");
    }
    let played = Played::new("anthropic", "steps: [{ text: thinking, stall: true }]");
    let mut running = played
        .place
        .start(&["exec", "--json", "--provider", "anthropic", "Hello"]);
    running.wait_for("itemDelta", Duration::from_secs(20));
    running.signal("HUP");
    running.finish(Duration::from_secs(10)).expect_code(130);
}

/// Every line is an event, numbered without a gap, and then there is exactly one result.
#[test]
fn json_is_events_and_then_one_result() {
    let scenario = json!({ "steps": [
        { "text": "I will make it.", "tools": [create("new.txt", "one\n"), command("cat new.txt")],
          "usage": { "input": 100, "output": 20 } },
        { "text": "Made.", "usage": { "input": 150, "output": 5 } },
    ] })
    .to_string();
    for family in FAMILIES {
        for (accept, code, status, files) in [
            ("none", 3, "pending_review", json!([])),
            ("all", 0, "accepted", json!(["new.txt"])),
        ] {
            let played = Played::new(family, &scenario);
            let run = played.exec(&["--accept", accept, "Make it."]).expect_code(code);
            let numbers: Vec<u64> = run.events.iter().map(|event| event.seq).collect();
            let first = numbers[0];
            let expected: Vec<u64> = (first..first + numbers.len() as u64).collect();
            assert_eq!(numbers, expected);
            let session = run.session();
            for event in &run.events {
                assert_eq!(event.context_id, run.events[0].context_id);
                assert_eq!(
                    event.session_id.as_ref().map(ToString::to_string),
                    Some(session.clone())
                );
            }
            let types = run.event_types();
            let completed = types.iter().filter(|name| *name == "turnCompleted").count();
            assert_eq!(completed, 1);

            let result = run.result.as_object().unwrap();
            let mut keys: Vec<&str> = result.keys().map(String::as_str).collect();
            keys.sort_unstable();
            assert_eq!(
                keys,
                [
                    "changeSets",
                    "cost",
                    "durationMs",
                    "files",
                    "session",
                    "state",
                    "type",
                    "usage"
                ]
            );
            assert_eq!(result["files"], files);
            assert_eq!(
                result["usage"],
                json!({ "input": 250, "output": 25, "cacheRead": 0, "cacheWrite": 0, "reasoning": 0 })
            );
            assert_eq!(result["changeSets"][0]["status"], status);
            let (_, sets) = json_lines(&played.place, &["changes", "list", "--json"]);
            assert_eq!(result["changeSets"], Value::from(sets));
            assert_eq!(played.place.exists("new.txt"), accept == "all");
        }
    }
}

/// A call that needs a person: refused with the reason, or run because the caller said so. A block stays a block.
#[test]
fn approvals_decide_about_calls_that_need_a_person() {
    for family in FAMILIES {
        for (approvals, text, ran, code) in [
            (
                "deny",
                "touch made.txt && echo touched",
                false,
                Some("permission.denied"),
            ),
            ("allow", "touch made.txt && echo touched", true, None),
            ("deny", "sudo touch made.txt", false, Some("permission.blocked")),
            ("allow", "sudo touch made.txt", false, Some("permission.blocked")),
            ("allow", "rm -rf /", false, Some("permission.blocked")),
            ("allow", "rm -rf ~", false, Some("permission.blocked")),
        ] {
            let scenario = json!({ "steps": [{ "tools": [command(text)] }, { "text": "Understood." }] });
            let played = Played::new(family, &scenario.to_string());
            played.place.write("kept.txt", "kept\n");
            let run = played.exec(&["--approvals", approvals, "Work."]);
            let case = format!("{family} {approvals} {text}");
            // What a command makes may be on disk or wait for review, as the isolation of this machine has it.
            let proposed = run.code == Some(3);
            assert!(proposed || run.code == Some(0), "{case}: {}", run.stderr);
            assert_eq!(played.place.exists("made.txt") || proposed, ran, "{case}");
            assert_eq!(played.place.read_text("kept.txt"), "kept\n");
            let commands = run.commands();
            let card = commands[0];
            let told = last_results(&played);
            match code {
                None => assert_eq!(
                    (card.state.as_str(), card.output.as_str()),
                    ("succeeded", "touched\n"),
                    "{case}: {card:?}"
                ),
                Some(_) => {
                    assert_eq!(card.state.as_str(), "cancelled", "{case}: {card:?}");
                    assert!(!card.policy_reason.is_empty(), "{case}");
                    assert!(told.contains(&card.policy_reason), "{case}: {told}");
                }
            }
            let asked = run.items().find_map(|item| match &item.kind {
                ItemKind::Approval(approval) => Some(approval.clone()),
                _ => None,
            });
            if code == Some("permission.blocked") {
                assert_eq!(asked, None, "{case}: nobody is asked about a block");
                assert!(card.policy_reason.starts_with("Blocked"), "{case}: {card:?}");
                continue;
            }
            let asked = asked.expect("a question and its answer");
            assert_eq!(asked.request, text);
            assert!(!asked.reason.is_empty(), "{case}");
            let expected = if ran {
                ApprovalDecision::Allow
            } else {
                ApprovalDecision::Deny
            };
            assert_eq!(asked.decision, Some(expected));
            assert!(asked.decided_because.contains(approvals), "{case}: {asked:?}");
            if !ran {
                assert!(told.contains("approvals are set to deny"), "{case}: {told}");
            }
        }
    }
}

/// `--timeout` ends a silent model and a long command alike, as failed, with nothing left running.
#[test]
fn timeout_ends_the_turn_and_what_it_started() {
    let tag = format!("timeout-{}", std::process::id());
    let sleeping =
        json!({ "steps": [{ "tools": [command(&format!("exec -a {tag} sleep 300"))] }] }).to_string();
    for scenario in ["steps: [{ text: thinking, stall: true }]", &sleeping] {
        let played = Played::new("anthropic", scenario);
        let began = Instant::now();
        let run = played.exec(&["--approvals", "allow", "--timeout", "1", "Work."]);
        assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
        expect_failure(&run, 1, "session.timeout");
        assert_eq!(run.result["state"], "failed");
        assert_eq!(run.event_types().last().unwrap(), "turnCompleted");
        for item in run.items() {
            assert!(item.status.is_final(), "{item:?}");
        }
        assert_eq!(processes_with(&tag), Vec::<u32>::new());
    }
}

/// An earlier session goes on with everything that was said and done in it.
#[test]
fn session_continues_with_its_history() {
    let scenario = json!({ "steps": [
        { "when": { "user": "Remember" }, "text": "I look.", "tools": [read("a.txt")] },
        { "when": { "tool_result": "alpha" }, "text": "Noted." },
        { "when": { "user": "What was it" }, "text": "It was alpha." },
    ] })
    .to_string();
    for family in FAMILIES {
        let played = Played::new(family, &scenario);
        played.place.write("a.txt", "alpha\n");
        let first = played.exec(&["Remember the word."]).expect_code(0);
        let session = first.session();
        let second = played
            .exec(&["--session", &session, "What was it?"])
            .expect_code(0);
        assert_eq!(second.session(), session);
        let requests = played.server.requests();
        let said: Vec<(String, String)> = spoken(&requests[2])
            .into_iter()
            .filter(|(role, _)| role == "user" || role == "assistant")
            .collect();
        let texts: Vec<&str> = said.iter().map(|(_, text)| text.as_str()).collect();
        assert!(texts[0].ends_with("Remember the word."), "{texts:?}");
        assert_eq!(texts[1..3], ["I look.", "Noted."], "{family}");
        assert!(texts.last().unwrap().ends_with("What was it?"), "{texts:?}");
        let results = tool_results(&requests[2]);
        assert_eq!(results.len(), 1);
        assert!(results[0].1.contains("alpha"));
        let (_, sessions) = json_lines(&played.place, &["sessions", "list", "--json"]);
        assert_eq!(sessions.len(), 1, "no second session was made");
        assert_eq!(sessions[0]["title"], "Remember the word.");
    }
}

/// Calls that a model makes side by side are each answered, in their order, and writes happen in theirs.
#[test]
fn parallel_calls_are_each_answered_in_order() {
    let calls = [
        read("a.txt"),
        read("b.txt"),
        create("c.txt", "one\n"),
        call(
            "edit_file",
            json!({ "path": "c.txt", "old": "one", "new": "two" }),
        ),
        read("c.txt"),
        read("missing.txt"),
    ];
    let scenario = json!({ "steps": [{ "tools": calls, "chunk": 3 }, { "text": "Done." }] }).to_string();
    for family in FAMILIES {
        let played = Played::new(family, &scenario);
        played.place.write("a.txt", "content a\n");
        played.place.write("b.txt", "content b\n");
        let run = played.exec(&["Work."]).expect_code(3);
        let results = tool_results(&played.server.requests()[1]);
        let expected = [
            "content a",
            "content b",
            "Created c.txt",
            "Edited c.txt",
            "two",
            "missing.txt",
        ];
        assert_eq!(results.len(), expected.len());
        for ((id, text), part) in results.iter().zip(expected) {
            assert!(text.contains(part), "{family} {id}: {text}");
        }
        assert_eq!(run.tool_calls().len(), 6);
    }
}

/// The whole of what a newcomer sees first.
#[test]
fn demo_finds_fixes_and_verifies() {
    let place = crate::support::hermetic();
    let folder = place.outside().join("demo");
    std::fs::create_dir(&folder).unwrap();
    let into = folder.to_str().unwrap();
    let output = place.vibe(&["demo", "--into", into]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let repository = folder.join("till");
    let git = |arguments: &[&str]| {
        let mut all = vec!["-C", repository.to_str().unwrap()];
        all.extend_from_slice(arguments);
        place.git(&all)
    };
    assert_eq!(git(&["diff", "--name-only"]), "src/lib.rs\n");
    let manifest = repository.join("Cargo.toml");
    let tests = place.program(
        "cargo",
        &["test", "--quiet", "--manifest-path", manifest.to_str().unwrap()],
    );
    assert!(
        tests.status.success(),
        "{}",
        String::from_utf8_lossy(&tests.stdout)
    );
    // What was there before fails without the fix: the test can tell the difference.
    git(&["stash", "--quiet"]);
    let before = place.program(
        "cargo",
        &["test", "--quiet", "--manifest-path", manifest.to_str().unwrap()],
    );
    assert!(!before.status.success());
    // A second time into the same folder is refused, and says what to do.
    let again = place.vibe(&["demo", "--into", into]);
    crate::told::expect_refusal(&again, 1, "path.exists");
}
