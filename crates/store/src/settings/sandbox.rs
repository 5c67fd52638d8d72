//! What the user lets commands reach. Names and types only; `process` gives them their meaning.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SandboxSettings {
    pub view: StagedView,
    pub network: SandboxNetwork,
    /// Files and folders that commands may read although they hold credentials or lie in `/tmp`.
    pub readable_paths: Vec<PathBuf>,
    /// Files and folders outside the workspace that commands may write to.
    pub writable_paths: Vec<PathBuf>,
    pub limits: SandboxLimits,
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
}
