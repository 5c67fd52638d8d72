//! What keeps a turn from going on for ever: its limits of requests, time, tokens and money, and the signs that it does
//! not get on. Each ends the turn in a plain sentence that leaves the choice to the user.

use std::{collections::HashMap, time::Duration};

use protocol::{ErrorCode, RuntimeError, ToolId, ToolResult, Usage};
use store::TurnSettings;

use crate::tools::router::Call;

/// Model requests in one turn where the settings say nothing.
const MAX_REQUESTS: u32 = 100;
/// The same call with the same result: so often until the model is told, and until the turn ends.
const REPEATS_TOLD: u32 = 3;
const REPEATS_END: u32 = 6;
/// Rounds in a row of which no call succeeded.
const FAILED_ROUNDS: u32 = 8;

#[derive(Default)]
pub struct Guard {
    limits: TurnSettings,
    requests: u32,
    /// Call and result, without what differs from run to run, and how often they came.
    seen: HashMap<(String, String, String), u32>,
    failed_rounds: u32,
}

impl Guard {
    pub fn new(limits: TurnSettings) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// The time that is left to a turn which may have a limit of its own.
    pub fn time_limit(limits: &TurnSettings, own: Option<Duration>) -> Option<Duration> {
        let general = limits.seconds.map(Duration::from_secs);
        match (own, general) {
            (Some(own), Some(general)) => Some(own.min(general)),
            (own, general) => own.or(general),
        }
    }

    /// Whether one more request may be made after what the turn has used.
    pub fn before_request(&mut self, used: &Usage, cost: Option<f64>) -> Result<(), RuntimeError> {
        let most = self.limits.requests.unwrap_or(MAX_REQUESTS);
        if self.requests >= most {
            return Err(reached(
                format!("The assistant made {most} model requests in this turn without finishing."),
                "turn.requests",
            ));
        }
        let tokens = used.input + used.output;
        if let Some(most) = self.limits.tokens
            && tokens >= most
        {
            return Err(reached(
                format!("This turn has used {tokens} tokens; its limit is {most}."),
                "turn.tokens",
            ));
        }
        if let (Some(most), Some(cost)) = (self.limits.dollars, cost)
            && cost >= most
        {
            return Err(reached(
                format!("This turn has cost ${cost:.4}; its limit is ${most:.2}."),
                "turn.dollars",
            ));
        }
        self.requests += 1;
        Ok(())
    }

    /// Looks at a round of calls. A result that came before is marked as such for the model; one that comes again and
    /// again, and rounds in which everything fails, end the turn.
    pub fn after_round(&mut self, calls: &[Call], results: &mut [ToolResult]) -> Result<(), RuntimeError> {
        if results.is_empty() {
            return Ok(());
        }
        for (call, result) in calls.iter().zip(results.iter_mut()) {
            if waits_on_purpose(&call.name) {
                continue;
            }
            let key = (
                call.name.clone(),
                call.arguments.to_string(),
                without_numbers(&result.content),
            );
            let times = self.seen.entry(key).or_default();
            *times += 1;
            if *times >= REPEATS_END {
                return Err(stuck(format!(
                    "The assistant made the same call {times} times and learned nothing new: {}.",
                    shown(call)
                )));
            }
            if *times >= REPEATS_TOLD {
                result.content.push_str(&format!(
                    "\n\n[You have made exactly this call {times} times with the same result. Do something else, or end and say \
                     what is in the way.]"
                ));
            }
        }
        self.failed_rounds = match results.iter().all(|result| !result.ok) {
            true => self.failed_rounds + 1,
            false => 0,
        };
        if self.failed_rounds >= FAILED_ROUNDS {
            let last = results
                .last()
                .map(|result| result.summary.clone())
                .unwrap_or_default();
            return Err(stuck(format!(
                "{FAILED_ROUNDS} times in a row nothing the assistant tried worked."
            ))
            .because(last));
        }
        Ok(())
    }
}

/// Looking again at what runs is no repetition, nor is checking again.
fn waits_on_purpose(name: &str) -> bool {
    matches!(
        ToolId::from_name(name),
        Some(ToolId::CheckCommand | ToolId::RunChecks)
    )
}

/// Durations, process ids and the like differ from run to run and say nothing.
fn without_numbers(text: &str) -> String {
    text.chars()
        .filter(|character| !character.is_ascii_digit())
        .collect()
}

fn shown(call: &Call) -> String {
    let mut arguments = call.arguments.to_string();
    if let Some((cut, _)) = arguments.char_indices().nth(120) {
        arguments.truncate(cut);
        arguments.push('…');
    }
    format!("{} {arguments}", call.name)
}

fn reached(message: String, setting: &str) -> RuntimeError {
    RuntimeError::new(ErrorCode::SessionLimit, message).action(format!(
        "Look at what it did, then send “continue” to let it go on, or tell it what to do differently. The limit is the \
         setting {setting}."
    ))
}

fn stuck(message: String) -> RuntimeError {
    RuntimeError::new(ErrorCode::SessionLimit, message)
        .action("Tell it what to do differently, or send “continue” to let it go on. What it proposed so far can be reviewed.")
}

#[cfg(test)]
mod tests {
    use protocol::ToolCallId;
    use serde_json::json;

    use super::*;

    fn call(name: &str, path: &str) -> Call {
        Call {
            id: ToolCallId("call".to_owned()),
            name: name.to_owned(),
            arguments: json!({ "path": path }),
            invalid: None,
        }
    }

    fn result(ok: bool, content: &str) -> ToolResult {
        ToolResult {
            ok,
            tool_call_id: ToolCallId("call".to_owned()),
            name: String::new(),
            started_at: 0,
            completed_at: 0,
            duration_ms: 0,
            content: content.to_owned(),
            data: None,
            error: None,
            artifacts: Vec::new(),
            summary: content.to_owned(),
        }
    }

    #[test]
    fn each_limit_ends_with_its_setting_named() {
        let used = Usage {
            input: 900,
            output: 100,
            ..Usage::default()
        };
        let limit = |limits: TurnSettings| Guard::new(limits).before_request(&used, Some(0.5));
        assert!(limit(TurnSettings::default()).is_ok());
        let none = TurnSettings::default();
        for (limits, setting) in [
            (
                TurnSettings {
                    requests: Some(0),
                    ..none
                },
                "turn.requests",
            ),
            (
                TurnSettings {
                    tokens: Some(1_000),
                    ..none
                },
                "turn.tokens",
            ),
            (
                TurnSettings {
                    dollars: Some(0.5),
                    ..none
                },
                "turn.dollars",
            ),
        ] {
            let error = limit(limits).unwrap_err();
            assert_eq!(error.code, ErrorCode::SessionLimit);
            assert!(error.user_action.unwrap().contains(setting));
        }
        assert!(
            limit(TurnSettings {
                tokens: Some(1_001),
                dollars: Some(0.51),
                ..none
            })
            .is_ok()
        );
        let seconds = TurnSettings {
            seconds: Some(5),
            ..none
        };
        let own = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(Guard::time_limit(&seconds, own(9)), own(5));
        assert_eq!(Guard::time_limit(&seconds, own(3)), own(3));
        assert_eq!(Guard::time_limit(&none, None), None);
    }

    #[test]
    fn a_call_that_brings_nothing_new_is_told_and_then_ends_the_turn() {
        let mut guard = Guard::default();
        let mut told = Vec::new();
        let ended = (1..20).find_map(|round| {
            // Only the time that it took differs.
            let mut results = [result(true, &format!("Exit 1. (0.{round} s)"))];
            let ended = guard.after_round(&[call("run_command", "a")], &mut results).err();
            told.push(results[0].content.contains("Do something else"));
            ended.map(|error| (round, error))
        });
        let (round, error) = ended.unwrap();
        assert_eq!((round, error.code), (6, ErrorCode::SessionLimit));
        assert_eq!(told, [false, false, true, true, true, false]);
        // Another result, another path, and looking at what runs are no repetition.
        let mut guard = Guard::default();
        for round in 0..20 {
            let other = "x".repeat(round);
            assert!(
                guard
                    .after_round(&[call("read_file", "a")], &mut [result(true, &other)])
                    .is_ok()
            );
            assert!(
                guard
                    .after_round(&[call("read_file", &other)], &mut [result(true, "same")])
                    .is_ok()
            );
            assert!(
                guard
                    .after_round(&[call("check_command", "a")], &mut [result(true, "runs")])
                    .is_ok()
            );
        }
    }

    #[test]
    fn rounds_in_which_everything_fails_end_the_turn_and_one_success_counts_anew() {
        let round = |guard: &mut Guard, ok: bool, number: usize| {
            guard.after_round(
                &[call("edit_file", &"x".repeat(number))],
                &mut [result(ok, "no such text")],
            )
        };
        let mut guard = Guard::default();
        for number in 0..7 {
            assert!(round(&mut guard, false, number).is_ok());
        }
        assert!(round(&mut guard, true, 7).is_ok());
        for number in 8..15 {
            assert!(round(&mut guard, false, number).is_ok());
        }
        let error = round(&mut guard, false, 15).unwrap_err();
        assert_eq!(error.detail.as_deref(), Some("no such text"));
    }
}
