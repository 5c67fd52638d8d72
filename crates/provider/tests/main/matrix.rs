//! The same scenario must be told in the same events by both families and by the scripted provider.

use std::{fmt::Write as _, time::Duration};

use provider::Family;
use testkit::model_server::Fault;

use crate::support::{FAMILIES, all, ask, config, failure, stream, transcript};

pub const BEHAVIOURS: [(&str, &str); 14] = [
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

/// Where a wire format cannot say what the others say; each with what is told instead.
pub const DIFFERENT: [(&str, Family, &str); 3] = [
    (
        "arguments that are no JSON",
        Family::Gemini,
        "calls come as JSON; the service itself reports an unreadable one as a failure",
    ),
    (
        "a cut call",
        Family::Gemini,
        "calls come whole; one that the limit cuts does not come",
    ),
    (
        "refused",
        Family::Gemini,
        "a refused request is a stream that says so",
    ),
];

#[tokio::test]
async fn behaviours_are_the_same_in_every_family() {
    let mut told = String::new();
    for (name, yaml) in BEHAVIOURS {
        told.push_str(&format!("## {name}\n{}", same_everywhere(name, yaml).await));
    }
    insta::assert_snapshot!(told);
}

pub const ERRORS: [&str; 12] = [
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

pub fn before_output(kind: &str) -> String {
    format!("steps: [{{ error: {{ kind: {kind} }} }}, {{ text: again, usage: {{}} }}]")
}

pub fn after_output(kind: &str) -> String {
    format!("steps: [{{ text: Partial, error: {{ kind: {kind} }} }}, {{ text: again }}]")
}

#[tokio::test]
async fn failures_are_the_same_in_every_family_before_and_after_output() {
    let mut told = String::new();
    for kind in ERRORS {
        writeln!(
            told,
            "## {kind}\n{}",
            same_everywhere(kind, &before_output(kind)).await
        )
        .unwrap();
        let after = same_everywhere("after output", &after_output(kind)).await;
        writeln!(told, "after output:\n{after}").unwrap();
    }
    insta::assert_snapshot!(told);
}

const FAULTED: &str = "steps: [{ thinking: 'Hm, 你好…', text: 'héllo 你好 😀 no-space', usage: { input: 3, output: 4 },
    tools: [{ name: read_file, arguments: { path: 'é/😀.txt' } }, { name: list, arguments: {} }] }, { text: again, usage: {} }]";

pub const FAULTS: [(&str, Fault); 11] = [
    ("one byte at a time", Fault::SingleBytes),
    ("carriage returns", Fault::CarriageReturns),
    ("keep-alives between events", Fault::KeepAlives),
    ("no space after data:", Fault::NoSpace),
    ("no usage", Fault::MissingUsage),
    ("a vague content type", Fault::VagueType),
    ("a web page's content type", Fault::WrongType),
    ("half the body", Fault::HalfBody),
    ("a reset half way", Fault::HalfThenReset),
    ("silence half way", Fault::HalfThenSilence),
    ("half an event", Fault::HalfEvent),
];

pub async fn under_fault(family: Family, fault: Fault) -> String {
    let scenario = provider::Scenario::parse(FAULTED, "faulted").unwrap();
    let script = testkit::model_server::Script::Faulty(scenario, fault);
    let events = ask(family, script, |config| {
        config.limits.idle = Duration::from_millis(150);
        config.retry.max_retries = 1;
    })
    .await;
    transcript(&events)
}

#[tokio::test]
async fn spoilt_bytes_lose_nothing_and_broken_answers_are_no_answers() {
    let mut told = String::new();
    for (name, fault) in FAULTS {
        let mut outcomes = Vec::new();
        for family in FAMILIES {
            // How much had come when the body broke off is the format's affair; what it is called is not.
            let outcome = under_fault(family, fault).await;
            let broken = outcome
                .lines()
                .last()
                .filter(|line| line.starts_with("failed"))
                .map(str::to_owned);
            outcomes.push(broken.unwrap_or(outcome));
        }
        for (family, outcome) in FAMILIES.iter().zip(&outcomes) {
            assert_eq!(*outcome, outcomes[0], "{name}: {family:?} differs");
        }
        writeln!(told, "## {name}\n{}", outcomes[0].trim_end()).unwrap();
    }
    insta::assert_snapshot!(told);
}

/// Runs the scenario in all HTTP families and as the scripted provider. What a family cannot say is told after.
async fn same_everywhere(name: &str, yaml: &str) -> String {
    let mut told = String::new();
    let mut others = String::new();
    for family in FAMILIES {
        let transcript = transcript(&ask(family, yaml, |_| {}).await);
        let difference = DIFFERENT.iter().find(|row| row.0 == name && row.1 == family);
        match difference {
            Some(_) => {
                assert_ne!(transcript, told, "{name}: {family:?} is no exception any more");
                writeln!(others, "in {family:?}:\n{}", transcript.trim_end()).unwrap();
            }
            None if told.is_empty() => told = transcript,
            None => assert_eq!(told, transcript, "{name}: {family:?} differs"),
        }
    }
    // An HTTP server can say "no step" and "a web page" only in its own way.
    let scripted = transcript(&scripted(yaml).await);
    if !scripted.contains("ScenarioExhausted") {
        assert_eq!(told, scripted, "{name}: the scripted provider differs");
    }
    told + &others
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
