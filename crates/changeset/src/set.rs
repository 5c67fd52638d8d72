//! The change sets of one workspace: the one open set of each session, kept in memory and in the store alike.
//!
//! Owns opening, loading and storing records, and the lock that puts all edits and decisions in one order. What
//! edits do is in `editing`, what decisions do in `review`.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use protocol::{
    ChangeSet, ChangeSetId, ChangeSetStatus, ContentHash, FileStatus, Millis, RuntimeError, SessionId,
};
use store::{Document, Durability, Store, StoreError};
use workspace::{Overlay, OverlayEntry, Workspace};

use crate::{
    content::Content,
    disk::{self, FileState},
    draft::{self, Drafted},
    error::ApplyError,
    machine::{self, Input},
    record::{CHANGE_SET, SetRecord, StoredPath, Version},
    recover, show,
    stage::{DeepFolders, StagedCopy},
};

/// Disk use of snapshots that `open` prunes down to, in bytes.
pub const DEFAULT_SNAPSHOT_BUDGET: u64 = 2 * 1024 * 1024 * 1024;

/// The change sets of one workspace. Cheap to clone; calls from several threads are put in order.
#[derive(Clone)]
pub struct ChangeSets {
    shared: Arc<Shared>,
}

struct Shared {
    store: Store,
    workspace: Workspace,
    deep_folders: DeepFolders,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    /// The open set of each session that has one.
    pub open: HashMap<SessionId, SetRecord>,
    /// Contents the drafts refer to, because every read of an agent needs them.
    contents: HashMap<ContentHash, Arc<[u8]>>,
    /// Put aside for the next command.
    copy: Option<StagedCopy>,
}

/// Why change sets could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{0}")]
    Store(#[from] StoreError),
}

impl From<OpenError> for RuntimeError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Store(error) => error.into(),
        }
    }
}

impl ChangeSets {
    /// Opens the change sets of a workspace, finishes or takes back a write that a crash interrupted, puts drafts a
    /// crash left behind up for review, and keeps snapshots within [`DEFAULT_SNAPSHOT_BUDGET`]. The second value
    /// says in words what of that was done.
    pub fn open(store: Store, workspace: Workspace) -> Result<(ChangeSets, Vec<String>), OpenError> {
        let mut notes = recover::recover(&store, workspace.root()).unwrap_or_else(|error| {
            vec![format!(
                "{}. It will be tried again before the next write.",
                RuntimeError::from(error)
            )]
        });
        let sets = ChangeSets {
            shared: Arc::new(Shared {
                store,
                workspace,
                deep_folders: DeepFolders::default(),
                state: Mutex::default(),
            }),
        };
        let mut state = sets.lock();
        notes.extend(sets.load_open(&mut state)?);
        let drafts: Vec<SessionId> = state
            .open
            .values()
            .filter(|record| matches!(record.status, ChangeSetStatus::Draft | ChangeSetStatus::Proposed))
            .map(|record| record.session_id.clone())
            .collect();
        for session in drafts {
            match sets.propose_locked(&mut state, &session) {
                Ok(Some(set)) => notes.push(format!(
                    "“{}” was still being drafted when the program ended. What there is of it can be reviewed.",
                    set.title
                )),
                Ok(None) => {}
                Err(error) => notes.push(RuntimeError::from(error).to_string()),
            }
        }
        drop(state);
        match sets.prune(DEFAULT_SNAPSHOT_BUDGET) {
            Ok(0) => {}
            Ok(pruned) => notes.push(format!(
                "{pruned} old snapshots were dropped to save disk space; what they recorded can no longer be undone."
            )),
            Err(error) => notes.push(RuntimeError::from(error).to_string()),
        }
        Ok((sets, notes))
    }

    pub fn workspace(&self) -> &Workspace {
        &self.shared.workspace
    }

    pub(crate) fn store(&self) -> &Store {
        &self.shared.store
    }

    pub(crate) fn deep_folders(&self) -> &DeepFolders {
        &self.shared.deep_folders
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // The state is replaced as a whole after the store has it, so a panic elsewhere leaves it whole.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the open sets from the store, replacing what is in memory. Says which records cannot be read.
    pub(crate) fn load_open(&self, state: &mut State) -> Result<Vec<String>, StoreError> {
        let mut notes = Vec::new();
        state.open.clear();
        for (id, value) in self.store().documents(CHANGE_SET)? {
            match serde_json::from_value::<SetRecord>(value) {
                Ok(record) if record.status.is_open() => {
                    state.open.insert(record.session_id.clone(), record);
                }
                Ok(_) => {}
                Err(error) => notes.push(format!(
                    "The record of change set {id} is damaged and was left out: {error}."
                )),
            }
        }
        for damaged in self.store().damaged_documents(CHANGE_SET)? {
            notes.push(format!(
                "The record of change set {} is damaged and was left out: {}.",
                damaged.id, damaged.reason
            ));
        }
        Ok(notes)
    }

    /// What the session's draft changes, for reads. A file whose draft no longer fits the disk shows the disk.
    pub fn overlay(&self, session: &SessionId) -> Result<Overlay, RuntimeError> {
        let mut state = self.lock();
        let mut overlay = Overlay::default();
        let Some(record) = state.open.get(session).cloned() else {
            return Ok(overlay);
        };
        for index in 0..record.files.len() {
            if record.files[index].status != FileStatus::Pending {
                continue;
            }
            let Ok(file) = self.rebased(&mut state, &record.files, index)? else {
                continue;
            };
            if let Some(from) = &file.effect.from {
                let entry = overlay.entries.entry(from.path.0.clone());
                entry.or_insert(OverlayEntry::Deleted);
            }
            if let Some(to) = &file.effect.to {
                let entry = self.overlaid(&mut state, &to.version)?;
                overlay.entries.insert(to.path.0.clone(), entry);
            }
        }
        Ok(overlay)
    }

    /// The session's open change set.
    pub fn open_set(&self, session: &SessionId) -> Result<Option<ChangeSet>, RuntimeError> {
        let mut state = self.lock();
        match state.open.get(session).cloned() {
            Some(record) => Ok(Some(self.shown(&mut state, &record)?)),
            None => Ok(None),
        }
    }

    /// Change sets, newest last; those of one session, or all.
    pub fn list(&self, session: Option<&SessionId>) -> Result<Vec<ChangeSet>, RuntimeError> {
        let mut state = self.lock();
        let mut sets = Vec::new();
        let stored = match session {
            Some(session) => self.store().session_documents(CHANGE_SET, session)?,
            None => self.store().documents(CHANGE_SET)?,
        };
        for (_, value) in stored {
            let Ok(record) = serde_json::from_value::<SetRecord>(value) else {
                // Named when the workspace was opened.
                continue;
            };
            sets.push(self.shown(&mut state, &record)?);
        }
        Ok(sets)
    }

    pub fn get(&self, id: &ChangeSetId) -> Result<ChangeSet, RuntimeError> {
        let mut state = self.lock();
        let record = self.record(&state, id)?;
        Ok(self.shown(&mut state, &record)?)
    }

    /// The pending part as a unified diff, decoded for display.
    pub fn diff(&self, id: &ChangeSetId) -> Result<String, RuntimeError> {
        let mut state = self.lock();
        let record = self.record(&state, id)?;
        Ok(show::diff_text(&record, |hash| {
            self.shown_content(&mut state, hash)
        })?)
    }

    /// The pending part as a patch for `git apply`, with the contents' own bytes.
    pub fn patch_bytes(&self, id: &ChangeSetId) -> Result<Vec<u8>, RuntimeError> {
        let mut state = self.lock();
        let record = self.record(&state, id)?;
        Ok(show::patch_bytes(&record, |hash| {
            self.shown_content(&mut state, hash)
        })?)
    }

    /// Gives an open set its words for a reviewer.
    pub fn describe(&self, id: &ChangeSetId, title: &str, reason: &str) -> Result<ChangeSet, RuntimeError> {
        let mut state = self.lock();
        let mut record = self.record(&state, id)?;
        record.title = title.to_owned();
        record.reason = reason.to_owned();
        self.put(&mut state, record.clone(), Durability::Normal)?;
        Ok(self.shown(&mut state, &record)?)
    }

    /// Ends the drafting: what the draft changes is put up for review. Nothing is returned, and no set is left
    /// open, when the draft changes nothing.
    pub fn propose(&self, session: &SessionId) -> Result<Option<ChangeSet>, RuntimeError> {
        let mut state = self.lock();
        Ok(self.propose_locked(&mut state, session)?)
    }

    fn propose_locked(
        &self,
        state: &mut State,
        session: &SessionId,
    ) -> Result<Option<ChangeSet>, ApplyError> {
        let Some(mut record) = state.open.get(session).cloned() else {
            return Ok(None);
        };
        if record.status == ChangeSetStatus::Draft {
            self.rebase_all(state, &mut record)?;
            let accepted = !record.snapshots.is_empty();
            if record.open_files().next().is_none() {
                if record.files.is_empty() {
                    self.forget(state, &record)?;
                    return Ok(None);
                }
                let input = if accepted { Input::Close } else { Input::Withdraw };
                record.status = machine::next(record.status, input)?;
                self.put(state, record, Durability::Full)?;
                return Ok(None);
            }
            record.status = machine::next(record.status, Input::Propose)?;
        }
        if record.status == ChangeSetStatus::Proposed {
            let input = if record.snapshots.is_empty() {
                Input::Show
            } else {
                Input::ShowRest
            };
            record.status = machine::next(record.status, input)?;
            if record
                .open_files()
                .any(|file| file.status == FileStatus::Conflicted)
            {
                record.status = machine::next(record.status, Input::Conflict)?;
            }
            self.put(state, record.clone(), Durability::Full)?;
        }
        Ok(Some(self.shown(state, &record)?))
    }

    /// Ends a write an earlier call could not end. Until that works, nothing else is written.
    pub(crate) fn recover_first(&self, state: &mut State) -> Result<Vec<String>, ApplyError> {
        let mut notes = recover::recover(self.store(), self.workspace().root())?;
        if !notes.is_empty() {
            notes.extend(self.load_open(state)?);
        }
        Ok(notes)
    }

    /// Puts a copy that a command ran in aside for the next one. It takes disk space until then, or until
    /// [`drop_copy`](Self::drop_copy). Not for a copy that something may still be writing to.
    pub fn keep_copy(&self, copy: StagedCopy) {
        let replaced = self.lock().copy.replace(copy);
        // Removed without the lock: it may hold many files.
        drop(replaced);
    }

    /// Removes the copy that was put aside.
    pub fn drop_copy(&self) {
        drop(self.take_copy());
    }

    pub(crate) fn take_copy(&self) -> Option<StagedCopy> {
        self.lock().copy.take()
    }

    /// A content by hash, from memory or the store.
    pub(crate) fn content(&self, state: &mut State, hash: &ContentHash) -> Result<Content, StoreError> {
        if let Some(bytes) = state.contents.get(hash) {
            return Ok(Content::Bytes(bytes.clone()));
        }
        let content = stored_content(self.store(), hash)?;
        // Large ones are rarely read twice.
        if let Some(bytes) = content.bytes().filter(|bytes| !show::is_large(bytes.len())) {
            state.contents.insert(hash.clone(), bytes.clone());
        }
        Ok(content)
    }

    /// The same to be shown: what is not taken into memory is stood in for by bytes that are no text either.
    pub(crate) fn shown_content(
        &self,
        state: &mut State,
        hash: &ContentHash,
    ) -> Result<Arc<[u8]>, StoreError> {
        Ok(match self.content(state, hash)? {
            Content::Bytes(bytes) => bytes,
            Content::Stored { .. } => show::stand_in(hash),
        })
    }

    fn overlaid(&self, state: &mut State, version: &Version) -> Result<OverlayEntry, StoreError> {
        let mode = version.mode;
        let size = match state.contents.get(&version.hash) {
            Some(bytes) => bytes.len() as u64,
            None => self.store().blob_size(&version.hash)?,
        };
        let is_large = usize::try_from(size).map_or(true, show::is_large);
        if !is_large && let Content::Bytes(bytes) = self.content(state, &version.hash)? {
            return Ok(OverlayEntry::Content { bytes, mode });
        }
        let file = self.store().blob_file(&version.hash);
        Ok(OverlayEntry::Stored { file, size, mode })
    }

    /// Stores a content.
    pub(crate) fn keep(&self, state: &mut State, bytes: &[u8]) -> Result<ContentHash, StoreError> {
        let hash = self.store().put_blob(bytes)?;
        if !show::is_large(bytes.len()) {
            state.contents.entry(hash.clone()).or_insert_with(|| bytes.into());
        }
        Ok(hash)
    }

    /// Stores what was found at a path of the workspace.
    pub(crate) fn keep_found(
        &self,
        state: &mut State,
        path: &StoredPath,
        found: &FileState,
    ) -> Result<(), ApplyError> {
        match found.bytes() {
            Some(bytes) => self.keep(state, bytes).map(drop)?,
            None => keep_large(self.store(), self.workspace().root(), path, found)?,
        }
        Ok(())
    }

    pub(crate) fn record(&self, state: &State, id: &ChangeSetId) -> Result<SetRecord, ApplyError> {
        if let Some(record) = state.open.values().find(|record| record.id == *id) {
            return Ok(record.clone());
        }
        let value = self
            .store()
            .document(CHANGE_SET, id.as_str())?
            .ok_or_else(|| ApplyError::UnknownSet(id.clone()))?;
        serde_json::from_value(value).map_err(|error| {
            ApplyError::Internal(format!("the record of change set {id} cannot be read: {error}"))
        })
    }

    /// Stores a record and keeps memory in step with it.
    pub(crate) fn put(
        &self,
        state: &mut State,
        record: SetRecord,
        durability: Durability,
    ) -> Result<(), ApplyError> {
        self.store().put_documents(&[document(&record)?], durability)?;
        remember(state, record);
        Ok(())
    }

    /// Removes the record of a set that never came to anything.
    pub(crate) fn forget(&self, state: &mut State, record: &SetRecord) -> Result<(), StoreError> {
        let removal = Document {
            kind: CHANGE_SET.to_owned(),
            id: record.id.as_str().to_owned(),
            session_id: None,
            value: None,
        };
        self.store().put_documents(&[removal], Durability::Normal)?;
        state.open.remove(&record.session_id);
        Ok(())
    }

    pub(crate) fn shown(&self, state: &mut State, record: &SetRecord) -> Result<ChangeSet, StoreError> {
        show::change_set(record, |hash| self.shown_content(state, hash))
    }
}

/// A content as the store has it.
pub(crate) fn stored_content(store: &Store, hash: &ContentHash) -> Result<Content, StoreError> {
    let size = store.blob_size(hash)?;
    match size > disk::MAX_FILE_BYTES {
        true => Ok(Content::Stored { size }),
        false => Ok(Content::Bytes(store.blob(hash)?.into())),
    }
}

/// Puts a large file of the workspace into the store, if it still is what was found.
pub(crate) fn keep_large(
    store: &Store,
    root: &Path,
    path: &StoredPath,
    found: &FileState,
) -> Result<(), ApplyError> {
    if store.has_blob(&found.version.hash) {
        return Ok(());
    }
    let changed = |reason: String| ApplyError::Io {
        path: path.display(),
        reason,
    };
    let file = disk::open(root, &path.0).map_err(|error| changed(error.to_string()))?;
    let stored = file.map(|mut file| store.put_blob_from(&mut file)).transpose()?;
    match stored.is_some_and(|(hash, _)| hash == found.version.hash) {
        true => Ok(()),
        false => Err(changed("it changes while it is read".to_owned())),
    }
}

/// Keeps the memory in step with a record that was stored.
pub(crate) fn remember(state: &mut State, record: SetRecord) {
    let session = record.session_id.clone();
    if record.status.is_open() {
        state.open.insert(session, record);
    } else if state.open.get(&session).is_some_and(|open| open.id == record.id) {
        state.open.remove(&session);
    }
    // Contents nobody's draft refers to any more need not stay in memory.
    let State { open, contents, .. } = state;
    let used: HashSet<&ContentHash> = open
        .values()
        .flat_map(SetRecord::open_files)
        .flat_map(|file| file.effect.hashes())
        .collect();
    contents.retain(|hash, _| used.contains(hash));
}

pub(crate) fn document(record: &SetRecord) -> Result<Document, ApplyError> {
    Ok(Document {
        kind: CHANGE_SET.to_owned(),
        id: record.id.as_str().to_owned(),
        session_id: Some(record.session_id.clone()),
        value: Some(serde_json::to_value(record).map_err(|error| ApplyError::Internal(error.to_string()))?),
    })
}

/// What a session's draft says about a path. A conflicted entry says nothing: the disk is shown and edited instead.
pub(crate) fn drafted(record: &SetRecord, path: &std::path::Path) -> Drafted {
    let conflicted = |index: Option<usize>| {
        index.is_some_and(|index| record.files[index].status == FileStatus::Conflicted)
    };
    if conflicted(draft::writer(&record.files, path)) || conflicted(draft::taker(&record.files, path)) {
        return Drafted::Untouched;
    }
    draft::look_up(&record.files, path)
}

pub(crate) fn now() -> Millis {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_millis() as Millis)
}
