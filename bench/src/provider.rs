//! A long answer in many small events, through the whole product: what the stream itself costs, and whether memory
//! grows with it.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{
    Hermetic, ModelServer,
    model_server::{End, Recording},
};

use crate::{
    Options,
    product::{self, Run},
    table::{Samples, Table},
};

/// A fast hosted model sends less than this.
const EVENTS_PER_SECOND: usize = 1_000;
/// How often the paced server sends.
const TICK: Duration = Duration::from_millis(10);
const SECONDS: usize = 10;
const FEW: usize = 10_000;
const MANY: usize = 100_000;
/// A word and its space: what one token of an answer looks like.
const WORD: &str = "word ";

pub fn run(options: &Options) {
    let mut idle_ms = Samples::default();
    let mut share = Samples::default();
    let mut per_event = Samples::default();
    let mut few_mb = Samples::default();
    let mut many_mb = Samples::default();
    // Each run takes its ten seconds.
    for _ in 0..options.runs.min(5) {
        let none = measure(answer(1, Pace::AtOnce));
        idle_ms.push_ms(none.cpu);
        let paced = measure(answer(EVENTS_PER_SECOND * SECONDS, Pace::PerTick));
        let of_stream = paced.cpu.saturating_sub(none.cpu);
        share.push(100.0 * of_stream.as_secs_f64() / SECONDS as f64);
        let few = measure(answer(FEW, Pace::AtOnce));
        let many = measure(answer(MANY, Pace::AtOnce));
        let more = many.cpu.saturating_sub(few.cpu).as_secs_f64() * 1e6;
        per_event.push(more / (MANY - FEW) as f64);
        few_mb.push(few.pss_mb);
        many_mb.push(many.pss_mb);
    }
    let mut table = Table::new("provider: one answer of many small events");
    table.row("CPU of a turn with one event", "ms", &idle_ms, "");
    table.row("1,000 events a second, of one core", "%", &share, "< 5");
    table.row("CPU of one more event, unpaced", "µs", &per_event, "");
    table.row("memory (PSS) after 10,000 events", "MB", &few_mb, "");
    table.row("memory (PSS) after 100,000 events", "MB", &many_mb, "flat");
    table.print();
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    AtOnce,
    PerTick,
}

/// In the form of OpenAI Chat Completions, which most servers speak.
fn answer(events: usize, pace: Pace) -> Recording {
    let chunk = |delta: serde_json::Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        format!(
            "data: {}\n\n",
            json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice] })
        )
    };
    let word = chunk(json!({ "content": WORD }), None);
    let at_a_time = EVENTS_PER_SECOND * TICK.as_millis() as usize / 1_000;
    let mut recording = Recording::new(200, "text/event-stream");
    let mut left = events;
    while left > 0 {
        let now = left.min(at_a_time);
        recording = recording.send(word.repeat(now));
        if pace == Pace::PerTick {
            recording = recording.wait(TICK);
        }
        left -= now;
    }
    recording
        .send(chunk(json!({}), Some("stop")))
        .send("data: [DONE]\n\n")
        .end(End::Close)
}

struct Figures {
    cpu: Duration,
    pss_mb: f64,
}

fn measure(answer: Recording) -> Figures {
    let server = ModelServer::spawn(answer);
    let place = place(&server);
    let run = Run::start(
        &place,
        &["exec", "--json", "--provider", "openai", "--model", "m", "Go."],
    );
    let pss_mb = most_until_answered(&server, &run);
    let cost = run.finish(0);
    Figures {
        cpu: cost.own_cpu,
        pss_mb,
    }
}

fn place(server: &ModelServer) -> Hermetic {
    let mut place = product::place(server);
    place.set_variable("OPENAI_BASE_URL", server.openai_base_url());
    place.set_variable("OPENAI_API_KEY", "sk-bench-0123456789");
    place
}

/// The last memory that was read before the answer was out.
fn most_until_answered(server: &ModelServer, run: &Run) -> f64 {
    let end = Instant::now() + Duration::from_secs(120);
    let mut last = 0.0;
    loop {
        let requests = server.requests();
        if requests
            .first()
            .is_some_and(|request| request.answered_at.is_some())
        {
            let (now, _) = run.memory();
            return if now > 0.0 { now } else { last };
        }
        assert!(Instant::now() < end, "the answer did not come to its end");
        let (now, _) = run.memory();
        if now > 0.0 {
            last = now;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
