//! The SQLite connection: how it is opened, what a transaction promises, and how SQLite's errors are told.
//! Knows nothing of what the tables mean.

use std::{io, path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, config::DbConfig, ffi};

use crate::{OpenError, StoreError, files, home::DataPath, identity::Identity, schema};

/// What a write has survived once it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the process. After a power cut the last moments may be gone, never the consistency.
    Normal,
    /// A power cut, together with every write before it. For what files on the user's disk depend on.
    Full,
}

pub(crate) struct Database {
    connection: Connection,
    path: DataPath,
    synchronous: Durability,
    /// The newest event number given out.
    pub last_seq: u64,
}

/// Only other programs (a person's `sqlite3`) can make us wait: there is one writer.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);
pub(crate) const PAGE_BYTES: u64 = 4096;

pub(crate) fn file_in(folder: &DataPath) -> DataPath {
    folder.join("store.db")
}

/// A file that SQLite keeps beside its database: "-wal", "-shm".
pub(crate) fn companion(folder: &DataPath, suffix: &str) -> DataPath {
    folder.join(&format!("store.db{suffix}"))
}

impl Database {
    /// Opens for writing, makes the tables of a new database and migrates an older one.
    /// The flag tells whether the database was new.
    pub(crate) fn open(folder: &DataPath) -> Result<(Database, Freshness), OpenError> {
        let path = file_in(folder);
        // Made here so that it is private; SQLite gives its companions the same mode.
        files::open_or_create(&path)
            .map_err(|source| StoreError::io("open the database", path.as_path(), source))?;
        let failed = |error| fail("open the database", path.as_path(), error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(&path, flags).map_err(failed)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
        let version = schema::version(&connection).map_err(failed)?;
        if version > schema::current() {
            // Closing must not move the log into the file either: nothing changes.
            drop(connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true));
            return Err(OpenError::Newer {
                database: path.to_path_buf(),
                found: version,
                known: schema::current(),
            });
        }
        connection
            .execute_batch(
                "PRAGMA synchronous = NORMAL; PRAGMA journal_mode = WAL; PRAGMA temp_store = MEMORY; \
                 PRAGMA journal_size_limit = 16777216; PRAGMA trusted_schema = OFF;",
            )
            .map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(48);
        if version < schema::current() {
            schema::migrate(&mut connection, version, schema::MIGRATIONS).map_err(failed)?;
        }
        let database = Self::ready(connection, path)?;
        let freshness = match version {
            0 => Freshness::New,
            _ => Freshness::Existing,
        };
        Ok((database, freshness))
    }

    /// Opens for reading beside a writer in another process. A database of another version is refused as
    /// newer, or read as it is when older: reading changes nothing, so it cannot migrate. `None` when there are no
    /// tables yet, because another process is just making them.
    pub(crate) fn open_read_only(folder: &DataPath) -> Result<Option<Database>, OpenError> {
        let path = file_in(folder);
        let failed = |error| fail("open the database", path.as_path(), error);
        let connection = read_only(path.as_path()).map_err(failed)?;
        let version = schema::version(&connection).map_err(failed)?;
        if version > schema::current() {
            return Err(OpenError::Newer {
                database: path.to_path_buf(),
                found: version,
                known: schema::current(),
            });
        }
        match version {
            0 => Ok(None),
            _ => Ok(Some(Self::ready(connection, path)?)),
        }
    }

    fn ready(connection: Connection, path: DataPath) -> Result<Database, StoreError> {
        let mut database = Database {
            connection,
            path,
            synchronous: Durability::Normal,
            last_seq: 0,
        };
        database.last_seq = database.read("find the newest event", read_last_seq)?;
        Ok(database)
    }

    /// Runs a read; `what` completes "could not …".
    pub(crate) fn read<T>(
        &self,
        what: &'static str,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        query(&self.connection).map_err(|error| fail(what, self.path.as_path(), error))
    }

    /// Runs `change` in a transaction that is committed when it succeeds and leaves no trace when it fails.
    pub(crate) fn write<T>(
        &mut self,
        what: &'static str,
        durability: Durability,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.transact(durability, change)
            .map_err(|error| fail(what, self.path.as_path(), error))
    }

    fn transact<T>(
        &mut self,
        durability: Durability,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        if self.synchronous != durability {
            self.connection.execute_batch(match durability {
                Durability::Normal => "PRAGMA synchronous = NORMAL",
                Durability::Full => "PRAGMA synchronous = FULL",
            })?;
            self.synchronous = durability;
        }
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let result = change(&transaction)?;
        transaction.commit()?;
        Ok(result)
    }

    /// The size of the database in bytes, with its free pages.
    pub(crate) fn size(&self) -> Result<u64, StoreError> {
        self.read("measure the database", |connection| {
            connection.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0))
        })
        .map(|pages| u64::try_from(pages).unwrap_or(0) * PAGE_BYTES)
    }

    /// Keeps the database from growing beyond `bytes`; what it already holds stays.
    pub(crate) fn limit_size(&self, bytes: u64) -> Result<(), StoreError> {
        let pages = i64::try_from(bytes / PAGE_BYTES).unwrap_or(i64::MAX).max(1);
        self.read("limit the database", |connection| {
            connection.pragma_update_and_check(None, "max_page_count", pages.min(0xffff_fffe), |_| Ok(()))
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    New,
    Existing,
}

fn read_last_seq(connection: &Connection) -> rusqlite::Result<u64> {
    let newest: i64 =
        connection.query_row("SELECT coalesce(max(seq), 0) FROM events", [], |row| row.get(0))?;
    let floor: Option<String> = meta(connection, SEQ_FLOOR)?;
    let floor = floor.and_then(|text| text.parse().ok()).unwrap_or(0);
    Ok(newest.max(floor).try_into().unwrap_or(0))
}

/// The key of `meta` below or at which no event number may be given out again, set by a salvage.
pub(crate) const SEQ_FLOOR: &str = "seqFloor";
const IDENTITY: &str = "identity";

pub(crate) fn meta(connection: &Connection, key: &str) -> rusqlite::Result<Option<String>> {
    use rusqlite::OptionalExtension;
    connection
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
}

pub(crate) fn set_meta(connection: &Connection, key: &str, value: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
        )?
        .execute([key, value])?;
    Ok(())
}

pub(crate) fn identity(connection: &Connection) -> rusqlite::Result<Option<Identity>> {
    Ok(meta(connection, IDENTITY)?.and_then(|text| serde_json::from_str(&text).ok()))
}

pub(crate) fn set_identity(connection: &Connection, identity: &Identity) -> rusqlite::Result<()> {
    let text = serde_json::to_string(identity)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    set_meta(connection, IDENTITY, &text)
}

/// The identity kept in a database, if it can be read at all.
pub(crate) fn read_identity(path: &DataPath) -> Option<Identity> {
    let connection = read_only(path.as_path()).ok()?;
    identity(&connection).ok().flatten()
}

pub(crate) fn read_only(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

/// Whether SQLite says that the file's contents make no sense.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ffi::ErrorCode::DatabaseCorrupt | ffi::ErrorCode::NotADatabase)
    )
}

pub(crate) fn fail(what: &'static str, path: &Path, error: rusqlite::Error) -> StoreError {
    use ffi::ErrorCode as Sqlite;
    let detail = error.to_string();
    match error.sqlite_error_code() {
        Some(Sqlite::DiskFull) => StoreError::Full { what, detail },
        Some(Sqlite::DatabaseCorrupt | Sqlite::NotADatabase) => StoreError::Corrupt {
            what,
            database: path.to_owned(),
            detail,
        },
        Some(Sqlite::DatabaseBusy | Sqlite::DatabaseLocked) => StoreError::Busy {
            what,
            path: path.to_owned(),
        },
        Some(Sqlite::ReadOnly) => StoreError::Io {
            what,
            path: path.to_owned(),
            source: io::Error::new(io::ErrorKind::PermissionDenied, detail),
        },
        Some(
            Sqlite::SystemIoFailure
            | Sqlite::CannotOpen
            | Sqlite::PermissionDenied
            | Sqlite::NoLargeFileSupport
            | Sqlite::FileLockingProtocolFailed
            | Sqlite::OutOfMemory,
        ) => StoreError::Io {
            what,
            path: path.to_owned(),
            source: io::Error::other(detail),
        },
        // A table that is not there although the version says so is a damaged file, not a bug in our SQL.
        _ if detail.starts_with("no such table") => StoreError::Corrupt {
            what,
            database: path.to_owned(),
            detail,
        },
        _ => StoreError::Invariant { what, detail },
    }
}
