//! kill -9 at several points of a turn: nothing is lost, nothing happens twice, and the session goes on.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    agent::{command, create, edit, read},
    support::{FAMILIES, OUTPUT, Played, json_lines, processes_with},
    told::tool_results,
};

const LIMIT: Duration = Duration::from_secs(30);

/// Where the process is killed, and what is found afterwards.
struct Point {
    name: &'static str,
    /// The second answer; the first one edits and reads.
    second: Value,
    /// A line with this text means that the point is reached.
    reached: &'static str,
    /// Results that the next request carries, as parts of their texts.
    results: &'static [&'static str],
}

#[test]
fn killed_turn_is_resumed_without_loss_or_repetition() {
    for family in FAMILIES {
        let tag = format!("crash-{family}-{}", std::process::id());
        let long = format!("echo begun; exec -a {tag} sleep 300");
        let points = [
            Point {
                name: "while the model speaks",
                second: json!({ "text": "I am about to say", "stall": true }),
                reached: "I am about",
                results: &["Edited a.txt", "two"],
            },
            Point {
                name: "while a command runs",
                second: json!({ "tools": [command(&long), create("never.txt", "x\n")] }),
                reached: OUTPUT,
                results: &["Edited a.txt", "two", "not known", "not known"],
            },
            Point {
                name: "between the calls and the next answer",
                second: json!({ "stall": true }),
                reached: "usageUpdated",
                results: &["Edited a.txt", "two"],
            },
        ];
        for point in points {
            killed_at(family, &tag, &point);
        }
    }
}

fn killed_at(family: &'static str, tag: &str, point: &Point) {
    let name = point.name;
    let scenario = json!({ "steps": [
        { "text": "I begin.", "tools": [edit("a.txt", "one", "two"), read("a.txt")] },
        point.second,
        { "when": { "user": "go on" }, "text": "Going on." },
    ] })
    .to_string();
    let played = Played::new(family, &scenario);
    let place = &played.place;
    place.write("a.txt", "one\n");
    let mut running = place.start(&[
        "exec",
        "--json",
        "--approvals",
        "allow",
        "--provider",
        family,
        "Work.",
    ]);
    running.wait_for("Edited a.txt", LIMIT);
    if point.reached == "usageUpdated" {
        // The second request is out and nothing of its answer has come.
        let began = Instant::now();
        while played.server.requests().len() < 2 {
            assert!(began.elapsed() < LIMIT, "{name}");
            std::thread::sleep(Duration::from_millis(2));
        }
    } else {
        running.wait_for(point.reached, LIMIT);
    }
    running.signal("KILL");
    let session = running
        .seen
        .iter()
        .find_map(|line| {
            let event: Value = serde_json::from_str(line).ok()?;
            event["sessionId"].as_str().map(str::to_owned)
        })
        .expect("an event of the session");
    drop(running);
    let killed = Instant::now();
    while !processes_with(tag).is_empty() {
        assert!(
            killed.elapsed() < Duration::from_secs(5),
            "{name}: a command outlives the app"
        );
        std::thread::sleep(Duration::from_millis(20));
    }

    let (code, shown) = json_lines(place, &["sessions", "resume", "--json", &session]);
    assert_eq!(code, Some(0), "{name}");
    let shown = &shown[0];
    assert_eq!(shown["session"]["interrupted"], true, "{name}");
    assert_eq!(shown["session"]["state"], "awaiting_diff_review", "{name}");
    let timeline = shown["timeline"].as_array().unwrap();
    for item in timeline {
        assert!(
            ["succeeded", "failed", "cancelled"].contains(&item["status"].as_str().unwrap()),
            "{name}: {item}"
        );
    }
    let of = |kind: &str| {
        timeline
            .iter()
            .filter(|item| item["type"] == kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(of("user_message").len(), 1);
    assert_eq!(of("assistant_message")[0]["text"], "I begin.", "{name}");
    assert_eq!(of("tool_call").len(), 2);
    match name {
        "while the model speaks" => {
            let half = of("assistant_message")[1];
            assert_eq!(half["status"], "cancelled");
            assert!("I am about to say".starts_with(half["text"].as_str().unwrap()));
            assert_ne!(half["text"], "", "what was shown is kept");
        }
        "while a command runs" => {
            let command = of("command")[0];
            assert_eq!(
                (&command["status"], &command["state"]),
                (&json!("cancelled"), &json!("cancelled"))
            );
            let notes = command["notes"].to_string();
            assert!(notes.contains("effects are not known"), "{notes}");
            assert!(command["output"].as_str().unwrap().contains("begun"), "{command}");
        }
        _ => {}
    }
    let sets = shown["changeSets"].as_array().unwrap();
    assert_eq!(sets.len(), 1, "{name}: no lost diff");
    assert_eq!(sets[0]["status"], "pending_review");
    assert_eq!(sets[0]["files"][0]["path"], "a.txt");
    assert_eq!(place.read_text("a.txt"), "one\n");

    // The next turn is accepted, and has the same change set.
    let run = played.exec(&["--session", &session, "go on"]).expect_code(3);
    assert_eq!(run.answer(), "Going on.");
    let results = tool_results(played.server.requests().last().unwrap());
    assert_eq!(results.len(), point.results.len(), "{family} {name}: {results:?}");
    for ((_, text), part) in results.iter().zip(point.results) {
        assert!(text.contains(part), "{family} {name}: {text}");
    }
    assert_eq!(run.result["changeSets"].as_array().unwrap().len(), 1, "{name}");
    let (_, sessions) = json_lines(place, &["sessions", "list", "--json"]);
    assert_eq!(sessions[0]["interrupted"], false, "{name}: it has gone on");
    assert_eq!(place.vibe(&["changes", "accept"]).status.code(), Some(0));
    assert_eq!(place.read_text("a.txt"), "two\n", "{name}: written once");
    assert!(!place.exists("never.txt"), "{name}");
}
