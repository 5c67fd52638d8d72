//! What the user lets commands reach. Names and types only; `process` gives them their meaning.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SandboxSettings {
    pub view: StagedView,
    pub network: SandboxNetwork,
    /// What the network `hosts` lets through: `example.com` is that host, `.example.com` all below it.
    pub hosts: Vec<String>,
    /// Files and folders that commands may read although they hold credentials or lie in `/tmp`.
    pub readable_paths: Vec<PathBuf>,
    /// Files and folders outside the workspace that commands may write to.
    pub writable_paths: Vec<PathBuf>,
    /// Files and folders of the workspace, relative to it, that no reading tool shows and commands find empty.
    pub secret_paths: Vec<PathBuf>,
    pub limits: SandboxLimits,
    /// What is otherwise in single workspaces, by the path of their root.
    pub workspaces: BTreeMap<PathBuf, WorkspaceSandbox>,
}

/// What one workspace has otherwise; as everywhere where absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkspaceSandbox {
    pub network: Option<SandboxNetwork>,
    pub hosts: Option<Vec<String>>,
    pub limits: Option<SandboxLimits>,
}

impl SandboxSettings {
    /// What holds in one workspace.
    pub fn in_workspace(mut self, root: &Path) -> Self {
        if let Some(own) = self.workspaces.remove(root) {
            self.network = own.network.unwrap_or(self.network);
            self.hosts = own.hosts.unwrap_or(self.hosts);
            self.limits = own.limits.unwrap_or(self.limits);
        }
        self
    }
}

/// Whether commands run in a staged view of the workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StagedView {
    /// Wherever the system allows it.
    #[default]
    Auto,
    /// Never: in a plain copy, without a sandbox.
    Off,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxNetwork {
    Off,
    /// A loopback interface of the command's own.
    #[default]
    Loopback,
    /// The hosts of `hosts`, through a proxy, and no others.
    Hosts,
    On,
}

/// What a command may use; the default where absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SandboxLimits {
    pub processes: Option<u64>,
    /// Of all processes of a command together, in bytes.
    pub memory_bytes: Option<u64>,
    /// Processor time of each process.
    pub cpu_seconds: Option<u64>,
    pub file_bytes: Option<u64>,
    /// The longest that a command of the assistant's may run; background commands have no limit.
    pub seconds: Option<u64>,
}
