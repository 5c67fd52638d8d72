//! What networks, gateways and careless servers do to an answer's bytes, whatever its family.

use serde_json::Value;

use super::recording::{End, Recording};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Every byte in a chunk of its own: characters and lines are cut everywhere.
    SingleBytes,
    /// Lines end with carriage return and line feed, and two bytes come at a time.
    CarriageReturns,
    /// Comments and empty events between the events, as keep-alives.
    KeepAlives,
    /// `data:` without the space after it.
    NoSpace,
    /// No event says how many tokens were used.
    MissingUsage,
    /// The content type says nothing.
    VagueType,
    /// The content type of a web page.
    WrongType,
    /// The body ends in the middle.
    HalfBody,
    /// The connection is reset in the middle.
    HalfThenReset,
    /// The body stops in the middle and the connection stays open.
    HalfThenSilence,
    /// The last event is cut within its JSON, then the body ends.
    HalfEvent,
}

impl Fault {
    pub(super) fn spoil(self, answer: Recording) -> Recording {
        let text = || String::from_utf8_lossy(&answer.bytes()).into_owned();
        let half = || {
            let text = text().replace("\r\n", "\n");
            let events: Vec<&str> = text.split_inclusive("\n\n").collect();
            events[..events.len().div_ceil(2)].concat()
        };
        match self {
            Fault::SingleBytes => answer.in_chunks_of(1),
            Fault::CarriageReturns => {
                let lines = text().replace("\r\n", "\n").replace('\n', "\r\n");
                answer.with_body(lines, None).in_chunks_of(2)
            }
            Fault::KeepAlives => {
                let spread = text().replace("data: ", ": keep-alive\n\ndata:\n\n: more\ndata: ");
                answer.with_body(spread, None)
            }
            Fault::NoSpace => {
                let tight = text().replace("data: ", "data:");
                answer.with_body(tight, None)
            }
            Fault::MissingUsage => {
                let lines: Vec<String> = text().split_inclusive('\n').map(without_usage).collect();
                answer.with_body(lines.concat(), None)
            }
            Fault::VagueType => answer.header("content-type", "application/octet-stream"),
            Fault::WrongType => answer.header("content-type", "text/html"),
            Fault::HalfBody => {
                let half = half();
                answer.with_body(half, Some(End::Close))
            }
            Fault::HalfThenReset => {
                let half = half();
                answer.with_body(half, Some(End::Reset))
            }
            Fault::HalfThenSilence => {
                let half = half();
                answer.with_body(half, Some(End::Hold))
            }
            Fault::HalfEvent => {
                let half = half() + "data: {\"type\": \"con";
                answer.with_body(half, Some(End::Close))
            }
        }
    }
}

fn without_usage(line: &str) -> String {
    let Some(mut event) = line
        .strip_prefix("data: ")
        .and_then(|data| serde_json::from_str::<Value>(data.trim()).ok())
    else {
        return line.to_owned();
    };
    remove_usage(&mut event);
    format!("data: {event}\n")
}

fn remove_usage(value: &mut Value) {
    if let Some(members) = value.as_object_mut() {
        members.remove("usage");
        members.remove("usageMetadata");
        for name in ["message", "response"] {
            if let Some(inner) = members.get_mut(name) {
                remove_usage(inner);
            }
        }
    }
}
