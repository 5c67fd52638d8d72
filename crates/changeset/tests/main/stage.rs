//! The staged copy: a command sees the draft, its changes become part of the draft, and the workspace is untouched.

use std::{os::unix::fs::symlink, path::Path, process::Command};

use changeset::stage::{self, StagedCopy};
use protocol::ChangeType;

use crate::place::Place;

fn run(copy: &StagedCopy, command: &str) -> String {
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(copy.root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{command}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn prepare(place: &Place) -> StagedCopy {
    stage::prepare(place.sets(), &place.session).unwrap()
}

fn project() -> Place {
    let place = Place::new();
    Command::new("git")
        .args(["init", "-q"])
        .current_dir(place.root())
        .status()
        .unwrap();
    place.put(".gitignore", "cache/\n*.log\n");
    place.put("src/a.txt", "a\n");
    place.put("src/b.txt", "b\n");
    place.put("tool.sh", "echo tool\n");
    place.set_mode("tool.sh", 0o755);
    place.put("cache/big", "cached\n");
    place.put("run.log", "log\n");
    std::fs::create_dir(place.root().join("empty")).unwrap();
    place
}

#[test]
fn a_command_sees_the_draft_and_its_changes_join_it() {
    let place = project();
    symlink("src/a.txt", place.root().join("link")).unwrap();
    symlink(place.root().join("src"), place.root().join("absolute")).unwrap();
    place.edit("src/a.txt", "a", "drafted").unwrap();
    place.create("made/new.txt", "new\n").unwrap();
    place.delete("src/b.txt").unwrap();
    let before = place.tree();
    let copy = prepare(&place);
    assert_eq!(
        run(&copy, "cat src/a.txt made/new.txt link absolute/a.txt; ls src"),
        "drafted\nnew\ndrafted\ndrafted\na.txt\n"
    );
    assert_eq!(
        run(
            &copy,
            "./tool.sh; cat cache/big; git rev-parse --is-inside-work-tree"
        ),
        "tool\ncached\ntrue\n"
    );
    run(
        &copy,
        "echo more >> src/a.txt; echo made > src/c.txt; chmod +x src/c.txt; rm tool.sh; echo x > empty/y; \
         rm made/new.txt; touch src/a.txt; printf 'MZ\\0\\0' > out.bin; ln -s a.txt src/another; echo w >> absolute/a.txt",
    );
    let harvest = stage::harvest(place.sets(), &copy, &place.session, "make things").unwrap();
    drop(copy);
    assert_eq!(place.tree(), before);
    let set = harvest.change_set.unwrap();
    let mut shown: Vec<(&str, ChangeType, Option<&str>)> = set
        .files
        .iter()
        .map(|file| (&file.path[..], file.change_type, file.by_command.as_deref()))
        .collect();
    shown.sort_by_key(|file| file.0);
    let by = Some("make things");
    assert_eq!(
        shown,
        [
            ("empty/y", ChangeType::Create, by),
            ("out.bin", ChangeType::Create, by),
            ("src/a.txt", ChangeType::Modify, by),
            ("src/b.txt", ChangeType::Delete, None),
            ("src/c.txt", ChangeType::Create, by),
            ("tool.sh", ChangeType::Delete, by),
        ]
    );
    let mut notes = harvest.notes;
    notes.sort();
    assert_eq!(notes, ["not taken over: src/another (it is a link)"]);
    place.accept_all().unwrap();
    assert_eq!(place.text("src/a.txt"), "drafted\nmore\nw\n");
    assert_eq!(place.tree()[Path::new("src/c.txt")].0 & 0o111, 0o111);
    assert!(!place.exists("tool.sh"));
}

#[test]
fn an_idle_command_leaves_a_review_as_it_is() {
    let place = project();
    place.edit("src/a.txt", "a", "drafted").unwrap();
    let set = place.propose();
    let copy = prepare(&place);
    // Touching, and writing the same again, is no change.
    run(
        &copy,
        "touch src/b.txt; cp src/b.txt t; cp t src/b.txt; rm t; cat src/a.txt",
    );
    let harvest = stage::harvest(place.sets(), &copy, &place.session, "true").unwrap();
    assert_eq!(harvest, stage::Harvest::default());
    assert_eq!(place.sets().get(&set.id).unwrap(), set);
}

#[test]
fn ignored_folders_are_the_real_ones_but_the_drafts_files_in_them_are_not() {
    let place = project();
    place.edit("cache/big", "cached", "drafted").unwrap();
    place.create("cache/sub/new", "new\n").unwrap();
    place.edit("run.log", "log", "drafted log").unwrap();
    place.put("cache/other", "other\n");
    let copy = prepare(&place);
    assert_eq!(
        run(&copy, "cat cache/big cache/other cache/sub/new run.log"),
        "drafted\nother\nnew\ndrafted log\n"
    );
    run(
        &copy,
        "echo persisted > cache/other; echo z >> cache/big; echo z >> run.log",
    );
    let harvest = stage::harvest(place.sets(), &copy, &place.session, "build").unwrap();
    assert_eq!(harvest.files.len(), 2, "{harvest:?}");
    assert_eq!(place.text("cache/other"), "persisted\n");
    assert_eq!(place.text("cache/big"), "cached\n");
    assert_eq!(place.text("run.log"), "log\n");
    place.accept_all().unwrap();
    assert_eq!(place.text("cache/big"), "drafted\nz\n");
    assert_eq!(place.text("run.log"), "drafted log\nz\n");
}

/// The user saves while the command runs: apart it is merged, otherwise it stays and the command's part is named.
#[test]
fn saves_during_a_command_are_kept() {
    let place = project();
    let lines: String = (1..=9).map(|line| format!("{line}\n")).collect();
    place.put("src/a.txt", &lines);
    place.edit("src/a.txt", "2\n", "two\n").unwrap();
    let copy = prepare(&place);
    run(
        &copy,
        "sed -i s/5/five/ src/a.txt; echo theirs > src/b.txt; echo theirs > src/n.txt",
    );
    place.put("src/a.txt", lines.replace("8\n", "acht\n"));
    place.put("src/b.txt", "mine\n");
    place.put("src/n.txt", "mine\n");
    let harvest = stage::harvest(place.sets(), &copy, &place.session, "build").unwrap();
    assert_eq!(harvest.notes.len(), 2, "{:?}", harvest.notes);
    place.accept_all().unwrap();
    assert_eq!(
        place.text("src/a.txt"),
        lines
            .replace("2\n", "two\n")
            .replace("5\n", "five\n")
            .replace("8\n", "acht\n")
    );
    assert_eq!(
        (place.text("src/b.txt"), place.text("src/n.txt")),
        ("mine\n".to_owned(), "mine\n".to_owned())
    );
}

/// A folder named like build output that git does not ignore is copied: a command must not write to it unreviewed.
#[test]
fn source_in_a_folder_named_build_is_reviewed_too() {
    let place = project();
    place.put("build/config.txt", "config\n");
    place.edit("src/a.txt", "a", "A").unwrap();
    let copy = prepare(&place);
    run(&copy, "echo changed > build/config.txt");
    let harvest = stage::harvest(place.sets(), &copy, &place.session, "configure").unwrap();
    assert_eq!(place.text("build/config.txt"), "config\n");
    assert_eq!(
        harvest
            .files
            .iter()
            .map(|file| &file.path[..])
            .collect::<Vec<_>>(),
        ["build/config.txt"]
    );
    assert!(
        copy.level_description().contains("build"),
        "{}",
        copy.level_description()
    );
}

/// Everything in a copy: path, kind, mode, link target, content; without the copy's own place.
fn listing(copy: &StagedCopy) -> String {
    let listed = run(
        copy,
        "find . -path ./.git -prune -o -printf '%P %y %m %l ' \\( -type f -exec sha256sum {} \\; -o -printf '\\n' \\) | sort",
    );
    listed.replace(&copy.root().display().to_string(), "COPY")
}

/// Whatever a command left in its copy and whatever changed since, the next command finds what a new copy would hold.
#[test]
fn a_kept_copy_becomes_what_a_new_one_would_be() {
    let nothing = |_: &Place| {};
    // A command, what happens after it, and whether the copy itself can serve on.
    type Case = (&'static str, fn(&Place), bool);
    let cases: &[Case] = &[
        ("true", nothing, true),
        (
            "echo more >> src/a.txt; echo x > src/x; rm tool.sh",
            nothing,
            true,
        ),
        (
            "printf 'MZ\\0' > out.bin; mkfifo pipe; mkdir -p deep/er; ln -s /etc deep/link",
            nothing,
            true,
        ),
        // Links out of the copy in place of its files and folders must not be written through.
        ("rm -r src; ln -s \"$(readlink cache)/../src\" src", nothing, true),
        ("rm src/a.txt; ln -s /tmp/elsewhere src/a.txt", nothing, true),
        ("rm cache; mkdir cache; echo own > cache/own", nothing, true),
        ("rm cache; ln -s /etc cache", nothing, true),
        (
            "rm src/b.txt; mkdir src/b.txt; echo z > src/b.txt/z",
            nothing,
            true,
        ),
        ("chmod 700 src", nothing, false),
        (
            "chmod 400 src/b.txt; touch -d 2001-01-01 src/b.txt",
            nothing,
            true,
        ),
        ("true", |place| place.put("src/b.txt", "saved\n"), true),
        ("true", |place| place.put("src/n/new.txt", "saved\n"), true),
        ("true", |place| place.set_mode("tool.sh", 0o644), true),
        ("true", |place| place.put(".gitignore", "src/\n"), false),
        ("true", |place| place.put(".gitignore", "*.log\n"), true),
        (
            "true",
            |place| {
                std::fs::remove_file(place.root().join("src/b.txt")).unwrap();
                place.put("src/b.txt/inner", "a folder now\n");
            },
            true,
        ),
        (
            "true",
            |place| drop(place.edit("src/a.txt", "drafted", "again").unwrap()),
            true,
        ),
        ("true", |place| drop(place.delete("tool.sh").unwrap()), true),
        (
            "true",
            |place| drop(place.create("cache/new", "drafted\n").unwrap()),
            true,
        ),
        ("true", |place| drop(place.accept_all().unwrap()), true),
    ];
    for (command, later, serves) in cases {
        let place = project();
        symlink(place.root().join("src"), place.root().join("absolute")).unwrap();
        place.edit("src/a.txt", "a", "drafted").unwrap();
        let copy = prepare(&place);
        run(&copy, command);
        stage::harvest(place.sets(), &copy, &place.session, command).unwrap();
        let used = copy.root().to_owned();
        place.sets().keep_copy(copy);
        let before = place.tree();
        later(&place);
        let changed = place.tree();

        let kept = prepare(&place);
        assert_eq!(
            kept.root() == used,
            *serves,
            "{command}: {}",
            kept.root().display()
        );
        let new = prepare(&place);
        assert_ne!(kept.root(), new.root());
        assert_eq!(listing(&kept), listing(&new), "{command}");
        assert_eq!(place.tree(), changed, "{command}: the workspace was written to");
        assert!(before == changed || *command == "true");
        let idle = stage::harvest(place.sets(), &kept, &place.session, "true").unwrap();
        assert_eq!(idle, stage::Harvest::default(), "{command}");
    }
}
