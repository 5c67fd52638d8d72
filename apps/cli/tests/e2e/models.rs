//! Choosing and paying for models through the binary: stored keys, another provider in need, limits, the check.

use std::{
    io::Write,
    process::{Output, Stdio},
};

use protocol::ItemKind;
use testkit::{Hermetic, ModelServer};

use crate::{
    agent::command,
    support::{Played, hermetic, json_lines},
};

const KEY: &str = "planted-key-5d41402abc4b2a76";

fn login(place: &Hermetic, id: &str, key: &str) -> Output {
    let mut child = place
        .command(&["providers", "login", id])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("its input");
    stdin.write_all(key.as_bytes()).expect("the key is read");
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn set(place: &Hermetic, name: &str, value: &str) {
    let output = place.vibe(&["settings", "set", name, value]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{words}");
}

/// Every byte below a folder.
fn everything_in(folder: &std::path::Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => all.extend(everything_in(&path)),
            false => all.extend(std::fs::read(&path).unwrap_or_default()),
        }
    }
    all
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn a_stored_key_opens_its_provider_and_is_found_nowhere_else() {
    let scenario = serde_json::json!({ "steps": [
        { "tools": [command("env; cat /proc/$PPID/environ | tr '\\0' '\\n'")] },
        { "text": format!("Your key is {KEY}."), "chunk": 5 },
    ] })
    .to_string();
    let server = ModelServer::spawn(scenario.as_str());
    let place = hermetic()
        .with_variable("ANTHROPIC_BASE_URL", server.anthropic_base_url())
        .with_variable("VIBE_CODER_KEYRING", "off");
    let stored = login(&place, "anthropic", &format!("{KEY}\n"));
    assert_eq!(
        stored.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&stored.stderr)
    );
    let words = String::from_utf8_lossy(&stored.stdout).into_owned();
    assert!(
        words.contains("any program that runs as you here can read it"),
        "{words}"
    );

    let run = place.vibe(&[
        "exec",
        "--json",
        "--approvals",
        "allow",
        "--provider",
        "anthropic",
        "Show me everything.",
    ]);
    assert_eq!(
        run.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert_eq!(server.requests()[0].header("x-api-key"), Some(KEY));
    let said: Vec<u8> = server
        .requests()
        .into_iter()
        .flat_map(|request| request.body)
        .collect();
    for (what, bytes) in [
        ("output", run.stdout),
        ("errors", run.stderr),
        ("requests", said),
        ("data", everything_in(&place.data())),
        ("home", everything_in(&place.home())),
        ("workspace", everything_in(&place.workspace())),
    ] {
        assert!(!holds(&bytes, KEY), "the key is in the {what}");
    }

    // The environment counts more, and a forgotten key is gone.
    let other = place.with_variable("ANTHROPIC_API_KEY", "from-the-environment");
    other.vibe(&["exec", "--provider", "anthropic", "Hello."]);
    let last = server.requests().pop().expect("a request");
    assert_eq!(last.header("x-api-key"), Some("from-the-environment"));
    let gone = other.vibe(&["providers", "logout", "anthropic"]);
    assert!(String::from_utf8_lossy(&gone.stdout).contains("is forgotten"));
    for (id, key, code) in [("nope", KEY, 1), ("anthropic", "  ", 2), ("ollama", KEY, 2)] {
        assert_eq!(login(&other, id, key).status.code(), Some(code), "{id}");
    }
}

#[test]
fn another_provider_answers_in_need_and_the_timeline_says_who() {
    let mut played = Played::new("anthropic", "steps: [{ error: { kind: quota }, repeat: always }]");
    let second = ModelServer::spawn("steps: [{ text: I am the second. }]");
    played
        .place
        .set_variable("OPENAI_BASE_URL", second.openai_base_url());
    set(&played.place, "fallbacks", "[\"openai/spare\"]");
    let run = played.exec(&["Hello."]).expect_code(0);
    let speakers: Vec<(String, String)> = run
        .items()
        .filter_map(|item| match &item.kind {
            ItemKind::AssistantMessage { provider, model, .. } => Some((provider.clone(), model.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(speakers, [("openai".to_owned(), "spare".to_owned())]);
    let told = run.items().any(|item| match &item.kind {
        ItemKind::Error { error } => {
            let action = error.user_action.as_deref().unwrap_or_default();
            error.code.as_str() == "provider.quota" && action.contains("openai (spare) answers instead")
        }
        _ => false,
    });
    assert!(told, "the switch is on the timeline");
}

#[test]
fn a_limit_stops_before_the_request_that_could_pass_it() {
    // A price makes the answer's worst case dear: 32,000 tokens at most, at one dollar a thousand.
    let prices = r#"{"m":{"inputPerMillion":1000,"outputPerMillion":1000}}"#;
    for (settings, requests, code) in [
        (vec![("spending.sessionTokens", "500")], 0, Some("session.limit")),
        (
            vec![
                ("providers.anthropic.prices", prices),
                ("spending.sessionDollars", "1"),
            ],
            0,
            Some("session.limit"),
        ),
        (
            vec![
                ("providers.anthropic.prices", prices),
                ("spending.sessionDollars", "1000"),
            ],
            1,
            None,
        ),
    ] {
        let played = Played::new("anthropic", "steps: [{ text: Fine., repeat: always }]");
        for (name, value) in &settings {
            set(&played.place, name, value);
        }
        let run = played.exec(&["--model", "m", "Hello."]);
        assert_eq!(played.server.requests().len(), requests, "{settings:?}");
        assert_eq!(run.result["error"]["code"].as_str(), code, "{settings:?}");
    }
}

#[test]
fn providers_are_listed_and_tried_out() {
    let scenario = r#"steps:
  - when: { user: "Count from one" }
    text: one, two, three, four, five
    chunk: 4
  - when: { user: "report_colours" }
    tools: [{ name: report_colours, arguments: { first: green, second: blue } }]
  - when: { user: "area.rs" }
    tools: [{ name: edit_file, arguments: { path: area.rs, old: "width + height", new: "width * height" } }]
  - when: { user: "code word" }
    text: Marigold
    repeat: always
"#;
    let played = Played::new("anthropic", scenario);
    let (code, reports) = json_lines(
        &played.place,
        &["providers", "check", "anthropic", "--model", "m", "--json"],
    );
    assert_eq!(code, Some(0), "{reports:?}");
    let findings = reports[0]["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 5);
    assert!(
        findings.iter().all(|finding| finding["verdict"] == "works"),
        "{findings:?}"
    );
    let (code, list) = json_lines(&played.place, &["providers", "list", "--json"]);
    assert_eq!(code, Some(0));
    let ids: Vec<&str> = list
        .iter()
        .filter_map(|provider| provider["id"].as_str())
        .collect();
    assert!(ids.contains(&"gemini") && ids.contains(&"ollama"), "{ids:?}");
}
