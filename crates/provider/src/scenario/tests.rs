use super::*;

fn arrived(user: &str, tool_result: Option<&str>) -> Arrived {
    Arrived {
        user: user.into(),
        tool_result: tool_result.map(str::to_owned),
    }
}

#[test]
fn a_step_is_the_first_with_uses_left_whose_condition_holds() {
    let yaml = r#"
steps:
  - when: { user: "fix" }
    text: on fix
  - when: { tool_result_regex: "^ok \\d+$" }
    text: on ok
    repeat: 2
  - text: first of the rest
  - text: rest
    repeat: always
"#;
    let mut player = Player::new(Scenario::parse(yaml, "t").unwrap());
    let mut say = |user, result| player.next(&arrived(user, result)).unwrap().text.unwrap();
    assert_eq!(say("hello", None), "first of the rest");
    assert_eq!(say("please fix it", None), "on fix");
    assert_eq!(say("please fix it", Some("ok 12")), "on ok");
    assert_eq!(say("please fix it", Some("not ok 12")), "rest");
    assert_eq!(say("x", Some("ok 3")), "on ok");
    assert_eq!(say("x", Some("ok 3")), "rest");
}

#[test]
fn an_exhausted_scenario_says_what_arrived_and_what_was_expected() {
    let yaml =
        "steps:\n  - text: one\n  - when: { user: deploy, tool_result_regex: \"^done\" }\n    text: two\n";
    let mut player = Player::new(Scenario::parse(yaml, "demo.yaml").unwrap());
    player.next(&arrived("hi", None)).unwrap();
    let error = player.next(&arrived("again", Some("failed"))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "demo.yaml: The user message “again” and the tool result “failed” arrived. Not used yet: the step at line 3 \
         waits for a user message with “deploy” and a tool result like /^done/."
    );
    player.next(&arrived("deploy", Some("done"))).unwrap();
    let error = player.next(&arrived("deploy", None)).unwrap_err();
    assert_eq!(error.waiting, "All 2 steps have been used.");
}

#[test]
fn a_bad_scenario_names_its_line_and_reason() {
    for (yaml, line, reason) in [
        ("steps:\n  - text: a\n  - texd: b\n", Some(3), "texd"),
        ("steps:\n  - text: a\n    when: { users: b }\n", Some(3), "users"),
        ("steps:\n  - text: [\n", None, ""),
        ("steps: []\n", None, "no steps"),
        ("step: []\n", Some(1), "step"),
        (
            "steps:\n  - text: a\n\n  - text: a\n    cut: true\n    stall: true\n",
            Some(4),
            "one way only",
        ),
        ("steps:\n  - usage: { input: 1 }\n", Some(2), "answers nothing"),
        (
            "steps:\n  - text: a\n    when: { user_regex: \"(\" }\n",
            Some(2),
            "regular expression",
        ),
        (
            "steps:\n  - text: a\n    when: { user: a, user_regex: b }\n",
            Some(2),
            "not both",
        ),
        (
            "steps:\n  - tools: [{ name: t, arguments: [1] }]\n",
            Some(2),
            "mapping",
        ),
        ("steps:\n  - text: a\n    repeat: 0\n", Some(2), "repeat"),
        ("steps:\n  - text: a\n    chunk: 0\n", Some(2), "chunk"),
        ("steps:\n  - error: { kind: nonsense }\n", Some(2), "nonsense"),
    ] {
        let error = Scenario::parse(yaml, "f.yaml").unwrap_err();
        assert!(error.reason.contains(reason), "{yaml}: {error}");
        if line.is_some() {
            assert_eq!(error.line, line, "{yaml}: {error}");
        }
    }
    let missing = Scenario::load(Path::new("/no/such/scenario.yaml")).unwrap_err();
    assert!(
        missing
            .to_string()
            .starts_with("/no/such/scenario.yaml: it cannot be read"),
        "{missing}"
    );
}

#[test]
fn a_cut_step_stops_half_way_and_pieces_keep_characters_whole() {
    let yaml = "steps:\n  - text: hé😀lo\n    chunk: 2\n    cut: true\n  - tools: [{ name: a }, { name: w, arguments: { k: abcd } }]\n    cut: true\n";
    let scenario = Scenario::parse(yaml, "t").unwrap();
    let text = &scenario.steps[0];
    assert_eq!(text.sent_text(), "hé");
    assert_eq!(text.pieces("hé😀lo"), ["hé", "😀l", "o"]);
    let calls: Vec<_> = scenario.steps[1]
        .sent_calls()
        .map(|(call, sent)| (call.name.as_str(), sent))
        .collect();
    assert_eq!(calls, [("a", "{}"), ("w", r#"{"k":""#)]);
}
