//! `vibe-coder providers`: which models can be used, whether they work, and their keys. Needs no workspace.

use std::io::{IsTerminal, Read, stdin};

use engine::{
    Environment,
    providers::{self, Report, Verdict},
};
use protocol::{
    RuntimeError,
    request::{HealthState, ProviderSummary, ProvidersHealthResult},
};
use store::DataHome;

use crate::{
    args::{Providers, ProvidersVerb},
    exit::Exit,
    output, show,
};

/// No key is longer. In bytes.
const KEY_LIMIT: u64 = 64 << 10;

pub async fn run(arguments: Providers) -> Result<Exit, RuntimeError> {
    let home = DataHome::locate()?;
    let environment = Environment::of_process();
    match arguments.verb {
        ProvidersVerb::List { json } => {
            let list = providers::list(&home, &environment).await?;
            match json {
                true => list.providers.iter().for_each(output::json),
                false => list.providers.iter().for_each(show),
            }
            Ok(Exit::Done)
        }
        ProvidersVerb::Health { json } => {
            let health = providers::health(&home, &environment)?;
            match json {
                true => output::json(&health),
                false => show_health(&health),
            }
            Ok(Exit::Done)
        }
        ProvidersVerb::Check { id, model, json } => {
            let reports = providers::check(&home, &environment, id, model).await?;
            match json {
                true => reports.iter().for_each(output::json),
                false => reports.iter().for_each(show_report),
            }
            let failed = reports
                .iter()
                .flat_map(|report| &report.findings)
                .any(|finding| finding.verdict == Verdict::Fails);
            Ok(if failed { Exit::Failed } else { Exit::Done })
        }
        ProvidersVerb::Login { id } => {
            let key = read_key(&id)?;
            let place = providers::login(&home, &environment, &id, &key)?;
            output::line(format!("The key of {id} is kept {}.", place.words()));
            Ok(Exit::Done)
        }
        ProvidersVerb::Logout { id } => {
            output::line(match providers::logout(&home, &environment, &id)? {
                true => format!("The key of {id} is forgotten."),
                false => format!("No key of {id} was stored."),
            });
            Ok(Exit::Done)
        }
    }
}

fn show(provider: &ProviderSummary) {
    let mark = if provider.ready { "✓" } else { "·" };
    let default = if provider.is_default { " (default)" } else { "" };
    output::line(format!("{mark} {}{default}  {}", provider.id, provider.family));
    if !provider.models.is_empty() {
        output::line(format!("    {}", provider.models.join(", ")));
    }
    if let Some(problem) = &provider.problem {
        output::line(format!("    {problem}"));
    }
}

fn show_health(health: &ProvidersHealthResult) {
    for provider in &health.providers {
        let mark = match provider.state {
            HealthState::Working => "✓",
            HealthState::Untried => "·",
            HealthState::Limited => "!",
            HealthState::Failing | HealthState::Unusable => "✕",
        };
        output::line(format!("{mark} {}  {}", provider.id, provider.summary));
        let mut figures = Vec::new();
        if let Some(millis) = provider.first_byte_ms {
            figures.push(format!("first byte after {millis} ms"));
        }
        if provider.streams_broken > 0 {
            let all = provider.streams_whole + provider.streams_broken;
            figures.push(format!("{} of {all} answers broke off", provider.streams_broken));
        }
        if provider.calls_unreadable > 0 {
            let all = provider.calls_readable + provider.calls_unreadable;
            figures.push(format!(
                "{} of {all} tool calls unreadable",
                provider.calls_unreadable
            ));
        }
        if !provider.unknown_models.is_empty() {
            figures.push(format!("has no {}", provider.unknown_models.join(", ")));
        }
        if let Some(spent) = show::spending(&provider.today) {
            figures.push(format!("{spent} today"));
        }
        if !figures.is_empty() {
            output::line(format!("    {}", figures.join(" · ")));
        }
    }
    let today = show::spending(&health.today).unwrap_or_else(|| "nothing".to_owned());
    output::line(format!("Today (UTC): {today}."));
}

fn show_report(report: &Report) {
    output::line(format!("{} {}", report.provider, report.model));
    for finding in &report.findings {
        let mark = match finding.verdict {
            Verdict::Works => "✓",
            Verdict::Limited => "!",
            Verdict::Fails => "✕",
        };
        output::line(format!("{mark} {}: {}", finding.name, finding.detail));
        if let Some(action) = &finding.action {
            output::line(format!("    {action}"));
        }
    }
}

/// From a person without showing it, or from a pipe. Never from the command line, where every program can read it.
fn read_key(id: &str) -> Result<String, RuntimeError> {
    if stdin().is_terminal() {
        let prompt = format!("API key of {id} (it is not shown): ");
        return rpassword::prompt_password(prompt).map_err(RuntimeError::internal);
    }
    let mut key = String::new();
    stdin()
        .take(KEY_LIMIT)
        .read_to_string(&mut key)
        .map_err(RuntimeError::internal)?;
    Ok(key)
}
