//! Providers as a person sees to them from the command line: which there are, whether they work, and their keys.
//! Needs no workspace.

use std::time::Duration;

use protocol::{
    ErrorCode, RuntimeError,
    request::{ProvidersHealthResult, ProvidersListResult},
};
pub use provider::check::{Finding, Report, Verdict};
use provider::{check::Depth, presets};
use store::{
    DataHome,
    credentials::{Credentials, Place},
};
use tokio_util::sync::CancellationToken;

use crate::{
    Environment,
    models::{Models, credentials, provider_settings},
};

/// How long a server on this machine is waited for.
const LOCAL_WAIT: Duration = Duration::from_secs(2);

/// Every provider, ready or not, and the models of the servers that were found running on this machine.
pub async fn list(home: &DataHome, environment: &Environment) -> Result<ProvidersListResult, RuntimeError> {
    list_of(&Models::open(home.clone(), environment.clone())?).await
}

/// The same of an engine that runs.
pub(crate) async fn list_of(models: &Models) -> Result<ProvidersListResult, RuntimeError> {
    let mut list = models.list()?;
    let gateway = models.gateway();
    let local = list
        .providers
        .iter_mut()
        .filter(|provider| presets::local_servers().contains(&provider.id.as_str()));
    let asked = local.map(async |provider| {
        let found = tokio::time::timeout(LOCAL_WAIT, gateway.list_models(&provider.id)).await;
        match found {
            Ok(Ok(found)) => provider.models = found.into_iter().map(|model| model.id).collect(),
            Ok(Err(_)) | Err(_) => {
                provider.ready = false;
                provider.problem = Some(format!("Nothing answers at {}.", provider.base_url));
            }
        }
    });
    futures_util::future::join_all(asked).await;
    Ok(list)
}

/// How each provider that can be used or has been tried has been doing, in all of the user's workspaces.
pub fn health(home: &DataHome, environment: &Environment) -> Result<ProvidersHealthResult, RuntimeError> {
    Models::open(home.clone(), environment.clone())?.health()
}

/// Tries a provider out. Without an id: the default one and every server found on this machine.
pub async fn check(
    home: &DataHome,
    environment: &Environment,
    id: Option<String>,
    model: Option<String>,
) -> Result<Vec<Report>, RuntimeError> {
    let models = Models::open(home.clone(), environment.clone())?;
    let gateway = models.gateway();
    let ids = match id {
        Some(id) => vec![id],
        None => {
            let ready = list(home, environment).await?.providers.into_iter();
            let wanted = ready.filter(|provider| {
                provider.ready
                    && (provider.is_default || presets::local_servers().contains(&provider.id.as_str()))
            });
            wanted.map(|provider| provider.id).collect()
        }
    };
    // Ended with the program: nothing here has to be put away.
    let cancel = CancellationToken::new();
    let mut reports = Vec::new();
    for id in ids {
        gateway.check(&id).map_err(|error| models.explain(&id, error))?;
        let Some(config) = gateway.config(&id) else {
            continue;
        };
        let mut name = model.clone().unwrap_or_else(|| config.model.clone());
        if name.is_empty() {
            // Whatever is loaded.
            let found = gateway.list_models(&id).await?;
            name = found.into_iter().next().map(|model| model.id).unwrap_or_default();
        }
        let depth = if config.is_local() {
            Depth::Local
        } else {
            Depth::Paid
        };
        reports.push(provider::check::check(&gateway, &id, &name, depth, &cancel).await);
    }
    match reports.is_empty() {
        false => Ok(reports),
        true => Err(
            RuntimeError::new(ErrorCode::ProviderUnknown, "There is no provider to check.")
                .action("`vibe-coder providers list` says what each one needs."),
        ),
    }
}

/// Stores a key, and says in plain words where.
pub fn login(home: &DataHome, environment: &Environment, id: &str, key: &str) -> Result<Place, RuntimeError> {
    let key = key.trim();
    if key.is_empty() || key.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(
            RuntimeError::new(ErrorCode::UsageInvalid, "This is not an API key.")
                .action("Paste the key alone, in one line."),
        );
    }
    let settings = provider_settings(home)?;
    let lookup = |name: &str| environment.get(name).map(str::to_owned);
    let all = presets::overview(&settings, &lookup);
    let Some(provider) = all.iter().find(|provider| provider.id == id) else {
        let known: Vec<&str> = all.iter().map(|provider| provider.id.as_str()).collect();
        return Err(RuntimeError::new(
            ErrorCode::ProviderUnknown,
            format!("There is no provider called “{id}”."),
        )
        .because(format!("Known: {}.", known.join(", ")))
        .action("Choose one of these, or add it to the settings."));
    };
    if provider.key_variable.is_none() {
        return Err(
            RuntimeError::new(ErrorCode::UsageInvalid, format!("{id} takes no key.")).action(format!(
                "If it should: vibe-coder settings set providers.{id}.apiKeyEnv NAME"
            )),
        );
    }
    Ok(store_of(home, environment).put(id, key)?)
}

/// Says whether there was a key to forget.
pub fn logout(home: &DataHome, environment: &Environment, id: &str) -> Result<bool, RuntimeError> {
    Ok(store_of(home, environment).remove(id)?)
}

fn store_of(home: &DataHome, environment: &Environment) -> Credentials {
    credentials(home, environment)
}
