//! How each provider has been doing, folded from the outcomes of its requests (§14.5). Pure bookkeeping: it sends
//! and keeps nothing.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, SystemTime},
};

use protocol::{Millis, Usage};
use serde::{Deserialize, Serialize};

use crate::error::ProviderErrorKind as Kind;

/// What became of one request, without its contents. Their order makes a provider's [`Health`], their sum what was
/// spent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Outcome {
    /// When it ended.
    pub at: Millis,
    pub provider: String,
    pub model: String,
    /// Nothing for a request that was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Kind>,
    /// How long the provider asked us to wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// From sending to the answer's first byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<u64>,
    /// Tool calls of the answer.
    pub calls: Tally,
    pub usage: Usage,
    /// In US dollars; nothing where the price is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dollars: Option<f64>,
}

/// Who is told of every request's outcome, on the request's own task.
pub type Observer = Arc<dyn Fn(&Outcome) + Send + Sync>;

/// A used-up quota may have been filled up after this time.
const QUOTA_MEMORY: Duration = Duration::from_secs(10 * 60);
/// How long a rate limit is taken to hold where the provider does not say.
const USUAL_LIMIT: Duration = Duration::from_secs(30);

/// What is known of a provider's state. Empty until its first request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Health {
    pub validation: Validation,
    pub last_success: Option<SystemTime>,
    pub consecutive_failures: u32,
    /// Until when the provider asked us to wait.
    pub limited_until: Option<SystemTime>,
    /// From sending to the first byte of the answer, the newest counting most.
    pub latency: Option<Duration>,
    /// Streams that began: whether they came to their end.
    pub streams: Tally,
    /// Tool calls: whether their arguments could be read.
    pub calls: Tally,
    /// Models that the provider said it does not have.
    pub unknown_models: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    #[default]
    Unknown,
    /// The key and the address have worked.
    Good,
    /// Nothing will work until somebody changes something.
    Failed { kind: Kind, at: SystemTime },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    pub good: u64,
    pub bad: u64,
}

impl Tally {
    pub(crate) fn count(&mut self, is_good: bool) {
        match is_good {
            true => self.good += 1,
            false => self.bad += 1,
        }
    }
}

impl Health {
    /// Why a request for this model is known to fail. Routing passes such a provider by unless the user names it.
    pub fn hard_failure(&self, model: &str, now: SystemTime) -> Option<Kind> {
        if self.unknown_models.contains(model) {
            return Some(Kind::ModelUnknown);
        }
        match self.validation {
            Validation::Failed {
                kind: Kind::Quota,
                at,
            } => {
                let age = now.duration_since(at).unwrap_or_default();
                (age < QUOTA_MEMORY).then_some(Kind::Quota)
            }
            Validation::Failed { kind, .. } => Some(kind),
            Validation::Unknown | Validation::Good => None,
        }
    }

    /// Adds what became of one more request.
    pub fn record(&mut self, outcome: &Outcome) {
        if let Some(after) = outcome.first_byte_ms.map(Duration::from_millis) {
            self.latency = Some(match self.latency {
                Some(known) => (known * 3 + after) / 4,
                None => after,
            });
        }
        match outcome.failure {
            None => self.succeeded(outcome),
            Some(kind) => self.failed(kind, outcome),
        }
    }

    fn succeeded(&mut self, outcome: &Outcome) {
        self.validation = Validation::Good;
        self.last_success = Some(ended(outcome));
        self.consecutive_failures = 0;
        self.limited_until = None;
        self.unknown_models.remove(&outcome.model);
        self.streams.count(true);
        self.calls.good += outcome.calls.good;
        self.calls.bad += outcome.calls.bad;
    }

    fn failed(&mut self, kind: Kind, outcome: &Outcome) {
        match kind {
            // Nothing about the provider.
            Kind::Cancelled
            | Kind::Internal
            | Kind::UnknownProvider
            | Kind::ScenarioInvalid
            | Kind::ScenarioExhausted
            | Kind::InvalidRequest
            | Kind::Refused
            | Kind::ContextTooLong => return,
            Kind::ModelUnknown => {
                self.unknown_models.insert(outcome.model.clone());
            }
            Kind::Auth | Kind::NoKey | Kind::Quota => {
                self.validation = Validation::Failed {
                    kind,
                    at: ended(outcome),
                };
            }
            Kind::RateLimited => {
                let wait = outcome.retry_after_ms.map_or(USUAL_LIMIT, Duration::from_millis);
                self.limited_until = ended(outcome).checked_add(wait);
            }
            Kind::StreamBroken | Kind::TimeoutIdle | Kind::TimeoutTotal => self.streams.count(false),
            Kind::Overloaded
            | Kind::Server
            | Kind::NotAModel
            | Kind::TimeoutFirstByte
            | Kind::Network
            | Kind::Tls
            | Kind::Proxy
            | Kind::Other => {}
        }
        self.consecutive_failures += 1;
    }
}

fn ended(outcome: &Outcome) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(outcome.at)
}

/// Whether another provider may be asked after this failure. Not where the request itself is at fault, or nobody
/// wants an answer any more.
pub(crate) fn may_switch(kind: Kind) -> bool {
    match kind {
        Kind::NoKey
        | Kind::Auth
        | Kind::ModelUnknown
        | Kind::RateLimited
        | Kind::Quota
        | Kind::Overloaded
        | Kind::Server
        | Kind::NotAModel
        | Kind::StreamBroken
        | Kind::TimeoutFirstByte
        | Kind::TimeoutIdle
        | Kind::TimeoutTotal
        | Kind::Network
        | Kind::Tls
        | Kind::Proxy
        | Kind::Other => true,
        Kind::UnknownProvider
        | Kind::ContextTooLong
        | Kind::Refused
        | Kind::InvalidRequest
        | Kind::ScenarioInvalid
        | Kind::ScenarioExhausted
        | Kind::Cancelled
        | Kind::Internal => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hard_failure_is_remembered_until_it_can_be_over() {
        let start = SystemTime::UNIX_EPOCH;
        let later = start + Duration::from_secs(3600);
        for (kind, now, after) in [
            (Kind::Auth, Some(Kind::Auth), Some(Kind::Auth)),
            (Kind::Quota, Some(Kind::Quota), None),
            (
                Kind::ModelUnknown,
                Some(Kind::ModelUnknown),
                Some(Kind::ModelUnknown),
            ),
            (Kind::Overloaded, None, None),
            (Kind::RateLimited, None, None),
            (Kind::Cancelled, None, None),
        ] {
            let mut health = Health::default();
            health.record(&Outcome {
                model: "m".into(),
                failure: Some(kind),
                ..Outcome::default()
            });
            assert_eq!(health.hard_failure("m", start), now, "{kind:?}");
            assert_eq!(health.hard_failure("m", later), after, "{kind:?}");
            let other = health.hard_failure("other", start);
            assert_eq!(other, now.filter(|kind| *kind != Kind::ModelUnknown), "{kind:?}");
            assert_eq!(
                health.consecutive_failures,
                u32::from(kind != Kind::Cancelled),
                "{kind:?}"
            );
        }
    }
}
