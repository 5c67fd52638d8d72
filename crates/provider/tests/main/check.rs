//! What `providers check` finds out, about good servers and bad ones.

use provider::{
    Gateway,
    check::{Depth, Verdict, check},
};
use testkit::ModelServer;
use tokio_util::sync::CancellationToken;

use crate::support::{FAMILIES, config};

const GOOD: &str = r#"steps:
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

const BAD: &str = r#"steps:
  - when: { user: "Count from one" }
    text: one
  - when: { user: "report_colours" }
    text: I would call report_colours.
  - when: { user: "area.rs" }
    tools: [{ name: edit_file, arguments: { path: area.rs, old: "width+height", new: "width*height" } }]
  - when: { user: "code word" }
    text: I see only lines.
    repeat: always
"#;

async fn verdicts(family: provider::Family, yaml: &str) -> Vec<(&'static str, Verdict)> {
    let server = ModelServer::start(yaml).await;
    let gateway = Gateway::new([config(family, &server)]);
    let report = check(&gateway, "p", "m", Depth::Local, &CancellationToken::new()).await;
    for finding in &report.findings {
        let has_way_out = finding.verdict != Verdict::Fails || finding.action.is_some();
        assert!(has_way_out, "{finding:?}");
    }
    report
        .findings
        .iter()
        .map(|finding| (finding.name, finding.verdict))
        .collect()
}

#[tokio::test]
async fn a_server_is_judged_by_what_it_does() {
    use Verdict::{Fails, Limited, Works};
    let names = ["model list", "streaming", "tool calls", "edit format", "context"];
    for family in FAMILIES {
        for (yaml, expected) in [
            (GOOD, vec![Works; 5]),
            (BAD, vec![Works, Limited, Fails, Fails, Fails]),
            (
                "steps: [{ error: { kind: auth }, repeat: always }]",
                vec![Works, Fails],
            ),
        ] {
            let expected: Vec<_> = names.into_iter().zip(expected).collect();
            assert_eq!(verdicts(family, yaml).await, expected, "{family:?} {yaml}");
        }
    }
}

#[tokio::test]
async fn what_a_server_says_of_its_models_counts_less_than_the_user() {
    for family in FAMILIES {
        let server = ModelServer::start("steps: [{ text: x }]").await;
        let mut config = config(family, &server);
        let entry = provider::ModelEntry {
            context_window: Some(9_000),
            ..Default::default()
        };
        config.models.insert("other".into(), entry);
        let gateway = Gateway::new([config]);
        assert_eq!(gateway.facts("p", "m").context_window, None);
        assert_eq!(gateway.list_models("p").await.unwrap().len(), 2);
        let window = |model: &str| gateway.facts("p", model).context_window;
        assert_eq!(
            (window("m"), window("other")),
            (Some(40_000), Some(9_000)),
            "{family:?}"
        );
    }
}

/// Ollama cuts what is longer than it loaded a model for, so a turn asks before it sends.
#[tokio::test]
async fn a_turn_learns_what_ollama_has_loaded_and_asks_once() {
    let server = ModelServer::start("steps: [{ text: x }]").await;
    let mut config = config(provider::Family::OpenAiChat, &server);
    config.id = "ollama".into();
    let gateway = Gateway::new([config]);
    let window = |model: &str| gateway.facts("ollama", model).context_window;
    assert_eq!(window("m"), None);
    for _ in 0..3 {
        gateway.learn_of("ollama", "m").await;
        gateway.learn_of("ollama", "other").await;
    }
    assert_eq!((window("m"), window("other")), (Some(4_096), None));
    assert_eq!(server.lists_asked(), 2, "the list and what is loaded, once");
}
