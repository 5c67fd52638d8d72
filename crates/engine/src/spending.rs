//! What a session and a day may cost, and have cost. Owns the hard caps, which stop before the request that could pass
//! them, and the warnings before that. How much a request costs is the gateway's knowledge.

use std::sync::{Mutex, PoisonError};

use protocol::{ErrorCode, Millis, RuntimeError, Spending, Usage};
use provider::{Answer, Origin, Outcome};
use serde::{Deserialize, Serialize};
use store::{
    SpendingSettings,
    ledger::{Day, Ledger},
};

use crate::turn::Turn;

/// Kept in the session's row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    #[serde(flatten)]
    pub sum: Spending,
    /// The warning has been given.
    pub warned: bool,
    /// The warning about the day has been given.
    pub warned_of_day: bool,
}

const KEY: &str = "spent";

/// The sum of a day over all engines of the user, read on from where the last look ended.
pub struct DaySum {
    ledger: Ledger,
    seen: Mutex<Option<Seen>>,
}

#[derive(Clone)]
struct Seen {
    day: Day,
    end: u64,
    sum: Spending,
}

impl DaySum {
    pub fn new(ledger: Ledger) -> Self {
        Self {
            ledger,
            seen: Mutex::default(),
        }
    }

    /// A ledger that cannot be read costs its figures and no work.
    pub fn at(&self, now: Millis) -> Spending {
        let day = Day::of(now);
        let mut known = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = known.take().filter(|seen| seen.day == day);
        let mut seen = seen.unwrap_or_else(|| Seen {
            day,
            end: 0,
            sum: Spending::default(),
        });
        if let Ok((outcomes, end)) = self.ledger.read::<Outcome>(&seen.day, seen.end) {
            seen.end = end;
            for outcome in outcomes.iter().filter(|outcome| was_charged(outcome)) {
                seen.sum.add(&outcome.usage, outcome.dollars);
            }
        }
        let sum = seen.sum;
        *known = Some(seen);
        sum
    }
}

/// A request that failed before the model read it cost nothing.
pub fn was_charged(outcome: &Outcome) -> bool {
    outcome.failure.is_none() || outcome.usage != Usage::default()
}

/// Who may answer the next request.
pub struct Allowed {
    pub fallbacks: Vec<Origin>,
    /// Left out because they could pass a limit.
    pub too_dear: Vec<Origin>,
}

/// Whether the next request fits, judged by the most it can cost: all of its input, and the longest answer. Each
/// provider that may answer is judged by its own price.
pub fn allow(turn: &Turn, input: u64, longest_answer: u64) -> Result<Allowed, RuntimeError> {
    let limits = turn.rooms.home.settings()?.spending;
    let mut spent = of_session(turn);
    let today = turn.rooms.day_sum.at(turn.rooms.sink.now());
    let most = Usage {
        input,
        output: longest_answer,
        ..Usage::default()
    };
    let tokens = input + longest_answer;
    let judged = |provider: &str, model: &str| {
        let price = turn.rooms.cost(provider, model, &most);
        judge(&limits, &spent.sum, &today, tokens, price)
    };
    judged(&turn.provider, &turn.model)?;
    let (fallbacks, too_dear) = turn
        .fallbacks()
        .iter()
        .cloned()
        .partition(|other| judged(&other.provider, &other.model).is_ok());
    let words: Vec<String> = warnings(&limits, &mut spent, &today);
    if !words.is_empty() {
        words.into_iter().for_each(|words| turn.note(words));
        store(turn, spent)?;
    }
    Ok(Allowed { fallbacks, too_dear })
}

/// What an answer cost, and what has been spent with it.
pub struct Recorded {
    /// At the prices of the model that answered, where they are known.
    pub cost: Option<f64>,
    pub session: Spending,
    pub today: Spending,
}

/// `estimated` stands in for the input where the provider counts nothing, as some local servers do: a limit of tokens
/// must hold there, too.
pub fn record(turn: &Turn, answer: &Answer, estimated: u64) -> Result<Recorded, RuntimeError> {
    let (provider, model) = match &answer.message.origin {
        Some(origin) => (origin.provider.as_str(), origin.model.as_str()),
        None => (turn.provider.as_str(), turn.model.as_str()),
    };
    let usage = match answer.usage == Usage::default() {
        true => Usage {
            input: estimated,
            output: serde_json::to_string(&answer.message)
                .map_or(0, |said| prompt::TokenBudgetManager::estimate(&said)),
            ..Usage::default()
        },
        false => answer.usage,
    };
    let cost = turn.rooms.cost(provider, model, &usage);
    let mut spent = of_session(turn);
    spent.sum.add(&usage, cost);
    store(turn, spent)?;
    Ok(Recorded {
        cost,
        session: spent.sum,
        today: turn.rooms.day_sum.at(turn.rooms.sink.now()),
    })
}

/// What a session's row says was spent.
pub fn in_row(settings: &serde_json::Value) -> Spent {
    serde_json::from_value(settings[KEY].clone()).unwrap_or_default()
}

fn of_session(turn: &Turn) -> Spent {
    in_row(&turn.session.row().settings)
}

fn store(turn: &Turn, spent: Spent) -> Result<(), RuntimeError> {
    let value = serde_json::to_value(spent).map_err(RuntimeError::internal)?;
    turn.session.keep(KEY, value)
}

fn judge(
    limits: &SpendingSettings,
    spent: &Spending,
    today: &Spending,
    tokens: u64,
    price: Option<f64>,
) -> Result<(), RuntimeError> {
    if let Some(cap) = limits.session_tokens
        && spent.tokens + tokens > cap
    {
        return Err(reached(
            format!("The next request could pass this session's limit of {cap} tokens."),
            format!("{} are used; the request could use {tokens}.", spent.tokens),
            "spending.sessionTokens",
        ));
    }
    if let (Some(cap), Some(price)) = (limits.session_dollars, price)
        && spent.dollars + price > cap
    {
        return Err(reached(
            format!("The next request could pass this session's limit of ${cap:.2}."),
            format!(
                "${:.4} is spent; the request could cost ${price:.4}.",
                spent.dollars
            ),
            "spending.sessionDollars",
        ));
    }
    if let (Some(cap), Some(price)) = (limits.day_dollars, price)
        && today.dollars + price > cap
    {
        return Err(reached(
            format!("The next request could pass today's limit of ${cap:.2}."),
            format!(
                "${:.4} is spent today (UTC), over all workspaces; the request could cost ${price:.4}.",
                today.dollars
            ),
            "spending.dayDollars",
        ));
    }
    Ok(())
}

fn reached(message: String, because: String, setting: &str) -> RuntimeError {
    RuntimeError::new(ErrorCode::SessionLimit, message)
        .because(because)
        .action(format!(
            "Nothing was sent. {} raise the limit: vibe-coder settings set {setting} …",
            match setting {
                "spending.dayDollars" => "Wait for tomorrow, or",
                _ => "Start a new session, or",
            }
        ))
}

/// Each is given once; `spent` remembers that.
fn warnings(limits: &SpendingSettings, spent: &mut Spent, today: &Spending) -> Vec<String> {
    let mut words = Vec::new();
    if let (false, Some(warning)) = (spent.warned, session_warning(limits, &spent.sum)) {
        spent.warned = true;
        words.push(warning);
    }
    if let (false, Some(mark)) = (spent.warned_of_day, limits.warn_day_dollars)
        && today.dollars >= mark
    {
        spent.warned_of_day = true;
        words.push(format!("Today has cost ${:.2} so far.", today.dollars));
    }
    words
}

fn session_warning(limits: &SpendingSettings, spent: &Spending) -> Option<String> {
    if let Some(mark) = limits.warn_dollars
        && spent.dollars >= mark
    {
        return Some(format!("This session has cost ${:.2} so far.", spent.dollars));
    }
    let mark = limits.warn_tokens?;
    (spent.tokens >= mark).then(|| format!("This session has used {} tokens so far.", spent.tokens))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caps_stop_before_they_are_passed_and_each_warning_comes_once() {
        let limits = SpendingSettings {
            session_dollars: Some(1.0),
            session_tokens: Some(1_000),
            warn_dollars: Some(0.5),
            warn_tokens: Some(900),
            day_dollars: Some(3.0),
            warn_day_dollars: Some(2.0),
        };
        for (tokens, dollars, day, next, price, stopped, warned) in [
            (0, 0.0, 0.0, 1_000, Some(1.0), None, 0),
            (0, 0.0, 0.0, 1_001, None, Some("sessionTokens"), 0),
            (900, 0.0, 0.0, 100, None, None, 1),
            (0, 0.6, 2.0, 10, Some(0.4), None, 2),
            (0, 0.6, 2.0, 10, Some(0.41), Some("sessionDollars"), 2),
            (0, 0.0, 2.5, 10, Some(0.51), Some("dayDollars"), 1),
            // A price that is not known cannot be held to a limit of money.
            (0, 0.6, 9.0, 10, None, None, 2),
        ] {
            let dollars_only = |dollars| Spending {
                dollars,
                ..Spending::default()
            };
            let mut spent = Spent {
                sum: Spending {
                    tokens,
                    ..dollars_only(dollars)
                },
                ..Spent::default()
            };
            let today = dollars_only(day);
            match (judge(&limits, &spent.sum, &today, next, price), stopped) {
                (Ok(()), None) => {}
                (Err(error), Some(setting)) => {
                    assert_eq!(error.code, ErrorCode::SessionLimit);
                    assert!(error.user_action.unwrap().contains(setting));
                }
                (judged, stopped) => panic!("{spent:?}: {judged:?}, expected {stopped:?}"),
            }
            assert_eq!(warnings(&limits, &mut spent, &today).len(), warned, "{spent:?}");
            assert!(warnings(&limits, &mut spent, &today).is_empty());
        }
        let none = Spending::default();
        assert!(
            judge(
                &SpendingSettings::default(),
                &none,
                &none,
                u64::MAX / 2,
                Some(1e9)
            )
            .is_ok()
        );
    }
}
