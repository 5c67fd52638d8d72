//! A process that dies at any step of an accept leaves all of it or nothing, once the workspace is opened again.

use std::{path::Path, process::Command};

use protocol::{ChangeSetId, ChangeSetStatus, changes::Selection};

use crate::place::{self, Place};

const FOLDER: &str = "CHANGESET_TEST_FOLDER";
const SET: &str = "CHANGESET_TEST_SET";

/// Not a test of its own: what the other tests run in a process that they make crash.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let (sets, _) = place::open(Path::new(&folder));
    let id = ChangeSetId::from_text(std::env::var(SET).unwrap());
    match std::env::var("CHANGESET_TEST_UNDO") {
        Ok(_) => sets.undo(Some(&id)).unwrap(),
        Err(_) => sets.accept(&id, &Selection::All).unwrap(),
    };
}

fn crash_at(place: &mut Place, set: &ChangeSetId, fault: &str, undo: Option<&str>) {
    place.close();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "crash::child", "--test-threads", "1"])
        .env(FOLDER, place.folder())
        .env(SET, set.as_str())
        .env("VIBE_CODER_FAULT", fault);
    if let Some(undo) = undo {
        command.env("CHANGESET_TEST_UNDO", undo);
    }
    let output = command.output().unwrap();
    assert!(
        !output.status.success() && output.status.code().is_none(),
        "{fault}: {}",
        String::from_utf8_lossy(&output.stdout)
    );
}

/// Twenty files of every kind of change.
fn twenty_files() -> (Place, ChangeSetId) {
    let place = Place::new();
    for number in 0..14 {
        place.put(format!("dir{}/f{number}", number % 3), format!("file {number}\n"));
    }
    for number in 0..14 {
        let path = format!("dir{}/f{number}", number % 3);
        match number {
            0..8 => place.edit(&path, "file", "FILE").unwrap(),
            8..12 => place.delete(&path).unwrap(),
            _ => place.rename(&path, &format!("moved/deep/f{number}")).unwrap(),
        };
    }
    for number in 0..4 {
        place.create(&format!("made/n{number}"), "new\n").unwrap();
    }
    let set = place.propose();
    (place, set.id)
}

#[test]
fn an_accept_that_crashes_anywhere_leaves_all_or_nothing() {
    let mut faults: Vec<(String, bool)> = vec![("accept.journal:1".to_owned(), false)];
    // Two of a rename's paths and eighteen others make twenty writes; fourteen of them have new content.
    faults.extend([1, 7, 14].map(|n| (format!("accept.temporary:{n}"), false)));
    faults.push(("accept.committing:1".to_owned(), true));
    faults.extend((1..=20).map(|n| (format!("accept.rename:{n}"), true)));
    faults.extend([1, 10, 20].map(|n| (format!("accept.cleanup:{n}"), true)));
    faults.push(("accept.synced:1".to_owned(), true));
    faults.push(("accept.finished:1".to_owned(), true));
    for (fault, completed) in faults {
        let (mut place, set) = twenty_files();
        let before = place.tree();
        crash_at(&mut place, &set, &fault, None);
        place.reopen();
        let (shown, tree) = (place.sets().get(&set).unwrap(), place.tree());
        if completed {
            assert_eq!(shown.status, ChangeSetStatus::Accepted, "{fault}");
            assert!(!place.exists("dir2/f8") && !place.exists("dir0/f12"), "{fault}");
            assert_eq!(place.text("moved/deep/f13"), "file 13\n", "{fault}");
            assert_eq!(place.text("dir1/f7"), "FILE 7\n", "{fault}");
            assert_eq!(
                tree.keys()
                    .filter(|path| place.root().join(path).is_file())
                    .count(),
                14,
                "{fault}"
            );
        } else {
            assert_eq!(tree, before, "{fault}");
            assert_eq!(shown.status, ChangeSetStatus::PendingReview, "{fault}");
            place.sets().accept(&set, &Selection::All).unwrap();
        }
        assert!(
            place.notes.is_empty() == (fault == "accept.finished:1"),
            "{fault}: {:?}",
            place.notes
        );
        place.sets().undo(Some(&set)).unwrap();
        assert_eq!(place.tree(), before, "{fault}");
    }
}

#[test]
fn an_undo_that_crashes_is_completed() {
    let (mut place, set) = twenty_files();
    let before = place.tree();
    place.sets().accept(&set, &Selection::All).unwrap();
    crash_at(&mut place, &set, "accept.rename:9", Some("undo"));
    place.reopen();
    assert_eq!(place.sets().get(&set).unwrap().status, ChangeSetStatus::Restored);
    let files = |tree: place::Tree| -> place::Tree {
        tree.into_iter()
            .filter(|(_, (_, bytes))| !bytes.is_empty())
            .collect()
    };
    assert_eq!(files(place.tree()), files(before));
}

/// The user edits between the crash and the next start: their text stays, everything else goes back.
#[test]
fn a_save_after_the_crash_is_kept_and_the_rest_taken_back() {
    let (mut place, set) = twenty_files();
    let before = place.tree();
    crash_at(&mut place, &set, "accept.rename:12", None);
    place.put("dir0/f0", "typed after the crash\n");
    place.put("made/n0", "typed after the crash\n");
    place.reopen();
    assert!(
        place
            .notes
            .iter()
            .any(|note| note.contains("dir0/f0") && note.contains("taken back")),
        "{:?}",
        place.notes
    );
    let mut tree = place.tree();
    for path in ["dir0/f0", "made/n0"] {
        assert_eq!(
            tree.remove(Path::new(path)).unwrap().1,
            b"typed after the crash\n"
        );
    }
    tree.remove(Path::new("made"));
    let mut expected = before;
    expected.remove(Path::new("dir0/f0"));
    assert_eq!(tree, expected);
    assert_eq!(
        place.sets().get(&set).unwrap().status,
        ChangeSetStatus::PendingReview
    );
}
