use std::sync::atomic::{AtomicUsize, Ordering};

use workspace::{
    Breadth, SkipReason, Workspace, never,
    walk::{Ignored, Walk, WalkOptions, WalkedKind, walk},
};

use crate::support::{Place, paths};

fn walked(workspace: &Workspace, starts: &[&str], ignored: Ignored) -> Walk {
    let options = WalkOptions {
        starts: paths(workspace, starts),
        ignored,
    };
    walk(workspace, &options, &never).unwrap()
}

fn names(walk: &Walk) -> Vec<String> {
    walk.files
        .iter()
        .map(|file| workspace::display_path(&file.path))
        .collect()
}

/// X01: what is left out, why, and what brings it back.
#[test]
fn noise_is_left_out_and_counted() {
    let place = Place::new();
    place
        .file(".git/config", "")
        .file(".git/info/exclude", "private.txt\n")
        .file(
            ".gitignore",
            "*.log\n/only-top.txt\nscripts/*\n!keep.log\n!/vendor-dist/\n",
        )
        .file(".aiignore", "huge/\n!.cache/\n")
        .file(".ignore", "data.csv\n")
        .file("src/.gitignore", "!special.log\nlocal.txt\n")
        .file("a.rs", "")
        .file("a.log", "")
        .file("keep.log", "")
        .file("private.txt", "")
        .file("only-top.txt", "")
        .file("sub/only-top.txt", "")
        .file("data.csv", "")
        .file("src/special.log", "")
        .file("src/local.txt", "")
        .file("src/build/rules.rs", "")
        .file("src/node_modules/x.js", "")
        .file("scripts/w.py", "")
        .file("huge/x", "")
        .file(".cache/kept", "")
        .file(".hidden/file", "")
        .file("node_modules/p/index.js", "")
        .file("target/debug/x", "")
        .file("dist/x.js", "")
        .file("nested/.git/config", "")
        .file("nested/inner.log", "")
        .link("link.rs", "a.rs")
        .link("linked", "src");
    let workspace = place.open();
    let all = walked(&workspace, &[], Ignored::Skip);
    assert_eq!(
        names(&all),
        [
            ".aiignore",
            ".cache/kept",
            ".gitignore",
            ".hidden/file",
            ".ignore",
            "a.rs",
            "keep.log",
            "link.rs",
            "linked",
            "nested/inner.log",
            "src/.gitignore",
            "src/build/rules.rs",
            "src/special.log",
            "sub/only-top.txt",
        ]
    );
    let links = all
        .files
        .iter()
        .filter(|file| file.kind == WalkedKind::Link)
        .count();
    assert_eq!(links, 2);
    let skipped: Vec<_> = all
        .skipped
        .entries
        .iter()
        .map(|entry| (workspace::display_path(&entry.path), entry.reason))
        .collect();
    use SkipReason::*;
    let expected = [
        ("a.log", GitIgnore),
        ("data.csv", IgnoreFile),
        ("dist", Generated),
        ("huge", IgnoreFile),
        ("node_modules", Generated),
        ("only-top.txt", GitIgnore),
        ("private.txt", GitIgnore),
        ("scripts/w.py", GitIgnore),
        ("src/local.txt", GitIgnore),
        ("src/node_modules", Generated),
        ("target", Generated),
    ];
    assert_eq!(skipped, expected.map(|(path, reason)| (path.to_owned(), reason)));
    assert_eq!((all.skipped.files, all.skipped.folders), (6, 5));
    assert_eq!(
        all.skipped.in_words()[0],
        "5 files ignored by git rules (a.log, only-top.txt, private.txt, …)"
    );

    let cases: &[(&[&str], &[&str])] = &[
        (&["scripts"], &["scripts/w.py"]),
        (&["scripts/w.py"], &["scripts/w.py"]),
        (&["node_modules"], &["node_modules/p/index.js"]),
        (&["node_modules/p"], &["node_modules/p/index.js"]),
        (&["a.log"], &["a.log"]),
        (
            &["src"],
            &["src/.gitignore", "src/build/rules.rs", "src/special.log"],
        ),
        (&["sub", "a.rs", "sub"], &["a.rs", "sub/only-top.txt"]),
        (&[".hidden", "huge"], &[".hidden/file", "huge/x"]),
    ];
    for (starts, expected) in cases {
        assert_eq!(
            &names(&walked(&workspace, starts, Ignored::Skip)),
            expected,
            "{starts:?}"
        );
    }
    let everything = walked(&workspace, &[], Ignored::Include);
    assert_eq!(everything.files.len(), all.files.len() + 11);
    assert!(everything.skipped.is_empty());
    assert!(names(&everything).iter().all(|path| !path.contains(".git/")));
}

/// What git itself would list is what we list, for rules that are easily got wrong.
#[test]
fn ignore_rules_agree_with_git() {
    let place = Place::new();
    place.git(&["init", "-q", "."]);
    let rules = "# comment\n\\#hash\n*.tmp\n!important.tmp\n/top\ndeep/**/leaf\nonly-folder/\n\
                 a?c\n[xy].txt\nspace\\ \ntrailing   \nfoo/*\n!foo/bar\n**/any\n";
    place
        .file(".gitignore", rules)
        .file("sub/.gitignore", "!b.tmp\n/rooted\n");
    for path in [
        "#hash",
        "# comment",
        "a.tmp",
        "important.tmp",
        "sub/b.tmp",
        "sub/c.tmp",
        "top/x",
        "sub/top/x",
        "deep/leaf",
        "deep/1/2/leaf",
        "deep/1/2/leaves",
        "only-folder/x",
        "sub/only-folder",
        "abc",
        "abbc",
        "x.txt",
        "z.txt",
        "space ",
        "space",
        "trailing",
        "foo/bar/x",
        "foo/baz/x",
        "q/any/x",
        "sub/rooted/x",
        "sub/sub/rooted",
        "ünï.tmp",
        "ünï.rs",
        "sub/deep/leaf",
    ] {
        place.file(path, "");
    }
    let workspace = place.open();
    let listed = place.git(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let mut expected: Vec<&str> = listed.split_terminator('\0').collect();
    expected.sort_unstable();
    let mut got = names(&walked(&workspace, &[], Ignored::Skip));
    got.sort_unstable();
    assert_eq!(got, expected);

    // A folder of the repository is ruled by the rules above it, unless those ignore the folder itself.
    let sub = Workspace::open(&place.root().join("sub"), Breadth::Project).unwrap();
    let expected: Vec<&str> = expected
        .iter()
        .filter_map(|path| path.strip_prefix("sub/"))
        .collect();
    let mut got = names(&walked(&sub, &[], Ignored::Skip));
    got.sort_unstable();
    assert_eq!(got, expected);
    let ignored = Workspace::open(&place.root().join("foo/baz"), Breadth::Project).unwrap();
    assert_eq!(names(&walked(&ignored, &[], Ignored::Skip)), ["x"]);
}

#[test]
fn a_walk_of_many_files_is_complete_and_can_be_stopped() {
    let place = Place::new();
    for n in 0..3_000 {
        place.file(&format!("d{}/e{}/f{n}", n % 7, n % 11), "");
    }
    for n in 0..1_000 {
        place.file(&format!("flat/f{n}"), "");
    }
    let workspace = place.open();
    let all = walked(&workspace, &[], Ignored::Skip);
    assert_eq!((all.files.len(), all.stopped), (4_000, false));
    assert!(all.files.windows(2).all(|pair| pair[0] < pair[1]));
    let asked = AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) > 100;
    let stopped = walk(&workspace, &WalkOptions::default(), &stop).unwrap();
    assert!(stopped.stopped);
    assert!(stopped.files.len() < 1_000, "{}", stopped.files.len());
}

/// A folder of source may have the name of a folder of output. Git knows which it is.
#[test]
fn a_tracked_folder_is_source_whatever_its_name() {
    for version in ["2", "3", "4"] {
        let place = Place::new();
        place.git(&["init", "-q", "."]);
        place
            .file("build/rules.mk", "")
            .file("web/dist/kept.js", "")
            .file("web/out/x", "")
            .file("a/very/long/path/that/shares/its/start/target/one.rs", "")
            .file("a/very/long/path/that/shares/its/start/target/two.rs", "")
            .file("node_modules/x.js", "");
        place.git(&["add", "."]);
        place.git(&["rm", "-q", "--cached", "-r", "web/out"]);
        if version == "3" {
            place.file("later.txt", "");
            place.git(&["add", "--intent-to-add", "later.txt"]);
            std::fs::remove_file(place.root().join("later.txt")).unwrap();
        }
        place.git(&["update-index", "--index-version", version]);
        let index = std::fs::read(place.root().join(".git/index")).unwrap();
        assert_eq!(index[7].to_string(), version);
        let expected = [
            "a/very/long/path/that/shares/its/start/target/one.rs",
            "a/very/long/path/that/shares/its/start/target/two.rs",
            "build/rules.mk",
            "web/dist/kept.js",
        ];
        assert_eq!(
            names(&walked(&place.open(), &[], Ignored::Skip)),
            expected,
            "index version {version}"
        );
        let web = Workspace::open(&place.root().join("web"), Breadth::Project).unwrap();
        assert_eq!(
            names(&walked(&web, &[], Ignored::Skip)),
            ["dist/kept.js"],
            "index version {version}"
        );
        // A damaged index costs the knowledge, not the walk.
        std::fs::write(place.root().join(".git/index"), &index[..index.len() / 2]).unwrap();
        assert_eq!(
            names(&walked(&place.open(), &[], Ignored::Skip)),
            Vec::<String>::new()
        );
    }
}
