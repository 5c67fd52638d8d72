//! What works on this machine and in this workspace, checked by doing it. Changes nothing but, when asked, saves what
//! is readable of a damaged database.

use process::CommandEnvironment;
use protocol::RuntimeError;
use serde::Serialize;
use store::{OpenError, SandboxSettings, StagedView, Store};
use workspace::{Workspace, git};

use crate::{EngineConfig, isolation, models::Models};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    Works,
    /// Usable, with something missing that is named.
    Limited,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    pub name: &'static str,
    pub status: CheckStatus,
    pub detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}

impl Check {
    fn works(name: &'static str, detail: impl Into<String>) -> Self {
        Self {
            name,
            status: CheckStatus::Works,
            detail: detail.into(),
            action: None,
        }
    }

    fn failed(name: &'static str, error: RuntimeError) -> Self {
        let detail = match &error.detail {
            Some(detail) => format!("{} {detail}", error.message),
            None => error.message,
        };
        Self {
            name,
            status: CheckStatus::Failed,
            detail,
            action: error.user_action,
        }
    }

    fn limited(name: &'static str, detail: impl Into<String>, action: impl Into<String>) -> Self {
        Self {
            name,
            status: CheckStatus::Limited,
            detail: detail.into(),
            action: Some(action.into()),
        }
    }
}

pub fn examine(config: &EngineConfig) -> Vec<Check> {
    let mut checks = vec![Check::works(
        "program",
        format!(
            "vibe-coder {} on {} {}",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH
        ),
    )];
    checks.push(settings(config));
    let workspace = match Workspace::open(&config.workspace, config.breadth) {
        Ok(workspace) => {
            checks.push(Check::works("workspace", workspace.root().display().to_string()));
            Some(workspace)
        }
        Err(error) => {
            checks.push(Check::failed("workspace", error.into()));
            None
        }
    };
    if let Some(workspace) = &workspace {
        checks.push(data(config, workspace));
        checks.push(repository(workspace));
    }
    checks.extend(providers(config));
    checks.push(isolation(config));
    checks
}

fn settings(config: &EngineConfig) -> Check {
    match config.home.settings() {
        Ok(_) => Check::works(
            "settings",
            config.home.path().join("settings.json").display().to_string(),
        ),
        Err(error) => Check::failed("settings", error.into()),
    }
}

fn data(config: &EngineConfig, workspace: &Workspace) -> Check {
    const NAME: &str = "data";
    match Store::open_read_only(&config.home, workspace.root()) {
        Ok(store) => match store.check() {
            Ok(problems) if problems.is_empty() => {
                Check::works(NAME, format!("{} is whole", store.data_folder().display()))
            }
            Ok(problems) => Check::limited(
                NAME,
                problems.join(" "),
                "Everything else is intact. `vibe-coder doctor --salvage` copies what is readable into a new database.",
            ),
            Err(error) => damaged(error.into()),
        },
        Err(OpenError::Absent { .. }) => Check::works(NAME, "nothing is stored for this workspace yet"),
        Err(error) => damaged(error.into()),
    }
}

fn damaged(error: RuntimeError) -> Check {
    Check::failed(
        "data",
        error.action("`vibe-coder doctor --salvage` copies what is readable into a new database and keeps the damaged one."),
    )
}

fn repository(workspace: &Workspace) -> Check {
    match git::status(workspace) {
        Ok(status) => {
            let branch = status.branch.unwrap_or_else(|| "no branch".to_owned());
            Check::works("git", format!("{branch}, {} changed files", status.entries.len()))
        }
        Err(error) => {
            let error = RuntimeError::from(error);
            Check::limited(
                "git",
                error.message,
                "Everything works without git; git status and diff do not.",
            )
        }
    }
}

/// What is configured. Whether it answers is not tried here: that costs a request, and `providers check` does it.
fn providers(config: &EngineConfig) -> Vec<Check> {
    const NAME: &str = "provider";
    let listed =
        Models::open(config.home.clone(), config.environment.clone()).and_then(|models| models.list());
    let providers = match listed {
        Ok(listed) => listed.providers,
        Err(error) => return vec![Check::failed(NAME, error)],
    };
    providers
        .into_iter()
        .map(|provider| match provider.problem {
            Some(problem) => Check {
                name: NAME,
                status: CheckStatus::Limited,
                detail: format!("{}: {problem}", provider.id),
                action: None,
            },
            None => {
                let chosen = if provider.is_default {
                    ", used by default"
                } else {
                    ""
                };
                let action = format!("`vibe-coder providers check {}` tries it out.", provider.id);
                Check::limited(
                    NAME,
                    format!("{}: configured, not tried{chosen}", provider.id),
                    action,
                )
            }
        })
        .collect()
}

fn isolation(config: &EngineConfig) -> Check {
    const NAME: &str = "commands";
    let settings = match config.home.settings() {
        Ok(settings) => settings.sandbox,
        // Told as a check of its own.
        Err(_) => SandboxSettings::default(),
    };
    if settings.view == StagedView::Off {
        return Check::limited(
            NAME,
            "run in a plain copy of the workspace, without a sandbox: the staged view is switched off",
            "`vibe-coder settings set sandbox.view auto` switches it on.",
        );
    }
    let data = config.home.path();
    let folder = if data.is_dir() {
        data.to_owned()
    } else {
        std::env::temp_dir()
    };
    match process::staged::self_test(&folder) {
        Ok(test) => {
            let environment = CommandEnvironment::filtered(config.environment.variables());
            let sandbox = isolation::sandbox(&settings, &environment, data);
            Check::works(
                NAME,
                format!(
                    "run in a staged view, {}; tried in it and refused: {}",
                    sandbox.in_words(),
                    test.held.join(", ")
                ),
            )
        }
        Err(error) => Check::limited(
            NAME,
            format!("run in a plain copy of the workspace, without a sandbox: {error}"),
            "What runs the project's code is asked about. On Linux, allow unprivileged user namespaces and keep the \
             data folder on a file system such as ext4, xfs or btrfs.",
        ),
    }
}

/// Moves a damaged database aside and copies over what can be read. Returns what was done, in words.
pub fn salvage(config: &EngineConfig) -> Result<Vec<String>, RuntimeError> {
    let workspace = Workspace::open(&config.workspace, config.breadth)?;
    let report = Store::salvage(&config.home, workspace.root())?;
    let mut lines: Vec<String> = report
        .kept_as
        .iter()
        .map(|path| format!("The damaged database is kept as {}.", path.display()))
        .collect();
    lines.extend(
        report
            .recovered
            .iter()
            .map(|(what, count)| format!("Saved {count} {what}.")),
    );
    lines.extend(report.lost.iter().map(|what| format!("Lost: {what}")));
    Ok(lines)
}
