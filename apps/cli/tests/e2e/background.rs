//! Commands beside turns: servers that an agent leaves running, what the user runs, and terminals.

use std::time::Duration;

use protocol::{CommandState, EventBody, EventEnvelope, ItemKind, timeline::CommandItem};
use serde_json::{Value, json};

use crate::{
    agent::{call, command, turns},
    support::{Played, processes_with},
    told::last_results,
    wire::Wire,
};

const LIMIT: Duration = Duration::from_secs(30);

/// Prints, answers nothing, and stays until it is ended.
fn server(tag: &str) -> String {
    format!("python3 -c \"import time,sys; print('ready', '{tag}', flush=True); time.sleep(600)\"")
}

fn background(text: &str) -> Value {
    call("run_command", json!({ "command": text, "background": true }))
}

fn check(arguments: Value) -> Value {
    call("check_command", arguments)
}

/// The card of a command whenever it ends.
fn ended(event: &EventEnvelope, line: &str) -> Option<CommandItem> {
    match &event.body {
        EventBody::ItemCompleted { item } => match &item.kind {
            ItemKind::Command(command) if command.command == line => Some(command.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// C02, C03: a server outlives its turn, is listed with what it printed, and is gone after a stop.
#[test]
fn a_background_command_outlives_its_turn_and_is_listed_and_stopped() {
    let tag = "background-kept";
    let line = server(tag);
    let played = Played::new(
        "anthropic",
        &turns(&[&[background(&line), check(json!({}))], &[command("true")]]),
    );
    let mut wire = Wire::open(&played);
    let session = wire.session();
    wire.turn(&session, "Start it.");
    let told = last_results(&played);
    assert!(
        told.contains("ready background-kept") && told.contains(" runs: "),
        "{told}"
    );
    assert!(!processes_with(tag).is_empty());
    wire.turn(&session, "Go on.");
    let listed = wire.ask("command/list", json!({}))["commands"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["lifetime"], "background");
    assert!(listed[0]["recentOutput"].as_str().unwrap().contains("ready"));
    wire.ask("command/stop", json!({ "commandId": listed[0]["commandId"] }));
    let card = wire.until(LIMIT, |event| ended(event, &line));
    assert_eq!(card.state, CommandState::Stopped);
    assert!(processes_with(tag).is_empty());
    assert_eq!(wire.ask("command/list", json!({}))["commands"], json!([]));
}

/// The model itself sees what it started and stops it.
#[test]
fn an_agent_checks_and_stops_what_it_started() {
    let tag = "background-checked";
    let line = server(tag);
    let played = Played::new(
        "anthropic",
        &turns(&[
            &[background(&line)],
            &[check(json!({ "id": "cmd_none" }))],
            &[check(json!({ "stop": true }))],
        ]),
    );
    let mut wire = Wire::open(&played);
    let session = wire.session();
    wire.turn(&session, "Start it.");
    let id = wire.ask("command/list", json!({}))["commands"][0]["commandId"].clone();
    wire.turn(&session, "Check another.");
    assert!(last_results(&played).contains("There is no command cmd_none"));
    wire.turn(&session, "Stop it.");
    let told = last_results(&played);
    let ended = format!("{} has ended", id.as_str().unwrap());
    assert!(told.contains(&ended), "{told}");
    assert!(processes_with(tag).is_empty());
}

/// C02: nothing survives the engine, not even what ignores to be asked.
#[test]
fn c02_background_commands_end_with_the_engine() {
    let tag = "background-orphan";
    let line = format!("trap '' TERM HUP; {}", server(tag));
    let played = Played::new("anthropic", &turns(&[&[background(&line)]]));
    let mut wire = Wire::open(&played);
    let session = wire.session();
    wire.turn(&session, "Start it.");
    assert!(!processes_with(tag).is_empty());
    wire.running.signal("KILL");
    let begun = std::time::Instant::now();
    while !processes_with(tag).is_empty() {
        assert!(begun.elapsed() < LIMIT, "it survived");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The user's own command goes the same way: into the draft, with its card, and is blocked where nothing may run.
#[test]
fn the_user_runs_a_command_of_their_own_and_reviews_what_it_changed() {
    let played = Played::new("anthropic", &turns(&[&[command("true")]]));
    let place = &played.place;
    place.write("a.txt", "one\n");
    place.commit_all();
    let before = place.tree();
    let mut wire = Wire::open(&played);
    let session = wire.session();
    let line = "sed -i s/one/two/ a.txt && echo done";
    wire.ask("command/run", json!({ "sessionId": session, "command": line }));
    let card = wire.until(LIMIT, |event| ended(event, line));
    assert!(
        card.by_user && card.isolation.starts_with("staged view"),
        "{card:?}"
    );
    assert_eq!((card.exit_code, card.output.trim()), (Some(0), "done"));
    assert_eq!(place.tree(), before);
    wire.until(LIMIT, |event| match &event.body {
        EventBody::ChangeSetUpdated { change_set } if change_set.status.as_str() == "pending_review" => {
            Some(())
        }
        _ => None,
    });
    wire.accept(&session);
    assert_eq!(place.read_text("a.txt"), "two\n");

    let run = |command: &str| json!({ "sessionId": session, "command": command });
    wire.ask("command/run", run("git commit -q --allow-empty -m x"));
    let card = wire.until(LIMIT, |event| ended(event, "git commit -q --allow-empty -m x"));
    assert_eq!(card.policy_reason, "you ran it");
    wire.ask("command/run", run("sudo id"));
    let card = wire.until(LIMIT, |event| ended(event, "sudo id"));
    assert_eq!(card.state, CommandState::Cancelled);
    assert!(wire.try_ask("command/run", run(" ")).is_err());
}

/// With a terminal somebody can answer what asks on it (C01).
#[test]
fn a_command_with_a_terminal_is_typed_to() {
    let played = Played::new("anthropic", &turns(&[&[command("true")]]));
    played.place.write(
        "ask.sh",
        "printf 'name? '; read -r name < /dev/tty; echo \"hello $name\"\n",
    );
    let mut wire = Wire::open(&played);
    let session = wire.session();
    let params = json!({ "sessionId": session, "command": "sh ask.sh", "terminal": "own" });
    let id = wire.ask("command/run", params)["commandId"].clone();
    let begun = std::time::Instant::now();
    // It may not have started yet.
    while wire
        .try_ask("command/input", json!({ "commandId": id, "text": "Ada\n" }))
        .is_err()
    {
        assert!(begun.elapsed() < LIMIT);
        std::thread::sleep(Duration::from_millis(20));
    }
    let card = wire.until(LIMIT, |event| ended(event, "sh ask.sh"));
    assert!(card.output.contains("hello Ada"), "{}", card.output);
}

/// C01: a command that nobody can answer says so on its card while it runs, and a stop ends it.
#[test]
fn c01_a_silent_idle_command_seems_to_wait() {
    let line = "printf 'Overwrite? [y/n] '; sleep 600";
    let played = Played::new("anthropic", &turns(&[&[command(line)]]));
    let mut wire = Wire::open(&played);
    let session = wire.session();
    let from = wire.events_so_far();
    wire.send(&session, "Work.");
    let note = wire.until(Duration::from_secs(60), |event| match &event.body {
        EventBody::ItemDelta {
            delta: protocol::ItemDelta::Notes { notes },
            ..
        } => notes.first().cloned(),
        _ => None,
    });
    assert!(
        note.starts_with("Seems to wait") && note.contains("Overwrite? [y/n]"),
        "{note}"
    );
    let id = wire.ask("command/list", json!({}))["commands"][0]["commandId"].clone();
    wire.ask("command/stop", json!({ "commandId": id }));
    let run = wire.turn_end(&session, from);
    assert_eq!(run.commands()[0].state, CommandState::Stopped);
}
