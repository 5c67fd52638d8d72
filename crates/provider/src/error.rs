//! The one error of this crate, typed by cause, and what a user is told about it.

use std::{fmt, sync::Arc, time::Duration};

use protocol::{ErrorCode, RuntimeError};
use serde::{Deserialize, Serialize};

/// What went wrong, as far as it decides what happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProviderErrorKind {
    /// No provider of that id is configured.
    UnknownProvider,
    NoKey,
    /// The key was not accepted, or may not do this.
    Auth,
    ModelUnknown,
    RateLimited,
    /// Credit or a monthly limit is used up; waiting does not help.
    Quota,
    Overloaded,
    /// Any other failure on the provider's side (5xx).
    Server,
    ContextTooLong,
    /// The provider's policy forbids the request.
    Refused,
    InvalidRequest,
    /// The address answers, but not as a model does: a web page, a redirect, a body without a stream.
    NotAModel,
    /// The answer ended or was damaged before its end.
    StreamBroken,
    /// No headers within `Limits::first_byte`.
    TimeoutFirstByte,
    /// Silence longer than `Limits::idle`.
    TimeoutIdle,
    /// Longer than `Limits::total`.
    TimeoutTotal,
    Network,
    Tls,
    Proxy,
    Other,
    ScenarioInvalid,
    ScenarioExhausted,
    Cancelled,
    /// A bug of ours.
    Internal,
}

/// Where a request went; shared by all its errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorPlace {
    pub provider: String,
    pub model: String,
    pub base_url: String,
    pub key_variable: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderError {
    pub kind: ProviderErrorKind,
    /// The HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// The provider's or the operating system's own words, without keys, at most 2 KiB.
    pub message: String,
    /// The provider's id of the request.
    pub request_id: Option<String>,
    /// How long the provider asked us to wait.
    pub retry_after: Option<Duration>,
    /// What the provider said of sending it again (`x-should-retry`), where it said something.
    pub should_retry: Option<bool>,
    pub place: Arc<ErrorPlace>,
}

/// The longest text of a provider that is passed on, in bytes.
pub const MESSAGE_LIMIT: usize = 2048;

impl ProviderError {
    /// `message` must be free of keys already; see `secret::redact`.
    pub(crate) fn new(kind: ProviderErrorKind, message: impl Into<String>, place: &Arc<ErrorPlace>) -> Self {
        Self {
            kind,
            status: None,
            message: presentable(&message.into()),
            request_id: None,
            retry_after: None,
            should_retry: None,
            place: Arc::clone(place),
        }
    }

    pub(crate) fn cancelled(place: &Arc<ErrorPlace>) -> Self {
        Self::new(ProviderErrorKind::Cancelled, "", place)
    }

    /// The error of an answer that ended with [`crate::StopReason::Refused`].
    pub fn refused(provider: &str, model: &str) -> Self {
        let place = ErrorPlace {
            provider: provider.into(),
            model: model.into(),
            ..ErrorPlace::default()
        };
        Self::new(ProviderErrorKind::Refused, "", &Arc::new(place))
    }

    pub fn code(&self) -> ErrorCode {
        use ProviderErrorKind as Kind;
        match self.kind {
            Kind::UnknownProvider => ErrorCode::ProviderUnknown,
            Kind::NoKey => ErrorCode::ProviderNoKey,
            Kind::Auth => ErrorCode::ProviderAuth,
            Kind::ModelUnknown => ErrorCode::ProviderModelUnknown,
            Kind::RateLimited => ErrorCode::ProviderRateLimited,
            Kind::Quota => ErrorCode::ProviderQuota,
            Kind::Overloaded | Kind::Server => ErrorCode::ProviderOverloaded,
            Kind::ContextTooLong => ErrorCode::ProviderContextTooLong,
            Kind::Refused => ErrorCode::ProviderRefused,
            Kind::InvalidRequest => ErrorCode::ProviderInvalidRequest,
            Kind::StreamBroken => ErrorCode::ProviderStreamBroken,
            Kind::TimeoutFirstByte | Kind::TimeoutIdle => ErrorCode::ProviderTimeoutIdle,
            Kind::TimeoutTotal => ErrorCode::ProviderTimeoutTotal,
            Kind::Network => ErrorCode::ProviderNetwork,
            Kind::Tls => ErrorCode::ProviderTls,
            Kind::Proxy => ErrorCode::ProviderProxy,
            Kind::NotAModel | Kind::Other => ErrorCode::ProviderOther,
            Kind::ScenarioInvalid => ErrorCode::ScenarioInvalid,
            Kind::ScenarioExhausted => ErrorCode::ScenarioExhausted,
            Kind::Cancelled => ErrorCode::Cancelled,
            Kind::Internal => ErrorCode::Internal,
        }
    }

    /// Whether sending the same request again can help at all. Whether it is done automatically is decided by
    /// the retry policy and by what was already shown.
    pub fn is_retryable(&self) -> bool {
        use ProviderErrorKind as Kind;
        if self.should_retry == Some(false) {
            return false;
        }
        matches!(
            self.kind,
            Kind::RateLimited
                | Kind::Overloaded
                | Kind::Server
                | Kind::StreamBroken
                | Kind::TimeoutFirstByte
                | Kind::TimeoutIdle
                | Kind::TimeoutTotal
                | Kind::Network
                | Kind::Cancelled
        )
    }

    fn summary(&self) -> String {
        use ProviderErrorKind as Kind;
        let ErrorPlace {
            provider,
            model,
            base_url,
            key_variable,
        } = &*self.place;
        match self.kind {
            Kind::UnknownProvider => format!("There is no provider called “{provider}”."),
            Kind::NoKey => format!("There is no API key for {provider}."),
            Kind::Auth => match key_variable {
                Some(variable) => format!("{provider} did not accept the API key in {variable}."),
                None => format!("{provider} wants an API key and none is set, or it was not accepted."),
            },
            Kind::ModelUnknown => format!("{provider} has no model “{model}”, or this key may not use it."),
            Kind::RateLimited => format!("{provider} is limiting how fast requests may come."),
            Kind::Quota => format!("The credit or usage limit at {provider} is used up."),
            Kind::Overloaded => format!("{provider} is overloaded."),
            Kind::Server => match self.status {
                Some(status) => format!("{provider} had a failure of its own (HTTP {status})."),
                None => format!("{provider} had a failure of its own."),
            },
            Kind::ContextTooLong => format!("The conversation is too long for {model}."),
            Kind::Refused => format!("{provider} declined to answer this request."),
            Kind::InvalidRequest => format!("{provider} did not accept the request."),
            Kind::NotAModel => format!("{base_url} does not answer as a model server does."),
            Kind::StreamBroken => format!("The answer from {provider} broke off."),
            Kind::TimeoutFirstByte => format!("{provider} did not begin to answer in time."),
            Kind::TimeoutIdle => format!("{provider} stopped sending in the middle of an answer."),
            Kind::TimeoutTotal => format!("The answer from {provider} took too long."),
            Kind::Network => format!("{provider} could not be reached at {base_url}."),
            Kind::Tls => format!("No secure connection to {base_url} could be made."),
            Kind::Proxy => format!("The proxy on the way to {base_url} failed."),
            Kind::Other => format!("{provider} reported an error."),
            Kind::ScenarioInvalid => "The scenario file cannot be used.".to_owned(),
            Kind::ScenarioExhausted => "The scenario has no step for this request.".to_owned(),
            Kind::Cancelled => "Cancelled.".to_owned(),
            Kind::Internal => "Something went wrong inside Vibe Coder.".to_owned(),
        }
    }

    fn way_out(&self) -> String {
        use ProviderErrorKind as Kind;
        let ErrorPlace {
            provider,
            key_variable,
            ..
        } = &*self.place;
        let variable = key_variable.as_deref();
        match self.kind {
            Kind::UnknownProvider => {
                "Choose one of the providers named above, or add it to the settings.".into()
            }
            Kind::NoKey | Kind::Auth => match variable {
                Some(variable) => {
                    format!(
                        "Store a valid key with `vibe-coder providers login {provider}`, or set the environment variable \
                         {variable} and start again."
                    )
                }
                None => format!("Set `apiKeyEnv` for {provider} in the settings and put a valid key there."),
            },
            Kind::ModelUnknown => "Choose another model with --model.".into(),
            Kind::RateLimited => match self.retry_after {
                Some(wait) => format!("Send again in {}.", duration_words(wait)),
                None => "Wait a moment and send again.".into(),
            },
            Kind::Quota => format!("Add credit at {provider}, or choose another provider."),
            Kind::Overloaded | Kind::Server => {
                "Wait a moment and send again, or choose another model.".into()
            }
            Kind::ContextTooLong => "Start a new session, or send less at once.".into(),
            Kind::Refused => "Ask differently, or choose another model.".into(),
            Kind::InvalidRequest => "Choose another model; if that does not help, report it.".into(),
            Kind::NotAModel => "Check the provider's base URL.".into(),
            Kind::StreamBroken => "Send again.".into(),
            Kind::TimeoutFirstByte => {
                "Send again; for a slow server raise `firstByteTimeoutMs` in the settings.".into()
            }
            Kind::TimeoutIdle => {
                "Send again; for a slow server raise `idleTimeoutMs` in the settings.".into()
            }
            Kind::TimeoutTotal => "Send again and ask for less at once.".into(),
            Kind::Network => {
                "Check the network connection and the provider's base URL, then send again.".into()
            }
            Kind::Tls => {
                "Check the system clock, and set SSL_CERT_FILE if your network has its own certificate."
                    .into()
            }
            Kind::Proxy => "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.".into(),
            Kind::Other => "Send again, or choose another model.".into(),
            Kind::ScenarioInvalid | Kind::ScenarioExhausted => "Correct the scenario file.".into(),
            Kind::Cancelled => "Send again when you are ready.".into(),
            Kind::Internal => "Please report it with the output of `vibe-coder doctor`.".into(),
        }
    }
}

impl From<ProviderError> for RuntimeError {
    fn from(error: ProviderError) -> Self {
        if error.kind == ProviderErrorKind::Cancelled {
            return RuntimeError::cancelled();
        }
        let mut runtime = RuntimeError::new(error.code(), error.summary()).action(error.way_out());
        if !error.message.is_empty() {
            let trace = error
                .request_id
                .as_ref()
                .map(|id| format!(" (request {id})"))
                .unwrap_or_default();
            runtime = runtime.because(format!("{}{trace}", error.message));
        }
        if error.is_retryable() {
            runtime = runtime.retryable();
        }
        runtime
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary())?;
        if !self.message.is_empty() {
            write!(f, " {}", self.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for ProviderError {}

/// "7 seconds", "2 minutes"; rounded up, because a wait that is too short is of no use.
pub fn duration_words(duration: Duration) -> String {
    let seconds = duration.as_millis().div_ceil(1000);
    match seconds {
        1 => "1 second".to_owned(),
        0..120 => format!("{seconds} seconds"),
        120..7200 => format!("{} minutes", seconds.div_ceil(60)),
        _ => format!("{} hours", seconds.div_ceil(3600)),
    }
}

/// Foreign text on one screen: no control characters, bounded.
fn presentable(text: &str) -> String {
    let mut clean: String = text
        .trim()
        .chars()
        .filter(|c| !c.is_control() || *c == '\n' || *c == '\t')
        .collect();
    if clean.len() > MESSAGE_LIMIT {
        let mut end = MESSAGE_LIMIT - '…'.len_utf8();
        while !clean.is_char_boundary(end) {
            end -= 1;
        }
        clean.truncate(end);
        clean.push('…');
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_says_what_failed_and_names_the_way_out() {
        let place = Arc::new(ErrorPlace {
            provider: "anthropic".into(),
            model: "m".into(),
            base_url: "https://api.anthropic.com".into(),
            key_variable: Some("ANTHROPIC_API_KEY".into()),
        });
        let mut rows = String::new();
        for kind in ALL_KINDS {
            let mut error = ProviderError::new(kind, "their words", &place);
            error.retry_after =
                (kind == ProviderErrorKind::RateLimited).then_some(Duration::from_millis(6200));
            let runtime = RuntimeError::from(error);
            let action = runtime.user_action.as_deref().unwrap_or("-");
            let retry = if runtime.retryable { "retry" } else { "stop" };
            rows.push_str(&format!(
                "{kind:?} | {} | {retry} | {} | {action}\n",
                runtime.code, runtime.message
            ));
        }
        insta::assert_snapshot!(rows);
    }

    #[test]
    fn foreign_words_are_bounded_and_printable() {
        let place = Arc::default();
        let error = ProviderError::new(
            ProviderErrorKind::Other,
            format!("\u{1b}[2J{}", "é".repeat(3000)),
            &place,
        );
        assert!(error.message.len() <= MESSAGE_LIMIT && error.message.starts_with("[2Jé"));
        assert!(error.message.ends_with('…'));
    }

    const ALL_KINDS: [ProviderErrorKind; 24] = {
        use ProviderErrorKind::*;
        [
            UnknownProvider,
            NoKey,
            Auth,
            ModelUnknown,
            RateLimited,
            Quota,
            Overloaded,
            Server,
            ContextTooLong,
            Refused,
            InvalidRequest,
            NotAModel,
            StreamBroken,
            TimeoutFirstByte,
            TimeoutIdle,
            TimeoutTotal,
            Network,
            Tls,
            Proxy,
            Other,
            ScenarioInvalid,
            ScenarioExhausted,
            Cancelled,
            Internal,
        ]
    };
}
