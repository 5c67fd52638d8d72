//! Which paths of a workspace are noise, asked one by one: for what comes from somewhere else than a walk.
//!
//! Only the rules on the disk count. A draft that adds a line to `.gitignore` changes nothing here, since what is
//! ignored is not reviewed.

use std::{
    collections::HashMap,
    ffi::OsStr,
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
};

use crate::{
    SkipReason, Workspace,
    beneath::{self, NodeKind},
    rules::Rules,
};

/// The rules of a workspace as they were when each folder was first asked about. Short-lived.
pub struct IgnoreRules {
    root: OwnedFd,
    top: Rules,
    /// For each folder the rules of its entries, or why the folder itself is left out.
    folders: HashMap<PathBuf, Result<Rules, SkipReason>>,
}

/// An entry that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The outermost folder, or the path itself, that a rule is about.
    pub path: PathBuf,
    pub reason: SkipReason,
}

impl IgnoreRules {
    pub fn of(workspace: &Workspace) -> io::Result<Self> {
        let root = workspace.open_root()?;
        let top = Rules::at_root(workspace.root(), root.as_fd());
        Ok(Self {
            root,
            top,
            folders: HashMap::new(),
        })
    }

    /// Whether a path (relative to the root) is left out of walks, and by which of its folders. It need not exist.
    pub fn look_up(&mut self, relative: &Path, is_directory: bool) -> Option<Ignored> {
        let mut rules = self.top.clone();
        let mut place = PathBuf::new();
        let mut parts = relative.components().peekable();
        while let Some(part) = parts.next() {
            place.push(part);
            if parts.peek().is_none() {
                let reason = rules.skips(&place, is_directory)?;
                return Some(Ignored { path: place, reason });
            }
            match self.enter(&rules, &place) {
                Ok(inner) => rules = inner,
                Err(reason) => return Some(Ignored { path: place, reason }),
            }
        }
        None
    }

    fn enter(&mut self, outer: &Rules, folder: &Path) -> Result<Rules, SkipReason> {
        if let Some(known) = self.folders.get(folder) {
            return known.clone();
        }
        let inner = match outer.skips(folder, true) {
            Some(reason) => Err(reason),
            // A folder that the disk does not have brings no rules.
            None => Ok(match beneath::open_directory(&self.root, folder) {
                Ok(directory) => outer.enter(folder, directory.as_fd()),
                Err(_) => outer.clone(),
            }),
        };
        self.folders.insert(folder.to_owned(), inner.clone());
        inner
    }

    /// The folders directly in the workspace that are left out.
    pub fn folders_at_top(&self) -> io::Result<Vec<Ignored>> {
        let mut found = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.root)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b".." | b".git") {
                continue;
            }
            let path = PathBuf::from(OsStr::from_bytes(name));
            let kind = match entry.file_type() {
                rustix::fs::FileType::Unknown => {
                    beneath::stat(&self.root, &path).map(|stat| NodeKind::of(&stat))?
                }
                known => NodeKind::from_type(known),
            };
            if kind == NodeKind::Directory
                && let Some(reason) = self.top.skips(&path, true)
            {
                found.push(Ignored { path, reason });
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make the files they read")]
mod tests {
    use super::*;
    use crate::Breadth;

    #[test]
    fn a_path_is_judged_with_the_folders_above_it() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put(".git/HEAD", "");
        put(".gitignore", "/target\n*.log\n");
        put("app/.gitignore", "out.txt\n!keep.log\n");
        put("app/main.rs", "");
        put("target/x", "");
        put("node_modules/y", "");
        let workspace = Workspace::open(folder.path(), Breadth::Any).unwrap();
        let mut rules = IgnoreRules::of(&workspace).unwrap();
        for (path, is_directory, expected) in [
            ("target", true, Some("target")),
            ("target/debug/deps/a", false, Some("target")),
            ("app/target/x", false, Some("app/target")),
            ("app/main.rs", false, None),
            ("app/out.txt", false, Some("app/out.txt")),
            ("app/keep.log", false, None),
            ("app/new/other.log", false, Some("app/new/other.log")),
            ("deep/node_modules/z", false, Some("deep/node_modules")),
            ("src", true, None),
        ] {
            let found = rules.look_up(Path::new(path), is_directory);
            assert_eq!(
                found.map(|found| found.path),
                expected.map(PathBuf::from),
                "{path}"
            );
        }
        let mut top: Vec<PathBuf> = rules
            .folders_at_top()
            .unwrap()
            .into_iter()
            .map(|found| found.path)
            .collect();
        top.sort();
        assert_eq!(top, ["node_modules", "target"].map(PathBuf::from));
    }
}
