//! The open store of one workspace: opening it, mending what a crash left, and the shared parts that the
//! operations in the other modules work on.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, RwLock, atomic::AtomicU64},
    time::Duration,
};

use protocol::ContextId;
use rusqlite::{Connection, Transaction};

use crate::{
    DataHome, Durability, OpenError, StoreError, artifacts, blobs,
    budget::{self, Budget},
    database::{self, Database, Freshness},
    files,
    home::DataPath,
    identity::{self, Identity, Root},
    lock::{self, Acquired, FileLock},
    scratch, search, sessions,
};

/// The data of one workspace. Cheap to clone; shared between threads. All methods block; those that write to
/// the database take well under a millisecond, those that write files as long as the disk takes.
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub folder: DataPath,
    pub identity: Identity,
    access: Access,
    pub database: Mutex<Database>,
    pub budget: Budget,
    /// Held shared while a blob is put and exclusively while unused ones are removed.
    pub blob_gate: RwLock<()>,
    /// Numbers the temporary files of this process.
    pub temporary: AtomicU64,
    /// Last, so that the database is closed before another process may open it.
    _lock: Option<FileLock>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    ReadWrite,
    ReadOnly,
}

/// How to open a store.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    /// How long to wait for another process that has the workspace open.
    pub wait: Duration,
    /// The most that database, blobs and artifacts may take together, in bytes.
    pub limit_bytes: Option<u64>,
}

impl Store {
    /// Takes the workspace's writer lock (waits up to `wait` for another process), opens or creates its
    /// database, migrates an older one, and returns what was repaired, in words for a user.
    /// The size limit is the setting `store.limitBytes`.
    pub fn open(
        home: &DataHome,
        workspace_root: &Path,
        wait: Duration,
    ) -> Result<(Store, Vec<String>), OpenError> {
        // Settings with a mistake are reported by whoever uses them; they must not lock a user out of the data.
        let limit_bytes = home
            .settings()
            .ok()
            .and_then(|settings| settings.store.limit_bytes);
        Self::open_with(home, workspace_root, OpenOptions { wait, limit_bytes })
    }

    /// As [`open`](Self::open), with the limit given instead of read from the settings.
    pub fn open_with(
        home: &DataHome,
        workspace_root: &Path,
        options: OpenOptions,
    ) -> Result<(Store, Vec<String>), OpenError> {
        let root = Root::examine(workspace_root)?;
        let folder = identity::find_or_create(home, &root)?;
        let lock = take_lock(&folder, &root, options.wait)?;
        let mut notes = Vec::new();

        rescue_orphaned_log(&folder, &mut notes)?;
        let (mut database, freshness) = Database::open(&folder)?;
        let identity = reconcile(&folder, &root, &mut database, freshness, &mut notes)?;

        scratch::sweep(&folder)?;
        database.write("repair the workspace's data", Durability::Normal, |transaction| {
            artifacts::close_interrupted(transaction, &folder)?;
            sessions::restore_missing(transaction, &mut notes)?;
            search::ensure(transaction, &mut notes)
        })?;
        let budget = match options.limit_bytes {
            None => Budget::unlimited(),
            Some(limit) => {
                let files = blobs::total_bytes(&folder)? + artifacts::total_bytes(&folder)?;
                Budget::limited(limit, files, &database)?
            }
        };
        let store = Store::assemble(folder, identity, Access::ReadWrite, database, budget, Some(lock));
        Ok((store, notes))
    }

    /// For listing and showing while another process holds the lock: takes none, creates and repairs nothing,
    /// and refuses every write.
    pub fn open_read_only(home: &DataHome, workspace_root: &Path) -> Result<Store, OpenError> {
        let root = Root::examine(workspace_root)?;
        let absent = || OpenError::Absent {
            root: root.path.clone(),
        };
        let folder = identity::find(home, &root)?.ok_or_else(absent)?;
        if !database::file_in(&folder).as_path().exists() {
            return Err(absent());
        }
        let database = Database::open_read_only(&folder)?.ok_or_else(absent)?;
        let identity = database
            .read("read the workspace's identity", database::identity)?
            .or_else(|| identity::read(&folder))
            .ok_or_else(absent)?;
        Ok(Store::assemble(
            folder,
            identity,
            Access::ReadOnly,
            database,
            Budget::unlimited(),
            None,
        ))
    }

    fn assemble(
        folder: DataPath,
        identity: Identity,
        access: Access,
        database: Database,
        budget: Budget,
        lock: Option<FileLock>,
    ) -> Store {
        Store {
            inner: Arc::new(Inner {
                folder,
                identity,
                access,
                database: Mutex::new(database),
                budget,
                blob_gate: RwLock::new(()),
                temporary: AtomicU64::new(0),
                _lock: lock,
            }),
        }
    }

    /// Made when the workspace was first opened, then fixed.
    pub fn context_id(&self) -> &ContextId {
        &self.inner.identity.context_id
    }

    /// The folder with the workspace's data, for messages and reports.
    pub fn data_folder(&self) -> &Path {
        self.inner.folder.as_path()
    }

    /// What is wrong with the stored data, in words; empty when nothing is. Reads all of the database, so it
    /// takes time in proportion to its size. For `doctor`.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        let mut findings = self.read("check the database", |connection| {
            let mut statement = connection.prepare("PRAGMA quick_check(20)")?;
            let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
            lines.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        findings.retain(|line| line != "ok");
        for (table, column, name) in [
            ("events", "body", "event"),
            ("messages", "record", "message"),
            ("documents", "value", "document"),
        ] {
            let damaged = self.read("check the records", |connection| {
                connection.query_row(
                    &format!("SELECT count(*) FROM {table} WHERE NOT json_valid({column})"),
                    [],
                    |row| row.get::<_, i64>(0),
                )
            })?;
            if damaged > 0 {
                findings.push(format!(
                    "{damaged} damaged {name} record(s); all others can be read."
                ));
            }
        }
        Ok(findings)
    }

    pub(crate) fn database(&self) -> MutexGuard<'_, Database> {
        budget::lock(&self.inner.database)
    }

    pub(crate) fn read<T>(
        &self,
        what: &'static str,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.database().read(what, query)
    }

    pub(crate) fn write<T>(
        &self,
        what: &'static str,
        durability: Durability,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.require_write_access(what)?;
        let mut database = self.database();
        database
            .write(what, durability, change)
            .map_err(|error| self.inner.budget.explain(error))
    }

    pub(crate) fn require_write_access(&self, what: &'static str) -> Result<(), StoreError> {
        match self.inner.access {
            Access::ReadWrite => Ok(()),
            Access::ReadOnly => Err(StoreError::ReadOnly { what }),
        }
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("context_id", self.context_id())
            .field("folder", &self.inner.folder)
            .finish_non_exhaustive()
    }
}

/// Takes the writer lock of a workspace's folder.
pub(crate) fn take_lock(folder: &DataPath, root: &Root, wait: Duration) -> Result<FileLock, OpenError> {
    let path = folder.join("lock");
    let failed = |source| StoreError::io("lock the workspace's data", path.as_path(), source);
    match lock::acquire(&path, wait).map_err(failed)? {
        Acquired::Lock(mut lock) => {
            // Without a signature the lock still holds: a full disk must not keep anyone from reading.
            drop(lock.sign());
            Ok(lock)
        }
        Acquired::Held(holder) => Err(OpenError::InUse {
            root: root.path.clone(),
            pid: holder.pid,
            since: holder.started_at,
        }),
    }
}

/// SQLite deletes a write-ahead log whose database is missing or empty. Such a log may hold the newest events,
/// so it is moved aside first.
fn rescue_orphaned_log(folder: &DataPath, notes: &mut Vec<String>) -> Result<(), StoreError> {
    let size = |path: &DataPath| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let log = database::companion(folder, "-wal");
    if size(&database::file_in(folder)) > 0 || size(&log) == 0 {
        return Ok(());
    }
    let aside = folder.join(&format!("orphaned-{}.db-wal", crate::now_millis()));
    files::rename(&log, &aside)
        .map_err(|source| StoreError::io("keep the log of a missing database", log.as_path(), source))?;
    notes.push(format!(
        "The workspace's database was missing; its unfinished log was kept as {}.",
        aside.as_path().display()
    ));
    Ok(())
}

/// Makes `workspace.json` and the database agree on who this workspace is and where it lies now.
fn reconcile(
    folder: &DataPath,
    root: &Root,
    database: &mut Database,
    freshness: Freshness,
    notes: &mut Vec<String>,
) -> Result<Identity, StoreError> {
    let in_file = identity::read(folder);
    let in_database = match freshness {
        Freshness::New => None,
        Freshness::Existing => database.read("read the workspace's identity", database::identity)?,
    };
    let mut identity = match (&in_database, &in_file) {
        // The events belong to the database's context.
        (Some(identity), _) => identity.clone(),
        (None, Some(identity)) if !identity.database_made => identity.clone(),
        (None, Some(_)) => {
            notes.push("The workspace's database was missing; a new, empty one was made.".to_owned());
            // A new context: its event numbers start again.
            Identity::new(root)
        }
        (None, None) => Identity::new(root),
    };
    if identity.root_path() != root.path {
        notes.push(format!(
            "This workspace was {} before; its conversations were kept.",
            identity.root_path().display()
        ));
    }
    identity.set_root(root);
    identity.database_made = true;
    if in_database.as_ref() != Some(&identity) {
        database.write(
            "record the workspace's identity",
            Durability::Full,
            |transaction| database::set_identity(transaction, &identity),
        )?;
    }
    identity::write(folder, &identity)?;
    Ok(identity)
}
