//! The patch we write is one git reads, and git never notices us (U01, U03, W01).

use std::{path::Path, process::Command};

use changeset::hash;

use crate::place::{Place, call, tree};

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.invalid",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const AWKWARD: &[&str] = &[
    "plain.txt",
    "with space.txt",
    "café.txt",
    "文档.txt",
    "it's.txt",
    "double\"quote.txt",
    "-dash.txt",
    "arrow -> not.txt",
    "back\\slash.txt",
    "semi;colon.txt",
    "$HOME.txt",
    "#hash.txt",
    "star*.txt",
    "new\nline.txt",
    "tab\there.txt",
];

/// `git apply` of our patch on a copy gives the same tree as our own accept, for every kind of change.
#[test]
fn git_applies_the_patch_we_write_to_the_same_result() {
    let place = Place::new();
    let numbered: String = (1..=30).map(|line| format!("{line}\n")).collect();
    for name in AWKWARD {
        place.put(name, &numbered);
    }
    for name in ["crlf.txt", "mixed-eol.txt", "latin1.txt", "bom-crlf.ps1"] {
        place.fixture(name);
    }
    place.put("tool.sh", "#!/bin/sh\n");
    place.set_mode("tool.sh", 0o755);
    place.put("empty", "");
    place.put("deleted no newline", "x\ny");
    place.put("moved/old name.txt", &numbered);
    let copy = place.folder().join("copy");
    Command::new("cp")
        .arg("-a")
        .arg(place.root())
        .arg(&copy)
        .status()
        .unwrap();

    for name in AWKWARD {
        place.edit(name, "15\n", "fifteen\n").unwrap();
        place.edit(name, "30\n", "30\nlast").unwrap();
    }
    place.edit("crlf.txt", "beta", "BETA").unwrap();
    place.edit("mixed-eol.txt", "five", "FIVE").unwrap();
    place.edit("latin1.txt", "brûlée", "glacé").unwrap();
    place.edit("bom-crlf.ps1", "\"start\"", "\"begin\"").unwrap();
    place.delete("tool.sh").unwrap();
    place.delete("empty").unwrap();
    place.delete("deleted no newline").unwrap();
    place
        .rename("moved/old name.txt", "moved/\"new\"\tname.txt")
        .unwrap();
    place
        .edit("moved/\"new\"\tname.txt", "7\n8\n", "7\n7.5\n8\n")
        .unwrap();
    place.create("made/über.txt", "no newline").unwrap();
    place.create("made/empty", "").unwrap();
    place
        .patch("diff --git a/run b/run\nnew file mode 100755\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+#!/bin/sh\n")
        .unwrap();
    let set = place.propose();
    assert_eq!(set.files.len(), AWKWARD.len() + 4 + 3 + 1 + 3);
    let shown: Vec<&str> = set
        .files
        .iter()
        .take(AWKWARD.len())
        .map(|file| &file.path[..])
        .collect();
    assert_eq!(shown, AWKWARD);
    let patch = place.folder().join("changes.patch");
    std::fs::write(&patch, place.sets().patch_bytes(&set.id).unwrap()).unwrap();
    // In a repository of its own, so that no outer one decides about paths.
    git(&copy, &["init", "-q"]);
    git(&copy, &["apply", "--whitespace=nowarn", patch.to_str().unwrap()]);
    std::fs::remove_dir_all(copy.join(".git")).unwrap();
    place.accept_all().unwrap();
    assert_eq!(tree(&copy), place.tree());
}

/// Our own patch reader understands git's output for every awkward name.
#[test]
fn we_apply_the_patch_git_writes() {
    let place = Place::new();
    for name in AWKWARD {
        place.put(name, "1\n2\n3\n");
    }
    git(&place.root(), &["init", "-q"]);
    git(&place.root(), &["add", "-A"]);
    git(&place.root(), &["commit", "-qm", "names"]);
    for name in AWKWARD {
        place.put(name, "1\ntwo\n3\n4");
    }
    std::fs::rename(
        place.root().join("plain.txt"),
        place.root().join("renamed plain.txt"),
    )
    .unwrap();
    git(&place.root(), &["add", "-A"]);
    let changed = place.tree();
    for options in [&["-c", "core.quotepath=on"], &["-c", "core.quotepath=off"]] {
        let patch = git(
            &place.root(),
            &[options[0], options[1], "diff", "--cached", "-M20%"],
        );
        git(&place.root(), &["stash", "-q"]);
        place.patch(&patch).unwrap();
        place.accept_all().unwrap();
        let files = |tree: crate::place::Tree| -> crate::place::Tree {
            tree.into_iter()
                .filter(|(path, _)| !path.starts_with(".git"))
                .collect()
        };
        assert_eq!(files(place.tree()), files(changed.clone()));
        place.sets().undo(None).unwrap();
        git(&place.root(), &["stash", "pop", "-q", "--index"]);
    }
}

/// U01, U03: drafts, accepts and undos never touch the index, refs, reflog or any `.git`.
#[test]
fn git_never_notices_a_change_set() {
    let place = Place::new();
    let root = place.root();
    place.put("tracked.txt", "v1\n");
    place.put("staged.txt", "v1\n");
    place.put(".gitignore", "secret/\n*.log\n");
    git(&root, &["init", "-q"]);
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-qm", "base"]);
    place.put("staged.txt", "v1\nstaged by the user\n");
    git(&root, &["add", "staged.txt"]);
    place.put("staged.txt", "v1\nstaged by the user\nand edited again\n");
    place.put("tracked.txt", "v1\nunsaved thought of the user\n");
    place.put("notes/untracked.txt", "never added to git\n");
    place.put("secret/local.cfg", "ignored but precious\n");
    std::fs::create_dir(root.join("vendored")).unwrap();
    git(&root.join("vendored"), &["init", "-q"]);
    place.put("vendored/n.txt", "n\n");
    let before = place.tree();
    for turn in 0..3 {
        place.edit("tracked.txt", "v1", &format!("v{turn}+")).unwrap();
        place.create("new.txt", "new\n").unwrap();
        place.edit("secret/local.cfg", "precious", "changed").unwrap();
        place.edit("vendored/n.txt", "n", "N").unwrap();
        place.accept_all().unwrap();
        place.sets().undo(None).unwrap();
    }
    // The whole of `.git` byte for byte, too.
    assert_eq!(place.tree(), before);
    let seen = hash(b"v1\nunsaved thought of the user\n");
    let path = place.path("tracked.txt");
    place
        .sets()
        .replace(&place.session, &call(), &path, "v2\n", Some(&seen))
        .unwrap();
    place.accept_all().unwrap();
    let changed: Vec<_> = place
        .tree()
        .into_iter()
        .filter(|(path, state)| before.get(path) != Some(state))
        .collect();
    assert_eq!(changed.len(), 1);
}
