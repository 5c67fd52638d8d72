//! Google Gemini. Parts may carry signatures of the thoughts behind them; each goes back with its part, to the
//! model that made it.

use std::collections::HashMap;

use protocol::Usage;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Decoder, Fault, call_id, count, identifier, marked, parse, proof_of, schema, wrote_it};
use crate::{
    assemble::Part,
    config::Family,
    error::ProviderErrorKind,
    message::{AnswerFormat, Block, Message, ModelRequest, Role, StopReason},
};

pub(super) fn url(base: &str, model: &str) -> String {
    let model = model.strip_prefix("models/").unwrap_or(model);
    let safe: String = model
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => (byte as char).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect();
    format!("{base}/models/{safe}:streamGenerateContent?alt=sse")
}

/// Field order is the order of bytes: everything that stays the same comes before `contents`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    generation_config: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    contents: Vec<Value>,
}

pub(super) fn body(request: &ModelRequest) -> Result<Vec<u8>, serde_json::Error> {
    let declarations: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            let mut declaration = json!({ "name": tool_name(&tool.name), "description": tool.description });
            if let Some(parameters) = schema::for_gemini(&tool.parameters) {
                declaration["parameters"] = parameters;
            }
            declaration
        })
        .collect();
    let tools = match declarations.is_empty() {
        true => Vec::new(),
        false => vec![json!({ "functionDeclarations": declarations })],
    };
    let mut generation_config = json!({ "maxOutputTokens": request.max_output_tokens });
    if thinks(&request.model) {
        generation_config["thinkingConfig"] = json!({ "includeThoughts": true });
    }
    match &request.format {
        AnswerFormat::Text => {}
        AnswerFormat::Json => generation_config["responseMimeType"] = json!("application/json"),
        AnswerFormat::Schema { schema, .. } => {
            generation_config["responseMimeType"] = json!("application/json");
            if let Some(schema) = schema::for_gemini(schema) {
                generation_config["responseSchema"] = schema;
            }
        }
    }
    let mut names = HashMap::new();
    let mut contents = Vec::new();
    for message in &request.messages {
        match message.role {
            Role::User => push_user(message, &names, &mut contents),
            Role::Assistant => push_assistant(message, request, &mut names, &mut contents),
        }
    }
    let system = request.system.trim();
    serde_json::to_vec(&Body {
        generation_config,
        system_instruction: (!system.is_empty()).then(|| json!({ "parts": [{ "text": system }] })),
        tools,
        contents,
    })
}

/// In characters, of ids and tool names.
const NAME_LIMIT: usize = 64;

/// Names begin with a letter or an underscore.
fn tool_name(name: &str) -> String {
    match identifier(name, NAME_LIMIT) {
        clean if clean.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => clean,
        clean => identifier(&format!("_{clean}"), NAME_LIMIT),
    }
}

/// The generation in a name like `gemini-2.5-pro`. Names like `gemini-flash-latest` stand for one of the third or
/// later.
fn generation(model: &str) -> Option<f32> {
    let name = model.rsplit('/').next()?.strip_prefix("gemini-")?;
    match name {
        "pro-latest" | "flash-latest" | "flash-lite-latest" => Some(3.0),
        name => name.split('-').next()?.parse().ok(),
    }
}

/// Other models refuse to be asked for thoughts.
fn thinks(model: &str) -> bool {
    generation(model).is_some_and(|generation| generation >= 2.5) && !model.contains("image")
}

/// Results follow their calls directly and alone: a content that mixes them with text is refused by some models.
fn push_user(message: &Message, names: &HashMap<&str, String>, contents: &mut Vec<Value>) {
    let mut responses = Vec::new();
    let mut parts = Vec::new();
    for block in &message.blocks {
        match block {
            Block::ToolResult {
                tool_use_id,
                content,
                is_error,
            } => {
                let key = if *is_error { "error" } else { "output" };
                let name = names.get(tool_use_id.as_str()).cloned();
                responses.push(json!({ "functionResponse": {
                    "id": call_id(tool_use_id, NAME_LIMIT), "name": name.unwrap_or_else(|| "_".to_owned()),
                    "response": { key: content },
                } }));
            }
            Block::Text { text } if text.is_empty() => {}
            Block::Text { text } => parts.push(json!({ "text": text })),
            Block::Image { media_type, base64 } => {
                parts.push(json!({ "inlineData": { "mimeType": media_type, "data": base64 } }));
            }
            Block::Thinking { .. }
            | Block::RedactedThinking { .. }
            | Block::ToolUse { .. }
            | Block::Opaque { .. } => {}
        }
    }
    for parts in [responses, parts] {
        if !parts.is_empty() {
            contents.push(json!({ "role": "user", "parts": parts }));
        }
    }
}

/// What the newer models take in place of a signature on calls that another model made.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

fn push_assistant<'a>(
    message: &'a Message,
    request: &ModelRequest,
    names: &mut HashMap<&'a str, String>,
    contents: &mut Vec<Value>,
) {
    let own = wrote_it(message, request);
    let mut parts: Vec<Value> = Vec::new();
    // A proof without a text belongs to the part that follows it.
    let mut signature: Option<&str> = None;
    let mut calls = 0;
    for block in &message.blocks {
        let mut part = match block {
            Block::Thinking {
                text,
                signature: kept,
            } if own => {
                let proof = kept.as_deref().and_then(|kept| proof_of(Family::Gemini, kept));
                match (text.is_empty(), proof) {
                    (true, proof) => {
                        signature = proof;
                        continue;
                    }
                    // A thought without a proof means nothing to the model.
                    (false, None) => continue,
                    (false, Some(proof)) => {
                        json!({ "text": text, "thought": true, "thoughtSignature": proof })
                    }
                }
            }
            Block::Text { text } if !text.is_empty() => json!({ "text": text }),
            Block::ToolUse { id, name, input, .. } => {
                let name = tool_name(name);
                names.insert(id, name.clone());
                let mut part =
                    json!({ "functionCall": { "id": call_id(id, NAME_LIMIT), "name": name, "args": input } });
                let needed = calls == 0 && generation(&request.model).is_some_and(|number| number >= 3.0);
                if needed && signature.is_none() {
                    part["thoughtSignature"] = json!(NO_SIGNATURE);
                }
                calls += 1;
                part
            }
            Block::Opaque { provider, json } if own && *provider == request.provider => json.clone(),
            Block::Text { .. }
            | Block::Thinking { .. }
            | Block::RedactedThinking { .. }
            | Block::ToolResult { .. }
            | Block::Image { .. }
            | Block::Opaque { .. } => continue,
        };
        if let Some(proof) = signature.take() {
            part["thoughtSignature"] = json!(proof);
        }
        parts.push(part);
    }
    if let (Some(proof), false) = (signature, parts.is_empty()) {
        parts.push(json!({ "text": "", "thoughtSignature": proof }));
    }
    if !parts.is_empty() {
        contents.push(json!({ "role": "model", "parts": parts }));
    }
}

#[derive(Default)]
pub(super) struct GeminiDecoder {
    /// The next block's number; text and thoughts go on in theirs until something else comes.
    next: usize,
    open: Option<(Kind, usize)>,
    finished: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Thought,
}

impl Decoder for GeminiDecoder {
    fn event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), Fault> {
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let chunk = parse(data)?;
        if !chunk["error"].is_null() {
            return Err(Fault::from_error(&chunk["error"], None));
        }
        if let Some(reason) = chunk["promptFeedback"]["blockReason"].as_str() {
            let words = format!("the request was blocked: {reason}");
            return Err(Fault::new(ProviderErrorKind::Refused, words));
        }
        let candidate = &chunk["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            self.part(part, parts);
        }
        let usage = &chunk["usageMetadata"];
        if usage.is_object() {
            let thoughts = count(&usage["thoughtsTokenCount"]);
            parts.push(Part::Usage(Usage {
                input: count(&usage["promptTokenCount"]) + count(&usage["toolUsePromptTokenCount"]),
                output: count(&usage["candidatesTokenCount"]) + thoughts,
                cache_read: count(&usage["cachedContentTokenCount"]),
                cache_write: 0,
                reasoning: thoughts,
            }));
        }
        if let Some(reason) = candidate["finishReason"].as_str() {
            let stop = stop_reason(reason, &candidate["finishMessage"])?;
            self.finished = true;
            parts.push(Part::Stop(stop));
        }
        Ok(())
    }

    /// The format has no terminator: the stream ends after the reason.
    fn is_complete(&self) -> bool {
        self.finished
    }
}

impl GeminiDecoder {
    fn part(&mut self, part: &Value, parts: &mut Vec<Part>) {
        let signature = part["thoughtSignature"].as_str();
        let call = &part["functionCall"];
        if call.is_object() {
            self.proof(signature, parts);
            let block = self.fresh();
            parts.push(Part::ToolStart {
                block,
                id: call["id"].as_str().unwrap_or_default().to_owned(),
                name: call["name"].as_str().unwrap_or_default().to_owned(),
            });
            let delta = match &call["args"] {
                Value::Null => String::new(),
                arguments => arguments.to_string(),
            };
            parts.push(Part::ToolArguments { block, delta });
            return;
        }
        let Some(text) = part["text"].as_str() else {
            if part.as_object().is_some_and(|members| !members.is_empty()) {
                let block = self.fresh();
                parts.push(Part::Opaque {
                    block,
                    json: part.clone(),
                });
            }
            return;
        };
        let thought = part["thought"].as_bool() == Some(true);
        let delta = text.to_owned();
        if thought {
            let block = self.running(Kind::Thought);
            parts.push(Part::Thinking { block, delta });
            if let Some(signature) = signature {
                let delta = marked(Family::Gemini, signature);
                parts.push(Part::Signature { block, delta });
                self.open = None;
            }
        } else if let (true, Some(_)) = (text.is_empty(), signature) {
            // The proof of a whole answer, told after its text.
            self.proof(signature, parts);
        } else if !text.is_empty() {
            if signature.is_some() {
                self.proof(signature, parts);
            }
            let block = self.running(Kind::Text);
            parts.push(Part::Text { block, delta });
        }
    }

    /// A proof that stands for the part that comes next, or for what has been said.
    fn proof(&mut self, signature: Option<&str>, parts: &mut Vec<Part>) {
        if let Some(signature) = signature {
            let block = self.fresh();
            let delta = marked(Family::Gemini, signature);
            parts.push(Part::Signature { block, delta });
        }
    }

    fn fresh(&mut self) -> usize {
        self.open = None;
        self.next += 1;
        self.next
    }

    fn running(&mut self, kind: Kind) -> usize {
        match self.open {
            Some((open, block)) if open == kind => block,
            _ => {
                let block = self.fresh();
                self.open = Some((kind, block));
                block
            }
        }
    }
}

fn stop_reason(reason: &str, message: &Value) -> Result<StopReason, Fault> {
    Ok(match reason {
        "MAX_TOKENS" => StopReason::OutputLimit,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
        | "IMAGE_SAFETY" => StopReason::Refused,
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "OTHER"
        | "MISSING_THOUGHT_SIGNATURE" => {
            let more = message
                .as_str()
                .map(|text| format!(": {text}"))
                .unwrap_or_default();
            let words = format!("the model ended its answer with {reason}{more}");
            return Err(Fault::new(ProviderErrorKind::Server, words));
        }
        _ => StopReason::EndTurn,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_models_name_tells_what_it_takes() {
        for (model, number, thoughts) in [
            ("gemini-2.0-flash", Some(2.0), false),
            ("gemini-2.5-pro", Some(2.5), true),
            ("models/gemini-3-pro-preview", Some(3.0), true),
            ("gemini-2.5-flash-image", Some(2.5), false),
            ("gemini-flash-latest", Some(3.0), true),
            ("gemma-3-27b-it", None, false),
        ] {
            assert_eq!((generation(model), thinks(model)), (number, thoughts), "{model}");
        }
        assert_eq!(
            url("http://h/v1beta", "models/a b?c"),
            "http://h/v1beta/models/a%20b%3Fc:streamGenerateContent?alt=sse"
        );
    }
}
