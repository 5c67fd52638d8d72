//! The list of sessions. The rows are the engine's to keep; a row that is missing is made again from the
//! session's events, so that no conversation can vanish from the list.

use protocol::{EventBody, Millis, SessionId, SessionState};
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::Value;

use crate::{
    Durability, Store, StoreError,
    events::{json, signed, unsigned},
};

#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    pub id: SessionId,
    pub title: String,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub state: SessionState,
    /// The engine's; an empty object where it was lost.
    pub settings: Value,
}

const READ: &str = "read the list of sessions";
const COLUMNS: &str = "id, title, created_at, updated_at, state, settings";

impl Store {
    /// Adds the session to the list, or replaces its row.
    pub fn put_session(&self, row: &SessionRow) -> Result<(), StoreError> {
        self.write("store the session", Durability::Normal, |transaction| {
            put(transaction, row)
        })
    }

    pub fn session(&self, id: &SessionId) -> Result<Option<SessionRow>, StoreError> {
        self.read(READ, |connection| {
            connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM sessions WHERE id = ?1"))?
                .query_row([id.as_str()], |row| from_row(connection, row))
                .optional()
        })
    }

    /// All sessions, the last used first.
    pub fn sessions(&self) -> Result<Vec<SessionRow>, StoreError> {
        self.read(READ, |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM sessions ORDER BY updated_at DESC, id DESC"
                ))?
                .query_map([], |row| from_row(connection, row))?
                .collect()
        })
    }
}

fn put(connection: &Connection, row: &SessionRow) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO sessions (id, title, created_at, updated_at, state, settings) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO UPDATE SET title = excluded.title, \
             created_at = excluded.created_at, updated_at = excluded.updated_at, state = excluded.state, \
             settings = excluded.settings",
        )?
        .execute((
            row.id.as_str(),
            &row.title,
            signed(row.created_at),
            signed(row.updated_at),
            row.state.as_str(),
            row.settings.to_string(),
        ))?;
    Ok(())
}

/// A damaged column costs only what it held.
fn from_row(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let id = SessionId::from_text(row.get::<_, String>(0)?);
    let state = row.get_ref(4)?.as_str().ok().and_then(state_named);
    let state = match state {
        Some(state) => state,
        // A name this program does not know, as after a downgrade.
        None => rebuild(connection, &id)?.map_or(SessionState::Failed, |row| row.state),
    };
    Ok(SessionRow {
        id,
        title: row.get_ref(1)?.as_str().unwrap_or_default().to_owned(),
        created_at: unsigned(row.get(2).unwrap_or(0)),
        updated_at: unsigned(row.get(3).unwrap_or(0)),
        state,
        settings: json(row.get_ref(5)?).unwrap_or_else(|_| Value::Object(serde_json::Map::new())),
    })
}

fn state_named(name: &str) -> Option<SessionState> {
    SessionState::ALL
        .iter()
        .copied()
        .find(|state| state.as_str() == name)
}

/// Gives every session that has events but no row its row.
pub(crate) fn restore_missing(connection: &Connection, notes: &mut Vec<String>) -> rusqlite::Result<()> {
    // Steps from one session to the next in the index instead of reading all of it: opening stays fast.
    let missing = connection
        .prepare(
            "WITH RECURSIVE found (id) AS (\
               SELECT min(session) FROM events \
               UNION ALL \
               SELECT (SELECT min(session) FROM events WHERE session > found.id) FROM found WHERE found.id NOT NULL\
             ) SELECT id FROM found WHERE id NOT NULL AND id NOT IN (SELECT id FROM sessions)",
        )?
        .query_map([], |row| row.get::<_, String>(0))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    for id in &missing {
        if let Some(row) = rebuild(connection, &SessionId::from_text(id.as_str()))? {
            put(connection, &row)?;
        }
    }
    match missing.len() {
        0 => {}
        1 => notes
            .push("One conversation was missing from the list and was restored from its events.".to_owned()),
        count => notes.push(format!(
            "{count} conversations were missing from the list and were restored from their events."
        )),
    }
    Ok(())
}

/// What a session's events say about its row.
fn rebuild(connection: &Connection, id: &SessionId) -> rusqlite::Result<Option<SessionRow>> {
    let mut statement =
        connection.prepare_cached("SELECT at, body FROM events WHERE session = ?1 ORDER BY seq")?;
    let mut rows = statement.query([id.as_str()])?;
    let mut rebuilt: Option<SessionRow> = None;
    while let Some(row) = rows.next()? {
        let at = unsigned(row.get(0).unwrap_or(0));
        let session = rebuilt.get_or_insert_with(|| SessionRow {
            id: id.clone(),
            title: String::new(),
            created_at: at,
            updated_at: at,
            state: SessionState::Idle,
            settings: Value::Object(serde_json::Map::new()),
        });
        session.updated_at = session.updated_at.max(at);
        match json::<EventBody>(row.get_ref(1)?) {
            Ok(EventBody::SessionCreated { title } | EventBody::SessionRenamed { title }) => {
                session.title = title
            }
            Ok(EventBody::SessionStateChanged { to, .. }) => session.state = to,
            _ => {}
        }
    }
    Ok(rebuilt)
}
