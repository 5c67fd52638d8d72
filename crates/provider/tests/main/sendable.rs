//! Every history that a session can leave behind is accepted by every family: random sessions with cancelled and
//! failed requests, odd ids and arguments, images, and another model at any moment.

use proptest::prelude::*;
use provider::{Block, Family, Gateway, Message, ModelEvent, ModelRequest, Scenario};
use testkit::ModelServer;
use tokio_util::sync::CancellationToken;

use crate::support::{FAMILIES, config, request};

/// What a model does in one answer.
#[derive(Clone, Debug)]
struct Act {
    thinking: bool,
    text: &'static str,
    calls: Vec<(&'static str, &'static str, &'static str)>,
    ending: Ending,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    Well,
    Cut,
    Refused,
    Failed,
    /// The user stops it.
    Cancelled,
}

/// One request of the session: who is asked, and what comes of it.
#[derive(Clone, Debug)]
struct Round {
    family: usize,
    model: &'static str,
    act: Act,
    result: &'static str,
    /// The user says something, with an image or without, even when results are due.
    says: Option<(&'static str, bool)>,
}

const MODELS: [&str; 4] = ["gemini-3-pro", "gpt-5.5", "claude-x", "m"];
const TEXTS: [&str; 4] = ["", " \n", "Hello 你好 😀", "line\nline"];
const IDS: [&str; 5] = [
    "",
    "c1",
    "functions.read file:0",
    "call_1",
    "toolu_0123456789012345678901234567890123456789012345678901234567890123456789",
];
const NAMES: [&str; 4] = ["read_file", "read file!", "7zip", "ünïcode"];
const ARGUMENTS: [&str; 5] = ["{}", "", "{\"path\": \"é\"}", "{\"path\": nope}", "[1]"];

fn act() -> impl Strategy<Value = Act> {
    let call = (
        proptest::sample::select(&IDS[..]),
        proptest::sample::select(&NAMES[..]),
        proptest::sample::select(&ARGUMENTS[..]),
    );
    let ending = prop_oneof![
        6 => Just(Ending::Well),
        1 => Just(Ending::Cut),
        1 => Just(Ending::Refused),
        1 => Just(Ending::Failed),
        1 => Just(Ending::Cancelled),
    ];
    (
        any::<bool>(),
        proptest::sample::select(&TEXTS[..]),
        proptest::collection::vec(call, 0..4),
        ending,
    )
        .prop_map(|(thinking, text, calls, ending)| Act {
            thinking,
            text,
            calls,
            ending,
        })
}

fn round() -> impl Strategy<Value = Round> {
    (
        0..FAMILIES.len(),
        proptest::sample::select(&MODELS[..]),
        act(),
        proptest::sample::select(&["", "result", "fn main() {}\n"][..]),
        proptest::option::of((
            proptest::sample::select(&["go on", "\u{1F600}", "  "][..]),
            any::<bool>(),
        )),
    )
        .prop_map(|(family, model, act, result, says)| Round {
            family,
            model,
            act,
            result,
            says,
        })
}

fn step(act: &Act) -> serde_json::Value {
    let mut step = serde_json::json!({ "text": act.text, "usage": {} });
    if act.thinking {
        step["thinking"] = "hm".into();
    }
    let calls: Vec<_> = act
        .calls
        .iter()
        .map(|(id, name, arguments)| {
            let mut call = serde_json::json!({ "name": name, "arguments_text": arguments });
            if !id.is_empty() {
                call["id"] = (*id).into();
            }
            call
        })
        .collect();
    step["tools"] = calls.into();
    match act.ending {
        Ending::Well => {}
        Ending::Cut => step["cut"] = true.into(),
        Ending::Refused => step["refuse"] = true.into(),
        Ending::Failed => step["error"] = serde_json::json!({ "kind": "overloaded" }),
        Ending::Cancelled => step["stall"] = true.into(),
    }
    step
}

struct Session {
    gateway: Gateway,
    messages: Vec<Message>,
}

impl Session {
    async fn play(&mut self, round: &Round) -> Result<(), TestCaseError> {
        if self.messages.is_empty() || round.says.is_some() {
            let (text, image) = round.says.unwrap_or(("start", false));
            let mut blocks = vec![Block::Text {
                text: format!("now: {text}"),
            }];
            if image {
                blocks.push(Block::Image {
                    media_type: "image/png".into(),
                    base64: "iVBORw0KGgo=".into(),
                });
            }
            self.messages.push(Message::from_user(blocks));
        }
        let mut request = self.request(FAMILIES[round.family], round.model);
        request.messages = self.messages.clone();
        let cancel = CancellationToken::new();
        let mut stream = self.gateway.stream(request, cancel.clone());
        while let Some(event) = stream.next().await {
            match event {
                ModelEvent::Started { .. } if round.act.ending == Ending::Cancelled => cancel.cancel(),
                ModelEvent::Failed(error) => {
                    let words = format!("{error} ({:?})", error.kind);
                    prop_assert!(
                        error.kind != provider::ProviderErrorKind::InvalidRequest,
                        "{words}"
                    );
                }
                ModelEvent::Done(answer) => self.keep(answer, round),
                _ => {}
            }
        }
        Ok(())
    }

    /// What the engine stores of an answer, through JSON as its store does.
    fn keep(&mut self, answer: provider::Answer, round: &Round) {
        let mut results: Vec<Block> = answer
            .message
            .tool_uses()
            .map(|call| Block::ToolResult {
                tool_use_id: call.id.into(),
                content: round.result.into(),
                is_error: call.invalid_arguments.is_some(),
            })
            .collect();
        if !answer.cut_calls.is_empty() {
            results.push(Block::Text {
                text: "Your call was cut off.".into(),
            });
        }
        let stored = serde_json::to_string(&answer.message).unwrap();
        if !answer.message.blocks.is_empty() {
            self.messages.push(serde_json::from_str(&stored).unwrap());
        }
        if !results.is_empty() {
            self.messages.push(Message::from_user(results));
        }
    }

    fn request(&self, family: Family, model: &str) -> ModelRequest {
        ModelRequest {
            provider: family.name().into(),
            model: model.into(),
            messages: self.messages.clone(),
            ..request(Vec::new())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_stored_history_is_sendable_to_every_family(rounds in proptest::collection::vec(round(), 1..14)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut steps: Vec<_> = rounds.iter().map(|round| step(&round.act)).collect();
            steps.push(serde_json::json!({ "text": "fine", "repeat": "always", "usage": {} }));
            let yaml = serde_json::json!({ "steps": steps }).to_string();
            let server = ModelServer::spawn(Scenario::parse(&yaml, "random").unwrap());
            let configs = FAMILIES.map(|family| {
                let mut config = config(family, &server);
                config.id = family.name().into();
                config.retry.max_retries = 0;
                config
            });
            let mut session = Session { gateway: Gateway::new(configs), messages: Vec::new() };
            for round in &rounds {
                session.play(round).await?;
            }
            session.messages.push(Message::user("and now you"));
            for family in FAMILIES {
                for model in MODELS {
                    let request = session.request(family, model);
                    let events = crate::support::all(session.gateway.stream(request, CancellationToken::new())).await;
                    let fine = matches!(events.last(), Some(ModelEvent::Done(_)));
                    prop_assert!(fine, "{family:?} {model}: {:?}\n{:?}", events.last(), session.messages);
                }
            }
            Ok(())
        })?;
    }
}
