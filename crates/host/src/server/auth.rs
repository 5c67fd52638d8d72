//! Who may speak to the host: the bearer token of this start, the cookie it is handed over in, and the one-time codes
//! that hand it over. Owns the secrets; what they open is the server's.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use axum::http::{
    HeaderMap,
    header::{AUTHORIZATION, COOKIE},
};
use protocol::RuntimeError;

/// How a request showed that it may be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// A browser that came in by a one-time code.
    Cookie,
    /// A program that read the token.
    Bearer,
}

pub(crate) struct Auth {
    token: String,
    cookie_name: String,
    code_life: Duration,
    codes: Mutex<HashMap<String, Code>>,
}

struct Code {
    made: Instant,
    /// What the window is to show.
    context: Option<String>,
}

/// More windows are not opened within a minute.
const MOST_CODES: usize = 64;

impl Auth {
    /// A new secret for a host on `port`.
    pub(crate) fn new(port: u16, code_life: Duration) -> Result<Self, RuntimeError> {
        Ok(Self {
            token: random_hex()?,
            // Cookies do not tell ports apart; two hosts in one browser must not overwrite each other's.
            cookie_name: format!("vc_session_{port}"),
            code_life,
            codes: Mutex::default(),
        })
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// The value of `Set-Cookie`.
    pub(crate) fn cookie(&self) -> String {
        format!(
            "{}={}; HttpOnly; SameSite=Strict; Path=/",
            self.cookie_name, self.token
        )
    }

    pub(crate) fn mint_code(&self, context: Option<String>) -> Result<String, RuntimeError> {
        let code = random_hex()?;
        let mut codes = self.codes();
        codes.retain(|_, code| code.made.elapsed() < self.code_life);
        if codes.len() >= MOST_CODES {
            let oldest = codes.iter().min_by_key(|(_, code)| code.made);
            if let Some(oldest) = oldest.map(|(code, _)| code.clone()) {
                codes.remove(&oldest);
            }
        }
        codes.insert(
            code.clone(),
            Code {
                made: Instant::now(),
                context,
            },
        );
        Ok(code)
    }

    /// Uses up a code; the value is what its window is to show. `None` when it is not, or no longer, good.
    pub(crate) fn redeem(&self, code: &str) -> Option<Option<String>> {
        let code = self.codes().remove(code)?;
        (code.made.elapsed() < self.code_life).then_some(code.context)
    }

    pub(crate) fn proof(&self, headers: &HeaderMap) -> Option<Proof> {
        let bearer = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.strip_prefix("Bearer "));
        if let Some(bearer) = bearer {
            return self.is_token(bearer).then_some(Proof::Bearer);
        }
        let cookies = headers.get_all(COOKIE).iter();
        cookies
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(name, value)| name == self.cookie_name && self.is_token(value))
            .then_some(Proof::Cookie)
    }

    /// Compares digests, in constant time: how long it takes tells nothing of the token.
    fn is_token(&self, claimed: &str) -> bool {
        blake3::hash(claimed.as_bytes()) == blake3::hash(self.token.as_bytes())
    }

    fn codes(&self) -> MutexGuard<'_, HashMap<String, Code>> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// 256 random bits of the operating system, in hex.
pub(crate) fn random_hex() -> Result<String, RuntimeError> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(RuntimeError::internal)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_works_once_and_not_for_long() {
        let auth = Auth::new(1, Duration::from_secs(60)).unwrap();
        let code = auth.mint_code(Some("c".to_owned())).unwrap();
        assert_eq!(auth.redeem(&code), Some(Some("c".to_owned())));
        assert_eq!(auth.redeem(&code), None);
        assert_eq!(auth.redeem("guess"), None);

        let short = Auth::new(1, Duration::ZERO).unwrap();
        let code = short.mint_code(None).unwrap();
        assert_eq!(short.redeem(&code), None);

        let first = auth.mint_code(None).unwrap();
        for _ in 0..MOST_CODES {
            auth.mint_code(None).unwrap();
        }
        assert_eq!(auth.codes().len(), MOST_CODES);
        assert_eq!(auth.redeem(&first), None);
    }
}
