//! The golden workflows of §55 that need no window, over both wire formats.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use crate::support::{FAMILIES, Played, json_lines, processes_with};

/// 55.1 Ask about code.
#[test]
fn golden_1_ask_about_code() {
    let scenario = r#"
steps:
  - when: { user: "Explain how authentication works" }
    text: I'll look for it.
    tools:
      - { name: search_content, arguments: { pattern: "fn login" } }
      - { name: list_directory, arguments: { path: src } }
  - when: { tool_result: "src/auth.rs:3" }
    tools:
      - { name: read_file, arguments: { path: src/auth.rs } }
  - when: { tool_result: "check_password" }
    text: "`login` in src/auth.rs:3 checks the password and returns a token; src/web.rs calls it."
"#;
    for family in FAMILIES {
        let played = Played::new(family, scenario);
        let place = &played.place;
        place.write("src/auth.rs", "//! Who may come in.\n\npub fn login(name: &str, password: &str) -> Option<Token> {\n    check_password(name, password).then(|| Token::new(name))\n}\n");
        place.write(
            "src/web.rs",
            "fn post_login() { crate::auth::login(\"a\", \"b\"); }\n",
        );
        place.commit_all();
        let before = place.tree();

        let run = played
            .exec(&["--mode", "ask", "Explain how authentication works in this repo."])
            .expect_code(0);
        assert_eq!(run.result["changeSets"], serde_json::json!([]), "{family}");
        assert_eq!(run.result["state"], "complete");
        assert!(run.commands().is_empty());
        let calls: Vec<String> = run
            .tool_calls()
            .iter()
            .map(|call| format!("{} {} · {}", call.verb, call.target, call.summary))
            .collect();
        assert_eq!(
            calls,
            [
                "Searched fn login · 1 match in 1 file",
                "Listed src · 2 entries",
                "Read src/auth.rs · 5 lines"
            ]
        );
        assert!(run.answer().contains("src/auth.rs:3"));
        assert_eq!(place.tree(), before);

        let (_, sessions) = json_lines(place, &["sessions", "list", "--json"]);
        assert_eq!(sessions.len(), 1);
        assert_eq!(sessions[0]["id"], run.session().as_str());
        assert_eq!(
            sessions[0]["title"],
            "Explain how authentication works in this repo."
        );
        let (_, shown) = json_lines(place, &["sessions", "show", "--json", &run.session()]);
        let types: Vec<&str> = shown[0]["timeline"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["type"].as_str().unwrap())
            .collect();
        assert_eq!(
            types,
            [
                "user_message",
                "assistant_message",
                "tool_call",
                "tool_call",
                "tool_call",
                "assistant_message",
                "summary"
            ]
        );
        let (_, hits) = json_lines(place, &["sessions", "search", "--json", "password token"]);
        assert_eq!(hits[0]["sessionId"], run.session().as_str());
    }
}

const SETTINGS_PAGE: &str = "<form>\r\n  <button>Save</button>\r\n  <button>Cancel</button>\r\n</form>\r\n";
const SAVE_CHANGES: &str = r#"
steps:
  - when: { user: "button text" }
    tools:
      - { name: search_files, arguments: { query: settings } }
  - when: { tool_result: "pages/settings.html" }
    tools:
      - { name: read_file, arguments: { path: pages/settings.html } }
  - when: { tool_result: "<button>Save</button>" }
    tools:
      - name: edit_file
        arguments: { path: pages/settings.html, old: "<button>Save</button>", new: "<button>Save changes</button>" }
  - when: { tool_result: "Edited pages/settings.html" }
    text: The button now says "Save changes". It waits for your review.
"#;

/// 55.2 Edit a single file: reject leaves the tree as it was, accept writes exactly the diff, undo takes it back.
#[test]
fn golden_2_edit_a_single_file() {
    for family in FAMILIES {
        let played = Played::new(family, SAVE_CHANGES);
        let place = &played.place;
        place.write("pages/settings.html", SETTINGS_PAGE);
        place.write("pages/home.html", "<p>home</p>\n");
        place.commit_all();
        let before = place.tree();
        let request = "Change the button text on the settings page to \"Save changes\".";

        let run = played.exec(&["--mode", "edit", request]).expect_code(3);
        assert_eq!(run.result["state"], "awaiting_diff_review");
        assert_eq!(place.tree(), before, "nothing on disk before it is accepted");
        let (_, sets) = json_lines(place, &["changes", "list", "--json"]);
        assert_eq!(
            run.result["changeSets"],
            serde_json::Value::from(sets.clone()),
            "the same objects everywhere"
        );
        assert_eq!(sets[0]["status"], "pending_review");
        assert_eq!(sets[0]["files"][0]["path"], "pages/settings.html");
        assert_eq!(
            (&sets[0]["files"][0]["added"], &sets[0]["files"][0]["deleted"]),
            (&1.into(), &1.into())
        );

        let rejected = place.vibe(&["changes", "reject"]);
        assert_eq!(rejected.status.code(), Some(0));
        assert_eq!(place.tree(), before, "reject leaves the tree byte-identical");

        // The same again, by a new session of a server that starts over.
        let again = Played::new(family, SAVE_CHANGES);
        let place = &again.place;
        place.write("pages/settings.html", SETTINGS_PAGE);
        place.commit_all();
        let before = place.tree();
        again.exec(&["--mode", "edit", request]).expect_code(3);
        let (_, shown) = json_lines(place, &["changes", "show", "--json"]);
        let diff = shown[0]["diff"].as_str().unwrap().to_owned();
        assert_eq!(place.vibe(&["changes", "accept"]).status.code(), Some(0));
        assert_eq!(
            place.read_text("pages/settings.html"),
            SETTINGS_PAGE.replace(">Save<", ">Save changes<")
        );
        let written: Vec<String> = place
            .git(&["diff"])
            .split('\n')
            .filter(|line| {
                line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
            })
            .map(str::to_owned)
            .collect();
        assert_eq!(
            written,
            ["-  <button>Save</button>\r", "+  <button>Save changes</button>\r"]
        );
        for line in &written {
            assert!(diff.contains(line.trim_end_matches('\r')), "{diff}");
        }
        let (_, sets) = json_lines(place, &["changes", "list", "--json"]);
        assert_eq!(sets[0]["status"], "accepted");
        assert_eq!(
            sets[0]["snapshots"].as_array().unwrap().len(),
            1,
            "an accept makes a snapshot"
        );
        assert_eq!(place.vibe(&["changes", "undo"]).status.code(), Some(0));
        assert_eq!(place.tree(), before, "undo restores the hash");
        assert_eq!(place.vibe(&["changes", "redo"]).status.code(), Some(0));
        assert!(place.read_text("pages/settings.html").contains("Save changes"));
    }
}

const HEALTH: &str = r#"
steps:
  - when: { user: "Rename the provider health hook" }
    tools:
      - { name: search_content, arguments: { pattern: use_provider_health, literal: true } }
  - when: { tool_result: "src/panel.rs" }
    tools:
      - { name: edit_file, arguments: { path: src/health.rs, old: "pub fn use_provider_health()", new: "pub fn provider_health()" } }
      - { name: edit_file, arguments: { path: src/lib.rs, old: "use health::use_provider_health", new: "use health::provider_health" } }
      - name: multi_edit
        arguments:
          path: src/panel.rs
          edits:
            - { old: "use crate::use_provider_health;", new: "use crate::provider_health;" }
            - { old: "    use_provider_health() > 0", new: "    provider_health() > 0" }
  - when: { tool_result: "Edited src/panel.rs" }
    tools:
      - { name: run_command, arguments: { command: "cargo check --offline --quiet" } }
      - { name: search_content, arguments: { pattern: use_provider_health, literal: true } }
  - when: { tool_result: "Exit 0." }
    text: Renamed in three files; `cargo check` passes on the changed code and no reference is left.
"#;

/// 55.3 Multi-file refactor: the check runs on the proposed files while the user's files are untouched.
#[test]
fn golden_3_multi_file_refactor() {
    for family in FAMILIES {
        let played = Played::new(family, HEALTH);
        let place = &played.place;
        place.write(
            "Cargo.toml",
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        );
        place.write(".gitignore", "/target\nCargo.lock\n");
        place.write(
            "src/lib.rs",
            "mod health;\nmod panel;\npub use health::use_provider_health;\npub use panel::is_up;\n",
        );
        place.write(
            "src/health.rs",
            "pub fn use_provider_health() -> u8 {\n    1\n}\n",
        );
        place.write(
            "src/panel.rs",
            "use crate::use_provider_health;\n\npub fn is_up() -> bool {\n    use_provider_health() > 0\n}\n",
        );
        place.write("src/other.txt", "use_provider is a word here\n");
        place.commit_all();
        let before = place.tree();

        let run = played
            .exec(&["Rename the provider health hook and update all imports."])
            .expect_code(3);
        let mut after = place.tree();
        // What git ignores is real, so that the next build finds it.
        after.retain(|path, _| !path.starts_with("target") && path != Path::new("Cargo.lock"));
        assert_eq!(after, before);
        let commands = run.commands();
        // The agent's own, and the product's at the end.
        let lines: Vec<&str> = commands.iter().map(|card| card.command.as_str()).collect();
        assert_eq!(lines, ["cargo check --offline --quiet", "cargo test"]);
        assert_eq!(
            (commands[0].exit_code, commands[0].state.as_str()),
            (Some(0), "succeeded"),
            "{commands:?}"
        );
        assert!(
            commands[0].isolation.starts_with("staged view, "),
            "{}",
            commands[0].isolation
        );
        let last_search = run.tool_calls().last().unwrap().preview.clone();
        assert!(last_search.starts_with("No match."), "{last_search}");
        let mut paths: Vec<&str> = run.result["changeSets"][0]["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["path"].as_str().unwrap())
            .collect();
        paths.sort_unstable();
        assert_eq!(paths, ["src/health.rs", "src/lib.rs", "src/panel.rs"]);

        assert_eq!(place.vibe(&["changes", "accept"]).status.code(), Some(0));
        let check = place.program("cargo", &["check", "--offline", "--quiet"]);
        assert!(
            check.status.success(),
            "{}",
            String::from_utf8_lossy(&check.stderr)
        );
        let changed = place.git(&["diff", "--name-only"]);
        assert_eq!(changed, "src/health.rs\nsrc/lib.rs\nsrc/panel.rs\n");
    }
}

/// 55.6 Cancel long-running work: provider stream, tools and the whole command tree end within 2 s.
#[test]
fn golden_6_cancel_long_running_work() {
    for family in FAMILIES {
        let tag = format!("golden-6-{family}-{}", std::process::id());
        let scenario = format!(
            r#"
steps:
  - tools:
      - {{ name: create_file, arguments: {{ path: notes.txt, content: "half done\n" }} }}
      - {{ name: run_command, arguments: {{ command: "echo begun; (exec -a {tag} sleep 300) & (exec -a {tag} sleep 300); true" }} }}
      - {{ name: create_file, arguments: {{ path: never.txt, content: "x" }} }}
"#
        );
        let played = Played::new(family, &scenario);
        let place = &played.place;
        place.write("a.txt", "a\n");
        place.commit_all();
        let before = place.tree();
        let mut running = place.start(&[
            "exec",
            "--json",
            "--approvals",
            "allow",
            "--provider",
            family,
            "Refactor everything.",
        ]);
        running.wait_for("begun", Duration::from_secs(20));
        let asked = Instant::now();
        while processes_with(&tag).len() < 2 {
            assert!(
                asked.elapsed() < Duration::from_secs(5),
                "the command did not start its processes"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        let stopped = Instant::now();
        running.signal("INT");
        let run = running.finish(Duration::from_secs(10)).expect_code(130);
        let took = stopped.elapsed();
        assert!(took < Duration::from_secs(2), "cancel took {took:?}");
        assert_eq!(processes_with(&tag), Vec::<u32>::new());
        assert_eq!(run.result["state"], "cancelled");
        assert_eq!(run.commands()[0].state.as_str(), "cancelled");
        assert_eq!(
            run.event_types().last().unwrap(),
            "turnCompleted",
            "nothing follows the end"
        );
        assert_eq!(place.tree(), before);
        // The part that was drafted is shown for review, the call after the cancel never ran.
        let paths: Vec<&str> = run.result["changeSets"][0]["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["path"].as_str().unwrap())
            .collect();
        assert_eq!(paths, ["notes.txt"]);
    }
}

/// 55.6 while the model itself is silent: the connection is closed at once.
#[test]
fn golden_6_cancel_while_the_model_is_silent() {
    for family in FAMILIES {
        let played = Played::new(family, "steps: [{ text: thinking about it, stall: true }]");
        played.place.write("a.txt", "a\n");
        let mut running = played
            .place
            .start(&["exec", "--json", "--provider", family, "Think."]);
        running.wait_for("itemDelta", Duration::from_secs(20));
        let stopped = Instant::now();
        running.signal("TERM");
        let run = running.finish(Duration::from_secs(10)).expect_code(130);
        assert!(stopped.elapsed() < Duration::from_secs(2));
        assert_eq!(run.result["state"], "cancelled");
        assert_eq!(played.server.requests().len(), 1);
    }
}

/// 55.7 Crash recovery: killed while changes wait for review, and again in the middle of a turn.
#[test]
fn golden_7_crash_recovery() {
    for family in FAMILIES {
        let played = Played::new(family, SAVE_CHANGES);
        let place = &played.place;
        place.write("pages/settings.html", SETTINGS_PAGE);
        place.commit_all();
        let before = place.tree();
        let mut engine = place.start(&["engine"]);
        engine.send_line(r#"{"id":1,"method":"session/start","params":{}}"#);
        let started: serde_json::Value =
            serde_json::from_str(&engine.wait_for("\"id\":1", Duration::from_secs(20))).unwrap();
        let session = started["data"]["sessionId"].as_str().unwrap().to_owned();
        engine.send_line(r#"{"id":2,"method":"events/subscribe","params":{"fromSeq":0}}"#);
        engine.send_line(&format!(
            r#"{{"id":3,"method":"turn/send","params":{{"sessionId":"{session}","text":"Change the button text","mode":"edit","provider":"{family}"}}}}"#
        ));
        engine.wait_for("turnCompleted", Duration::from_secs(20));
        engine.signal("KILL");
        drop(engine);

        let (_, sets) = json_lines(place, &["changes", "list", "--json"]);
        assert_eq!(sets.len(), 1, "no lost diff");
        assert_eq!(sets[0]["status"], "pending_review");
        let (_, shown) = json_lines(place, &["sessions", "resume", "--json", &session]);
        assert_eq!(shown[0]["session"]["state"], "awaiting_diff_review");
        assert_eq!(place.tree(), before);
        assert_eq!(place.vibe(&["changes", "accept"]).status.code(), Some(0));
        assert_eq!(
            place.read_text("pages/settings.html"),
            SETTINGS_PAGE.replace(">Save<", ">Save changes<")
        );
        // Accepting again has nothing to do: no duplicate write.
        assert_eq!(place.vibe(&["changes", "accept"]).status.code(), Some(1));
    }
}

/// A turn that proposes nothing used to wait for the events of its accept for ever.
#[test]
fn accepting_all_of_nothing_ends() {
    let played = Played::new("anthropic", "steps: [{ text: Nothing to change. }]");
    let run = played.place.start(&[
        "exec",
        "--json",
        "--provider",
        "anthropic",
        "--accept",
        "all",
        "Is there anything to change?",
    ]);
    let run = run.finish(Duration::from_secs(20)).expect_code(0);
    assert_eq!(run.result["state"], "complete");
    assert_eq!(run.result["files"], serde_json::json!([]));
}
