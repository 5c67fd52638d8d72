//! OpenAI Chat Completions, and the many servers that speak nearly the same.

use protocol::Usage;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Decoder, Fault, Vendor, count, identifier, parse, wrote_it};
use crate::{
    assemble::Part,
    error::ProviderErrorKind,
    message::{Block, Message, ModelRequest, Role, StopReason},
};

/// Field order is the order of bytes: everything that stays the same comes before `messages`.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    stream_options: Value,
    /// OpenAI's own models refuse the old name, most other servers do not know the new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    messages: Vec<Value>,
}

pub(super) fn body(request: &ModelRequest, vendor: Vendor) -> Result<Vec<u8>, serde_json::Error> {
    let limit = Some(request.max_output_tokens);
    let (max_completion_tokens, max_tokens) = match vendor {
        Vendor::OpenAi => (limit, None),
        Vendor::Compatible => (None, limit),
    };
    let tools = request
        .tools
        .iter()
        .map(|tool| {
            json!({ "type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            } })
        })
        .collect();
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.trim().is_empty() {
        messages.push(json!({ "role": "system", "content": request.system }));
    }
    for message in &request.messages {
        match message.role {
            Role::User => push_user(message, &mut messages),
            Role::Assistant => push_assistant(message, request, vendor, &mut messages),
        }
    }
    serde_json::to_vec(&Body {
        model: &request.model,
        stream: true,
        stream_options: json!({ "include_usage": true }),
        max_completion_tokens,
        max_tokens,
        tools,
        messages,
    })
}

/// Results of calls are messages of their own and must follow the calls directly.
fn push_user(message: &Message, messages: &mut Vec<Value>) {
    let mut texts = Vec::new();
    let mut images: Vec<Value> = Vec::new();
    for block in &message.blocks {
        match block {
            Block::ToolResult {
                tool_use_id, content, ..
            } => {
                messages.push(json!({ "role": "tool", "tool_call_id": tool_use_id, "content": content }));
            }
            Block::Text { text } => texts.push(text.as_str()),
            Block::Image { media_type, base64 } => images.push(json!({
                "type": "image_url", "image_url": { "url": format!("data:{media_type};base64,{base64}") },
            })),
            Block::Thinking { .. }
            | Block::RedactedThinking { .. }
            | Block::ToolUse { .. }
            | Block::Opaque { .. } => {}
        }
    }
    // A plain string where it will do: many local servers take nothing else.
    let text = texts.join("\n\n");
    if !images.is_empty() {
        let mut content = images;
        if !text.is_empty() {
            content.insert(0, json!({ "type": "text", "text": text }));
        }
        messages.push(json!({ "role": "user", "content": content }));
    } else if !texts.is_empty() {
        messages.push(json!({ "role": "user", "content": text }));
    }
}

fn push_assistant(message: &Message, request: &ModelRequest, vendor: Vendor, messages: &mut Vec<Value>) {
    let mut reasoning = String::new();
    let mut calls = Vec::new();
    for block in &message.blocks {
        match block {
            Block::Thinking { text, .. } => reasoning.push_str(text),
            Block::ToolUse { id, name, input, .. } => calls.push(json!({
                "id": id, "type": "function", "function": { "name": identifier(name, 64), "arguments": input.to_string() },
            })),
            Block::Text { .. }
            | Block::RedactedThinking { .. }
            | Block::ToolResult { .. }
            | Block::Image { .. }
            | Block::Opaque { .. } => {}
        }
    }
    let text = Some(message.text()).filter(|text| !text.trim().is_empty());
    if text.is_none() && calls.is_empty() {
        return;
    }
    let mut item = json!({ "role": "assistant", "content": text });
    if !calls.is_empty() {
        item["tool_calls"] = calls.into();
    }
    // OpenAI refuses the field; reasoning models elsewhere lose their thread within a turn without it.
    if vendor == Vendor::Compatible && !reasoning.is_empty() && wrote_it(message, request) {
        item["reasoning_content"] = reasoning.into();
    }
    messages.push(item);
}

/// Blocks are numbered as they come; these two exist at most once.
const THINKING: usize = 0;
const TEXT: usize = 1;
const FIRST_CALL: usize = 2;

#[derive(Default)]
pub(super) struct OpenAiDecoder {
    calls: Vec<Call>,
    finished: bool,
}

struct Call {
    /// What the server calls it; several calls at one index have been seen, and calls without any.
    index: Option<u64>,
    id: String,
    /// Arguments that came before the name.
    early: String,
    started: bool,
}

impl Decoder for OpenAiDecoder {
    fn event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), Fault> {
        if data.trim() == "[DONE]" {
            parts.push(Part::End);
            return Ok(());
        }
        let chunk = parse(data)?;
        if !chunk["error"].is_null() {
            return Err(Fault::from_error(&chunk["error"], None));
        }
        let choice = &chunk["choices"][0];
        let delta = &choice["delta"];
        for key in ["reasoning_content", "reasoning"] {
            if let Some(text) = delta[key].as_str() {
                parts.push(Part::Thinking {
                    block: THINKING,
                    delta: text.to_owned(),
                });
                break;
            }
        }
        for text in texts(&delta["content"]) {
            parts.push(Part::Text {
                block: TEXT,
                delta: text.to_owned(),
            });
        }
        if let Some(text) = delta["refusal"].as_str() {
            parts.push(Part::Text {
                block: TEXT,
                delta: text.to_owned(),
            });
        }
        for fragment in delta["tool_calls"].as_array().into_iter().flatten() {
            self.fragment(fragment, parts);
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.finish(reason, choice, parts)?;
        }
        for usage in [&chunk["usage"], &chunk["x_groq"]["usage"]] {
            if usage.is_object() {
                parts.push(Part::Usage(read_usage(usage)));
                break;
            }
        }
        Ok(())
    }

    /// Some servers close without `[DONE]`, or leave the connection open.
    fn is_complete(&self) -> bool {
        self.finished
    }
}

impl OpenAiDecoder {
    fn fragment(&mut self, fragment: &Value, parts: &mut Vec<Part>) {
        let function = &fragment["function"];
        let id = fragment["id"].as_str().unwrap_or_default();
        let name = function["name"].as_str().unwrap_or_default();
        let arguments = match &function["arguments"] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            object => object.to_string(),
        };
        let at = self.locate(fragment["index"].as_u64(), id, name);
        let block = FIRST_CALL + at;
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            call.id = id.to_owned();
        }
        if !call.started && name.is_empty() {
            call.early.push_str(&arguments);
            return;
        }
        if !call.started {
            call.started = true;
            parts.push(Part::ToolStart {
                block,
                id: call.id.clone(),
                name: name.to_owned(),
            });
            let early = std::mem::take(&mut call.early);
            parts.push(Part::ToolArguments { block, delta: early });
        }
        parts.push(Part::ToolArguments {
            block,
            delta: arguments,
        });
    }

    /// The call a fragment belongs to, made if it is a new one. An id is the best evidence, then the index;
    /// with neither, a name begins a call and anything else continues the last.
    fn locate(&mut self, index: Option<u64>, id: &str, name: &str) -> usize {
        let by_id = || self.calls.iter().rposition(|call| call.id == id);
        let by_index = || self.calls.iter().rposition(|call| call.index == index);
        let compatible = |at: &usize| id.is_empty() || self.calls[*at].id.is_empty();
        let found = match (index, id.is_empty()) {
            (Some(_), false) => by_id()
                .filter(|at| self.calls[*at].index == index)
                .or_else(|| by_index().filter(compatible)),
            (Some(_), true) => by_index(),
            (None, false) => by_id(),
            (None, true) if name.is_empty() => self.calls.len().checked_sub(1),
            (None, true) => None,
        };
        found.unwrap_or_else(|| {
            self.calls.push(Call {
                index,
                id: id.to_owned(),
                early: String::new(),
                started: false,
            });
            self.calls.len() - 1
        })
    }

    fn finish(&mut self, reason: &str, choice: &Value, parts: &mut Vec<Part>) -> Result<(), Fault> {
        let stop = match reason {
            "length" => StopReason::OutputLimit,
            "tool_calls" | "function_call" => StopReason::ToolUse,
            "content_filter" => StopReason::Refused,
            "error" => {
                let error = &choice["error"];
                return Err(match error {
                    Value::Null => Fault::new(
                        ProviderErrorKind::Server,
                        "the server ended the answer with an error",
                    ),
                    error => Fault::from_error(error, None),
                });
            }
            _ => StopReason::EndTurn,
        };
        for (at, call) in self
            .calls
            .iter_mut()
            .enumerate()
            .filter(|(_, call)| !call.started)
        {
            // It never got a name: reported as it is, so that the model is told.
            call.started = true;
            let block = FIRST_CALL + at;
            parts.push(Part::ToolStart {
                block,
                id: call.id.clone(),
                name: String::new(),
            });
            parts.push(Part::ToolArguments {
                block,
                delta: std::mem::take(&mut call.early),
            });
        }
        self.finished = true;
        parts.push(Part::Stop(stop));
        Ok(())
    }
}

/// Content is a string nearly everywhere, and a list of parts at some servers.
fn texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().filter_map(|item| item["text"].as_str()).collect(),
        _ => Vec::new(),
    }
}

fn read_usage(usage: &Value) -> Usage {
    let details = &usage["prompt_tokens_details"];
    Usage {
        input: count(&usage["prompt_tokens"]),
        output: count(&usage["completion_tokens"]),
        cache_read: count(&details["cached_tokens"]).max(count(&usage["prompt_cache_hit_tokens"])),
        cache_write: count(&details["cache_write_tokens"]),
        reasoning: count(&usage["completion_tokens_details"]["reasoning_tokens"]),
    }
}
