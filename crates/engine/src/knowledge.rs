//! What the engine knows of the workspace's code: the index, past commits and the user's marks, kept up to date in
//! the background.
//!
//! Owns when it is refreshed and where it is kept. Nothing waits for it longer than it is told to: a turn starts with
//! what is known, and says so where that is not all. Ranking with it is `ranking`'s.

pub mod ranking;

use std::{
    collections::HashSet,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use index::{CodeIndex, MAX_COMMITS, Past, Refreshed, Snapshot};
use prompt::ContextPack;
use protocol::{RuntimeError, SessionId, TurnId, request::ContextMark};
use store::{Document, Durability, Shelf, Store};
use workspace::Workspace;

use crate::{rooms::Rooms, secrets::SecretPaths};

/// Changes outside the watched folders are seen after this long.
const LONGEST_USE: Duration = Duration::from_secs(5);
/// The name of the saved commits on the shelf.
const PAST: &str = "past";
/// Far more than the saved commits of [`MAX_COMMITS`] commits.
const MAX_SAVED_PAST: u64 = 64 * 1024 * 1024;
const MARK: &str = "context_mark";
const PACK: &str = "context_pack";

/// Shared by all sessions of an engine.
pub struct Knowledge {
    shelf: Shelf,
    /// Opened when first asked for: an engine that never needs it does not read it.
    index: OnceLock<CodeIndex>,
    state: Mutex<State>,
    refreshed: Condvar,
    closing: AtomicBool,
}

#[derive(Default)]
struct State {
    running: bool,
    /// The files are being looked at; the commits come after.
    indexing: bool,
    /// When the last finished refresh began.
    fresh_at: Option<Instant>,
    past: Arc<Past>,
    past_head: Option<String>,
    changed: Arc<HashSet<PathBuf>>,
    last: Option<Refreshed>,
    problem: Option<String>,
}

/// What a caller waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Files,
    AlsoCommits,
}

/// What is known at one moment.
pub struct Known {
    pub snapshot: Arc<Snapshot>,
    pub past: Arc<Past>,
    /// Files that differ from the last commit.
    pub changed: Arc<HashSet<PathBuf>>,
    /// All files were looked at since the engine started.
    pub complete: bool,
    pub problem: Option<String>,
}

impl Knowledge {
    pub fn new(store: &Store) -> Arc<Self> {
        Arc::new(Self {
            shelf: store.shelf("index"),
            index: OnceLock::new(),
            state: Mutex::default(),
            refreshed: Condvar::new(),
            closing: AtomicBool::new(false),
        })
    }

    /// What is known now, brought up to date first as far as that takes no longer than `wait`. What takes longer goes
    /// on behind.
    pub fn current(self: &Arc<Self>, rooms: &Rooms, wait: Duration, need: Need) -> Known {
        self.refresh(rooms);
        let deadline = Instant::now() + wait;
        let mut state = self.lock();
        while state.indexing || need == Need::AlsoCommits && state.running {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self
                .refreshed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        Known {
            snapshot: self.index().snapshot(),
            past: state.past.clone(),
            changed: state.changed.clone(),
            complete: state.fresh_at.is_some() && !state.last.as_ref().is_some_and(|last| last.stopped),
            problem: state.problem.clone(),
        }
    }

    /// Starts a refresh unless one runs or the last is recent.
    pub fn refresh(self: &Arc<Self>, rooms: &Rooms) {
        let mut state = self.lock();
        let recent = state.fresh_at.is_some_and(|at| at.elapsed() < LONGEST_USE);
        if state.running || recent || self.closing.load(Ordering::Relaxed) {
            return;
        }
        let secrets = match SecretPaths::of(rooms) {
            Ok(secrets) => secrets,
            Err(error) => {
                // Without the list nothing more is read: a secret could be kept.
                state.problem = Some(format!("The index was not refreshed: {}", error.message));
                return;
            }
        };
        state.running = true;
        state.indexing = true;
        drop(state);
        let (knowledge, workspace) = (Arc::clone(self), rooms.workspace.clone());
        let started = std::thread::Builder::new()
            .name("index".to_owned())
            .spawn(move || knowledge.work(&workspace, &secrets));
        if let Err(error) = started {
            let mut state = self.lock();
            state.running = false;
            state.indexing = false;
            state.problem = Some(format!("The index could not be refreshed: {error}."));
        }
    }

    /// Files changed: the next use looks again.
    pub fn forget(&self) {
        self.lock().fresh_at = None;
    }

    /// Ends a running refresh soon and waits until what it read of the files is kept. A look at past commits is not
    /// waited for: it is made again.
    pub fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
        let mut state = self.lock();
        while state.indexing {
            state = self.refreshed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn index(&self) -> &CodeIndex {
        self.index
            .get_or_init(|| CodeIndex::open(Arc::new(IndexShelf(self.shelf.clone()))))
    }

    fn work(&self, workspace: &Workspace, secrets: &SecretPaths) {
        let began = Instant::now();
        let stop = || self.closing.load(Ordering::Relaxed);
        let kept_out = |path: &Path| secrets.holds(path);
        let outcome = self.index().refresh(workspace, &kept_out, &stop);
        let mut state = self.lock();
        match outcome {
            Ok(report) => {
                state.problem = report
                    .not_saved
                    .as_ref()
                    .map(|reason| format!("The index is not kept on disk: {reason}."));
                if !report.stopped {
                    state.fresh_at = Some(began);
                }
                state.last = Some(report);
            }
            Err(error) => {
                // Not asked again at once: it would fail again.
                state.fresh_at = Some(began);
                state.problem = Some(format!("The index could not be refreshed: {error}."));
            }
        }
        state.indexing = false;
        drop(state);
        self.refreshed.notify_all();
        let changed = if stop() { None } else { changed_files(workspace) };
        let past = if stop() { None } else { self.read_past(workspace) };
        let mut state = self.lock();
        if let Some((head, past)) = past {
            state.past = past;
            state.past_head = Some(head);
        }
        if let Some(changed) = changed {
            state.changed = Arc::new(changed);
        }
        state.running = false;
        drop(state);
        self.refreshed.notify_all();
    }

    /// The commits up to `HEAD`; only those that are new are asked of git. `None` where nothing is new.
    fn read_past(&self, workspace: &Workspace) -> Option<(String, Arc<Past>)> {
        let head = workspace::git::head(workspace).ok()?.commit?;
        if self.lock().past_head.as_deref() == Some(&head) {
            return None;
        }
        let saved = self.saved_past();
        if let Some((saved_head, commits)) = &saved
            && *saved_head == head
        {
            return Some((head, Arc::new(Past::of(commits.clone()))));
        }
        let newer = saved.and_then(|(saved_head, commits)| {
            let mut newer = workspace::git::history(workspace, MAX_COMMITS, Some(&saved_head)).ok()?;
            // After a rebase the old commits are no part of the history any more.
            let known: HashSet<&str> = newer.iter().map(|commit| commit.id.as_str()).collect();
            let overlap = commits.iter().any(|commit| known.contains(commit.id.as_str()));
            (!overlap && newer.len() < MAX_COMMITS / 4).then(|| {
                newer.extend(commits);
                newer.truncate(MAX_COMMITS);
                newer
            })
        });
        let commits = match newer {
            Some(commits) => commits,
            None => workspace::git::history(workspace, MAX_COMMITS, None).ok()?,
        };
        // Made again next time where it cannot be kept.
        drop(self.shelf.save(PAST, &index::save_commits(&head, &commits)));
        Some((head, Arc::new(Past::of(commits))))
    }

    fn saved_past(&self) -> Option<(String, Vec<workspace::git::Commit>)> {
        let mut bytes = Vec::new();
        let file = self.shelf.open(PAST).ok()?;
        file.take(MAX_SAVED_PAST).read_to_end(&mut bytes).ok()?;
        index::load_commits(&bytes)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn changed_files(workspace: &Workspace) -> Option<HashSet<PathBuf>> {
    let status = workspace::git::status(workspace).ok()?;
    Some(status.entries.into_iter().map(|entry| entry.path).collect())
}

/// The user's marks on files, in path order.
pub fn marks(store: &Store) -> Result<Vec<(String, ContextMark)>, RuntimeError> {
    let mut marks: Vec<(String, ContextMark)> = store
        .documents(MARK)?
        .into_iter()
        .filter_map(|(path, value)| Some((path, serde_json::from_value(value).ok()?)))
        .filter(|(_, mark)| *mark != ContextMark::None)
        .collect();
    marks.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(marks)
}

pub fn set_mark(store: &Store, path: &str, mark: ContextMark) -> Result<(), RuntimeError> {
    let value = serde_json::to_value(mark).map_err(RuntimeError::internal)?;
    store.put_documents(
        &[Document {
            kind: MARK.to_owned(),
            id: path.to_owned(),
            session_id: None,
            value: Some(value),
        }],
        Durability::Full,
    )?;
    Ok(())
}

/// Records what a turn was shown.
pub fn keep_pack(
    store: &Store,
    session: &SessionId,
    turn: &TurnId,
    pack: &ContextPack,
) -> Result<(), RuntimeError> {
    let value = serde_json::to_value(pack).map_err(RuntimeError::internal)?;
    store.put_documents(
        &[Document {
            kind: PACK.to_owned(),
            id: turn.to_string(),
            session_id: Some(session.clone()),
            value: Some(value),
        }],
        Durability::Normal,
    )?;
    Ok(())
}

pub fn pack_of(store: &Store, turn: &TurnId) -> Result<Option<ContextPack>, RuntimeError> {
    let value = store.document(PACK, turn.as_str())?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}

struct IndexShelf(Shelf);

impl index::Shelf for IndexShelf {
    fn names(&self) -> io::Result<Vec<String>> {
        self.0.names()
    }

    fn open(&self, name: &str) -> io::Result<File> {
        self.0.open(name)
    }

    fn save(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.0.save(name, bytes)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove(name)
    }
}
