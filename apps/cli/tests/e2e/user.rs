//! What a user sees and decides in a test: the review, accept, undo, and files as bytes.

use protocol::changes::ChangeSet;
use testkit::Hermetic;

use crate::support::json_lines;

/// Replaces the only occurrence of some bytes.
pub fn spliced(bytes: &[u8], old: &str, new: &str) -> Vec<u8> {
    let places: Vec<usize> = bytes
        .windows(old.len())
        .enumerate()
        .filter_map(|(at, window)| (window == old.as_bytes()).then_some(at))
        .collect();
    let [at] = places[..] else {
        panic!("“{old}” is there {} times", places.len());
    };
    [&bytes[..at], new.as_bytes(), &bytes[at + old.len()..]].concat()
}

/// The change set that waits for review and its diff.
pub fn shown(place: &Hermetic) -> (ChangeSet, String) {
    let (_, values) = json_lines(place, &["changes", "show", "--json"]);
    let set = serde_json::from_value(values[0]["changeSet"].clone()).expect("a change set");
    (set, values[0]["diff"].as_str().expect("a diff").to_owned())
}

/// The lines of a diff that are added or deleted.
pub fn changed_lines(diff: &str) -> Vec<&str> {
    diff.split('\n')
        .filter(|line| line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---"))
        .collect()
}

/// A verb of `changes` that ends with a certain exit code. Returns what it said.
#[track_caller]
pub fn changes(place: &Hermetic, arguments: &[&str], code: i32) -> String {
    let output = place.vibe(&[&["changes"], arguments].concat());
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert_eq!(output.status.code(), Some(code), "changes {arguments:?}: {said}");
    said
}

#[track_caller]
pub fn accept(place: &Hermetic) {
    changes(place, &["accept"], 0);
}

#[track_caller]
pub fn undo(place: &Hermetic) {
    changes(place, &["undo"], 0);
}

/// The status of the newest change set.
pub fn status(place: &Hermetic) -> String {
    let (_, sets) = json_lines(place, &["changes", "list", "--json"]);
    sets.last().map_or_else(String::new, |set| {
        set["status"].as_str().expect("a status").to_owned()
    })
}
