//! A folder to try things in.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use workspace::{Breadth, Overlay, OverlayEntry, Workspace, WorkspacePath};

/// A temporary folder with a workspace `ws` in it, so that there is an outside.
pub struct Place {
    pub dir: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("ws")).unwrap();
        Self { dir }
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("ws")
    }

    /// Writes a file below the workspace, making its folders.
    pub fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub fn link(&self, at: &str, target: impl AsRef<Path>) -> &Self {
        std::os::unix::fs::symlink(target, self.root().join(at)).unwrap();
        self
    }

    pub fn open(&self) -> Workspace {
        Workspace::open(&self.root(), Breadth::Project).unwrap()
    }

    /// Runs a fixture script with a folder to make as its argument, which becomes the workspace.
    pub fn made_by(script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let script = fixture(script);
        let status = Command::new("sh").arg(script).arg(dir.path().join("ws")).status();
        assert!(status.unwrap().success());
        Self { dir }
    }

    pub fn git(&self, args: &[&str]) -> String {
        git_in(&self.root(), args)
    }
}

pub fn git_in(dir: &Path, args: &[&str]) -> String {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"];
    let output = Command::new("git")
        .args(identity)
        .args(args)
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

pub fn fixture_bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).unwrap()
}

pub fn paths(workspace: &Workspace, paths: &[&str]) -> Vec<WorkspacePath> {
    paths
        .iter()
        .map(|path| workspace.resolve(path).unwrap())
        .collect()
}

/// `None` deletes.
pub fn draft(entries: &[(&str, Option<&str>)]) -> Overlay {
    let entries = entries.iter().map(|(path, content)| {
        let entry = match content {
            Some(content) => OverlayEntry::Content {
                bytes: content.as_bytes().into(),
                mode: 0o644,
            },
            None => OverlayEntry::Deleted,
        };
        (PathBuf::from(path), entry)
    });
    Overlay {
        entries: entries.collect(),
    }
}

pub fn shown(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| workspace::display_path(path)).collect()
}
