//! Anthropic Messages.

use std::collections::HashMap;

use protocol::Usage;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Decoder, Fault, call_id, count, identifier, parse, proof_of, wrote_it};
use crate::{
    assemble::Part,
    config::Family,
    message::{AnswerFormat, Block, Message, ModelRequest, Role, StopReason},
};

/// Field order is the order of bytes: everything that stays the same comes before `messages`.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    /// Lets the provider place the moving cache mark itself, so that no mark has to move within our bytes.
    cache_control: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    messages: Vec<Value>,
}

pub(super) fn body(request: &ModelRequest) -> Result<Vec<u8>, serde_json::Error> {
    let mut system = Vec::new();
    if !request.system.trim().is_empty() {
        system.push(
            json!({ "type": "text", "text": request.system, "cache_control": { "type": "ephemeral" } }),
        );
    }
    let output_config = match &request.format {
        AnswerFormat::Text => None,
        AnswerFormat::Json => {
            // The format has no mode for any JSON.
            system.push(json!({ "type": "text", "text": "Answer with one JSON object and nothing else." }));
            None
        }
        AnswerFormat::Schema { schema, .. } => {
            Some(json!({ "format": { "type": "json_schema", "schema": schema } }))
        }
    };
    let tools = request
        .tools
        .iter()
        .map(|tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.parameters }))
        .collect();
    serde_json::to_vec(&Body {
        model: &request.model,
        max_tokens: request.max_output_tokens,
        stream: true,
        cache_control: json!({ "type": "ephemeral" }),
        system,
        tools,
        output_config,
        messages: request
            .messages
            .iter()
            .filter_map(|message| wire_message(message, request))
            .collect(),
    })
}

/// In characters, of ids and tool names.
const NAME_LIMIT: usize = 128;

/// Nothing when no block of the message can be sent: an empty message is refused.
fn wire_message(message: &Message, request: &ModelRequest) -> Option<Value> {
    let own = wrote_it(message, request);
    let content: Vec<Value> = message
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text { text } if text.trim().is_empty() => None,
            Block::Text { text } => Some(json!({ "type": "text", "text": text })),
            Block::Thinking {
                text,
                signature: Some(signature),
            } if own => proof_of(Family::Anthropic, signature)
                .map(|proof| json!({ "type": "thinking", "thinking": text, "signature": proof })),
            Block::RedactedThinking { data } if own => {
                Some(json!({ "type": "redacted_thinking", "data": data }))
            }
            Block::Thinking { .. } | Block::RedactedThinking { .. } => None,
            Block::ToolUse { id, name, input, .. } => Some(json!({
                "type": "tool_use", "id": call_id(id, NAME_LIMIT), "name": identifier(name, NAME_LIMIT), "input": input,
            })),
            Block::ToolResult {
                tool_use_id,
                content,
                is_error,
            } => {
                let mut result = json!({
                    "type": "tool_result", "tool_use_id": call_id(tool_use_id, NAME_LIMIT), "content": content,
                });
                if *is_error {
                    result["is_error"] = json!(true);
                }
                Some(result)
            }
            Block::Image { media_type, base64 } => Some(json!({
                "type": "image", "source": { "type": "base64", "media_type": media_type, "data": base64 },
            })),
            Block::Opaque { provider, json } => (own && *provider == request.provider).then(|| json.clone()),
        })
        .collect();
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    (!content.is_empty()).then(|| json!({ "role": role, "content": content }))
}

#[derive(Default)]
pub(super) struct AnthropicDecoder {
    usage: Usage,
    /// Arguments that came whole with a block's start and are used unless pieces follow.
    whole_input: HashMap<usize, String>,
    opaque: Vec<usize>,
}

impl Decoder for AnthropicDecoder {
    fn event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), Fault> {
        let event = parse(data)?;
        let block = count(&event["index"]) as usize;
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.usage(&event["message"]["usage"], parts),
            "content_block_start" => self.block_start(block, &event["content_block"], parts),
            "content_block_delta" => self.block_delta(block, &event["delta"], parts),
            "content_block_stop" => {
                if let Some(delta) = self.whole_input.remove(&block) {
                    parts.push(Part::ToolArguments { block, delta });
                }
            }
            "message_delta" => {
                if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                    parts.push(Part::Stop(stop_reason(reason)));
                }
                self.usage(&event["usage"], parts);
            }
            "message_stop" => parts.push(Part::End),
            "error" => return Err(Fault::from_error(&event["error"], None)),
            // Pings, and events of later versions, which the API's versioning policy asks clients to skip.
            _ => {}
        }
        Ok(())
    }
}

impl AnthropicDecoder {
    fn block_start(&mut self, block: usize, start: &Value, parts: &mut Vec<Part>) {
        let text = |key: &str| start[key].as_str().unwrap_or_default().to_owned();
        match start["type"].as_str().unwrap_or_default() {
            "text" => parts.push(Part::Text {
                block,
                delta: text("text"),
            }),
            "thinking" => {
                parts.push(Part::Thinking {
                    block,
                    delta: text("thinking"),
                });
                parts.push(Part::Signature {
                    block,
                    delta: text("signature"),
                });
            }
            "redacted_thinking" => parts.push(Part::Redacted {
                block,
                data: text("data"),
            }),
            "tool_use" => {
                parts.push(Part::ToolStart {
                    block,
                    id: text("id"),
                    name: text("name"),
                });
                if start["input"].as_object().is_some_and(|input| !input.is_empty()) {
                    self.whole_input.insert(block, start["input"].to_string());
                }
            }
            _ => {
                self.opaque.push(block);
                parts.push(Part::Opaque {
                    block,
                    json: start.clone(),
                });
            }
        }
    }

    fn block_delta(&mut self, block: usize, delta: &Value, parts: &mut Vec<Part>) {
        let text = |key: &str| delta[key].as_str().unwrap_or_default().to_owned();
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => parts.push(Part::Text {
                block,
                delta: text("text"),
            }),
            "thinking_delta" => parts.push(Part::Thinking {
                block,
                delta: text("thinking"),
            }),
            "signature_delta" => parts.push(Part::Signature {
                block,
                delta: text("signature"),
            }),
            "input_json_delta" if self.opaque.contains(&block) => {
                parts.push(Part::OpaqueInput {
                    block,
                    delta: text("partial_json"),
                });
            }
            "input_json_delta" => {
                let delta = text("partial_json");
                if !delta.is_empty() {
                    self.whole_input.remove(&block);
                }
                parts.push(Part::ToolArguments { block, delta });
            }
            _ => {}
        }
    }

    /// Counts are cumulative, and later events may leave out what has not changed.
    fn usage(&mut self, usage: &Value, parts: &mut Vec<Part>) {
        if !usage.is_object() {
            return;
        }
        let fresh = usage["input_tokens"].as_u64();
        if let Some(fresh) = fresh {
            self.usage.cache_read = count(&usage["cache_read_input_tokens"]);
            self.usage.cache_write = count(&usage["cache_creation_input_tokens"]);
            self.usage.input = fresh + self.usage.cache_read + self.usage.cache_write;
        }
        if let Some(output) = usage["output_tokens"].as_u64() {
            self.usage.output = output;
        }
        self.usage.reasoning = count(&usage["output_tokens_details"]["thinking_tokens"]);
        parts.push(Part::Usage(self.usage));
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "tool_use" => StopReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => StopReason::OutputLimit,
        "refusal" => StopReason::Refused,
        "pause_turn" => StopReason::Paused,
        _ => StopReason::EndTurn,
    }
}
