//! The workspace with a draft over it, as the choice of checks sees it, and the places that runners name in it.

use checks::{Check, Tree};
use protocol::{ChangeSet, FileStatus};
use workspace::{Overlay, Workspace, list, read_bytes};

/// Manifests and lists of packages are small; what is larger is no such thing.
const LARGEST_MANIFEST: u64 = 1024 * 1024;
const MOST_NAMES: usize = 5_000;
/// Written by tools: a change of nothing else is no work to verify.
const LOCKS: &[&str] = &[
    "Cargo.lock",
    "package-lock.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "uv.lock",
    "poetry.lock",
    "go.sum",
    "Gemfile.lock",
    "composer.lock",
];

/// Disk and draft, read as asked for.
pub struct Shown<'a> {
    pub workspace: &'a Workspace,
    pub overlay: &'a Overlay,
}

impl Tree for Shown<'_> {
    fn names(&self, folder: &str) -> Vec<String> {
        let path = match folder.is_empty() {
            true => self.workspace.top(),
            false => match self.workspace.resolve(folder) {
                Ok(path) => path,
                Err(_) => return Vec::new(),
            },
        };
        match list::list(self.workspace, &path, self.overlay, MOST_NAMES) {
            Ok(listing) => listing
                .entries
                .iter()
                .map(|entry| entry.name.to_string_lossy().into_owned())
                .collect(),
            // It may not exist; then there is nothing in it.
            Err(_) => Vec::new(),
        }
    }

    fn text(&self, path: &str) -> Option<String> {
        let path = self.workspace.resolve(path).ok()?;
        let file = read_bytes(&path, self.overlay, LARGEST_MANIFEST).ok()?;
        Some(String::from_utf8_lossy(&file.bytes).into_owned())
    }
}

impl Shown<'_> {
    /// Narrow before wide; what only lints is left to whoever asks for it.
    pub fn checks(&self, changed: &[String]) -> Vec<Check> {
        let mut chosen = checks::choose(self, changed);
        chosen.retain(|check| check.kind != checks::Kind::Lint);
        chosen
    }

    /// A runner's file as a path of the workspace, where it is one: it may have been written from the folder of the
    /// check, from the root, or in full.
    pub fn place(&self, file: &str, folder: &str) -> String {
        let root = self.workspace.root().to_string_lossy();
        let inner = match file.strip_prefix(&*root) {
            Some(inner) => inner.trim_start_matches('/'),
            None => file.trim_start_matches("./"),
        };
        let beside = format!("{folder}/{inner}");
        let candidates = match folder.is_empty() || folder == "." {
            true => vec![inner],
            false => vec![beside.as_str(), inner],
        };
        let found = candidates.into_iter().find(|path| {
            self.workspace.resolve(path).is_ok_and(|path| {
                self.overlay
                    .get(path.relative())
                    .map_or_else(|| path.absolute().is_file(), |entry| entry.is_content())
            })
        });
        found.unwrap_or(inner).to_owned()
    }
}

/// The paths that a proposal changes, without those that tools write on the way.
pub fn changed_paths(set: &ChangeSet) -> Vec<String> {
    let waits = set
        .files
        .iter()
        .filter(|file| matches!(file.status, FileStatus::Pending | FileStatus::Conflicted));
    waits
        .flat_map(|file| [Some(file.path.clone()), file.old_path.clone()])
        .flatten()
        .filter(|path| !LOCKS.contains(&path.rsplit('/').next().unwrap_or(path)))
        .collect()
}
