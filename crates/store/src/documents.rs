//! JSON documents keyed by kind and id: change sets, snapshots, journals. Their shape belongs to who puts them.

use protocol::SessionId;
use rusqlite::OptionalExtension;
use serde_json::Value;

use crate::{Durability, Store, StoreError, events::json};

/// One document to put, or to delete when `value` is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// "changeset", "snapshot", "journal" …
    pub kind: String,
    pub id: String,
    pub session_id: Option<SessionId>,
    pub value: Option<Value>,
}

/// A document whose JSON cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedDocument {
    pub kind: String,
    pub id: String,
    pub reason: String,
}

const READ: &str = "read a stored document";

impl Store {
    /// Puts and deletes all of `documents` in one transaction, in order.
    pub fn put_documents(&self, documents: &[Document], durability: Durability) -> Result<(), StoreError> {
        self.write("store a change", durability, |transaction| {
            for document in documents {
                match &document.value {
                    Some(value) => transaction
                        .prepare_cached(
                            "INSERT INTO documents (kind, id, session, value) VALUES (?1, ?2, ?3, ?4) ON CONFLICT \
                             DO UPDATE SET session = excluded.session, value = excluded.value",
                        )?
                        .execute((
                            &document.kind,
                            &document.id,
                            document.session_id.as_ref().map(SessionId::as_str),
                            value.to_string(),
                        ))?,
                    None => transaction
                        .prepare_cached("DELETE FROM documents WHERE kind = ?1 AND id = ?2")?
                        .execute((&document.kind, &document.id))?,
                };
            }
            Ok(())
        })
    }

    /// One document; `None` when there is none. A damaged one is an error of its own.
    pub fn document(&self, kind: &str, id: &str) -> Result<Option<Value>, StoreError> {
        let found = self.read(READ, |connection| {
            connection
                .prepare_cached("SELECT value FROM documents WHERE kind = ?1 AND id = ?2")?
                .query_row((kind, id), |row| Ok(json(row.get_ref(0)?)))
                .optional()
        })?;
        found.transpose().map_err(|reason| StoreError::DamagedRecord {
            record: format!("{kind} {id}"),
            reason,
        })
    }

    /// All documents of a kind by id; ids sort by the time they were made. Damaged ones are left out:
    /// [`damaged_documents`](Self::damaged_documents) names them.
    pub fn documents(&self, kind: &str) -> Result<Vec<(String, Value)>, StoreError> {
        self.each_document(kind, |id, value| value.ok().map(|value| (id, value)))
    }

    /// Those of [`documents`](Self::documents) that belong to a session. Others are not even parsed.
    pub fn session_documents(
        &self,
        kind: &str,
        session: &SessionId,
    ) -> Result<Vec<(String, Value)>, StoreError> {
        self.read(READ, |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, value FROM documents WHERE kind = ?1 AND session = ?2 ORDER BY id",
            )?;
            let mut rows = statement.query((kind, session.as_str()))?;
            let mut taken = Vec::new();
            while let Some(row) = rows.next()? {
                if let Ok(value) = json(row.get_ref(1)?) {
                    taken.push((row.get(0)?, value));
                }
            }
            Ok(taken)
        })
    }

    /// The documents of a kind that [`documents`](Self::documents) leaves out.
    pub fn damaged_documents(&self, kind: &str) -> Result<Vec<DamagedDocument>, StoreError> {
        self.each_document(kind, |id, value| {
            value.err().map(|reason| DamagedDocument {
                kind: kind.to_owned(),
                id,
                reason,
            })
        })
    }

    fn each_document<T>(
        &self,
        kind: &str,
        take: impl Fn(String, Result<Value, String>) -> Option<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.read(READ, |connection| {
            let mut statement =
                connection.prepare_cached("SELECT id, value FROM documents WHERE kind = ?1 ORDER BY id")?;
            let mut rows = statement.query([kind])?;
            let mut taken = Vec::new();
            while let Some(row) = rows.next()? {
                taken.extend(take(row.get(0)?, json(row.get_ref(1)?)));
            }
            Ok(taken)
        })
    }
}
