//! `vibe-coder demo`: a whole run without a key. The model is a script; the repository, the commands, the diff and
//! the accept are real.

use std::path::{Path, PathBuf};

use engine::{Client, Engine, EngineConfig, Environment, demo};
use protocol::{ErrorCode, RuntimeError};
use serde::Serialize;

use crate::{args::Demo, exec, exit::Exit, output};

pub async fn run(arguments: Demo) -> Result<Exit, RuntimeError> {
    if let Some(folder) = &arguments.prepare {
        return Ok(prepare(folder, arguments.json));
    }
    let environment = Environment::of_process();
    require_cargo(&environment)?;
    let folder = match arguments.into {
        Some(folder) => folder,
        None => temporary_folder()?,
    };
    let sample = demo::prepare(&folder)?;
    if !arguments.json {
        output::note(format!(
            "A sample repository with one failing test: {}",
            sample.repository.display()
        ));
        output::note(format!("> {}", demo::REQUEST));
    }
    let engine = Engine::open(EngineConfig {
        workspace: sample.repository.clone(),
        breadth: engine::Breadth::Project,
        home: sample.home,
        environment: environment.with("VIBE_CODER_SCENARIO", &sample.scenario.to_string_lossy()),
        lock_wait: std::time::Duration::ZERO,
    })?;
    let (client, events) = Client::in_process(engine);
    let exit = exec::demonstrate(client, events, demo::REQUEST, arguments.json).await?;
    if exit == Exit::Done && !arguments.json {
        output::note(format!(
            "The accepted change is in {}. Have a look: git diff",
            sample.repository.display()
        ));
    }
    Ok(exit)
}

/// What `--prepare --json` prints: the repository, or why there is none.
#[derive(Serialize)]
#[serde(untagged)]
enum Prepared<'a> {
    Made { repository: &'a Path },
    Failed { error: &'a RuntimeError },
}

/// For a host, which gives the sample a window and an engine of its own.
fn prepare(folder: &Path, json: bool) -> Exit {
    let made = require_cargo(&Environment::of_process()).and_then(|()| demo::prepare(folder));
    match (&made, json) {
        (Ok(sample), true) => output::json(&Prepared::Made {
            repository: &sample.repository,
        }),
        (Ok(sample), false) => output::line(sample.repository.display().to_string()),
        (Err(error), true) => output::json(&Prepared::Failed { error }),
        (Err(error), false) => return output::fatal(error),
    }
    if made.is_ok() { Exit::Done } else { Exit::Failed }
}

fn require_cargo(environment: &Environment) -> Result<(), RuntimeError> {
    if has_cargo(environment) {
        return Ok(());
    }
    Err(RuntimeError::new(
        ErrorCode::CommandSpawn,
        "The demo's sample is a Rust crate, and cargo is not installed.",
    )
    .action("Install Rust, or try your own repository: vibe-coder exec --mode ask \"…\""))
}

/// Kept, so that the result can be looked at.
fn temporary_folder() -> Result<PathBuf, RuntimeError> {
    let folder = tempfile::Builder::new()
        .prefix("vibe-coder-demo-")
        .tempdir()
        .map_err(|error| {
            RuntimeError::new(
                ErrorCode::FileIo,
                "No temporary folder could be made for the demo.",
            )
            .because(error)
            .action("Name an empty folder with --into.")
        })?;
    Ok(folder.keep())
}

fn has_cargo(environment: &Environment) -> bool {
    let path = environment.get("PATH").unwrap_or_default();
    std::env::split_paths(path).any(|folder| folder.join("cargo").is_file())
}
