//! Files that the user keeps from the assistant: no reading tool shows them, and commands find them empty (P05).

use std::path::{Path, PathBuf};

use protocol::{ErrorCode, RuntimeError};
use workspace::WorkspacePath;

use crate::rooms::Rooms;

/// Paths relative to the workspace, through links: a folder stands for all below it.
#[derive(Clone, Debug, Default)]
pub struct SecretPaths(Vec<PathBuf>);

impl SecretPaths {
    pub fn of(rooms: &Rooms) -> Result<Self, RuntimeError> {
        let settings = rooms
            .home
            .settings()?
            .sandbox
            .in_workspace(rooms.workspace.root());
        let real = |path: PathBuf| match rooms.workspace.resolve(&path) {
            Ok(resolved) => resolved.relative().to_owned(),
            Err(_) => path,
        };
        Ok(Self(settings.secret_paths.into_iter().map(real).collect()))
    }

    pub fn holds(&self, relative: &Path) -> bool {
        self.0.iter().any(|secret| relative.starts_with(secret))
    }

    /// # Errors
    /// The path is one of them: a block, which is told as one.
    pub fn check(&self, path: &WorkspacePath) -> Result<(), RuntimeError> {
        match self.holds(path.relative()) {
            true => Err(RuntimeError::new(
                ErrorCode::PermissionBlocked,
                format!(
                    "{} is on the user's list of secret files and is not read.",
                    path.display()
                ),
            )
            .action("Ask the user for what you need of it, or work without it.")),
            false => Ok(()),
        }
    }

    /// Where they are.
    pub fn absolute(&self, root: &Path) -> Vec<PathBuf> {
        self.0.iter().map(|path| root.join(path)).collect()
    }

    /// A diff without the parts about them, and whether any was left out.
    pub fn without(&self, diff: &str) -> (String, bool) {
        if self.0.is_empty() {
            return (diff.to_owned(), false);
        }
        let mut kept = String::new();
        let mut left_out = false;
        let mut shows = true;
        for line in diff.split_inclusive('\n') {
            if let Some(names) = line.trim_end().strip_prefix("diff --git ") {
                // Names with odd characters are quoted; one that cannot be read is left out with them.
                let plain = names.replace('"', "");
                shows = !self.0.iter().any(|secret| {
                    let secret = secret.to_string_lossy();
                    plain.contains(&format!("a/{secret}")) || plain.contains(&format!("b/{secret}"))
                });
                left_out |= !shows;
            }
            if shows {
                kept.push_str(line);
            }
        }
        (kept, left_out)
    }
}
