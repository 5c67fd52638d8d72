//! Standing answers: how far one reaches, what wins, and how it is seen and taken back.

use protocol::{ItemKind, timeline::ApprovalItem};
use serde_json::{Value, json};
use testkit::ExecRun;

use crate::{
    agent::{command, turns},
    support::{Played, json_lines},
    wire::Wire,
};

/// A command that asks and, allowed, ends at once without a network.
const INSTALL: &str = "npm install --version left-pad";
const PUSH: &str = "git push origin main";

fn questions(run: &ExecRun) -> Vec<ApprovalItem> {
    run.items()
        .filter_map(|item| match &item.kind {
            ItemKind::Approval(approval) => Some(approval.clone()),
            _ => None,
        })
        .collect()
}

/// Begins a turn that asks, and answers each question that comes.
fn asked(wire: &mut Wire, session: &str, answer: Value) -> ExecRun {
    let from = wire.events_so_far();
    wire.send_asking(session, "Work.");
    wire.answer_until_end(session, from, &answer)
}

#[test]
fn an_answer_for_the_session_holds_there_and_one_for_the_workspace_everywhere() {
    let played = Played::new(
        "anthropic",
        &turns(&[
            &[command(PUSH), command("git push origin other")],
            &[command("git push origin third")],
            &[command("git push --force origin main")],
            &[command(PUSH)],
            &[command(PUSH)],
        ]),
    );
    played.place.write("a.txt", "a\n");
    played.place.commit_all();
    let mut wire = Wire::open(&played);
    let first = wire.session();
    let allow = |scope: &str| json!({ "decision": "allow", "scope": scope });

    let run = asked(&mut wire, &first, allow("session"));
    let answered = questions(&run);
    assert_eq!(answered.len(), 1, "the second is the same kind: {answered:?}");
    assert_eq!(answered[0].patterns, ["git push *"]);
    assert_eq!(
        answered[0].decided_because,
        "you allowed it, and always in this session: git push *"
    );
    let reasons: Vec<&str> = run
        .commands()
        .iter()
        .map(|card| &card.policy_reason[..])
        .collect();
    assert_eq!(reasons[1], "your standing OK for `git push *`");
    assert!(questions(&asked(&mut wire, &first, allow("once"))).is_empty());
    // Another option is another thing.
    assert_eq!(questions(&asked(&mut wire, &first, allow("once"))).len(), 1);

    let second = wire.session();
    assert_eq!(questions(&asked(&mut wire, &second, allow("workspace"))).len(), 1);
    let third = wire.session();
    assert!(questions(&asked(&mut wire, &third, allow("once"))).is_empty());

    let rules = wire.ask("approvals/list", json!({}))["rules"].clone();
    let shown: Vec<_> = rules
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| {
            (
                rule["pattern"].clone(),
                rule["sessionId"].is_string(),
                rule["used"].clone(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (json!("git push *"), true, json!(3)),
            (json!("git push *"), false, json!(3)),
        ]
    );
}

/// Rules are kept over restarts, listed and taken back on the command line; never wins, also over `--approvals allow`.
#[test]
fn rules_are_kept_listed_and_revoked_and_never_wins_in_every_mode() {
    let played = Played::new(
        "anthropic",
        &turns(&[
            &[command(INSTALL)],
            &[command(PUSH), command(INSTALL)],
            &[command(PUSH), command("echo hello")],
            &[command(PUSH)],
            &[command("true; sh -c 'git push'")],
        ]),
    );
    let place = &played.place;
    let add = |effect: &str, pattern: &str| {
        let (code, rules) = json_lines(place, &["approvals", "add", effect, pattern, "--json"]);
        assert_eq!(code, Some(0));
        rules[0]["id"].as_str().unwrap().to_owned()
    };
    let reasons = |approvals: &str| {
        let run = played.exec(&["--approvals", approvals, "Work."]);
        let cards = run.commands();
        cards
            .iter()
            .map(|card| card.policy_reason.clone())
            .collect::<Vec<_>>()
    };
    assert!(reasons("deny")[0].starts_with("Not run: "));
    let allow = add("allow", "git push *");
    assert_eq!(reasons("deny")[0], "your standing OK for `git push *`");
    add("ask", "echo *");
    let asked = reasons("deny");
    assert_eq!(asked[0], "your standing OK for `git push *`");
    assert_eq!(asked[1], "Not run: your rule says to ask for `echo *`.");
    let never = add("never", "git *");
    assert_eq!(reasons("allow")[0], "Blocked: your rule says never for `git *`.");
    assert_eq!(reasons("allow")[0], "Blocked: your rule says never for `git *`.");

    let (_, rules) = json_lines(place, &["approvals", "list", "--json"]);
    assert_eq!(rules.len(), 3);
    for id in [&allow, &never] {
        assert!(place.vibe(&["approvals", "revoke", id]).status.success());
    }
    let listed = place.vibe(&["approvals", "list"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(
        listed.contains("ask  `echo *`  anywhere, this workspace"),
        "{listed}"
    );
    assert_eq!(listed.lines().count(), 1);
    let refused = place.vibe(&["approvals", "revoke", &never]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("approvals list"));
    let bad = place.vibe(&["approvals", "add", "allow", "* --force"]);
    assert!(!bad.status.success());
}

/// What is only known when it runs can be answered once and no more.
#[test]
fn what_is_not_known_is_answered_once() {
    let line = "X=$(cat name.txt); git push \"$X\"";
    let played = Played::new("anthropic", &turns(&[&[command(line)], &[command(line)]]));
    played.place.write("name.txt", "origin\n");
    let mut wire = Wire::open(&played);
    let session = wire.session();
    for _ in 0..2 {
        let answer = json!({ "decision": "allow", "scope": "workspace" });
        let answered = questions(&asked(&mut wire, &session, answer));
        assert_eq!(answered.len(), 1);
        assert!(answered[0].patterns.is_empty());
        assert!(answered[0].decided_because.starts_with("you allowed it once;"));
    }
    assert_eq!(wire.ask("approvals/list", json!({}))["rules"], json!([]));
}
