//! Full-text search over what users and assistants wrote. The index is made from the events and can always be
//! made again; it must never be the reason that an event is not stored.

use protocol::{EventBody, ItemKind, SessionId};
use rusqlite::Connection;

use crate::{
    Durability, Store, StoreError,
    database::{self, Database},
    events::{json, signed, unsigned},
};

/// A message that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    pub session_id: SessionId,
    /// The event that completed the message.
    pub seq: u64,
    pub speaker: Speaker,
    /// The matching part with `[` and `]` around each match.
    pub snippet: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    User,
    Assistant,
}

impl Speaker {
    fn as_str(self) -> &'static str {
        match self {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        }
    }
}

const MOST_HITS: u32 = 500;
/// Of one message; the rest of a longer one is not searchable.
const MOST_BYTES: usize = 256 * 1024;

const CREATE: &str = "CREATE VIRTUAL TABLE search USING fts5 \
    (text, session UNINDEXED, speaker UNINDEXED, tokenize = \"unicode61 remove_diacritics 2 tokenchars '_'\")";

/// The text of an event that is searchable.
pub(crate) struct Entry<'a> {
    text: &'a str,
    speaker: Speaker,
}

pub(crate) fn entry_of(body: &EventBody) -> Option<Entry<'_>> {
    let EventBody::ItemCompleted { item } = body else {
        return None;
    };
    let (text, speaker) = match &item.kind {
        ItemKind::UserMessage { text, .. } => (text, Speaker::User),
        ItemKind::AssistantMessage { text, .. } => (text, Speaker::Assistant),
        _ => return None,
    };
    let text = &text[..text.floor_char_boundary(MOST_BYTES)];
    (!text.trim().is_empty()).then_some(Entry { text, speaker })
}

/// Adds one message.
pub(crate) fn add(
    connection: &Connection,
    seq: u64,
    session: Option<&str>,
    entry: &Entry<'_>,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO search (rowid, text, session, speaker) VALUES (?1, ?2, ?3, ?4)")?
        .execute((signed(seq), entry.text, session, entry.speaker.as_str()))?;
    Ok(())
}

/// Damage of the index itself, or a part of it that is missing; not a full disk or the like.
fn is_index_fault(error: &rusqlite::Error) -> bool {
    database::is_damage(error)
        || matches!(
            error.sqlite_error_code(),
            Some(rusqlite::ffi::ErrorCode::Unknown | rusqlite::ffi::ErrorCode::ConstraintViolation)
        )
}

/// Makes the index when it is not there.
pub(crate) fn ensure(connection: &Connection, notes: &mut Vec<String>) -> rusqlite::Result<()> {
    let exists: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'search')",
        [],
        |row| row.get(0),
    )?;
    if exists {
        return Ok(());
    }
    rebuild(connection)?;
    let anything: bool =
        connection.query_row("SELECT EXISTS (SELECT 1 FROM events)", [], |row| row.get(0))?;
    if anything {
        notes.push("The search index was missing and was made again.".to_owned());
    }
    Ok(())
}

const AGAIN: &str = "make the search index again";

/// Makes a damaged index again from the events.
pub(crate) fn make_again(database: &mut Database) -> Result<(), StoreError> {
    database.write(AGAIN, Durability::Normal, |transaction| rebuild(transaction))
}

fn rebuild(connection: &Connection) -> rusqlite::Result<()> {
    drop_index(connection)?;
    connection.execute_batch(CREATE)?;
    let mut statement = connection.prepare(
        "SELECT seq, session, body FROM events WHERE body LIKE '{\"type\":\"itemCompleted\"%' ORDER BY seq",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let Ok(body) = json::<EventBody>(row.get_ref(2)?) else {
            continue;
        };
        if let Some(entry) = entry_of(&body) {
            let session: Option<String> = row.get(1)?;
            add(connection, unsigned(row.get(0)?), session.as_deref(), &entry)?;
        }
    }
    Ok(())
}

/// SQLite refuses to drop an index whose parts are damaged or missing. Then it is taken off the list of tables, so
/// that its parts are ordinary tables, which can be dropped.
fn drop_index(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("SAVEPOINT drop_index")?;
    match connection.execute_batch("DROP TABLE IF EXISTS search; RELEASE drop_index") {
        Err(error) if is_index_fault(&error) => {}
        other => return other,
    }
    connection.execute_batch(
        "ROLLBACK TO drop_index; RELEASE drop_index; PRAGMA writable_schema = ON; \
         DELETE FROM sqlite_master WHERE type = 'table' AND name = 'search'; PRAGMA writable_schema = RESET; \
         DROP TABLE IF EXISTS search_data; DROP TABLE IF EXISTS search_idx; DROP TABLE IF EXISTS search_content; \
         DROP TABLE IF EXISTS search_docsize; DROP TABLE IF EXISTS search_config;",
    )
}

/// As typed to FTS5's language: every word quoted, so that no input is a mistake; all must occur; the last may
/// be the beginning of a word.
fn as_query(typed: &str) -> Option<String> {
    let words: Vec<String> = typed
        .split(|c: char| c.is_whitespace() || c == '\0')
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect();
    (!words.is_empty()).then(|| format!("{}*", words.join(" ")))
}

impl Store {
    /// Messages that contain every word of `query`, the best matches first, at most `limit` (and never more
    /// than 500). The last word also matches as the beginning of a longer one. Any text is a valid query.
    pub fn search(&self, query: &str, limit: u32) -> Result<Vec<SearchHit>, StoreError> {
        const WHAT: &str = "search the conversations";
        let Some(query) = as_query(query) else {
            return Ok(Vec::new());
        };
        let limit = limit.min(MOST_HITS);
        let found = self.read(WHAT, |connection| match find(connection, &query, limit) {
            Err(error) if is_index_fault(&error) => Ok(None),
            other => other.map(Some),
        })?;
        match found {
            Some(hits) => Ok(hits),
            None => {
                self.require_write_access(AGAIN)?;
                make_again(&mut self.database())?;
                self.read(WHAT, |connection| find(connection, &query, limit))
            }
        }
    }
}

fn find(connection: &Connection, query: &str, limit: u32) -> rusqlite::Result<Vec<SearchHit>> {
    connection
        .prepare_cached(
            "SELECT session, rowid, speaker, snippet(search, 0, '[', ']', '…', 16) FROM search \
             WHERE search MATCH ?1 AND session NOT NULL ORDER BY rank, rowid DESC LIMIT ?2",
        )?
        .query_map((query, limit), |row| {
            Ok(SearchHit {
                session_id: SessionId::from_text(row.get::<_, String>(0)?),
                seq: unsigned(row.get(1)?),
                speaker: match row.get_ref(2)?.as_str() {
                    Ok("user") => Speaker::User,
                    _ => Speaker::Assistant,
                },
                snippet: row.get(3)?,
            })
        })?
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_becomes_a_query_of_quoted_words() {
        for (typed, query) in [
            ("rate limit", Some("\"rate\" \"limit\"*")),
            (
                "say \"hi\" OR NOT",
                Some("\"say\" \"\"\"hi\"\"\" \"OR\" \"NOT\"*"),
            ),
            (
                "a* NEAR(b, 2) col:x",
                Some("\"a*\" \"NEAR(b,\" \"2)\" \"col:x\"*"),
            ),
            ("  \" * ^ () \0 ", None),
            ("", None),
        ] {
            assert_eq!(as_query(typed).as_deref(), query, "{typed:?}");
        }
    }
}
