//! The live contexts of the host, keyed. Owns which there are and who uses them; how each is kept alive is
//! `supervise`'s, what each is, its adapter's.

use std::{
    collections::{BTreeMap, VecDeque},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use protocol::{
    ContextState, ErrorCode, RuntimeError,
    host::{ContextKind, ContextSummary, HostEvent},
};
use store::log::Log;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::{
    adapter::ContextAdapter,
    supervise::{Control, Status, Supervision, Supervisor},
};

/// Names a context on the wire of the host: stable over restarts and the same for every window.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextKey(String);

impl ContextKey {
    /// Of the backend that belongs to a canonical path.
    pub fn of(path: &Path) -> Self {
        let hash = blake3::hash(path.as_os_str().as_encoded_bytes());
        Self(hash.to_hex().chars().take(16).collect())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ContextKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a new context is.
pub struct NewContext {
    pub kind: ContextKind,
    pub name: String,
    pub path: PathBuf,
    pub adapter: Arc<dyn ContextAdapter>,
}

/// A context that is known; its backend may run or not.
pub struct ContextHandle {
    key: ContextKey,
    kind: ContextKind,
    name: String,
    path: PathBuf,
    adapter: Arc<dyn ContextAdapter>,
    control: mpsc::Sender<Control>,
    status: watch::Receiver<Status>,
    presence: watch::Sender<usize>,
}

/// Held by a window for as long as it uses a context, which is not suspended meanwhile.
pub struct Presence(Arc<ContextHandle>);

impl Drop for Presence {
    fn drop(&mut self) {
        self.0
            .presence
            .send_modify(|windows| *windows = windows.saturating_sub(1));
    }
}

impl ContextHandle {
    pub fn key(&self) -> &ContextKey {
        &self.key
    }

    pub fn state(&self) -> ContextState {
        self.status.borrow().state
    }

    pub fn use_it(self: &Arc<Self>) -> Presence {
        self.presence.send_modify(|windows| *windows += 1);
        Presence(self.clone())
    }

    /// The backend, started if it is not running. One that failed stays failed until [`Registry::restart`] or a
    /// new opening, and its error is the answer.
    pub async fn ready(&self) -> Result<Arc<dyn ContextAdapter>, RuntimeError> {
        self.ask(Control::Start).await?;
        Ok(self.adapter.clone())
    }

    pub fn summary(&self) -> ContextSummary {
        let status = self.status.borrow().clone();
        ContextSummary {
            context: self.key.to_string(),
            kind: self.kind,
            name: self.name.clone(),
            path: self.path.to_string_lossy().into_owned(),
            state: status.state,
            error: status.error,
        }
    }

    async fn ask(
        &self,
        control: impl FnOnce(oneshot::Sender<Result<(), RuntimeError>>) -> Control,
    ) -> Result<(), RuntimeError> {
        let (done, answer) = oneshot::channel();
        let gone = || RuntimeError::new(ErrorCode::Interrupted, "The host is ending.");
        self.control.send(control(done)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    async fn stop(&self) {
        let (done, ended) = oneshot::channel();
        if self.control.send(Control::Stop(done)).await.is_ok() {
            let _ = ended.await;
        }
    }
}

/// All contexts. Dropping it ends them.
pub struct Registry {
    contexts: Mutex<BTreeMap<ContextKey, Arc<ContextHandle>>>,
    events: broadcast::Sender<HostEvent>,
    times: Supervision,
    log: Arc<Log>,
}

/// Events that a slow window may be behind.
const EVENT_BACKLOG: usize = 1024;
/// All that ending every context may take.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(8);

impl Registry {
    pub fn new(times: Supervision, log: Arc<Log>) -> Self {
        Self {
            contexts: Mutex::default(),
            events: broadcast::Sender::new(EVENT_BACKLOG),
            times,
            log,
        }
    }

    /// The context of `key`, made by `new` when there is none. Nothing is started. Must be called within a tokio
    /// runtime.
    pub fn open(&self, key: &ContextKey, new: impl FnOnce() -> NewContext) -> Arc<ContextHandle> {
        let mut contexts = self.contexts();
        if let Some(known) = contexts.get(key) {
            return known.clone();
        }
        let NewContext {
            kind,
            name,
            path,
            adapter,
        } = new();
        let (control, controls) = mpsc::channel(64);
        let (status_sender, status) = watch::channel(Status {
            state: ContextState::Stopped,
            error: None,
        });
        let (presence, present) = watch::channel(0);
        let supervisor = Supervisor {
            key: key.clone(),
            adapter: adapter.clone(),
            times: self.times,
            control: controls,
            status: status_sender,
            presence: present,
            events: self.events.clone(),
            log: self.log.clone(),
            waiting: Vec::new(),
            ends: VecDeque::new(),
        };
        tokio::spawn(supervisor.run());
        let handle = Arc::new(ContextHandle {
            key: key.clone(),
            kind,
            name,
            path,
            adapter,
            control,
            status,
            presence,
        });
        contexts.insert(key.clone(), handle.clone());
        handle
    }

    pub fn get(&self, key: &str) -> Result<Arc<ContextHandle>, RuntimeError> {
        self.contexts()
            .get(&ContextKey(key.to_owned()))
            .cloned()
            .ok_or_else(|| {
                RuntimeError::new(ErrorCode::ContextNotFound, "This context is not open.")
                    .action("Open its folder again.")
            })
    }

    pub fn summaries(&self) -> Vec<ContextSummary> {
        self.contexts().values().map(|handle| handle.summary()).collect()
    }

    /// Every change of a context's state from now on.
    pub fn events(&self) -> broadcast::Receiver<HostEvent> {
        self.events.subscribe()
    }

    /// Gives a context whose backend failed another try, without waiting for it.
    pub fn revive(&self, handle: &Arc<ContextHandle>) {
        if handle.state() == ContextState::Failed {
            let handle = handle.clone();
            // Its end is announced as an event.
            tokio::spawn(async move { handle.ask(Control::Revive).await });
        }
    }

    pub async fn restart(&self, key: &str) -> Result<(), RuntimeError> {
        let handle = self.get(key)?;
        handle.ask(Control::Restart).await
    }

    /// Ends the backend. The context stays known, and the next request starts it again.
    pub async fn close(&self, key: &str) -> Result<(), RuntimeError> {
        let handle = self.get(key)?;
        handle.stop().await;
        Ok(())
    }

    /// Ends every backend, side by side; what has not ended in time dies with the host.
    pub async fn shutdown(&self) {
        let handles: Vec<_> = self.contexts().values().cloned().collect();
        let mut ending = tokio::task::JoinSet::new();
        for handle in handles {
            ending.spawn(async move { handle.stop().await });
        }
        let all = async { while ending.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(SHUTDOWN_LIMIT, all).await;
    }

    fn contexts(&self) -> MutexGuard<'_, BTreeMap<ContextKey, Arc<ContextHandle>>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
