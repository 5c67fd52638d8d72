//! The promises of a review: what is rejected leaves no trace, what is accepted is exactly the diff that was shown,
//! all of it or nothing even across a crash, and what was accepted can be taken back. With I06 of the known failures.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde_json::{Value, json};
use testkit::{Hermetic, tree};

use crate::{
    agent::{call, create, delete, edit, patch, rename, turns},
    support::{FAMILIES, Played},
    user::{accept, changed_lines, changes, shown, status, undo},
};

type Tree = BTreeMap<PathBuf, String>;

/// A workspace with one of everything, and a proposal to change all of it.
fn every_kind_of_change(family: &'static str) -> Played {
    let calls: [&[Value]; 1] = [&[
        edit("windows.txt", "beta", "BETA"),
        edit("docs/link.md", "old", "new"),
        edit("tail.txt", "end", "the end"),
        create("made/deep/new.txt", "new\n"),
        delete("gone/run.sh"),
        rename("from.txt", "to/moved.txt"),
        rename("plain.txt", "renamed.txt"),
        edit("renamed.txt", "two", "TWO"),
        patch(
            "diff --git a/script.sh b/script.sh\nnew file mode 100755\n--- /dev/null\n+++ b/script.sh\n@@ -0,0 +1 @@\n+echo made\n",
        ),
        patch("diff --git a/mode.sh b/mode.sh\nold mode 100644\nnew mode 100755\n"),
    ]];
    let played = Played::new(family, &turns(&calls));
    let place = &played.place;
    place.write("windows.txt", "alpha\r\nbeta\r\ngamma\r\n");
    place.write("docs/real.md", "old\n");
    place.link("docs/link.md", "real.md");
    place.write("tail.txt", "begin\nend");
    place.write_executable("gone/run.sh", "#!/bin/sh\n");
    place.write("from.txt", "moved\n");
    place.write("plain.txt", "one\ntwo\nthree\n");
    place.write("mode.sh", "echo mode\n");
    place.write("untouched/ünïcode name.txt", "kept\n");
    fs::create_dir(place.workspace().join("empty")).unwrap();
    let run = played.exec(&["Work."]).expect_code(3);
    assert!(
        run.tool_calls().iter().all(|call| call.error.is_none()),
        "{:?}",
        run.tool_calls()
    );
    played
}

#[test]
fn a_rejected_change_leaves_the_tree_byte_identical() {
    for family in FAMILIES {
        let played = every_kind_of_change(family);
        let place = &played.place;
        let before = place.tree();
        for arguments in [
            &["reject", "--file", "windows.txt", "--hunk", "1"][..],
            &["reject", "--file", "made/deep/new.txt"],
        ] {
            changes(place, arguments, 3);
            assert_eq!(place.tree(), before);
        }
        changes(place, &["reject"], 0);
        assert_eq!(place.tree(), before);
        assert_eq!(status(place), "rejected");
        let said = changes(place, &["undo"], 1);
        assert!(said.contains("changes.nothingToUndo"), "{said}");
        assert_eq!(place.tree(), before);
    }
}

/// The diff that is shown, applied by git to a copy, and the accept make the same tree.
#[test]
fn an_accept_writes_exactly_the_diff_shown_and_an_undo_restores_the_tree() {
    let played = every_kind_of_change("openai");
    let place = &played.place;
    let before = place.tree();
    let (_, diff) = shown(place);
    let copy = place.outside().join("copy");
    let copied = place.program("cp", &["-a", ".", copy.to_str().unwrap()]);
    assert!(copied.status.success());
    let patch = place.outside().join("shown.patch");
    fs::write(&patch, diff).unwrap();
    let applied = place.program(
        "git",
        &[
            "-C",
            copy.to_str().unwrap(),
            "apply",
            "--whitespace=nowarn",
            patch.to_str().unwrap(),
        ],
    );
    assert!(
        applied.status.success(),
        "{}",
        String::from_utf8_lossy(&applied.stderr)
    );

    accept(place);
    let after = place.tree();
    assert_ne!(after, before);
    assert_eq!(without_empty_folders(&after), without_empty_folders(&tree(&copy)));
    for _ in 0..2 {
        changes(place, &["undo"], 0);
        assert_eq!(place.tree(), before, "undo restores the tree");
        assert_eq!(status(place), "restored");
        changes(place, &["redo"], 0);
        assert_eq!(place.tree(), after, "redo repeats it");
        assert_eq!(status(place), "accepted");
    }
}

/// Git knows no folders of their own.
fn without_empty_folders(tree: &Tree) -> Tree {
    tree.iter()
        .filter(|(_, shape)| !shape.starts_with("folder"))
        .map(|(path, shape)| (path.clone(), shape.clone()))
        .collect()
}

#[test]
fn a_set_accepted_by_hunk_and_by_file_is_undone_and_redone_as_it_was() {
    let base: String = (1..=40).map(|line| format!("line {line}\n")).collect();
    let calls: [&[Value]; 1] = [&[
        edit("f", "line 5\n", "line five\n"),
        edit("f", "line 20\n", "line twenty\n"),
        edit("f", "line 35\n", "line thirty-five\n"),
        create("g", "made\n"),
        delete("h"),
    ]];
    let played = Played::new("anthropic", &turns(&calls));
    let place = &played.place;
    place.write("f", &base);
    place.write("h", "kept for now\n");
    let before = place.tree();
    played.exec(&["Work."]).expect_code(3);
    changes(place, &["accept", "--file", "f", "--hunk", "3"], 3);
    changes(place, &["accept", "--file", "f", "--hunk", "1"], 3);
    changes(place, &["accept", "--file", "g"], 3);
    let partly = base
        .replace("line 5\n", "line five\n")
        .replace("line 35\n", "line thirty-five\n");
    assert_eq!(
        (place.read_text("f"), place.read_text("g")),
        (partly, "made\n".to_owned())
    );
    assert!(place.exists("h"), "not accepted");
    assert_eq!(status(place), "partially_accepted");
    let after = place.tree();
    let said = changes(place, &["accept", "--file", "f", "--hunk", "2"], 1);
    assert!(said.contains("changes.notPending"), "{said}");
    assert_eq!(place.tree(), after);

    changes(place, &["undo"], 0);
    assert_eq!(place.tree(), before);
    changes(place, &["redo"], 3);
    assert_eq!(place.tree(), after);
    accept(place);
    assert_eq!(
        place.read_text("f"),
        with_words(&["five", "twenty", "thirty-five"], &base)
    );
    assert!(!place.exists("h"));
    undo(place);
    assert_eq!(place.tree(), before);
}

fn with_words(words: &[&str], base: &str) -> String {
    words
        .iter()
        .zip([5, 20, 35])
        .fold(base.to_owned(), |text, (word, line)| {
            text.replace(&format!("line {line}\n"), &format!("line {word}\n"))
        })
}

const FILES: usize = 20;

/// Twenty files of which twelve are edited, four made and four deleted: drafted once, and tried from that state.
struct Drafted {
    played: Played,
    before: Tree,
    after: Tree,
}

impl Drafted {
    fn new() -> Self {
        let path = |number: usize| format!("dir{}/f{number}", number % 3);
        let calls: Vec<Value> = (0..FILES)
            .map(|number| match number {
                0..12 => edit(&path(number), "old", "new"),
                12..16 => create(&format!("made/f{number}"), "new\n"),
                _ => delete(&path(number)),
            })
            .collect();
        let played = Played::new("anthropic", &turns(&[&calls]));
        let place = &played.place;
        for number in (0..FILES).filter(|number| !(12..16).contains(number)) {
            place.write(&path(number), format!("old {number}\n"));
        }
        let before = place.tree();
        played.exec(&["Work."]).expect_code(3);
        let saved = place.program("sh", &["-c", "mkdir ../saved && cp -a ../data ../ws ../saved"]);
        assert!(saved.status.success());
        accept(place);
        let after = place.tree();
        let drafted = Self {
            played,
            before,
            after,
        };
        drafted.start_over();
        drafted
    }

    fn place(&self) -> &Hermetic {
        &self.played.place
    }

    /// Workspace and data as they were when the changes waited for review. The workspace stays the same folder.
    fn start_over(&self) {
        let restored = self.place().program(
            "sh",
            &[
                "-c",
                "rm -rf ../data ./* && cp -a ../saved/data .. && cp -a ../saved/ws/. .",
            ],
        );
        assert!(restored.status.success());
        assert_eq!(self.place().tree(), self.before);
    }

    /// Accepts, with the process ending itself at a step. Says whether it got there.
    fn crash_at(&self, point: &str, number: usize) -> bool {
        let mut accept = self.place().command(&["changes", "accept"]);
        accept.env("VIBE_CODER_FAULT", format!("{point}:{number}"));
        let output = accept.output().unwrap();
        match output.status.code() {
            None => true,
            Some(0) => false,
            Some(code) => panic!("{point}:{number} ended with {code}"),
        }
    }

    /// Crashes at every `stride`th of the `count` times a step happens, and looks at what the next start makes of it.
    fn crash_at_each(&self, point: &str, count: usize, stride: usize, left: Left) {
        let (tree, expected) = match left {
            Left::Nothing => (&self.before, "pending_review"),
            Left::All => (&self.after, "accepted"),
        };
        for number in (1..=count).step_by(stride) {
            assert!(self.crash_at(point, number), "{point}:{number} was not reached");
            // The next start finishes or takes back what was begun.
            assert_eq!(status(self.place()), expected, "{point}:{number}");
            assert_eq!(
                self.place().tree(),
                *tree,
                "{point}:{number}: the disk agrees with the set"
            );
            self.start_over();
        }
        assert!(
            !self.crash_at(point, count + 1),
            "{point} happens more than {count} times"
        );
        assert_eq!(self.place().tree(), self.after);
        self.start_over();
    }
}

#[derive(Clone, Copy)]
enum Left {
    Nothing,
    All,
}

#[test]
fn a_crash_before_the_first_file_is_replaced_leaves_nothing() {
    let drafted = Drafted::new();
    drafted.crash_at_each("accept.journal", 1, 1, Left::Nothing);
    // Deletions need no new content.
    drafted.crash_at_each("accept.temporary", 16, 5, Left::Nothing);
    // And the same changes can still be accepted and undone.
    assert!(drafted.crash_at("accept.temporary", 8));
    accept(drafted.place());
    assert_eq!(drafted.place().tree(), drafted.after);
    undo(drafted.place());
    assert_eq!(drafted.place().tree(), drafted.before);
}

#[test]
fn a_crash_at_any_later_step_leaves_all() {
    let drafted = Drafted::new();
    drafted.crash_at_each("accept.committing", 1, 1, Left::All);
    drafted.crash_at_each("accept.rename", FILES, 1, Left::All);
    drafted.crash_at_each("accept.cleanup", FILES, 6, Left::All);
    drafted.crash_at_each("accept.synced", 1, 1, Left::All);
    drafted.crash_at_each("accept.finished", 1, 1, Left::All);
    // And what was completed can be undone.
    assert!(drafted.crash_at("accept.rename", 13));
    undo(drafted.place());
    assert_eq!(drafted.place().tree(), drafted.before);
}

#[test]
fn i06_the_review_shows_the_wrong_change() {
    let base: String = (1..=30).map(|line| format!("line {line}\n")).collect();
    let first: [Value; 3] = [
        edit("f", "line 3\n", "line 3\nadded\n"),
        edit("f", "added\n", "added and changed\n"),
        edit("f", "line 20\n", "line twenty\n"),
    ];
    let fourth: [Value; 1] = [call(
        "multi_edit",
        json!({ "path": "f", "edits": [
            { "old": "line 10\n", "new": "line ten\n" }, { "old": "line 29\n", "new": "line twenty-nine\n" }
        ] }),
    )];
    let played = Played::new("anthropic", &turns(&[&first, &fourth]));
    let place = &played.place;
    place.write("f", &base);
    let run = played.exec(&["Work."]).expect_code(3);
    let (set, diff) = shown(place);
    assert_eq!(
        changed_lines(&diff),
        ["+added and changed", "-line 20", "+line twenty"]
    );
    assert_eq!(
        (set.files[0].added, set.files[0].deleted),
        (2, 1),
        "totals equal the diff"
    );
    assert_eq!(set.files[0].hunks.len(), 2);

    // One hunk is accepted, the other rejected; a fourth edit brings neither back.
    changes(place, &["accept", "--file", "f", "--hunk", "1"], 3);
    let after_first = base.replace("line 3\n", "line 3\nadded and changed\n");
    assert_eq!(place.read_text("f"), after_first);
    changes(place, &["reject", "--file", "f", "--hunk", "1"], 0);
    assert_eq!(place.read_text("f"), after_first, "base and the accepted hunk");

    played
        .exec(&["--session", &run.session(), "More."])
        .expect_code(3);
    let (set, diff) = shown(place);
    assert_eq!(
        changed_lines(&diff),
        ["-line 10", "+line ten", "-line 29", "+line twenty-nine"],
        "against what is on disk now"
    );
    assert_eq!((set.files[0].added, set.files[0].deleted), (2, 2));
    accept(place);
    assert_eq!(
        place.read_text("f"),
        after_first
            .replace("line 10\n", "line ten\n")
            .replace("line 29\n", "line twenty-nine\n")
    );
}

/// Decisions made while the same set is still open survive an edit that leaves their hunks alone.
#[test]
fn i06_earlier_decisions_survive_a_fourth_edit() {
    let base: String = (1..=40).map(|line| format!("line {line}\n")).collect();
    let first: [Value; 3] = [
        edit("f", "line 5\n", "line five\n"),
        edit("f", "line 20\n", "line twenty\n"),
        edit("f", "line 35\n", "line thirty-five\n"),
    ];
    let fourth: [Value; 1] = [edit("f", "line 12\n", "line twelve\n")];
    let played = Played::new("openai", &turns(&[&first, &fourth]));
    let place = &played.place;
    place.write("f", &base);
    let run = played.exec(&["Work."]).expect_code(3);
    changes(place, &["accept", "--file", "f", "--hunk", "1"], 3);
    changes(place, &["reject", "--file", "f", "--hunk", "1"], 3);
    let run = played
        .exec(&["--session", &run.session(), "More."])
        .expect_code(3);
    assert_eq!(
        run.result["changeSets"].as_array().unwrap().len(),
        1,
        "still the same set"
    );
    let (set, diff) = shown(place);
    assert_eq!(
        changed_lines(&diff),
        ["-line 12", "+line twelve", "-line 35", "+line thirty-five"],
        "{}",
        set.status
    );
    accept(place);
    let expected = base
        .replace("line 5\n", "line five\n")
        .replace("line 12\n", "line twelve\n")
        .replace("line 35\n", "line thirty-five\n");
    assert_eq!(place.read_text("f"), expected);
    undo(place);
    assert_eq!(place.read_text("f"), base);
}
