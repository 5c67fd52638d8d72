//! How one provider is reached: a plain value. Where it comes from is `presets`' business.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use crate::{
    catalogue::{ModelEntry, ModelFacts},
    cost::Prices,
    http::is_loopback,
    secret::Secret,
};

/// The wire format a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Family {
    /// Anthropic Messages: `POST {base}/v1/messages`.
    #[serde(rename = "anthropic")]
    Anthropic,
    /// OpenAI Chat Completions and everything compatible: `POST {base}/chat/completions`.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// OpenAI Responses: `POST {base}/responses`. Nothing is stored on the provider's side.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Google Gemini: `POST {base}/models/{model}:streamGenerateContent`.
    #[serde(rename = "gemini")]
    Gemini,
    /// No model: answers from a scenario file.
    #[serde(rename = "scripted")]
    Scripted,
}

impl Family {
    /// As it is written in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Family::Anthropic => "anthropic",
            Family::OpenAiChat => "openai-chat",
            Family::OpenAiResponses => "openai-responses",
            Family::Gemini => "gemini",
            Family::Scripted => "scripted",
        }
    }
}

#[derive(Clone, Debug)]
pub struct ProviderConfig {
    pub id: String,
    pub family: Family,
    /// Without a trailing slash. Unused by `Family::Scripted`.
    pub base_url: String,
    /// Absent for servers that want none.
    pub api_key: Option<Secret>,
    /// The environment variable the key comes from, for the way out of an authentication failure.
    pub key_variable: Option<String>,
    /// What is used when a turn names no model; empty where that has to be chosen.
    pub model: String,
    /// Only for `Family::Scripted`.
    pub scenario: Option<PathBuf>,
    pub headers: Vec<(String, Secret)>,
    pub limits: Limits,
    pub retry: RetryPolicy,
    /// By model, as far as the user has entered them.
    pub prices: BTreeMap<String, Prices>,
    /// What the user knows better of models, by model.
    pub models: BTreeMap<String, ModelEntry>,
}

impl ProviderConfig {
    /// What the settings say of a model.
    pub(crate) fn stated(&self, model: &str) -> ModelFacts {
        ModelFacts {
            prices: self.prices.get(model).copied(),
            ..self.models.get(model).copied().unwrap_or_default().into()
        }
    }

    /// Whether the server is on this machine: it costs nothing and wants no key.
    pub fn is_local(&self) -> bool {
        reqwest::Url::parse(&self.base_url).is_ok_and(|url| is_loopback(&url))
    }
}

/// How long a request may take. Each limit ends the attempt with its own error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub connect: Duration,
    /// From sending the request to the answer's headers. Local servers load a model in this time.
    pub first_byte: Duration,
    /// Without a single byte while the answer streams. A provider's keep-alive counts as a byte.
    pub idle: Duration,
    /// One attempt from start to end.
    pub total: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            idle: Duration::from_secs(90),
            total: Duration::from_secs(30 * 60),
        }
    }
}

/// When a failed attempt is made again (§28.1). Never after the first visible output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts after the first.
    pub max_retries: u32,
    /// Attempts after the first when a limit above ran out: each of those has already cost minutes.
    pub max_timeout_retries: u32,
    /// The first wait where the provider names none; it doubles each time, with a quarter of jitter.
    pub base_delay: Duration,
    pub max_delay: Duration,
    /// A provider that asks for a longer wait than this gets no retry; the user is told the time.
    pub longest_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 3,
            max_timeout_retries: 1,
            base_delay: Duration::from_secs(1),
            max_delay: Duration::from_secs(30),
            longest_wait: Duration::from_secs(10 * 60),
        }
    }
}
