//! Where a workspace keeps its repository when that is not in it: a worktree's or a submodule's `.git` is a file that
//! names another folder.
//!
//! Such a file comes with a checkout and may name anything, so it is believed only where the folder it names is a
//! repository that in turn names this workspace.

use std::path::{Path, PathBuf};

/// A repository outside the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// Everything that git reads and writes, both what is this workspace's own and what it shares.
    pub folder: PathBuf,
}

impl Elsewhere {
    pub fn of(root: &Path) -> Option<Self> {
        let link = root.join(".git");
        let text = std::fs::read_to_string(&link).ok()?;
        let own = root
            .join(text.trim().strip_prefix("gitdir:")?.trim())
            .canonicalize()
            .ok()?;
        let folder = match std::fs::read_to_string(own.join("commondir")) {
            Ok(common) => own.join(common.trim()).canonicalize().ok()?,
            Err(_) => own.clone(),
        };
        let is_repository = folder.join("HEAD").is_file()
            && folder.join("objects").is_dir()
            && folder.join("refs").is_dir()
            && own.starts_with(&folder);
        (is_repository && names(&own, root)).then_some(Self { folder })
    }

    /// What stays closed when git may write: it runs programs later.
    pub fn closed(&self) -> Vec<PathBuf> {
        let mut closed: Vec<PathBuf> = ["hooks", "config"].map(|name| self.folder.join(name)).to_vec();
        closed.retain(|path| path.exists());
        closed
    }
}

/// Whether a repository's own part says that its files are in `root`.
fn names(own: &Path, root: &Path) -> bool {
    let is_root = |path: PathBuf| path.canonicalize().is_ok_and(|path| path == root);
    // A worktree's has the way back.
    if let Ok(back) = std::fs::read_to_string(own.join("gitdir")) {
        return is_root(own.join(back.trim()).parent().unwrap_or(own).to_owned());
    }
    // A submodule's has a setting.
    let config = std::fs::read_to_string(own.join("config")).unwrap_or_default();
    let worktree = config.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "worktree").then(|| own.join(value.trim()))
    });
    worktree.is_some_and(is_root)
}
