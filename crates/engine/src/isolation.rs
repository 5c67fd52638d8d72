//! Whether commands can run in a staged view on this machine, proved once, and what they may reach from it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use process::{
    CommandEnvironment,
    staged::{self, AllowedHosts, Limits, Network, Sandbox},
};
use protocol::RuntimeError;
use serde::{Deserialize, Serialize};
use store::{Document, Durability, SandboxNetwork, SandboxSettings, StagedView, Store};

/// Document kind and id of a self-test that passed.
const KIND: &str = "isolation";
const ID: &str = "self-test";

/// How commands are kept from the user's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Level {
    /// A staged view and a sandbox, seen to hold.
    View,
    /// A plain copy without a sandbox, and why.
    Copy { because: String },
}

/// Finds out at the first command.
#[derive(Debug, Default)]
pub struct Isolation {
    known: Mutex<Option<Level>>,
}

impl Isolation {
    /// Blocks for the self-test the first time, unless it passed on this very system before.
    pub fn level(&self, store: &Store, settings: &SandboxSettings) -> Level {
        if settings.view == StagedView::Off {
            return Level::Copy {
                because: "the staged view is switched off in the settings".to_owned(),
            };
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert_with(|| test_or_recall(store)).clone()
    }

    /// A view that the self-test promised could not be had for this workspace. Commands use a copy from now on.
    pub fn refused(&self, because: &str) {
        let level = Level::Copy {
            because: because.to_owned(),
        };
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }
}

/// What a test's result depends on. After a change of any of it the test is made again.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct System {
    boot: String,
    kernel: String,
    program: String,
    user: String,
}

impl System {
    fn now() -> Option<Self> {
        let read = |path: &str| Some(std::fs::read_to_string(path).ok()?.trim().to_owned());
        let program = Path::new("/proc/self/exe").metadata().ok()?;
        let status = read("/proc/self/status")?;
        Some(Self {
            boot: read("/proc/sys/kernel/random/boot_id")?,
            kernel: read("/proc/sys/kernel/osrelease")?,
            program: format!("{} {:?}", program.len(), program.modified().ok()?),
            user: status.lines().find(|line| line.starts_with("Uid:"))?.to_owned(),
        })
    }
}

fn test_or_recall(store: &Store) -> Level {
    let now = System::now();
    let known = store.document(KIND, ID).ok().flatten();
    let known = known.and_then(|value| serde_json::from_value::<System>(value).ok());
    if now.is_some() && known == now {
        return Level::View;
    }
    let tested = match store.scratch_dir() {
        Ok(folder) => staged::self_test(folder.path()).map_err(|error| error.to_string()),
        Err(error) => Err(RuntimeError::from(error).message),
    };
    match tested {
        Ok(_) => {
            let document = Document {
                kind: KIND.to_owned(),
                id: ID.to_owned(),
                session_id: None,
                value: now.and_then(|system| serde_json::to_value(system).ok()),
            };
            // If it cannot be kept, the next start tests again.
            let _ = store.put_documents(&[document], Durability::Normal);
            Level::View
        }
        Err(because) => Level::Copy { because },
    }
}

/// What commands may reach: the defaults, with the user's settings and without the product's own data.
pub fn sandbox(settings: &SandboxSettings, environment: &CommandEnvironment, data: &Path) -> Sandbox {
    let expand = |path: &PathBuf| match (path.strip_prefix("~"), environment.get("HOME")) {
        (Ok(rest), Some(home)) => Path::new(home).join(rest),
        _ => path.clone(),
    };
    let mut sandbox = Sandbox::for_environment(environment);
    sandbox.network = match settings.network {
        SandboxNetwork::Off => Network::Off,
        SandboxNetwork::Loopback => Network::Loopback,
        SandboxNetwork::Hosts => Network::Hosts,
        SandboxNetwork::On => Network::On,
    };
    sandbox.hosts = AllowedHosts::new(settings.hosts.iter().cloned());
    sandbox
        .readable
        .extend(settings.readable_paths.iter().map(expand));
    sandbox
        .writable
        .extend(settings.writable_paths.iter().map(expand));
    sandbox.hidden.push(data.to_owned());
    let defaults = Limits::default();
    let chosen = &settings.limits;
    sandbox.limits = Limits {
        processes: chosen.processes.or(defaults.processes),
        memory: chosen.memory_bytes.or(defaults.memory),
        cpu_seconds: chosen.cpu_seconds.or(defaults.cpu_seconds),
        file_size: chosen.file_bytes.or(defaults.file_size),
        ..defaults
    };
    sandbox
}
