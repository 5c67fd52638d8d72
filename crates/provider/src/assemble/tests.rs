use serde_json::json;

use super::*;

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        provider: "p".into(),
        model: "m".into(),
        system: String::new(),
        tools: Vec::new(),
        messages,
        max_output_tokens: 1,
        format: crate::AnswerFormat::Text,
        request_id: protocol::ProviderRequestId::from_text("req_1"),
    }
}

fn call(block: usize, id: &str, arguments: &str) -> [Part; 2] {
    [
        Part::ToolStart {
            block,
            id: id.into(),
            name: "t".into(),
        },
        Part::ToolArguments {
            block,
            delta: arguments.into(),
        },
    ]
}

#[test]
fn arguments_are_whole_invalid_or_cut() {
    use StopReason::*;
    let whole = |input: Value| (Some((input, None)), None);
    let invalid = |text: &str| (Some((json!({}), Some(text.to_owned()))), None);
    let cut = |text: &str| (None, Some(text.to_owned()));
    for (arguments, stop, expected) in [
        (r#"{"a":1}"#, ToolUse, whole(json!({"a": 1}))),
        (r#"{"a":1}"#, OutputLimit, whole(json!({"a": 1}))),
        (" {}\n", OutputLimit, whole(json!({}))),
        ("", ToolUse, whole(json!({}))),
        ("null", EndTurn, whole(json!({}))),
        ("", OutputLimit, cut("")),
        (r#"{"a":"x"#, OutputLimit, cut(r#"{"a":"x"#)),
        (r#"{"a":"x"#, Refused, cut(r#"{"a":"x"#)),
        (r#"{"a":"x"#, ToolUse, invalid(r#"{"a":"x"#)),
        ("[1]", ToolUse, invalid("[1]")),
        (r#"{"a":1}{"b":2}"#, ToolUse, invalid(r#"{"a":1}{"b":2}"#)),
        (r#"{"a":"\ud83d"}"#, ToolUse, invalid(r#"{"a":"\ud83d"}"#)),
    ] {
        let mut assembler = Assembler::new(&request(vec![]));
        for part in call(0, "c", arguments).into_iter().chain([Part::Stop(stop)]) {
            assembler.apply(part);
        }
        let answer = assembler.finish().unwrap();
        let kept = answer
            .message
            .tool_uses()
            .next()
            .map(|call| (call.input.clone(), call.invalid_arguments.map(str::to_owned)));
        let cut = answer.cut_calls.first().map(|call| call.arguments.clone());
        assert_eq!((kept, cut), expected, "{arguments} {stop:?}");
    }
}

#[test]
fn every_call_has_an_id_of_its_own_in_the_whole_history() {
    let earlier = Message {
        role: Role::Assistant,
        blocks: vec![Block::ToolUse {
            id: "call_0".into(),
            name: "t".into(),
            input: json!({}),
            invalid_arguments: None,
        }],
        origin: None,
    };
    let mut assembler = Assembler::new(&request(vec![earlier]));
    for (block, id) in ["call_0", "", "", "x", "x", "x"].into_iter().enumerate() {
        for part in call(block, id, "{}") {
            assembler.apply(part);
        }
    }
    assembler.apply(Part::Stop(StopReason::ToolUse));
    let answer = assembler.finish().unwrap();
    let ids: Vec<_> = answer.message.tool_uses().map(|call| call.id).collect();
    assert_eq!(ids, ["call_0_2", "call_1", "call_2", "x", "x_2", "x_3"]);
}

#[test]
fn blocks_keep_the_order_of_their_first_piece() {
    let mut assembler = Assembler::new(&request(vec![]));
    let parts = [
        Part::Thinking {
            block: 0,
            delta: "A".into(),
        },
        Part::Text {
            block: 1,
            delta: "t1".into(),
        },
        Part::Redacted {
            block: 2,
            data: "r".into(),
        },
        Part::Thinking {
            block: 3,
            delta: String::new(),
        },
        Part::Signature {
            block: 0,
            delta: "sigA".into(),
        },
        Part::Signature {
            block: 3,
            delta: "sigB".into(),
        },
        Part::Text {
            block: 1,
            delta: "t2".into(),
        },
        Part::Opaque {
            block: 4,
            json: json!({"type": "server_tool_use", "input": {}}),
        },
        Part::OpaqueInput {
            block: 4,
            delta: r#"{"q":1}"#.into(),
        },
        Part::Text {
            block: 5,
            delta: String::new(),
        },
        Part::Stop(StopReason::EndTurn),
    ];
    for part in parts {
        assembler.apply(part);
    }
    let blocks = assembler.finish().unwrap().message.blocks;
    assert_eq!(
        blocks,
        [
            Block::Thinking {
                text: "A".into(),
                signature: Some("sigA".into())
            },
            Block::Text { text: "t1t2".into() },
            Block::RedactedThinking { data: "r".into() },
            Block::Thinking {
                text: String::new(),
                signature: Some("sigB".into())
            },
            Block::Opaque {
                provider: "p".into(),
                json: json!({"type": "server_tool_use", "input": {"q": 1}})
            },
        ]
    );
}
