//! Known failures of changes to several files and of what a path may be, E06 to E08, each tried through the binary.

use std::{
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    agent::{
        command, create, delete, edit, fixture, patch, proposed, read, refusals, refused, rename, replace,
        turns,
    },
    support::Played,
    user::{accept, changed_lines, shown, spliced, undo},
};

#[test]
fn e06_a_multi_file_change_is_half_applied() {
    let files: [(&str, &[u8]); 3] = [
        ("literal.txt", &fixture("edit/literal.txt")),
        ("crlf.txt", &fixture("edit/crlf.txt")),
        ("tabs.go", &fixture("edit/tabs.go")),
    ];
    let multi = |tabs_line: &str| {
        patch(&format!(
            "--- a/literal.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-A=@@SLOT@@\n-B=keep\n\
             --- a/crlf.txt\n+++ b/crlf.txt\n@@ -2 +2 @@\n-beta\n+BETA\n\
             --- a/tabs.go\n+++ b/tabs.go\n@@ -7 +7 @@\n-{tabs_line}\n+\treturn 1\n"
        ))
    };
    // As one call of the agent: refused as a whole with each file's state, then sent again corrected.
    let (played, run) = proposed(&files, &[multi("\treturn 5"), multi("\treturn 0")]);
    let place = &played.place;
    let refusals = refusals(&run);
    assert_eq!(refusals.len(), 1);
    assert_eq!(refusals[0].0, "patch.rejected");
    for words in [
        "literal.txt: fits, not applied",
        "crlf.txt: fits, not applied",
        "tabs.go: ",
    ] {
        assert!(refusals[0].1.contains(words), "{}", refusals[0].1);
    }
    for (path, content) in &files {
        assert_eq!(place.read(path), *content, "{path}");
    }
    accept(place);
    assert!(!place.exists("literal.txt"));
    assert_eq!(place.read("crlf.txt"), b"alpha\r\nBETA\r\ngamma\r\ndelta\r\n");
    assert_eq!(place.read("tabs.go"), spliced(files[2].1, "return 0", "return 1"));
}

#[test]
fn e06_an_accept_that_meets_a_moved_file_writes_nothing() {
    let tabs = fixture("edit/tabs.go");
    let first: [Value; 3] = [
        delete("literal.txt"),
        edit("crlf.txt", "beta", "BETA"),
        edit("tabs.go", "return 0", "return 1"),
    ];
    let again: [Value; 1] = [edit("tabs.go", "return 5", "return 1")];
    let played = Played::new("openai", &turns(&[&first, &again]));
    let place = &played.place;
    for name in ["literal.txt", "crlf.txt", "tabs.go"] {
        place.write(name, fixture(&format!("edit/{name}")));
    }
    let run = played.exec(&["Work."]).expect_code(3);
    place.write("tabs.go", spliced(&tabs, "return 0", "return 5"));
    let before = place.tree();
    let refused = place.vibe(&["changes", "accept"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("tabs.go") && said.contains("return 5"), "{said}");
    assert_eq!(place.tree(), before, "nothing is written");
    let (set, _) = shown(place);
    assert_eq!(set.status.as_str(), "conflicted");
    let states: Vec<(String, Value)> = set
        .files
        .iter()
        .map(|file| (file.path.clone(), json!(file.status)))
        .collect();
    let expected = [
        ("literal.txt", "pending"),
        ("crlf.txt", "pending"),
        ("tabs.go", "conflicted"),
    ];
    assert_eq!(
        states,
        expected.map(|(path, status)| (path.to_owned(), json!(status)))
    );

    // Corrected by the agent, all of it is applied once.
    played
        .exec(&["--session", &run.session(), "Again."])
        .expect_code(3);
    accept(place);
    assert!(!place.exists("literal.txt"));
    assert_eq!(place.read("crlf.txt"), b"alpha\r\nBETA\r\ngamma\r\ndelta\r\n");
    assert_eq!(place.read("tabs.go"), spliced(&tabs, "return 0", "return 1"));
    assert_eq!(
        place.vibe(&["changes", "accept"]).status.code(),
        Some(1),
        "there is nothing left"
    );
}

/// Cancelled between its files: what was drafted is shown, nothing is on disk, and it can be discarded.
#[test]
fn e06_a_turn_cancelled_between_its_files() {
    let calls: [&[Value]; 1] = [&[
        edit("crlf.txt", "beta", "BETA"),
        command("echo between; sleep 30"),
        edit("tabs.go", "return 0", "return 1"),
    ]];
    let played = Played::new("anthropic", &turns(&calls));
    let place = &played.place;
    for name in ["crlf.txt", "tabs.go"] {
        place.write(name, fixture(&format!("edit/{name}")));
    }
    let before = place.tree();
    let mut running = place.start(&[
        "exec",
        "--json",
        "--approvals",
        "allow",
        "--provider",
        "anthropic",
        "Work.",
    ]);
    running.wait_for("between", Duration::from_secs(20));
    running.signal("INT");
    let run = running.finish(Duration::from_secs(10)).expect_code(130);
    assert_eq!(place.tree(), before);
    assert_eq!(run.result["changeSets"][0]["files"].as_array().unwrap().len(), 1);
    assert_eq!(place.vibe(&["changes", "reject"]).status.code(), Some(0));
    assert_eq!(place.tree(), before);
    assert_eq!(
        place.vibe(&["changes", "accept"]).status.code(),
        Some(1),
        "there is nothing left"
    );
}

#[test]
fn e07_create_or_move_destroys_an_existing_file() {
    let (literal, tabs) = (fixture("edit/literal.txt"), fixture("edit/tabs.go"));
    let files: [(&str, &[u8]); 2] = [("literal.txt", &literal), ("tabs.go", &tabs)];
    let (_, run) = refused(
        &files,
        &[
            create("tabs.go", "package other\n"),
            rename("literal.txt", "tabs.go"),
            patch("--- /dev/null\n+++ b/tabs.go\n@@ -0,0 +1 @@\n+package other\n"),
            patch(
                "diff --git a/literal.txt b/tabs.go\nsimilarity index 100%\nrename from literal.txt\nrename to tabs.go\n",
            ),
        ],
    );
    let refusals = refusals(&run);
    let codes: Vec<&str> = refusals.iter().map(|(code, _)| code.as_str()).collect();
    assert_eq!(
        codes,
        ["path.exists", "path.exists", "patch.rejected", "patch.rejected"]
    );
    for (_, text) in &refusals {
        assert!(text.contains("tabs.go already exists"), "{text}");
    }

    // A file of that name made by the user while the creation waits for review.
    let (played, _) = proposed(
        &[("literal.txt", &literal)],
        &[create("new.txt", "agent\n"), rename("literal.txt", "m")],
    );
    let place = &played.place;
    place.write("new.txt", "user\n");
    place.write("m", "user\n");
    let before = place.tree();
    let refused = place.vibe(&["changes", "accept"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("another file of that name"));
    assert_eq!(place.tree(), before);

    // Replacing is an operation of its own, and its review shows what is lost.
    let (played, _) = proposed(&files, &[read("literal.txt"), replace("literal.txt", "C=new\n")]);
    let (set, diff) = shown(&played.place);
    assert_eq!(json!(set.files[0].change_type), "modify");
    assert_eq!(changed_lines(&diff), ["-A=@@SLOT@@", "-B=keep", "+C=new"]);
}

#[test]
fn e08_links_and_permission_bits() {
    let calls: [&[Value]; 1] = [&[
        edit("link.md", "old", "new"),
        edit("tool.sh", "hi", "ho"),
        edit("linked/inner.md", "old", "new"),
        edit("out.md", "old", "new"),
        create("out/new.md", "new\n"),
    ]];
    let played = Played::new("anthropic", &turns(&calls));
    let place = &played.place;
    place.write("real.md", "old\n");
    place.link("link.md", "real.md");
    place.write("docs/inner.md", "old\n");
    place.link("linked", "docs");
    place.write_executable("tool.sh", "#!/bin/sh\necho hi\n");
    // Only root may give files away; then the owner must survive as well.
    let owner =
        chown(place.workspace().join("tool.sh"), Some(1234), Some(1234)).map_or(None, |()| Some(1234));
    let outside = place.outside().join("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("out.md"), "old\n").unwrap();
    place.link("out.md", "../elsewhere/out.md");
    place.link("out", "../elsewhere");
    let before = place.tree();

    let run = played.exec(&["Work."]).expect_code(3);
    let refusals = refusals(&run);
    let codes: Vec<&str> = refusals.iter().map(|(code, _)| code.as_str()).collect();
    assert_eq!(codes, ["path.outside", "path.outside"]);
    let (set, _) = shown(place);
    let paths: Vec<&str> = set.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["real.md", "tool.sh", "docs/inner.md"], "the real paths");
    accept(place);
    for (link, target) in [("link.md", "real.md"), ("linked", "docs")] {
        assert_eq!(
            std::fs::read_link(place.workspace().join(link)).unwrap().to_str(),
            Some(target)
        );
    }
    assert_eq!(
        (place.read_text("real.md"), place.read_text("docs/inner.md")),
        ("new\n".into(), "new\n".into())
    );
    let tool = place.workspace().join("tool.sh").metadata().unwrap();
    assert_eq!(tool.permissions().mode() & 0o7777, 0o755);
    if let Some(owner) = owner {
        assert_eq!((tool.uid(), tool.gid()), (owner, owner));
    }
    assert_eq!(std::fs::read_to_string(outside.join("out.md")).unwrap(), "old\n");
    assert!(!outside.join("new.md").exists());
    undo(place);
    assert_eq!(place.tree(), before);
}
