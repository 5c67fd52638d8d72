//! The file `context.yaml` that says how a context's backend is started and asked. A field that is not known is
//! refused: a restriction that is not understood must not be passed over.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use protocol::{ErrorCode, RuntimeError};
use serde::Deserialize;

/// A sidecar: a program that serves HTTP on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SidecarManifest {
    pub name: String,
    /// Program and arguments. A program with a `/` is relative to the folder.
    pub command: Vec<String>,
    pub port: PortChoice,
    /// Answers 2xx once it serves.
    pub health: String,
    pub ready_within: Duration,
    /// The folder of the manifest, in which the program runs.
    pub folder: PathBuf,
}

/// Who chooses the port, always on 127.0.0.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PortChoice {
    /// The program listens on port 0 and prints `{"port": N}` as a line of its standard output.
    Printed,
    /// The host names a free one in `PORT`.
    Assigned,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    name: String,
    kind: Kind,
    command: Vec<String>,
    #[serde(default = "printed")]
    port: PortChoice,
    #[serde(default = "health")]
    health: String,
    #[serde(default = "ready_seconds")]
    ready_timeout_seconds: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Http,
}

fn printed() -> PortChoice {
    PortChoice::Printed
}

fn health() -> String {
    "/health".to_owned()
}

fn ready_seconds() -> u64 {
    20
}

const FILE: &str = "context.yaml";
const LARGEST: u64 = 64 * 1024;
const LONGEST_START_SECONDS: u64 = 300;

impl SidecarManifest {
    /// Reads the manifest of a context's folder.
    pub fn read(folder: &Path) -> Result<Self, RuntimeError> {
        let file = folder.join(FILE);
        let text = std::fs::metadata(&file)
            .and_then(|metadata| match metadata.len() <= LARGEST {
                true => std::fs::read_to_string(&file),
                false => Err(std::io::Error::other("it is larger than 64 KiB")),
            })
            .map_err(|error| refused(&file, error))?;
        Self::parse(folder, &text).map_err(|reason| refused(&file, reason))
    }

    fn parse(folder: &Path, text: &str) -> Result<Self, String> {
        let file: File = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
        let Kind::Http = file.kind;
        if file.command.first().is_none_or(|program| program.is_empty()) {
            return Err("command names no program".to_owned());
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "/-_.~".contains(c);
        if !file.health.starts_with('/') || !file.health.chars().all(plain) {
            return Err("health is not a path as /health".to_owned());
        }
        if !(1..=LONGEST_START_SECONDS).contains(&file.ready_timeout_seconds) {
            return Err(format!(
                "readyTimeoutSeconds is not from 1 to {LONGEST_START_SECONDS}"
            ));
        }
        Ok(Self {
            name: file.name,
            command: file.command,
            port: file.port,
            health: file.health,
            ready_within: Duration::from_secs(file.ready_timeout_seconds),
            folder: folder.to_owned(),
        })
    }
}

fn refused(file: &Path, reason: impl std::fmt::Display) -> RuntimeError {
    RuntimeError::new(
        ErrorCode::ContextManifest,
        format!("{} cannot be used.", file.display()),
    )
    .because(reason)
    .action("Correct the file, then start Vibe Coder again.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_is_refused() {
        let good = "name: Echo\nkind: http\ncommand: [python3, server.py]\n";
        let manifest = SidecarManifest::parse(Path::new("/c"), good).unwrap();
        assert_eq!(manifest.health, "/health");
        assert_eq!(manifest.port, PortChoice::Printed);
        for (change, expected) in [
            ("sandbox: strict\n", "sandbox"),
            ("health: http://elsewhere/\n", "health is not a path"),
            ("health: \"/h\\r\\nHost: x\"\n", "health is not a path"),
            ("readyTimeoutSeconds: 0\n", "readyTimeoutSeconds"),
            ("port: 8080\n", "8080"),
        ] {
            let reason = SidecarManifest::parse(Path::new("/c"), &format!("{good}{change}")).unwrap_err();
            assert!(reason.contains(expected), "{change}: {reason}");
        }
        let empty = good.replace("[python3, server.py]", "[]");
        assert!(SidecarManifest::parse(Path::new("/c"), &empty).is_err());
        let other = good.replace("kind: http", "kind: browser");
        assert!(SidecarManifest::parse(Path::new("/c"), &other).is_err());
    }
}
