//! OpenAI Responses. Requests carry the whole history and are not stored; reasoning comes encrypted and goes back
//! as the item it was.

use protocol::Usage;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Decoder, Fault, call_id, count, identifier, marked, parse, proof_of, wrote_it};
use crate::{
    assemble::Part,
    config::Family,
    error::ProviderErrorKind,
    message::{AnswerFormat, Block, Message, ModelRequest, Role, StopReason},
};

/// Field order is the order of bytes: everything that stays the same comes before `input`.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    store: bool,
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Value>,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    input: Vec<Value>,
}

pub(super) fn body(request: &ModelRequest) -> Result<Vec<u8>, serde_json::Error> {
    let tools = request
        .tools
        .iter()
        .map(|tool| {
            json!({
                "type": "function", "name": tool.name, "description": tool.description,
                // Strict mode refuses optional arguments.
                "parameters": tool.parameters, "strict": false,
            })
        })
        .collect();
    let mut input = Vec::new();
    for message in &request.messages {
        match message.role {
            Role::User => push_user(message, &mut input),
            Role::Assistant => push_assistant(message, request, &mut input),
        }
    }
    let reasons = reasons(&request.model);
    serde_json::to_vec(&Body {
        model: &request.model,
        stream: true,
        store: false,
        max_output_tokens: request.max_output_tokens.max(LEAST_OUTPUT),
        reasoning: reasons.then(|| json!({ "summary": "auto" })),
        include: if reasons {
            vec!["reasoning.encrypted_content"]
        } else {
            Vec::new()
        },
        text: match &request.format {
            AnswerFormat::Text => None,
            AnswerFormat::Json => Some(json!({ "format": { "type": "json_object" } })),
            AnswerFormat::Schema { name, schema } => Some(json!({ "format": {
                "type": "json_schema", "name": identifier(name, NAME_LIMIT), "schema": schema, "strict": false,
            } })),
        },
        instructions: request.system.trim(),
        tools,
        input,
    })
}

/// A lower limit is refused.
const LEAST_OUTPUT: u32 = 16;

/// In characters, of ids and tool names.
const NAME_LIMIT: usize = 64;

/// Other models refuse to be asked for reasoning.
fn reasons(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let numbered = |prefix: &str| {
        let rest = name.strip_prefix(prefix);
        rest.and_then(|rest| rest.chars().next())
            .filter(char::is_ascii_digit)
    };
    numbered("o").is_some()
        || numbered("gpt-").is_some_and(|generation| generation >= '5') && !name.contains("-chat")
        || name.starts_with("codex-")
}

/// Results of calls are items of their own.
fn push_user(message: &Message, input: &mut Vec<Value>) {
    let mut content = Vec::new();
    for block in &message.blocks {
        match block {
            Block::ToolResult {
                tool_use_id, content, ..
            } => input.push(json!({
                "type": "function_call_output", "call_id": call_id(tool_use_id, NAME_LIMIT), "output": content,
            })),
            Block::Text { text } if text.is_empty() => {}
            Block::Text { text } => content.push(json!({ "type": "input_text", "text": text })),
            Block::Image { media_type, base64 } => content.push(json!({
                "type": "input_image", "image_url": format!("data:{media_type};base64,{base64}"),
            })),
            Block::Thinking { .. }
            | Block::RedactedThinking { .. }
            | Block::ToolUse { .. }
            | Block::Opaque { .. } => {}
        }
    }
    if !content.is_empty() {
        input.push(json!({ "type": "message", "role": "user", "content": content }));
    }
}

fn push_assistant(message: &Message, request: &ModelRequest, input: &mut Vec<Value>) {
    let own = wrote_it(message, request);
    // A reasoning item is refused unless what it led to follows it.
    let mut waiting = Vec::new();
    for block in &message.blocks {
        let item = match block {
            Block::Thinking {
                signature: Some(kept),
                ..
            } if own => {
                let item = proof_of(Family::OpenAiResponses, kept);
                waiting.extend(item.and_then(|item| serde_json::from_str::<Value>(item).ok()));
                continue;
            }
            Block::Text { text } if !text.is_empty() => json!({
                "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }],
            }),
            Block::ToolUse { id, name, input, .. } => json!({
                "type": "function_call", "call_id": call_id(id, NAME_LIMIT), "name": identifier(name, NAME_LIMIT),
                "arguments": input.to_string(),
            }),
            Block::Opaque { provider, json } if own && *provider == request.provider => json.clone(),
            Block::Text { .. }
            | Block::Thinking { .. }
            | Block::RedactedThinking { .. }
            | Block::ToolResult { .. }
            | Block::Image { .. }
            | Block::Opaque { .. } => continue,
        };
        input.append(&mut waiting);
        input.push(item);
    }
}

/// Each item of the output may give a block of each kind.
const KINDS: usize = 4;
const THINKING: usize = 0;
const TEXT: usize = 1;
const CALL: usize = 2;
const OPAQUE: usize = 3;

#[derive(Default)]
pub(super) struct ResponsesDecoder {
    /// Blocks of calls whose arguments have begun to come.
    streamed: Vec<usize>,
    finished: bool,
}

impl Decoder for ResponsesDecoder {
    fn event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), Fault> {
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let event = parse(data)?;
        let item = count(&event["output_index"]) as usize * KINDS;
        let delta = || event["delta"].as_str().unwrap_or_default().to_owned();
        match event["type"].as_str().unwrap_or_default() {
            "response.output_text.delta" | "response.refusal.delta" => parts.push(Part::Text {
                block: item + TEXT,
                delta: delta(),
            }),
            "response.reasoning_summary_part.added" if count(&event["summary_index"]) > 0 => {
                parts.push(Part::Thinking {
                    block: item + THINKING,
                    delta: "\n\n".to_owned(),
                });
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                parts.push(Part::Thinking {
                    block: item + THINKING,
                    delta: delta(),
                });
            }
            "response.output_item.added" => self.item_added(item, &event["item"], parts),
            "response.function_call_arguments.delta" => {
                self.streamed.push(item);
                parts.push(Part::ToolArguments {
                    block: item + CALL,
                    delta: delta(),
                });
            }
            "response.output_item.done" => self.item_done(item, &event["item"], parts),
            "response.completed" | "response.incomplete" => self.end(&event["response"], parts),
            "response.failed" => return Err(failure(&event["response"]["error"])),
            "error" => {
                let error = &event["error"];
                return Err(failure(if error.is_null() { &event } else { error }));
            }
            // Progress of what is already read piece by piece, and events of later versions.
            _ => {}
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.finished
    }
}

impl ResponsesDecoder {
    fn item_added(&mut self, item: usize, added: &Value, parts: &mut Vec<Part>) {
        if added["type"] == "function_call" {
            parts.push(Part::ToolStart {
                block: item + CALL,
                id: added["call_id"].as_str().unwrap_or_default().to_owned(),
                name: added["name"].as_str().unwrap_or_default().to_owned(),
            });
        }
    }

    fn item_done(&mut self, item: usize, done: &Value, parts: &mut Vec<Part>) {
        match done["type"].as_str().unwrap_or_default() {
            "message" => {}
            "function_call" => {
                let whole = done["arguments"].as_str().unwrap_or_default();
                if !self.streamed.contains(&item) && !whole.is_empty() {
                    parts.push(Part::ToolArguments {
                        block: item + CALL,
                        delta: whole.to_owned(),
                    });
                }
            }
            // Without its contents an item can be sent back only to a server that stores.
            "reasoning" if done["encrypted_content"].is_string() => parts.push(Part::Signature {
                block: item + THINKING,
                delta: marked(Family::OpenAiResponses, &done.to_string()),
            }),
            "reasoning" => {}
            _ => parts.push(Part::Opaque {
                block: item + OPAQUE,
                json: done.clone(),
            }),
        }
    }

    fn end(&mut self, response: &Value, parts: &mut Vec<Part>) {
        let stop = match response["incomplete_details"]["reason"].as_str() {
            Some("max_output_tokens") => StopReason::OutputLimit,
            Some("content_filter") => StopReason::Refused,
            _ => StopReason::EndTurn,
        };
        let usage = &response["usage"];
        if usage.is_object() {
            let details = &usage["input_tokens_details"];
            parts.push(Part::Usage(Usage {
                input: count(&usage["input_tokens"]),
                output: count(&usage["output_tokens"]),
                cache_read: count(&details["cached_tokens"]),
                cache_write: count(&details["cache_write_tokens"]),
                reasoning: count(&usage["output_tokens_details"]["reasoning_tokens"]),
            }));
        }
        self.finished = true;
        parts.extend([Part::Stop(stop), Part::End]);
    }
}

fn failure(error: &Value) -> Fault {
    match error {
        Value::Null => Fault::new(ProviderErrorKind::Server, "the answer failed without a reason"),
        error => Fault::from_error(error, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_models_that_reason_are_asked_to() {
        for (model, expected) in [
            ("gpt-5.5", true),
            ("gpt-5-mini", true),
            ("o3", true),
            ("openai/o4-mini", true),
            ("codex-mini-latest", true),
            ("gpt-5-chat-latest", false),
            ("gpt-4.1", false),
            ("gpt-4o", false),
            ("omni-moderation", false),
        ] {
            assert_eq!(reasons(model), expected, "{model}");
        }
    }
}
