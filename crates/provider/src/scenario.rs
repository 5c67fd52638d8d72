//! Scenario files: the answers of a model written down, for tests, demonstrations and a first run without a key.
//! `docs/product/scenarios.md` describes the format. Owns reading, checking and matching; how a step travels (as
//! events here, as bytes in a test server) is its reader's business.

use std::{fmt, path::Path, sync::Arc, time::Duration};

use protocol::Usage;
use regex::Regex;
use serde::Deserialize;

/// A checked scenario. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: String,
    pub steps: Arc<[Step]>,
}

#[derive(Clone, Debug)]
pub struct Step {
    /// Where the step begins in its file, from 1.
    pub line: u64,
    pub when: When,
    pub thinking: Option<String>,
    pub text: Option<String>,
    pub calls: Vec<ScriptedCall>,
    pub usage: Option<Usage>,
    pub ending: Ending,
    /// How many requests the step answers; `None` is without end.
    pub uses: Option<u32>,
    /// Characters in each piece of text, reasoning and arguments.
    pub chunk: usize,
    /// Before each piece.
    pub delay: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedCall {
    pub id: Option<String>,
    pub name: String,
    /// The arguments as text; it need not be valid JSON.
    pub arguments: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Complete,
    /// The output limit is reached: the last call's arguments stop half way, else the text does.
    OutputLimit,
    /// The answer ends with the provider's refusal.
    Refusal,
    /// Silence with the connection open.
    Stall,
    /// Before any output the request fails, after some the stream does.
    Error(ScriptedError),
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedError {
    pub kind: ScriptedErrorKind,
    /// The provider's words.
    #[serde(default)]
    pub message: Option<String>,
    /// Seconds.
    #[serde(default)]
    pub retry_after: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptedErrorKind {
    Auth,
    ModelUnknown,
    RateLimited,
    Quota,
    Overloaded,
    Server,
    ContextTooLong,
    Refused,
    InvalidRequest,
    /// The connection is reset.
    Network,
    /// The answer ends without the protocol's terminator.
    StreamBroken,
    /// A web page instead of a stream.
    NotAModel,
}

#[derive(Clone, Debug, Default)]
pub struct When {
    user: Option<Condition>,
    tool_result: Option<Condition>,
}

#[derive(Clone, Debug)]
enum Condition {
    Contains(String),
    Matches(Regex),
}

/// What of a request a step is chosen by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// The text of the last user message that has any.
    pub user: String,
    /// All tool results since the model last spoke, joined by line feeds, where there are any.
    pub tool_result: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}{}: {reason}", line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct ScenarioError {
    pub name: String,
    pub line: Option<u64>,
    pub reason: String,
}

/// No step is left for a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {arrived} {waiting}")]
pub struct Exhausted {
    pub name: String,
    pub arrived: String,
    pub waiting: String,
}

/// A scenario being played: which steps have been used how often.
#[derive(Clone, Debug)]
pub struct Player {
    scenario: Scenario,
    used: Vec<u32>,
}

impl Scenario {
    /// `name` is what errors call the scenario: its path, or a test's name.
    pub fn parse(yaml: &str, name: &str) -> Result<Self, ScenarioError> {
        Ok(Self {
            name: name.to_owned(),
            steps: file::steps(yaml, name)?.into(),
        })
    }

    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let name = path.display().to_string();
        let yaml = std::fs::read_to_string(path).map_err(|error| ScenarioError {
            name: name.clone(),
            line: None,
            reason: format!("it cannot be read: {error}"),
        })?;
        Self::parse(&yaml, &name)
    }
}

impl Player {
    pub fn new(scenario: Scenario) -> Self {
        let used = vec![0; scenario.steps.len()];
        Self { scenario, used }
    }

    /// The first step in file order that has uses left and whose condition holds. It counts as used.
    pub fn next(&mut self, arrived: &Arrived) -> Result<Step, Exhausted> {
        for (step, used) in self.scenario.steps.iter().zip(&mut self.used) {
            if step.has_uses_left(*used) && step.when.holds(arrived) {
                *used += 1;
                return Ok(step.clone());
            }
        }
        Err(self.exhausted(arrived))
    }

    fn exhausted(&self, arrived: &Arrived) -> Exhausted {
        let waiting: Vec<String> = self
            .scenario
            .steps
            .iter()
            .zip(&self.used)
            .filter(|(step, used)| step.has_uses_left(**used))
            .map(|(step, _)| format!("the step at line {} waits for {}", step.line, step.when))
            .collect();
        let result = arrived
            .tool_result
            .as_deref()
            .map(|result| format!(" and the tool result {}", quote(result)));
        Exhausted {
            name: self.scenario.name.clone(),
            arrived: format!(
                "The user message {}{} arrived.",
                quote(&arrived.user),
                result.unwrap_or_default()
            ),
            waiting: match waiting.len() {
                0 => format!("All {} steps have been used.", self.used.len()),
                _ => format!("Not used yet: {}.", waiting.join("; ")),
            },
        }
    }
}

impl Step {
    fn has_uses_left(&self, used: u32) -> bool {
        self.uses.is_none_or(|uses| used < uses)
    }

    /// Pieces as they are sent. Empty text gives no piece.
    pub fn pieces<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest
                .char_indices()
                .nth(self.chunk)
                .map_or(rest.len(), |(at, _)| at);
            let (piece, tail) = rest.split_at(end);
            pieces.push(piece);
            rest = tail;
        }
        pieces
    }

    /// The text as far as it is sent.
    pub fn sent_text(&self) -> &str {
        let text = self.text.as_deref().unwrap_or_default();
        if self.ending == Ending::OutputLimit && self.calls.is_empty() {
            half(text)
        } else {
            text
        }
    }

    /// Each call with its arguments as far as they are sent.
    pub fn sent_calls(&self) -> impl Iterator<Item = (&ScriptedCall, &str)> {
        let last = self.calls.len().saturating_sub(1);
        self.calls.iter().enumerate().map(move |(at, call)| {
            let cut = self.ending == Ending::OutputLimit && at == last;
            (
                call,
                if cut {
                    half(&call.arguments)
                } else {
                    call.arguments.as_str()
                },
            )
        })
    }

    /// Whether anything comes before the ending.
    pub fn says_something(&self) -> bool {
        self.thinking.is_some() || self.text.is_some() || !self.calls.is_empty()
    }
}

fn half(text: &str) -> &str {
    let middle = text.chars().count() / 2;
    let end = text.char_indices().nth(middle).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

fn quote(text: &str) -> String {
    const SHOWN: usize = 120;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("“{}…”", &text[..end]),
        None => format!("“{text}”"),
    }
}

impl When {
    fn holds(&self, arrived: &Arrived) -> bool {
        let user = self
            .user
            .as_ref()
            .is_none_or(|condition| condition.holds(&arrived.user));
        let result = self.tool_result.as_ref().is_none_or(|condition| {
            arrived
                .tool_result
                .as_deref()
                .is_some_and(|result| condition.holds(result))
        });
        user && result
    }
}

impl Condition {
    fn holds(&self, text: &str) -> bool {
        match self {
            Condition::Contains(part) => text.contains(part),
            Condition::Matches(regex) => regex.is_match(text),
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let described: Vec<String> = [
            ("a user message", &self.user),
            ("a tool result", &self.tool_result),
        ]
        .into_iter()
        .filter_map(|(what, condition)| match condition.as_ref()? {
            Condition::Contains(part) => Some(format!("{what} with {}", quote(part))),
            Condition::Matches(regex) => Some(format!("{what} like /{regex}/")),
        })
        .collect();
        f.write_str(if described.is_empty() { "anything" } else { "" })?;
        f.write_str(&described.join(" and "))
    }
}

mod file;
#[cfg(test)]
mod tests;
