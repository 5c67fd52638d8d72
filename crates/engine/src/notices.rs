//! What is true now and is told to whoever listens: changes of files, of the repository, of settings. Nothing of it is
//! kept; a listener that falls behind is told to look at everything again.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use protocol::{ErrorCode, RuntimeError, request::Notice};
use tokio::sync::broadcast;
use workspace::{
    Workspace, display_path,
    watch::{Change, WatchOptions, Watcher},
};

use crate::paths::PathCache;

/// Notices a listener may be behind.
const QUEUE: usize = 256;
/// Folders one client may show.
const MAX_FOLDERS: usize = 2_048;

/// The notices of one engine and the folders its clients show. One watcher serves all of them.
pub struct Notices {
    sender: broadcast::Sender<Notice>,
    next_client: AtomicU64,
    watching: Mutex<Watching>,
    paths: Arc<PathCache>,
    /// The last word on whether changes are seen, for clients that come later.
    not_live: Arc<Mutex<Option<String>>>,
}

#[derive(Default)]
struct Watching {
    shown: BTreeMap<ClientId, BTreeSet<PathBuf>>,
    /// Started when the first client shows something, gone with the last.
    watcher: Option<Watcher>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientId(u64);

impl Notices {
    pub fn new(paths: Arc<PathCache>) -> Self {
        let (sender, _) = broadcast::channel(QUEUE);
        Self {
            sender,
            next_client: AtomicU64::new(1),
            watching: Mutex::default(),
            paths,
            not_live: Arc::default(),
        }
    }

    pub fn client(&self) -> ClientId {
        ClientId(self.next_client.fetch_add(1, Ordering::Relaxed))
    }

    pub fn send(&self, notice: Notice) {
        // With nobody listening there is nobody to tell.
        let _ = self.sender.send(notice);
    }

    pub fn listen(&self) -> Listener {
        Listener {
            notices: self.sender.subscribe(),
            missed: Vec::new(),
        }
    }

    /// Replaces the folders a client shows. What leads out of the workspace or does not exist is left out: a folder
    /// may have gone since the client saw it. Returns what this client must be told at once.
    pub fn show(
        &self,
        workspace: &Workspace,
        client: ClientId,
        folders: &[String],
    ) -> Result<Option<Notice>, RuntimeError> {
        if folders.len() > MAX_FOLDERS {
            return Err(RuntimeError::new(
                ErrorCode::RequestInvalid,
                format!("At most {MAX_FOLDERS} folders can be watched at once."),
            )
            .action("Watch only those that are shown."));
        }
        let folders = folders
            .iter()
            .filter(|folder| !folder.is_empty())
            .filter_map(|folder| workspace.resolve(folder).ok())
            .filter(|folder| !folder.is_protected())
            .map(|folder| folder.relative().to_owned())
            .collect();
        let mut watching = self.watching();
        watching.shown.insert(client, folders);
        if watching.watcher.is_none() {
            watching.watcher = Some(self.start(workspace)?);
        }
        watching.arrange();
        let not_live = lock(&self.not_live).clone();
        Ok(not_live.map(|reason| Notice::Watching {
            live: false,
            reason: Some(reason),
        }))
    }

    pub fn forget(&self, client: ClientId) {
        let mut watching = self.watching();
        watching.shown.remove(&client);
        watching.arrange();
    }

    fn start(&self, workspace: &Workspace) -> Result<Watcher, RuntimeError> {
        let (sender, paths, not_live) = (self.sender.clone(), self.paths.clone(), self.not_live.clone());
        let deliver = move |change: Change| {
            let notice = match change {
                Change::Files { folders, files } => {
                    if !folders.is_empty() {
                        paths.forget();
                    }
                    let shown =
                        |paths: BTreeSet<PathBuf>| paths.iter().map(|path| display_path(path)).collect();
                    Notice::FilesChanged {
                        folders: shown(folders),
                        files: shown(files),
                    }
                }
                Change::Git => Notice::GitChanged,
                Change::Live(live) => {
                    let reason = live.err();
                    lock(&not_live).clone_from(&reason);
                    Notice::Watching {
                        live: reason.is_none(),
                        reason,
                    }
                }
            };
            let _ = sender.send(notice);
        };
        Watcher::start(workspace, WatchOptions::default(), deliver).map_err(RuntimeError::internal)
    }

    fn watching(&self) -> MutexGuard<'_, Watching> {
        lock(&self.watching)
    }
}

impl Watching {
    fn arrange(&mut self) {
        if self.shown.is_empty() {
            // Releases every watch.
            self.watcher = None;
        } else if let Some(watcher) = &self.watcher {
            watcher.show(self.shown.values().flatten().cloned().collect());
        }
    }
}

/// One client's view of the notices.
pub struct Listener {
    notices: broadcast::Receiver<Notice>,
    missed: Vec<Notice>,
}

impl Listener {
    /// The next notice; `None` when the engine has closed. Safe to drop and call again.
    pub async fn next(&mut self) -> Option<Notice> {
        if let Some(notice) = self.missed.pop() {
            return Some(notice);
        }
        match self.notices.recv().await {
            Ok(notice) => Some(notice),
            Err(broadcast::error::RecvError::Closed) => None,
            Err(broadcast::error::RecvError::Lagged(_)) => {
                self.missed = vec![Notice::SettingsChanged, Notice::GitChanged];
                Some(Notice::FilesChanged {
                    folders: vec![".".to_owned()],
                    files: Vec::new(),
                })
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
