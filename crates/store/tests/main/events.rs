use protocol::{ItemKind, SessionState};
use serde_json::json;
use store::{Durability, Speaker};

use crate::support::*;

#[test]
fn events_are_numbered_persisted_and_paged() {
    let place = Place::new();
    let store = place.open();
    let written = store
        .append(
            vec![event("a", 5, created("one")), event("b", 6, created("two"))],
            Durability::Full,
        )
        .unwrap();
    let third = store
        .append(
            vec![store::NewEvent {
                session_id: None,
                at: 7,
                body: note("x"),
            }],
            Durability::Normal,
        )
        .unwrap();
    assert_eq!(store.append(Vec::new(), Durability::Normal).unwrap(), []);
    assert_eq!(store.last_seq().unwrap(), 3);
    let context = store.context_id().clone();
    drop(store);

    let store = place.open();
    assert_eq!(store.context_id(), &context);
    let all: Vec<_> = written.into_iter().chain(third).collect();
    assert_eq!(all.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2, 3]);
    let page = store.events_after(0, 2).unwrap();
    assert_eq!((&page.events[..], page.next), (&all[..2], 2));
    let page = store.events_after(page.next, 2).unwrap();
    assert_eq!((&page.events[..], page.next), (&all[2..], 3));
    let page = store.events_after(page.next, 2).unwrap();
    assert_eq!((page.events.len(), page.next), (0, 3));
    assert_eq!(store.session_events(&session("b")).unwrap().events, all[1..2]);
    assert_eq!(append(&store, note("y")), 4);
}

#[test]
fn a_session_is_read_backwards_from_its_end() {
    let place = Place::new();
    let store = place.open();
    for number in 0..7 {
        store
            .append(
                vec![event("a", number, note("x")), event("b", number, note("y"))],
                Durability::Normal,
            )
            .unwrap();
    }
    place
        .database(&store)
        .execute("UPDATE events SET body = '{' WHERE seq = 9", [])
        .unwrap();
    let mut before = u64::MAX;
    let mut pages = Vec::new();
    loop {
        let page = store.session_events_before(&session("a"), before, 3).unwrap();
        if page.next == before {
            break;
        }
        before = page.next;
        let numbers: Vec<u64> = page.events.iter().map(|event| event.seq).collect();
        pages.push((numbers, page.damaged.len()));
    }
    assert_eq!(pages, [(vec![11, 13], 1), (vec![3, 5, 7], 0), (vec![1], 0)]);
}

#[test]
fn many_threads_get_numbers_without_gaps() {
    let place = Place::new();
    let store = place.open();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for number in 0..50 {
                    append(&store, user(&format!("message {number}")));
                }
            });
        }
    });
    assert_eq!(sequence(&store), (1..=200).collect::<Vec<_>>());
}

/// S01 with its input: seven whole records and one that was cut.
#[test]
fn damaged_last_record_costs_only_itself() {
    let place = Place::new();
    let store = place.open();
    let bytes = include_bytes!("../fixtures/torn-tail.jsonl");
    let mut texts = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let text = serde_json::from_slice::<serde_json::Value>(line).map(|record| record["text"].clone());
        let text = text.unwrap_or_default().as_str().unwrap_or("torn").to_owned();
        store.push_message(&session("a"), &json!({"text": text})).unwrap();
        append(&store, user(&text));
        texts.push(text);
    }
    assert_eq!(texts.len(), 8);
    drop(store);

    let torn = std::str::from_utf8(bytes.rsplit(|byte| *byte == b'\n').next().unwrap()).unwrap();
    let store = place.open();
    let database = place.database(&store);
    for sql in [
        "UPDATE events SET body = ?1 WHERE seq = 8",
        "UPDATE messages SET record = ?1 WHERE number = 8",
    ] {
        assert_eq!(database.execute(sql, [torn]).unwrap(), 1);
    }
    for reopened in 1..=2_usize {
        let store = if reopened == 1 {
            store.clone()
        } else {
            place_reopened(&place, &store)
        };
        let page = store.session_events(&session("a")).unwrap();
        assert_eq!(page.events.len(), 6 + reopened);
        assert_eq!(
            page.damaged.iter().map(|record| record.seq).collect::<Vec<_>>(),
            [8]
        );
        assert_eq!(page.damaged[0].session, Some(session("a")));
        assert!(
            page.damaged[0].to_string().contains("incomplete"),
            "{}",
            page.damaged[0]
        );
        let messages = store.messages(&session("a")).unwrap();
        assert_eq!(
            (messages.records.len(), messages.damaged.len()),
            (6 + reopened, 1)
        );
        if reopened == 1 {
            assert_eq!(append(&store, user("after the damage")), 9);
            assert_eq!(
                store
                    .push_message(&session("a"), &json!({"text": "after"}))
                    .unwrap(),
                9
            );
        }
    }
}

/// The writer lock is free only when every clone is gone, so the second look is a read-only one.
fn place_reopened(place: &Place, _held: &store::Store) -> store::Store {
    store::Store::open_read_only(&place.home, &place.root).unwrap()
}

#[test]
fn every_kind_of_damage_in_a_row_is_reported_and_skipped() {
    for (name, value) in [
        ("cut JSON", "CAST(X'7B2274' AS TEXT)"),
        ("not UTF-8", "CAST(X'FFFE00' AS TEXT)"),
        ("a blob", "X'00'"),
        ("a number", "17"),
        ("another type", "'{\"type\":\"fromTheFuture\"}'"),
        ("empty", "''"),
    ] {
        let place = Place::new();
        let store = place.open();
        for number in 0..3 {
            append(&store, note(&number.to_string()));
        }
        let database = place.database(&store);
        database
            .execute(&format!("UPDATE events SET body = {value} WHERE seq = 2"), [])
            .unwrap();
        let page = store.events_after(0, 10).unwrap();
        let seqs: Vec<_> = page.events.iter().map(|event| event.seq).collect();
        let damaged: Vec<_> = page.damaged.iter().map(|record| record.seq).collect();
        assert_eq!((seqs, damaged, page.next), (vec![1, 3], vec![2], 3), "{name}");
    }
}

#[test]
fn sessions_are_listed_by_use_and_missing_rows_are_restored() {
    let place = Place::new();
    let store = place.open();
    let mut older = session_row("old");
    older.updated_at = 15;
    store.put_session(&older).unwrap();
    store.put_session(&session_row("new")).unwrap();
    store.put_session(&session_row("new")).unwrap();
    assert_eq!(store.sessions().unwrap(), [session_row("new"), older]);
    let states = protocol::EventBody::SessionStateChanged {
        from: SessionState::Idle,
        to: SessionState::Failed,
        reason: None,
    };
    for (at, body) in [(30, created("Fix the parser")), (40, note("x")), (50, states)] {
        store
            .append(vec![event("events only", at, body)], Durability::Normal)
            .unwrap();
    }
    place
        .database(&store)
        .execute("DELETE FROM sessions WHERE id = 'ses_new'", [])
        .unwrap();
    drop(store);

    let (store, notes) = place.open_noting();
    let restored = store.session(&session("events only")).unwrap().unwrap();
    assert_eq!(restored.title, "Fix the parser");
    assert_eq!((restored.created_at, restored.updated_at), (30, 50));
    assert_eq!(restored.state, SessionState::Failed);
    assert_eq!(notes.len(), 1, "{notes:?}");
    drop(store);
    assert_eq!(place.open_noting().1, Vec::<String>::new());
}

#[test]
fn session_row_of_a_newer_version_is_still_listed() {
    let place = Place::new();
    let store = place.open();
    store.put_session(&session_row("x")).unwrap();
    place
        .database(&store)
        .execute("UPDATE sessions SET state = 'dreaming', settings = '{'", [])
        .unwrap();
    let row = store.session(&session("x")).unwrap().unwrap();
    assert_eq!((row.state, row.settings), (SessionState::Failed, json!({})));
    assert_eq!(store.sessions().unwrap().len(), 1);
}

#[test]
fn search_finds_what_was_said_and_no_query_is_a_mistake() {
    let place = Place::new();
    let store = place.open();
    let asked = append(&store, user("Why does the rate_limiter drop Äpfel requests?"));
    let answered = append(&store, assistant("The limiter drops every second request."));
    append(
        &store,
        message(ItemKind::Thinking {
            text: "limiter secret thought".to_owned(),
        }),
    );
    append(&store, user("something else"));

    let find = |query: &str| store.search(query, 10).unwrap();
    let seqs = |query: &str| find(query).iter().map(|hit| hit.seq).collect::<Vec<_>>();
    assert_eq!(seqs("rate_limiter"), [asked]);
    assert_eq!(seqs("apfel"), [asked]);
    assert_eq!(seqs("drop req"), [asked]);
    assert_eq!(seqs("thought"), Vec::<u64>::new());
    let hit = &find("second")[0];
    assert_eq!(hit.seq, answered);
    assert_eq!(
        (hit.speaker, &hit.session_id),
        (Speaker::Assistant, &session("a"))
    );
    assert_eq!(hit.snippet, "The limiter drops every [second] request.");
    for query in [
        "",
        "\"",
        "a AND",
        "NOT",
        "(",
        "*",
        "a:b",
        "^x",
        "NEAR(",
        "{a b}: c",
        "-x",
        "\0",
        "'; DROP TABLE events",
    ] {
        find(query);
    }
    assert_eq!(store.search("limiter", 0).unwrap(), []);
}

#[test]
fn missing_or_damaged_search_index_is_made_again() {
    for (name, sql) in [
        ("dropped", "DROP TABLE search"),
        ("part dropped", "DROP TABLE search_idx"),
        ("damaged", "UPDATE search_data SET block = X'FFFFFFFFFFFF'"),
        ("rows dropped", "DELETE FROM search_data"),
    ] {
        let place = Place::new();
        let store = place.open();
        for number in 0..50 {
            append(
                &store,
                user(&format!("needle {number} {}", "hay ".repeat(number))),
            );
        }
        drop(store);
        let store = place.open();
        let folder = store.data_folder().to_owned();
        drop(store);
        let database = rusqlite::Connection::open(folder.join("store.db")).unwrap();
        database
            .set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)
            .unwrap();
        database.execute_batch(sql).unwrap();
        drop(database);
        let store = place.open();
        append(&store, user("needle after"));
        assert_eq!(store.search("needle", 100).unwrap().len(), 51, "{name}");
        assert_eq!(sequence(&store).len(), 51, "{name}");
    }
}

#[test]
fn documents_change_together_and_a_damaged_one_is_named() {
    let place = Place::new();
    let store = place.open();
    let document = |id: &str, value: Option<serde_json::Value>| store::Document {
        kind: "changeset".to_owned(),
        id: id.to_owned(),
        session_id: Some(session("a")),
        value,
    };
    store
        .put_documents(
            &[
                document("2", Some(json!({"n": 2}))),
                document("1", Some(json!({"n": 1}))),
            ],
            Durability::Full,
        )
        .unwrap();
    store
        .put_documents(
            &[document("2", None), document("3", Some(json!(3)))],
            Durability::Full,
        )
        .unwrap();
    assert_eq!(
        store.documents("changeset").unwrap(),
        [("1".to_owned(), json!({"n": 1})), ("3".to_owned(), json!(3))]
    );
    assert_eq!(store.document("changeset", "2").unwrap(), None);
    assert_eq!(
        store.session_documents("changeset", &session("a")).unwrap(),
        store.documents("changeset").unwrap()
    );
    assert_eq!(store.session_documents("changeset", &session("b")).unwrap(), []);
    assert_eq!(store.document("journal", "1").unwrap(), None);

    place
        .database(&store)
        .execute("UPDATE documents SET value = '{\"n\":' WHERE id = '1'", [])
        .unwrap();
    assert_eq!(
        store.documents("changeset").unwrap(),
        [("3".to_owned(), json!(3))]
    );
    let damaged = store.damaged_documents("changeset").unwrap();
    assert_eq!((damaged.len(), damaged[0].id.as_str()), (1, "1"));
    let error = protocol::RuntimeError::from(store.document("changeset", "1").unwrap_err());
    assert_eq!(error.code, protocol::ErrorCode::SessionDamaged);
    assert_eq!(
        store.check().unwrap(),
        ["1 damaged document record(s); all others can be read."]
    );
}
