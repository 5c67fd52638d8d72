//! The limit on what one workspace's data may take: the setting `store.limitBytes`. Without a limit nothing is
//! measured.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use crate::{StoreError, database::Database};

pub(crate) struct Budget {
    limit_bytes: Option<u64>,
    /// What blobs and artifacts take.
    files: AtomicU64,
}

impl Budget {
    pub(crate) fn unlimited() -> Budget {
        Budget {
            limit_bytes: None,
            files: AtomicU64::new(0),
        }
    }

    /// A limit on the database and on files that now take `files_bytes` together.
    pub(crate) fn limited(
        limit_bytes: u64,
        files_bytes: u64,
        database: &Database,
    ) -> Result<Budget, StoreError> {
        let budget = Budget {
            limit_bytes: Some(limit_bytes),
            files: AtomicU64::new(files_bytes),
        };
        budget.leave_the_rest_to(database)?;
        Ok(budget)
    }

    /// Says that `bytes` more will be written to a file, before they are.
    pub(crate) fn reserve(
        &self,
        what: &'static str,
        bytes: u64,
        database: &Mutex<Database>,
    ) -> Result<(), StoreError> {
        let Some(limit_bytes) = self.limit_bytes else {
            return Ok(());
        };
        let database = lock(database);
        let wanted = self.files.load(Ordering::Relaxed).saturating_add(bytes);
        if wanted.saturating_add(database.size()?) > limit_bytes {
            return Err(StoreError::OverLimit { what, limit_bytes });
        }
        self.files.store(wanted, Ordering::Relaxed);
        self.leave_the_rest_to(&database)
    }

    /// Says that `bytes` of files are gone, or were not written after all.
    pub(crate) fn release(&self, bytes: u64, database: &Mutex<Database>) -> Result<(), StoreError> {
        if self.limit_bytes.is_none() {
            return Ok(());
        }
        let database = lock(database);
        let files = self.files.load(Ordering::Relaxed).saturating_sub(bytes);
        self.files.store(files, Ordering::Relaxed);
        self.leave_the_rest_to(&database)
    }

    /// The failure of a database write, told as the limit where it is the limit that was reached.
    pub(crate) fn explain(&self, error: StoreError) -> StoreError {
        // SQLite does not say whether its limit or the disk was reached. Where there is a limit it is far likelier, at
        // any distance from it: one large record needs many pages.
        match (error, self.limit_bytes) {
            (StoreError::Full { what, .. }, Some(limit_bytes)) => StoreError::OverLimit { what, limit_bytes },
            (error, _) => error,
        }
    }

    fn leave_the_rest_to(&self, database: &Database) -> Result<(), StoreError> {
        match self.limit_bytes {
            Some(limit) => database.limit_size(limit.saturating_sub(self.files.load(Ordering::Relaxed))),
            None => Ok(()),
        }
    }
}

/// A panic elsewhere cannot leave the database half changed: a transaction that is not committed is undone.
pub(crate) fn lock(database: &Mutex<Database>) -> MutexGuard<'_, Database> {
    database.lock().unwrap_or_else(PoisonError::into_inner)
}
