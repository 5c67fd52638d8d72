//! Opens the engine of the workspace and speaks to it over the wire contract.

use std::{path::Path, time::Duration};

use engine::{Breadth, Client, Engine, EngineConfig, Environment, listen};
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
    start(config(common, Environment::of_process())?)
}

fn start(config: EngineConfig) -> Result<Engine, RuntimeError> {
    Engine::open(config).map_err(|error| match error.code {
        // Only here is it known how a person confirms.
        ErrorCode::WorkspaceTooWide => error.action(
            "Open the project's own folder with --workspace, or add --allow-wide-workspace if you want all of it.",
        ),
        _ => error,
    })
}

/// Whose engine a verb speaks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// Started for this verb, and to be ended by it.
    Ours,
    /// A window's. It goes on when we leave.
    Shared,
}

pub struct Connection {
    pub client: Client,
    pub events: mpsc::Receiver<EventEnvelope>,
    pub ownership: Ownership,
}

/// The engine that has the workspace open already, as in a window, else one of our own.
pub async fn connect(common: Common) -> Result<Connection, RuntimeError> {
    let config = config(common, Environment::of_process())?;
    let (home, workspace) = (config.home.clone(), config.workspace.clone());
    if let Some(shared) = attach(&home, &workspace).await? {
        return Ok(shared);
    }
    match start(config) {
        Ok(engine) => {
            let (client, events) = Client::in_process(engine);
            Ok(Connection {
                client,
                events,
                ownership: Ownership::Ours,
            })
        }
        // It may have begun to listen only after we looked.
        Err(error) if error.code == ErrorCode::StoreLocked => attach(&home, &workspace).await?.ok_or(error),
        Err(error) => Err(error),
    }
}

async fn attach(home: &DataHome, workspace: &Path) -> Result<Option<Connection>, RuntimeError> {
    let attached = listen::attach(home, workspace).await?;
    Ok(attached.map(|(client, events)| Connection {
        client,
        events,
        ownership: Ownership::Shared,
    }))
}

/// For verbs that ask and want no events.
pub async fn client(common: Common) -> Result<Client, RuntimeError> {
    let Connection {
        client, mut events, ..
    } = connect(common).await?;
    // Nobody subscribes, so nothing arrives.
    events.close();
    Ok(client)
}
