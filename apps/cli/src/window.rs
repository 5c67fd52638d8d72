//! `vibe-coder [PATH]` and `vibe-coder serve`: become the host, or ask the one that runs for a window.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use host::{Breadth, Host, HostConfig, Opened, Started, Target};
use protocol::{ErrorCode, RuntimeError};
use serde::Serialize;
use store::DataHome;
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    args::{Common, Serve, Window},
    exit::Exit,
    output,
};

/// What `--json` prints.
#[derive(Serialize)]
struct Address<'a> {
    url: &'a str,
}

/// How the address reaches the user.
#[derive(Clone, Copy)]
enum Show {
    Window,
    Words,
    Json,
}

pub async fn open(common: Common, arguments: Window) -> Result<Exit, RuntimeError> {
    let path = arguments.path.or_else(|| common.workspace.clone());
    let target = match (arguments.sample, path) {
        (true, _) => Target::Sample,
        (false, Some(path)) => folder(&path, &common)?,
        (false, None) => current_folder(&common)?,
    };
    let show = match arguments.no_open {
        true => Show::Words,
        false => Show::Window,
    };
    run(config()?, target, show).await
}

pub async fn serve(common: Common, arguments: Serve) -> Result<Exit, RuntimeError> {
    let target = match arguments.path.or_else(|| common.workspace.clone()) {
        Some(path) => folder(&path, &common)?,
        None => Target::Nothing,
    };
    let mut config = config()?;
    config.port = arguments.port;
    config.times.idle_after = Duration::from_secs(arguments.idle_after);
    let show = match arguments.json {
        true => Show::Json,
        false => Show::Words,
    };
    run(config, target, show).await
}

/// A path, `--no-open` and `--sample` are for the window; beside a command they are a slip.
pub fn is_for_no_verb(window: &Window) -> Result<(), RuntimeError> {
    if window.path.is_none() && !window.no_open && !window.sample {
        return Ok(());
    }
    Err(RuntimeError::new(
        ErrorCode::UsageInvalid,
        "A folder for a window does not go together with a command.",
    )
    .action("Name the folder of a command with --workspace DIR."))
}

fn config() -> Result<HostConfig, RuntimeError> {
    let program = std::env::current_exe().map_err(RuntimeError::internal)?;
    Ok(HostConfig::new(DataHome::locate()?, program))
}

async fn run(config: HostConfig, target: Target, how: Show) -> Result<Exit, RuntimeError> {
    // Before anything is started, so that it is ended too.
    let stop = stop_signal()?;
    let home = config.home.clone();
    match host::start(config).await? {
        Started::Elsewhere(running) => {
            let url = running.open(target).await?;
            show(&url, how, &home).await?;
            output::note(format!("Vibe Coder already runs as process {}.", running.pid()));
        }
        Started::Here(here) => {
            let url = first_url(&here, target).await?;
            show(&url, how, &home).await?;
            if !matches!(how, Show::Json) {
                output::note("Press Ctrl-C to end Vibe Coder.");
            }
            here.run(stop).await?;
        }
    }
    Ok(Exit::Done)
}

async fn first_url(host: &Host, target: Target) -> Result<String, RuntimeError> {
    host.open(target).await.map_err(|error| match error.code {
        ErrorCode::WorkspaceTooWide => {
            error.action("Open a project's own folder, or add --allow-wide-workspace if you want all of it.")
        }
        _ => error,
    })
}

async fn show(url: &str, how: Show, home: &DataHome) -> Result<(), RuntimeError> {
    match how {
        Show::Json => output::json(&Address { url }),
        Show::Words => output::line(url),
        Show::Window => match host::open_window(url, home).await? {
            Opened::AppWindow | Opened::DefaultBrowser => output::note("Vibe Coder is open in a window."),
            Opened::Nowhere => {
                output::note(
                    "No browser could be opened here. Open this address; it works once, for a minute:",
                );
                output::line(url);
            }
        },
    }
    Ok(())
}

fn folder(path: &Path, common: &Common) -> Result<Target, RuntimeError> {
    let path = std::path::absolute(path).map_err(RuntimeError::internal)?;
    let breadth = match common.allow_wide_workspace {
        true => Breadth::Any,
        false => Breadth::Project,
    };
    Ok(Target::Folder { path, breadth })
}

/// Started from a desktop, the current folder is the home folder, which nobody meant to open.
fn current_folder(common: &Common) -> Result<Target, RuntimeError> {
    let here = std::env::current_dir()
        .and_then(std::fs::canonicalize)
        .unwrap_or_else(|_| PathBuf::from("/"));
    let home = std::env::home_dir().and_then(|home| std::fs::canonicalize(home).ok());
    let wide = here.parent().is_none() || home.is_some_and(|home| home == here);
    match wide && !common.allow_wide_workspace {
        true => Ok(Target::Nothing),
        false => folder(&here, common),
    }
}

fn stop_signal() -> Result<impl Future<Output = ()>, RuntimeError> {
    let listen = |kind| signal(kind).map_err(RuntimeError::internal);
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let mut hangup = listen(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}
