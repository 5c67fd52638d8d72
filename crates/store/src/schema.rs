//! The tables and how older databases become current ones. Migrations only add and convert; none deletes.

use rusqlite::{Connection, TransactionBehavior};

/// `PRAGMA application_id`: "VibC".
const APPLICATION_ID: i64 = 0x5669_6243;

/// Entry `n` takes a database from version `n` to `n + 1`. Entries are never edited once released.
pub(crate) const MIGRATIONS: &[&str] = &["
    CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS events (
        seq INTEGER PRIMARY KEY, session TEXT, at INTEGER NOT NULL, body TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS events_by_session ON events (session, seq);
    CREATE TABLE IF NOT EXISTS sessions (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL, state TEXT NOT NULL, settings TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS messages (
        number INTEGER PRIMARY KEY, session TEXT NOT NULL, record TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS messages_by_session ON messages (session, number);
    CREATE TABLE IF NOT EXISTS documents (
        number INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, session TEXT, value TEXT NOT NULL,
        UNIQUE (kind, id));
    CREATE TABLE IF NOT EXISTS artifacts (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL, kind TEXT NOT NULL,
        created_at INTEGER NOT NULL, size INTEGER);
    CREATE INDEX IF NOT EXISTS artifacts_by_session ON artifacts (session, number);
"];

/// The tables of the current version with their columns, in the order they are copied by a salvage. The first
/// column is the row number.
pub(crate) const TABLES: &[(&str, &str)] = &[
    ("events", "seq, session, at, body"),
    ("messages", "number, session, record"),
    (
        "sessions",
        "number, id, title, created_at, updated_at, state, settings",
    ),
    ("documents", "number, kind, id, session, value"),
    ("artifacts", "number, id, session, kind, created_at, size"),
];

/// The version this program writes.
pub(crate) fn current() -> i64 {
    version_after(MIGRATIONS)
}

fn version_after(migrations: &[&str]) -> i64 {
    i64::try_from(migrations.len()).unwrap_or(i64::MAX)
}

pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Brings a database from `version` (0: empty) to the current one, all in one transaction.
pub(crate) fn migrate(
    connection: &mut Connection,
    version: i64,
    migrations: &[&str],
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = usize::try_from(version).unwrap_or(0);
    for step in migrations.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", version_after(migrations))?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_database_is_migrated_whole_or_not_at_all() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, 0, MIGRATIONS).unwrap();
        connection
            .execute("INSERT INTO events VALUES (1, 'ses_1', 5, '{}')", [])
            .unwrap();

        let added = [
            MIGRATIONS[0],
            "ALTER TABLE events ADD COLUMN extra TEXT NOT NULL DEFAULT 'x'",
        ];
        let broken = [added[0], added[1], "INSERT INTO no_such_table VALUES (1)"];
        assert!(migrate(&mut connection, 1, &broken).is_err());
        assert_eq!(version(&connection).unwrap(), 1);
        assert!(connection.prepare("SELECT extra FROM events").is_err());

        migrate(&mut connection, 1, &added).unwrap();
        assert_eq!(version(&connection).unwrap(), 2);
        let row: (i64, String) = connection
            .query_row("SELECT at, extra FROM events WHERE seq = 1", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!(row, (5, "x".to_owned()));
    }

    #[test]
    fn salvaged_tables_are_those_of_the_schema() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, 0, MIGRATIONS).unwrap();
        for (table, columns) in TABLES {
            let statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
            let names: Vec<_> = statement.column_names().collect();
            assert_eq!(names.join(", "), *columns, "{table}");
        }
        let tables: i64 = connection
            .query_row(
                "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name <> 'meta'",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(usize::try_from(tables).unwrap(), TABLES.len());
    }
}
