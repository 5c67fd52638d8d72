//! What a person, a script and the model are told: failures, and the requests that a model server recorded.

use std::process::Output;

use serde_json::{Value, json};
use testkit::{ExecRun, model_server::RecordedRequest};

use crate::support::Played;

/// A failure that ended a run: its code, a way out, and that no file changed.
#[track_caller]
pub fn expect_failure(run: &ExecRun, exit: i32, code: &str) {
    assert_eq!(
        run.code,
        Some(exit),
        "{code}: stderr:\n{}\nresult: {}",
        run.stderr,
        run.result
    );
    let error = &run.result["error"];
    assert_eq!(error["code"], code, "{error}");
    let said = |key: &str| error[key].as_str().is_some_and(|text| !text.is_empty());
    assert!(said("message") && said("userAction"), "{error}");
    assert_eq!(error["filesChanged"], json!({ "state": "none" }), "{error}");
}

/// A verb that failed: its code and a way out on standard error, nothing on standard output.
#[track_caller]
pub fn expect_refusal(output: &Output, exit: i32, code: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(exit), "{stderr}");
    assert!(stderr.contains(&format!("[{code}]")), "{code}: {stderr}");
    let way_out = stderr
        .lines()
        .find_map(|line| line.trim().strip_prefix("what to do: "));
    assert!(way_out.is_some_and(|text| !text.is_empty()), "{stderr}");
    assert!(stderr.contains("files changed: none"), "{stderr}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}

/// The results of tool calls in a request, as (id, text), in the order they stand there.
pub fn tool_results(request: &RecordedRequest) -> Vec<(String, String)> {
    let body = request.json();
    let mut found = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        if message["role"] == "tool" {
            found.push((word(&message["tool_call_id"]), word(&message["content"])));
        }
        for block in message["content"].as_array().into_iter().flatten() {
            if block["type"] == "tool_result" {
                found.push((word(&block["tool_use_id"]), word(&block["content"])));
            }
        }
    }
    found
}

/// The texts of a request's results, joined.
pub fn results_text(request: &RecordedRequest) -> String {
    let texts: Vec<String> = tool_results(request).into_iter().map(|(_, text)| text).collect();
    texts.join("\n")
}

/// What the model read in the newest request.
pub fn last_results(played: &Played) -> String {
    results_text(played.server.requests().last().expect("a request"))
}

/// Every text that a request carries from the user and the assistant, in order, with its role.
pub fn spoken(request: &RecordedRequest) -> Vec<(String, String)> {
    let body = request.json();
    let mut found = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        let role = word(&message["role"]);
        match &message["content"] {
            Value::String(text) if role == "user" || role == "assistant" => {
                found.push((role, text.clone()));
            }
            Value::Array(blocks) => found.extend(
                blocks
                    .iter()
                    .filter(|block| block["type"] == "text")
                    .map(|block| (role.clone(), word(&block["text"]))),
            ),
            _ => {}
        }
    }
    found
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(|block| word(&block["text"])).collect(),
        _ => String::new(),
    }
}
