//! The model server as a program of its own, for clients that are not Rust: plays the scenario file it is given,
//! prints its addresses as one line of JSON, and ends with its standard input.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "a test tool")]

use std::io::{Read, stdin};

use provider::Scenario;
use testkit::ModelServer;

fn main() {
    let path = std::env::args_os().nth(1).expect("the path of a scenario file");
    let scenario = Scenario::load(path.as_ref()).expect("a scenario");
    let server = ModelServer::spawn(scenario);
    let addresses = serde_json::json!({
        "anthropic": server.anthropic_base_url(),
        "openai": server.openai_base_url(),
        "gemini": server.gemini_base_url(),
    });
    println!("{addresses}");
    // Nothing is said on it; its end is the signal.
    let _ = stdin().read_to_end(&mut Vec::new());
}
