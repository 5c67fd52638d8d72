//! Google Gemini as the real service speaks it: framing of answers and errors, and the requests it refuses.

use provider::scenario::{Arrived, Ending, ScriptedError, ScriptedErrorKind, Step};
use serde_json::{Value, json};

use super::{
    answer::{Ids, Turn},
    recording::{End, Recording},
};

/// The model in `/v1beta/models/NAME:streamGenerateContent?alt=sse`.
pub(super) fn model_of(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/v1beta/models/")?;
    let (model, query) = rest.split_once(":streamGenerateContent")?;
    // Without it the service answers with one JSON list.
    query.contains("alt=sse").then(|| model.to_owned())
}

pub(super) fn answer(step: &Step, turn: &Turn, ids: &Ids) -> Recording {
    let id = ids.next("response-");
    let usage = turn.usage;
    let counts = json!({
        "promptTokenCount": usage.input, "candidatesTokenCount": usage.output.saturating_sub(usage.reasoning),
        "thoughtsTokenCount": usage.reasoning, "cachedContentTokenCount": usage.cache_read,
        "totalTokenCount": usage.input + usage.output,
    });
    let chunk = |parts: Vec<Value>, finish: Option<&str>| {
        let mut candidate = json!({ "index": 0, "content": { "role": "model", "parts": parts } });
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        frame(json!({
            "candidates": [candidate], "modelVersion": turn.model, "responseId": id, "usageMetadata": counts,
        }))
    };
    let mut stream = Recording::new(200, "text/event-stream");
    for piece in step.pieces(step.thinking.as_deref().unwrap_or_default()) {
        stream = stream
            .wait(step.delay)
            .send(chunk(vec![json!({ "text": piece, "thought": true })], None));
    }
    for piece in step.pieces(step.sent_text()) {
        stream = stream
            .wait(step.delay)
            .send(chunk(vec![json!({ "text": piece })], None));
    }
    // Calls come whole: one that the limit cuts does not come at all.
    let cut = step.ending == Ending::OutputLimit;
    let whole = step.calls.len().saturating_sub(usize::from(cut));
    let mut malformed = false;
    for (at, (call, arguments)) in step.sent_calls().take(whole).enumerate() {
        let Ok(arguments @ Value::Object(_)) = serde_json::from_str::<Value>(arguments) else {
            malformed = true;
            break;
        };
        let id = call.id.clone().unwrap_or_else(|| ids.next("call_"));
        let mut part = json!({ "functionCall": { "id": id, "name": call.name, "args": arguments } });
        // Only the first of parallel calls is signed.
        if at == 0 && step.thinking.is_some() {
            part["thoughtSignature"] = json!(signature(&turn.model));
        }
        stream = stream.wait(step.delay).send(chunk(vec![part], None));
    }
    if step.thinking.is_some() && step.calls.is_empty() {
        let proof = json!({ "text": "", "thoughtSignature": signature(&turn.model) });
        stream = stream.send(chunk(vec![proof], None));
    }
    let finish = match &step.ending {
        Ending::Stall => return stream.end(End::Hold),
        Ending::Error(error) => return fail_within(stream, error),
        _ if malformed => "MALFORMED_FUNCTION_CALL",
        Ending::OutputLimit => "MAX_TOKENS",
        Ending::Refusal => "SAFETY",
        Ending::Complete => "STOP",
    };
    stream.send(chunk(Vec::new(), Some(finish))).end(End::Close)
}

/// The answer to a request that the service does not let through to the model.
pub(super) fn blocked() -> Recording {
    Recording::new(200, "text/event-stream")
        .send(frame(
            json!({ "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" } }),
        ))
        .end(End::Close)
}

fn frame(data: Value) -> String {
    format!("data: {data}\r\n\r\n")
}

/// What this server signs thoughts of a model with. The real proofs are base64 as well.
fn signature(model: &str) -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    STANDARD.encode(format!("signed-by-{model}"))
}

/// What newer models take on calls they did not make.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

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
    let (code, status, message) = match error.kind {
        Kind::Auth => (
            400,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
        ),
        Kind::ModelUnknown => (
            404,
            "NOT_FOUND",
            "models/x is not found for API version v1beta, or is not supported for generateContent.",
        ),
        Kind::RateLimited => (
            429,
            "RESOURCE_EXHAUSTED",
            "Resource has been exhausted (e.g. check quota).",
        ),
        Kind::Quota => (
            429,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota, please check your plan and billing details.",
        ),
        Kind::Overloaded => (
            503,
            "UNAVAILABLE",
            "The model is overloaded. Please try again later.",
        ),
        Kind::ContextTooLong => (
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
        Kind::Refused => (400, "INVALID_ARGUMENT", "The request holds prohibited content."),
        Kind::InvalidRequest => (400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
        Kind::Server | Kind::Network | Kind::StreamBroken | Kind::NotAModel => {
            (500, "INTERNAL", "An internal error has occurred.")
        }
    };
    let message = error.message.as_deref().unwrap_or(message);
    let mut body = error_body(code, status, message);
    if error.kind == Kind::Quota {
        body["error"]["details"] = json!([{
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{ "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }],
        }]);
    }
    if let Some(seconds) = error.retry_after {
        body["error"]["details"] = json!([{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s") }]);
    }
    (code, body)
}

pub(super) fn error_body(code: u16, status: &str, message: &str) -> Value {
    json!({ "error": { "code": code, "message": message, "status": status } })
}

/// Why the real service would refuse the request.
pub(super) fn refuse(body: &Value, model: &str) -> Option<String> {
    let contents: &[Value] = body["contents"].as_array().map_or(&[], Vec::as_slice);
    if contents.is_empty() {
        return Some("contents is not specified".to_owned());
    }
    for declaration in body["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|tool| tool["functionDeclarations"].as_array().into_iter().flatten())
    {
        let name = &declaration["name"];
        if !is_name(name) {
            return Some(format!("Invalid function name: {name}"));
        }
        if let Some(schema) = declaration.get("parameters")
            && let Some(fault) = bad_schema(schema, "parameters")
        {
            return Some(format!("function_declarations: {name}: {fault}"));
        }
    }
    let mut asked: Vec<(Value, Value)> = Vec::new();
    for (at, content) in contents.iter().enumerate() {
        let parts: &[Value] = content["parts"].as_array().map_or(&[], Vec::as_slice);
        if parts.is_empty() {
            return Some(format!("contents[{at}].parts must not be empty"));
        }
        if at == 0 && content["role"] == "model" {
            return Some("Please ensure that the first content is of role user".to_owned());
        }
        let of = |kind: &str| -> Vec<(Value, Value)> {
            let found = parts
                .iter()
                .map(|part| &part[kind])
                .filter(|part| part.is_object());
            found
                .map(|part| (part["id"].clone(), part["name"].clone()))
                .collect()
        };
        let (calls, responses) = (of("functionCall"), of("functionResponse"));
        if responses != asked {
            return Some(
                "Please ensure that the number and names of function response parts is equal to the number of \
                 function call parts of the function call turn. (tool_call_id)"
                    .to_owned(),
            );
        }
        if !responses.is_empty() && responses.len() < parts.len() {
            return Some(format!(
                "contents[{at}]: function responses cannot be mixed with other parts"
            ));
        }
        for part in parts {
            if let Some(fault) = bad_part(part, model) {
                return Some(format!("contents[{at}].parts: {fault}"));
            }
        }
        let first = parts.iter().find(|part| part["functionCall"].is_object());
        if model.starts_with("gemini-3") && first.is_some_and(|part| part["thoughtSignature"].is_null()) {
            return Some(format!(
                "contents[{at}]: Function call is missing a thought_signature"
            ));
        }
        asked = calls;
    }
    (!asked.is_empty()).then(|| {
        "Please ensure that function response turn comes immediately after a function call turn. (tool_call_id)"
            .to_owned()
    })
}

fn bad_part(part: &Value, model: &str) -> Option<String> {
    let proof = &part["thoughtSignature"];
    if part["text"] == "" && proof.is_null() {
        return Some("must have one initialized field: data".to_owned());
    }
    let allowed = proof.is_null()
        || *proof == json!(signature(model))
        || *proof == json!(NO_SIGNATURE) && part["functionCall"].is_object() && model.starts_with("gemini-3");
    if !allowed {
        return Some("Thought signature is not valid".to_owned());
    }
    let call = &part["functionCall"];
    if call.is_object() && !(is_name(&call["name"]) && call["args"].is_object()) {
        return Some("functionCall: 'name' and 'args' are required".to_owned());
    }
    let known = ["text", "inlineData", "functionCall", "functionResponse"];
    (!known.iter().any(|key| part.get(key).is_some())).then(|| "unknown kind of part".to_owned())
}

fn is_name(name: &Value) -> bool {
    let Some(name) = name.as_str() else {
        return false;
    };
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// The first member that is not in the service's subset of OpenAPI.
fn bad_schema(schema: &Value, place: &str) -> Option<String> {
    const KNOWN: [&str; 18] = [
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "items",
        "properties",
        "required",
        "anyOf",
        "default",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "pattern",
    ];
    let members = schema.as_object()?;
    if let Some(name) = members.keys().find(|name| !KNOWN.contains(&name.as_str())) {
        return Some(format!(
            "Unknown name \"{name}\" at '{place}': Cannot find field."
        ));
    }
    if members.get("type").is_some_and(|kind| !kind.is_string()) {
        return Some(format!(
            "{place}.type: Proto field is not repeating, cannot start list."
        ));
    }
    let kind = members.get("type").and_then(Value::as_str).unwrap_or_default();
    if kind == "object" && place == "parameters" && members.get("properties").is_none() {
        return Some(format!("{place}.properties: should be non-empty for OBJECT type"));
    }
    if kind == "array" && !members.contains_key("items") {
        return Some(format!("{place}.items: missing field."));
    }
    if members.contains_key("enum") && kind != "string" {
        return Some(format!("{place}.enum: only allowed for STRING type"));
    }
    let required = members
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    for name in required {
        if members
            .get("properties")
            .is_none_or(|properties| properties.get(name.as_str().unwrap_or_default()).is_none())
        {
            return Some(format!("{place}.required: property is not defined"));
        }
    }
    let properties = members
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let inner = properties.map(|(name, schema)| (format!("{place}.properties[{name}]"), schema));
    let items = members
        .get("items")
        .map(|items| (format!("{place}.items"), items));
    let choices = members
        .get("anyOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let choices = choices.map(|choice| (format!("{place}.any_of"), choice));
    inner
        .chain(items)
        .chain(choices)
        .find_map(|(place, schema)| bad_schema(schema, &place))
}

pub(super) fn arrived(body: &Value) -> Arrived {
    let contents: &[Value] = body["contents"].as_array().map_or(&[], Vec::as_slice);
    let text = |content: &Value| -> String {
        let parts = content["parts"].as_array().into_iter().flatten();
        parts.filter_map(|part| part["text"].as_str()).collect()
    };
    let user = contents
        .iter()
        .rev()
        .filter(|content| content["role"] != "model")
        .map(text)
        .find(|text| !text.is_empty());
    let mut results = Vec::new();
    let newest = contents
        .iter()
        .rev()
        .take_while(|content| content["role"] != "model");
    for content in newest.collect::<Vec<_>>().into_iter().rev() {
        for part in content["parts"].as_array().into_iter().flatten() {
            let response = &part["functionResponse"]["response"];
            let said = ["output", "error", "result"]
                .iter()
                .find_map(|key| response[*key].as_str());
            results.extend(said.map(str::to_owned));
        }
    }
    Arrived {
        user: user.unwrap_or_default(),
        tool_result: (!results.is_empty()).then(|| results.join("\n")),
    }
}
