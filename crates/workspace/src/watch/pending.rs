//! What has changed since it was last told. Filled by the system's events, which come on a thread that must never
//! wait; emptied by the watcher's own.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use notify::{
    Event, EventKind,
    event::{ModifyKind, RenameMode},
};

use crate::git::StateFolders;

/// Files that are told by name; of more, only their folders are.
const MAX_FILES: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct Pending {
    pub folders: BTreeSet<PathBuf>,
    pub files: BTreeSet<PathBuf>,
    pub git: bool,
    /// Events were lost: everything must be looked at again.
    pub rescan: bool,
}

impl Pending {
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty() && self.files.is_empty() && !self.git && !self.rescan
    }

    pub fn names(&self, path: &Path) -> bool {
        self.files.contains(path)
    }

    pub fn add_file(&mut self, path: PathBuf) {
        if self.files.len() < MAX_FILES {
            self.files.insert(path);
        } else if let Some(folder) = path.parent() {
            self.folders.insert(folder.to_owned());
        }
    }
}

pub(super) struct Shared {
    root: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    pending: Pending,
    git: Option<StateFolders>,
}

impl Shared {
    pub fn new(root: PathBuf) -> Self {
        Self {
            root,
            state: Mutex::default(),
        }
    }

    pub fn set_git(&self, folders: Option<&StateFolders>) {
        self.lock().git = folders.cloned();
    }

    pub fn take(&self) -> Pending {
        std::mem::take(&mut self.lock().pending)
    }

    /// Whether something is pending now and was not before.
    pub fn add(&self, event: notify::Result<Event>) -> bool {
        let mut state = self.lock();
        let was_empty = state.pending.is_empty();
        let State { pending, git } = &mut *state;
        match event {
            Ok(event) => self.sort(&event, pending, git.as_ref()),
            Err(_) => pending.rescan = true,
        }
        was_empty && !pending.is_empty()
    }

    fn sort(&self, event: &Event, pending: &mut Pending, git: Option<&StateFolders>) {
        if event.need_rescan() {
            pending.rescan = true;
        }
        let entries_changed = match event.kind {
            // Our own reads are among these: to listen to them is to hear oneself.
            EventKind::Access(_) => return,
            EventKind::Create(_) | EventKind::Remove(_) => true,
            // The two halves were told already.
            EventKind::Modify(ModifyKind::Name(RenameMode::Both)) => return,
            EventKind::Modify(ModifyKind::Name(_)) => true,
            EventKind::Modify(_) | EventKind::Any | EventKind::Other => false,
        };
        for path in &event.paths {
            if let Some(git) = git
                && (path.starts_with(&git.own) || path.starts_with(&git.common))
            {
                pending.git |= is_git_state(path, git);
                continue;
            }
            let Ok(relative) = path.strip_prefix(&self.root) else {
                continue;
            };
            let Some(folder) = relative.parent() else {
                // The root itself.
                continue;
            };
            if is_temporary(relative) {
                continue;
            }
            if entries_changed && relative != Path::new(".git") {
                pending.folders.insert(folder.to_owned());
            }
            pending.add_file(relative.to_owned());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files our own writer swaps in; what they become is told under its own name.
fn is_temporary(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_encoded_bytes().ends_with(b".vibe-coder.tmp"))
}

/// Files of a git directory whose change is a change of the repository's state.
pub(super) const STATE_FILES: &[&str] = &[
    "HEAD",
    "index",
    "packed-refs",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "FETCH_HEAD",
];

fn is_git_state(path: &Path, git: &StateFolders) -> bool {
    let name = path.file_name().unwrap_or_default();
    if path.parent() == Some(&git.own) || path.parent() == Some(&git.common) {
        return STATE_FILES.iter().any(|known| name == OsStr::new(known));
    }
    !name.as_encoded_bytes().ends_with(b".lock")
}
