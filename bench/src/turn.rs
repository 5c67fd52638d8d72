//! A script of 20 model answers in one turn, by turns reading, editing and running: what the engine adds between an
//! answer and the next request.

use serde_json::{Value, json};
use testkit::ModelServer;

use crate::{
    Options,
    exec::FILES,
    product::{self, Run},
    table::{Samples, Table},
};

const ANSWERS: usize = 20;

/// Cheap, so that the engine's own work shows.
const COMMAND: &str = "git rev-parse --is-inside-work-tree";

pub fn run(options: &Options) {
    let kinds = ["read", "edit", "run"];
    let mut waits: [Samples; 3] = Default::default();
    let mut own_cpu = Samples::default();
    let mut all_cpu = Samples::default();
    let mut wall = Samples::default();
    for _ in 0..options.runs {
        let server = ModelServer::spawn(script().to_string().as_str());
        let place = product::place(&server);
        product::repository(&place, FILES);
        let run = Run::start(
            &place,
            &[
                "exec",
                "--json",
                "--provider",
                "anthropic",
                "--approvals",
                "allow",
                "Number the parts.",
            ],
        );
        let cost = run.finish(3);
        own_cpu.push_ms(cost.own_cpu);
        all_cpu.push_ms(cost.all_cpu);
        wall.push_ms(cost.wall);
        let requests = server.requests();
        assert_eq!(requests.len(), ANSWERS + 1);
        for (round, pair) in requests.windows(2).enumerate() {
            refuse_failures(&pair[1].json());
            let answered_at = pair[0].answered_at.expect("a whole answer");
            waits[round % 3].push_ms(pair[1].arrived_at.saturating_duration_since(answered_at));
        }
    }
    let mut table = Table::new(&format!(
        "turn: {ANSWERS} answers, one tool call each, in a repository of {FILES} files, {} runs",
        options.runs
    ));
    for (kind, samples) in kinds.iter().zip(&waits) {
        let target = if *kind == "run" {
            "(copy and command included)"
        } else {
            ""
        };
        table.row(&format!("answer to next request, {kind}"), "ms", samples, target);
    }
    table.row("CPU of the engine, whole run", "ms", &own_cpu, "< 200");
    table.row("CPU with its children", "ms", &all_cpu, "");
    table.row("whole run", "ms", &wall, "");
    table.print();
}

fn script() -> Value {
    let mut steps = Vec::new();
    for round in 0..ANSWERS {
        let path = product::source_path(round / 3);
        let number = round / 3;
        let call = match round % 3 {
            0 => json!({ "name": "read_file", "arguments": { "path": path } }),
            1 => json!({ "name": "edit_file", "arguments": { "path": path,
                         "old": format!("NUMBER: u32 = {number};"), "new": format!("NUMBER: u32 = {};", number + 1) } }),
            _ => json!({ "name": "run_command", "arguments": { "command": COMMAND } }),
        };
        steps.push(json!({ "text": "On with the next part, as planned.", "tools": [call] }));
    }
    steps.push(json!({ "text": "All parts have their numbers." }));
    json!({ "steps": steps })
}

/// A script whose calls fail measures nothing.
fn refuse_failures(request: &Value) {
    let last = request["messages"]
        .as_array()
        .and_then(|messages| messages.last());
    let blocks = last.and_then(|message| message["content"].as_array());
    for block in blocks.into_iter().flatten() {
        assert_ne!(block["is_error"], true, "a call failed: {block}");
    }
}
