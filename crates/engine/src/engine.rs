//! Opens the rooms of one workspace, keeps the live sessions, and ends everything it started.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use changeset::ChangeSets;
use protocol::{ErrorCode, EventBody, Millis, RuntimeError, SessionId, request::Request};
use serde_json::Value;
use store::{
    DataHome, Durability, Store,
    log::{Log, LogEvent},
};
use tokio::task::JoinSet;
use workspace::{Breadth, Workspace};

use crate::{
    calibration::Calibrations,
    events::{EventSink, Subscription},
    isolation::Isolation,
    knowledge::Knowledge,
    login::LoginEnvironment,
    models::Models,
    notices::Notices,
    paths::PathCache,
    requests,
    rooms::Rooms,
    rules::Rules,
    session::{Session, recovery},
    spending::DaySum,
    verification::{self, Fingerprints},
};

/// The environment variables the process started with; read once, never written.
#[derive(Clone, Debug, Default)]
pub struct Environment(Arc<BTreeMap<String, String>>);

impl Environment {
    /// Of this process. Variables that are not UTF-8 are none of ours.
    pub fn of_process() -> Self {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self(Arc::new(variables.collect()))
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        self.0.iter().map(|(name, value)| (name.into(), value.into()))
    }

    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut variables = BTreeMap::clone(&self.0);
        variables.insert(name.to_owned(), value.to_owned());
        Self(Arc::new(variables))
    }
}

pub struct EngineConfig {
    pub workspace: PathBuf,
    /// Whether `/` and the home folder may be opened.
    pub breadth: Breadth,
    pub home: DataHome,
    pub environment: Environment,
    /// How long to wait for another process that has the workspace open.
    pub lock_wait: Duration,
}

/// A handle; clones share the same engine.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    rooms: Arc<Rooms>,
    recovered: Vec<String>,
    notices: Notices,
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
    turns: Mutex<JoinSet<()>>,
    /// Whether a look at which results still hold is under way.
    looking: AtomicBool,
}

impl Engine {
    /// Opens the workspace and mends what a crash left behind. Nothing is started.
    pub fn open(config: EngineConfig) -> Result<Self, RuntimeError> {
        let opened = std::time::Instant::now();
        // Read first: bad settings are told before anything is created.
        let models = Models::open(config.home.clone(), config.environment.clone())?;
        let workspace = Workspace::open(&config.workspace, config.breadth)?;
        let (store, mut recovered) = Store::open(&config.home, workspace.root(), config.lock_wait)?;
        let redactor = models.redactor();
        let log = Log::new(&config.home, redactor.clone());
        let sink = EventSink::new(store.clone(), redactor, log, now);
        let (changes, mended) = ChangeSets::open(store.clone(), workspace.clone())?;
        recovered.extend(mended);
        let rules = Rules::open(&store)?;
        recovered.extend(recovery::mend_sessions(&store, &sink, &changes)?);
        let repairs = recovered.len() as u64;
        sink.log(&LogEvent::WorkspaceOpened {
            repairs,
            duration_ms: u64::try_from(opened.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
        if !recovered.is_empty() {
            sink.log(&LogEvent::Recovery { repairs });
            let body = EventBody::Recovered {
                notes: recovered.clone(),
            };
            match sink.emit(None, body, Durability::Normal) {
                // What is stored can still be read.
                Err(error) if error.code == ErrorCode::StoreFull => {}
                emitted => emitted?,
            }
        }
        let workspace_name = workspace
            .root()
            .file_name()
            .map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned());
        let knowledge = Knowledge::new(&store);
        let rooms = Rooms {
            store,
            sink,
            workspace,
            workspace_name,
            changes,
            isolation: Isolation::default(),
            fingerprints: Fingerprints::default(),
            commands: Arc::default(),
            rules,
            models,
            day_sum: DaySum::new(config.home.ledger()),
            calibrations: Calibrations::default(),
            home: config.home,
            login: LoginEnvironment::begin(&config.environment),
            environment: config.environment,
            paths: Arc::default(),
            knowledge,
        };
        let notices = Notices::new(rooms.paths.clone());
        Ok(Self {
            inner: Arc::new(Inner {
                rooms: Arc::new(rooms),
                recovered,
                notices,
                sessions: Mutex::default(),
                turns: Mutex::default(),
                looking: AtomicBool::new(false),
            }),
        })
    }

    pub async fn handle(&self, request: Request) -> Result<Value, RuntimeError> {
        requests::handle(self, request).await
    }

    /// Everything after `from_seq`, then live.
    pub fn subscribe(&self, from_seq: u64) -> Subscription {
        self.inner.rooms.sink.subscribe(from_seq)
    }

    /// Cancels running turns and waits for their ends. Safe to call twice.
    pub async fn shutdown(&self) {
        for session in self.live_sessions() {
            if let Err(error) = session.cancel() {
                self.log_failure("shutdown.cancel", &error);
            }
        }
        let mut turns = std::mem::take(&mut *lock(&self.inner.turns));
        while turns.join_next().await.is_some() {}
        self.inner.rooms.commands.close().await;
        let knowledge = self.inner.rooms.knowledge.clone();
        // It stops between two files.
        let _ = tokio::task::spawn_blocking(move || knowledge.close()).await;
        let changes = self.inner.rooms.changes.clone();
        // What is not removed is swept at the next start.
        let _ = tokio::task::spawn_blocking(move || changes.drop_copy()).await;
    }

    pub(crate) fn rooms(&self) -> &Rooms {
        &self.inner.rooms
    }

    pub(crate) fn shared_rooms(&self) -> Arc<Rooms> {
        self.inner.rooms.clone()
    }

    pub(crate) fn recovered(&self) -> &[String] {
        &self.inner.recovered
    }

    /// What is told to all clients and not kept.
    pub(crate) fn notices(&self) -> &Notices {
        &self.inner.notices
    }

    pub(crate) fn paths(&self) -> &PathCache {
        &self.inner.rooms.paths
    }

    /// We changed files ourselves, so nobody need tell us.
    pub(crate) fn files_changed(&self) {
        self.inner.rooms.paths.forget();
        self.inner.rooms.knowledge.forget();
        self.results_may_be_stale();
    }

    /// The live session, loaded when this is its first use.
    pub(crate) fn session(&self, id: &SessionId) -> Result<Arc<Session>, RuntimeError> {
        let mut sessions = lock(&self.inner.sessions);
        if let Some(session) = sessions.get(id) {
            return Ok(session.clone());
        }
        let rooms = &self.inner.rooms;
        let row = rooms.store.session(id)?.ok_or_else(|| {
            RuntimeError::new(
                ErrorCode::SessionNotFound,
                format!("There is no session {id} in this workspace."),
            )
            .action("`vibe-coder sessions list` shows the sessions of a workspace.")
        })?;
        let session = Session::new(row, rooms.store.clone(), rooms.sink.clone());
        sessions.insert(id.clone(), session.clone());
        Ok(session)
    }

    /// Files on disk, or a draft, are others now: results of checks that no longer hold are told.
    pub(crate) fn results_may_be_stale(&self) {
        // One look that has not begun yet sees what happened before it begins.
        if self.inner.looking.swap(true, Ordering::AcqRel) {
            return;
        }
        let (engine, rooms) = (self.clone(), self.shared_rooms());
        let mut turns = lock(&self.inner.turns);
        while turns.try_join_next().is_some() {}
        turns.spawn_blocking(move || {
            engine.inner.looking.store(false, Ordering::Release);
            for session in engine.live_sessions() {
                verification::refresh(&rooms, &session.id);
            }
        });
    }

    pub(crate) fn live_sessions(&self) -> Vec<Arc<Session>> {
        lock(&self.inner.sessions).values().cloned().collect()
    }

    pub(crate) fn spawn_turn(&self, turn: impl Future<Output = ()> + Send + 'static) {
        let mut turns = lock(&self.inner.turns);
        while turns.try_join_next().is_some() {}
        turns.spawn(turn);
    }

    pub(crate) fn log_failure(&self, what: &str, error: &RuntimeError) {
        self.inner.rooms.log_failure(what, error);
    }
}

fn now() -> Millis {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
