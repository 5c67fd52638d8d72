//! Known failures E09 and E10: text that is newer than what the agent knows, and edits that meet in one file.

use std::{collections::BTreeSet, fs::File};

use serde_json::{Value, json};

use crate::{
    agent::{edit, fixture, proposed, read, refusals, replace, turns},
    support::{Played, json_lines},
    wire::Wire,
};

/// E09 a. Parts b and c are about an open editor, which there is none of yet.
#[test]
fn e09_newer_text_is_overwritten() {
    let tabs = String::from_utf8(fixture("edit/tabs.go")).unwrap();
    let from_memory = tabs.replace("n > 0", "n > 1").replace("return n", "return n + 1");
    let calls: [&[Value]; 2] = [
        &[read("tabs.go")],
        &[
            edit("tabs.go", "\tif n > 0 {", "\tif n > 1 {"),
            replace("tabs.go", &from_memory),
        ],
    ];
    let played = Played::new("anthropic", &turns(&calls));
    let place = &played.place;
    place.write("tabs.go", &tabs);
    let mut wire = Wire::open(&played);
    let session = wire.session();
    wire.turn(&session, "Read.");
    let by_the_user = tabs.replace("return 0", "return 7");
    place.write("tabs.go", &by_the_user);
    let run = wire.turn(&session, "Edit.");
    let refusals = refusals(&run);
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert_eq!(refusals[0].0, "edit.stale");
    assert!(
        refusals[0].1.contains("tabs.go has changed since you read it"),
        "{}",
        refusals[0].1
    );
    wire.accept(&session);
    assert_eq!(place.read_text("tabs.go"), by_the_user.replace("n > 0", "n > 1"));
}

/// E09 d, and the user's edit elsewhere in the file, which is merged.
#[test]
fn e09_a_proposal_whose_base_has_changed() {
    let tabs = String::from_utf8(fixture("edit/tabs.go")).unwrap();
    let apart = tabs.replace("return 0", "return 7");
    let overlapping = tabs.replace("n > 0", "n > 5");
    let proposal = [edit("tabs.go", "n > 0", "n > 1")];

    let (played, _) = proposed(&[("tabs.go", tabs.as_bytes())], &proposal);
    let place = &played.place;
    place.write("tabs.go", &apart);
    assert_eq!(place.vibe(&["changes", "accept"]).status.code(), Some(0));
    assert_eq!(place.read_text("tabs.go"), apart.replace("n > 0", "n > 1"));
    assert_eq!(place.vibe(&["changes", "undo"]).status.code(), Some(0));
    assert_eq!(place.read_text("tabs.go"), apart, "the user's edit stays");

    // By content and not by time: the same size and time stamp, another text.
    let (played, _) = proposed(&[("tabs.go", tabs.as_bytes())], &proposal);
    let place = &played.place;
    let path = place.workspace().join("tabs.go");
    let stamp = path.metadata().unwrap().modified().unwrap();
    place.write("tabs.go", &overlapping);
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(stamp)
        .unwrap();
    let refused = place.vibe(&["changes", "accept", "--json"]);
    assert_eq!(refused.status.code(), Some(1));
    let (_, shown) = json_lines(place, &["changes", "show", "--json"]);
    assert_eq!(shown[0]["changeSet"]["status"], "conflicted");
    let conflict = shown[0]["changeSet"]["files"][0]["conflict"].as_str().unwrap();
    assert!(
        conflict.contains("line 4") && conflict.contains("n > 5") && conflict.contains("n > 1"),
        "{conflict}"
    );
    assert_eq!(place.read_text("tabs.go"), overlapping);
    // Rejecting it is a way out, and so is putting the file back.
    place.write("tabs.go", &tabs);
    assert_eq!(place.vibe(&["changes", "accept"]).status.code(), Some(0));
    assert_eq!(place.read_text("tabs.go"), tabs.replace("n > 0", "n > 1"));

    // A new time stamp alone is no conflict.
    let (played, _) = proposed(&[("tabs.go", tabs.as_bytes())], &proposal);
    played.place.write("tabs.go", &tabs);
    assert_eq!(played.place.vibe(&["changes", "accept"]).status.code(), Some(0));
}

const LINES: usize = 60;
const REPETITIONS: usize = 50;

fn numbered(name: impl Fn(usize) -> String) -> String {
    (1..=LINES).map(|line| name(line) + "\n").collect()
}

/// Six edits of one answer to a file, on lines `first`, `first + 10` and so on.
fn six_edits(first: usize, by: &str) -> Value {
    let calls: Vec<Value> = (0..6)
        .map(|step| first + 10 * step)
        .map(|line| edit("f", &format!("line {line}\n"), &format!("{by} {line}\n")))
        .collect();
    json!({ "when": { "user": by }, "tools": calls, "repeat": "always" })
}

#[test]
fn e10_parallel_edits_to_one_file() {
    let scenario = json!({ "steps": [
        { "when": { "tool_result": "Edited f" }, "text": "Done.", "repeat": "always" },
        six_edits(2, "first"),
        six_edits(6, "second"),
    ] });
    let played = Played::new("anthropic", &scenario.to_string());
    let place = &played.place;
    let base = numbered(|line| format!("line {line}"));
    let edited = |authors: &[(&str, usize)]| {
        numbered(|line| {
            let author = authors.iter().find(|(_, first)| line % 10 == *first);
            format!("{} {line}", author.map_or("line", |(by, _)| by))
        })
    };
    let mut wire = Wire::open(&played);
    for repetition in 0..REPETITIONS {
        place.write("f", &base);
        let (one, two) = (wire.session(), wire.session());
        let from = wire.events_so_far();
        wire.send(&one, "first");
        wire.send(&two, "second");
        for session in [&one, &two] {
            let run = wire.turn_end(session, from);
            assert_eq!(run.tool_calls().len(), 6);
            assert!(refusals(&run).is_empty(), "{repetition}: {:?}", refusals(&run));
        }
        wire.accept(&one);
        assert_eq!(place.read_text("f"), edited(&[("first", 2)]), "{repetition}");
        wire.accept(&two);
        assert_eq!(
            place.read_text("f"),
            edited(&[("first", 2), ("second", 6)]),
            "{repetition}"
        );
    }
    drop(wire);

    // Two programs on one workspace take turns as well.
    place.write("f", &base);
    let start = |text: &str| {
        place.start(&[
            "exec",
            "--json",
            "--accept",
            "all",
            "--provider",
            "anthropic",
            text,
        ])
    };
    let running = [start("first"), start("second")];
    let sessions: BTreeSet<String> = running
        .into_iter()
        .map(|running| {
            running
                .finish(std::time::Duration::from_secs(30))
                .expect_code(0)
                .session()
        })
        .collect();
    assert_eq!(sessions.len(), 2);
    assert_eq!(place.read_text("f"), edited(&[("first", 2), ("second", 6)]));
}
