//! Accepting and rejecting: exactly what was shown reaches the disk, and nothing else ever does (E06–E09, I06).

use std::os::unix::fs::{MetadataExt, symlink};

use changeset::{ApplyError, Expected, hash};
use protocol::{
    ChangeSetStatus, ChangeType, FileStatus, LineKind,
    changes::{LineEnding, Selection},
};

use crate::place::{Place, call, file, hunk, replacement};

fn numbered(count: usize) -> String {
    (1..=count).map(|line| format!("{line}\n")).collect()
}

/// I06: three edits make one cumulative diff; one hunk is accepted, the rest rejected; a fourth edit keeps that.
#[test]
fn the_review_shows_one_cumulative_diff_and_hunks_are_decided_one_by_one() {
    let place = Place::new();
    place.put("f", numbered(40));
    place.edit("f", "5\n6\n", "5\nadded\n6\n").unwrap();
    place.edit("f", "added", "ADDED").unwrap();
    place.edit("f", "30\n", "thirty\n").unwrap();
    let set = place.propose();
    assert_eq!(set.status, ChangeSetStatus::PendingReview);
    let [shown] = &set.files[..] else {
        panic!("{:?}", set.files)
    };
    assert_eq!((shown.added, shown.deleted, shown.hunks.len()), (2, 1, 2));
    let of_kind = |kind| -> Vec<&str> {
        let lines = shown.hunks.iter().flat_map(|hunk| &hunk.lines);
        lines
            .filter(|line| line.kind == kind)
            .map(|line| &line.text[..])
            .collect()
    };
    assert_eq!(of_kind(LineKind::Added), ["ADDED", "thirty"]);
    assert_eq!(of_kind(LineKind::Deleted), ["30"]);
    let applied = place.accept_hunk(&set.id, "f", 1).unwrap();
    assert_eq!(applied.change_set.status, ChangeSetStatus::PartiallyAccepted);
    let mut expected = numbered(40).replace("5\n6\n", "5\nADDED\n6\n");
    assert_eq!(place.text("f"), expected);
    let rejected = place.sets().reject(&set.id, &hunk("f", 1)).unwrap().change_set;
    assert_eq!(rejected.status, ChangeSetStatus::Accepted);
    assert_eq!(place.text("f"), expected);
    // The session goes on: the rejected hunk does not come back, the accepted one is not proposed again.
    place.edit("f", "20\n", "twenty\n").unwrap();
    let set = place.propose();
    assert_eq!(set.line_counts(), (1, 1));
    place.accept_all().unwrap();
    expected = expected.replace("20\n", "twenty\n");
    assert_eq!(place.text("f"), expected);
}

#[test]
fn more_edits_reopen_the_set_and_earlier_decisions_stay() {
    let place = Place::new();
    place.put("f", numbered(40));
    for (old, new) in [
        ("5\n6\n", "five\n6\n"),
        ("20\n", "twenty\n"),
        ("35\n", "thirty-five\n"),
    ] {
        place.edit("f", old, new).unwrap();
    }
    let first = place.propose();
    place.accept_hunk(&first.id, "f", 2).unwrap();
    let after_reject = place.sets().reject(&first.id, &hunk("f", 1)).unwrap().change_set;
    assert_eq!(after_reject.files[0].hunks.len(), 1);
    let again = place.edit("f", "12\n", "twelve\n").unwrap().change_set;
    assert_eq!((&again.id, again.status), (&first.id, ChangeSetStatus::Draft));
    assert!(matches!(
        place.sets().accept(&first.id, &Selection::All),
        Err(ApplyError::BeingDrafted)
    ));
    let set = place.propose();
    assert_eq!(set.status, ChangeSetStatus::PartiallyAccepted);
    assert_eq!(set.files[0].hunks.len(), 2);
    place.accept_all().unwrap();
    let expected = numbered(40)
        .replace("\n12\n", "\ntwelve\n")
        .replace("\n20\n", "\ntwenty\n")
        .replace("\n35\n", "\nthirty-five\n");
    assert_eq!(place.text("f"), expected);
}

#[test]
fn nothing_but_an_accept_changes_the_workspace() {
    let place = Place::new();
    place.fixture("tabs.go");
    place.fixture("latin1.txt");
    place.put("gone.txt", "x\n");
    place.set_mode("gone.txt", 0o755);
    let before = place.tree();
    place.edit("tabs.go", "return 0", "return 1").unwrap();
    place.create("dir/new.txt", "new\n").unwrap();
    place.delete("gone.txt").unwrap();
    place.rename("latin1.txt", "renamed.txt").unwrap();
    let set = place.propose();
    assert_eq!(set.files.len(), 4);
    assert_eq!(place.tree(), before);
    place.sets().reject(&set.id, &file("dir/new.txt")).unwrap();
    let rejected = place.sets().reject(&set.id, &Selection::All).unwrap().change_set;
    assert_eq!(rejected.status, ChangeSetStatus::Rejected);
    assert!(
        rejected
            .files
            .iter()
            .all(|file| file.status == FileStatus::Rejected)
    );
    assert_eq!(place.tree(), before);
    assert_eq!(place.sets().open_set(&place.session).unwrap(), None);
    assert!(matches!(
        place.sets().accept(&set.id, &Selection::All),
        Err(ApplyError::Decided { .. })
    ));
}

#[test]
fn files_are_accepted_one_by_one_and_the_rest_stays_pending() {
    let mut place = Place::new();
    for name in ["a", "b", "c"] {
        place.put(name, format!("{name}\n"));
        place.edit(name, name, &name.to_uppercase()).unwrap();
    }
    place.delete("c").unwrap();
    let set = place.propose();
    let applied = place.sets().accept(&set.id, &file("b")).unwrap();
    assert_eq!(applied.files_written, ["b"]);
    assert_eq!(
        (place.text("a"), place.text("b")),
        ("a\n".to_owned(), "B\n".to_owned())
    );
    // The pending rest survives a restart, and so does what it shows.
    place.reopen();
    let again = place.sets().get(&set.id).unwrap();
    assert_eq!(again, applied.change_set);
    assert_eq!(again.status, ChangeSetStatus::PartiallyAccepted);
    let applied = place.accept_all().unwrap();
    assert_eq!(applied.change_set.status, ChangeSetStatus::Accepted);
    assert_eq!(applied.change_set.snapshots.len(), 2);
    assert_eq!(place.text("a"), "A\n");
    assert!(!place.exists("c"));
}

/// E09 (d) and §52: what the user typed while the proposal was under review is merged, or nothing is written.
#[test]
fn a_base_that_moved_is_merged_or_conflicts_whole() {
    let place = Place::new();
    place.put("f", numbered(10));
    place.put("g", "g\n");
    place.edit("f", "2\n", "two\n").unwrap();
    place.edit("g", "g", "G").unwrap();
    let set = place.propose();
    place.put("f", numbered(10).replace("8\n", "acht\n"));
    place.sets().accept(&set.id, &file("f")).unwrap();
    assert_eq!(
        place.text("f"),
        numbered(10).replace("2\n", "two\n").replace("8\n", "acht\n")
    );
    place.put("g", "mine\n");
    let before = place.tree();
    place.edit("f", "5\n", "five\n").unwrap();
    let set = place.propose();
    assert_eq!(set.status, ChangeSetStatus::Conflicted);
    let error = place.sets().accept(&set.id, &Selection::All).unwrap_err();
    let ApplyError::Conflict { conflicts } = &error else {
        panic!("{error}")
    };
    assert_eq!(conflicts.len(), 1);
    let words = &conflicts[0].detail;
    assert!(
        words.contains("on disk `mine`") && words.contains("proposed `G`"),
        "{words}"
    );
    assert_eq!(place.tree(), before);
    // The way out: reject the file in conflict, accept the rest.
    place.sets().reject(&set.id, &file("g")).unwrap();
    place.sets().accept(&set.id, &Selection::All).unwrap();
    assert_eq!(place.text("g"), "mine\n");
    assert!(place.text("f").contains("five"));
}

#[test]
fn a_conflict_found_at_accept_writes_nothing_and_can_be_resolved_on_disk() {
    let place = Place::new();
    place.put("a", "1\n");
    place.put("z", "1\n");
    for name in ["a", "z"] {
        place.edit(name, "1", "one").unwrap();
    }
    let set = place.propose();
    place.put("z", "eins\n");
    let before = place.tree();
    assert!(matches!(
        place.sets().accept(&set.id, &Selection::All),
        Err(ApplyError::Conflict { .. })
    ));
    assert_eq!(place.tree(), before);
    let shown = place.sets().get(&set.id).unwrap();
    assert_eq!(shown.status, ChangeSetStatus::Conflicted);
    let states: Vec<FileStatus> = shown.files.iter().map(|file| file.status).collect();
    assert_eq!(states, [FileStatus::Pending, FileStatus::Conflicted]);
    // Blocked for the other file too, until the user resolves it.
    assert!(place.sets().accept(&set.id, &file("a")).is_err());
    place.put("z", "1\n");
    place.sets().accept(&set.id, &Selection::All).unwrap();
    assert_eq!(
        (place.text("a"), place.text("z")),
        ("one\n".to_owned(), "one\n".to_owned())
    );
}

#[test]
fn files_in_the_way_and_files_that_went_are_conflicts() {
    type Act = fn(&Place);
    let cases: [(&str, Act, Act); 5] = [
        (
            "create",
            |p| drop(p.create("n", "agent\n").unwrap()),
            |p| p.put("n", "user\n"),
        ),
        (
            "rename",
            |p| drop(p.rename("a", "n").unwrap()),
            |p| p.put("n", "user\n"),
        ),
        (
            "delete",
            |p| drop(p.delete("a").unwrap()),
            |p| p.put("a", "typed since\n"),
        ),
        (
            "edit",
            |p| drop(p.edit("a", "a", "A").unwrap()),
            |p| std::fs::remove_file(p.root().join("a")).unwrap(),
        ),
        (
            "folder in the way",
            |p| drop(p.create("n", "agent\n").unwrap()),
            |p| p.put("n/inner", "user\n"),
        ),
    ];
    for (name, agent, user) in cases {
        let place = Place::new();
        place.put("a", "a\n");
        place.put("b", "b\n");
        agent(&place);
        place.edit("b", "b", "B").unwrap();
        let set = place.propose();
        user(&place);
        let before = place.tree();
        assert!(place.sets().accept(&set.id, &Selection::All).is_err(), "{name}");
        assert_eq!(place.tree(), before, "{name}");
    }
}

#[test]
fn the_same_change_by_the_user_is_no_conflict() {
    let place = Place::new();
    place.put("a", "a\n");
    place.put("d", "d\n");
    place.edit("a", "a", "A").unwrap();
    place.create("n", "n\n").unwrap();
    place.delete("d").unwrap();
    let set = place.propose();
    place.put("a", "A\n");
    place.put("n", "n\n");
    std::fs::remove_file(place.root().join("d")).unwrap();
    let applied = place.sets().accept(&set.id, &Selection::All).unwrap();
    assert_eq!(applied.change_set.status, ChangeSetStatus::Accepted);
    assert!(applied.files_written.is_empty());
}

/// E08: links stay links, modes stay, other hard links are mentioned.
#[test]
fn links_and_modes_survive_an_accept() {
    let place = Place::new();
    place.put("docs/real.md", "old\n");
    place.put("tool.sh", "#!/bin/sh\necho hi\n");
    place.set_mode("tool.sh", 0o755);
    place.put("twin", "x\n");
    std::fs::hard_link(place.root().join("twin"), place.root().join("twin2")).unwrap();
    symlink("docs/real.md", place.root().join("link.md")).unwrap();
    symlink("docs", place.root().join("linked")).unwrap();
    let outcome = place.edit("link.md", "old", "new").unwrap();
    assert_eq!(outcome.files[0].path, "docs/real.md");
    place.edit("tool.sh", "hi", "ho").unwrap();
    place.edit("twin", "x", "y").unwrap();
    place.create("linked/made.md", "made\n").unwrap();
    let applied = place.accept_all().unwrap();
    assert!(
        place
            .root()
            .join("link.md")
            .symlink_metadata()
            .unwrap()
            .is_symlink()
    );
    assert_eq!(place.text("docs/real.md"), "new\n");
    assert_eq!(place.text("docs/made.md"), "made\n");
    assert_eq!(
        place.root().join("tool.sh").metadata().unwrap().mode() & 0o7777,
        0o755
    );
    assert_eq!(place.text("twin2"), "x\n");
    assert!(
        applied
            .notes
            .iter()
            .any(|note| note.contains("twin has 1 other hard link")),
        "{:?}",
        applied.notes
    );
}

#[test]
fn a_folder_swapped_for_a_link_cannot_lead_a_write_outside() {
    let place = Place::new();
    place.put("dir/f", "in\n");
    let outside = place.folder().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("f"), "in\n").unwrap();
    place.edit("dir/f", "in", "written").unwrap();
    let set = place.propose();
    std::fs::rename(place.root().join("dir"), place.root().join("moved")).unwrap();
    symlink(&outside, place.root().join("dir")).unwrap();
    assert!(place.sets().accept(&set.id, &Selection::All).is_err());
    assert_eq!(std::fs::read_to_string(outside.join("f")).unwrap(), "in\n");
}

#[test]
fn extended_attributes_and_odd_modes_survive() {
    let place = Place::new();
    place.put("f", "a\n");
    place.set_mode("f", 0o640);
    let path = place.root().join("f");
    let supported =
        rustix::fs::setxattr(&path, "user.mark", b"kept", rustix::fs::XattrFlags::empty()).is_ok();
    place.edit("f", "a", "b").unwrap();
    place.accept_all().unwrap();
    assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o640);
    if supported {
        let mut value = [0; 16];
        let length = rustix::fs::getxattr(&path, "user.mark", &mut value[..]).unwrap();
        assert_eq!(&value[..length], b"kept");
    }
}

#[test]
fn renames_that_cross_are_accepted_together() {
    let place = Place::new();
    place.put("a", "a\n");
    place.put("b", "b\n");
    place.rename("a", "t").unwrap();
    place.rename("b", "a").unwrap();
    place.rename("t", "b").unwrap();
    place.edit("a", "b", "B").unwrap();
    let set = place.propose();
    assert!(
        set.files
            .iter()
            .all(|file| file.change_type == ChangeType::Rename),
        "{:?}",
        set.files
    );
    place.accept_all().unwrap();
    assert_eq!(
        (place.text("a"), place.text("b")),
        ("B\n".to_owned(), "a\n".to_owned())
    );
    place.sets().undo(None).unwrap();
    assert_eq!(
        (place.text("a"), place.text("b")),
        ("a\n".to_owned(), "b\n".to_owned())
    );
}

#[test]
fn a_file_in_the_place_of_another_is_accepted_with_it() {
    let place = Place::new();
    place.put("a", "a\n");
    place.rename("a", "b").unwrap();
    place.create("a", "new\n").unwrap();
    let set = place.propose();
    let error = place.sets().accept(&set.id, &file("a")).unwrap_err();
    assert!(error.to_string().contains("together with b"), "{error}");
    assert_eq!(place.sets().get(&set.id).unwrap(), set);
    place.sets().accept(&set.id, &file("b")).unwrap();
    place.sets().accept(&set.id, &file("a")).unwrap();
    assert_eq!(
        (place.text("a"), place.text("b")),
        ("new\n".to_owned(), "a\n".to_owned())
    );
}

#[test]
fn a_change_of_only_an_ending_is_visible_and_a_binary_file_is_decided_whole() {
    let place = Place::new();
    place.put("f", "a\nb");
    place
        .sets()
        .replace(
            &place.session,
            &call(),
            &place.path("f"),
            "a\nb\n",
            Some(&hash(b"a\nb")),
        )
        .unwrap();
    place.put("image.png", b"\x89PNG\r\n\x1a\n\0\0");
    place.rename("image.png", "moved.png").unwrap();
    let set = place.propose();
    let endings: Vec<(LineKind, LineEnding)> = set.files[0].hunks[0]
        .lines
        .iter()
        .filter(|line| line.kind != LineKind::Context)
        .map(|line| (line.kind, line.ending))
        .collect();
    assert_eq!(
        endings,
        [
            (LineKind::Deleted, LineEnding::None),
            (LineKind::Added, LineEnding::Lf)
        ]
    );
    assert!(set.files[1].binary && set.files[1].hunks.is_empty());
    assert!(place.sets().accept(&set.id, &hunk("moved.png", 1)).is_err());
    assert!(place.sets().accept(&set.id, &hunk("f", 2)).is_err());
    place.accept_all().unwrap();
    assert_eq!(place.text("f"), "a\nb\n");
}

#[test]
fn a_draft_that_goes_back_to_the_base_vanishes() {
    let place = Place::new();
    place.put("f", "a\n");
    place.edit("f", "a", "b").unwrap();
    place.create("n", "n\n").unwrap();
    place.edit("f", "b", "a").unwrap();
    let outcome = place.delete("n").unwrap();
    assert!(outcome.change_set.files.is_empty());
    assert_eq!(place.sets().propose(&place.session).unwrap(), None);
    assert!(place.sets().list(None).unwrap().is_empty());
}

/// §55.7: a crash while drafting or during review loses no diff.
#[test]
fn drafts_survive_a_restart_and_come_up_for_review() {
    let mut place = Place::new();
    place.put("f", "a\n");
    let drafted = place.edit("f", "a", "b").unwrap().change_set;
    place.reopen();
    assert!(
        place.notes.iter().any(|note| note.contains("can be reviewed")),
        "{:?}",
        place.notes
    );
    let set = place.sets().open_set(&place.session).unwrap().unwrap();
    assert_eq!(
        (set.status, &set.files),
        (ChangeSetStatus::PendingReview, &drafted.files)
    );
    place.sets().accept(&set.id, &Selection::All).unwrap();
    assert_eq!(place.text("f"), "b\n");
}

#[test]
fn the_users_own_saves_go_through_the_same_writer() {
    let place = Place::new();
    let path = |name: &str| place.path(name);
    let first = place
        .sets()
        .save(&path("new/f"), b"one\n", &Expected::Absent)
        .unwrap();
    assert!(
        place
            .sets()
            .save(&path("new/f"), b"two\n", &Expected::Absent)
            .is_err()
    );
    place.put("new/f", "changed elsewhere\n");
    let stale = place
        .sets()
        .save(&path("new/f"), b"two\n", &Expected::Content(first));
    assert!(matches!(stale, Err(ApplyError::Moved { .. })));
    let current = Expected::Content(hash(b"changed elsewhere\n"));
    place.sets().save(&path("new/f"), b"\xff\0two", &current).unwrap();
    assert_eq!(place.get("new/f"), b"\xff\0two");
    assert!(matches!(
        place.sets().save(&path(".git/config"), b"x", &Expected::Absent),
        Err(ApplyError::Protected { .. })
    ));
    // A draft begun before is merged with the save.
    place.put("g", numbered(9));
    place
        .sets()
        .edit(
            &place.session,
            &call(),
            &path("g"),
            &[replacement("2\n", "two\n")],
        )
        .unwrap();
    let saved = numbered(9).replace("7\n", "sieben\n");
    place
        .sets()
        .save(
            &path("g"),
            saved.as_bytes(),
            &Expected::Content(hash(numbered(9).as_bytes())),
        )
        .unwrap();
    place.accept_all().unwrap();
    assert_eq!(place.text("g"), saved.replace("2\n", "two\n"));
}
