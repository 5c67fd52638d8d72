//! Another provider takes over when one cannot answer, and only then.

use std::time::SystemTime;

use provider::{Family, Gateway, Message, ModelEvent, Origin, ProviderErrorKind};
use testkit::ModelServer;
use tokio_util::sync::CancellationToken;

use crate::support::{all, config, request, transcript};

struct Pair {
    gateway: Gateway,
    first: ModelServer,
    second: ModelServer,
}

async fn pair(first: &str, second: &str) -> Pair {
    let servers = (ModelServer::start(first).await, ModelServer::start(second).await);
    let mut one = config(Family::Anthropic, &servers.0);
    one.retry.max_retries = 1;
    let mut two = config(Family::Gemini, &servers.1);
    two.id = "q".into();
    Pair {
        gateway: Gateway::new([one, two]),
        first: servers.0,
        second: servers.1,
    }
}

fn origin(provider: &str, model: &str) -> Origin {
    Origin {
        provider: provider.into(),
        model: model.into(),
    }
}

async fn ask(gateway: &Gateway) -> Vec<ModelEvent> {
    // The first is one that is not configured: it is passed by.
    let others = vec![origin("nowhere", "x"), origin("p", "m"), origin("q", "n")];
    let request = request(vec![Message::user("hello")]);
    all(gateway.stream_or_else(request, others, CancellationToken::new())).await
}

#[tokio::test]
async fn another_provider_answers_when_the_first_cannot_and_signs_its_answer() {
    for (kind, retries) in [
        ("auth", ""),
        ("quota", ""),
        ("model_unknown", ""),
        ("not_a_model", ""),
        ("overloaded", "retrying after Overloaded, attempt 2 of 2\n"),
    ] {
        let yaml = format!("steps: [{{ error: {{ kind: {kind} }}, repeat: always }}]");
        let pair = pair(&yaml, "steps: [{ text: here, usage: {} }]").await;
        let events = ask(&pair.gateway).await;
        let told = transcript(&events);
        assert!(
            told.starts_with(&format!("{retries}switched to q/n after ")),
            "{kind}: {told}"
        );
        let answer = crate::support::answer(&events);
        assert_eq!(answer.message.origin, Some(origin("q", "n")), "{kind}");
        assert_eq!(
            pair.second.requests()[0].path,
            "/v1beta/models/n:streamGenerateContent?alt=sse"
        );
    }
}

#[tokio::test]
async fn nobody_else_is_asked_when_it_is_the_requests_fault_or_something_was_shown() {
    for (yaml, kind) in [
        (
            "steps: [{ error: { kind: invalid_request } }]",
            ProviderErrorKind::InvalidRequest,
        ),
        (
            "steps: [{ error: { kind: refused } }]",
            ProviderErrorKind::Refused,
        ),
        (
            "steps: [{ error: { kind: context_too_long } }]",
            ProviderErrorKind::ContextTooLong,
        ),
        (
            "steps: [{ text: Partial, error: { kind: overloaded } }]",
            ProviderErrorKind::Overloaded,
        ),
    ] {
        let pair = pair(yaml, "steps: [{ text: here }]").await;
        let events = ask(&pair.gateway).await;
        assert_eq!(crate::support::failure(&events).kind, kind, "{yaml}");
        assert!(pair.second.requests().is_empty(), "{yaml}");
    }
}

#[tokio::test]
async fn health_is_kept_and_a_known_hard_failure_is_not_chosen() {
    let bad = "steps: [{ error: { kind: auth }, repeat: always }]";
    let pair = pair(bad, bad).await;
    ask(&pair.gateway).await;
    assert_eq!(
        (pair.first.requests().len(), pair.second.requests().len()),
        (1, 1)
    );
    let health = pair.gateway.health("q").unwrap();
    let now = SystemTime::now();
    assert_eq!(health.hard_failure("n", now), Some(ProviderErrorKind::Auth));
    assert_eq!((health.consecutive_failures, health.last_success), (1, None));
    // The user's own choice is asked again; the other is known to fail and is not.
    ask(&pair.gateway).await;
    assert_eq!(
        (pair.first.requests().len(), pair.second.requests().len()),
        (2, 1)
    );

    let good =
        ModelServer::start("steps: [{ tools: [{ name: a, arguments_text: 'no' }, { name: b }], usage: {} }]")
            .await;
    let gateway = Gateway::new([config(Family::OpenAiChat, &good)]);
    all(gateway.stream(request(vec![Message::user("x")]), CancellationToken::new())).await;
    let health = gateway.health("p").unwrap();
    assert!(health.last_success.is_some() && health.latency.is_some());
    assert_eq!(
        (health.calls.good, health.calls.bad, health.streams.good),
        (1, 1, 1)
    );
}
