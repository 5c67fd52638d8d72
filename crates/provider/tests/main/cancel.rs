//! A request can be ended at any moment, and its connection with it.

use std::time::{Duration, Instant};

use provider::{Family, Gateway, Message, ModelEvent, ProviderErrorKind};
use testkit::{
    ModelServer,
    model_server::{End, Recording, Script},
};
use tokio_util::sync::CancellationToken;

use crate::support::{FAMILIES, config, failure, request, stream};

fn silent() -> Script {
    Recording::new(200, "text/event-stream").end(End::Silent).into()
}

fn busy() -> Script {
    Recording::new(429, "application/json")
        .header("retry-after", 60)
        .send("{}")
        .end(End::Close)
        .into()
}

/// How far a request has come when it is cancelled.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    BeforeHeaders,
    BeforeText,
    AfterText,
    Backoff,
}

#[tokio::test]
async fn cancelling_works_at_every_moment_and_closes_the_connection() {
    for family in FAMILIES {
        for moment in [
            Moment::BeforeHeaders,
            Moment::BeforeText,
            Moment::AfterText,
            Moment::Backoff,
        ] {
            let script = match moment {
                Moment::BeforeHeaders => silent(),
                Moment::BeforeText => "steps: [{ stall: true }]".into(),
                Moment::AfterText => "steps: [{ text: some, stall: true }]".into(),
                Moment::Backoff => busy(),
            };
            let server = ModelServer::start(script).await;
            let gateway = Gateway::new([config(family, &server)]);
            let cancel = CancellationToken::new();
            let mut stream = gateway.stream(request(vec![Message::user("hello")]), cancel.clone());
            match moment {
                Moment::BeforeHeaders => {
                    while server.requests().is_empty() {
                        tokio::time::sleep(Duration::from_millis(2)).await;
                    }
                }
                _ => loop {
                    match (stream.next().await, moment) {
                        (Some(ModelEvent::Started { .. }), Moment::BeforeText) => break,
                        (Some(ModelEvent::Text { .. }), Moment::AfterText) => break,
                        (Some(ModelEvent::Retrying { .. }), Moment::Backoff) => break,
                        (Some(_), _) => {}
                        (None, _) => panic!("ended early"),
                    }
                },
            }
            let asked = Instant::now();
            cancel.cancel();
            let mut rest = Vec::new();
            while let Some(event) = stream.next().await {
                rest.push(event);
            }
            assert!(
                asked.elapsed() < Duration::from_secs(1),
                "{family:?} {moment:?}: {:?}",
                asked.elapsed()
            );
            assert_eq!(failure(&rest).kind, ProviderErrorKind::Cancelled);
            let ends = rest
                .iter()
                .filter(|event| matches!(event, ModelEvent::Done(_) | ModelEvent::Failed(_)));
            assert_eq!(ends.count(), 1, "{family:?} {moment:?}");
            if moment != Moment::Backoff {
                assert!(
                    server.wait_for_disconnect(0, Duration::from_secs(2)).await,
                    "{family:?} {moment:?}"
                );
            }
            assert_eq!(server.requests().len(), 1, "{family:?} {moment:?}");
        }
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server = ModelServer::start("steps: [{ text: some, stall: true }]").await;
    let mut stream = stream(config(Family::Anthropic, &server));
    while !matches!(stream.next().await, Some(ModelEvent::Text { .. })) {}
    drop(stream);
    assert!(server.wait_for_disconnect(0, Duration::from_secs(2)).await);
}

#[tokio::test]
async fn a_reader_that_is_slow_slows_the_stream_and_nothing_else() {
    let text = "x".repeat(4000);
    let yaml = format!("steps: [{{ text: {text}, chunk: 1 }}]");
    let server = ModelServer::start(yaml.as_str()).await;
    let mut config = config(Family::Anthropic, &server);
    config.limits.idle = Duration::from_millis(100);
    let mut stream = stream(config);
    assert!(matches!(stream.next().await, Some(ModelEvent::Started { .. })));
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut got = 0;
    while let Some(event) = stream.next().await {
        match event {
            ModelEvent::Text { delta } => got += delta.len(),
            ModelEvent::Failed(error) => panic!("{error}"),
            _ => {}
        }
    }
    assert_eq!(got, 4000);
}

#[tokio::test]
async fn headers_that_do_not_come_have_their_own_limit() {
    let server = ModelServer::start(silent()).await;
    let mut config = config(Family::OpenAiChat, &server);
    config.limits.first_byte = Duration::from_millis(80);
    config.retry.max_retries = 0;
    let events = crate::support::all(stream(config)).await;
    assert_eq!(failure(&events).kind, ProviderErrorKind::TimeoutFirstByte);
}

#[tokio::test]
async fn requests_beyond_the_slots_wait_and_can_be_cancelled_while_they_do() {
    let server = ModelServer::start("steps: [{ stall: true, repeat: always }]").await;
    let gateway = Gateway::new([config(Family::Anthropic, &server)]);
    let cancel = CancellationToken::new();
    let mut running = Vec::new();
    for _ in 0..8 {
        let mut stream = gateway.stream(request(vec![Message::user("hello")]), CancellationToken::new());
        assert!(matches!(stream.next().await, Some(ModelEvent::Started { .. })));
        running.push(stream);
    }
    let mut ninth = gateway.stream(request(vec![Message::user("hello")]), cancel.clone());
    let waiting = tokio::time::timeout(Duration::from_millis(100), ninth.next()).await;
    assert!(waiting.is_err(), "{waiting:?}");
    running.pop();
    assert!(matches!(ninth.next().await, Some(ModelEvent::Started { .. })));
    let mut tenth = gateway.stream(request(vec![Message::user("hello")]), cancel.clone());
    cancel.cancel();
    assert_eq!(
        failure(&[tenth.next().await.unwrap()]).kind,
        ProviderErrorKind::Cancelled
    );
    assert_eq!(server.requests().len(), 9);
}
