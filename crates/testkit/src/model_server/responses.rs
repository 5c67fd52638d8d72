//! OpenAI Responses as the real service speaks it: framing of answers and errors, and the requests it refuses.

use std::collections::HashSet;

use provider::scenario::{Arrived, Ending, ScriptedError, ScriptedErrorKind, Step};
use serde_json::{Value, json};

use super::{
    answer::{Ids, Turn},
    openai,
    recording::{End, Recording},
};

pub(super) use super::openai::describe;

/// Events carry a number that counts from 0 within an answer.
struct Stream {
    recording: Recording,
    sequence: u64,
    output: Vec<Value>,
}

impl Stream {
    fn send(&mut self, kind: &str, members: Value) {
        let mut event = json!({ "type": kind, "sequence_number": self.sequence });
        if let (Some(event), Value::Object(members)) = (event.as_object_mut(), members) {
            event.extend(members);
        }
        self.sequence += 1;
        let frame = format!("event: {kind}\ndata: {event}\n\n");
        self.recording = std::mem::replace(&mut self.recording, Recording::new(200, "")).send(frame);
    }

    fn wait(&mut self, step: &Step) {
        self.recording = std::mem::replace(&mut self.recording, Recording::new(200, "")).wait(step.delay);
    }

    fn index(&self) -> usize {
        self.output.len()
    }

    fn begin(&mut self, item: Value) {
        let index = self.index();
        self.send(
            "response.output_item.added",
            json!({ "output_index": index, "item": item }),
        );
    }

    fn finish(&mut self, item: Value) {
        let index = self.index();
        self.send(
            "response.output_item.done",
            json!({ "output_index": index, "item": item }),
        );
        self.output.push(item);
    }
}

pub(super) fn answer(step: &Step, turn: &Turn, ids: &Ids) -> Recording {
    let id = ids.next("resp_");
    let response = |status: &str, output: &[Value], more: Value| {
        let mut response = json!({
            "id": id, "object": "response", "created_at": 1_700_000_000, "status": status, "model": turn.model,
            "output": output, "error": null, "incomplete_details": null, "usage": null, "instructions": null,
            "metadata": {}, "parallel_tool_calls": true, "temperature": 1.0, "top_p": 1.0, "tool_choice": "auto",
            "tools": [], "store": false,
        });
        if let (Some(response), Value::Object(more)) = (response.as_object_mut(), more) {
            response.extend(more);
        }
        json!({ "response": response })
    };
    let recording =
        Recording::new(200, "text/event-stream; charset=utf-8").header("x-request-id", ids.next("req_"));
    let mut stream = Stream {
        recording,
        sequence: 0,
        output: Vec::new(),
    };
    stream.send("response.created", response("in_progress", &[], json!({})));
    stream.send("response.in_progress", response("in_progress", &[], json!({})));
    if let Some(thinking) = &step.thinking {
        reasoning(&mut stream, step, turn, ids, thinking);
    }
    let text = step.sent_text();
    if !text.is_empty() {
        message(&mut stream, step, ids, text);
    }
    calls(&mut stream, step, ids);
    let reason = match &step.ending {
        Ending::Stall => return stream.recording.end(End::Hold),
        Ending::Error(error) => return fail_within(stream, error),
        Ending::OutputLimit => Some("max_output_tokens"),
        Ending::Refusal => Some("content_filter"),
        Ending::Complete => None,
    };
    let usage = turn.usage;
    let (kind, status) = match reason {
        Some(_) => ("response.incomplete", "incomplete"),
        None => ("response.completed", "completed"),
    };
    let output = std::mem::take(&mut stream.output);
    let end = response(
        status,
        &output,
        json!({
            "incomplete_details": reason.map(|reason| json!({ "reason": reason })),
            "usage": {
                "input_tokens": usage.input, "output_tokens": usage.output,
                "total_tokens": usage.input + usage.output,
                "input_tokens_details": { "cached_tokens": usage.cache_read },
                "output_tokens_details": { "reasoning_tokens": usage.reasoning },
            },
        }),
    );
    stream.send(kind, end);
    stream.recording.end(End::Close)
}

fn reasoning(stream: &mut Stream, step: &Step, turn: &Turn, ids: &Ids, thinking: &str) {
    let id = ids.next("rs_");
    let index = stream.index();
    stream.begin(json!({ "type": "reasoning", "id": id, "summary": [] }));
    let place = json!({ "item_id": id, "output_index": index, "summary_index": 0 });
    let with = |members: Value| merged(&place, members);
    stream.send(
        "response.reasoning_summary_part.added",
        with(json!({ "part": { "type": "summary_text", "text": "" } })),
    );
    for piece in step.pieces(thinking) {
        stream.wait(step);
        stream.send(
            "response.reasoning_summary_text.delta",
            with(json!({ "delta": piece })),
        );
    }
    stream.send(
        "response.reasoning_summary_text.done",
        with(json!({ "text": thinking })),
    );
    stream.finish(json!({
        "type": "reasoning", "id": id, "summary": [{ "type": "summary_text", "text": thinking }],
        "encrypted_content": encrypted(&turn.model),
    }));
}

fn message(stream: &mut Stream, step: &Step, ids: &Ids, text: &str) {
    let id = ids.next("msg_");
    let index = stream.index();
    stream.begin(
        json!({ "type": "message", "id": id, "role": "assistant", "status": "in_progress", "content": [] }),
    );
    let place = json!({ "item_id": id, "output_index": index, "content_index": 0 });
    let with = |members: Value| merged(&place, members);
    let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [] });
    stream.send("response.content_part.added", with(json!({ "part": part("") })));
    for piece in step.pieces(text) {
        stream.wait(step);
        stream.send(
            "response.output_text.delta",
            with(json!({ "delta": piece, "logprobs": [] })),
        );
    }
    stream.send(
        "response.output_text.done",
        with(json!({ "text": text, "logprobs": [] })),
    );
    stream.send("response.content_part.done", with(json!({ "part": part(text) })));
    stream.finish(json!({
        "type": "message", "id": id, "role": "assistant", "status": "completed", "content": [part(text)],
    }));
}

fn calls(stream: &mut Stream, step: &Step, ids: &Ids) {
    for (call, arguments) in step.sent_calls() {
        let id = ids.next("fc_");
        let call_id = call.id.clone().unwrap_or_else(|| ids.next("call_"));
        let item = |status: &str, arguments: &str| {
            json!({
                "type": "function_call", "id": id, "call_id": call_id, "name": call.name, "status": status,
                "arguments": arguments,
            })
        };
        let index = stream.index();
        stream.begin(item("in_progress", ""));
        for piece in step.pieces(arguments) {
            stream.wait(step);
            stream.send(
                "response.function_call_arguments.delta",
                json!({ "item_id": id, "output_index": index, "delta": piece }),
            );
        }
        stream.send(
            "response.function_call_arguments.done",
            json!({ "item_id": id, "output_index": index, "name": call.name, "arguments": arguments }),
        );
        stream.finish(item("completed", arguments));
    }
}

fn merged(place: &Value, members: Value) -> Value {
    let mut all = place.clone();
    if let (Some(all), Value::Object(members)) = (all.as_object_mut(), members) {
        all.extend(members);
    }
    all
}

/// What this server's reasoning of a model looks like from outside.
fn encrypted(model: &str) -> String {
    format!("encrypted-by-{model}")
}

/// An error after the stream began.
fn fail_within(mut stream: Stream, error: &ScriptedError) -> Recording {
    match error.kind {
        ScriptedErrorKind::Network => stream.recording.end(End::Reset),
        ScriptedErrorKind::StreamBroken | ScriptedErrorKind::NotAModel => stream.recording.end(End::Close),
        _ => {
            let error = &describe(error).1["error"];
            let members = json!({ "code": error["code"], "message": error["message"], "param": null });
            stream.send("error", members);
            stream.recording.end(End::Close)
        }
    }
}

/// Why the real service would refuse the request.
pub(super) fn refuse(body: &Value) -> Option<String> {
    let Some(input) = body["input"].as_array().filter(|input| !input.is_empty()) else {
        // A client may also send the input as one text.
        return body["input"]
            .as_str()
            .is_none()
            .then(|| "Invalid 'input': empty.".to_owned());
    };
    if body["max_output_tokens"].as_u64().is_some_and(|limit| limit < 16) {
        return Some("Invalid 'max_output_tokens': expected a value >= 16.".to_owned());
    }
    if let Some(fault) = openai::bad_tool(body["tools"].as_array().into_iter().flatten()) {
        return Some(fault);
    }
    let model = body["model"].as_str().unwrap_or_default();
    let mut seen = HashSet::new();
    let mut open = HashSet::new();
    for (at, item) in input.iter().enumerate() {
        let id = item["call_id"].as_str().unwrap_or_default();
        let what = item["type"].as_str().unwrap_or("message");
        match what {
            "message" => {
                let empty = match &item["content"] {
                    Value::Array(parts) => parts.is_empty(),
                    content => content.as_str().is_none_or(str::is_empty),
                };
                let right = match item["role"].as_str().unwrap_or_default() {
                    "assistant" => "output_text",
                    _ => "input_",
                };
                let mut parts = item["content"].as_array().into_iter().flatten();
                if empty || parts.any(|part| !part["type"].as_str().unwrap_or_default().starts_with(right)) {
                    return Some(format!("Invalid 'input[{at}].content'."));
                }
            }
            "function_call" if id.is_empty() || id.chars().count() > 64 => {
                return Some(format!("Invalid 'input[{at}].call_id': 1 to 64 characters."));
            }
            "function_call" if !openai::is_name(&item["name"]) || !item["arguments"].is_string() => {
                return Some(format!(
                    "Invalid 'input[{at}]': 'name' and 'arguments' are required."
                ));
            }
            "function_call" if !seen.insert(id) => {
                return Some(format!("Invalid 'input[{at}].call_id': {id} is not unique."));
            }
            "function_call" => {
                open.insert(id);
            }
            "function_call_output" if !open.remove(id) => {
                return Some(format!(
                    "No tool call found for function call output with call_id {id}."
                ));
            }
            "function_call_output" => {}
            "reasoning" => {
                if item["encrypted_content"] != json!(encrypted(model)) {
                    return Some("The encrypted content could not be verified.".to_owned());
                }
                let next = input.get(at + 1).map(|next| &next["type"]);
                let follows = ["message", "function_call", "reasoning"]
                    .iter()
                    .any(|kind| next.is_some_and(|next| next == kind));
                let own = input.get(at + 1).is_some_and(|next| next["role"] != "user");
                if !follows || !own {
                    return Some(format!(
                        "Item '{}' of type 'reasoning' was provided without its required following item.",
                        item["id"].as_str().unwrap_or_default()
                    ));
                }
            }
            other => return Some(format!("Invalid value: '{other}' for 'input[{at}].type'.")),
        }
    }
    open.iter()
        .min()
        .map(|id| format!("No tool output found for function call {id} (tool_call_id)."))
}

pub(super) fn arrived(body: &Value) -> Arrived {
    if let Some(text) = body["input"].as_str() {
        return Arrived {
            user: text.to_owned(),
            tool_result: None,
        };
    }
    let input: &[Value] = body["input"].as_array().map_or(&[], Vec::as_slice);
    let user = input
        .iter()
        .rev()
        .filter(|item| item["role"] == "user")
        .map(|item| text_of(&item["content"]))
        .find(|text| !text.is_empty());
    let mut results: Vec<String> = input
        .iter()
        .rev()
        .take_while(|item| item["type"] != "function_call" && item["role"] != "assistant")
        .filter(|item| item["type"] == "function_call_output")
        .map(|item| text_of(&item["output"]))
        .collect();
    results.reverse();
    Arrived {
        user: user.unwrap_or_default(),
        tool_result: (!results.is_empty()).then(|| results.join("\n")),
    }
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}
