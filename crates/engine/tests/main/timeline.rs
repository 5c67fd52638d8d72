//! The fold from events to a timeline, on the files that the screen's reducer is tested with too.

use std::{collections::BTreeSet, fs, path::Path};

use engine::Timeline;
use protocol::EventEnvelope;
use serde_json::Value;

/// `UPDATE_FIXTURES=1` writes the timelines anew, to be read before they are kept.
#[test]
fn every_fixture_folds_to_its_timeline() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/timeline");
    let mut kinds = BTreeSet::new();
    let mut deltas = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut fixture: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let events: Vec<EventEnvelope> = serde_json::from_value(fixture["events"].clone()).unwrap();
        // Nothing in a fixture is there that the contract does not know.
        assert_eq!(
            serde_json::to_value(&events).unwrap(),
            fixture["events"],
            "{path:?}"
        );
        for event in fixture["events"].as_array().unwrap() {
            kinds.extend(event["body"]["item"]["type"].as_str().map(str::to_owned));
            deltas.extend(event["body"]["delta"]["kind"].as_str().map(str::to_owned));
        }
        let folded = serde_json::to_value(Timeline::of(&events).into_items()).unwrap();
        if std::env::var_os("UPDATE_FIXTURES").is_some_and(|value| value == "1") {
            fixture["timeline"] = folded;
            let text = serde_json::to_string_pretty(&fixture).unwrap() + "\n";
            fs::write(&path, text).unwrap();
        } else {
            assert_eq!(folded, fixture["timeline"], "{path:?}");
        }
    }
    assert_eq!(kinds.len(), 13, "an item of every kind: {kinds:?}");
    assert_eq!(deltas.len(), 3, "a delta of every kind: {deltas:?}");
}
