//! Recorded answers: faults that real providers have shown.

use std::time::Duration;

use protocol::{ErrorCode, RuntimeError};
use provider::{Block, Family, ModelEvent, ProviderErrorKind, StopReason};
use testkit::{ModelServer, model_server::Recording};

use crate::support::{all, answer, ask, config, failure, recording, stream, transcript};

const SPLIT_TEXT: &str = "héllo 你好 😀 no-space";

fn short_idle(config: &mut provider::ProviderConfig) {
    config.limits.idle = Duration::from_millis(120);
}

#[tokio::test]
async fn v02_arguments_cut_by_the_output_limit_are_no_call() {
    let events = ask(Family::OpenAiChat, recording("tool-args-cut.json"), |_| {}).await;
    let answer = answer(&events);
    assert_eq!(answer.stop_reason, StopReason::OutputLimit);
    assert_eq!(answer.message.blocks, []);
    assert_eq!(answer.cut_calls.len(), 1);
    assert_eq!(answer.cut_calls[0].name, "write_file");
    assert!(
        answer.cut_calls[0].arguments.ends_with("\\nli"),
        "{}",
        answer.cut_calls[0].arguments
    );
}

#[tokio::test]
async fn v03_interleaved_fragments_go_to_their_own_calls() {
    let events = ask(Family::OpenAiChat, recording("tools-interleaved.json"), |_| {}).await;
    let call = |id: &str, path: &str| Block::ToolUse {
        id: id.into(),
        name: "read_file".into(),
        input: serde_json::json!({ "path": path }),
        invalid_arguments: None,
    };
    assert_eq!(
        answer(&events).message.blocks,
        [call("call_A", "a.txt"), call("call_B", "b.txt")]
    );
}

#[tokio::test]
async fn v04_text_survives_any_split_of_its_bytes() {
    let original = recording("bytes-split-crlf.json");
    let events = ask(Family::OpenAiChat, original.clone(), |_| {}).await;
    assert_eq!(answer(&events).message.text(), SPLIT_TEXT);

    let length = original.bytes().len();
    let mut cuts: Vec<Recording> = (1..length).map(|position| original.cut_at(position)).collect();
    cuts.extend([1, 2, 3, 7].map(|size| original.in_chunks_of(size)));
    let count = cuts.len();
    let server = ModelServer::start(cuts).await;
    let gateway = provider::Gateway::new([config(Family::OpenAiChat, &server)]);
    for number in 0..count {
        let request = crate::support::request(vec![provider::Message::user("hello")]);
        let events = all(gateway.stream(request, Default::default())).await;
        assert_eq!(answer(&events).message.text(), SPLIT_TEXT, "cut {number}");
    }
}

#[tokio::test]
async fn v05_silence_ends_at_the_idle_limit() {
    let before = ask(Family::Anthropic, recording("stall-before-text.json"), short_idle).await;
    assert_eq!(
        transcript(&before),
        "started, attempt 1\nretrying after TimeoutIdle, attempt 2 of 4\nstarted, attempt 2\nfailed: TimeoutIdle\n"
    );
    let after = ask(Family::Anthropic, recording("stall-after-text.json"), short_idle).await;
    assert_eq!(
        transcript(&after),
        "started, attempt 1\ntext: Partial answer\nfailed: TimeoutIdle\n"
    );
    let error = RuntimeError::from(failure(&after).clone());
    assert!(error.retryable && error.user_action.is_some(), "{error:?}");
}

#[tokio::test]
async fn keep_alives_hold_off_the_idle_limit_but_not_the_total() {
    let mut slow = Recording::new(200, "text/event-stream");
    for _ in 0..8 {
        slow = slow.wait(Duration::from_millis(60)).send(": keep-alive\n\n");
    }
    let done = "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let slow = slow.send(done).end(testkit::model_server::End::Close);
    let events = ask(Family::OpenAiChat, slow.clone(), short_idle).await;
    assert_eq!(answer(&events).message.text(), "ok");
    let events = ask(Family::OpenAiChat, slow, |config| {
        config.limits.total = Duration::from_millis(200)
    })
    .await;
    assert_eq!(transcript(&events), "started, attempt 1\nfailed: TimeoutTotal\n");
}

#[tokio::test]
async fn v05_an_error_inside_a_200_fails_the_request() {
    let events = ask(Family::Anthropic, recording("error-event-in-200.json"), |_| {}).await;
    assert_eq!(
        transcript(&events),
        "started, attempt 1\ntext: Partial answer\nfailed: Overloaded\n"
    );
    let error = RuntimeError::from(failure(&events).clone());
    assert_eq!(
        (error.code, error.retryable),
        (ErrorCode::ProviderOverloaded, true)
    );
    assert_eq!(error.detail.as_deref(), Some("Overloaded"));
}

#[tokio::test]
async fn v07_a_rate_limit_is_waited_for_as_the_provider_says() {
    for (name, shortest, longest) in [
        ("rate-limit-seconds.json", 7.0, 7.0),
        ("rate-limit-date.json", 7.5, 9.0),
    ] {
        for family in crate::support::FAMILIES {
            let server = ModelServer::start(recording(name)).await;
            let mut stream = stream(config(family, &server));
            match stream.next().await {
                Some(ModelEvent::Retrying {
                    after,
                    reason,
                    attempt: 2,
                    attempts: 4,
                }) => {
                    assert!(
                        (shortest..=longest).contains(&after.as_secs_f64()),
                        "{name}: {after:?}"
                    );
                    assert_eq!(reason.kind, ProviderErrorKind::RateLimited);
                    assert_eq!(reason.message, "slow down");
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }
    let long = Recording::new(429, "application/json")
        .header("retry-after", 7200)
        .send("{\"error\":{\"message\":\"x\"}}");
    let events = ask(
        Family::OpenAiChat,
        long.end(testkit::model_server::End::Close),
        |_| {},
    )
    .await;
    let error = RuntimeError::from(failure(&events).clone());
    assert_eq!(error.user_action.as_deref(), Some("Send again in 2 hours."));
}

/// V08: what the servers of each family say when a conversation is too long, and that a person is told the way on.
#[tokio::test]
async fn v08_a_too_long_conversation_is_recognised() {
    let events = ask(Family::Anthropic, recording("context-overflow.json"), |_| {}).await;
    let error = failure(&events);
    assert_eq!(
        (error.kind, error.status),
        (ProviderErrorKind::ContextTooLong, Some(400))
    );
    for (family, status, body) in [
        (
            Family::Anthropic,
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        ),
        (
            Family::Anthropic,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000"}}"#,
        ),
        (
            Family::OpenAiChat,
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        ),
        // llama.cpp, vLLM, LM Studio, LiteLLM.
        (
            Family::OpenAiChat,
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#,
        ),
        (
            Family::OpenAiChat,
            400,
            r#"{"object":"error","message":"'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 4096 tokens and your request has 3000 input tokens","type":"BadRequestError","code":400}"#,
        ),
        (
            Family::OpenAiChat,
            400,
            r#"{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}"#,
        ),
        (
            Family::OpenAiChat,
            400,
            r#"{"error":{"message":"litellm.ContextWindowExceededError: litellm.BadRequestError: this is a mock context window exceeded error","type":"invalid_request_error","param":null,"code":"400"}}"#,
        ),
        (
            Family::OpenAiResponses,
            400,
            r#"{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}"#,
        ),
        (
            Family::Gemini,
            400,
            r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
        ),
    ] {
        let answer = Recording::new(status, "application/json")
            .send(body)
            .end(testkit::model_server::End::Close);
        let events = ask(family, answer, |_| {}).await;
        assert_eq!(events.len(), 1, "{family:?}: not sent again");
        let error = failure(&events);
        assert_eq!(error.kind, ProviderErrorKind::ContextTooLong, "{family:?} {body}");
        let told = RuntimeError::from(error.clone());
        assert_eq!(
            (told.retryable, told.user_action.as_deref()),
            (false, Some("Start a new session, or send less at once."))
        );
    }
}

/// V07: what a server itself says of trying again.
#[tokio::test]
async fn v07_a_server_that_wants_no_second_try_gets_none() {
    for (word, attempts) in [("false", 1), ("true", 3)] {
        let answer = Recording::new(503, "application/json")
            .header("x-should-retry", word)
            .send(r#"{"error":{"message":"busy"}}"#)
            .end(testkit::model_server::End::Close);
        for family in crate::support::FAMILIES {
            let server = ModelServer::start(answer.clone()).await;
            let mut config = config(family, &server);
            config.retry.max_retries = 2;
            let events = crate::support::all(stream(config)).await;
            assert_eq!(server.requests().len(), attempts, "{family:?} {word}");
            assert_eq!(
                RuntimeError::from(failure(&events).clone()).retryable,
                word == "true"
            );
        }
    }
}
