use workspace::{files, never, search::SearchError, walk::WalkOptions};

use crate::support::{Place, draft, paths, shown};

#[test]
fn globs_find_files_as_the_draft_leaves_them() {
    let place = Place::new();
    place
        .file("main.rs", "")
        .file("src/lib.rs", "")
        .file("src/deep/er/mod.rs", "")
        .file("src/page.tsx", "")
        .file("gone.rs", "")
        .file("target/x.rs", "");
    let workspace = place.open();
    let overlay = draft(&[
        ("gone.rs", None),
        ("src/new.rs", Some("")),
        ("main.rs", Some("changed")),
    ]);
    let options = WalkOptions::default();
    let find = |globs: &[&str], options: &WalkOptions, max| {
        let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
        files::matching(&workspace, &overlay, &globs, options, max, &never)
    };
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["*.rs"],
            &["main.rs", "src/lib.rs", "src/new.rs", "src/deep/er/mod.rs"],
        ),
        (&["src/*.rs"], &["src/lib.rs", "src/new.rs"]),
        (
            &["./src/**/*.rs"],
            &["src/lib.rs", "src/new.rs", "src/deep/er/mod.rs"],
        ),
        (&["*.{ts,tsx}"], &["src/page.tsx"]),
        (&["src/deep/"], &["src/deep/er/mod.rs"]),
        (&["main.rs", "*.tsx"], &["main.rs", "src/page.tsx"]),
        (&["*.py"], &[]),
    ];
    for (globs, expected) in cases {
        let found = find(globs, &options, 100).unwrap();
        assert_eq!(shown(&found.paths), *expected, "{globs:?}");
        assert_eq!(found.skipped.folders, 1);
    }
    let bounded = find(&["*.rs"], &options, 1).unwrap();
    assert_eq!(
        (shown(&bounded.paths), bounded.omitted),
        (vec!["main.rs".to_owned()], 3)
    );
    let below = WalkOptions {
        starts: paths(&workspace, &["src"]),
        ..options.clone()
    };
    assert_eq!(find(&["*.rs"], &below, 100).unwrap().paths.len(), 3);
    assert!(matches!(
        find(&["src/[x"], &options, 1),
        Err(SearchError::Glob { .. })
    ));
}
