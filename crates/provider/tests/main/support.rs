//! A gateway aimed at a model server, and what it reported, in a form that can be compared.

use std::{fmt::Write as _, path::Path, time::Duration};

use protocol::ToolSchema;
use provider::{
    Answer, Family, Gateway, Limits, Message, ModelEvent, ModelRequest, ModelStream, ProviderConfig,
    ProviderError, RetryPolicy,
};
use testkit::{
    ModelServer,
    model_server::{Recording, Script},
};
use tokio_util::sync::CancellationToken;

pub const FAMILIES: [Family; 4] = [
    Family::Anthropic,
    Family::OpenAiChat,
    Family::OpenAiResponses,
    Family::Gemini,
];

pub fn config(family: Family, server: &ModelServer) -> ProviderConfig {
    let base_url = match family {
        Family::Anthropic => server.anthropic_base_url(),
        Family::OpenAiChat | Family::OpenAiResponses => server.openai_base_url(),
        Family::Gemini => server.gemini_base_url(),
        Family::Scripted => String::new(),
    };
    ProviderConfig {
        id: "p".into(),
        family,
        base_url,
        api_key: Some(provider::Secret::new("secret-test-key")),
        key_variable: Some("TEST_KEY".into()),
        model: "m".into(),
        scenario: None,
        headers: Vec::new(),
        limits: Limits::default(),
        retry: RetryPolicy {
            base_delay: Duration::from_millis(2),
            ..RetryPolicy::default()
        },
        prices: std::collections::BTreeMap::new(),
        models: std::collections::BTreeMap::new(),
    }
}

pub fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        provider: "p".into(),
        model: "m".into(),
        system: "You write code.".into(),
        tools: vec![ToolSchema {
            name: "read_file".into(),
            description: "Reads a file.".into(),
            parameters: serde_json::json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
        }],
        messages,
        max_output_tokens: 1000,
        format: provider::AnswerFormat::Text,
        request_id: protocol::ProviderRequestId::mint(),
    }
}

pub fn recording(name: &str) -> Recording {
    Recording::load(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures/streams")
            .join(name),
    )
}

pub fn stream(config: ProviderConfig) -> ModelStream {
    Gateway::new([config]).stream(request(vec![Message::user("hello")]), CancellationToken::new())
}

pub async fn all(mut stream: ModelStream) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    events
}

/// One request to a fresh server with this script.
pub async fn ask(
    family: Family,
    script: impl Into<Script>,
    adjust: impl FnOnce(&mut ProviderConfig),
) -> Vec<ModelEvent> {
    let server = ModelServer::start(script).await;
    let mut config = config(family, &server);
    adjust(&mut config);
    all(stream(config)).await
}

pub fn answer(events: &[ModelEvent]) -> &Answer {
    match events.last() {
        Some(ModelEvent::Done(answer)) => answer,
        other => panic!("not done: {other:?}"),
    }
}

pub fn failure(events: &[ModelEvent]) -> &ProviderError {
    match events.last() {
        Some(ModelEvent::Failed(error)) => error,
        other => panic!("not failed: {other:?}"),
    }
}

/// The events in words. Pieces are joined, because their sizes are the server's affair; ids and waits of our own
/// choice are left out.
pub fn transcript(events: &[ModelEvent]) -> String {
    let mut out = String::new();
    let (mut text, mut thinking) = (String::new(), String::new());
    let mut tools: Vec<(String, String)> = Vec::new();
    for event in events {
        match event {
            ModelEvent::Text { delta } => text.push_str(delta),
            ModelEvent::Thinking { delta } => thinking.push_str(delta),
            ModelEvent::ToolStarted { index, name, .. } => {
                assert_eq!(*index, tools.len());
                tools.push((name.clone(), String::new()));
            }
            ModelEvent::ToolArguments { index, delta } => tools[*index].1.push_str(delta),
            ModelEvent::Usage(_) => {}
            ModelEvent::Started { attempt, .. } => writeln!(out, "started, attempt {attempt}").unwrap(),
            ModelEvent::Retrying {
                reason,
                attempt,
                attempts,
                ..
            } => {
                writeln!(
                    out,
                    "retrying after {:?}, attempt {attempt} of {attempts}",
                    reason.kind
                )
                .unwrap();
            }
            ModelEvent::Switched { to, reason } => {
                writeln!(
                    out,
                    "switched to {}/{} after {:?}",
                    to.provider, to.model, reason.kind
                )
                .unwrap();
            }
            ModelEvent::Done(_) | ModelEvent::Failed(_) => {
                for (what, said) in [("thinking", &thinking), ("text", &text)] {
                    if !said.is_empty() {
                        writeln!(out, "{what}: {said}").unwrap();
                    }
                }
                for (name, arguments) in &tools {
                    writeln!(out, "tool {name}: {arguments}").unwrap();
                }
                writeln!(out, "{}", ending(event)).unwrap();
            }
        }
    }
    out
}

fn ending(event: &ModelEvent) -> String {
    match event {
        ModelEvent::Done(answer) => {
            let calls: Vec<String> = answer
                .message
                .tool_uses()
                .map(|call| match call.invalid_arguments {
                    None => format!("{}({})", call.name, call.input),
                    Some(text) => format!("{}, invalid: {text}", call.name),
                })
                .collect();
            let cut: Vec<&str> = answer.cut_calls.iter().map(|call| call.name.as_str()).collect();
            let usage = answer.usage;
            format!(
                "done: {:?}, {} blocks, calls {calls:?}, cut {cut:?}, tokens {}+{} of which {} cached",
                answer.stop_reason,
                answer
                    .message
                    .blocks
                    .iter()
                    .filter(|block| says_something(block))
                    .count(),
                usage.input,
                usage.output,
                usage.cache_read
            )
        }
        ModelEvent::Failed(error) => format!("failed: {:?}", error.kind),
        other => format!("{other:?}"),
    }
}

/// A proof of thoughts alone is nothing that anyone sees.
fn says_something(block: &provider::Block) -> bool {
    !matches!(block, provider::Block::Thinking { text, .. } if text.is_empty())
}
