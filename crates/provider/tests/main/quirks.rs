//! What servers do that no specification says.

use protocol::RuntimeError;
use provider::{Block, Family, ProviderErrorKind, StopReason};
use serde_json::{Value, json};
use testkit::{
    ModelServer,
    model_server::{End, Recording},
};

use crate::support::{all, answer, ask, config, failure, stream, transcript};

fn events(chunks: &[Value]) -> Recording {
    let stream = Recording::new(200, "text/event-stream");
    chunks
        .iter()
        .fold(stream, |stream, chunk| stream.send(format!("data: {chunk}\n\n")))
}

fn delta(delta: Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta }] })
}

fn calls(fragments: Value) -> Value {
    delta(json!({ "tool_calls": fragments }))
}

fn finish(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

/// Id, name and arguments.
type Call = (&'static str, &'static str, Value);

#[tokio::test]
async fn compatible_servers_may_leave_out_what_openai_sends() {
    let name = |name: &str, arguments: &str| json!({ "name": name, "arguments": arguments });
    let more = |arguments: &str| json!({ "arguments": arguments });
    let cases: Vec<(&str, Vec<Value>, Vec<Call>)> = vec![
        (
            "no index, no ids",
            vec![
                calls(json!([{ "function": name("a", "{\"x\"") }])),
                calls(json!([{ "function": more(":1}") }])),
                calls(json!([{ "function": name("b", "{}") }])),
                finish("tool_calls"),
            ],
            vec![("call_1", "a", json!({"x": 1})), ("call_2", "b", json!({}))],
        ),
        (
            "all at index 0",
            vec![
                calls(json!([
                    { "index": 0, "id": "c1", "function": name("a", "{\"x\":1}") },
                    { "index": 0, "id": "c2", "function": name("b", "{\"y\":2}") },
                ])),
                finish("stop"),
            ],
            vec![("c1", "a", json!({"x": 1})), ("c2", "b", json!({"y": 2}))],
        ),
        (
            "the same id twice",
            vec![
                calls(json!([{ "index": 0, "id": "c", "function": name("a", "{\"x\":1}") }])),
                calls(json!([{ "index": 1, "id": "c", "function": name("b", "{\"y\":2}") }])),
                finish("tool_calls"),
            ],
            vec![("c", "a", json!({"x": 1})), ("c_2", "b", json!({"y": 2}))],
        ),
        (
            "id and name in every fragment",
            vec![
                calls(json!([{ "index": 0, "id": "c", "function": name("a", "{\"x\"") }])),
                calls(json!([{ "index": 0, "id": "c", "function": name("a", ":1}") }])),
                finish("tool_calls"),
            ],
            vec![("c", "a", json!({"x": 1}))],
        ),
        (
            "the name last",
            vec![
                calls(json!([{ "index": 0, "id": "c", "function": more("{\"x\":1") }])),
                calls(json!([{ "index": 0, "function": name("a", "}") }])),
                finish("tool_calls"),
            ],
            vec![("c", "a", json!({"x": 1}))],
        ),
        (
            "arguments as an object",
            vec![
                calls(json!([{ "index": 0, "id": "c", "function": { "name": "a", "arguments": {"x": 1} } }])),
                finish("tool_calls"),
            ],
            vec![("c", "a", json!({"x": 1}))],
        ),
    ];
    for (what, chunks, expected) in cases {
        // None of these servers sends [DONE].
        let events = ask(Family::OpenAiChat, events(&chunks).end(End::Close), |_| {}).await;
        let answer = answer(&events);
        assert_eq!(answer.stop_reason, StopReason::ToolUse, "{what}");
        let got: Vec<_> = answer
            .message
            .tool_uses()
            .map(|call| (call.id, call.name, call.input.clone()))
            .collect();
        assert_eq!(got, expected, "{what}");
    }
}

#[tokio::test]
async fn an_answer_that_is_whole_counts_however_its_connection_ends() {
    for (what, end) in [("reset", End::Reset), ("silence", End::Hold)] {
        let recording = events(&[delta(json!({ "content": "ok" })), finish("stop")]).end(end);
        let events = ask(Family::OpenAiChat, recording, |_| {}).await;
        assert_eq!(answer(&events).message.text(), "ok", "{what}");
    }
}

#[tokio::test]
async fn an_answer_without_its_end_is_broken() {
    let start =
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } });
    let text = json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "half" } });
    let stop = json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": {} });
    let end = json!({ "type": "message_stop" });
    for (what, family, recording) in [
        (
            "openai, closed",
            Family::OpenAiChat,
            events(&[delta(json!({ "content": "half" }))]).end(End::Close),
        ),
        (
            "openai, reset",
            Family::OpenAiChat,
            events(&[delta(json!({ "content": "half" }))]).end(End::Reset),
        ),
        (
            "openai, [DONE] without a reason",
            Family::OpenAiChat,
            events(&[delta(json!({ "content": "half" }))])
                .send("data: [DONE]\n\n")
                .end(End::Close),
        ),
        (
            "openai, damaged event",
            Family::OpenAiChat,
            events(&[delta(json!({ "content": "half" }))])
                .send("data: {\"choi\n\n")
                .end(End::Close),
        ),
        (
            "anthropic, closed",
            Family::Anthropic,
            events(&[start.clone(), text.clone()]).end(End::Close),
        ),
        (
            "anthropic, no message_stop",
            Family::Anthropic,
            events(&[start.clone(), text.clone(), stop]).end(End::Close),
        ),
        (
            "anthropic, no stop reason",
            Family::Anthropic,
            events(&[start, text, end]).end(End::Close),
        ),
    ] {
        let events = ask(family, recording, |_| {}).await;
        assert_eq!(
            transcript(&events),
            "started, attempt 1\ntext: half\nfailed: StreamBroken\n",
            "{what}"
        );
    }
}

#[tokio::test]
async fn what_is_no_model_is_told_apart() {
    let page = "<!DOCTYPE html><html><title>Welcome</title></html>";
    for (what, recording, words) in [
        (
            "a web page",
            Recording::new(200, "text/html; charset=utf-8").send(page),
            "a web page: “Welcome”",
        ),
        (
            "a redirect",
            Recording::new(302, "text/plain").header("location", "https://login.example/"),
            "it redirects to https://login.example/",
        ),
        (
            "no such path",
            Recording::new(404, "text/plain").send("404 page not found"),
            "404 page not found",
        ),
        (
            "JSON without a stream",
            Recording::new(200, "application/json").send("{\"choices\":[]}"),
            "{\"choices\":[]}",
        ),
    ] {
        let events = ask(Family::OpenAiChat, recording.end(End::Close), |_| {}).await;
        let error = failure(&events);
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ProviderErrorKind::NotAModel, words),
            "{what}"
        );
        assert_eq!(events.len(), 1, "{what}");
    }
}

#[tokio::test]
async fn blocks_of_unknown_kind_and_their_order_are_kept() {
    let block = |index: u32, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let delta =
        |index: u32, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let recording = events(&[
        json!({ "type": "message_start", "message": { "usage": { "input_tokens": 3, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 5 } } }),
        block(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        delta(0, json!({ "type": "thinking_delta", "thinking": "A" })),
        delta(0, json!({ "type": "signature_delta", "signature": "sig" })),
        block(1, json!({ "type": "redacted_thinking", "data": "zzz" })),
        block(
            2,
            json!({ "type": "server_tool_use", "id": "s1", "name": "web_search", "input": {} }),
        ),
        delta(
            2,
            json!({ "type": "input_json_delta", "partial_json": "{\"query\":" }),
        ),
        delta(2, json!({ "type": "input_json_delta", "partial_json": "\"q\"}" })),
        block(3, json!({ "type": "text", "text": "first " })),
        delta(3, json!({ "type": "text_delta", "text": "second" })),
        delta(3, json!({ "type": "citations_delta", "citation": {} })),
        json!({ "type": "an_event_of_next_year" }),
        block(
            4,
            json!({ "type": "tool_use", "id": "t1", "name": "t", "input": { "whole": true } }),
        ),
        json!({ "type": "content_block_stop", "index": 4 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 6 } }),
        json!({ "type": "message_stop" }),
    ]);
    let events = ask(Family::Anthropic, recording.end(End::Close), |_| {}).await;
    let answer = answer(&events);
    assert_eq!(
        answer.message.blocks,
        [
            Block::Thinking {
                text: "A".into(),
                signature: Some("sig".into())
            },
            Block::RedactedThinking { data: "zzz".into() },
            Block::Opaque {
                provider: "p".into(),
                json: json!({ "type": "server_tool_use", "id": "s1", "name": "web_search", "input": { "query": "q" } }),
            },
            Block::Text {
                text: "first second".into()
            },
            Block::ToolUse {
                id: "t1".into(),
                name: "t".into(),
                input: json!({ "whole": true }),
                invalid_arguments: None
            },
        ]
    );
    let usage = answer.usage;
    assert_eq!(
        (usage.input, usage.cache_read, usage.cache_write, usage.output),
        (12, 4, 5, 6)
    );
}

#[tokio::test]
async fn the_key_is_sent_in_its_header_and_shown_nowhere() {
    for (family, header, value) in [
        (Family::Anthropic, "x-api-key", "secret-test-key"),
        (Family::OpenAiChat, "authorization", "Bearer secret-test-key"),
        (Family::OpenAiResponses, "authorization", "Bearer secret-test-key"),
        (Family::Gemini, "x-goog-api-key", "secret-test-key"),
    ] {
        let echo = "{\"error\":{\"type\":\"authentication_error\",\"message\":\"bad key secret-test-key or sk-proj-1234567890\"}}";
        let recording = Recording::new(401, "application/json")
            .header("request-id", "req_9")
            .send(echo)
            .end(End::Close);
        let server = ModelServer::start(recording).await;
        let events = all(stream(config(family, &server))).await;
        let error = RuntimeError::from(failure(&events).clone());
        assert_eq!(
            error.detail.as_deref(),
            Some("bad key [redacted] or [redacted] (request req_9)")
        );
        assert!(error.user_action.unwrap().contains("TEST_KEY"));
        let requests = server.requests();
        assert_eq!(requests.len(), 1, "a refused key is not tried again");
        assert_eq!(requests[0].header(header), Some(value));
        assert!(!format!("{events:?}").contains("secret-test-key"));
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_reached_is_named() {
    let server = ModelServer::start("steps: [{ text: x }]").await;
    let mut gone = config(Family::Anthropic, &server);
    gone.retry.max_retries = 1;
    let mut plain = gone.clone();
    plain.base_url = plain.base_url.replace("http://", "https://");
    let mut nowhere = gone.clone();
    nowhere.base_url = "not an address".into();
    let events = all(stream(plain)).await;
    assert_eq!(failure(&events).kind, ProviderErrorKind::Tls, "{events:?}");
    let events = all(stream(nowhere)).await;
    assert_eq!(failure(&events).kind, ProviderErrorKind::NotAModel, "{events:?}");
    drop(server);
    let events = all(stream(gone.clone())).await;
    assert_eq!(
        transcript(&events),
        "retrying after Network, attempt 2 of 2\nfailed: Network\n"
    );
    let error = RuntimeError::from(failure(&events).clone());
    assert!(error.message.contains(&gone.base_url), "{error:?}");
    assert!(error.detail.unwrap().to_lowercase().contains("refused"));
}
