//! Saving what can be read from a damaged database. Only on request, and nothing is deleted: the damaged files
//! are moved aside under a dated name.

use std::{
    fs,
    io::{Seek, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, types::Value};

use crate::{
    DataHome, Durability, OpenError, Store, StoreError,
    database::{self, Database},
    files,
    home::DataPath,
    identity::{self, Root},
    schema::TABLES,
    store,
};

/// What a salvage found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SalvageReport {
    /// Where the damaged files lie now.
    pub kept_as: Vec<PathBuf>,
    /// Rows that were copied, by table.
    pub recovered: Vec<(&'static str, u64)>,
    /// What could not be read, in words; empty when everything was copied.
    pub lost: Vec<String>,
}

const WHAT: &str = "save the damaged database";
/// How many single row numbers are tried inside a damaged range of one table, and how many where the damage has
/// no known end.
const MOST_PROBES: i64 = 500_000;
const MOST_PROBES_AT_END: i64 = 20_000;
/// After a loss at the log's end no number that may have been given out is given out again.
const SEQ_MARGIN: u64 = 10_000;

impl Store {
    /// Moves the workspace's database aside, makes a new one and copies every row that can still be read.
    /// Works on an intact database too. Fails with `InUse` while a process has the workspace open.
    pub fn salvage(home: &DataHome, workspace_root: &Path) -> Result<SalvageReport, OpenError> {
        let root = Root::examine(workspace_root)?;
        let absent = || OpenError::Absent {
            root: root.path.clone(),
        };
        let folder = identity::find(home, &root)?.ok_or_else(absent)?;
        let _lock = store::take_lock(&folder, &root, Duration::from_secs(1))?;
        if !database::file_in(&folder).as_path().exists() {
            return Err(absent());
        }
        let mut report = SalvageReport::default();
        let identity = identity::read(&folder);
        let damaged = move_aside(&folder, &mut report)?;
        let mut rows = copy_rows(&folder, &damaged, &mut report)?;

        let (mut database, _) = Database::open(&folder)?;
        let end_lost = rows.end_of_log_lost;
        database.write(WHAT, Durability::Full, |transaction| {
            let mut newest = 0;
            for (table, columns, rows) in rows.tables.drain(..) {
                let places = vec!["?"; columns.split(',').count()].join(", ");
                let mut insert = transaction.prepare(&format!(
                    "INSERT OR IGNORE INTO {table} ({columns}) VALUES ({places})"
                ))?;
                let mut copied = 0;
                for row in rows {
                    if let (&"events", Some(Value::Integer(seq))) = (&table, row.first()) {
                        newest = newest.max(u64::try_from(*seq).unwrap_or(0));
                    }
                    // A row that breaks a rule of its table is not one that we wrote.
                    if let Ok(count) = insert.execute(rusqlite::params_from_iter(row)) {
                        copied += u64::try_from(count).unwrap_or(0);
                    }
                }
                report.recovered.push((table, copied));
            }
            if end_lost {
                let floor = newest + SEQ_MARGIN;
                database::set_meta(transaction, database::SEQ_FLOOR, &floor.to_string())?;
            }
            match rows.identity.as_ref().or(identity.as_ref()) {
                Some(identity) => database::set_identity(transaction, identity),
                None => Ok(()),
            }
        })?;
        Ok(report)
    }
}

fn failed(path: &DataPath) -> impl Fn(std::io::Error) -> StoreError {
    let path = path.to_path_buf();
    move |source| StoreError::io(WHAT, path.clone(), source)
}

/// The log goes last: a crash in between leaves it where opening finds and keeps it.
fn move_aside(folder: &DataPath, report: &mut SalvageReport) -> Result<DataPath, StoreError> {
    let stamp = date_stamp(crate::now_millis());
    let name = format!("damaged-{stamp}.db");
    for suffix in ["", "-shm", "-wal"] {
        let from = database::companion(folder, suffix);
        let to = folder.join(&format!("{name}{suffix}"));
        if from.as_path().exists() {
            files::rename(&from, &to).map_err(failed(&from))?;
            report.kept_as.push(to.to_path_buf());
        }
    }
    Ok(folder.join(&name))
}

struct Rows {
    tables: Vec<(&'static str, &'static str, Vec<Vec<Value>>)>,
    identity: Option<identity::Identity>,
    end_of_log_lost: bool,
}

/// Reads from a copy: reading a database with a log can change it, and the original stays as it is.
fn copy_rows(folder: &DataPath, damaged: &DataPath, report: &mut SalvageReport) -> Result<Rows, StoreError> {
    let scratch = crate::scratch::folder_in(folder);
    files::create_folder(&scratch).map_err(failed(&scratch))?;
    let copy = scratch.join("salvage.db");
    for suffix in ["", "-wal", "-shm"] {
        let target = scratch.join(&format!("salvage.db{suffix}"));
        if target.as_path().exists() {
            files::remove_file(&target).map_err(failed(&target))?;
        }
        let source = PathBuf::from(format!("{}{suffix}", damaged.as_path().display()));
        if suffix != "-shm" && source.exists() {
            let source = folder.join(&source.file_name().unwrap_or_default().to_string_lossy());
            files::copy(&source, &target).map_err(failed(&source))?;
        }
    }
    let mut connection = open_for_reading(&copy);
    if connection.is_none() {
        transplant_first_page(&scratch, &copy)?;
        connection = open_for_reading(&copy);
    }
    let mut rows = Rows {
        tables: Vec::new(),
        identity: None,
        end_of_log_lost: connection.is_none(),
    };
    match connection {
        None => report.lost.push(
            "The database's structure could not be read; none of its records could be saved.".to_owned(),
        ),
        Some(connection) => {
            rows.identity = database::identity(&connection).ok().flatten();
            for (table, columns) in TABLES {
                let found = read_table(&connection, table, columns);
                if let Some(loss) = &found.loss {
                    report.lost.push(format!("{table}: {loss}"));
                    rows.end_of_log_lost |= *table == "events";
                }
                rows.tables.push((table, columns, found.rows));
            }
        }
    }
    drop(files::remove_tree(&scratch));
    Ok(rows)
}

/// A connection on which at least the list of tables can be read.
fn open_for_reading(path: &DataPath) -> Option<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).ok()?;
    connection
        .query_row(
            "SELECT count(*) FROM sqlite_master WHERE name = 'events'",
            [],
            |row| row.get::<_, i64>(0),
        )
        .is_ok_and(|count| count == 1)
        .then_some(connection)
}

/// The first page holds the structure. Every database of ours is made in the same way, so that a new one's
/// first page fits a database whose own was overwritten; rows that then make no sense are left behind.
fn transplant_first_page(scratch: &DataPath, copy: &DataPath) -> Result<(), StoreError> {
    let donor_folder = scratch.join("donor");
    files::create_folder(&donor_folder).map_err(failed(&donor_folder))?;
    match Database::open(&donor_folder) {
        Ok((database, _)) => drop(database),
        Err(OpenError::Store(error)) => return Err(error),
        Err(_) => return Ok(()),
    }
    let donor = database::file_in(&donor_folder);
    let mut page = fs::read(&donor).map_err(failed(&donor))?;
    page.truncate(usize::try_from(database::PAGE_BYTES).unwrap_or(0));
    // The donor's number of pages must not be believed; with another "version valid for" SQLite measures.
    if let Some(valid_for) = page.get_mut(92..96) {
        valid_for.fill(0);
    }
    let log = scratch.join("salvage.db-wal");
    if log.as_path().exists() {
        // It may hold the damaged page again.
        files::remove_file(&log).map_err(failed(&log))?;
    }
    files::open_or_create(copy)
        .and_then(|mut file| {
            file.rewind()?;
            file.write_all(&page)
        })
        .map_err(failed(copy))
}

struct Found {
    rows: Vec<Vec<Value>>,
    /// What of the table could not be read.
    loss: Option<String>,
}

/// Reads forward to the first damage, backward to the last, and tries each row number in between.
fn read_table(connection: &Connection, table: &str, columns: &str) -> Found {
    let key = columns.split(',').next().unwrap_or("rowid");
    let select = |rest: &str| format!("SELECT {columns} FROM {table} NOT INDEXED {rest}");
    let (mut rows, whole) = read_until_damage(connection, &select(&format!("ORDER BY {key}")));
    if whole {
        return Found { rows, loss: None };
    }
    let number = |row: &Vec<Value>| match row.first() {
        Some(Value::Integer(number)) => Some(*number),
        _ => None,
    };
    let last_before = rows.iter().filter_map(number).max().unwrap_or(0);
    let (mut after, _) = read_until_damage(
        connection,
        &select(&format!("WHERE {key} > {last_before} ORDER BY {key} DESC")),
    );
    after.reverse();
    let first_after = after
        .iter()
        .filter_map(number)
        .min()
        .unwrap_or(last_before.saturating_add(MOST_PROBES_AT_END));
    let between = (last_before + 1)..first_after.min(last_before.saturating_add(MOST_PROBES));
    let single = select(&format!("WHERE {key} = ?1"));
    for row_number in between {
        rows.extend(read_row(connection, &single, row_number));
    }
    rows.extend(after);
    Found {
        rows,
        loss: Some("a part is damaged; all records around it were saved.".to_owned()),
    }
}

/// The rows that come before the first damage, and whether they are all.
fn read_until_damage(connection: &Connection, sql: &str) -> (Vec<Vec<Value>>, bool) {
    let mut found = Vec::new();
    let whole = read_into(&mut found, connection, sql).is_ok();
    (found, whole)
}

fn read_into(found: &mut Vec<Vec<Value>>, connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(sql)?;
    let width = statement.column_count();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        found.push((0..width).map(|column| lenient(row, column)).collect());
    }
    Ok(())
}

fn read_row(connection: &Connection, sql: &str, number: i64) -> Option<Vec<Value>> {
    let mut statement = connection.prepare_cached(sql).ok()?;
    let width = statement.column_count();
    statement
        .query_row([number], |row| {
            Ok((0..width).map(|column| lenient(row, column)).collect())
        })
        .ok()
}

/// Text that is not UTF-8 is copied as the bytes it is; the readers report it as a damaged record.
fn lenient(row: &rusqlite::Row<'_>, column: usize) -> Value {
    use rusqlite::types::ValueRef;
    match row.get_ref(column) {
        Ok(ValueRef::Text(text)) => match std::str::from_utf8(text) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => Value::Blob(text.to_vec()),
        },
        Ok(other) => Value::try_from(other).unwrap_or(Value::Null),
        Err(_) => Value::Null,
    }
}

/// `20261130T152233Z`, from milliseconds since the epoch.
fn date_stamp(millis: u64) -> String {
    let seconds = millis / 1000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days since 0000-03-01 split into 400-year eras: the usual civil-from-days computation.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}{month:02}{day:02}T{:02}{:02}{:02}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_civil_dates() {
        for (seconds, stamp) in [
            (0, "19700101T000000Z"),
            (951_782_399, "20000228T235959Z"),
            (951_782_400, "20000229T000000Z"),
            (1_796_052_153, "20261130T152233Z"),
        ] {
            assert_eq!(date_stamp(seconds * 1000), stamp);
        }
    }
}
