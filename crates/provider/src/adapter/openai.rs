//! OpenAI Chat Completions, and the many servers that speak nearly the same.

use protocol::Usage;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Decoder, Fault, call_id, count, identifier, marked, parse, proof_of,
    quirks::{OutputLimit, Quirks, Reasoning},
    wrote_it,
};
use crate::{
    assemble::Part,
    config::Family,
    error::ProviderErrorKind,
    message::{AnswerFormat, Block, Message, ModelRequest, Role, StopReason},
};

/// Field order is the order of bytes: everything that stays the same comes before `messages`.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    stream_options: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    messages: Vec<Value>,
}

pub(super) fn body(request: &ModelRequest, quirks: &Quirks) -> Result<Vec<u8>, serde_json::Error> {
    let limit = Some(request.max_output_tokens);
    let (max_completion_tokens, max_tokens) = match quirks.output_limit {
        OutputLimit::MaxCompletionTokens => (limit, None),
        OutputLimit::MaxTokens => (None, limit),
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
            Role::Assistant => push_assistant(message, request, quirks, &mut messages),
        }
    }
    serde_json::to_vec(&Body {
        model: &request.model,
        stream: true,
        stream_options: json!({ "include_usage": true }),
        max_completion_tokens,
        max_tokens,
        response_format: match &request.format {
            AnswerFormat::Text => None,
            AnswerFormat::Json => Some(json!({ "type": "json_object" })),
            AnswerFormat::Schema { name, schema } => Some(json!({
                "type": "json_schema", "json_schema": { "name": identifier(name, NAME_LIMIT), "schema": schema },
            })),
        },
        tools,
        messages,
    })
}

/// In characters.
const NAME_LIMIT: usize = 64;
const ID_LIMIT: usize = 40;

/// Ids stay as they are where they can: some models write theirs by a rule and expect to read it again.
fn wire_id(id: &str) -> String {
    let fits = !id.is_empty() && id.chars().count() <= ID_LIMIT && id.chars().all(|c| c.is_ascii_graphic());
    if fits {
        id.to_owned()
    } else {
        call_id(id, ID_LIMIT)
    }
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
                messages.push(
                    json!({ "role": "tool", "tool_call_id": wire_id(tool_use_id), "content": content }),
                );
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

fn push_assistant(message: &Message, request: &ModelRequest, quirks: &Quirks, messages: &mut Vec<Value>) {
    let mut reasoning = String::new();
    let mut details = None;
    let mut calls = Vec::new();
    for block in &message.blocks {
        match block {
            Block::Thinking { text, signature } => {
                reasoning.push_str(text);
                let kept = signature.as_deref().and_then(|kept| proof_of(Family::OpenAiChat, kept));
                details = details.or(kept.and_then(|kept| serde_json::from_str::<Value>(kept).ok()));
            }
            Block::ToolUse { id, name, input, .. } => calls.push(json!({
                "id": wire_id(id), "type": "function", "function": { "name": identifier(name, NAME_LIMIT), "arguments": input.to_string() },
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
    if wrote_it(message, request) {
        match (quirks.reasoning, details) {
            (Reasoning::Details, Some(details)) => item["reasoning_details"] = details,
            (Reasoning::Never, _) => {}
            _ if reasoning.is_empty() => {}
            (Reasoning::Content, _) => item["reasoning_content"] = reasoning.into(),
            (Reasoning::Plain | Reasoning::Details, _) => item["reasoning"] = reasoning.into(),
        }
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
    details: Vec<Value>,
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
        for detail in delta["reasoning_details"].as_array().into_iter().flatten() {
            join_detail(&mut self.details, detail);
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
        // Plain texts come back as they are; only what holds a proof has to be kept in its own form.
        let proves = |detail: &Value| ["signature", "data"].iter().any(|key| detail[*key].is_string());
        let details = std::mem::take(&mut self.details);
        if !self.finished && details.iter().any(proves) {
            parts.push(Part::Signature {
                block: THINKING,
                delta: marked(Family::OpenAiChat, &Value::from(details).to_string()),
            });
        }
        self.finished = true;
        parts.push(Part::Stop(stop));
        Ok(())
    }
}

/// Pieces of one detail follow one another; each brings more of its texts.
fn join_detail(details: &mut Vec<Value>, piece: &Value) {
    const GROWING: [&str; 4] = ["text", "summary", "data", "signature"];
    let continues = |last: &Value| last["index"] == piece["index"] && last["type"] == piece["type"];
    let (Some(last), Some(members)) = (
        details
            .last_mut()
            .filter(|last| piece["index"].is_number() && continues(last)),
        piece.as_object(),
    ) else {
        details.push(piece.clone());
        return;
    };
    for (key, value) in members {
        match (last[key].as_str(), value.as_str()) {
            (Some(known), Some(more)) if GROWING.contains(&key.as_str()) => {
                last[key] = format!("{known}{more}").into();
            }
            _ if value.is_null() => {}
            _ => last[key] = value.clone(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Origin;

    fn conversation(message: Message) -> ModelRequest {
        ModelRequest {
            provider: "p".into(),
            model: "m".into(),
            system: String::new(),
            tools: Vec::new(),
            messages: vec![Message::user("x"), message],
            max_output_tokens: 9,
            format: AnswerFormat::Text,
            request_id: protocol::ProviderRequestId::mint(),
        }
    }

    fn sent(message: &Message, base_url: &str) -> Value {
        let body = body(&conversation(message.clone()), Quirks::of("x", base_url)).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    #[test]
    fn each_server_gets_reasoning_and_limits_under_its_own_names() {
        let own = Message {
            role: Role::Assistant,
            blocks: vec![
                Block::Thinking {
                    text: "hm".into(),
                    signature: None,
                },
                Block::Text { text: "said".into() },
            ],
            origin: Some(Origin {
                provider: "p".into(),
                model: "m".into(),
            }),
        };
        for (url, field, limit) in [
            ("https://api.openai.com/v1", None, "max_completion_tokens"),
            (
                "https://api.deepseek.com/v1",
                Some("reasoning_content"),
                "max_tokens",
            ),
            ("https://openrouter.ai/api/v1", Some("reasoning"), "max_tokens"),
            (
                "https://api.groq.com/openai/v1",
                Some("reasoning"),
                "max_completion_tokens",
            ),
            ("https://api.together.xyz/v1", Some("reasoning"), "max_tokens"),
            (
                "https://api.fireworks.ai/inference/v1",
                Some("reasoning_content"),
                "max_tokens",
            ),
            (
                "http://elsewhere.example/v1",
                Some("reasoning_content"),
                "max_tokens",
            ),
        ] {
            let body = sent(&own, url);
            assert_eq!(body[limit], 9, "{url}");
            let reasoning: Vec<&String> = body["messages"][1]
                .as_object()
                .unwrap()
                .keys()
                .filter(|key| key.starts_with("reasoning"))
                .collect();
            assert_eq!(reasoning, Vec::from_iter(field), "{url}");
        }
    }

    #[test]
    fn signed_details_of_reasoning_come_in_pieces_and_go_back_whole() {
        let piece = |detail: Value| {
            let delta = json!({ "reasoning": "t", "reasoning_details": [detail] });
            json!({ "choices": [{ "delta": delta }] }).to_string()
        };
        let chunks = [
            piece(
                json!({ "type": "reasoning.text", "index": 0, "format": "a", "text": "one ", "signature": null }),
            ),
            piece(json!({ "type": "reasoning.text", "index": 0, "text": "two" })),
            piece(json!({ "type": "reasoning.text", "index": 0, "signature": "proof" })),
            piece(json!({ "type": "reasoning.encrypted", "index": 1, "data": "secret" })),
            json!({ "choices": [{ "delta": { "content": "said" }, "finish_reason": "stop" }] }).to_string(),
        ];
        let request = conversation(Message::user("y"));
        let mut assembler = crate::assemble::Assembler::new(&request);
        let mut decoder = OpenAiDecoder::default();
        for chunk in chunks {
            let mut parts = Vec::new();
            decoder.event(&chunk, &mut parts).unwrap();
            parts.into_iter().for_each(|part| drop(assembler.apply(part)));
        }
        let message = assembler.finish().unwrap().message;
        let details = json!([
            { "type": "reasoning.text", "index": 0, "format": "a", "text": "one two", "signature": "proof" },
            { "type": "reasoning.encrypted", "index": 1, "data": "secret" },
        ]);
        let item = &sent(&message, "https://openrouter.ai/api/v1")["messages"][1];
        assert_eq!(item["reasoning_details"], details);
        assert!(item.get("reasoning").is_none());
        let elsewhere = &sent(&message, "https://api.openai.com/v1")["messages"][1];
        assert!(elsewhere.get("reasoning_details").is_none());
    }
}
