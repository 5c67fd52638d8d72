use std::collections::BTreeSet;

use protocol::{ErrorCode, RuntimeError};
use workspace::{
    Breadth, LineRange, Overlay, ReadLimits, Workspace,
    git::{self, Author, Change, DiffScope, StatusEntry},
    never, read_text,
    walk::{WalkOptions, walk},
};

use crate::support::{Place, fixture, git_in, paths};

fn entries(workspace: &Workspace) -> Vec<String> {
    let status = git::status(workspace).unwrap();
    let words = |entry: &StatusEntry| {
        let from = entry
            .old_path
            .as_ref()
            .map(|old| format!("{} -> ", workspace::display_path(old)));
        format!(
            "{}{}: {}",
            from.unwrap_or_default(),
            workspace::display_path(&entry.path),
            entry.in_words()
        )
    };
    status.entries.iter().map(words).collect()
}

/// W01: every name comes back as it is, in status, diff, walk, read and search.
#[test]
fn awkward_names_are_real_names() {
    let place = Place::made_by("make-names.sh");
    let workspace = place.open();
    let status = git::status(&workspace).unwrap();
    let changed: BTreeSet<_> = status.entries.iter().map(|entry| entry.path.clone()).collect();
    let on_disk: BTreeSet<_> = walk(&workspace, &WalkOptions::default(), &never)
        .unwrap()
        .files
        .into_iter()
        .map(|file| file.path)
        .collect();
    assert_eq!(changed, on_disk);
    assert_eq!(changed.len(), 15);
    assert!(changed.iter().any(|path| path.to_str() == Some("new\nline.txt")));
    for path in &changed {
        let scoped = workspace.resolve(path).unwrap();
        let view = read_text(
            &scoped,
            &Overlay::default(),
            LineRange::ALL,
            ReadLimits::default(),
        )
        .unwrap();
        assert_eq!(view.text, "1\n2", "{path:?}");
        let diff = git::diff(&workspace, DiffScope::All, &[scoped], 100_000)
            .unwrap()
            .text;
        assert_eq!(diff.matches("diff --git").count(), 1, "{path:?}: {diff}");
        assert!(diff.contains("\n+2\n"), "{path:?}: {diff}");
    }
}

#[test]
fn status_tells_every_kind_of_change() {
    let place = Place::made_by("make-dirty-repo.sh");
    place.git(&["mv", "tracked.txt", "renamed here.txt"]);
    std::fs::remove_file(place.root().join("staged.txt")).unwrap();
    let workspace = place.open();
    assert_eq!(
        entries(&workspace),
        [
            "tracked.txt -> renamed here.txt: staged: renamed, unstaged: modified",
            "staged.txt: staged: modified, unstaged: deleted",
            "empty-nested: untracked",
            "linked/to-tracked: untracked",
            "notes/untracked.txt: untracked",
            "tool.sh: untracked",
            "vendored: untracked",
        ]
        .map(str::to_owned)
    );
    let status = git::status(&workspace).unwrap();
    let head = git::head(&workspace).unwrap();
    assert_eq!(
        head.commit.as_deref(),
        Some(place.git(&["rev-parse", "HEAD"]).trim())
    );
    assert_eq!((status.branch, status.commit), (head.branch, head.commit));

    // A merge that conflicts, on a branch with an upstream.
    let other = Place::new();
    other.git(&["init", "-q", "-b", "main", "."]);
    other.file("f.txt", "1\n");
    other.git(&["add", "."]);
    other.git(&["commit", "-qm", "1"]);
    other.git(&["branch", "other"]);
    other.file("f.txt", "2\n");
    other.git(&["commit", "-qam", "2"]);
    other.git(&["checkout", "-q", "other"]);
    other.file("f.txt", "3\n");
    other.git(&["commit", "-qam", "3"]);
    other.git(&["branch", "-q", "--set-upstream-to=main"]);
    let merge = std::process::Command::new("git")
        .args(["merge", "-q", "main"])
        .current_dir(other.root())
        .output();
    assert!(!merge.unwrap().status.success());
    let status = git::status(&other.open()).unwrap();
    assert_eq!(status.entries.len(), 1);
    assert_eq!(status.entries[0].unstaged, Change::Conflicted);
    assert_eq!(
        (status.upstream.as_deref(), status.ahead, status.behind),
        (Some("main"), 1, 1)
    );
}

#[test]
fn diffs_compare_the_sides_asked_for() {
    let place = Place::made_by("make-dirty-repo.sh");
    place.file("latin.txt", b"caf\xE9\n");
    place.git(&["add", "latin.txt"]);
    let workspace = place.open();
    let diff = |scope, names: &[&str]| {
        git::diff(&workspace, scope, &paths(&workspace, names), 100_000)
            .unwrap()
            .text
    };
    for (scope, names, has, has_not) in [
        (
            DiffScope::All,
            &[][..],
            &[
                "+staged by the user",
                "+and edited again",
                "+unsaved thought",
                "+café",
            ][..],
            &["no"][..],
        ),
        (
            DiffScope::Staged,
            &[],
            &["+staged by the user"],
            &["edited again", "unsaved"],
        ),
        (
            DiffScope::Unstaged,
            &[],
            &["+and edited again", "+unsaved"],
            &["+staged by"],
        ),
        (
            DiffScope::Unstaged,
            &["tracked.txt"],
            &["+unsaved"],
            &["edited again"],
        ),
        (DiffScope::All, &["notes"], &[], &["diff"]),
    ] {
        let text = diff(scope, names);
        for part in has {
            assert!(text.contains(part), "{scope:?} {names:?}: {part} in {text}");
        }
        for part in has_not.iter().filter(|part| **part != "no") {
            assert!(!text.contains(part), "{scope:?} {names:?}: {part} in {text}");
        }
    }
    let bounded = git::diff(&workspace, DiffScope::All, &[], 150).unwrap();
    assert!(bounded.truncated && bounded.text.len() <= 150 && bounded.text.ends_with('\n'));

    // Before the first commit there is nothing to compare with, and that is a comparison too.
    let fresh = Place::new();
    fresh.git(&["init", "-q", "-b", "main", "."]);
    fresh.file("new.txt", "hello\n");
    fresh.git(&["add", "."]);
    let workspace = fresh.open();
    assert!(
        git::diff(&workspace, DiffScope::All, &[], 1_000)
            .unwrap()
            .text
            .contains("+hello")
    );
    assert_eq!(
        git::head(&workspace).unwrap(),
        git::Head {
            branch: Some("main".to_owned()),
            commit: None
        }
    );
    assert_eq!(entries(&workspace), ["new.txt: staged: added"]);
}

/// A workspace may be a folder of a larger repository: paths start at the workspace, and what lies beside it is
/// not shown.
#[test]
fn a_folder_of_a_repository_sees_only_itself() {
    let place = Place::new();
    place.git(&["init", "-q", "."]);
    place
        .file("packages/web/a.ts", "1\n")
        .file("packages/api/b.ts", "1\n");
    place.git(&["add", "."]);
    place.git(&["commit", "-qm", "1"]);
    place
        .file("packages/web/a.ts", "2\n")
        .file("packages/api/b.ts", "2\n")
        .file("packages/web/new.ts", "");
    let web = Workspace::open(&place.root().join("packages/web"), Breadth::Project).unwrap();
    assert_eq!(entries(&web), ["a.ts: unstaged: modified", "new.ts: untracked"]);
    let diff = git::diff(&web, DiffScope::All, &[], 10_000).unwrap().text;
    assert!(diff.contains("a/a.ts") && !diff.contains("b.ts"), "{diff}");
    assert!(git::is_repository(&web).unwrap());
}

#[test]
fn no_repository_and_no_program_are_told_apart() {
    let place = Place::new();
    let workspace = place.open();
    assert!(!git::is_repository(&workspace).unwrap());
    let error = RuntimeError::from(git::status(&workspace).unwrap_err());
    assert_eq!(error.code, ErrorCode::GitNotARepository);
    // A repository that claims to keep its files elsewhere shows nothing of that place.
    place.git(&["init", "-q", "."]);
    place.git(&["config", "core.worktree", "/usr"]);
    let error = RuntimeError::from(git::diff(&workspace, DiffScope::All, &[], 100).unwrap_err());
    assert_eq!(error.code, ErrorCode::GitFailed, "{error}");
}

#[test]
fn a_sample_repository_is_made_and_committed() {
    let place = Place::new();
    place.file("a.txt", "a\n").file("b/c.txt", "c\n");
    let workspace = place.open();
    git::init(&workspace).unwrap();
    let author = Author {
        name: "Sample",
        email: "sample@example.invalid",
    };
    let commit = git::commit_all(&workspace, author, "First").unwrap();
    assert_eq!(commit, place.git(&["rev-parse", "main"]).trim());
    assert_eq!(
        place.git(&["log", "--format=%an <%ae> %s"]),
        "Sample <sample@example.invalid> First\n"
    );
    assert_eq!(entries(&workspace), Vec::<String>::new());
}

/// P04: looking at a hostile repository runs nothing of it.
#[test]
fn a_repository_cannot_make_us_run_anything() {
    let place = Place::made_by("make-hostile-repo.sh");
    let root = place.root();
    let touch = |mark: &str| format!("sh -c 'touch {}/MARK-{mark}; cat'", root.display());
    let set = |key: &str, value: &str| place.git(&["-c", "core.fsmonitor=false", "config", key, value]);
    // Beyond what the script sets: more ways in which git runs what a configuration names.
    for (key, mark) in [
        ("filter.z.process", "process"),
        ("filter.z.smudge", "smudge"),
        ("filter.dotted.name.clean", "dotted"),
        ("diff.t.textconv", "textconv"),
        ("diff.t.command", "diffcommand"),
        ("core.sshCommand", "ssh"),
        ("core.pager", "pager"),
        ("pager.diff", "pager2"),
        ("credential.helper", "credential"),
        ("remote.origin.uploadpack", "uploadpack"),
    ] {
        set(key, &touch(mark));
    }
    set("filter.z.required", "true");
    set("protocol.ext.allow", "always");
    set(
        "remote.origin.url",
        &format!("ext::touch {}/MARK-ext", root.display()),
    );
    set("remote.origin.promisor", "true");
    set("extensions.partialClone", "origin");
    place
        .file(".gitattributes", "* filter=z\n*.t filter=dotted.name diff=t\n")
        .file("x.t", "x\n")
        .file("late.md", "1\n");
    for hook in [
        "post-index-change",
        "pre-commit",
        "fsmonitor-watchman",
        "reference-transaction",
    ] {
        place.file(
            &format!(".git/hooks/{hook}"),
            format!("#!/bin/sh\ntouch {}/MARK-{hook}\n", root.display()),
        );
        let path = root.join(".git/hooks").join(hook);
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    // Something tracked that differs, so that its content is looked at. Staged with everything switched off.
    let quiet = [
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "filter.z.clean=",
        "-c",
        "filter.z.process=",
        "-c",
        "filter.z.required=false",
        "-c",
        "filter.dotted.name.clean=",
    ];
    let staged = |args: &[&str]| git_in(&root, &[&quiet[..], args].concat());
    staged(&["add", "."]);
    staged(&["commit", "-qm", "1"]);
    place
        .file("README.md", "changed\n")
        .file("x.t", "y\n")
        .file("late.md", "2\n");
    staged(&["add", "late.md"]);
    let marks = || {
        let names = std::fs::read_dir(&root)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("MARK-")).collect::<Vec<_>>()
    };
    assert_eq!(marks(), Vec::<String>::new(), "the test itself ran something");

    let workspace = place.open();
    assert!(git::is_repository(&workspace).unwrap());
    git::head(&workspace).unwrap();
    assert_eq!(
        entries(&workspace),
        [
            "README.md: unstaged: modified",
            "late.md: staged: modified",
            "x.t: unstaged: modified"
        ]
    );
    for scope in [DiffScope::All, DiffScope::Staged, DiffScope::Unstaged] {
        git::diff(&workspace, scope, &[], 10_000).unwrap();
    }
    walk(&workspace, &WalkOptions::default(), &never).unwrap();
    // A missing object would be fetched from the promisor remote.
    let blob = staged(&["rev-parse", "HEAD:late.md"]);
    let (folder, name) = blob.trim().split_at(2);
    std::fs::remove_file(root.join(".git/objects").join(folder).join(name)).unwrap();
    let _ = git::diff(&workspace, DiffScope::All, &[], 10_000);
    assert_eq!(marks(), Vec::<String>::new());

    // The test can fail: git left to itself does run them.
    let plain = std::process::Command::new("git")
        .args(["diff"])
        .current_dir(&root)
        .output()
        .unwrap();
    let _ = plain;
    assert_ne!(marks(), Vec::<String>::new());

    // A filter that cannot be switched off is refused, not run.
    set("filter.a=b.clean", &touch("equals"));
    let error = RuntimeError::from(git::status(&workspace).unwrap_err());
    assert_eq!(error.code, ErrorCode::GitFailed);
    assert!(error.message.contains("a=b"), "{error}");
}

/// W02 and U03: our reads leave the index alone and work while it is locked.
#[test]
fn reads_take_no_lock_and_write_nothing() {
    let place = Place::made_by("make-dirty-repo.sh");
    let workspace = place.open();
    let fingerprint = || {
        let script = fixture("fingerprint.sh");
        let output = std::process::Command::new("sh")
            .arg(script)
            .arg(place.root())
            .output()
            .unwrap();
        let index = std::fs::read(place.root().join(".git/index")).unwrap();
        (String::from_utf8_lossy(&output.stdout).into_owned(), index)
    };
    // Stat data in the index is now out of date, which a plain status would write back.
    let file = std::fs::File::options()
        .append(true)
        .open(place.root().join(".gitignore"))
        .unwrap();
    file.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(5))
        .unwrap();
    let before = fingerprint();
    std::fs::write(place.root().join(".git/index.lock"), "").unwrap();
    git::status(&workspace).unwrap();
    git::diff(&workspace, DiffScope::All, &[], 10_000).unwrap();
    std::fs::remove_file(place.root().join(".git/index.lock")).unwrap();
    git::status(&workspace).unwrap();
    assert_eq!(fingerprint(), before);
    assert!(!place.root().join(".git/index.lock").exists());
}
