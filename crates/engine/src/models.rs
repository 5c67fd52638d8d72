//! Which models can be used: the provider settings as they are now, and the gateway made of them. Settings change
//! while the engine runs, from any window or the command line, so they are looked at again before each use.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use protocol::{
    ErrorCode, RuntimeError,
    request::{ProviderSummary, ProvidersHealthResult, ProvidersListResult},
};
use provider::{
    Gateway, Origin, ProviderConfig, ProviderError, ProviderErrorKind, ProviderSettings, presets,
};
use store::{
    DataHome, Redactor,
    credentials::{Credentials, Keyring, PASSPHRASE_VARIABLE},
};

use crate::{Environment, health};

/// The provider and model a turn uses.
pub struct Chosen {
    pub provider: String,
    pub model: String,
    /// Who is asked where it cannot answer.
    pub fallbacks: Vec<Origin>,
}

pub struct Models {
    home: DataHome,
    environment: Environment,
    loaded: Mutex<Loaded>,
    /// Learns every key that is read.
    redactor: Redactor,
}

struct Loaded {
    settings: ModelSettings,
    keys: Keys,
    gateway: Gateway,
}

/// The stored keys, opened, by the environment variable in whose place each stands.
#[derive(Clone, Default, PartialEq)]
struct Keys {
    /// When the file was written that they were read from.
    written: Option<SystemTime>,
    by_variable: BTreeMap<String, String>,
    /// Why a key that is stored cannot be used, by provider.
    problems: BTreeMap<String, RuntimeError>,
}

/// The keys of this data folder as the environment wants them kept: `VIBE_CODER_KEYRING=off` leaves the system's
/// keyring alone.
pub(crate) fn credentials(home: &DataHome, environment: &Environment) -> Credentials {
    let keyring = match environment.get("VIBE_CODER_KEYRING") {
        Some("off") => Keyring::Leave,
        _ => Keyring::Use,
    };
    Credentials::open(
        home,
        keyring,
        environment.get(PASSPHRASE_VARIABLE).map(str::to_owned),
    )
}

impl Keys {
    fn read(home: &DataHome, environment: &Environment, settings: &ProviderSettings) -> Self {
        let store = credentials(home, environment);
        let mut keys = Keys {
            written: store.written(),
            ..Keys::default()
        };
        if keys.written.is_none() {
            return keys;
        }
        for provider in presets::overview(settings, &|_| None) {
            let Some(variable) = provider.key_variable else {
                continue;
            };
            // What the environment says is used, so nothing has to be opened, and nobody asked to unlock it.
            if environment
                .get(&variable)
                .is_some_and(|value| !value.trim().is_empty())
            {
                continue;
            }
            match store.get(&provider.id) {
                Ok(Some(key)) => drop(keys.by_variable.insert(variable, key)),
                Ok(None) => {}
                Err(error) => drop(keys.problems.insert(provider.id, error.into())),
            }
        }
        keys
    }

    fn lookup(&self, environment: &Environment, name: &str) -> Option<String> {
        let said = environment.get(name).filter(|value| !value.trim().is_empty());
        said.map(str::to_owned)
            .or_else(|| self.by_variable.get(name).cloned())
    }
}

#[derive(Clone, PartialEq)]
struct ModelSettings {
    providers: ProviderSettings,
    default_model: Option<String>,
    fallbacks: Vec<String>,
}

impl Models {
    pub fn open(home: DataHome, environment: Environment) -> Result<Self, RuntimeError> {
        let settings = read(&home)?;
        let keys = Keys::read(&home, &environment, &settings.providers);
        let gateway = gateway(&home, configs(&settings.providers, &environment, &keys));
        let models = Self {
            home,
            environment,
            loaded: Mutex::new(Loaded {
                settings,
                keys,
                gateway,
            }),
            redactor: Redactor::default(),
        };
        models.redactor.learn(models.secrets());
        Ok(models)
    }

    /// Knows all keys, those that are stored later too.
    pub fn redactor(&self) -> Redactor {
        self.redactor.clone()
    }

    /// Reads keys that were stored since the last look, so that they are redacted before they are used or printed.
    pub fn look_for_keys(&self) -> Result<(), RuntimeError> {
        let written = credentials(&self.home, &self.environment).written();
        // The lock must not be held while the keys are read anew.
        let is_current = self.loaded().keys.written == written;
        match is_current {
            true => Ok(()),
            false => self.refreshed().map(drop),
        }
    }

    /// How each provider that can be used or has been tried has been doing.
    pub fn health(&self) -> Result<ProvidersHealthResult, RuntimeError> {
        let providers = self.list()?.providers;
        let keys_written = self.loaded().keys.written;
        Ok(health::of(
            &self.home.ledger(),
            &providers,
            keys_written,
            SystemTime::now(),
        ))
    }

    /// Values that must never be shown or stored: the keys of the providers, and whatever the environment holds
    /// under a name that says it is a secret, because a provider that is added later may use it.
    fn secrets(&self) -> Vec<String> {
        let (settings, keys) = {
            let loaded = self.loaded();
            (loaded.settings.providers.clone(), loaded.keys.clone())
        };
        let named = configs(&settings, &self.environment, &keys)
            .into_iter()
            .filter_map(|provider| {
                Some(
                    self.environment
                        .get(provider.key_variable.as_deref()?)?
                        .to_owned(),
                )
            });
        let suspected = self
            .environment
            .pairs()
            .filter(|(name, _)| {
                ["_KEY", "_TOKEN", "_SECRET"]
                    .iter()
                    .any(|end| name.ends_with(end))
            })
            .map(|(_, value)| value.to_owned());
        named
            .chain(suspected)
            .chain(keys.by_variable.values().cloned())
            .collect()
    }

    pub fn gateway(&self) -> Gateway {
        self.loaded().gateway.clone()
    }

    /// Asks the provider about a model that nobody knows enough of.
    pub async fn learn_of(&self, provider: &str, model: &str) {
        self.gateway().learn_of(provider, model).await;
    }

    /// The provider and model of a turn, with everything checked that can be known before the first request.
    pub fn choose(&self, provider: Option<String>, model: Option<String>) -> Result<Chosen, RuntimeError> {
        let (settings, gateway) = self.refreshed()?;
        let keys = self.loaded().keys.clone();
        let lookup = |name: &str| keys.lookup(&self.environment, name);
        let provider = provider.unwrap_or_else(|| presets::default_provider(&settings.providers, &lookup));
        let config = presets::resolve(&provider, &settings.providers, &lookup)
            .map_err(|error| self.explain(&provider, error))?;
        gateway.check(&provider)?;
        let model = model.or(settings.default_model).unwrap_or(config.model);
        // A server on this machine has whatever models were loaded into it.
        if model.is_empty() {
            return Err(RuntimeError::new(
                ErrorCode::ProviderModelUnknown,
                format!("No model is chosen for {provider}."),
            )
            .action(format!(
                "Name one with --model, or keep it: vibe-coder settings set providers.{provider}.model NAME"
            )));
        }
        let fallbacks = settings
            .fallbacks
            .iter()
            .filter_map(|text| fallback(text, &gateway))
            .collect();
        Ok(Chosen {
            provider,
            model,
            fallbacks,
        })
    }

    /// The failure of a provider in a user's words: a key that is stored but cannot be opened is not a missing one.
    pub fn explain(&self, provider: &str, error: ProviderError) -> RuntimeError {
        match error.kind {
            ProviderErrorKind::NoKey | ProviderErrorKind::UnknownProvider => {
                let stored = self.loaded().keys.problems.get(provider).cloned();
                stored.unwrap_or_else(|| error.into())
            }
            _ => error.into(),
        }
    }

    /// Every provider a user can choose, whether it can be used as things are, and if not what is missing.
    pub fn list(&self) -> Result<ProvidersListResult, RuntimeError> {
        let (settings, gateway) = self.refreshed()?;
        let keys = self.loaded().keys.clone();
        let lookup = |name: &str| keys.lookup(&self.environment, name);
        let default = presets::default_provider(&settings.providers, &lookup);
        let providers = presets::overview(&settings.providers, &lookup)
            .into_iter()
            .map(|provider| {
                let problem = provider
                    .problem
                    .or_else(|| gateway.check(&provider.id).err())
                    .map(RuntimeError::from);
                let mut models: Vec<String> = provider.models;
                if provider.id == default
                    && let Some(model) = &settings.default_model
                    && !models.contains(model)
                {
                    models.insert(0, model.clone());
                }
                ProviderSummary {
                    is_default: provider.id == default,
                    id: provider.id,
                    family: provider.family,
                    ready: problem.is_none(),
                    problem: problem.map(in_words),
                    base_url: provider.base_url,
                    models,
                    key_variable: provider.key_variable,
                }
            })
            .collect();
        Ok(ProvidersListResult { providers })
    }

    /// Whether the settings of the providers can be used; for a change that is about to be kept.
    pub fn check_settings(&self) -> Result<(), RuntimeError> {
        read(&self.home).map(drop)
    }

    fn refreshed(&self) -> Result<(ModelSettings, Gateway), RuntimeError> {
        let settings = read(&self.home)?;
        let written = credentials(&self.home, &self.environment).written();
        let mut loaded = self.loaded();
        let keys_changed = loaded.keys.written != written;
        let changed = keys_changed || loaded.settings.providers != settings.providers;
        if keys_changed || loaded.settings.providers != settings.providers {
            loaded.keys = Keys::read(&self.home, &self.environment, &settings.providers);
        }
        // A gateway has open connections and slots, so it is replaced only when it has to be.
        if keys_changed || loaded.settings != settings {
            if keys_changed || loaded.settings.providers != settings.providers {
                let configs = configs(&settings.providers, &self.environment, &loaded.keys);
                loaded.gateway = gateway(&self.home, configs);
            }
            loaded.settings = settings.clone();
        }
        let gateway = loaded.gateway.clone();
        drop(loaded);
        if changed {
            self.redactor.learn(self.secrets());
        }
        Ok((settings, gateway))
    }

    fn loaded(&self) -> MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What becomes of its requests is written down for [`Models::health`] and the day's cost. Where that cannot be
/// written, as on a full disk, the figures are short of it; the work goes on.
fn gateway(home: &DataHome, configs: Vec<ProviderConfig>) -> Gateway {
    let ledger = home.ledger();
    Gateway::new(configs).observed_by(Arc::new(move |outcome| {
        let _ = ledger.append(outcome.at, outcome);
    }))
}

fn configs(settings: &ProviderSettings, environment: &Environment, keys: &Keys) -> Vec<ProviderConfig> {
    presets::resolve_all(settings, &|name| keys.lookup(environment, name))
}

/// `provider` or `provider/model`; nothing for one that cannot be used as things are.
fn fallback(text: &str, gateway: &Gateway) -> Option<Origin> {
    let (provider, model) = text.split_once('/').unwrap_or((text, ""));
    let config = gateway.config(provider)?;
    let model = if model.is_empty() {
        config.model.as_str()
    } else {
        model
    };
    (!model.is_empty()).then(|| Origin {
        provider: provider.to_owned(),
        model: model.to_owned(),
    })
}

fn in_words(error: RuntimeError) -> String {
    match error.user_action {
        Some(action) => format!("{} {action}", error.message),
        None => error.message,
    }
}

fn read(home: &DataHome) -> Result<ModelSettings, RuntimeError> {
    let settings = home.settings()?;
    let mut providers = BTreeMap::new();
    for (id, entry) in settings.providers {
        providers.insert(
            id.clone(),
            serde_json::from_value(entry).map_err(|error| bad_provider(&id, &error))?,
        );
    }
    Ok(ModelSettings {
        providers: ProviderSettings {
            default_provider: settings.default_provider,
            providers,
        },
        default_model: settings.default_model,
        fallbacks: settings.fallbacks,
    })
}

/// What the settings say of providers.
pub(crate) fn provider_settings(home: &DataHome) -> Result<ProviderSettings, RuntimeError> {
    Ok(read(home)?.providers)
}

fn bad_provider(id: &str, error: &serde_json::Error) -> RuntimeError {
    RuntimeError::new(
        ErrorCode::SettingsInvalid,
        format!("The settings of the provider {id} cannot be used."),
    )
    .because(error)
    .action(format!(
        "Correct them with `vibe-coder settings set providers.{id}.…`, or in settings.json."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another process stores it while this engine runs.
    #[test]
    fn a_key_that_is_stored_later_is_redacted_from_then_on_and_stays_so() {
        const KEY: &str = "planted-key-77de68daecd823ba";
        let folder = tempfile::tempdir().unwrap();
        let home = DataHome::at(folder.path().to_owned());
        let environment = Environment::default().with("VIBE_CODER_KEYRING", "off");
        let models = Models::open(home.clone(), environment.clone()).unwrap();
        let redactor = models.redactor();
        let mut stream = redactor.stream();
        assert_eq!(redactor.redact_values(KEY), KEY);
        crate::providers::login(&home, &environment, "anthropic", KEY).unwrap();
        models.look_for_keys().unwrap();
        assert_eq!(redactor.redact_values(KEY), "[redacted]");
        // Also in what was being streamed already.
        let shown = stream.push(&KEY[..9]) + &stream.push(&KEY[9..]) + &stream.finish();
        assert_eq!(shown, "[redacted]");
        crate::providers::logout(&home, &environment, "anthropic").unwrap();
        models.look_for_keys().unwrap();
        assert_eq!(
            redactor.redact_values(KEY),
            "[redacted]",
            "it may still be printed"
        );
    }
}
