//! One `exec` turn in a small repository: one question, one answer, no tool.

use std::time::Duration;

use serde_json::json;
use testkit::ModelServer;

use crate::{
    Options,
    product::{self, Run},
    table::{Samples, Table},
};

/// Of the repository the question is asked in.
pub const FILES: usize = 200;
/// How long the answer is held back while the memory is measured.
const HELD: Duration = Duration::from_millis(300);

/// Figures of one kind of `exec` turn, each as often as it was measured.
#[derive(Default)]
pub struct Figures {
    pub start_ms: Samples,
    pub own_cpu_ms: Samples,
    pub all_cpu_ms: Samples,
    pub pss_mb: Samples,
    pub peak_mb: Samples,
    pub prompt_tokens: Samples,
}

pub fn run(options: &Options) {
    let figures = measure(options.runs, FILES, &Start::Fresh);
    let mut table = Table::new(&format!(
        "exec: one question in a repository of {FILES} files, {} runs",
        options.runs
    ));
    table.row("start to first request", "ms", &figures.start_ms, "< 50");
    table.row("CPU of the engine", "ms", &figures.own_cpu_ms, "< 60");
    table.row("CPU with its children", "ms", &figures.all_cpu_ms, "");
    table.row("memory (PSS) in a request", "MB", &figures.pss_mb, "< 40");
    table.row("memory (resident) at most", "MB", &figures.peak_mb, "");
    table.row(
        "first prompt, system + tools",
        "tokens",
        &figures.prompt_tokens,
        "< 3000",
    );
    table.print();
}

/// What a turn starts from.
pub enum Start {
    /// A new session in a workspace that was used before.
    Fresh,
    /// The session that this function makes, given the place.
    Resumed(fn(&testkit::Hermetic) -> String),
}

pub fn measure(runs: usize, files: usize, start: &Start) -> Figures {
    let answer = json!({ "text": "It counts.", "repeat": "always" });
    let held = json!({ "when": { "user": "hold" }, "text": "It counts.", "chunk": 1_000,
                       "delay_ms": HELD.as_millis() as u64, "repeat": "always" });
    let server = ModelServer::spawn(json!({ "steps": [held, answer] }).to_string().as_str());
    let place = product::place(&server);
    product::repository(&place, files);
    let session = match start {
        Start::Fresh => None,
        Start::Resumed(make) => Some(make(&place)),
    };
    let exec = |prompt: &str| {
        let mut arguments = vec!["exec", "--json", "--provider", "anthropic"];
        arguments.extend(session.iter().flat_map(|id| ["--session", id.as_str()]));
        arguments.push(prompt);
        let number = server.requests().len();
        (Run::start(&place, &arguments), number)
    };
    // Makes the data folder and warms the disk.
    exec("What does it do?").0.finish(0);

    let mut figures = Figures::default();
    for _ in 0..runs {
        let (run, number) = exec("What does it do?");
        let started_at = run.started_at;
        let cost = run.finish(0);
        let request = &server.requests()[number];
        figures.start_ms.push_ms(request.arrived_at - started_at);
        figures.own_cpu_ms.push_ms(cost.own_cpu);
        figures.all_cpu_ms.push_ms(cost.all_cpu);
        let body = request.json();
        let bytes = body["system"].to_string().len() + body["tools"].to_string().len();
        figures.prompt_tokens.push(bytes as f64 / 4.0);
    }
    for _ in 0..runs.min(5) {
        let (run, number) = exec("hold");
        product::wait_for_request(&server, number);
        std::thread::sleep(HELD / 3);
        let (pss, peak) = run.memory();
        figures.pss_mb.push(pss);
        figures.peak_mb.push(peak);
        run.finish(0);
    }
    figures
}
