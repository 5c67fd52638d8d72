//! The written form of a scenario: its keys, and what is checked of them. Unknown keys are errors, so that a
//! misspelt one is not silently without effect.

use std::time::Duration;

use protocol::Usage;
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;
use serde_saphyr::Spanned;

use super::{Condition, Ending, ScenarioError, ScriptedCall, ScriptedError, Step, When};

pub(super) fn steps(yaml: &str, name: &str) -> Result<Vec<Step>, ScenarioError> {
    let fault = |line, reason| ScenarioError {
        name: name.to_owned(),
        line,
        reason,
    };
    let file: File = serde_saphyr::from_str(yaml).map_err(|error| {
        let line = error
            .location()
            .map(|location| location.line())
            .filter(|line| *line > 0);
        fault(line, error.without_snippet().to_string())
    })?;
    if file.steps.is_empty() {
        return Err(fault(None, "there are no steps".to_owned()));
    }
    file.steps
        .into_iter()
        .map(|step| {
            let line = step.referenced.line();
            check(step.value, line).map_err(|reason| fault(Some(line), reason))
        })
        .collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    steps: Vec<Spanned<RawStep>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    #[serde(default)]
    when: RawWhen,
    thinking: Option<String>,
    text: Option<String>,
    #[serde(default)]
    tools: Vec<RawCall>,
    usage: Option<RawUsage>,
    error: Option<ScriptedError>,
    #[serde(default)]
    cut: bool,
    #[serde(default)]
    refuse: bool,
    #[serde(default)]
    stall: bool,
    repeat: Option<Value>,
    chunk: Option<usize>,
    #[serde(default)]
    delay_ms: u64,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawWhen {
    user: Option<String>,
    user_regex: Option<String>,
    tool_result: Option<String>,
    tool_result_regex: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCall {
    name: String,
    id: Option<String>,
    arguments: Option<Value>,
    arguments_text: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawUsage {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    reasoning: u64,
}

/// The size of a piece where a step names none: about what a model sends at once.
const DEFAULT_CHUNK: usize = 16;

fn check(raw: RawStep, line: u64) -> Result<Step, String> {
    let RawStep {
        when,
        thinking,
        text,
        tools,
        usage,
        error,
        cut,
        refuse,
        stall,
        repeat,
        chunk,
        delay_ms,
    } = raw;
    let mut endings: Vec<Ending> = error.map(Ending::Error).into_iter().collect();
    for (wanted, ending) in [
        (cut, Ending::OutputLimit),
        (refuse, Ending::Refusal),
        (stall, Ending::Stall),
    ] {
        if wanted {
            endings.push(ending);
        }
    }
    if endings.len() > 1 {
        return Err("a step ends in one way only: choose one of error, cut, refuse and stall".to_owned());
    }
    let step = Step {
        line,
        when: When {
            user: condition("user", when.user, when.user_regex)?,
            tool_result: condition("tool_result", when.tool_result, when.tool_result_regex)?,
        },
        thinking,
        text,
        calls: tools.into_iter().map(call).collect::<Result<_, _>>()?,
        usage: usage.map(|usage| Usage {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            reasoning: usage.reasoning,
        }),
        ending: endings.pop().unwrap_or(Ending::Complete),
        uses: uses(repeat)?,
        chunk: match chunk {
            Some(0) => return Err("chunk must be at least 1".to_owned()),
            Some(size) => size,
            None => DEFAULT_CHUNK,
        },
        delay: Duration::from_millis(delay_ms),
    };
    if !step.says_something() && matches!(step.ending, Ending::Complete | Ending::OutputLimit) {
        return Err("the step answers nothing: give it text, thinking, tools, error or stall".to_owned());
    }
    Ok(step)
}

fn condition(key: &str, part: Option<String>, regex: Option<String>) -> Result<Option<Condition>, String> {
    match (part, regex) {
        (Some(_), Some(_)) => Err(format!("use {key} or {key}_regex, not both")),
        (Some(part), None) => Ok(Some(Condition::Contains(part))),
        (None, Some(pattern)) => match Regex::new(&pattern) {
            Ok(regex) => Ok(Some(Condition::Matches(regex))),
            Err(error) => Err(format!("{key}_regex is not a regular expression: {error}")),
        },
        (None, None) => Ok(None),
    }
}

fn call(raw: RawCall) -> Result<ScriptedCall, String> {
    let arguments = match (raw.arguments, raw.arguments_text) {
        (Some(_), Some(_)) => return Err("use arguments or arguments_text, not both".to_owned()),
        (Some(value @ Value::Object(_)), None) => value.to_string(),
        (Some(_), None) => {
            return Err("arguments must be a mapping; use arguments_text for anything else".to_owned());
        }
        (None, Some(text)) => text,
        (None, None) => "{}".to_owned(),
    };
    Ok(ScriptedCall {
        id: raw.id,
        name: raw.name,
        arguments,
    })
}

fn uses(repeat: Option<Value>) -> Result<Option<u32>, String> {
    match repeat {
        None => Ok(Some(1)),
        Some(Value::String(word)) if word == "always" => Ok(None),
        Some(value) => match value.as_u64().and_then(|times| u32::try_from(times).ok()) {
            Some(times) if times > 0 => Ok(Some(times)),
            _ => Err("repeat must be a number from 1, or the word always".to_owned()),
        },
    }
}
