//! Anthropic Messages as the real service speaks it: framing of answers and errors, and the requests it refuses.

use std::collections::HashSet;

use provider::scenario::{Arrived, Ending, ScriptedError, ScriptedErrorKind, Step};
use serde_json::{Value, json};

use super::{
    answer::{Ids, Turn},
    recording::{End, Recording},
};

pub(super) fn answer(step: &Step, turn: &Turn, ids: &Ids) -> Recording {
    let mut stream =
        Recording::new(200, "text/event-stream; charset=utf-8").header("request-id", ids.next("req_"));
    let usage = turn.usage;
    stream = stream.send(frame(json!({ "type": "message_start", "message": {
        "id": ids.next("msg_"), "type": "message", "role": "assistant", "model": turn.model, "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": {
            "input_tokens": usage.input.saturating_sub(usage.cache_read + usage.cache_write),
            "cache_read_input_tokens": usage.cache_read,
            "cache_creation_input_tokens": usage.cache_write,
            "output_tokens": 1,
        },
    } })));
    stream = stream.send(frame(json!({ "type": "ping" })));
    let mut index = 0;
    if let Some(thinking) = &step.thinking {
        stream = block(
            stream,
            step,
            index,
            json!({ "type": "thinking", "thinking": "", "signature": "" }),
            |piece| json!({ "type": "thinking_delta", "thinking": piece }),
            thinking,
        );
        let signature = json!({ "type": "signature_delta", "signature": signature(&turn.model) });
        stream = stream.send(delta(index, signature)).send(stop(index));
        index += 1;
    }
    let text = step.sent_text();
    if !text.is_empty() {
        stream = block(
            stream,
            step,
            index,
            json!({ "type": "text", "text": "" }),
            |piece| json!({ "type": "text_delta", "text": piece }),
            text,
        );
        stream = stream.send(stop(index));
        index += 1;
    }
    for (call, arguments) in step.sent_calls() {
        let id = call.id.clone().unwrap_or_else(|| ids.next("toolu_"));
        let start = json!({ "type": "tool_use", "id": id, "name": call.name, "input": {} });
        stream = block(
            stream,
            step,
            index,
            start,
            |piece| json!({ "type": "input_json_delta", "partial_json": piece }),
            arguments,
        );
        stream = stream.send(stop(index));
        index += 1;
    }
    let stop_reason = match &step.ending {
        Ending::Stall => return stream.end(End::Hold),
        Ending::Error(error) => return fail_within(stream, error),
        Ending::OutputLimit => "max_tokens",
        Ending::Refusal => "refusal",
        Ending::Complete if step.calls.is_empty() => "end_turn",
        Ending::Complete => "tool_use",
    };
    stream
        .send(frame(json!({
            "type": "message_delta",
            "delta": { "stop_reason": stop_reason, "stop_sequence": null },
            "usage": { "output_tokens": usage.output },
        })))
        .send(frame(json!({ "type": "message_stop" })))
        .end(End::Close)
}

fn block(
    stream: Recording,
    step: &Step,
    index: usize,
    start: Value,
    wrap: impl Fn(&str) -> Value,
    text: &str,
) -> Recording {
    let start = frame(json!({ "type": "content_block_start", "index": index, "content_block": start }));
    let mut stream = stream.send(start);
    for piece in step.pieces(text) {
        stream = stream.wait(step.delay).send(delta(index, wrap(piece)));
    }
    stream
}

fn delta(index: usize, delta: Value) -> String {
    frame(json!({ "type": "content_block_delta", "index": index, "delta": delta }))
}

fn stop(index: usize) -> String {
    frame(json!({ "type": "content_block_stop", "index": index }))
}

fn frame(data: Value) -> String {
    format!(
        "event: {}\ndata: {data}\n\n",
        data["type"].as_str().unwrap_or_default()
    )
}

/// What this server signs reasoning of a model with.
fn signature(model: &str) -> String {
    format!("signed-by-{model}")
}

/// An error after the stream began.
fn fail_within(stream: Recording, error: &ScriptedError) -> Recording {
    match error.kind {
        ScriptedErrorKind::Network => stream.end(End::Reset),
        ScriptedErrorKind::StreamBroken | ScriptedErrorKind::NotAModel => stream.end(End::Close),
        _ => stream.send(frame(describe(error).1)).end(End::Close),
    }
}

/// Status and body of an error.
pub(super) fn describe(error: &ScriptedError) -> (u16, Value) {
    use ScriptedErrorKind as Kind;
    let (status, kind, message) = match error.kind {
        Kind::Auth => (401, "authentication_error", "invalid x-api-key"),
        Kind::ModelUnknown => (404, "not_found_error", "model: unknown"),
        Kind::RateLimited => (
            429,
            "rate_limit_error",
            "This request would exceed your rate limit.",
        ),
        Kind::Quota => (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the API.",
        ),
        Kind::Overloaded => (529, "overloaded_error", "Overloaded"),
        Kind::ContextTooLong => (
            400,
            "invalid_request_error",
            "prompt is too long: 214420 tokens > 200000 maximum",
        ),
        Kind::Refused => (
            400,
            "invalid_request_error",
            "Output blocked by content filtering policy",
        ),
        Kind::InvalidRequest => (400, "invalid_request_error", "messages: invalid"),
        Kind::Server | Kind::Network | Kind::StreamBroken | Kind::NotAModel => {
            (500, "api_error", "Internal server error")
        }
    };
    let message = error.message.as_deref().unwrap_or(message);
    (status, error_body(kind, message))
}

pub(super) fn error_body(kind: &str, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message } })
}

/// Why the real service would refuse the request.
pub(super) fn refuse(body: &Value) -> Option<String> {
    let messages = body["messages"].as_array()?;
    if body["max_tokens"].as_u64().is_none_or(|limit| limit == 0) {
        return Some("max_tokens: Field required".to_owned());
    }
    if messages.is_empty() || messages[0]["role"] != "user" {
        return Some("messages: first message must use the \"user\" role".to_owned());
    }
    let mut unanswered: HashSet<&str> = HashSet::new();
    let mut seen: HashSet<&str> = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let blocks: &[Value] = message["content"].as_array().map_or(&[], Vec::as_slice);
        if blocks.is_empty() && message["content"].as_str().is_none_or(str::is_empty) {
            return Some(format!("messages.{at}: all messages must have non-empty content"));
        }
        let asked = std::mem::take(&mut unanswered);
        let mut answered = HashSet::new();
        for block in blocks {
            let text = |key: &str| block[key].as_str().unwrap_or_default();
            match text("type") {
                "text" if text("text").trim().is_empty() => {
                    return Some(format!(
                        "messages.{at}: text content blocks must contain non-whitespace text"
                    ));
                }
                "thinking" if text("signature") != signature(body["model"].as_str().unwrap_or_default()) => {
                    return Some(format!(
                        "messages.{at}.content: Invalid `signature` in `thinking` block"
                    ));
                }
                "tool_use" if !is_identifier(text("id")) || !is_identifier(text("name")) => {
                    return Some(format!(
                        "messages.{at}: tool_use.id and name should match '^[a-zA-Z0-9_-]+$'"
                    ));
                }
                "tool_use" if !block["input"].is_object() => {
                    return Some(format!(
                        "messages.{at}: tool_use.input: Input should be a valid dictionary"
                    ));
                }
                "tool_use" if !seen.insert(text("id")) => {
                    return Some(format!("messages.{at}: `tool_use` ids must be unique"));
                }
                "tool_use" => {
                    unanswered.insert(text("id"));
                }
                "tool_result" if !asked.contains(text("tool_use_id")) => {
                    return Some(format!(
                        "messages.{at}: unexpected `tool_use_id` found in `tool_result` blocks"
                    ));
                }
                "tool_result" => {
                    answered.insert(text("tool_use_id"));
                }
                _ => {}
            }
        }
        if asked.difference(&answered).next().is_some() {
            return Some(unanswered_words(at));
        }
    }
    (!unanswered.is_empty()).then(|| unanswered_words(messages.len()))
}

fn unanswered_words(at: usize) -> String {
    format!("messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after")
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

pub(super) fn arrived(body: &Value) -> Arrived {
    let messages: &[Value] = body["messages"].as_array().map_or(&[], Vec::as_slice);
    let user = messages
        .iter()
        .rev()
        .filter(|message| message["role"] == "user")
        .map(|message| text_of(&message["content"]))
        .find(|text| !text.is_empty());
    let mut results: Vec<String> = Vec::new();
    let newest = messages
        .iter()
        .rev()
        .take_while(|message| message["role"] != "assistant");
    for message in newest.collect::<Vec<_>>().into_iter().rev() {
        for block in message["content"].as_array().into_iter().flatten() {
            if block["type"] == "tool_result" {
                results.push(text_of(&block["content"]));
            }
        }
    }
    Arrived {
        user: user.unwrap_or_default(),
        tool_result: (!results.is_empty()).then(|| results.join("\n")),
    }
}

/// Content is a string or a list of blocks.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .filter(|block| block["type"] == "text")
            .filter_map(|block| block["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}
