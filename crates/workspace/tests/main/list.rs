use protocol::{ErrorCode, RuntimeError};
use workspace::{
    Overlay, SkipReason, Workspace,
    list::{DraftMark, EntryKind, Listing, list},
};

use crate::support::{Place, draft};

fn labels(listing: &Listing) -> Vec<String> {
    let mark = |draft| match draft {
        Some(DraftMark::Created) => " +",
        Some(DraftMark::Changed) => " ~",
        None => "",
    };
    let label = |entry: &workspace::list::Entry| {
        let ignored = if entry.ignored.is_some() { " ignored" } else { "" };
        format!("{}{}{ignored}", entry.label(), mark(entry.draft))
    };
    listing.entries.iter().map(label).collect()
}

fn listed(workspace: &Workspace, path: &str, overlay: &Overlay) -> Listing {
    list(workspace, &workspace.resolve(path).unwrap(), overlay, 100).unwrap()
}

#[test]
fn a_listing_shows_what_there_is_and_the_draft() {
    let place = Place::new();
    place
        .file(".git/HEAD", "")
        .file(".gitignore", "*.log\nscripts/*\n")
        .file("src/lib.rs", "12345")
        .file("scripts/w.py", "")
        .file("node_modules/x.js", "")
        .file("b.txt", "")
        .file("a.txt", "")
        .file("run.log", "")
        .link("in", "src")
        .link("out", "../outside")
        .link("gone", "nothing");
    rustix::fs::mkfifoat(rustix::fs::CWD, place.root().join("pipe"), rustix::fs::Mode::RUSR).unwrap();
    let workspace = place.open();
    let none = Overlay::default();
    let plain = listed(&workspace, ".", &none);
    assert_eq!(
        labels(&plain),
        [
            "node_modules/ ignored",
            "scripts/",
            "src/",
            ".gitignore",
            "a.txt",
            "b.txt",
            "gone -> nothing (missing)",
            "in -> src",
            "out -> ../outside (outside the workspace)",
            "pipe (not a regular file)",
            "run.log ignored",
        ]
    );
    assert_eq!(listed(&workspace, "src", &none).entries[0].size, Some(5));
    assert_eq!(
        listed(&workspace, "scripts", &none).entries[0].ignored,
        Some(SkipReason::GitIgnore)
    );
    assert_eq!(
        listed(&workspace, "node_modules", &none).entries[0].ignored,
        Some(SkipReason::Generated)
    );
    assert_eq!(
        listed(&workspace, "in", &none).entries[0].path,
        std::path::Path::new("src/lib.rs")
    );

    let overlay = draft(&[
        ("a.txt", None),
        ("b.txt", Some("changed")),
        ("new.txt", Some("")),
        ("made/deep/file", Some("")),
        ("src/lib.rs", None),
    ]);
    let drafted = listed(&workspace, ".", &overlay);
    let shown = labels(&drafted);
    for expected in ["b.txt ~", "new.txt +", "made/ +", "src/"] {
        assert!(shown.contains(&expected.to_owned()), "{expected} in {shown:?}");
    }
    assert!(!shown.contains(&"a.txt".to_owned()));
    assert_eq!(drafted.deleted_in_draft, ["a.txt"]);
    assert_eq!(labels(&listed(&workspace, "made", &overlay)), ["deep/ +"]);
    assert_eq!(listed(&workspace, "src", &overlay).entries, []);

    let bounded = list(&workspace, &workspace.top(), &none, 2).unwrap();
    assert_eq!((bounded.entries.len(), bounded.omitted), (2, 9));
    assert!(
        bounded
            .entries
            .iter()
            .all(|entry| entry.kind == EntryKind::Directory)
    );

    for (path, code, action) in [
        ("sr", ErrorCode::PathNotFound, "Did you mean src?"),
        ("a.txt", ErrorCode::PathNotADirectory, "Read it"),
    ] {
        let error = list(&workspace, &workspace.resolve(path).unwrap(), &none, 10).unwrap_err();
        let error = RuntimeError::from(error);
        assert_eq!(error.code, code, "{path}");
        assert!(error.user_action.unwrap().contains(action), "{path}");
    }
}
