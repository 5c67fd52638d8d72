//! What a scripted agent does in a test, turn by turn.

use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::ExecRun;

use crate::support::Played;

/// A scenario of which each turn makes its calls in one answer and then ends.
pub fn turns(turns: &[&[Value]]) -> String {
    let steps: Vec<Value> = turns
        .iter()
        .flat_map(|calls| [json!({ "tools": calls }), json!({ "text": "Done." })])
        .collect();
    json!({ "steps": steps }).to_string()
}

pub fn call(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

pub fn read(path: &str) -> Value {
    call("read_file", json!({ "path": path }))
}

pub fn create(path: &str, content: &str) -> Value {
    call("create_file", json!({ "path": path, "content": content }))
}

pub fn edit(path: &str, old: &str, new: &str) -> Value {
    call("edit_file", json!({ "path": path, "old": old, "new": new }))
}

/// The whole new content. The file must have been read.
pub fn replace(path: &str, content: &str) -> Value {
    call("replace_file", json!({ "path": path, "content": content }))
}

pub fn patch(text: &str) -> Value {
    call("apply_patch", json!({ "patch": text }))
}

pub fn delete(path: &str) -> Value {
    call("delete_file", json!({ "path": path }))
}

pub fn rename(from: &str, to: &str) -> Value {
    call("rename_file", json!({ "from": from, "to": to }))
}

pub fn command(text: &str) -> Value {
    call("run_command", json!({ "command": text }))
}

/// The exact bytes of a case's input.
pub fn fixture(name: &str) -> Vec<u8> {
    let path = fixture_path(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn fixture_path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/fixtures", name]
        .iter()
        .collect()
}

/// Files, and one turn of an agent that proposes changes to them.
pub fn proposed(files: &[(&str, &[u8])], calls: &[Value]) -> (Played, ExecRun) {
    let (played, run) = attempted(files, calls);
    (played, run.expect_code(3))
}

/// The same where the calls are refused, so that nothing waits for review.
pub fn refused(files: &[(&str, &[u8])], calls: &[Value]) -> (Played, ExecRun) {
    let (played, run) = attempted(files, calls);
    let run = run.expect_code(0);
    assert_eq!(run.result["changeSets"], json!([]));
    for (path, content) in files {
        assert_eq!(played.place.read(path), *content, "{path}");
    }
    (played, run)
}

fn attempted(files: &[(&str, &[u8])], calls: &[Value]) -> (Played, ExecRun) {
    let played = Played::new("anthropic", &turns(&[calls]));
    for (path, content) in files {
        played.place.write(path, content);
    }
    let run = played.exec(&["--approvals", "allow", "Work."]);
    (played, run)
}

/// The error of each call that was refused: its code and what the model read.
pub fn refusals(run: &ExecRun) -> Vec<(String, String)> {
    run.tool_calls()
        .into_iter()
        .filter_map(|call| {
            let error = call.error.as_ref()?;
            Some((error.code.to_string(), call.preview.clone()))
        })
        .collect()
}
