//! OpenAI Chat Completions as the real service speaks it: framing of answers and errors, and the requests it
//! refuses.

use std::collections::HashSet;

use provider::scenario::{Arrived, Ending, ScriptedError, ScriptedErrorKind, Step};
use serde_json::{Value, json};

use super::{
    answer::{Ids, Turn},
    anthropic::text_of,
    recording::{End, Recording},
};

pub(super) fn answer(step: &Step, turn: &Turn, ids: &Ids) -> Recording {
    let id = ids.next("chatcmpl-");
    let chunk = |delta: Value, finish: Option<&str>| {
        frame(json!({
            "id": id, "object": "chat.completion.chunk", "created": 1_700_000_000, "model": turn.model,
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }], "usage": null,
        }))
    };
    let mut stream = Recording::new(200, "text/event-stream").header("x-request-id", ids.next("req_"));
    stream = stream.send(chunk(json!({ "role": "assistant", "content": "" }), None));
    for piece in step.pieces(step.thinking.as_deref().unwrap_or_default()) {
        stream = stream
            .wait(step.delay)
            .send(chunk(json!({ "reasoning_content": piece }), None));
    }
    for piece in step.pieces(step.sent_text()) {
        stream = stream
            .wait(step.delay)
            .send(chunk(json!({ "content": piece }), None));
    }
    for delta in call_deltas(step, ids) {
        stream = stream
            .wait(step.delay)
            .send(chunk(json!({ "tool_calls": [delta] }), None));
    }
    let finish = match &step.ending {
        Ending::Stall => return stream.end(End::Hold),
        Ending::Error(error) => return fail_within(stream, error),
        Ending::OutputLimit => "length",
        Ending::Refusal => "content_filter",
        Ending::Complete if step.calls.is_empty() => "stop",
        Ending::Complete => "tool_calls",
    };
    let usage = turn.usage;
    stream = stream.send(chunk(json!({}), Some(finish)));
    stream = stream.send(frame(json!({
        "id": id, "object": "chat.completion.chunk", "created": 1_700_000_000, "model": turn.model, "choices": [],
        "usage": {
            "prompt_tokens": usage.input, "completion_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "prompt_tokens_details": { "cached_tokens": usage.cache_read },
            "completion_tokens_details": { "reasoning_tokens": usage.reasoning },
        },
    })));
    stream.send("data: [DONE]\n\n").end(End::Close)
}

/// Pieces of parallel calls alternate, as they do at servers that generate them side by side.
fn call_deltas(step: &Step, ids: &Ids) -> Vec<Value> {
    let mut queues: Vec<(usize, Vec<&str>)> = Vec::new();
    let mut deltas = Vec::new();
    for (index, (call, arguments)) in step.sent_calls().enumerate() {
        let id = call.id.clone().unwrap_or_else(|| ids.next("call_"));
        let function = json!({ "name": call.name, "arguments": "" });
        deltas.push(json!({ "index": index, "id": id, "type": "function", "function": function }));
        queues.push((index, step.pieces(arguments)));
    }
    let longest = queues.iter().map(|(_, pieces)| pieces.len()).max().unwrap_or(0);
    for round in 0..longest {
        for (index, pieces) in &queues {
            if let Some(piece) = pieces.get(round) {
                deltas.push(json!({ "index": index, "function": { "arguments": piece } }));
            }
        }
    }
    deltas
}

fn frame(data: Value) -> String {
    format!("data: {data}\n\n")
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
    let request = "invalid_request_error";
    let (status, kind, code, message) = match error.kind {
        Kind::Auth => (401, request, "invalid_api_key", "Incorrect API key provided."),
        Kind::ModelUnknown => (
            404,
            request,
            "model_not_found",
            "The model does not exist or you do not have access.",
        ),
        Kind::RateLimited => (429, "requests", "rate_limit_exceeded", "Rate limit reached."),
        Kind::Quota => (
            429,
            "insufficient_quota",
            "insufficient_quota",
            "You exceeded your current quota.",
        ),
        Kind::Overloaded => (
            503,
            "server_error",
            "overloaded",
            "The engine is currently overloaded.",
        ),
        Kind::ContextTooLong => (
            400,
            request,
            "context_length_exceeded",
            "This model's maximum context length is 128000 tokens.",
        ),
        Kind::Refused => (
            400,
            request,
            "content_policy_violation",
            "The request was rejected by our safety system.",
        ),
        Kind::InvalidRequest => (400, request, "invalid_value", "Invalid value."),
        Kind::Server | Kind::Network | Kind::StreamBroken | Kind::NotAModel => {
            (500, "server_error", "internal_error", "The server had an error.")
        }
    };
    let message = error.message.as_deref().unwrap_or(message);
    (
        status,
        json!({ "error": { "message": message, "type": kind, "param": null, "code": code } }),
    )
}

pub(super) fn error_body(kind: &str, message: &str) -> Value {
    json!({ "error": { "message": message, "type": kind, "param": null, "code": null } })
}

/// Why the real service would refuse the request.
pub(super) fn refuse(body: &Value) -> Option<String> {
    let messages = body["messages"].as_array()?;
    if messages.is_empty() {
        return Some("Invalid 'messages': empty array.".to_owned());
    }
    if let Some(fault) = bad_tool(
        body["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|tool| &tool["function"]),
    ) {
        return Some(fault);
    }
    let mut open: HashSet<&str> = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            if !open.remove(id) {
                return Some(format!(
                    "messages.{at}: no preceding 'tool_calls' has the id {id}."
                ));
            }
            continue;
        }
        if !open.is_empty() {
            break;
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            if !serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()) {
                return Some(format!(
                    "messages.{at}.tool_calls: the arguments are not a JSON object."
                ));
            }
            let id = call["id"].as_str().unwrap_or_default();
            if id.chars().count() > 40 {
                return Some(format!(
                    "messages.{at}.tool_calls: 'id' is too long: at most 40 characters."
                ));
            }
            if !is_name(&call["function"]["name"]) {
                return Some(format!(
                    "messages.{at}.tool_calls: 'function.name' does not match '^[a-zA-Z0-9_-]+$'."
                ));
            }
            if !open.insert(call["id"].as_str().unwrap_or_default()) {
                return Some(format!("messages.{at}.tool_calls: the ids must be unique."));
            }
        }
        if role == "assistant" && message["content"].is_null() && open.is_empty() {
            return Some(format!(
                "messages.{at}: content is required unless there are tool_calls."
            ));
        }
    }
    (!open.is_empty()).then(|| {
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
            .to_owned()
    })
}

/// The first tool whose name or schema the real service refuses.
pub(super) fn bad_tool<'a>(tools: impl Iterator<Item = &'a Value>) -> Option<String> {
    tools.into_iter().find_map(|tool| {
        let name = &tool["name"];
        if !is_name(name) {
            return Some(format!(
                "Invalid 'tools': the name {name} does not match '^[a-zA-Z0-9_-]+$'."
            ));
        }
        let object = tool["parameters"]["type"] == "object";
        (!object).then(|| format!("Invalid schema for function {name}: the type must be \"object\"."))
    })
}

pub(super) fn is_name(name: &Value) -> bool {
    name.as_str().is_some_and(|name| {
        (1..=64).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    })
}

pub(super) fn arrived(body: &Value) -> Arrived {
    let messages: &[Value] = body["messages"].as_array().map_or(&[], Vec::as_slice);
    let user = messages
        .iter()
        .rev()
        .filter(|message| message["role"] == "user")
        .map(|message| text_of(&message["content"]))
        .find(|text| !text.is_empty());
    let newest = messages
        .iter()
        .rev()
        .take_while(|message| message["role"] != "assistant");
    let mut results: Vec<String> = newest
        .filter(|message| message["role"] == "tool")
        .map(|message| text_of(&message["content"]))
        .collect();
    results.reverse();
    Arrived {
        user: user.unwrap_or_default(),
        tool_result: (!results.is_empty()).then(|| results.join("\n")),
    }
}
