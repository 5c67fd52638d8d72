//! Known failures of undo and checkpoints, U01 to U04, each tried through the binary. A checkpoint of ours is the
//! snapshot an accept records.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use serde_json::{Value, json};
use testkit::{Hermetic, tree};

use crate::{
    agent::{call, command, create, delete, edit, fixture_path, turns},
    support::Played,
    user::{accept, changes, status, undo},
    wire::Wire,
};

/// A workspace that is the repository with one of everything a checkpoint can destroy.
fn in_dirty_repository(scenario: &str) -> Played {
    let played = Played::new("anthropic", scenario);
    let place = &played.place;
    script(place, "git/make-dirty-repo.sh", "../dirty");
    fs::remove_dir(place.workspace()).unwrap();
    fs::rename(place.outside().join("dirty"), place.workspace()).unwrap();
    played
}

fn script(place: &Hermetic, name: &str, argument: &str) -> String {
    let path = fixture_path(name);
    let output = place.program("sh", &[path.to_str().unwrap(), argument]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The sections of the repository's fingerprint by name.
fn fingerprint(place: &Hermetic) -> BTreeMap<String, String> {
    script(place, "git/fingerprint.sh", ".")
        .split("## ")
        .filter_map(|section| section.split_once('\n'))
        .map(|(name, lines)| (name.to_owned(), lines.to_owned()))
        .collect()
}

/// What U01 compares: everything but what the agent's command made.
fn without_the_commands_files(tree: BTreeMap<PathBuf, String>) -> BTreeMap<PathBuf, String> {
    let by_the_command = |path: &Path| path.starts_with("build") || path == Path::new("run.log");
    tree.into_iter()
        .filter(|(path, _)| !by_the_command(path))
        .collect()
}

#[test]
fn u01_restore_deletes_or_misses_files() {
    let edits = [
        edit(
            "tracked.txt",
            "unsaved thought of the user",
            "changed by the agent",
        ),
        create("new.txt", "agent\n"),
        edit("secret/local.cfg", "precious", "changed"),
    ];
    let command = [command(
        "mkdir -p build && printf 'x\\0' > build/out.bin && echo agent >> run.log",
    )];
    // The command sees the draft, or comes before there is one.
    let after_edits = [&edits[..], &command].concat();
    let before_edits = [&command, &edits[..]].concat();
    for (calls, with_git) in [
        (&after_edits, true),
        (&before_edits, true),
        (&before_edits, false),
    ] {
        let played = in_dirty_repository(&turns(&[calls]));
        let place = &played.place;
        if !with_git {
            fs::remove_dir_all(place.workspace().join(".git")).unwrap();
        }
        let git_before = with_git.then(|| fingerprint(place));
        let before = place.tree();
        let run = played.exec(&["--approvals", "allow", "Work."]).expect_code(3);
        assert_eq!(run.commands()[0].exit_code, Some(0));
        accept(place);
        assert_eq!(place.read_text("secret/local.cfg"), "ignored but changed\n");

        // What a restore will change is shown beforehand, and showing it changes nothing.
        let accepted = place.tree();
        let preview = changes(place, &["undo", "--dry-run"], 0);
        for path in ["tracked.txt", "new.txt", "secret/local.cfg", "build/out.bin"] {
            assert!(preview.contains(&format!("Would restore {path}\n")), "{preview}");
        }
        assert_eq!(preview.matches("Would restore").count(), 4, "{preview}");
        assert_eq!((place.tree(), status(place).as_str()), (accepted, "accepted"));

        // Afterwards it says what it could not take back, and leaves that alone.
        let said = changes(place, &["undo"], 0);
        assert!(
            said.contains("Not taken back") && said.contains("build/out.bin"),
            "{said}"
        );
        assert_eq!(
            without_the_commands_files(place.tree()),
            without_the_commands_files(before)
        );
        assert_eq!(place.read_text("run.log"), "x\nagent\n");
        if let Some(mut git_before) = git_before {
            let mut git_after = fingerprint(place);
            // The files were compared above.
            git_before.remove("files");
            git_after.remove("files");
            assert_eq!(git_after, git_before);
        }
    }
}

#[test]
fn u02_undo_takes_the_users_own_edits() {
    let ten: String = (1..=10).map(|line| format!("line {line}\n")).collect();
    let many: String = (1..=40_000).map(|line| format!("line {line}\n")).collect();
    let calls: [&[Value]; 1] = [&[
        edit("ten.txt", "line 2\n", "line two\n"),
        create("new.txt", "agent\n"),
        delete("tool.sh"),
        edit("many.txt", "line 20000\n", "line twenty thousand\n"),
    ]];
    let played = Played::new("anthropic", &turns(&calls));
    let place = &played.place;
    place.write("ten.txt", &ten);
    place.write("many.txt", &many);
    place.write_executable("tool.sh", "#!/bin/sh\necho hi\n");
    let by_the_user = |text: String| text.replace("line 8\n", "line eight\n");
    let expect_undone = |ten: &str| {
        assert_eq!(place.read_text("ten.txt"), ten);
        assert!(!place.exists("new.txt"));
        assert_eq!(place.read_text("tool.sh"), "#!/bin/sh\necho hi\n");
        let mode = place
            .workspace()
            .join("tool.sh")
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o7777, 0o755);
        assert!(place.read_text("many.txt") == many);
    };
    let expect_done = |ten: &str| {
        assert_eq!(place.read_text("ten.txt"), ten);
        assert_eq!(place.read_text("new.txt"), "agent\n");
        assert!(!place.exists("tool.sh"));
        assert!(place.read_text("many.txt") == many.replace("line 20000\n", "line twenty thousand\n"));
    };
    let done = ten.replace("line 2\n", "line two\n");

    // Within one program, and then after each restart of it.
    let mut wire = Wire::open(&played);
    let session = wire.session();
    wire.turn(&session, "Work.");
    wire.accept(&session);
    expect_done(&done);
    place.write("ten.txt", by_the_user(done.clone()));
    for _ in 0..2 {
        wire.ask("changes/undo", json!({}));
        expect_undone(&by_the_user(ten.clone()));
        wire.ask("changes/redo", json!({}));
        expect_done(&by_the_user(done.clone()));
    }
    drop(wire);
    for _ in 0..2 {
        changes(place, &["undo"], 0);
        expect_undone(&by_the_user(ten.clone()));
        changes(place, &["redo"], 0);
        expect_done(&by_the_user(done.clone()));
    }

    // A created file that the user went on with: nothing is taken back before they decide.
    place.write("new.txt", "agent\nand user\n");
    let before = place.tree();
    let said = changes(place, &["undo"], 1);
    assert!(
        said.contains("changes.conflict") && said.contains("new.txt: it was changed on disk since"),
        "{said}"
    );
    assert_eq!(place.tree(), before);
    let said = changes(place, &["undo", "--dry-run"], 1);
    assert!(said.contains("changes.conflict"), "{said}");
    // The same for a line both changed; both sides are shown.
    place.write("new.txt", "agent\n");
    place.write("ten.txt", done.replace("line two\n", "line zwei\n"));
    let said = changes(place, &["undo"], 1);
    assert!(
        said.contains("line 2: on disk `line zwei`, to be put back `line 2`"),
        "{said}"
    );
    place.write("ten.txt", by_the_user(done));
    undo(place);
    expect_undone(&by_the_user(ten.clone()));
}

const TURNS: usize = 10;

#[test]
fn u03_checkpointing_disturbs_the_users_git() {
    let calls: Vec<Vec<Value>> = (0..TURNS)
        .map(|turn| {
            let old = match turn {
                0 => "unsaved thought of the user".to_owned(),
                turn => format!("turn {}", turn - 1),
            };
            vec![
                call("git_status", json!({})),
                call("git_diff", json!({})),
                command("git status"),
                edit("tracked.txt", &old, &format!("turn {turn}")),
                create(&format!("made/{turn}.txt"), "made\n"),
                command("git status --short && git diff"),
            ]
        })
        .collect();
    let calls: Vec<&[Value]> = calls.iter().map(Vec::as_slice).collect();
    let played = in_dirty_repository(&turns(&calls));
    let place = &played.place;
    // The user's staged work is committed by the loop's first commit, as any `git commit` would.
    let before = fingerprint(place);
    let loose_before = unreachable_objects(place);
    let stop = AtomicBool::new(false);
    let commits = std::thread::scope(|scope| {
        let user = scope.spawn(|| {
            let mut commits = 0_usize;
            while !stop.load(Ordering::Relaxed) || commits < 3 {
                place.write("loop.txt", format!("{commits}\n"));
                place.git(&["add", "loop.txt"]);
                place.git(&["commit", "-qm", &format!("loop {commits}")]);
                commits += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            commits
        });
        let mut wire = Wire::open(&played);
        let session = wire.session();
        for turn in 0..TURNS {
            let run = wire.turn(&session, "Work.");
            let failed: Vec<_> = run
                .tool_calls()
                .iter()
                .filter_map(|call| call.error.clone())
                .collect();
            assert!(failed.is_empty(), "{turn}: {failed:?}");
            assert!(
                run.commands().iter().all(|command| command.exit_code == Some(0)),
                "{:?}",
                run.commands()
            );
            wire.accept(&session);
        }
        wire.ask("changes/undo", json!({}));
        stop.store(true, Ordering::Relaxed);
        user.join().unwrap()
    });
    assert_eq!(
        place.read_text("tracked.txt"),
        format!("v1\nturn {}\n", TURNS - 2)
    );
    let after = fingerprint(place);
    // Only the loop's commits: one line each in the log of HEAD, one reference that moved, nothing stashed.
    let expected: Vec<String> = (0..commits)
        .rev()
        .map(|number| format!("loop {number}"))
        .collect();
    let log = place.git(&["log", "--format=%s"]);
    assert_eq!(log, format!("{}\nbase\n", expected.join("\n")));
    assert_eq!(
        place.git(&["reflog", "--format=%gs"]).lines().count(),
        commits + 1
    );
    let names = |sections: &BTreeMap<String, String>| -> Vec<String> {
        let words = sections["refs"]
            .lines()
            .filter_map(|line| line.split_whitespace().nth(2));
        words.map(str::to_owned).collect()
    };
    assert_eq!(names(&after), names(&before));
    assert_eq!(after["git dirs"], before["git dirs"]);
    let changed = place.git(&["log", "--name-only", "--format=", &format!("-{}", commits - 1)]);
    assert!(changed.lines().all(|name| name == "loop.txt"), "{changed}");
    assert_eq!(
        place.git(&["diff", "--cached", "--name-only"]),
        "",
        "nothing is staged by us"
    );
    assert_eq!(
        place.git(&["diff", "--name-only"]),
        "staged.txt\ntracked.txt\n",
        "the user's dirty work is dirty still"
    );
    assert_eq!(
        unreachable_objects(place),
        loose_before,
        "no object of ours in the user's store"
    );
    assert!(!place.exists(".git/index.lock"));
}

fn unreachable_objects(place: &Hermetic) -> String {
    place.git(&["fsck", "--unreachable", "--no-reflogs", "--no-progress"])
}

/// Everything below every `.git`, with what any write or rename would change.
fn git_entries(folder: &Path) -> BTreeMap<String, (u64, i64, i64, u64)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![(folder.to_owned(), false)];
    while let Some((directory, inside)) = waiting.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let inside = inside || path.file_name().is_some_and(|name| name == ".git");
            let metadata = path.symlink_metadata().unwrap();
            if inside {
                let shape = (
                    metadata.ino(),
                    metadata.ctime(),
                    metadata.ctime_nsec(),
                    metadata.len(),
                );
                found.insert(path.to_string_lossy().into_owned(), shape);
            }
            if metadata.is_dir() {
                waiting.push((path, inside));
            }
        }
    }
    found
}

const KILLS: u64 = 20;

#[test]
fn u04_nested_repositories_and_submodules() {
    let calls: [&[Value]; 1] = [&[
        edit("vendored/n.txt", "edited", "agent"),
        edit("module/m.txt", "m", "agent"),
        create("empty-nested/new.txt", "agent\n"),
        edit("tracked.txt", "unsaved thought of the user", "agent"),
        edit("vendored/.git/config", "[core]", "[evil]"),
        edit("module/.git", "gitdir", "elsewhere"),
    ]];
    let played = in_dirty_repository(&turns(&calls));
    let place = &played.place;
    let library = place.outside().join("library");
    fs::create_dir(&library).unwrap();
    fs::write(library.join("m.txt"), "m\n").unwrap();
    let library = library.to_str().unwrap();
    place.git(&["-C", library, "init", "-q", "."]);
    place.git(&["-C", library, "add", "m.txt"]);
    place.git(&["-C", library, "commit", "-qm", "library"]);
    place.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        library,
        "module",
    ]);
    // A commit-less repository has no file yet that could tell it apart.
    let repositories = git_entries(&place.workspace());
    let before = place.tree();

    let run = played.exec(&["Work."]).expect_code(3);
    let refused: Vec<String> = run
        .tool_calls()
        .iter()
        .filter_map(|call| Some(call.error.as_ref()?.code.to_string()))
        .collect();
    assert_eq!(refused, ["path.protected", "path.protected"]);
    let done = {
        accept(place);
        place.tree()
    };
    assert_eq!(place.read_text("vendored/n.txt"), "n\nagent\n");

    // Each undo or redo is one checkpoint; it is ended at another moment each time, hard and by a cancel.
    for signal in ["KILL", "INT"] {
        for number in 0..KILLS {
            let verb = if status(place) == "accepted" {
                "undo"
            } else {
                "redo"
            };
            let mut running = place.start(&["changes", verb]);
            std::thread::sleep(Duration::from_millis(2 * number));
            if running.child.try_wait().unwrap().is_none() {
                running.signal(signal);
            }
            running.child.wait().unwrap();
            let status = status(place);
            let expected = if status == "accepted" { &done } else { &before };
            assert_eq!(&place.tree(), expected, "{signal} {number}: {status}");
            assert_eq!(git_entries(&place.workspace()), repositories, "{signal} {number}");
        }
    }
    if status(place) == "accepted" {
        undo(place);
    }
    assert_eq!(place.tree(), before, "nested files are covered");
    assert_eq!(git_entries(&place.workspace()), repositories);
    // What crashes left in the data folder is gone once it is opened again.
    let leftovers: Vec<_> = tree(&place.data())
        .into_keys()
        .filter(|path| path.to_string_lossy().contains(".tmp"))
        .collect();
    assert_eq!(leftovers, Vec::<PathBuf>::new());
}
