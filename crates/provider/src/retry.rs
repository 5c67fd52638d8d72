//! When to try again and after how long. Pure but for the jitter.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::{Duration, SystemTime},
};

use crate::{
    config::RetryPolicy,
    error::{ProviderError, ProviderErrorKind},
};

/// How often each kind of failure of one request has been retried.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RetryCount {
    retries: u32,
    timeouts: u32,
}

impl RetryCount {
    /// The attempt that would come next, counted from 1.
    pub(crate) fn next_attempt(self) -> u32 {
        self.retries + 2
    }

    /// How long to wait before another attempt, or that there is to be none. The caller has made sure that
    /// nothing was shown yet.
    pub(crate) fn next_wait(&mut self, policy: &RetryPolicy, error: &ProviderError) -> Option<Duration> {
        // The provider's own no counts; its yes only where we know nothing ourselves.
        if error.should_retry == Some(false) {
            return None;
        }
        let timeout = match error.kind {
            ProviderErrorKind::TimeoutFirstByte | ProviderErrorKind::TimeoutIdle => true,
            ProviderErrorKind::RateLimited
            | ProviderErrorKind::Overloaded
            | ProviderErrorKind::Server
            | ProviderErrorKind::StreamBroken
            | ProviderErrorKind::Network => false,
            ProviderErrorKind::Other if error.should_retry == Some(true) => false,
            _ => return None,
        };
        if self.retries >= policy.max_retries || (timeout && self.timeouts >= policy.max_timeout_retries) {
            return None;
        }
        let wait = match error.retry_after {
            Some(asked) if asked > policy.longest_wait => return None,
            Some(asked) => asked,
            None => backoff(policy, self.retries, jitter()),
        };
        self.retries += 1;
        self.timeouts += u32::from(timeout);
        Some(wait)
    }
}

/// `jitter` lies between 0 and 1 and moves the delay by up to a quarter either way.
fn backoff(policy: &RetryPolicy, retries: u32, jitter: f64) -> Duration {
    let doubled = policy.base_delay.saturating_mul(2u32.saturating_pow(retries));
    doubled.min(policy.max_delay).mul_f64(0.75 + jitter / 2.0)
}

fn jitter() -> f64 {
    // The standard library's per-map seed is all the randomness that spreading retries needs.
    let bits = RandomState::new().build_hasher().finish();
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// Reads the wait a provider asks for: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date.
pub(crate) fn retry_after(
    milliseconds: Option<&str>,
    seconds_or_date: Option<&str>,
    now: SystemTime,
) -> Option<Duration> {
    let from_number = |text: &str, unit: f64| {
        let number: f64 = text.trim().parse().ok()?;
        Duration::try_from_secs_f64(number * unit).ok()
    };
    if let Some(wait) = milliseconds.and_then(|text| from_number(text, 0.001)) {
        return Some(wait);
    }
    let text = seconds_or_date?;
    from_number(text, 1.0).or_else(|| {
        let when = httpdate::parse_http_date(text.trim()).ok()?;
        Some(when.duration_since(now).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_wait_a_provider_asks_for_is_read_in_every_form() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let seconds = |s| Some(Duration::from_secs(s));
        for (ms, after, wait) in [
            (None, Some("7"), seconds(7)),
            (None, Some(" 0.5 "), Some(Duration::from_millis(500))),
            (Some("250"), Some("7"), Some(Duration::from_millis(250))),
            (Some("soon"), Some("7"), seconds(7)),
            (None, Some("Sun, 06 Nov 1994 08:49:46 GMT"), seconds(9)),
            (None, Some("Sun, 06 Nov 1994 08:00:00 GMT"), seconds(0)),
            (None, Some("-3"), None),
            (None, Some("1e300"), None),
            (None, Some("later"), None),
            (None, None, None),
        ] {
            assert_eq!(retry_after(ms, after, now), wait, "{ms:?} {after:?}");
        }
    }

    #[test]
    fn backoff_doubles_within_its_bounds() {
        let policy = RetryPolicy::default();
        for (retries, jitter, expected) in [
            (0, 0.0, 750),
            (0, 1.0, 1250),
            (1, 0.5, 2000),
            (3, 0.5, 8000),
            (30, 0.5, 30_000),
        ] {
            assert_eq!(backoff(&policy, retries, jitter).as_millis(), expected);
        }
        assert!((0.0..1.0).contains(&super::jitter()));
    }

    #[test]
    fn the_providers_own_word_on_trying_again_counts() {
        use ProviderErrorKind as Kind;
        for (kind, should_retry, waits) in [
            (Kind::Overloaded, Some(false), false),
            (Kind::RateLimited, Some(false), false),
            (Kind::Overloaded, Some(true), true),
            (Kind::Other, Some(true), true),
            (Kind::Other, None, false),
            // What is known not to help stays so.
            (Kind::Auth, Some(true), false),
            (Kind::Quota, Some(true), false),
            (Kind::InvalidRequest, Some(true), false),
        ] {
            let mut error = ProviderError::new(kind, "", &Arc::default());
            error.should_retry = should_retry;
            let wait = RetryCount::default().next_wait(&RetryPolicy::default(), &error);
            assert_eq!(wait.is_some(), waits, "{kind:?} {should_retry:?}");
        }
    }

    #[test]
    fn only_what_can_help_is_retried_and_only_so_often() {
        use ProviderErrorKind as Kind;
        for (kind, retry_after, waits) in [
            (Kind::RateLimited, Some(7), 3),
            (Kind::RateLimited, Some(3600), 0),
            (Kind::Overloaded, None, 3),
            (Kind::Server, None, 3),
            (Kind::StreamBroken, None, 3),
            (Kind::Network, None, 3),
            (Kind::TimeoutIdle, None, 1),
            (Kind::TimeoutFirstByte, None, 1),
            (Kind::TimeoutTotal, None, 0),
            (Kind::Auth, None, 0),
            (Kind::Quota, Some(1), 0),
            (Kind::ModelUnknown, None, 0),
            (Kind::InvalidRequest, None, 0),
            (Kind::ContextTooLong, None, 0),
            (Kind::Tls, None, 0),
            (Kind::Cancelled, None, 0),
            (Kind::ScenarioExhausted, None, 0),
        ] {
            let mut error = ProviderError::new(kind, "", &Arc::default());
            error.retry_after = retry_after.map(Duration::from_secs);
            let mut count = RetryCount::default();
            let policy = RetryPolicy::default();
            let granted = std::iter::from_fn(|| count.next_wait(&policy, &error)).collect::<Vec<_>>();
            assert_eq!(granted.len(), waits, "{kind:?}");
            if let Some(asked) = error.retry_after {
                assert!(granted.iter().all(|wait| *wait == asked), "{kind:?}");
            }
        }
    }
}
