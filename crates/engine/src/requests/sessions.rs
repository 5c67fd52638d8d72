//! Sessions: start, list, show, search, export.

use protocol::{
    ChangeSet, ErrorCode, EventBody, RuntimeError, SessionId, SessionState,
    request::{
        Done, SessionExportResult, SessionHit, SessionListResult, SessionRenameParams, SessionRestoreParams,
        SessionSearchParams, SessionSearchResult, SessionShowResult, SessionStartParams, SessionStarted,
        SessionSummary,
    },
};
use serde_json::json;
use store::{Durability, SessionRow, log::LogEvent};

use crate::{Engine, events::Timeline, spending, turn::condense};

const DEFAULT_HITS: u32 = 20;
const MAX_HITS: u32 = 200;
const MAX_TITLE: usize = 200;
/// What a session is called until its first message.
pub const UNTITLED: &str = "New session";

pub fn start(engine: &Engine, params: SessionStartParams) -> Result<SessionStarted, RuntimeError> {
    let now = engine.rooms().sink.now();
    let row = SessionRow {
        id: SessionId::mint(),
        title: params.title.unwrap_or_else(|| UNTITLED.to_owned()),
        created_at: now,
        updated_at: now,
        state: SessionState::Idle,
        settings: json!({}),
    };
    let session_id = row.id.clone();
    engine.rooms().store.put_session(&row)?;
    engine.rooms().sink.log(&LogEvent::SessionCreated {
        session: session_id.clone(),
    });
    let body = EventBody::SessionCreated { title: row.title };
    engine
        .rooms()
        .sink
        .emit(Some(&session_id), body, Durability::Normal)?;
    Ok(SessionStarted { session_id })
}

pub fn list(engine: &Engine) -> Result<SessionListResult, RuntimeError> {
    let mut rows = engine.rooms().store.sessions()?;
    // Sessions that a crash ended come first, then the latest used (S01).
    rows.sort_by_key(|row| (!interrupted(row), std::cmp::Reverse(row.updated_at)));
    Ok(SessionListResult {
        sessions: rows.iter().map(summary).collect(),
    })
}

pub fn rename(engine: &Engine, params: &SessionRenameParams) -> Result<Done, RuntimeError> {
    let title = params.title.trim();
    if title.is_empty() || title.chars().count() > MAX_TITLE {
        return Err(RuntimeError::new(
            ErrorCode::RequestInvalid,
            format!("A session's name has between 1 and {MAX_TITLE} characters."),
        )
        .action("Choose another name."));
    }
    engine.session(&params.session_id)?.set_title(title)?;
    Ok(Done {})
}

/// The running turn has its own view of the conversation, so this waits for its end.
pub fn restore(engine: &Engine, params: &SessionRestoreParams) -> Result<Done, RuntimeError> {
    let session = engine.session(&params.session_id)?;
    if session.running().is_some() {
        return Err(RuntimeError::new(
            ErrorCode::SessionBusy,
            "This session is working on a message, so what it is sent cannot change now.",
        )
        .action("Wait for it to end, or cancel it."));
    }
    condense::restore(engine.rooms(), &session.id, &params.item_id)?;
    Ok(Done {})
}

fn interrupted(row: &SessionRow) -> bool {
    row.settings
        .get("interrupted")
        .and_then(serde_json::Value::as_bool)
        .unwrap_or(false)
}

fn summary(row: &SessionRow) -> SessionSummary {
    SessionSummary {
        id: row.id.clone(),
        title: row.title.clone(),
        created_at: row.created_at,
        updated_at: row.updated_at,
        state: row.state,
        interrupted: interrupted(row),
        spent: spending::in_row(&row.settings).sum,
    }
}

pub fn show(engine: &Engine, id: &SessionId) -> Result<SessionShowResult, RuntimeError> {
    let row = engine.session(id)?.row();
    let page = engine.rooms().store.session_events(id)?;
    let change_sets: Vec<ChangeSet> = engine.rooms().changes.list(Some(id))?;
    Ok(SessionShowResult {
        session: summary(&row),
        timeline: Timeline::of(&page.events).into_items(),
        last_seq: page.events.last().map_or(0, |event| event.seq),
        change_sets,
        notes: page.damaged.iter().map(ToString::to_string).collect(),
    })
}

/// Shows a session as a crash left it; from then on it counts as taken up again.
pub fn resume(engine: &Engine, id: &SessionId) -> Result<SessionShowResult, RuntimeError> {
    let shown = show(engine, id)?;
    if shown.session.interrupted {
        engine.session(id)?.keep("interrupted", json!(false))?;
    }
    Ok(shown)
}

pub fn search(engine: &Engine, params: &SessionSearchParams) -> Result<SessionSearchResult, RuntimeError> {
    if params.query.trim().is_empty() {
        return Err(
            RuntimeError::new(ErrorCode::RequestInvalid, "The search text is empty.")
                .action("Give one or more words to look for."),
        );
    }
    let limit = params.limit.unwrap_or(DEFAULT_HITS).min(MAX_HITS);
    let store = &engine.rooms().store;
    let hits = store
        .search(&params.query, limit)?
        .into_iter()
        .map(|hit| {
            let title = store
                .session(&hit.session_id)?
                .map_or_else(String::new, |row| row.title);
            Ok(SessionHit {
                session_id: hit.session_id,
                title,
                seq: hit.seq,
                snippet: hit.snippet,
            })
        })
        .collect::<Result<_, RuntimeError>>()?;
    Ok(SessionSearchResult { hits })
}

/// Everything that is stored about a session, in a form that outlives the database.
pub fn export(engine: &Engine, id: &SessionId) -> Result<SessionExportResult, RuntimeError> {
    let row = engine.session(id)?.row();
    let store = &engine.rooms().store;
    let mut records = vec![json!({ "record": "session", "value": summary(&row) })];
    for event in store.session_events(id)?.events {
        records.push(json!({ "record": "event", "value": event }));
    }
    for (number, message) in store.messages(id)?.records {
        records.push(json!({ "record": "message", "number": number, "value": message }));
    }
    for set in engine.rooms().changes.list(Some(id))? {
        records.push(json!({ "record": "changeSet", "value": set }));
    }
    Ok(SessionExportResult { records })
}
