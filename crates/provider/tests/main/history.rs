//! What of a conversation is sent, over many requests.

use provider::{Block, Family, Gateway, Message, ModelRequest, Origin, Role};
use serde_json::json;
use testkit::ModelServer;
use tokio_util::sync::CancellationToken;

use crate::support::{FAMILIES, all, answer, config, request};

async fn send(gateway: &Gateway, request: &ModelRequest) -> provider::Answer {
    let events = all(gateway.stream(request.clone(), CancellationToken::new())).await;
    answer(&events).clone()
}

fn results(answer: &provider::Answer, content: &str) -> Message {
    Message::from_user(
        answer
            .message
            .tool_uses()
            .map(|call| Block::ToolResult {
                tool_use_id: call.id.into(),
                content: content.into(),
                is_error: false,
            })
            .collect(),
    )
}

#[tokio::test]
async fn each_request_continues_the_bytes_of_the_one_before() {
    for family in FAMILIES {
        // Gemini's calls cannot be anything but JSON.
        let odd = if family == Family::Gemini {
            "'{}'"
        } else {
            "'not json'"
        };
        let yaml = format!(
            "steps: [{{ thinking: hm, text: 'Next \"step\" é', repeat: always, tools: [
                {{ name: read_file, arguments: {{ path: a, z: 1, b: [1.5, null] }} }},
                {{ name: read_file, arguments_text: {odd} }}] }}]"
        );
        let server = ModelServer::start(yaml.as_str()).await;
        let gateway = Gateway::new([config(family, &server)]);
        let mut request = request(vec![Message::user("start")]);
        for turn in 0..20 {
            let answer = send(&gateway, &request).await;
            let reply = results(&answer, &format!("result {turn} \u{1F600}"));
            // What the engine does between turns: everything goes through its store as JSON.
            for message in [answer.message, reply] {
                let stored = serde_json::to_string(&message).unwrap();
                request.messages.push(serde_json::from_str(&stored).unwrap());
            }
            if turn % 7 == 6 {
                request.messages.push(Message::user("and now this"));
            }
        }
        let bodies: Vec<Vec<u8>> = server
            .requests()
            .into_iter()
            .map(|request| request.body)
            .collect();
        assert_eq!(bodies.len(), 20);
        for pair in bodies.windows(2) {
            let (before, after) = (&pair[0], &pair[1]);
            let (messages, end) = before.split_at(before.len() - 2);
            assert_eq!(end, b"]}");
            assert!(
                after.starts_with(messages),
                "{family:?}: {}",
                String::from_utf8_lossy(after)
            );
            assert_eq!(after[messages.len()], b',');
        }
    }
}

#[tokio::test]
async fn v06_reasoning_goes_only_to_the_model_that_produced_it() {
    let yaml = "steps: [{ thinking: secret thoughts, text: said, repeat: always }]";
    for family in FAMILIES {
        // The server refuses reasoning signed by another model, as the real one does.
        let server = ModelServer::start(yaml).await;
        let gateway = Gateway::new([config(family, &server)]);
        let mut request = request(vec![Message::user("one")]);
        for model in ["a", "b", "b", "a"] {
            request.model = model.into();
            let answer = send(&gateway, &request).await;
            assert_eq!(
                answer.message.origin,
                Some(Origin {
                    provider: "p".into(),
                    model: model.into()
                })
            );
            request.messages.push(answer.message);
            request.messages.push(Message::user("next"));
        }
        // Gemini wants no thoughts back, only their proofs.
        let trace = match family {
            Family::Gemini => "thoughtSignature",
            _ => "secret thoughts",
        };
        let count = |body: &[u8]| String::from_utf8_lossy(body).matches(trace).count();
        let thoughts: Vec<usize> = server
            .requests()
            .iter()
            .map(|request| count(&request.body))
            .collect();
        assert_eq!(thoughts, [0, 0, 1, 1], "{family:?}");
        let said = |body: &[u8]| String::from_utf8_lossy(body).matches("said").count();
        assert_eq!(said(&server.requests()[3].body), 3);
    }
}

#[tokio::test]
async fn a_history_of_another_provider_is_accepted() {
    let foreign = Some(Origin {
        provider: "other".into(),
        model: "x".into(),
    });
    let messages = vec![
        Message::user("start"),
        Message {
            role: Role::Assistant,
            blocks: vec![
                Block::Thinking {
                    text: "t".into(),
                    signature: Some("sig-from-vendor-a".into()),
                },
                Block::RedactedThinking { data: "r".into() },
                Block::Opaque {
                    provider: "other".into(),
                    json: json!({ "type": "server_tool_use" }),
                },
                Block::Text { text: "  \n".into() },
                Block::ToolUse {
                    id: "functions.read_file:0".into(),
                    name: "read file!".into(),
                    input: json!({}),
                    invalid_arguments: Some("{\"path".into()),
                },
            ],
            origin: foreign.clone(),
        },
        Message::from_user(vec![
            Block::ToolResult {
                tool_use_id: "functions.read_file:0".into(),
                content: String::new(),
                is_error: true,
            },
            Block::Image {
                media_type: "image/png".into(),
                base64: "AAAA".into(),
            },
        ]),
        // Nothing of this one can be sent.
        Message {
            role: Role::Assistant,
            blocks: vec![Block::Thinking {
                text: "only".into(),
                signature: None,
            }],
            origin: foreign,
        },
        Message::user("go on"),
    ];
    for family in FAMILIES {
        let server = ModelServer::start("steps: [{ text: fine }]").await;
        let gateway = Gateway::new([config(family, &server)]);
        assert_eq!(
            send(&gateway, &request(messages.clone())).await.message.text(),
            "fine"
        );
        let body = server.requests()[0].json();
        insta::assert_json_snapshot!(format!("foreign_history_{family:?}"), body);
    }
}

#[tokio::test]
async fn the_model_server_refuses_what_the_real_ones_refuse() {
    let call = Message {
        role: Role::Assistant,
        blocks: vec![Block::ToolUse {
            id: "c".into(),
            name: "t".into(),
            input: json!({}),
            invalid_arguments: None,
        }],
        origin: None,
    };
    for family in FAMILIES {
        let server = ModelServer::start("steps: [{ text: fine, repeat: always }]").await;
        let gateway = Gateway::new([config(family, &server)]);
        let unanswered = request(vec![Message::user("x"), call.clone(), Message::user("continue")]);
        let events = all(gateway.stream(unanswered, CancellationToken::new())).await;
        let error = crate::support::failure(&events);
        assert_eq!(error.kind, provider::ProviderErrorKind::InvalidRequest);
        assert!(
            error.message.contains("tool_use` ids") || error.message.contains("tool_call_id"),
            "{error}"
        );
    }
}

#[test]
fn messages_are_stored_in_one_stable_form() {
    let message = Message {
        role: Role::Assistant,
        blocks: vec![
            Block::Thinking {
                text: "t".into(),
                signature: Some("s".into()),
            },
            Block::Text { text: "x".into() },
            Block::ToolUse {
                id: "c".into(),
                name: "n".into(),
                input: json!({"b": 1, "a": 2}),
                invalid_arguments: None,
            },
        ],
        origin: Some(Origin {
            provider: "p".into(),
            model: "m".into(),
        }),
    };
    let stored = serde_json::to_string(&message).unwrap();
    assert_eq!(
        stored,
        r#"{"role":"assistant","blocks":[{"type":"thinking","text":"t","signature":"s"},{"type":"text","text":"x"},{"type":"tool_use","id":"c","name":"n","input":{"a":2,"b":1}}],"origin":{"provider":"p","model":"m"}}"#
    );
    assert_eq!(serde_json::from_str::<Message>(&stored).unwrap(), message);
    let scripted = Family::Scripted;
    assert_eq!(serde_json::to_string(&scripted).unwrap(), "\"scripted\"");
}
