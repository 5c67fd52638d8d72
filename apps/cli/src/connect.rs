//! Opens the engine of the workspace and speaks to it over the wire contract.

use std::time::Duration;

use engine::{Breadth, Client, Engine, EngineConfig, Environment};
use protocol::{ErrorCode, EventEnvelope, RuntimeError};
use store::DataHome;
use tokio::sync::mpsc;

use crate::args::Common;

/// How long a verb waits for another process that has the workspace open.
const LOCK_WAIT: Duration = Duration::from_secs(5);

pub fn config(common: Common, environment: Environment) -> Result<EngineConfig, RuntimeError> {
    Ok(EngineConfig {
        workspace: common.workspace.unwrap_or_else(|| ".".into()),
        breadth: if common.allow_wide_workspace {
            Breadth::Any
        } else {
            Breadth::Project
        },
        home: DataHome::locate()?,
        environment,
        lock_wait: LOCK_WAIT,
    })
}

pub fn open(common: Common) -> Result<Engine, RuntimeError> {
    Engine::open(config(common, Environment::of_process())?).map_err(|error| match error.code {
        // Only here is it known how a person confirms.
        ErrorCode::WorkspaceTooWide => error.action(
            "Open the project's own folder with --workspace, or add --allow-wide-workspace if you want all of it.",
        ),
        _ => error,
    })
}

/// For verbs that ask once and want no events.
pub fn client(common: Common) -> Result<(Client, mpsc::Receiver<EventEnvelope>), RuntimeError> {
    Ok(Client::in_process(open(common)?))
}
