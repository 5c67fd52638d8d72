//! The model's side of a conversation: records in order, whose shape only the engine knows.

use protocol::SessionId;
use serde_json::Value;

use crate::{
    DamagedRecord, Durability, Store, StoreError,
    events::{json, unsigned},
};

/// A session's records, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessagePage {
    pub records: Vec<(u64, Value)>,
    /// Records that could not be read and are left out.
    pub damaged: Vec<DamagedRecord>,
}

const APPEND: &str = "store the conversation";

impl Store {
    /// Appends one record and returns its number, which grows over all sessions of the workspace.
    pub fn push_message(&self, session: &SessionId, record: &Value) -> Result<u64, StoreError> {
        self.push_messages(session, std::slice::from_ref(record))
            .map(|numbers| numbers.last().copied().unwrap_or_default())
    }

    /// Appends records, all or none: for a call that must not be stored without its result.
    pub fn push_messages(&self, session: &SessionId, records: &[Value]) -> Result<Vec<u64>, StoreError> {
        self.write(APPEND, Durability::Normal, |transaction| {
            let mut insert =
                transaction.prepare_cached("INSERT INTO messages (session, record) VALUES (?1, ?2)")?;
            records
                .iter()
                .map(|record| Ok(unsigned(insert.insert((session.as_str(), record.to_string()))?)))
                .collect()
        })
    }

    pub fn messages(&self, session: &SessionId) -> Result<MessagePage, StoreError> {
        let mut page = MessagePage::default();
        self.read("read the conversation", |connection| {
            let mut statement = connection
                .prepare_cached("SELECT number, record FROM messages WHERE session = ?1 ORDER BY number")?;
            let mut rows = statement.query([session.as_str()])?;
            while let Some(row) = rows.next()? {
                let number = unsigned(row.get(0)?);
                match json(row.get_ref(1)?) {
                    Ok(record) => page.records.push((number, record)),
                    Err(reason) => page.damaged.push(DamagedRecord {
                        seq: number,
                        session: Some(session.clone()),
                        reason,
                    }),
                }
            }
            Ok(())
        })?;
        Ok(page)
    }
}
