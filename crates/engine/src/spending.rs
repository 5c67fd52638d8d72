//! What a session may cost, and has cost. Owns the hard cap, which stops before the request that could pass it, and
//! the warning before that. How much a request costs is the gateway's knowledge.

use protocol::{ErrorCode, RuntimeError, Usage};
use provider::Answer;
use serde::{Deserialize, Serialize};
use store::SpendingSettings;

use crate::turn::Turn;

/// Kept in the session's row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// Read and written.
    pub tokens: u64,
    /// As far as prices are known, in US dollars.
    pub dollars: f64,
    /// The warning has been given.
    pub warned: bool,
}

const KEY: &str = "spent";

/// Whether the next request fits, judged by the most it can cost: all of its input, and the longest answer.
pub fn allow(turn: &Turn, input: u64, longest_answer: u64) -> Result<(), RuntimeError> {
    let limits = turn.rooms.home.settings()?.spending;
    let mut spent = of_session(turn);
    let most = Usage {
        input,
        output: longest_answer,
        ..Usage::default()
    };
    let price = turn.rooms.cost(&turn.provider, &turn.model, &most);
    judge(&limits, &spent, input + longest_answer, price)?;
    if !spent.warned
        && let Some(words) = warning(&limits, &spent)
    {
        turn.note(words);
        spent.warned = true;
        store(turn, spent)?;
    }
    Ok(())
}

/// Adds what an answer cost, at the prices of the model that gave it. Returns them, where they are known.
pub fn record(turn: &Turn, answer: &Answer) -> Result<Option<f64>, RuntimeError> {
    let (provider, model) = match &answer.message.origin {
        Some(origin) => (origin.provider.as_str(), origin.model.as_str()),
        None => (turn.provider.as_str(), turn.model.as_str()),
    };
    let cost = turn.rooms.cost(provider, model, &answer.usage);
    let mut spent = of_session(turn);
    spent.tokens += answer.usage.input + answer.usage.output;
    spent.dollars += cost.unwrap_or(0.0);
    store(turn, spent)?;
    Ok(cost)
}

fn of_session(turn: &Turn) -> Spent {
    serde_json::from_value(turn.session.row().settings[KEY].clone()).unwrap_or_default()
}

fn store(turn: &Turn, spent: Spent) -> Result<(), RuntimeError> {
    let value = serde_json::to_value(spent).map_err(RuntimeError::internal)?;
    turn.session.keep(KEY, value)
}

fn judge(
    limits: &SpendingSettings,
    spent: &Spent,
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
    Ok(())
}

fn reached(message: String, because: String, setting: &str) -> RuntimeError {
    RuntimeError::new(ErrorCode::SessionLimit, message)
        .because(because)
        .action(format!(
            "Nothing was sent. Start a new session, or raise the limit: vibe-coder settings set {setting} …"
        ))
}

fn warning(limits: &SpendingSettings, spent: &Spent) -> Option<String> {
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
    fn the_cap_stops_before_it_is_passed_and_the_warning_comes_at_its_mark() {
        let limits = SpendingSettings {
            session_dollars: Some(1.0),
            session_tokens: Some(1_000),
            warn_dollars: Some(0.5),
            warn_tokens: Some(900),
        };
        for (tokens, dollars, next, price, stopped, warned) in [
            (0, 0.0, 1_000, Some(1.0), None, false),
            (0, 0.0, 1_001, None, Some("sessionTokens"), false),
            (900, 0.0, 100, None, None, true),
            (0, 0.6, 10, Some(0.4), None, true),
            (0, 0.6, 10, Some(0.41), Some("sessionDollars"), true),
            // A price that is not known cannot be held to a limit of money.
            (0, 0.6, 10, None, None, true),
        ] {
            let spent = Spent {
                tokens,
                dollars,
                warned: false,
            };
            let judged = judge(&limits, &spent, next, price);
            match (judged, stopped) {
                (Ok(()), None) => {}
                (Err(error), Some(setting)) => {
                    assert_eq!(error.code, ErrorCode::SessionLimit);
                    assert!(error.user_action.unwrap().contains(setting));
                }
                (judged, stopped) => panic!("{spent:?}: {judged:?}, expected {stopped:?}"),
            }
            assert_eq!(warning(&limits, &spent).is_some(), warned, "{spent:?}");
        }
        assert!(
            judge(
                &SpendingSettings::default(),
                &Spent::default(),
                u64::MAX / 2,
                Some(1e9)
            )
            .is_ok()
        );
    }
}
