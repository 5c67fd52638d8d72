//! Undo and redo: the reverse of what an accept wrote, keeping what the user did since (U01–U05).

use changeset::ApplyError;
use protocol::{ChangeSetStatus, changes::Selection};

use crate::place::{Place, file};

fn numbered(count: usize) -> String {
    (1..=count).map(|line| format!("{line}\n")).collect()
}

#[test]
fn undo_restores_every_kind_of_change_after_a_restart_and_redo_repeats_it() {
    let mut place = Place::new();
    place.put("edited", numbered(40_000));
    place.put("tool.sh", "#!/bin/sh\n");
    place.set_mode("tool.sh", 0o755);
    place.put("old/name", "content\n");
    place.fixture("crlf.txt");
    let before = place.tree();
    place.edit("edited", "\n20000\n", "\ntwenty thousand\n").unwrap();
    place.delete("tool.sh").unwrap();
    place.rename("old/name", "new/place/name").unwrap();
    place.create("made/here.txt", "made\n").unwrap();
    place.edit("crlf.txt", "beta", "BETA").unwrap();
    let accepted = place.accept_all().unwrap();
    let after = place.tree();
    assert_ne!(before, after);
    for _ in 0..2 {
        place.reopen();
        let undone = place.sets().undo(None).unwrap();
        assert_eq!(undone.change_set.id, accepted.change_set.id);
        assert_eq!(undone.change_set.status, ChangeSetStatus::Restored);
        assert_eq!(undone.files_written.len(), 6);
        // Content, modes, and no folder of ours left.
        assert!(place.tree() == before);
        assert!(place.sets().undo(Some(&accepted.change_set.id)).is_err());
        place.reopen();
        let redone = place.sets().redo(None).unwrap();
        assert_eq!(redone.change_set.status, ChangeSetStatus::Accepted);
        assert!(place.tree() == after);
        assert!(place.sets().redo(Some(&accepted.change_set.id)).is_err());
    }
}

/// U02: line 2 by the agent, line 8 by the user.
#[test]
fn undo_keeps_what_the_user_changed_since_and_redo_too() {
    let place = Place::new();
    place.put("f", numbered(10));
    place.edit("f", "2\n", "two\n").unwrap();
    let set = place.accept_all().unwrap().change_set;
    place.put("f", place.text("f").replace("8\n", "acht\n"));
    place.sets().undo(Some(&set.id)).unwrap();
    assert_eq!(place.text("f"), numbered(10).replace("8\n", "acht\n"));
    place.put("f", place.text("f").replace("5\n", "fünf\n"));
    place.sets().redo(Some(&set.id)).unwrap();
    let expected = numbered(10)
        .replace("2\n", "two\n")
        .replace("8\n", "acht\n")
        .replace("5\n", "fünf\n");
    assert_eq!(place.text("f"), expected);
    place.sets().undo(Some(&set.id)).unwrap();
    assert_eq!(place.text("f"), expected.replace("two\n", "2\n"));
}

#[test]
fn an_undo_that_would_take_the_users_work_is_refused_whole_and_shows_both_sides() {
    type Act = fn(&Place);
    let cases: [(&str, Act, Act, &str); 5] = [
        (
            "same line",
            |p| drop(p.edit("f", "2", "two").unwrap()),
            |p| p.put("f", "1\nzwei\n3\n"),
            "line 2: on disk `zwei`, to be put back `2`",
        ),
        (
            "created and changed",
            |p| drop(p.create("n", "agent\n").unwrap()),
            |p| p.put("n", "agent\nuser\n"),
            "deleting it would lose that",
        ),
        (
            "deleted and made anew",
            |p| drop(p.delete("f").unwrap()),
            |p| p.put("f", "another\n"),
            "another file of that name",
        ),
        (
            "renamed and deleted",
            |p| drop(p.rename("f", "m").unwrap()),
            |p| std::fs::remove_file(p.root().join("m")).unwrap(),
            "deleted on disk",
        ),
        (
            "renamed, old name used again",
            |p| drop(p.rename("f", "m").unwrap()),
            |p| p.put("f", "user's\n"),
            "another file of that name",
        ),
    ];
    for (name, agent, user, words) in cases {
        let place = Place::new();
        place.put("f", "1\n2\n3\n");
        place.put("other", "o\n");
        agent(&place);
        place.edit("other", "o", "O").unwrap();
        let set = place.accept_all().unwrap().change_set;
        user(&place);
        let before = place.tree();
        let error = place.sets().undo(Some(&set.id)).unwrap_err();
        assert!(matches!(error, ApplyError::Conflict { .. }), "{name}: {error}");
        assert!(error.to_string().contains(words), "{name}: {error}");
        assert_eq!(place.tree(), before, "{name}");
        assert_eq!(
            place.sets().get(&set.id).unwrap().status,
            ChangeSetStatus::Accepted,
            "{name}"
        );
    }
}

#[test]
fn a_set_accepted_in_parts_is_undone_whole_and_its_rest_comes_back_with_redo() {
    let place = Place::new();
    place.put("f", numbered(30));
    place.put("g", "g\n");
    let before = place.tree();
    for (old, new) in [
        ("3\n4\n", "three\n4\n"),
        ("15\n", "fifteen\n"),
        ("28\n", "twenty-eight\n"),
    ] {
        place.edit("f", old, new).unwrap();
    }
    place.edit("g", "g", "G").unwrap();
    let set = place.propose();
    place.accept_hunk(&set.id, "f", 3).unwrap();
    place.accept_hunk(&set.id, "f", 1).unwrap();
    place.sets().accept(&set.id, &file("g")).unwrap();
    let after = place.tree();
    let undone = place.sets().undo(Some(&set.id)).unwrap();
    assert_eq!(place.tree(), before);
    assert_eq!(undone.change_set.status, ChangeSetStatus::Restored);
    assert!(place.sets().overlay(&place.session).unwrap().is_empty());
    let redone = place.sets().redo(Some(&set.id)).unwrap();
    assert_eq!(place.tree(), after);
    assert_eq!(redone.change_set.status, ChangeSetStatus::PartiallyAccepted);
    place.sets().accept(&set.id, &Selection::All).unwrap();
    assert!(place.text("f").contains("fifteen"));
}

#[test]
fn older_accepts_are_undone_under_newer_ones() {
    let place = Place::new();
    place.put("f", numbered(20));
    place.edit("f", "3\n4\n", "three\n4\n").unwrap();
    let first = place.accept_all().unwrap().change_set;
    place.edit("f", "17\n", "seventeen\n").unwrap();
    let second = place.accept_all().unwrap().change_set;
    assert_ne!(first.id, second.id);
    place.sets().undo(Some(&first.id)).unwrap();
    assert_eq!(place.text("f"), numbered(20).replace("17\n", "seventeen\n"));
    place.sets().undo(None).unwrap();
    assert_eq!(place.text("f"), numbered(20));
    assert!(matches!(
        place.sets().undo(None),
        Err(ApplyError::NothingTo { .. })
    ));
}

/// U05: the store has a budget; what was dropped says so; what is still pending is never dropped.
#[test]
fn pruned_snapshots_say_so_and_pending_changes_are_kept() {
    let place = Place::new();
    let large = |letter: &str| letter.repeat(100_000) + "\n";
    for letter in ["a", "b", "c"] {
        place.create(letter, &large(letter)).unwrap();
        place.accept_all().unwrap();
    }
    place.create("pending", &large("p")).unwrap();
    let pending = place.propose();
    let sets = place.sets().list(None).unwrap();
    assert_eq!(place.sets().prune(150_000).unwrap(), 2);
    assert_eq!(place.sets().prune(150_000).unwrap(), 0);
    let error = place.sets().undo(Some(&sets[0].id)).unwrap_err();
    assert!(matches!(error, ApplyError::Pruned), "{error}");
    assert!(place.exists("a"));
    place.sets().undo(Some(&sets[2].id)).unwrap();
    assert!(!place.exists("c"));
    place.sets().accept(&pending.id, &Selection::All).unwrap();
    assert_eq!(place.text("pending"), large("p"));
}
