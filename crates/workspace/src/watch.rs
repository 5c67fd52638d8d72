//! Telling what changes in the folders somebody looks at, and in the repository's state.
//!
//! The system's watches are few and shared with every other program, so only the folders that are shown get one,
//! each for itself; ignored folders and git's objects never do. Where watches run out, and for ignored folders that
//! are shown, the folder is looked at once a second instead. It tells what to look at again, never what it is now.

mod look;
mod pending;
mod targets;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use notify::{Config, RecommendedWatcher, Watcher as _};

use crate::{Workspace, git};
use pending::{Pending, Shared};
use targets::{Failure, Targets};

/// What a client should look at again. Paths are relative to the workspace root; the root is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Files {
        /// Folders whose entries changed.
        folders: BTreeSet<PathBuf>,
        /// Files whose content changed or that came or went.
        files: BTreeSet<PathBuf>,
    },
    /// `HEAD`, the index or a branch.
    Git,
    /// Whether changes are seen as they happen, told when that changes. When not, folders are looked at once a
    /// second, and the reason says why.
    Live(Result<(), String>),
}

#[derive(Clone, Copy, Debug)]
pub struct WatchOptions {
    /// Changes within this time of the first are told together.
    pub gather: Duration,
    /// Between two looks at a folder that has no watch.
    pub look_every: Duration,
    /// The most watches that are taken of the system's.
    pub max_watches: usize,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self {
            gather: Duration::from_millis(150),
            look_every: Duration::from_secs(1),
            max_watches: 2_048,
        }
    }
}

/// Watches until it is dropped, which releases every watch.
pub struct Watcher {
    messages: mpsc::Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

enum Message {
    /// Something is pending.
    Wake,
    Show(BTreeSet<PathBuf>),
    Stop,
}

impl Watcher {
    /// Watches the root and the repository's state, and hands what changes to `deliver`, on a thread of its own.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(
        workspace: &Workspace,
        options: WatchOptions,
        deliver: impl FnMut(Change) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (messages, inbox) = mpsc::channel();
        let wake = messages.clone();
        let workspace = workspace.clone();
        let thread = std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || Watching::new(workspace, options, wake, deliver).run(&inbox))?;
        Ok(Self {
            messages,
            thread: Some(thread),
        })
    }

    /// Replaces the folders that are shown, relative to the root. What is no folder is left out until it is one.
    pub fn show(&self, folders: BTreeSet<PathBuf>) {
        // The thread ends only when this does.
        let _ = self.messages.send(Message::Show(folders));
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.messages.send(Message::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Watching<D> {
    workspace: Workspace,
    options: WatchOptions,
    shared: Arc<Shared>,
    /// Absent where the system gives none; everything is looked at then.
    system: Option<RecommendedWatcher>,
    targets: Targets,
    failure: Option<Failure>,
    told: Option<Result<(), String>>,
    deliver: D,
}

impl<D: FnMut(Change)> Watching<D> {
    fn new(workspace: Workspace, options: WatchOptions, wake: mpsc::Sender<Message>, deliver: D) -> Self {
        let shared = Arc::new(Shared::new(workspace.root().to_owned()));
        let on_event = shared.clone();
        let handler = move |event: notify::Result<notify::Event>| {
            if on_event.add(event) {
                // The receiver is gone only when the watcher is being closed.
                let _ = wake.send(Message::Wake);
            }
        };
        let config = Config::default().with_follow_symlinks(false);
        let (system, failure) = match RecommendedWatcher::new(handler, config) {
            Ok(system) => (Some(system), None),
            Err(error) => (None, Some(Failure::of(&error))),
        };
        Self {
            targets: Targets::new(&workspace, options.max_watches),
            workspace,
            options,
            shared,
            system,
            failure,
            told: None,
            deliver,
        }
    }

    fn run(mut self, inbox: &mpsc::Receiver<Message>) {
        self.arrange(&BTreeSet::new());
        let mut due: Option<Instant> = None;
        let mut next_look = Instant::now() + self.options.look_every;
        loop {
            let looks = self.targets.any_without_watch();
            let wait = match (due, looks) {
                (Some(due), true) => Some(due.min(next_look)),
                (Some(due), false) => Some(due),
                (None, true) => Some(next_look),
                (None, false) => None,
            };
            let message = match wait {
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match message {
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Message::Show(folders)) => self.show(&folders),
                Ok(Message::Wake) => {
                    due.get_or_insert_with(|| Instant::now() + self.options.gather);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = Instant::now();
            if looks && now >= next_look {
                next_look = now + self.options.look_every;
                let mut pending = Pending::default();
                self.targets.look(&mut pending);
                self.tell(pending);
            }
            if due.is_some_and(|due| now >= due) {
                due = None;
                let pending = self.shared.take();
                self.tell(pending);
            }
        }
    }

    /// What happened to a folder between its listing and its watch was seen by nobody, so a folder that is newly shown
    /// is told once as changed.
    fn show(&mut self, folders: &BTreeSet<PathBuf>) {
        let fresh: BTreeSet<PathBuf> = folders.difference(self.targets.wanted()).cloned().collect();
        self.arrange(folders);
        if !fresh.is_empty() {
            (self.deliver)(Change::Files {
                folders: fresh,
                files: BTreeSet::new(),
            });
        }
    }

    /// Gives every folder that is shown its watch, or notes that it must be looked at.
    fn arrange(&mut self, shown: &BTreeSet<PathBuf>) {
        let state = git::state_folders(&self.workspace);
        self.shared.set_git(state.as_ref());
        let failed = self
            .targets
            .arrange(&self.workspace, self.system.as_mut(), shown, state.as_ref());
        if self.system.is_some() {
            self.failure = failed;
        }
        self.tell_live();
    }

    fn tell_live(&mut self) {
        let live = match &self.failure {
            None => Ok(()),
            Some(failure) => Err(failure.in_words()),
        };
        // That all is well is news only after it was not.
        let news = match &self.told {
            Some(told) => *told != live,
            None => live.is_err(),
        };
        if news {
            self.told = Some(live.clone());
            (self.deliver)(Change::Live(live));
        }
    }

    fn tell(&mut self, mut pending: Pending) {
        if pending.is_empty() {
            return;
        }
        let repository_changed = pending.names(Path::new(".git"));
        if pending.rescan {
            pending.folders.extend(self.targets.shown().cloned());
            pending.git = true;
        }
        // A folder that came, went or was replaced needs its watch set anew.
        if pending.rescan || repository_changed || self.targets.touched(&pending.folders) {
            let shown = self.targets.wanted().clone();
            self.arrange(&shown);
            pending.folders.extend(self.targets.take_replaced());
        }
        if pending.git || repository_changed {
            (self.deliver)(Change::Git);
        }
        let root = self.workspace.root();
        pending.files.retain(|file| {
            file.as_path() != Path::new(".git")
                && !root
                    .join(file)
                    .symlink_metadata()
                    .is_ok_and(|found| found.is_dir())
        });
        if !pending.folders.is_empty() || !pending.files.is_empty() {
            (self.deliver)(Change::Files {
                folders: pending.folders,
                files: pending.files,
            });
        }
    }
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "tests make and change the files they watch"
)]
mod tests;
