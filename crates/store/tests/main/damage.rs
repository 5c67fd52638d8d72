use std::{
    fs::{self, OpenOptions},
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use protocol::{ErrorCode, RuntimeError};
use serde_json::json;
use store::{Document, Durability, OpenError, Store, StoreError};

use crate::support::*;

const EVENTS: u64 = 3000;

/// A workspace with every kind of record, closed; returns its database.
fn written(place: &Place) -> PathBuf {
    let store = place.open();
    for number in 0..EVENTS / 100 {
        let events = (0..100)
            .map(|part| {
                event(
                    "a",
                    number,
                    user(&format!("message {number} {part} {}", "x".repeat(200))),
                )
            })
            .collect();
        store.append(events, Durability::Normal).unwrap();
    }
    store.put_session(&session_row("a")).unwrap();
    store
        .push_message(&session("a"), &json!({"role": "user"}))
        .unwrap();
    let document = Document {
        kind: "changeset".to_owned(),
        id: "chg_1".to_owned(),
        session_id: None,
        value: Some(json!({"files": []})),
    };
    store.put_documents(&[document], Durability::Full).unwrap();
    store.data_folder().join("store.db")
}

fn overwrite(file: &Path, offset: u64, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(file).unwrap();
    file.seek(SeekFrom::Start(offset)).unwrap();
    file.write_all(bytes).unwrap();
}

/// A page that lies in the middle of the events.
fn middle_page(database: &Path) -> u64 {
    let connection = rusqlite::Connection::open(database).unwrap();
    let page: i64 = connection
        .query_row(
            "SELECT pageno FROM dbstat WHERE name = 'events' AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET 90",
            [],
            |row| row.get(0),
        )
        .unwrap();
    u64::try_from(page).unwrap() - 1
}

/// A damaged database is told with its name and a way out, is never deleted, and what can be read is saved.
#[test]
fn damaged_database_is_told_and_saved_on_request() {
    type Damage = fn(&Path);
    let cases: [(&str, Damage, u64); 5] = [
        ("not a database", |file| overwrite(file, 0, &[b'#'; 100]), EVENTS),
        (
            "first page lost",
            |file| overwrite(file, 0, &[0xAA; 4096]),
            EVENTS,
        ),
        (
            "page in the middle lost",
            |file| overwrite(file, middle_page(file) * 4096, &[0xAA; 4096]),
            EVENTS - 60,
        ),
        (
            "second half lost",
            |file| {
                let length = fs::metadata(file).unwrap().len();
                OpenOptions::new()
                    .write(true)
                    .open(file)
                    .unwrap()
                    .set_len(length / 2)
                    .unwrap();
            },
            500,
        ),
        (
            "nothing but noise",
            |file| {
                let length = usize::try_from(fs::metadata(file).unwrap().len()).unwrap();
                fs::write(file, vec![0x5A; length]).unwrap();
            },
            0,
        ),
    ];
    for (name, damage, at_least) in cases {
        let place = Place::new();
        let database = written(&place);
        let context = place.home.workspaces().unwrap()[0].context_id.clone();
        damage(&database);
        let bytes = fs::read(&database).unwrap();

        let failure = match Store::open(&place.home, &place.root, Duration::ZERO) {
            Err(OpenError::Store(error)) => error,
            Err(other) => panic!("{name}: {other}"),
            Ok((store, _)) => {
                let findings = store.check();
                assert!(
                    findings.is_err() || findings.is_ok_and(|lines| !lines.is_empty()),
                    "{name}"
                );
                store.events_after(0, usize::MAX).unwrap_err()
            }
        };
        assert!(matches!(failure, StoreError::Corrupt { .. }), "{name}: {failure}");
        let told = RuntimeError::from(failure);
        assert_eq!(told.code, ErrorCode::StoreCorrupt, "{name}");
        assert!(told.message.contains("store.db"), "{name}: {told}");
        assert!(told.user_action.unwrap().contains("vibe-coder doctor"), "{name}");
        // Opening must not have changed it, except that SQLite may have added to it beside the damage.
        if name == "nothing but noise" || name == "not a database" {
            assert_eq!(fs::read(&database).unwrap(), bytes, "{name}");
        }

        let report = Store::salvage(&place.home, &place.root).unwrap();
        assert!(report.kept_as[0].exists(), "{name}");
        let (store, _) = place.open_noting();
        assert_eq!(store.context_id(), &context, "{name}");
        let page = store.events_after(0, usize::MAX).unwrap();
        let saved = page.events.len() as u64;
        assert!(
            (at_least..=EVENTS).contains(&saved),
            "{name}: {saved} events, {report:?}"
        );
        assert!(saved == EVENTS || !report.lost.is_empty(), "{name}: {report:?}");
        if at_least > 1000 {
            assert_eq!(
                store.session(&session("a")).unwrap(),
                Some(session_row("a")),
                "{name}"
            );
            assert_eq!(store.messages(&session("a")).unwrap().records.len(), 1, "{name}");
            assert_eq!(store.documents("changeset").unwrap().len(), 1, "{name}");
            assert!(!store.search("message", 5).unwrap().is_empty(), "{name}");
        }
        // No number that was given out is given out again.
        assert!(
            append(&store, note("after")) > EVENTS || at_least == EVENTS - 60,
            "{name}"
        );
        assert_eq!(store.check().unwrap(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn salvage_of_an_intact_database_keeps_everything() {
    let place = Place::new();
    written(&place);
    let store = place.open();
    let context = store.context_id().clone();
    let before = store.events_after(0, usize::MAX).unwrap();
    assert!(matches!(
        Store::salvage(&place.home, &place.root),
        Err(OpenError::InUse { .. })
    ));
    drop(store);
    let report = Store::salvage(&place.home, &place.root).unwrap();
    assert_eq!(report.lost, Vec::<String>::new());
    assert_eq!(report.recovered[0], ("events", EVENTS));
    let (store, notes) = place.open_noting();
    assert_eq!(store.events_after(0, usize::MAX).unwrap(), before);
    assert_eq!(store.context_id(), &context);
    assert_eq!(append(&store, note("next")), EVENTS + 1);
    assert!(notes.len() <= 1, "{notes:?}");
}

/// S03: a downgrade must not touch, and an upgrade must not delete.
#[test]
fn database_of_a_newer_version_is_left_alone() {
    let place = Place::new();
    let store = place.open();
    append(&store, created("from the future"));
    let folder = store.data_folder().to_owned();
    drop(store);
    let newer = rusqlite::Connection::open(folder.join("store.db")).unwrap();
    newer
        .execute_batch("PRAGMA user_version = 99; CREATE TABLE more (x)")
        .unwrap();
    let contents = |name: &str| fs::read(folder.join(name)).unwrap();
    // Still open in the newer program: its changes lie in the log.
    let before = (contents("store.db"), contents("store.db-wal"));

    for opened in [
        Store::open(&place.home, &place.root, Duration::ZERO).map(|_| ()),
        Store::open_read_only(&place.home, &place.root).map(|_| ()),
    ] {
        let error = opened.unwrap_err();
        assert!(matches!(error, OpenError::Newer { found: 99, .. }), "{error}");
        let told = RuntimeError::from(error);
        assert_eq!((told.code, told.recoverable), (ErrorCode::StoreNewer, false));
    }
    assert_eq!((contents("store.db"), contents("store.db-wal")), before);
    newer.execute_batch("PRAGMA user_version = 1").unwrap();
    drop(newer);
    assert_eq!(sequence(&place.open()), [1]);
}
