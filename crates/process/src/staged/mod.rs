//! Running a command in a staged view: the workspace at its own path, with the agent's draft in it, while the real
//! files stay as they are.
//!
//! A helper mode of this same program enters its own user, mount, process and network namespaces, lays an overlay over
//! the workspace (the real files below, the draft and whatever the command writes in a layer above), makes everything
//! else read-only, gives up all rights it can and becomes the shell. What the command wrote is left in the upper
//! layer; what to make of it is its owner's business.
//!
//! Owns how a view is entered and what a command can reach from it. It knows nothing of drafts or change sets: the
//! layers come as folders.

mod gate;
mod helper;
mod init;
mod launch;
mod layers;
mod mounts;
mod probe;
mod restrict;
mod spec;
mod sys;
mod watch;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use gate::AllowedHosts;
pub(crate) use gate::{Gate, variables as proxy_variables};
pub use helper::run_if_asked;
pub(crate) use launch::{Launch, Launched, StatusPipe, THIS_PROGRAM};
pub use probe::{SelfTest, SelfTestError, self_test};

use crate::{CommandEnvironment, policy::tables};

/// The layers of one command's view. All of it but the workspace is below a folder that belongs to this command alone.
#[derive(Clone, Debug)]
pub struct View {
    /// The workspace, and the path at which the command finds the view.
    pub root: PathBuf,
    /// Holds the draft as files and whiteouts; afterwards also what the command changed. On a file system that can be
    /// an overlay's upper layer.
    pub upper: PathBuf,
    /// Empty, on the same file system as `upper`.
    pub work: PathBuf,
    /// An empty folder for the command's `/tmp` and for what it writes to the user's caches. Thrown away afterwards.
    pub scratch: PathBuf,
    /// Folders of the workspace, relative to it, that are the real ones: what git ignores, so that build results and
    /// installed packages persist. One that does not exist or is a link is left out.
    pub kept: Vec<PathBuf>,
    pub repository: Repository,
}

/// What a command may do to the workspace's own `.git`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Repository {
    #[default]
    ReadOnly,
    /// A person allowed it. Hooks and configuration stay read-only: they run programs later.
    Writable,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// No interface at all.
    Off,
    /// A loopback interface of the command's own, on which nobody else listens.
    #[default]
    Loopback,
    /// The same, and a proxy that leads to the hosts of [`Sandbox::hosts`] and no others.
    Hosts,
    /// The machine's network.
    On,
}

/// What a command may use. A limit that is absent does not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Processes at once.
    pub processes: Option<u64>,
    /// Of all processes together, in bytes.
    pub memory: Option<u64>,
    /// Seconds of processor time of each process.
    pub cpu_seconds: Option<u64>,
    /// Bytes of each file it writes.
    pub file_size: Option<u64>,
    /// Bytes that stay free on the file systems it writes to.
    pub free_space: Option<u64>,
}

impl Default for Limits {
    /// 1,024 processes, three quarters of the machine's memory, files of 16 GiB, 512 MiB left free.
    fn default() -> Self {
        Self {
            processes: Some(1_024),
            memory: watch::machine_memory().map(|bytes| bytes / 4 * 3),
            cpu_seconds: None,
            file_size: Some(16 << 30),
            free_space: Some(512 << 20),
        }
    }
}

/// What a command can reach beside the view.
#[derive(Clone, Debug, Default)]
pub struct Sandbox {
    pub network: Network,
    /// What [`Network::Hosts`] lets through.
    pub hosts: AllowedHosts,
    /// Stays visible where it would be hidden: in `/tmp` and `/run`, or among `hidden`.
    pub readable: Vec<PathBuf>,
    /// Real files and folders the command may write to.
    pub writable: Vec<PathBuf>,
    /// Files and folders within `writable` ones that the command may only read.
    pub closed: Vec<PathBuf>,
    /// Files and folders that the command finds empty.
    pub hidden: Vec<PathBuf>,
    /// Folders the command may write to without changing them: what it writes is thrown away.
    pub caches: Vec<PathBuf>,
    pub limits: Limits,
}

impl Sandbox {
    /// What suits any project: tools and their configuration can be read, credentials cannot, package caches take
    /// writes that are thrown away.
    pub fn for_environment(environment: &CommandEnvironment) -> Self {
        let path_of = |name: &str| {
            environment
                .get(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let home = path_of("HOME");
        let in_home = |names: &[&str]| -> Vec<PathBuf> {
            let places = home
                .iter()
                .flat_map(|home| names.iter().map(|name| home.join(name)));
            places.collect()
        };
        let mut readable: Vec<PathBuf> = home.iter().cloned().collect();
        if let Some(path) = environment.get("PATH") {
            readable.extend(std::env::split_paths(path).filter(|folder| folder.is_absolute()));
        }
        const TOOLS: [&str; 9] = [
            "CARGO_HOME",
            "RUSTUP_HOME",
            "VIRTUAL_ENV",
            "GOROOT",
            "GOPATH",
            "JAVA_HOME",
            "NVM_DIR",
            "PYENV_ROOT",
            "VOLTA_HOME",
        ];
        readable.extend(TOOLS.iter().filter_map(|name| path_of(name)));
        let mut hidden = in_home(tables::CREDENTIAL_PLACES_IN_HOME);
        hidden.extend(in_home(&[
            ".netrc",
            ".git-credentials",
            ".pgpass",
            ".my.cnf",
            ".pypirc",
            ".docker/run",
        ]));
        hidden.extend(tables::CREDENTIAL_SYSTEM_FILES.iter().map(PathBuf::from));
        let mut caches = in_home(&[
            ".cache",
            ".cargo",
            ".npm",
            ".gradle",
            ".m2",
            ".ivy2",
            ".sbt",
            ".nuget",
            ".bun",
            ".deno",
            "go",
            ".local/share/pnpm",
            ".local/share/uv",
            ".composer",
            ".pub-cache",
            ".hex",
            ".mix",
        ]);
        const CACHES: [&str; 8] = [
            "XDG_CACHE_HOME",
            "CARGO_HOME",
            "GOPATH",
            "GOCACHE",
            "GOMODCACHE",
            "NPM_CONFIG_CACHE",
            "GRADLE_USER_HOME",
            "UV_CACHE_DIR",
        ];
        caches.extend(CACHES.iter().filter_map(|name| path_of(name)));
        Self {
            readable,
            hidden,
            caches,
            ..Self::default()
        }
    }

    /// What is granted, for a card: "no network, writes only here".
    pub fn in_words(&self) -> String {
        let network = match self.network {
            Network::Off => "no network".to_owned(),
            Network::Loopback => "no network but its own loopback".to_owned(),
            Network::Hosts if self.hosts.names().is_empty() => "no network: no host is allowed".to_owned(),
            Network::Hosts => format!("network only to {}", self.hosts.names().join(", ")),
            Network::On => "with network".to_owned(),
        };
        let writes = match self.writable.as_slice() {
            [] => "writes only here".to_owned(),
            places => {
                let shown: Vec<String> = places.iter().map(|path| path.display().to_string()).collect();
                format!("writes only here and to {}", shown.join(", "))
            }
        };
        format!("{network}, {writes}")
    }
}

/// A command's view and what else it may reach.
#[derive(Clone, Debug)]
pub struct Staged {
    pub view: View,
    pub sandbox: Sandbox,
}

/// The folder of a view's files and the program that enters it; see [`View`].
fn is_below(path: &Path, folder: &Path) -> bool {
    path != folder && path.starts_with(folder)
}
