//! Which providers there are and how each is reached: the built-in ones, and those a user adds in the settings.
//! Reads neither files nor the environment itself; it is given both as values.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use reqwest::Url;
use serde::{Deserialize, Serialize};

use crate::{
    catalogue::ModelEntry,
    config::{Family, Limits, ProviderConfig, RetryPolicy},
    cost::Prices,
    error::{ErrorPlace, ProviderError, ProviderErrorKind},
    gateway::unknown_provider,
    http::is_loopback,
    secret::Secret,
};

/// The part of the settings this crate reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ProviderSettings {
    /// The provider of a turn that names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_provider: Option<String>,
    /// By id. An entry with the id of a built-in provider changes that provider.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub providers: BTreeMap<String, ProviderEntry>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ProviderEntry {
    /// Needed for a provider that is not built in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds the key. The key itself is never in the settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<PathBuf>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// By model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<String, Prices>,
    /// By model: `contextWindow`, `maxOutputTokens`, `images`, `thinking`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, ModelEntry>,
}

struct Preset {
    id: &'static str,
    family: Family,
    base_url: &'static str,
    base_url_variable: Option<&'static str>,
    /// Absent for servers on the user's own machine.
    key_variable: Option<&'static str>,
    /// Empty where the server decides what there is.
    model: &'static str,
}

const OPENAI: &str = "https://api.openai.com/v1";

/// In the order in which one is chosen when the user names none.
const PRESETS: [Preset; 13] = [
    Preset {
        base_url_variable: Some("ANTHROPIC_BASE_URL"),
        ..hosted(
            "anthropic",
            Family::Anthropic,
            "https://api.anthropic.com",
            "ANTHROPIC_API_KEY",
            "claude-sonnet-5",
        )
    },
    Preset {
        base_url_variable: Some("OPENAI_BASE_URL"),
        ..hosted(
            "openai",
            Family::OpenAiResponses,
            OPENAI,
            "OPENAI_API_KEY",
            "gpt-5.5",
        )
    },
    Preset {
        base_url_variable: Some("GEMINI_BASE_URL"),
        ..hosted(
            "gemini",
            Family::Gemini,
            "https://generativelanguage.googleapis.com/v1beta",
            "GEMINI_API_KEY",
            "gemini-3.8-flash",
        )
    },
    compatible(
        "deepseek",
        "https://api.deepseek.com/v1",
        "DEEPSEEK_API_KEY",
        "deepseek-v4-pro",
    ),
    compatible(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        "anthropic/claude-sonnet-5",
    ),
    compatible(
        "groq",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        "openai/gpt-oss-120b",
    ),
    compatible(
        "together",
        "https://api.together.xyz/v1",
        "TOGETHER_API_KEY",
        "moonshotai/Kimi-K3",
    ),
    compatible(
        "fireworks",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        "accounts/fireworks/models/glm-5p3",
    ),
    local("ollama", "http://127.0.0.1:11434/v1"),
    local("lmstudio", "http://127.0.0.1:1234/v1"),
    local("llamacpp", "http://127.0.0.1:8080/v1"),
    local("vllm", "http://127.0.0.1:8000/v1"),
    Preset {
        id: "scripted",
        family: Family::Scripted,
        base_url: "",
        base_url_variable: None,
        key_variable: None,
        model: "scripted",
    },
];

const fn hosted(
    id: &'static str,
    family: Family,
    base_url: &'static str,
    key_variable: &'static str,
    model: &'static str,
) -> Preset {
    Preset {
        id,
        family,
        base_url,
        base_url_variable: None,
        key_variable: Some(key_variable),
        model,
    }
}

const fn compatible(
    id: &'static str,
    base_url: &'static str,
    key_variable: &'static str,
    model: &'static str,
) -> Preset {
    hosted(id, Family::OpenAiChat, base_url, key_variable, model)
}

const fn local(id: &'static str, base_url: &'static str) -> Preset {
    Preset {
        id,
        family: Family::OpenAiChat,
        base_url,
        base_url_variable: None,
        key_variable: None,
        model: "",
    }
}

/// The built-in servers on the user's own machine, in alphabetical order.
pub fn local_servers() -> Vec<&'static str> {
    let mut ids: Vec<&str> = PRESETS
        .iter()
        .filter(|preset| preset.key_variable.is_none() && preset.family != Family::Scripted)
        .map(|preset| preset.id)
        .collect();
    ids.sort_unstable();
    ids
}

/// The family an entry and its preset stand for. `openai` with another address is one of the many servers that
/// know only the older format.
fn family_of(entry: &ProviderEntry, preset: Option<&Preset>, base_url: &str) -> Option<Family> {
    let built_in = preset.map(|preset| match preset.family {
        Family::OpenAiResponses if base_url != OPENAI => Family::OpenAiChat,
        family => family,
    });
    entry.family.or(built_in)
}

/// The environment variable that names the scripted provider's file.
pub const SCENARIO_VARIABLE: &str = "VIBE_CODER_SCENARIO";

/// Reads one environment variable. Empty counts as unset.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The ids a user can choose from, in alphabetical order.
pub fn known(settings: &ProviderSettings) -> Vec<&str> {
    let mut ids: Vec<&str> = PRESETS.iter().map(|preset| preset.id).collect();
    ids.extend(settings.providers.keys().map(String::as_str));
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The provider of a turn that names none: the settings' choice, else the scripted one if a scenario is set,
/// else the first built-in one that has what it needs.
pub fn default_provider(settings: &ProviderSettings, environment: Environment) -> String {
    if let Some(id) = &settings.default_provider {
        return id.clone();
    }
    if variable(environment, SCENARIO_VARIABLE).is_some() {
        return "scripted".to_owned();
    }
    let ready = PRESETS
        .iter()
        .filter(|preset| preset.key_variable.is_some())
        .find(|preset| resolve(preset.id, settings, environment).is_ok());
    ready.unwrap_or(&PRESETS[0]).id.to_owned()
}

/// Every provider that can be used as things are.
pub fn resolve_all(settings: &ProviderSettings, environment: Environment) -> Vec<ProviderConfig> {
    known(settings)
        .into_iter()
        .filter_map(|id| resolve(id, settings, environment).ok())
        .collect()
}

/// A provider as a user chooses one, usable or not.
#[derive(Debug)]
pub struct Overview {
    pub id: String,
    /// As it is written in the settings.
    pub family: String,
    pub base_url: String,
    /// The configured model first, then those with known prices.
    pub models: Vec<String>,
    pub key_variable: Option<String>,
    /// Why it cannot be used as things are.
    pub problem: Option<ProviderError>,
}

/// All providers a user can choose from, in alphabetical order.
pub fn overview(settings: &ProviderSettings, environment: Environment) -> Vec<Overview> {
    let none = ProviderEntry::default();
    known(settings)
        .into_iter()
        .map(|id| {
            let preset = PRESETS.iter().find(|preset| preset.id == id);
            let entry = settings.providers.get(id).unwrap_or(&none);
            let base_url = base_url(entry, preset, environment);
            let family = family_of(entry, preset, &base_url);
            let built_in = preset
                .map(|preset| preset.model)
                .filter(|model| !model.is_empty());
            let model = entry.model.as_deref().or(built_in);
            let mut models: Vec<String> = model.map(str::to_owned).into_iter().collect();
            models.extend(
                entry
                    .prices
                    .keys()
                    .filter(|name| Some(name.as_str()) != model)
                    .cloned(),
            );
            Overview {
                id: id.to_owned(),
                family: family.map_or("", Family::name).to_owned(),
                base_url,
                models,
                key_variable: entry
                    .api_key_env
                    .clone()
                    .or_else(|| preset.and_then(|preset| preset.key_variable).map(str::to_owned)),
                problem: resolve(id, settings, environment).err(),
            }
        })
        .collect()
}

/// How the provider is reached. Fails when it is unknown, has no address, or has no key and needs one: a server
/// on this machine needs none.
pub fn resolve(
    id: &str,
    settings: &ProviderSettings,
    environment: Environment,
) -> Result<ProviderConfig, ProviderError> {
    let preset = PRESETS.iter().find(|preset| preset.id == id);
    let none = ProviderEntry::default();
    let entry = match (settings.providers.get(id), preset) {
        (Some(entry), _) => entry,
        (None, Some(_)) => &none,
        (None, None) => return Err(unknown_provider(id, &known(settings))),
    };
    let key_variable = entry
        .api_key_env
        .clone()
        .or_else(|| preset.and_then(|preset| preset.key_variable).map(str::to_owned));
    let mut place = ErrorPlace {
        provider: id.to_owned(),
        model: entry.model.clone().unwrap_or_default(),
        base_url: String::new(),
        key_variable: key_variable.clone(),
    };
    let incomplete = |what: &str, place: &ErrorPlace| {
        let words = format!("Its entry in the settings has no {what}.");
        ProviderError::new(
            ProviderErrorKind::UnknownProvider,
            words,
            &Arc::new(place.clone()),
        )
    };
    let base_url = base_url(entry, preset, environment);
    let Some(family) = family_of(entry, preset, &base_url) else {
        return Err(incomplete("family", &place));
    };
    if base_url.is_empty() && family != Family::Scripted {
        return Err(incomplete("baseUrl", &place));
    }
    place.base_url.clone_from(&base_url);
    let api_key = key_variable
        .as_deref()
        .and_then(|name| variable(environment, name))
        .map(Secret::new);
    let local = Url::parse(&base_url).is_ok_and(|url| is_loopback(&url));
    if api_key.is_none() && key_variable.is_some() && !local && family != Family::Scripted {
        return Err(ProviderError::new(ProviderErrorKind::NoKey, "", &Arc::new(place)));
    }
    Ok(ProviderConfig {
        id: id.to_owned(),
        family,
        base_url,
        api_key,
        key_variable,
        model: match (&entry.model, preset) {
            (Some(model), _) => model.clone(),
            (None, Some(preset)) => preset.model.to_owned(),
            (None, None) => return Err(incomplete("model", &place)),
        },
        scenario: entry
            .scenario
            .clone()
            .or_else(|| variable(environment, SCENARIO_VARIABLE).map(PathBuf::from)),
        headers: entry
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), Secret::new(value)))
            .collect(),
        limits: limits(entry),
        retry: RetryPolicy {
            max_retries: entry.max_retries.unwrap_or(RetryPolicy::default().max_retries),
            ..RetryPolicy::default()
        },
        prices: entry.prices.clone(),
        models: entry.models.clone(),
    })
}

fn variable(environment: Environment, name: &str) -> Option<String> {
    environment(name)
        .map(|value| value.trim().to_owned())
        .filter(|value| !value.is_empty())
}

/// What the user wrote down beats the environment, which beats the built-in address.
fn base_url(entry: &ProviderEntry, preset: Option<&Preset>, environment: Environment) -> String {
    let from_environment = || variable(environment, preset?.base_url_variable?);
    let url = entry
        .base_url
        .clone()
        .or_else(from_environment)
        .or_else(|| preset.map(|preset| preset.base_url.to_owned()))
        .unwrap_or_default();
    url.trim().trim_end_matches('/').to_owned()
}

fn limits(entry: &ProviderEntry) -> Limits {
    let default = Limits::default();
    let or = |milliseconds: Option<u64>, default| milliseconds.map_or(default, Duration::from_millis);
    Limits {
        connect: or(entry.connect_timeout_ms, default.connect),
        first_byte: or(entry.first_byte_timeout_ms, default.first_byte),
        idle: or(entry.idle_timeout_ms, default.idle),
        total: or(entry.total_timeout_ms, default.total),
    }
}

#[cfg(test)]
mod tests {
    use protocol::{ErrorCode, RuntimeError};

    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        let pairs: BTreeMap<String, String> = pairs
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect();
        move |name| pairs.get(name).cloned()
    }

    #[test]
    fn built_in_providers_are_reached_as_the_environment_says() {
        let settings = ProviderSettings::default();
        for (id, pairs, expected) in [
            (
                "anthropic",
                vec![("ANTHROPIC_API_KEY", "k")],
                Ok("https://api.anthropic.com"),
            ),
            ("anthropic", vec![], Err("ANTHROPIC_API_KEY")),
            (
                "anthropic",
                vec![("ANTHROPIC_API_KEY", "  ")],
                Err("ANTHROPIC_API_KEY"),
            ),
            (
                "anthropic",
                vec![("ANTHROPIC_BASE_URL", "http://127.0.0.1:9/")],
                Ok("http://127.0.0.1:9"),
            ),
            (
                "anthropic",
                vec![("ANTHROPIC_BASE_URL", "http://proxy.example")],
                Err("ANTHROPIC_API_KEY"),
            ),
            (
                "openai",
                vec![("OPENAI_API_KEY", "k\n")],
                Ok("https://api.openai.com/v1"),
            ),
            (
                "openai",
                vec![("OPENAI_BASE_URL", "http://localhost:1234/v1")],
                Ok("http://localhost:1234/v1"),
            ),
            ("openai", vec![], Err("OPENAI_API_KEY")),
            ("scripted", vec![], Ok("")),
            ("ollama", vec![], Ok("http://127.0.0.1:11434/v1")),
            ("deepseek", vec![], Err("DEEPSEEK_API_KEY")),
            (
                "gemini",
                vec![("GEMINI_API_KEY", "k")],
                Ok("https://generativelanguage.googleapis.com/v1beta"),
            ),
        ] {
            match (resolve(id, &settings, &environment(&pairs)), expected) {
                (Ok(config), Ok(url)) => assert_eq!(config.base_url, url, "{id} {pairs:?}"),
                (Err(error), Err(variable)) => {
                    let error = RuntimeError::from(error);
                    assert_eq!(error.code, ErrorCode::ProviderNoKey, "{id} {pairs:?}");
                    assert!(error.user_action.unwrap().contains(variable), "{id} {pairs:?}");
                }
                (got, expected) => panic!("{id} {pairs:?}: {got:?}, expected {expected:?}"),
            }
        }
    }

    #[test]
    fn an_unknown_provider_is_answered_with_the_known_ones() {
        let settings: ProviderSettings =
            serde_json::from_str(r#"{"providers":{"local":{"family":"openai-chat","model":"m"}}}"#).unwrap();
        let error = RuntimeError::from(resolve("nope", &settings, &environment(&[])).unwrap_err());
        assert_eq!(error.code, ErrorCode::ProviderUnknown);
        assert_eq!(
            error.detail.as_deref(),
            Some(
                "Known: anthropic, deepseek, fireworks, gemini, groq, llamacpp, lmstudio, local, ollama, openai, \
                 openrouter, scripted, together, vllm."
            )
        );
        let error = RuntimeError::from(resolve("local", &settings, &environment(&[])).unwrap_err());
        assert_eq!(
            error.detail.as_deref(),
            Some("Its entry in the settings has no baseUrl.")
        );
    }

    #[test]
    fn settings_add_and_change_providers() {
        let settings: ProviderSettings = serde_json::from_str(
            r#"{"providers":{
                "mine":{"family":"openai-chat","baseUrl":"https://models.example/v1/","apiKeyEnv":"MINE","model":"m",
                        "headers":{"x-team":"a"},"idleTimeoutMs":5000,"maxRetries":0},
                "anthropic":{"model":"other"}}}"#,
        )
        .unwrap();
        let environment = environment(&[("MINE", "k"), ("ANTHROPIC_API_KEY", "k")]);
        let mine = resolve("mine", &settings, &environment).unwrap();
        assert_eq!(
            (mine.base_url.as_str(), mine.model.as_str()),
            ("https://models.example/v1", "m")
        );
        assert_eq!(mine.limits.idle, Duration::from_secs(5));
        assert_eq!((mine.retry.max_retries, mine.headers.len()), (0, 1));
        assert_eq!(
            resolve("anthropic", &settings, &environment).unwrap().model,
            "other"
        );
        let ready: Vec<String> = resolve_all(&settings, &environment)
            .into_iter()
            .map(|config| config.id)
            .collect();
        assert_eq!(
            ready,
            [
                "anthropic",
                "llamacpp",
                "lmstudio",
                "mine",
                "ollama",
                "scripted",
                "vllm"
            ]
        );
    }

    #[test]
    fn openai_is_asked_in_its_own_format_and_its_likes_in_theirs() {
        let settings = ProviderSettings::default();
        for (pairs, family) in [
            (vec![("OPENAI_API_KEY", "k")], Family::OpenAiResponses),
            (
                vec![("OPENAI_BASE_URL", "http://localhost:1/v1")],
                Family::OpenAiChat,
            ),
        ] {
            let config = resolve("openai", &settings, &environment(&pairs)).unwrap();
            assert_eq!(config.family, family, "{pairs:?}");
        }
        let chosen =
            r#"{"providers":{"openai":{"baseUrl":"http://localhost:1/v1","family":"openai-responses"}}}"#;
        let chosen: ProviderSettings = serde_json::from_str(chosen).unwrap();
        let config = resolve("openai", &chosen, &environment(&[])).unwrap();
        assert_eq!(config.family, Family::OpenAiResponses);
    }

    #[test]
    fn the_default_provider_is_one_that_can_be_used() {
        let settings = ProviderSettings::default();
        for (pairs, id) in [
            (vec![], "anthropic"),
            (vec![("GEMINI_API_KEY", "k")], "gemini"),
            (vec![("OPENAI_API_KEY", "k")], "openai"),
            (
                vec![("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")],
                "anthropic",
            ),
            (
                vec![("ANTHROPIC_API_KEY", "k"), (SCENARIO_VARIABLE, "s.yaml")],
                "scripted",
            ),
        ] {
            assert_eq!(default_provider(&settings, &environment(&pairs)), id, "{pairs:?}");
        }
        let chosen = ProviderSettings {
            default_provider: Some("x".into()),
            ..settings
        };
        assert_eq!(
            default_provider(&chosen, &environment(&[(SCENARIO_VARIABLE, "s")])),
            "x"
        );
    }
}
