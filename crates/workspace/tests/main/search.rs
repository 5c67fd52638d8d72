use std::time::{Duration, Instant};

use protocol::{ErrorCode, RuntimeError};
use workspace::{
    Overlay, Workspace, never,
    search::{Case, ContentMatches, ContentQuery, EndedEarly, SearchLimits, Syntax, content},
    walk::Ignored,
};

use crate::support::{Place, draft, paths};

fn query(pattern: &str) -> ContentQuery {
    ContentQuery {
        pattern: pattern.to_owned(),
        ..ContentQuery::default()
    }
}

fn run(workspace: &Workspace, query: &ContentQuery) -> ContentMatches {
    content(workspace, &Overlay::default(), query, &never).unwrap()
}

fn places(matches: &ContentMatches) -> Vec<String> {
    matches
        .hits
        .iter()
        .map(|hit| {
            format!(
                "{}:{}:{}: {}",
                workspace::display_path(&hit.path),
                hit.line,
                hit.column,
                hit.text
            )
        })
        .collect()
}

/// X01: neither blind nor flooded.
#[test]
fn a_search_says_what_it_left_out() {
    let place = Place::new();
    let bundle = format!("{}needle{}\n", "a=1;".repeat(25_000), "b=2;".repeat(25_000));
    place
        .file(".gitignore", "scripts/*\n")
        .file("scripts/w.py", "needle in the script\n")
        .file("node_modules/p/i.js", "needle\n")
        .file("one-line.min.js", bundle)
        .file("src/a.rs", "let needle = 1;\n")
        .file("image.bin", b"needle\n\0\x01")
        .file(
            "late.bin",
            [b"needle\n".as_slice(), &b"x\n".repeat(100_000), b"\0"].concat(),
        );
    let workspace = place.open();
    let found = run(&workspace, &query("needle"));
    let paths_found: Vec<_> = found
        .hits
        .iter()
        .map(|hit| workspace::display_path(&hit.path))
        .collect();
    assert_eq!(paths_found, ["one-line.min.js", "src/a.rs"]);
    let bundle_hit = &found.hits[0];
    assert!(bundle_hit.text.chars().count() <= 302 && bundle_hit.text.contains("needle"));
    assert!(bundle_hit.text.starts_with('…') && bundle_hit.text.ends_with('…'));
    assert_eq!((bundle_hit.line, bundle_hit.column), (1, 100_001));
    assert_eq!(
        (found.files_searched, found.files_with_hits, found.binary_files),
        (3, 2, 2)
    );
    let notes = found.notes().join("\n");
    for part in [
        "Searched 3 files",
        "scripts/w.py",
        "node_modules/",
        "name it as the path",
        "2 binary files",
    ] {
        assert!(notes.contains(part), "{part} in {notes}");
    }
    let named = |names: &[&str]| ContentQuery {
        paths: paths(&workspace, names),
        ..query("needle")
    };
    for (names, expected) in [
        (&["scripts"][..], "scripts/w.py:1:1: needle in the script"),
        (&["scripts/w.py"], "scripts/w.py:1:1: needle in the script"),
        (&["node_modules"], "node_modules/p/i.js:1:1: needle"),
    ] {
        assert_eq!(places(&run(&workspace, &named(names))), [expected], "{names:?}");
    }
    let everything = ContentQuery {
        ignored: Ignored::Include,
        ..query("needle")
    };
    assert_eq!(run(&workspace, &everything).files_with_hits, 4);
}

#[test]
fn patterns_mean_what_they_should() {
    let place = Place::new();
    place
        .file("a.txt", "Foo(bar)\r\nfoo.bar\r\nnaïve café\r\nend")
        .file("latin.txt", b"caf\xE9 latin\n")
        .file("utf16.txt", b"\xFF\xFEf\0o\0o\0\n\0")
        .file("b/c.md", "foo\n");
    let workspace = place.open();
    let base = ContentQuery::default();
    let literal = |pattern: &str| query(pattern);
    let regex = |pattern: &str| ContentQuery {
        syntax: Syntax::Regex,
        ..query(pattern)
    };
    for (query, expected) in [
        (literal("Foo(bar)"), &["a.txt:1:1: Foo(bar)"][..]),
        (literal("foo.bar"), &["a.txt:2:1: foo.bar"]),
        (literal("o.b"), &["a.txt:2:3: foo.bar"]),
        (literal("café"), &["a.txt:3:7: naïve café"]),
        (literal("latin"), &["latin.txt:1:6: café latin"]),
        (regex(r"^foo.bar$"), &["a.txt:2:1: foo.bar"]),
        (regex(r"end$"), &["a.txt:4:1: end"]),
        (regex(r"\bo"), &[]),
        (
            ContentQuery {
                case: Case::Insensitive,
                ..literal("FOO.")
            },
            &["a.txt:2:1: foo.bar"],
        ),
        (
            ContentQuery {
                case: Case::Smart,
                ..regex("foo.bar")
            },
            &["a.txt:1:1: Foo(bar)", "a.txt:2:1: foo.bar"],
        ),
        (
            ContentQuery {
                case: Case::Smart,
                ..regex("Foo.bar")
            },
            &["a.txt:1:1: Foo(bar)"],
        ),
        (
            literal("foo"),
            &["a.txt:2:1: foo.bar", "b/c.md:1:1: foo", "utf16.txt:1:1: foo"],
        ),
        (
            ContentQuery {
                globs: vec!["*.md".to_owned()],
                ..literal("foo")
            },
            &["b/c.md:1:1: foo"],
        ),
        (
            ContentQuery {
                globs: vec!["b/**".to_owned()],
                ..literal("foo")
            },
            &["b/c.md:1:1: foo"],
        ),
        (
            ContentQuery {
                paths: paths(&workspace, &["b", "b/c.md"]),
                ..literal("foo")
            },
            &["b/c.md:1:1: foo"],
        ),
    ] {
        assert_eq!(places(&run(&workspace, &query)), expected, "{query:?}");
    }
    for (query, code) in [
        (base.clone(), ErrorCode::SearchPattern),
        (regex("("), ErrorCode::SearchPattern),
        (regex(r"a\nb"), ErrorCode::SearchPattern),
        (literal("a\nb"), ErrorCode::SearchPattern),
        (
            ContentQuery {
                globs: vec!["[".to_owned()],
                ..literal("x")
            },
            ErrorCode::SearchPattern,
        ),
        (
            ContentQuery {
                paths: paths(&workspace, &["missing"]),
                ..literal("x")
            },
            ErrorCode::PathNotFound,
        ),
    ] {
        let error = content(&workspace, &Overlay::default(), &query, &never).unwrap_err();
        let error = RuntimeError::from(error);
        assert_eq!(error.code, code, "{query:?}: {error}");
        assert!(error.user_action.is_some(), "{query:?}");
    }
}

#[test]
fn searches_see_the_draft() {
    let place = Place::new();
    place
        .file("a.txt", "disk word\n")
        .file("b.txt", "disk word\n")
        .file("c.txt", "word\n");
    let workspace = place.open();
    let overlay = draft(&[
        ("a.txt", Some("draft word\n")),
        ("b.txt", None),
        ("new/d.txt", Some("new word\n")),
    ]);
    let search = |names: &[&str]| {
        let query = ContentQuery {
            paths: paths(&workspace, names),
            ..query("word")
        };
        places(&content(&workspace, &overlay, &query, &never).unwrap())
    };
    assert_eq!(
        search(&[]),
        [
            "a.txt:1:7: draft word",
            "c.txt:1:1: word",
            "new/d.txt:1:5: new word"
        ]
    );
    assert_eq!(search(&["new"]), ["new/d.txt:1:5: new word"]);
    assert_eq!(
        search(&["new/d.txt", "c.txt"]),
        ["c.txt:1:1: word", "new/d.txt:1:5: new word"]
    );
    assert_eq!(search(&["b.txt"]), Vec::<String>::new());
}

#[test]
fn results_are_bounded_in_number_and_time() {
    let place = Place::new();
    for n in 0..20 {
        place.file(&format!("f{n:02}.txt"), "word\n".repeat(100));
    }
    let workspace = place.open();
    let found = run(&workspace, &query("word"));
    assert_eq!(
        (found.hits.len(), found.hits_left_out, found.ended_early),
        (200, 1_800, None)
    );
    assert_eq!(found.hits[199].path, std::path::Path::new("f03.txt"));
    assert!(
        found
            .notes()
            .iter()
            .any(|note| note.contains("1800 more matching lines"))
    );

    let few = ContentQuery {
        limits: SearchLimits {
            max_hits: 3,
            ..SearchLimits::default()
        },
        ..query("word")
    };
    let found = run(&workspace, &few);
    assert_eq!(
        (found.hits.len(), found.ended_early),
        (3, Some(EndedEarly::TooManyHits))
    );

    // One file that would take far longer than is allowed.
    let file = std::fs::File::create(place.root().join("huge.txt")).unwrap();
    std::io::Write::write_all(&mut &file, &b"x".repeat(9_000)).unwrap();
    for _ in 0..60 {
        std::io::Write::write_all(&mut &file, &b"some text\n".repeat(100_000)).unwrap();
    }
    let hurried = ContentQuery {
        limits: SearchLimits {
            max_time: Duration::ZERO,
            ..SearchLimits::default()
        },
        ..query("nowhere")
    };
    let started = Instant::now();
    assert_eq!(run(&workspace, &hurried).ended_early, Some(EndedEarly::Time));
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    let stopped = content(&workspace, &Overlay::default(), &query("word"), &|| true).unwrap();
    assert_eq!(stopped.ended_early, Some(EndedEarly::Stopped));
}
