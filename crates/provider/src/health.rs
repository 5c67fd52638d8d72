//! How each provider has been doing, from the requests of this process (§14.5). Pure bookkeeping: it sends nothing.

use std::{
    collections::BTreeSet,
    time::{Duration, SystemTime},
};

use crate::{
    error::{ProviderError, ProviderErrorKind as Kind},
    message::Answer,
};

/// A used-up quota may have been filled up after this time.
const QUOTA_MEMORY: Duration = Duration::from_secs(10 * 60);

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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub good: u64,
    pub bad: u64,
}

impl Tally {
    fn count(&mut self, is_good: bool) {
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

    pub(crate) fn opened(&mut self, after: Duration) {
        self.latency = Some(match self.latency {
            Some(known) => (known * 3 + after) / 4,
            None => after,
        });
    }

    pub(crate) fn succeeded(&mut self, answer: &Answer, model: &str, now: SystemTime) {
        self.validation = Validation::Good;
        self.last_success = Some(now);
        self.consecutive_failures = 0;
        self.limited_until = None;
        self.unknown_models.remove(model);
        self.streams.count(true);
        for call in answer.message.tool_uses() {
            self.calls.count(call.invalid_arguments.is_none());
        }
    }

    pub(crate) fn failed(&mut self, error: &ProviderError, model: &str, now: SystemTime) {
        match error.kind {
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
                self.unknown_models.insert(model.to_owned());
            }
            Kind::Auth | Kind::NoKey | Kind::Quota => {
                self.validation = Validation::Failed {
                    kind: error.kind,
                    at: now,
                };
            }
            Kind::RateLimited => {
                let wait = error.retry_after.unwrap_or(Duration::from_secs(30));
                self.limited_until = now.checked_add(wait);
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
    use std::sync::Arc;

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
            health.failed(&ProviderError::new(kind, "", &Arc::default()), "m", start);
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
