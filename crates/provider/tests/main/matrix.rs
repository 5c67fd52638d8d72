//! The same scenario must be told in the same events by both families and by the scripted provider.

use std::{fmt::Write as _, time::Duration};

use provider::Family;

use crate::support::{FAMILIES, all, ask, config, failure, stream, transcript};

const BEHAVIOURS: [(&str, &str); 14] = [
    ("text", "steps: [{ text: 'Hello 你好 😀, how are you?', chunk: 1, usage: { input: 9, output: 7, cache_read: 4 } }]"),
    ("an empty answer", "steps: [{ text: '', usage: { input: 1 } }]"),
    (
        "a tool call",
        "steps: [{ text: Looking., tools: [{ name: read_file, arguments: { path: a.txt } }], usage: { input: 1 } }]",
    ),
    (
        "parallel calls",
        "steps: [{ tools: [{ name: read_file, arguments: { path: first.txt } }, { name: list, arguments: {} },
           { name: read_file, arguments: { path: second.txt } }], chunk: 3, usage: { input: 1 } }]",
    ),
    (
        "thinking",
        "steps: [{ thinking: 'Let me see…', text: Yes., tools: [{ name: t }], usage: { input: 1, output: 2 } }]",
    ),
    ("arguments that are no JSON", "steps: [{ tools: [{ name: t, arguments_text: '{\"a\": nope}' }], usage: {} }]"),
    ("a cut call", "steps: [{ tools: [{ name: read_file, arguments: { path: a } }, { name: write, arguments: { path: out.txt, text: line } }], cut: true, usage: {} }]"),
    ("a cut text", "steps: [{ text: 0123456789, cut: true, usage: {} }]"),
    ("a refusal", "steps: [{ text: I cannot., refuse: true, usage: {} }]"),
    (
        "overload, then success",
        "steps: [{ error: { kind: overloaded } }, { error: { kind: server } }, { text: ok, usage: {} }]",
    ),
    ("a reset, then success", "steps: [{ error: { kind: network } }, { text: ok, usage: {} }]"),
    ("an empty body, then success", "steps: [{ error: { kind: stream_broken } }, { text: ok, usage: {} }]"),
    ("overload to the end", "steps: [{ error: { kind: overloaded }, repeat: always }]"),
    ("no step left", "steps: [{ when: { user: something else }, text: x }]"),
];

#[tokio::test]
async fn behaviours_are_the_same_in_every_family() {
    let mut told = String::new();
    for (name, yaml) in BEHAVIOURS {
        told.push_str(&format!("## {name}\n{}", same_everywhere(name, yaml).await));
    }
    insta::assert_snapshot!(told);
}

#[tokio::test]
async fn failures_are_the_same_in_every_family_before_and_after_output() {
    let kinds = [
        "auth",
        "model_unknown",
        "rate_limited",
        "quota",
        "overloaded",
        "server",
        "context_too_long",
        "refused",
        "invalid_request",
        "network",
        "stream_broken",
        "not_a_model",
    ];
    let mut told = String::new();
    for kind in kinds {
        let before = format!("steps: [{{ error: {{ kind: {kind} }} }}, {{ text: again, usage: {{}} }}]");
        writeln!(told, "## {kind}\n{}", same_everywhere(kind, &before).await).unwrap();
        let after = format!("steps: [{{ text: Partial, error: {{ kind: {kind} }} }}, {{ text: again }}]");
        writeln!(told, "after output:\n{}", same_everywhere(kind, &after).await).unwrap();
    }
    insta::assert_snapshot!(told);
}

/// Runs the scenario in both HTTP families and as the scripted provider.
async fn same_everywhere(name: &str, yaml: &str) -> String {
    let mut told = Vec::new();
    for family in FAMILIES {
        told.push(transcript(&ask(family, yaml, |_| {}).await));
    }
    assert_eq!(told[0], told[1], "{name}: the two families differ");
    // An HTTP server can say "no step" and "a web page" only in its own way.
    let scripted = transcript(&scripted(yaml).await);
    if !scripted.contains("ScenarioExhausted") {
        assert_eq!(told[0], scripted, "{name}: the scripted provider differs");
    }
    told.remove(0)
}

async fn scripted(yaml: &str) -> Vec<provider::ModelEvent> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scenario.yaml");
    #[expect(clippy::disallowed_methods, reason = "a test's own file")]
    std::fs::write(&path, yaml).unwrap();
    let server = testkit::ModelServer::start("steps: [{ text: unused }]").await;
    let mut config = config(Family::Scripted, &server);
    config.scenario = Some(path);
    all(stream(config)).await
}

#[tokio::test]
async fn a_scenario_that_cannot_be_used_says_where_and_why() {
    let events = scripted("steps:\n  - text: a\n  - txt: b\n").await;
    let error = protocol::RuntimeError::from(failure(&events).clone());
    assert_eq!(error.code, protocol::ErrorCode::ScenarioInvalid);
    let detail = error.detail.unwrap();
    assert!(
        detail.contains("scenario.yaml:3") && detail.contains("txt"),
        "{detail}"
    );
    let events = scripted("steps:\n  - when: { user: nothing like it }\n    text: a\n").await;
    let error = protocol::RuntimeError::from(failure(&events).clone());
    assert_eq!(error.code, protocol::ErrorCode::ScenarioExhausted);
    let detail = error.detail.unwrap();
    assert!(
        detail.contains("“hello”") && detail.contains("line 2") && detail.contains("nothing like it"),
        "{detail}"
    );
}

#[tokio::test]
async fn a_scripted_stall_ends_at_the_idle_limit() {
    let yaml = "steps: [{ text: Partial, stall: true }]";
    for family in FAMILIES {
        let events = ask(family, yaml, |config| {
            config.limits.idle = Duration::from_millis(150)
        })
        .await;
        assert_eq!(
            transcript(&events),
            "started, attempt 1\ntext: Partial\nfailed: TimeoutIdle\n"
        );
    }
}
