//! Known failures of the snapshot store, U05: what a checkpoint costs, what it keeps, and what is never opened unasked.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::Value;
use testkit::tree;

use crate::{
    agent::{command, create, delete, edit, proposed, turns},
    support::{Played, json_lines},
    user::{accept, changes, undo},
};

/// Bytes that a folder really takes on disk.
fn disk_use(folder: &Path) -> u64 {
    let mut used = 0;
    let mut waiting = vec![folder.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            used += metadata.blocks() * 512;
            if metadata.is_dir() {
                waiting.push(path);
            }
        }
    }
    used
}

const MANY: usize = 10_000;
const SPARSE_BYTES: u64 = 3 * 1024 * 1024 * 1024;

/// The budget of the store and its pruning are tested where a budget can be set, in `changeset`.
#[test]
fn u05_the_snapshot_store_grows_with_the_change_and_not_with_the_workspace() {
    let calls: [&[Value]; 1] = [&[edit("notes.txt", "old", "new"), edit("data.bin", "a", "b")]];
    let played = Played::new("anthropic", &turns(&calls));
    let place = &played.place;
    place.write("notes.txt", "old\n");
    let sparse = fs::File::create(place.workspace().join("data.bin")).unwrap();
    sparse.set_len(SPARSE_BYTES).unwrap();
    for number in 0..MANY {
        if number % 1_000 == 0 {
            fs::create_dir(place.workspace().join(format!("d{}", number / 1_000))).unwrap();
        }
        let path = place.workspace().join(format!("d{}/{number}", number / 1_000));
        fs::write(path, format!("small {number}\n")).unwrap();
    }
    let begun = Instant::now();
    let run = played.exec(&["--accept", "all", "Work."]).expect_code(0);
    // What is left out of a change is said where it is asked for.
    let refused: Vec<_> = run
        .tool_calls()
        .into_iter()
        .filter_map(|call| call.error.clone())
        .collect();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].code.to_string(), "file.tooLarge");
    undo(place);
    changes(place, &["redo"], 0);
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "took {:?}",
        begun.elapsed()
    );
    assert!(
        disk_use(&place.data()) < 2 * 1024 * 1024,
        "{} bytes",
        disk_use(&place.data())
    );
}

/// A copy of the workspace for a command does not fill the holes of a sparse file.
#[test]
fn u05_a_copy_for_a_command_keeps_a_sparse_file_sparse() {
    let calls: [&[Value]; 1] = [&[
        edit("notes.txt", "old", "new"),
        command(
            "stat -c '%s bytes' data.bin; echo $(( $(stat -c %b data.bin) * 512 / 1048576 )) MiB; head -c 5 data.bin; tail -c 4 data.bin",
        ),
    ]];
    let played = Played::new("anthropic", &turns(&calls));
    let place = &played.place;
    place.vibe(&["settings", "set", "sandbox.view", "off"]);
    place.write("notes.txt", "old\n");
    place.write("data.bin", "begin");
    let sparse = fs::File::options()
        .append(true)
        .open(place.workspace().join("data.bin"))
        .unwrap();
    sparse.set_len(SPARSE_BYTES - 4).unwrap();
    std::io::Write::write_all(&mut &sparse, b"end.").unwrap();
    let run = played.exec(&["--approvals", "allow", "Work."]).expect_code(3);
    let card = run.commands()[0];
    assert!(
        card.isolation.contains("copy of the workspace"),
        "{}",
        card.isolation
    );
    assert!(
        card.output.contains("3221225472 bytes\n0 MiB\nbeginend."),
        "{}",
        card.output
    );
    assert!(disk_use(&place.data()) < 2 * 1024 * 1024, "the copy is gone");
}

#[test]
fn u05_a_workspace_that_is_too_wide_is_asked_about_and_nothing_is_copied() {
    let played = Played::new("anthropic", "steps: [{ text: hello }]");
    let place = &played.place;
    fs::write(place.home().join("letter.txt"), "dear\n").unwrap();
    let home = place.home();
    let data = tree(&place.data());
    for folder in ["/", home.to_str().unwrap()] {
        for verb in [
            &["exec", "--json", "Work."][..],
            &["changes", "list"],
            &["engine"],
        ] {
            let output = place.vibe(&[&["--workspace", folder], verb].concat());
            assert_eq!(output.status.code(), Some(1), "{folder} {verb:?}");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                said.contains("workspace.tooWide") && said.contains("--allow-wide-workspace"),
                "{said}"
            );
        }
        assert_eq!(tree(&place.data()), data, "nothing is stored");
    }
    assert_eq!(played.server.requests().len(), 0);
    // Whoever means it can say so, and still nothing of the folder is copied.
    let run = played.exec(&[
        "--workspace",
        home.to_str().unwrap(),
        "--allow-wide-workspace",
        "--mode",
        "ask",
        "Hi.",
    ]);
    run.expect_code(0);
    assert!(disk_use(&place.data()) < 2 * 1024 * 1024);
}

#[test]
fn u05_deleting_the_workspace_keeps_its_checkpoints() {
    let (played, _) = proposed(
        &[("precious.txt", b"precious\n")],
        &[delete("precious.txt"), create("new.txt", "n\n")],
    );
    let place = &played.place;
    accept(place);
    assert!(!place.exists("precious.txt"));
    let stored = tree(&place.data());
    fs::remove_dir_all(place.workspace()).unwrap();
    assert_eq!(tree(&place.data()), stored);
    fs::create_dir(place.workspace()).unwrap();
    let (_, sets) = json_lines(place, &["changes", "list", "--json"]);
    assert_eq!(sets[0]["status"], "accepted");
    changes(place, &["undo"], 0);
    assert_eq!(place.read_text("precious.txt"), "precious\n");
}
