//! Known failures of single edits, E01 to E05, each tried through the binary.

use protocol::LineKind;
use serde_json::Value;

use crate::{
    agent::{command, create, edit, fixture, patch, proposed, read, refusals, refused, replace, turns},
    support::{FAMILIES, Played},
    user::{accept, changed_lines, shown, spliced, undo},
};

#[test]
fn e01_encoding_or_byte_order_mark_lost_outside_the_edit() {
    let latin1 = fixture("edit/latin1.txt");
    let marked = fixture("edit/bom-crlf.ps1");
    let latin1_after = spliced(&latin1, "limit = 1", "limit = 2");
    let total_after = spliced(&marked, "$total = 1", "$total = 2");
    let first_after = spliced(&marked, "\"start\"", "\"begin\"");
    let in_patch =
        |path: &str, lines: &str| patch(&format!("--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n{lines}"));
    // Every tool that writes; a command runs where the draft is, so a first edit makes one.
    let cases: Vec<(&str, &[u8], &[u8], Vec<Value>)> = vec![
        (
            "f",
            &latin1,
            &latin1_after,
            vec![edit("f", "limit = 1", "limit = 2")],
        ),
        (
            "f",
            &latin1,
            &latin1_after,
            vec![in_patch(
                "f",
                "-limit = 1\n+limit = 2\n # café crème brûlée\n name = \"a\"\n",
            )],
        ),
        (
            "f",
            &latin1,
            &latin1_after,
            vec![
                read("f"),
                replace("f", "limit = 2\n# café crème brûlée\nname = \"a\"\n"),
            ],
        ),
        (
            "f",
            &latin1,
            &latin1_after,
            vec![
                edit("f", "limit = 1", "limit = 3"),
                command("LC_ALL=C sed -i 's/limit = 3/limit = 2/' f"),
            ],
        ),
        (
            "m",
            &marked,
            &total_after,
            vec![edit("m", "$total = 1", "$total = 2")],
        ),
        (
            "m",
            &marked,
            &first_after,
            vec![
                read("m"),
                edit("m", "Write-Host \"start\"\n", "Write-Host \"begin\"\n"),
            ],
        ),
        (
            "m",
            &marked,
            &first_after,
            vec![in_patch(
                "m",
                "-Write-Host \"start\"\n+Write-Host \"begin\"\n $total = 1\n Write-Host \"end\"\n",
            )],
        ),
        (
            "m",
            &marked,
            &total_after,
            vec![
                read("m"),
                replace("m", "Write-Host \"start\"\n$total = 2\nWrite-Host \"end\"\n"),
            ],
        ),
    ];
    for (path, before, after, calls) in cases {
        let (played, run) = proposed(&[(path, before)], &calls);
        let place = &played.place;
        assert!(refusals(&run).is_empty(), "{:?}", refusals(&run));
        let (_, diff) = shown(place);
        assert_eq!(changed_lines(&diff).len(), 2, "{diff}");
        for read in run.tool_calls().iter().filter(|call| call.name == "read_file") {
            assert!(
                !read.preview.contains(['\u{feff}', '\u{fffd}']),
                "{}",
                read.preview
            );
            assert!(read.preview.contains("1│Write-Host") || read.preview.contains("2│# café"));
        }
        assert!(!diff.contains('\u{fffd}'), "{diff}");
        accept(place);
        assert_eq!(place.read(path), after, "{calls:?}");
        undo(place);
        assert_eq!(place.read(path), before, "{calls:?}");
    }
}

#[test]
fn e01_what_cannot_be_stored_is_refused_before_review() {
    let latin1 = fixture("edit/latin1.txt");
    let binary = b"\x7fELF\0\0limit = 1\n";
    let (_, run) = refused(
        &[("a.txt", &latin1), ("b.bin", binary)],
        &[
            edit("a.txt", "limit = 1", "limit → 1"),
            read("a.txt"),
            replace("a.txt", "≠\n"),
            edit("b.bin", "limit = 1", "limit = 2"),
        ],
    );
    let refusals = refusals(&run);
    let codes: Vec<&str> = refusals.iter().map(|(code, _)| code.as_str()).collect();
    assert_eq!(codes, ["file.encoding", "file.encoding", "file.binary"]);
    for ((_, text), words) in refusals.iter().zip(["a.txt: “→”", "a.txt: “≠”", "b.bin"]) {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn e02_line_endings_changed_or_mixed() {
    let crlf = fixture("edit/crlf.txt");
    let mixed = fixture("edit/mixed-eol.txt");
    let crlf_patch = "--- a/f\n+++ b/f\n@@ -1,4 +1,5 @@\n alpha\n-beta\n+BETA\n gamma\n+inserted\n delta\n";
    let mixed_patch = "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n two\n-three\n+THREE\n four\n";
    let unterminated = "--- a/f\n+++ b/f\n@@ -4,2 +4,2 @@\n four\n-five\n\\ No newline at end of file\n+FIVE\n\\ No newline at end of file\n";
    let cases: [(&[u8], Value, &[u8], &[&str]); 6] = [
        (
            &crlf,
            patch(crlf_patch),
            b"alpha\r\nBETA\r\ngamma\r\ninserted\r\ndelta\r\n",
            &["-beta\r", "+BETA\r", "+inserted\r"],
        ),
        (
            &mixed,
            edit("f", "three", "THREE"),
            b"one\r\ntwo\nTHREE\r\nfour\nfive",
            &["-three\r", "+THREE\r"],
        ),
        (
            &mixed,
            patch(mixed_patch),
            b"one\r\ntwo\nTHREE\r\nfour\nfive",
            &["-three\r", "+THREE\r"],
        ),
        (
            &mixed,
            patch(unterminated),
            b"one\r\ntwo\nthree\r\nfour\nFIVE",
            &["-five", "+FIVE"],
        ),
        (
            &mixed,
            edit("f", "two\nthree\nfour\n", "two\nthree\nnew\nfour\n"),
            b"one\r\ntwo\nthree\r\nnew\r\nfour\nfive",
            &["+new\r"],
        ),
        (
            &mixed,
            edit("f", "five", "five\nsix"),
            b"one\r\ntwo\nthree\r\nfour\nfive\nsix",
            &["-five", "+five", "+six"],
        ),
    ];
    for (before, edit, after, lines) in cases {
        let (played, _) = proposed(&[("f", before)], std::slice::from_ref(&edit));
        let place = &played.place;
        let (set, diff) = shown(place);
        assert_eq!(changed_lines(&diff), lines, "{edit}");
        let reviewed: usize = set.files[0]
            .hunks
            .iter()
            .flat_map(|hunk| &hunk.lines)
            .filter(|line| line.kind != LineKind::Context)
            .count();
        assert_eq!(reviewed, lines.len(), "{edit}");
        accept(place);
        assert_eq!(
            place.read("f").escape_ascii().to_string(),
            after.escape_ascii().to_string()
        );
        undo(place);
        assert_eq!(place.read("f"), before, "{edit}");
    }
}

#[test]
fn e03_look_alike_text_does_not_match() {
    let tabs = fixture("edit/tabs.go");
    let (_, run) = refused(
        &[("tabs.go", &tabs)],
        &[
            read("tabs.go"),
            edit(
                "tabs.go",
                "    if n > 0 {\n        return n\n    }\n",
                "    if n > 1 {\n        return n\n    }\n",
            ),
        ],
    );
    let shown = &run.tool_calls()[0].preview;
    assert!(
        shown.contains("indented with tabs") && shown.contains("4│\tif n > 0 {"),
        "{shown}"
    );
    let refusals = refusals(&run);
    assert_eq!(refusals[0].0, "edit.notFound");
    let message = &refusals[0].1;
    assert!(
        message.contains("line 4") && message.contains("file: 1 tab, request: 4 spaces"),
        "{message}"
    );

    let (played, _) = proposed(
        &[("tabs.go", &tabs)],
        &[edit("tabs.go", "\tif n > 0 {\n", "\tif n > 1 {\n")],
    );
    accept(&played.place);
    assert_eq!(played.place.read("tabs.go"), spliced(&tabs, "n > 0", "n > 1"));
}

#[test]
fn e04_new_text_is_interpreted_instead_of_stored() {
    let cases: Vec<Value> = serde_json::from_slice(&fixture("edit/literal-cases.json")).unwrap();
    assert_eq!(cases.len(), 7);
    let text = |case: &Value, key: &str| case[key].as_str().unwrap().to_owned();
    let name = |case: &Value, kind: &str| format!("{}.{kind}", text(case, "id"));
    let edits: Vec<Value> = cases
        .iter()
        .map(|case| edit(&name(case, "txt"), &text(case, "old"), &text(case, "new")))
        .collect();
    let creations: Vec<Value> = cases
        .iter()
        .map(|case| create(&name(case, "new"), &text(case, "new")))
        .collect();
    let all: Vec<String> = cases.iter().map(|case| text(case, "new")).collect();
    let request = all.join("\n");
    for family in FAMILIES {
        let played = Played::new(family, &turns(&[&edits, &creations]));
        let place = &played.place;
        for case in &cases {
            place.write(&name(case, "txt"), fixture("edit/literal.txt"));
        }
        let run = played.exec(&["--accept", "all", &request]).expect_code(0);
        played
            .exec(&["--accept", "all", "--session", &run.session(), &request])
            .expect_code(0);
        let requests = played.server.requests();
        let sent = strings(&requests.last().unwrap().json());
        for case in &cases {
            let new = text(case, "new");
            assert_eq!(
                place.read_text(&name(case, "txt")),
                text(case, "after"),
                "{family}"
            );
            assert_eq!(place.read_text(&name(case, "new")), new, "{family}");
            // In the history the text is in both requests and in both calls, as it was.
            let said = sent.iter().filter(|string| string.contains(&new)).count();
            assert!(said >= 4, "{family} {case}: {sent:#?}");
            let arguments = sent.iter().filter(|string| **string == new).count();
            assert!(arguments >= 2, "{family} {case}: {sent:#?}");
        }
    }
}

/// Every string in a value; those that are JSON themselves are opened, as tool arguments are in one wire format.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ Value::Object(_)) => strings(&inner),
            _ => vec![text.clone()],
        },
        Value::Array(values) => values.iter().flat_map(strings).collect(),
        Value::Object(values) => values.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn e05_the_edit_lands_in_the_wrong_place() {
    let twins = fixture("edit/twin-blocks.py");
    let long: String = (0..10_000)
        .map(|line| format!("    data = step_{line}(data)\n"))
        .collect();
    let at_two = "    data = clean(data)\n    return data\n";
    let not_there = "    data = read(path)\n    data = normalise(data)\n    return data\n";
    let wrong_context = "--- a/twins.py\n+++ b/twins.py\n@@ -3,2 +3,2 @@\n     data = scrub(data)\n-    return data\n+    return None\n";
    let (_, run) = refused(
        &[("twins.py", &twins), ("long.py", long.as_bytes())],
        &[
            edit("twins.py", at_two, "    return clean(data)\n"),
            edit("twins.py", not_there, "    return None\n"),
            patch(wrong_context),
            edit("long.py", not_there, "    return None\n"),
            patch(
                &wrong_context
                    .replace("twins.py", "long.py")
                    .replace("-3,2 +3,2", "-5000,2 +5000,2"),
            ),
        ],
    );
    let refusals = refusals(&run);
    let expected = [
        ("edit.ambiguous", "2 matches, lines 3 and 9"),
        ("edit.notFound", "the text to replace is not in the file"),
        ("patch.rejected", "twins.py"),
        ("edit.notFound", "the text to replace is not in the file"),
        ("patch.rejected", "long.py"),
    ];
    assert_eq!(refusals.len(), expected.len());
    for ((code, text), (expected_code, words)) in refusals.iter().zip(expected) {
        assert_eq!(code, expected_code, "{text}");
        assert!(text.contains(words), "{text}");
    }
    // 200 ms on a quiet machine and in release; this is a bound that a quadratic search would miss by far.
    for call in run.tool_calls() {
        assert!(
            call.duration_ms < Some(2_000),
            "{} took {:?}",
            call.name,
            call.duration_ms
        );
    }

    // A line number chooses among exact matches, and among nothing else.
    let second = "--- a/twins.py\n+++ b/twins.py\n@@ -9,2 +9,2 @@\n     data = clean(data)\n-    return data\n+    return None\n";
    let (played, _) = proposed(&[("twins.py", &twins)], &[patch(second)]);
    accept(&played.place);
    let text = String::from_utf8(twins).unwrap();
    let at = text.rfind("return data").unwrap();
    assert_eq!(
        played.place.read_text("twins.py"),
        format!("{}return None{}", &text[..at], &text[at + "return data".len()..])
    );
}
