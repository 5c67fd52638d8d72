//! Which models can be used: the provider settings as they are now, and the gateway made of them. Settings change
//! while the engine runs, from any window or the command line, so they are looked at again before each use.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use protocol::{
    ErrorCode, RuntimeError,
    request::{ProviderSummary, ProvidersListResult},
};
use provider::{Gateway, ProviderConfig, ProviderSettings, presets};
use store::DataHome;

use crate::Environment;

/// The provider and model a turn uses.
pub struct Chosen {
    pub provider: String,
    pub model: String,
}

pub struct Models {
    home: DataHome,
    environment: Environment,
    loaded: Mutex<Loaded>,
}

struct Loaded {
    settings: ModelSettings,
    gateway: Gateway,
}

#[derive(Clone, PartialEq)]
struct ModelSettings {
    providers: ProviderSettings,
    default_model: Option<String>,
}

impl Models {
    pub fn open(home: DataHome, environment: Environment) -> Result<Self, RuntimeError> {
        let settings = read(&home)?;
        let gateway = Gateway::new(configs(&settings.providers, &environment));
        Ok(Self {
            home,
            environment,
            loaded: Mutex::new(Loaded { settings, gateway }),
        })
    }

    /// Values that must never be shown or stored: the keys of the providers, and whatever the environment holds
    /// under a name that says it is a secret, because a provider that is added later may use it.
    pub fn secrets(&self) -> Vec<String> {
        let settings = self.loaded().settings.providers.clone();
        let named = configs(&settings, &self.environment)
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
        named.chain(suspected).collect()
    }

    pub fn gateway(&self) -> Gateway {
        self.loaded().gateway.clone()
    }

    /// The provider and model of a turn, with everything checked that can be known before the first request.
    pub fn choose(&self, provider: Option<String>, model: Option<String>) -> Result<Chosen, RuntimeError> {
        let (settings, gateway) = self.refreshed()?;
        let lookup = |name: &str| self.environment.get(name).map(str::to_owned);
        let provider = provider.unwrap_or_else(|| presets::default_provider(&settings.providers, &lookup));
        let config = presets::resolve(&provider, &settings.providers, &lookup)?;
        gateway.check(&provider)?;
        let model = model.or(settings.default_model).unwrap_or(config.model);
        Ok(Chosen { provider, model })
    }

    /// Every provider a user can choose, whether it can be used as things are, and if not what is missing.
    pub fn list(&self) -> Result<ProvidersListResult, RuntimeError> {
        let (settings, gateway) = self.refreshed()?;
        let lookup = |name: &str| self.environment.get(name).map(str::to_owned);
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
        let mut loaded = self.loaded();
        // A gateway has open connections and slots, so it is replaced only when it has to be.
        if loaded.settings != settings {
            if loaded.settings.providers != settings.providers {
                loaded.gateway = Gateway::new(configs(&settings.providers, &self.environment));
            }
            loaded.settings = settings.clone();
        }
        Ok((settings, loaded.gateway.clone()))
    }

    fn loaded(&self) -> MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn configs(settings: &ProviderSettings, environment: &Environment) -> Vec<ProviderConfig> {
    presets::resolve_all(settings, &|name| environment.get(name).map(str::to_owned))
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
