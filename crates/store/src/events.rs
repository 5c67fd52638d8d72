//! The event log: numbered per context, persisted before anyone is told. A record that cannot be read costs
//! only itself. Knows the envelope; of the bodies only that some hold texts to search (see `search`).

use protocol::{EventBody, EventEnvelope, Millis, SessionId};
use rusqlite::{Row, types::ValueRef};

use crate::{Durability, Store, StoreError, database::Database, search};

/// An event that has no number yet.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    pub session_id: Option<SessionId>,
    pub at: Millis,
    pub body: EventBody,
}

/// Part of a log, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventPage {
    pub events: Vec<EventEnvelope>,
    /// Records in this range that could not be read; a user is told of them.
    pub damaged: Vec<DamagedRecord>,
    /// The number of the last record looked at, damaged or not: where the next page starts after. As asked
    /// for, when nothing follows.
    pub next: u64,
}

/// A stored record that cannot be read. Everything around it can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedRecord {
    /// The event's or the message's number.
    pub seq: u64,
    pub session: Option<SessionId>,
    pub reason: String,
}

impl std::fmt::Display for DamagedRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Record {} is incomplete and was left out ({}).",
            self.seq, self.reason
        )
    }
}

const APPEND: &str = "write the event log";
const READ: &str = "read the event log";

impl Store {
    /// Numbers the events (from 1, without gaps) and persists them, all in one transaction, then returns them
    /// as they may be sent. On failure none was stored and no number is used up.
    /// User and assistant messages in them become searchable.
    pub fn append(
        &self,
        events: Vec<NewEvent>,
        durability: Durability,
    ) -> Result<Vec<EventEnvelope>, StoreError> {
        self.require_write_access(APPEND)?;
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let mut bodies = Vec::with_capacity(events.len());
        for event in &events {
            bodies.push(
                serde_json::to_string(&event.body).map_err(|error| StoreError::Invariant {
                    what: APPEND,
                    detail: error.to_string(),
                })?,
            );
        }
        let mut database = self.database();
        let first = database.last_seq + 1;
        let mut written = insert(&mut database, first, &events, &bodies, durability);
        let maybe_index = matches!(
            written,
            Err(StoreError::Corrupt { .. } | StoreError::Invariant { .. })
        );
        // A damaged search index shows at any step up to the commit; it must not cost the event.
        if maybe_index && search::make_again(&mut database).is_ok() {
            written = insert(&mut database, first, &events, &bodies, durability);
        }
        written.map_err(|error| self.inner.budget.explain(error))?;
        let envelopes: Vec<_> = (first..)
            .zip(events)
            .map(|(seq, event)| EventEnvelope {
                context_id: self.context_id().clone(),
                session_id: event.session_id,
                seq,
                at: event.at,
                body: event.body,
            })
            .collect();
        database.last_seq = envelopes.last().map_or(database.last_seq, |event| event.seq);
        Ok(envelopes)
    }

    /// At most `limit` records after event `seq`. Call again with `next` until `next` comes back unchanged.
    pub fn events_after(&self, seq: u64, limit: usize) -> Result<EventPage, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.page(
            "SELECT seq, session, at, body FROM events WHERE seq > ?1 ORDER BY seq LIMIT ?2",
            (signed(seq), limit),
            seq,
        )
    }

    /// All events of one session.
    pub fn session_events(&self, id: &SessionId) -> Result<EventPage, StoreError> {
        self.page(
            "SELECT seq, session, at, body FROM events WHERE session = ?1 ORDER BY seq",
            [id.as_str()],
            0,
        )
    }

    /// The newest events of one session that come before event `before`, at most `limit`, oldest first. `next` is the
    /// number of the oldest one looked at: where to go on towards the beginning. For those who need a session's end
    /// and not all of it; start with `u64::MAX`.
    pub fn session_events_before(
        &self,
        id: &SessionId,
        before: u64,
        limit: usize,
    ) -> Result<EventPage, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut page = self.page(
            "SELECT seq, session, at, body FROM events WHERE session = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3",
            (id.as_str(), signed(before), limit),
            before,
        )?;
        page.events.reverse();
        page.damaged.reverse();
        Ok(page)
    }

    /// The number of the newest event; 0 when there is none.
    pub fn last_seq(&self) -> Result<u64, StoreError> {
        let database = self.database();
        // Another process may be writing while this one only reads.
        let stored: i64 = database.read(READ, |connection| {
            connection
                .prepare_cached("SELECT coalesce(max(seq), 0) FROM events")?
                .query_row([], |row| row.get(0))
        })?;
        Ok(database.last_seq.max(unsigned(stored)))
    }

    fn page(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        start: u64,
    ) -> Result<EventPage, StoreError> {
        let mut page = EventPage {
            next: start,
            ..EventPage::default()
        };
        self.read(READ, |connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query(parameters)?;
            while let Some(row) = rows.next()? {
                let seq = unsigned(row.get(0)?);
                page.next = seq;
                match self.envelope(seq, row)? {
                    Ok(event) => page.events.push(event),
                    Err(damaged) => page.damaged.push(damaged),
                }
            }
            Ok(())
        })?;
        Ok(page)
    }

    fn envelope(&self, seq: u64, row: &Row<'_>) -> rusqlite::Result<Result<EventEnvelope, DamagedRecord>> {
        let session_id = match row.get_ref(1)? {
            ValueRef::Text(text) => std::str::from_utf8(text).ok().map(SessionId::from_text),
            _ => None,
        };
        let at = match row.get_ref(2)? {
            ValueRef::Integer(at) => unsigned(at),
            _ => 0,
        };
        let body = json(row.get_ref(3)?);
        Ok(match body {
            Ok(body) => Ok(EventEnvelope {
                context_id: self.context_id().clone(),
                session_id,
                seq,
                at,
                body,
            }),
            Err(reason) => Err(DamagedRecord {
                seq,
                session: session_id,
                reason,
            }),
        })
    }
}

fn insert(
    database: &mut Database,
    first: u64,
    events: &[NewEvent],
    bodies: &[String],
    durability: Durability,
) -> Result<(), StoreError> {
    database.write(APPEND, durability, |transaction| {
        let mut insert = transaction
            .prepare_cached("INSERT INTO events (seq, session, at, body) VALUES (?1, ?2, ?3, ?4)")?;
        for ((seq, event), body) in (first..).zip(events).zip(bodies) {
            let session = event.session_id.as_ref().map(SessionId::as_str);
            insert.execute((signed(seq), session, signed(event.at), body))?;
            if let Some(entry) = search::entry_of(&event.body) {
                search::add(transaction, seq, session, &entry)?;
            }
        }
        Ok(())
    })
}

/// A JSON column, or why it cannot be read. Never fails on what a damaged row may hold.
pub(crate) fn json<T: serde::de::DeserializeOwned>(value: ValueRef<'_>) -> Result<T, String> {
    match value {
        ValueRef::Text(text) | ValueRef::Blob(text) => {
            serde_json::from_slice(text).map_err(|error| error.to_string())
        }
        other => Err(format!("expected text, found {}", other.data_type())),
    }
}

/// SQLite's integers are signed. Numbers of events and milliseconds never reach the difference.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
