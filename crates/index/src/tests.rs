use std::path::PathBuf;

use workspace::{Breadth, Overlay, OverlayEntry, Workspace};

use super::*;

fn index(paths: &[&str]) -> PathIndex {
    PathIndex::build(FileList {
        paths: paths.iter().map(PathBuf::from).collect(),
        ..FileList::default()
    })
}

fn found(index: &PathIndex, query: &str) -> Vec<String> {
    let hits = index.find(query, 5);
    hits.iter()
        .map(|hit| workspace::display_path(&hit.path))
        .collect()
}

/// What a person would expect to be on top.
#[test]
fn the_expected_file_comes_first() {
    let index = index(&[
        "README.md",
        "Cargo.toml",
        "crates/app/Cargo.toml",
        "src/app.rs",
        "src/app/mod.rs",
        "src/application_settings.rs",
        "src/snapshot_apply.rs",
        "src/components/UserProfileCard.tsx",
        "src/components/user_list.tsx",
        "src/utils/super_fast_cache.ts",
        "tests/app_test.rs",
        "docs/apps/readme.txt",
        "docs/größe.md",
    ]);
    for (query, expected) in [
        ("app.rs", "src/app.rs"),
        ("app", "src/app.rs"),
        ("appset", "src/application_settings.rs"),
        ("upc", "src/components/UserProfileCard.tsx"),
        ("userprofile", "src/components/UserProfileCard.tsx"),
        ("sfc", "src/utils/super_fast_cache.ts"),
        ("cargo", "Cargo.toml"),
        ("app cargo", "crates/app/Cargo.toml"),
        ("app/mod", "src/app/mod.rs"),
        ("readme", "README.md"),
        ("test app", "tests/app_test.rs"),
        ("GRÖSSE", ""),
        ("größe", "docs/größe.md"),
        ("UPC", "src/components/UserProfileCard.tsx"),
        ("UserList", ""),
        ("./src/app.rs", "src/app.rs"),
        ("zzz", ""),
    ] {
        let first = found(&index, query).into_iter().next().unwrap_or_default();
        assert_eq!(first, expected, "{query}");
    }
    assert_eq!(found(&index, "")[..2], ["README.md", "Cargo.toml"]);
    assert_eq!(index.find("app", 2).len(), 2);
    assert_eq!(index.find("app", 0), []);
}

/// The marked letters spell the query.
#[test]
fn positions_spell_the_query() {
    let index = index(&[
        "src/components/UserProfileCard.tsx",
        "a/b/abc_abd.rs",
        "größe/ärger.md",
    ]);
    for query in [
        "upc",
        "ucard",
        "srctsx",
        "abd",
        "abrs",
        "ab ab",
        "ößär",
        "profile user",
    ] {
        let hits = index.find(query, 1);
        let hit = hits.first().unwrap_or_else(|| panic!("{query}"));
        let shown: Vec<char> = workspace::display_path(&hit.path).chars().collect();
        assert!(hit.positions.windows(2).all(|pair| pair[0] < pair[1]), "{query}");
        let mut spelt: Vec<char> = hit
            .positions
            .iter()
            .map(|at| shown[*at as usize].to_ascii_lowercase())
            .collect();
        let mut typed: Vec<char> = query.chars().filter(|c| *c != ' ').collect();
        if query.contains(' ') {
            // Words may stand in any order, and share letters.
            for letters in [&mut spelt, &mut typed] {
                letters.sort_unstable();
                letters.dedup();
            }
        }
        assert_eq!(spelt, typed, "{query}");
    }
    let hits = index.find("upc", 1);
    assert_eq!(hits[0].positions, [15, 19, 26]);
}

/// The table-driven score is the best over all ways to place the letters.
#[test]
fn the_best_placement_counts() {
    let narrow = index(&["xaxxbab", "ab"]);
    assert_eq!(found(&narrow, "ab")[0], "ab");
    let index = index(&["a_xxxxxxxx_ab_cd/abxcd"]);
    assert_eq!(index.find("abcd", 1)[0].positions, [17, 18, 20, 21]);
}

#[test]
fn the_index_sees_the_draft() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("kept.rs"), "").unwrap();
    std::fs::write(dir.path().join("gone.rs"), "").unwrap();
    std::fs::create_dir(dir.path().join("node_modules")).unwrap();
    std::fs::write(dir.path().join("node_modules/kept.rs"), "").unwrap();
    let workspace = Workspace::open(dir.path(), Breadth::Project).unwrap();
    let mut overlay = Overlay::default();
    overlay.entries.insert("gone.rs".into(), OverlayEntry::Deleted);
    let new = OverlayEntry::Content {
        bytes: b"".as_slice().into(),
        mode: 0o644,
    };
    overlay.entries.insert("new/made.rs".into(), new);
    let index = PathIndex::of_workspace(&workspace, &overlay, &workspace::never).unwrap();
    assert_eq!(found(&index, "rs"), ["kept.rs", "new/made.rs"]);
    assert_eq!(index.skipped().folders, 1);
}

/// A whole repository's paths are searched at every keystroke. The bound is wide: test builds are slow.
#[test]
fn fifty_thousand_paths_are_quick() {
    let paths: Vec<String> = (0..50_000u32)
        .map(|n| format!("packages/{}/src/module_{}/component_{n}.ts", n % 50, n % 400))
        .collect();
    let borrowed: Vec<&str> = paths.iter().map(String::as_str).collect();
    let index = index(&borrowed);
    let started = std::time::Instant::now();
    let hits = index.find("component49999", 10);
    assert_eq!(hits[0].path, PathBuf::from(&paths[49_999]));
    assert!(
        started.elapsed() < std::time::Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
}
