//! How providers have been doing (§14.5), told to a person: the outcomes of the last two days, folded and put into
//! words. Sends nothing.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use protocol::{
    Millis, Spending,
    request::{HealthState, ProviderHealth, ProviderSummary, ProvidersHealthResult},
};
use provider::{
    Health, Outcome, ProviderErrorKind as Kind, error::duration_words, health::Validation, presets,
};
use store::ledger::{Day, Ledger};

use crate::spending::was_charged;

/// Failures in a row after which a provider is said to be failing.
const FAILING_AFTER: u32 = 2;

/// Of the providers that are ready or have been tried.
pub fn of(
    ledger: &Ledger,
    providers: &[ProviderSummary],
    keys_written: Option<SystemTime>,
    now: SystemTime,
) -> ProvidersHealthResult {
    let today = Day::of(millis(now));
    // A ledger that cannot be read says nothing.
    let read = |day: &Day| {
        ledger
            .read::<Outcome>(day, 0)
            .map(|(read, _)| read)
            .unwrap_or_default()
    };
    let mut known: BTreeMap<String, (Health, Spending)> = BTreeMap::new();
    let mut spent = Spending::default();
    for day in [Day::before(millis(now)), today.clone()] {
        for outcome in read(&day) {
            let (health, of_provider) = known.entry(outcome.provider.clone()).or_default();
            health.record(&outcome);
            if day == today && was_charged(&outcome) {
                spent.add(&outcome.usage, outcome.dollars);
                of_provider.add(&outcome.usage, outcome.dollars);
            }
        }
    }
    let shown = providers.iter().filter_map(|provider| {
        let tried = known.remove(&provider.id);
        // Servers on this machine want no key, so they always seem ready; most people run none of them.
        let is_known =
            provider.family != "scripted" && !presets::local_servers().contains(&provider.id.as_str());
        if tried.is_none() && !(provider.ready && is_known) {
            return None;
        }
        let (mut health, today) = tried.unwrap_or_default();
        forget_old_key(&mut health, keys_written);
        Some(shown(provider, &health, today, now))
    });
    ProvidersHealthResult {
        providers: shown.collect(),
        today: spent,
    }
}

/// A key that was stored since may be the right one.
fn forget_old_key(health: &mut Health, keys_written: Option<SystemTime>) {
    if let Validation::Failed {
        kind: Kind::Auth | Kind::NoKey,
        at,
    } = health.validation
        && keys_written.is_some_and(|written| written > at)
    {
        health.validation = Validation::Unknown;
        health.consecutive_failures = 0;
    }
}

fn shown(provider: &ProviderSummary, health: &Health, today: Spending, now: SystemTime) -> ProviderHealth {
    let limited_until = health.limited_until.filter(|until| *until > now);
    let (state, summary) = state(health, limited_until, now);
    ProviderHealth {
        id: provider.id.clone(),
        state,
        summary,
        last_success: health.last_success.map(millis),
        consecutive_failures: health.consecutive_failures.into(),
        limited_until: limited_until.map(millis),
        first_byte_ms: health
            .latency
            .map(|latency| u64::try_from(latency.as_millis()).unwrap_or(u64::MAX)),
        streams_whole: health.streams.good,
        streams_broken: health.streams.bad,
        calls_readable: health.calls.good,
        calls_unreadable: health.calls.bad,
        unknown_models: health.unknown_models.iter().cloned().collect(),
        today,
    }
}

fn state(health: &Health, limited_until: Option<SystemTime>, now: SystemTime) -> (HealthState, String) {
    let ago = |at: SystemTime| duration_words(now.duration_since(at).unwrap_or(Duration::ZERO));
    if let Validation::Failed { kind, at } = health.validation
        && health.hard_failure("", now).is_some()
    {
        let words = match kind {
            Kind::Quota => "Its credit or limit was used up",
            _ => "It did not accept the key",
        };
        let way_out = match kind {
            Kind::Quota => "Add credit there.",
            _ => "Set a valid key.",
        };
        return (
            HealthState::Unusable,
            format!("{words} {} ago. {way_out}", ago(at)),
        );
    }
    if let Some(until) = limited_until {
        let wait = duration_words(until.duration_since(now).unwrap_or_default());
        return (HealthState::Limited, format!("It asked us to wait {wait} more."));
    }
    if health.consecutive_failures >= FAILING_AFTER {
        return (
            HealthState::Failing,
            format!("The last {} requests failed.", health.consecutive_failures),
        );
    }
    match health.last_success {
        Some(at) => (HealthState::Working, format!("It answered {} ago.", ago(at))),
        None if health.consecutive_failures > 0 => {
            (HealthState::Failing, "The last request failed.".to_owned())
        }
        None => (
            HealthState::Untried,
            "Not asked in the last two days. `vibe-coder providers check` tries it out.".to_owned(),
        ),
    }
}

fn millis(time: SystemTime) -> Millis {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use protocol::Usage;
    use store::DataHome;

    use super::*;

    fn summary(id: &str, ready: bool) -> ProviderSummary {
        ProviderSummary {
            id: id.into(),
            family: "openai-chat".into(),
            is_default: false,
            ready,
            problem: None,
            base_url: String::new(),
            models: Vec::new(),
            key_variable: None,
        }
    }

    #[test]
    fn each_state_is_told_from_what_happened() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = DataHome::at(folder.path().to_owned()).ledger();
        let now = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let at = |seconds: u64| millis(now - Duration::from_secs(seconds));
        let usage = Usage {
            input: 90,
            output: 10,
            ..Usage::default()
        };
        for (provider, seconds, failure, dollars) in [
            ("good", 90, None, Some(0.25)),
            ("good", 60, None, None),
            ("good", 30, Some(Kind::StreamBroken), None),
            ("locked", 60, Some(Kind::Auth), None),
            ("mended", 60, Some(Kind::Auth), None),
            ("empty", 60, Some(Kind::Quota), None),
            ("busy", 5, Some(Kind::RateLimited), None),
            ("down", 20, Some(Kind::Network), None),
            ("down", 10, Some(Kind::Network), None),
            ("yesterday", 20 * 3600, None, Some(5.0)),
        ] {
            let usage = if failure.is_none() {
                usage
            } else {
                Usage::default()
            };
            let outcome = Outcome {
                at: at(seconds),
                provider: provider.into(),
                model: "m".into(),
                failure,
                usage,
                dollars,
                ..Outcome::default()
            };
            ledger.append(outcome.at, &outcome).unwrap();
        }
        let names = [
            "good",
            "locked",
            "empty",
            "busy",
            "down",
            "yesterday",
            "fresh",
            "ollama",
            "missing",
        ];
        let providers: Vec<ProviderSummary> = names.iter().map(|id| summary(id, *id != "missing")).collect();
        let told = of(&ledger, &providers, None, now);
        let states: Vec<(&str, HealthState)> = told
            .providers
            .iter()
            .map(|provider| (provider.id.as_str(), provider.state))
            .collect();
        assert_eq!(
            states,
            [
                ("good", HealthState::Working),
                ("locked", HealthState::Unusable),
                ("empty", HealthState::Unusable),
                ("busy", HealthState::Limited),
                ("down", HealthState::Failing),
                ("yesterday", HealthState::Working),
                ("fresh", HealthState::Untried),
            ]
        );
        let good = &told.providers[0];
        assert_eq!((good.streams_whole, good.streams_broken), (2, 1));
        assert_eq!(
            told.today,
            Spending {
                tokens: 200,
                dollars: 0.25,
                unpriced: 1
            }
        );
        // A key that was stored since is not held to what its predecessor did.
        let mended = of(&ledger, &[summary("mended", true)], Some(now), now);
        assert_eq!(mended.providers[0].state, HealthState::Untried);
    }
}
