//! A workspace in a temporary folder with its own data folder, and what a test does there as the user.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use changeset::{Applied, ApplyError, ChangeSets, EditError, EditOutcome, Replacement};
use protocol::{ChangeSet, ChangeSetId, SessionId, ToolCallId, changes::Selection};
use store::{DataHome, Store};
use tempfile::TempDir;
use workspace::{Breadth, Workspace, WorkspacePath};

pub struct Place {
    folder: TempDir,
    pub sets: Option<ChangeSets>,
    pub session: SessionId,
    /// What opening said.
    pub notes: Vec<String>,
}

/// Content and mode, or the target of a link, of every file.
pub type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

impl Place {
    pub fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("ws")).unwrap();
        let mut place = Place {
            folder,
            sets: None,
            session: SessionId::from_text("ses_test"),
            notes: Vec::new(),
        };
        place.reopen();
        place
    }

    /// As after a restart of the program.
    pub fn reopen(&mut self) {
        self.sets = None;
        let (sets, notes) = open(self.folder.path());
        self.sets = Some(sets);
        self.notes = notes;
    }

    pub fn close(&mut self) {
        self.sets = None;
    }

    /// Holds `ws`, the workspace, and `home`, the data folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("ws")
    }

    pub fn sets(&self) -> &ChangeSets {
        self.sets.as_ref().unwrap()
    }

    pub fn path(&self, path: impl AsRef<Path>) -> WorkspacePath {
        self.sets().workspace().resolve(path.as_ref()).unwrap()
    }

    pub fn put(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn fixture(&self, name: &str) -> Vec<u8> {
        let bytes = fixture(name);
        self.put(name, &bytes);
        bytes
    }

    pub fn set_mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub fn get(&self, path: impl AsRef<Path>) -> Vec<u8> {
        fs::read(self.root().join(path)).unwrap()
    }

    pub fn text(&self, path: &str) -> String {
        String::from_utf8(self.get(path)).unwrap()
    }

    pub fn exists(&self, path: &str) -> bool {
        self.root().join(path).symlink_metadata().is_ok()
    }

    pub fn tree(&self) -> Tree {
        tree(&self.root())
    }

    pub fn edit(&self, path: &str, old: &str, new: &str) -> Result<EditOutcome, EditError> {
        self.sets()
            .edit(&self.session, &call(), &self.path(path), &[replacement(old, new)])
    }

    pub fn create(&self, path: &str, text: &str) -> Result<EditOutcome, EditError> {
        self.sets().create(&self.session, &call(), &self.path(path), text)
    }

    pub fn delete(&self, path: &str) -> Result<EditOutcome, EditError> {
        self.sets().delete(&self.session, &call(), &self.path(path))
    }

    pub fn rename(&self, from: &str, to: &str) -> Result<EditOutcome, EditError> {
        self.sets()
            .rename(&self.session, &call(), &self.path(from), &self.path(to))
    }

    pub fn patch(&self, text: &str) -> Result<EditOutcome, EditError> {
        self.sets().patch(&self.session, &call(), text)
    }

    pub fn propose(&self) -> ChangeSet {
        self.sets().propose(&self.session).unwrap().unwrap()
    }

    pub fn accept_all(&self) -> Result<Applied, ApplyError> {
        let set = self.propose();
        self.sets().accept(&set.id, &Selection::All)
    }

    pub fn accept_hunk(&self, id: &ChangeSetId, path: &str, number: u32) -> Result<Applied, ApplyError> {
        self.sets().accept(id, &hunk(path, number))
    }
}

pub fn open(folder: &Path) -> (ChangeSets, Vec<String>) {
    let home = DataHome::at(folder.join("home"));
    let (store, _) = Store::open(&home, &folder.join("ws"), Duration::from_secs(5)).unwrap();
    let workspace = Workspace::open(&folder.join("ws"), Breadth::Any).unwrap();
    ChangeSets::open(store, workspace).unwrap()
}

pub fn call() -> ToolCallId {
    ToolCallId("call_1".to_owned())
}

pub fn replacement(old: &str, new: &str) -> Replacement {
    Replacement {
        old: old.to_owned(),
        new: new.to_owned(),
    }
}

pub fn file(path: &str) -> Selection {
    Selection::File {
        path: path.to_owned(),
    }
}

pub fn hunk(path: &str, number: u32) -> Selection {
    Selection::Hunk {
        path: path.to_owned(),
        number,
    }
}

pub fn fixture(name: &str) -> Vec<u8> {
    fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures")
            .join(name),
    )
    .unwrap()
}

pub fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut pending = vec![root.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(root).unwrap().to_owned();
            if metadata.is_dir() {
                pending.push(path.clone());
                tree.insert(name, (metadata.permissions().mode(), Vec::new()));
            } else if metadata.is_symlink() {
                let target = fs::read_link(&path)
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes();
                tree.insert(name, (0, target));
            } else {
                tree.insert(
                    name,
                    (metadata.permissions().mode() & 0o7777, fs::read(&path).unwrap()),
                );
            }
        }
    }
    tree
}
