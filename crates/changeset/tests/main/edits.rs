//! What an edit does to bytes, and when it refuses (E01–E09, P04). Every accept is compared byte for byte.

use std::time::{Duration, Instant};

use changeset::{EditError, Mismatch, hash};
use protocol::{ChangeType, ErrorCode, RuntimeError};

use crate::place::{Place, call, fixture, replacement};

/// Replaces in a fixture, accepts, and returns the file.
fn edited(name: &str, old: &str, new: &str) -> Vec<u8> {
    let place = Place::new();
    place.fixture(name);
    place.edit(name, old, new).unwrap();
    place.accept_all().unwrap();
    place.get(name)
}

fn substituted(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let at = bytes.windows(old.len()).position(|window| window == old).unwrap();
    [&bytes[..at], new, &bytes[at + old.len()..]].concat()
}

#[test]
fn bytes_outside_the_replaced_words_never_change() {
    let cases: [(&str, &str, &str, &[u8], &[u8]); 6] = [
        ("latin1.txt", "limit = 1", "limit = 2", b"limit = 1", b"limit = 2"),
        ("latin1.txt", "brûlée", "glacé", b"br\xfbl\xe9e", b"glac\xe9"),
        (
            "bom-crlf.ps1",
            "$total = 1",
            "$total = 2",
            b"$total = 1",
            b"$total = 2",
        ),
        // The first line as a reader shows it, without the mark.
        (
            "bom-crlf.ps1",
            "Write-Host \"start\"\n",
            "Write-Host \"begin\"\n",
            b"\"start\"",
            b"\"begin\"",
        ),
        ("mixed-eol.txt", "three", "THREE", b"three", b"THREE"),
        ("mixed-eol.txt", "four\nfive", "four\nFIVE", b"five", b"FIVE"),
    ];
    for (name, old, new, old_bytes, new_bytes) in cases {
        let expected = substituted(&fixture(name), old_bytes, new_bytes);
        assert_eq!(edited(name, old, new), expected, "{name}: {old}");
    }
}

#[test]
fn a_utf16_file_is_edited_in_utf16() {
    let encode = |text: &str| -> Vec<u8> {
        let units = text.encode_utf16().flat_map(u16::to_le_bytes);
        [0xFF, 0xFE].into_iter().chain(units).collect()
    };
    let place = Place::new();
    place.put("wide.txt", encode("eins\r\nzwei ≤ 3\r\nਊ\r\n"));
    place
        .edit("wide.txt", "eins\nzwei ≤", "eins\nneu\nzwei ≥")
        .unwrap();
    let hunks = &place.propose().files[0].hunks;
    assert_eq!(hunks[0].lines.iter().filter(|line| line.text == "neu").count(), 1);
    place.accept_all().unwrap();
    assert_eq!(place.get("wide.txt"), encode("eins\r\nneu\r\nzwei ≥ 3\r\nਊ\r\n"));
}

#[test]
fn new_lines_take_the_ending_of_their_neighbour() {
    let cases: [(&str, &[u8], &str, &str, &[u8]); 6] = [
        (
            "inserted in CRLF",
            b"a\r\nb\r\n",
            "a\n",
            "a\nnew\n",
            b"a\r\nnew\r\nb\r\n",
        ),
        (
            "inserted after a part of a line",
            b"a\r\nb\r\n",
            "a",
            "a\nnew",
            b"a\r\nnew\r\nb\r\n",
        ),
        (
            "appended to an unterminated line",
            b"a\r\nb",
            "b",
            "b\nnew",
            b"a\r\nb\r\nnew",
        ),
        (
            "in a mixed file",
            b"a\r\nb\nc\n",
            "b\nc",
            "b\nnew\nc",
            b"a\r\nb\nnew\nc\n",
        ),
        ("CRLF in the request", b"a\nb\n", "a\r\nb", "a\r\nB", b"a\nB\n"),
        (
            "joined lines",
            b"a\r\nb\r\nc\r\n",
            "a\nb\n",
            "ab\n",
            b"ab\r\nc\r\n",
        ),
    ];
    for (name, before, old, new, after) in cases {
        let place = Place::new();
        place.put("f", before);
        place.edit("f", old, new).unwrap();
        place.accept_all().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&place.get("f")),
            String::from_utf8_lossy(after),
            "{name}"
        );
    }
}

#[test]
fn a_patch_with_lf_keeps_a_files_crlf() {
    let place = Place::new();
    place.fixture("crlf.txt");
    let outcome = place
        .patch(
            "--- a/crlf.txt\n+++ b/crlf.txt\n@@ -1,4 +1,5 @@\n alpha\n-beta\n+BETA\n gamma\n+new\n delta\n",
        )
        .unwrap();
    assert_eq!((outcome.files[0].added, outcome.files[0].deleted), (2, 1));
    place.accept_all().unwrap();
    assert_eq!(
        place.get("crlf.txt"),
        b"alpha\r\nBETA\r\ngamma\r\nnew\r\ndelta\r\n"
    );
}

#[test]
fn replacing_a_whole_file_keeps_mark_encoding_and_endings() {
    let place = Place::new();
    let cases: [(&str, &[u8], &str, &[u8]); 4] = [
        (
            "mark",
            b"\xEF\xBB\xBFa\r\nb\r\n",
            "a\nc\n",
            b"\xEF\xBB\xBFa\r\nc\r\n",
        ),
        ("latin", b"\xe9\nb\n", "é\nû\n", b"\xe9\n\xfb\n"),
        ("mixed", b"a\r\nb\nc", "a\nB\nc", b"a\r\nB\nc"),
        ("empty", b"", "new\n", b"new\n"),
    ];
    for (name, before, text, _) in cases {
        place.put(name, before);
        let seen = hash(before);
        place
            .sets()
            .replace(&place.session, &call(), &place.path(name), text, Some(&seen))
            .unwrap();
    }
    place.accept_all().unwrap();
    for (name, _, _, after) in cases {
        assert_eq!(place.get(name), after, "{name}");
    }
}

#[test]
fn new_text_is_stored_and_never_interpreted() {
    #[derive(serde::Deserialize)]
    struct Case {
        id: String,
        old: String,
        new: String,
        after: String,
    }
    let cases: Vec<Case> = serde_json::from_slice(&fixture("literal-cases.json")).unwrap();
    for case in cases {
        let found = edited("literal.txt", &case.old, &case.new);
        assert_eq!(String::from_utf8(found).unwrap(), case.after, "{}", case.id);
    }
}

/// Line numbers as a reader shows them locate, and are never written. They must stand on every line, one after the other.
#[test]
fn line_numbers_of_a_reader_locate_and_are_not_written() {
    let file = "a\n\tb\n\nc\n";
    let cases: [(&str, &str, Option<&str>); 7] = [
        ("2│\tb\n3│\n4│c\n", "2│\tB\n3│\n4│C\n", Some("a\n\tB\n\nC\n")),
        (" 2│\tb", "\tB", Some("a\n\tB\n\nc\n")),
        ("4│c", "4│d\n5│e", Some("a\n\tb\n\nd\ne\n")),
        // Not one after the other, not on every line, on some new lines only, and nowhere.
        ("2│\tb\n4│c", "x", None),
        ("2│\tb\n\n4│c", "x", None),
        ("4│c", "4│d\ne", None),
        ("2│    b", "x", None),
    ];
    for (old, new, expected) in cases {
        let place = Place::new();
        place.put("a.txt", file.as_bytes());
        match (place.edit("a.txt", old, new), expected) {
            (Ok(_), Some(expected)) => {
                place.accept_all().unwrap();
                assert_eq!(
                    String::from_utf8(place.get("a.txt")).unwrap(),
                    expected,
                    "{old:?}"
                );
            }
            (Err(error), None) => {
                assert_eq!(RuntimeError::from(error).code, ErrorCode::EditNotFound, "{old:?}")
            }
            (done, expected) => panic!("{old:?}: {done:?}, expected {expected:?}"),
        }
    }
    // A file that has such marks itself is taken at its word.
    let place = Place::new();
    place.put("log.txt", "1│x\n".as_bytes());
    place.edit("log.txt", "1│x", "1│y").unwrap();
    place.accept_all().unwrap();
    assert_eq!(place.get("log.txt"), "1│y\n".as_bytes());
}

#[test]
fn a_text_that_is_not_there_names_the_nearest_place_and_the_difference() {
    let place = Place::new();
    for name in ["tabs.go", "twin-blocks.py", "latin1.txt", "crlf.txt"] {
        place.fixture(name);
    }
    place.put("blob", b"\x7fELF\0\0\0");
    let cases = [
        (
            "tabs.go",
            "    if n > 0 {\n        return n\n    }\n",
            ErrorCode::EditNotFound,
            "line 4 (file: 1 tab, request: 4 spaces)",
        ),
        (
            "twin-blocks.py",
            "    data = clean(data)\n    return data\n",
            ErrorCode::EditAmbiguous,
            "2 matches, lines 3 and 9",
        ),
        (
            "twin-blocks.py",
            "    data = read(path)\n    data = normalise(data)\n    return data\n",
            ErrorCode::EditNotFound,
            "nearest place is line 2, where line 3 differs (file: `    data = clean(data)`, request: `    data = normalise(data)`)",
        ),
        (
            "crlf.txt",
            "gamme",
            ErrorCode::EditNotFound,
            "line 3 (file: `gamma`, request: `gamme`)",
        ),
        ("crlf.txt", "delta\n\n", ErrorCode::EditNotFound, "line 4"),
        ("crlf.txt", "", ErrorCode::ToolArguments, "empty"),
        ("crlf.txt", "beta", ErrorCode::EditNoChange, "the same"),
        ("blob", "x", ErrorCode::FileBinary, "blob"),
        (
            "missing.txt",
            "x",
            ErrorCode::PathNotFound,
            "missing.txt does not exist",
        ),
        (".", "x", ErrorCode::PathIsDirectory, "folder"),
    ];
    let before = place.tree();
    for (name, old, code, words) in cases {
        let new = if code == ErrorCode::EditNoChange {
            old
        } else {
            "anything"
        };
        let error = RuntimeError::from(place.edit(name, old, new).unwrap_err());
        assert_eq!(error.code, code, "{name} {old}: {error}");
        assert!(error.message.contains(words), "{name}: {}", error.message);
    }
    // Not in the file's encoding: refused, not turned into a question mark.
    let error = RuntimeError::from(place.edit("latin1.txt", "limit = 1", "limit = ∞").unwrap_err());
    assert_eq!(error.code, ErrorCode::FileEncoding);
    assert!(error.message.contains("∞"), "{}", error.message);
    assert_eq!(place.sets().open_set(&place.session).unwrap(), None);
    assert_eq!(place.tree(), before);
}

#[test]
fn overlapping_matches_are_two() {
    let place = Place::new();
    place.put("f", "aaa\n");
    let error = place.edit("f", "aa", "b").unwrap_err();
    assert!(
        matches!(&error, EditError::Text { error, .. } if matches!(error.mismatch, Mismatch::Ambiguous { count: 2, .. })),
        "{error}"
    );
}

#[test]
fn not_found_in_a_large_file_is_answered_in_time() {
    let place = Place::new();
    let text: String = (0..10_000)
        .map(|line| format!("    let value_{line} = compute({line}); // some more words in the line\n"))
        .collect();
    place.put("large.rs", text);
    let wanted = "    let value_5000 = compute(5000); // some more words in the line\n    let missing = 1;\n";
    let start = Instant::now();
    let error = place.edit("large.rs", wanted, "x").unwrap_err();
    let took = start.elapsed();
    assert!(
        error.to_string().contains("line 5001, where line 5002 differs"),
        "{error}"
    );
    assert!(took < Duration::from_millis(200), "{took:?}");
    let hunk = "--- a/large.rs\n+++ b/large.rs\n@@ -5001,2 +5001,1 @@\n let value_5000 = compute(5000);\n-let missing = 1;\n";
    let start = Instant::now();
    assert!(place.patch(hunk).is_err());
    let took = start.elapsed();
    assert!(took < Duration::from_millis(200), "{took:?}");
}

#[test]
fn several_replacements_join_together_or_not_at_all() {
    let place = Place::new();
    place.put("f", "one\ntwo\nthree\n");
    let run = |edits: &[changeset::Replacement]| {
        place
            .sets()
            .edit(&place.session, &call(), &place.path("f"), edits)
    };
    let error = run(&[replacement("one", "1"), replacement("four", "4")]).unwrap_err();
    assert!(error.to_string().contains("edit 2 of 2"), "{error}");
    assert_eq!(place.sets().open_set(&place.session).unwrap(), None);
    // Each works on the result of the one before.
    run(&[replacement("one", "1\nhalf"), replacement("half\ntwo", "half\n2")]).unwrap();
    place.accept_all().unwrap();
    assert_eq!(place.text("f"), "1\nhalf\n2\nthree\n");
}

#[test]
fn a_patch_that_does_not_fit_changes_nothing_and_names_every_file() {
    let place = Place::new();
    for name in ["literal.txt", "crlf.txt", "tabs.go"] {
        place.fixture(name);
    }
    let before = place.tree();
    let patch = |third: &str| {
        format!(
            "--- a/literal.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-A=@@SLOT@@\n-B=keep\n\
             --- a/crlf.txt\n+++ b/crlf.txt\n@@\n alpha\n-beta\n+BETA\n\
             --- a/tabs.go\n+++ b/tabs.go\n@@ -6,1 +6,1 @@\n-{third}\n+\treturn 1\n"
        )
    };
    let error = place.patch(&patch("\treturn 7")).unwrap_err();
    let EditError::PatchRejected { files } = &error else {
        panic!("{error}")
    };
    let verdicts: Vec<(&str, bool)> = files
        .iter()
        .map(|file| (&file.path[..], file.problem.is_some()))
        .collect();
    assert_eq!(
        verdicts,
        [("literal.txt", false), ("crlf.txt", false), ("tabs.go", true)]
    );
    assert_eq!(place.sets().open_set(&place.session).unwrap(), None);
    assert_eq!(place.tree(), before);
    // Corrected and sent again it applies once.
    let outcome = place.patch(&patch("\treturn 0")).unwrap();
    assert_eq!(outcome.files.len(), 3);
    place.accept_all().unwrap();
    assert!(!place.exists("literal.txt"));
    assert_eq!(place.get("crlf.txt"), b"alpha\r\nBETA\r\ngamma\r\ndelta\r\n");
    assert!(place.text("tabs.go").ends_with("\treturn 1\n}\n"));
}

#[test]
fn hunks_find_their_place_exactly_or_are_refused() {
    let base = "a\nx\nb\nx\nc\nlast";
    let cases: [(&str, &str, Result<&str, &str>); 11] = [
        (
            "right number",
            "@@ -2,1 +2,1 @@\n-x\n+y\n",
            Ok("a\ny\nb\nx\nc\nlast"),
        ),
        (
            "number chooses among exact places",
            "@@ -4,1 +4,1 @@\n-x\n+y\n",
            Ok("a\nx\nb\ny\nc\nlast"),
        ),
        (
            "wrong number, one place",
            "@@ -40,2 +40,2 @@\n b\n-x\n+y\n",
            Ok("a\nx\nb\ny\nc\nlast"),
        ),
        (
            "no number, one place",
            "@@\n b\n-x\n+y\n",
            Ok("a\nx\nb\ny\nc\nlast"),
        ),
        ("no number, two places", "@@\n-x\n+y\n", Err("2 places match")),
        (
            "right number, wrong context",
            "@@ -2,2 +2,2 @@\n z\n-x\n+y\n",
            Err("not in the file"),
        ),
        (
            "wrong counts",
            "@@ -1,9 +1,9 @@\n a\n-x\n+y\n b\n",
            Ok("a\ny\nb\nx\nc\nlast"),
        ),
        (
            "unterminated last line stays so",
            "@@ -6,1 +6,1 @@\n-last\n+LAST\n",
            Ok("a\nx\nb\nx\nc\nLAST"),
        ),
        (
            "the marker adds a newline",
            "@@ -6,1 +6,1 @@\n-last\n\\ No newline at end of file\n+last\n",
            Ok("a\nx\nb\nx\nc\nlast\n"),
        ),
        (
            "appended",
            "@@ -5,2 +5,3 @@\n c\n last\n+more\n",
            Ok("a\nx\nb\nx\nc\nlast\nmore"),
        ),
        (
            "two hunks with drift",
            "@@ -1,1 +1,2 @@\n+new\n a\n@@ -4,1 +5,1 @@\n-x\n+y\n",
            Ok("new\na\nx\nb\ny\nc\nlast"),
        ),
    ];
    for (name, hunks, expected) in cases {
        let place = Place::new();
        place.put("f", base);
        match (place.patch(&format!("--- a/f\n+++ b/f\n{hunks}")), expected) {
            (Ok(_), Ok(after)) => {
                place.accept_all().unwrap();
                assert_eq!(place.text("f"), after, "{name}");
            }
            (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{name}: {error}"),
            (found, _) => panic!("{name}: {:?}", found.map(|outcome| outcome.files)),
        }
    }
}

#[test]
fn a_patch_creates_deletes_renames_and_sets_modes() {
    let place = Place::new();
    place.put("old name.txt", "1\n2\n3\n");
    place.put("gone.txt", "bye\n");
    place.put("tool.sh", "#!/bin/sh\n");
    place
        .patch(
            "diff --git a/old name.txt b/dir/new name.txt\nsimilarity index 80%\nrename from old name.txt\n\
             rename to dir/new name.txt\n--- a/old name.txt\t\n+++ b/dir/new name.txt\t\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n\
             diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n\
             diff --git a/tool.sh b/tool.sh\nold mode 100644\nnew mode 100755\n\
             diff --git a/run b/run\nnew file mode 100755\n--- /dev/null\n+++ b/run\n@@ -0,0 +1,2 @@\n+-- not a header\n+ok\n\\ No newline at end of file\n",
        )
        .unwrap();
    let set = place.propose();
    let kinds: Vec<(&str, ChangeType)> = set
        .files
        .iter()
        .map(|file| (&file.path[..], file.change_type))
        .collect();
    assert_eq!(
        kinds,
        [
            ("dir/new name.txt", ChangeType::Rename),
            ("gone.txt", ChangeType::Delete),
            ("tool.sh", ChangeType::Modify),
            ("run", ChangeType::Create)
        ]
    );
    place.accept_all().unwrap();
    let tree = place.tree();
    let mode = |path: &str| tree[std::path::Path::new(path)].0 & 0o111;
    assert_eq!(place.text("dir/new name.txt"), "1\ntwo\n3\n");
    assert_eq!(place.text("run"), "-- not a header\nok");
    assert_eq!((mode("tool.sh"), mode("run")), (0o111, 0o111));
    assert!(!place.exists("gone.txt") && !place.exists("old name.txt"));
}

#[test]
fn creating_and_moving_never_destroy_what_exists() {
    let place = Place::new();
    place.fixture("tabs.go");
    place.fixture("literal.txt");
    place.put("dir/inner.txt", "x\n");
    let before = place.tree();
    place.create("drafted.txt", "draft\n").unwrap();
    for error in [
        place.create("tabs.go", "x").unwrap_err(),
        place.create("drafted.txt", "x").unwrap_err(),
        place.rename("literal.txt", "tabs.go").unwrap_err(),
        place.rename("literal.txt", "drafted.txt").unwrap_err(),
        place
            .patch("--- /dev/null\n+++ b/tabs.go\n@@ -0,0 +1 @@\n+x\n")
            .unwrap_err(),
    ] {
        assert!(error.to_string().contains("already exists"), "{error}");
    }
    for error in [
        place.create("dir", "x").unwrap_err(),
        place.create("drafted.txt/below", "x").unwrap_err(),
        place.rename("literal.txt", "dir").unwrap_err(),
    ] {
        assert!(
            matches!(
                error,
                EditError::IsDirectory { .. } | EditError::ParentIsFile { .. }
            ),
            "{error}"
        );
    }
    assert_eq!(place.tree(), before);
}

#[test]
fn repository_metadata_is_never_edited() {
    let place = Place::new();
    place.put(".git/config", "[core]\n");
    place.put("sub/.git", "gitdir: x\n");
    place.put("a.txt", "a\n");
    std::os::unix::fs::symlink(".git/config", place.root().join("innocent")).unwrap();
    let before = place.tree();
    let patch = |path: &str| place.patch(&format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"));
    let refused = [
        place.create(".git/hooks/pre-commit", "#!/bin/sh\n").unwrap_err(),
        place.edit(".git/config", "[core]", "[evil]").unwrap_err(),
        place.edit("innocent", "[core]", "[evil]").unwrap_err(),
        place.delete("sub/.git").unwrap_err(),
        place.rename("a.txt", ".git/a").unwrap_err(),
        patch(".git/hooks/post-checkout").unwrap_err(),
    ];
    for error in refused {
        let error = RuntimeError::from(error);
        assert!(
            error.code == ErrorCode::PathProtected || error.message.contains("belongs to git"),
            "{error}"
        );
    }
    assert!(
        patch("../outside.txt")
            .unwrap_err()
            .to_string()
            .contains("outside the workspace")
    );
    assert_eq!(place.tree(), before);
}

/// E09 (a): the user's change between read and edit is kept; a rewrite from memory is refused.
#[test]
fn an_edit_keeps_what_the_user_changed_since_and_a_rewrite_is_refused() {
    let place = Place::new();
    let original = place.fixture("tabs.go");
    let seen = hash(&original);
    place.put(
        "tabs.go",
        String::from_utf8(original.clone())
            .unwrap()
            .replace("return 0", "return 42"),
    );
    place.edit("tabs.go", "\tif n > 0 {", "\tif n > 1 {").unwrap();
    let error = place
        .sets()
        .replace(
            &place.session,
            &call(),
            &place.path("tabs.go"),
            "package demo\n",
            Some(&seen),
        )
        .unwrap_err();
    assert!(matches!(error, EditError::Stale { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("changed since you read it; read it again"),
        "{error}"
    );
    place.accept_all().unwrap();
    let text = place.text("tabs.go");
    assert!(text.contains("n > 1") && text.contains("return 42"), "{text}");
}

/// The user edits the disk after the draft was begun: apart it is merged into the draft, overlapping it wins.
#[test]
fn a_draft_follows_the_disk() {
    let place = Place::new();
    place.put("f", "1\n2\n3\n4\n5\n6\n7\n8\n");
    place.edit("f", "2\n", "two\n").unwrap();
    place.put("f", "1\n2\n3\n4\n5\n6\n7\neight\n");
    let outcome = place.edit("f", "5\n", "five\n").unwrap();
    assert_eq!(outcome.change_set.line_counts(), (2, 2));
    // Now the very line of the draft.
    place.put("f", "1\nzwei\n3\n4\n5\n6\n7\neight\n");
    let error = place.edit("f", "4\n", "four\n").unwrap_err();
    assert!(
        matches!(&error, EditError::Conflict { detail, .. } if detail.contains("`zwei`") && detail.contains("`two`")),
        "{error}"
    );
    // The reader shows the user's text, and a new edit starts from it.
    assert!(place.sets().overlay(&place.session).unwrap().entries.is_empty());
    place.edit("f", "4\n", "four\n").unwrap();
    place.accept_all().unwrap();
    assert_eq!(place.text("f"), "1\nzwei\n3\nfour\n5\n6\n7\neight\n");
}

/// E10: many threads of two sessions edit one file; nothing reported as done is missing.
#[test]
fn parallel_edits_all_land() {
    for _ in 0..10 {
        let place = Place::new();
        let text: String = (1..=60).map(|line| format!("line {line}\n")).collect();
        place.put("f", &text);
        std::thread::scope(|scope| {
            for line in [5, 15, 25, 35, 45, 55] {
                let place = &place;
                scope.spawn(move || {
                    place
                        .edit("f", &format!("line {line}\n"), &format!("edited {line}\n"))
                        .unwrap()
                });
            }
        });
        let other = protocol::SessionId::from_text("ses_other");
        place
            .sets()
            .edit(
                &other,
                &call(),
                &place.path("f"),
                &[replacement("line 30\n", "edited 30\n")],
            )
            .unwrap();
        place.accept_all().unwrap();
        let theirs = place.sets().propose(&other).unwrap().unwrap();
        place
            .sets()
            .accept(&theirs.id, &protocol::changes::Selection::All)
            .unwrap();
        assert_eq!(place.text("f").matches("edited").count(), 7);
    }
}

#[test]
fn too_large_a_file_is_refused() {
    let place = Place::new();
    let file = std::fs::File::create(place.root().join("big.txt")).unwrap();
    file.set_len(changeset::MAX_FILE_BYTES + 1).unwrap();
    let error = place.edit("big.txt", "x", "y").unwrap_err();
    assert_eq!(RuntimeError::from(error).code, ErrorCode::FileTooLarge);
}
