use std::{io::Write, path::PathBuf};

use protocol::{ArtifactId, ContentHash, tool::ArtifactKind};
use serde_json::json;
use store::{DataHome, Document, Durability};

use crate::support::*;

/// Child: writes everything a store holds, over and over, and says what it was promised to have been kept.
pub fn write(arguments: &[PathBuf]) {
    let (store, _) = open(&DataHome::at(arguments[0].clone()), &arguments[1]);
    for number in 0_u64.. {
        let events = (0..number % 4 + 1)
            .map(|part| event("a", number, user(&format!("message {number} {part}"))))
            .collect();
        let durability = if number.is_multiple_of(5) {
            Durability::Full
        } else {
            Durability::Normal
        };
        for event in store.append(events, durability).unwrap() {
            say(format_args!("event {}", event.seq));
        }
        let message = store
            .push_message(&session("a"), &json!({ "n": number }))
            .unwrap();
        say(format_args!("message {message}"));
        let blob = store
            .put_blob(format!("{number} ").repeat(5000).as_bytes())
            .unwrap();
        say(format_args!("blob {blob}"));
        let document = Document {
            kind: "journal".to_owned(),
            id: number.to_string(),
            session_id: None,
            value: Some(json!(blob.0)),
        };
        store.put_documents(&[document], Durability::Full).unwrap();
        say(format_args!("document {number}"));
        let mut artifact = store
            .create_artifact(&session("a"), ArtifactKind::CommandLog)
            .unwrap();
        artifact.write_all(&[b'x'; 1000]).unwrap();
        say(format_args!("artifact {}", artifact.id()));
        if number.is_multiple_of(2) {
            artifact.finish().unwrap();
        }
        let scratch = store.scratch_dir().unwrap();
        std::fs::write(scratch.path().join("staged"), "x").unwrap();
    }
}

/// Killed at many moments: nothing that was acknowledged is lost, numbers have no gap, and nothing unfinished
/// stays.
#[test]
fn killed_writer_loses_nothing_it_acknowledged() {
    let place = Place::new();
    let mut said = Vec::new();
    for round in 1..=12 {
        let mut other = Other::start("write", &[place.home.path(), &place.root]);
        for _ in 0..round * 7 {
            said.push(other.said().expect("the writer ended by itself"));
        }
        said.extend(other.kill());

        let (store, notes) = place.open_noting();
        let events = sequence(&store);
        assert_eq!(events, (1..=events.len() as u64).collect::<Vec<_>>());
        let messages: Vec<_> = store
            .messages(&session("a"))
            .unwrap()
            .records
            .iter()
            .map(|(number, _)| *number)
            .collect();
        for line in &said {
            let (what, id) = line.split_once(' ').unwrap();
            match what {
                "event" => assert!(events.contains(&id.parse().unwrap()), "{line}"),
                "message" => assert!(messages.contains(&id.parse().unwrap()), "{line}"),
                "blob" => assert!(store.blob(&ContentHash(id.to_owned())).is_ok(), "{line}"),
                "document" => {
                    let value = store.document("journal", id).unwrap().expect(line);
                    let blob = ContentHash(value.as_str().unwrap().to_owned());
                    assert!(store.blob(&blob).is_ok(), "{line}");
                }
                "artifact" => {
                    let id = ArtifactId::from_text(id);
                    assert_eq!(store.artifact(&id).unwrap().expect(line).size_bytes, 1000);
                    assert_eq!(
                        store.read_artifact(&id, 990, 100).unwrap(),
                        (vec![b'x'; 10], 1000)
                    );
                }
                other => panic!("{other}"),
            }
        }
        assert!(!store.data_folder().join("scratch").exists());
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        assert!(notes.len() <= 1, "{notes:?}");
    }
}
