use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};

use protocol::{ErrorCode, RuntimeError};
use workspace::{Breadth, LineRange, Overlay, ReadLimits, Workspace, list, read_text};

use crate::support::Place;

/// P03: the resolved place decides, whatever way leads there.
#[test]
fn no_path_leads_out() {
    let place = Place::new();
    let outside = place.dir.path().join("outside");
    std::fs::create_dir_all(outside.join("sub")).unwrap();
    std::fs::write(outside.join("secret.txt"), "secret").unwrap();
    let evil = place.dir.path().join("ws-evil");
    std::fs::create_dir(&evil).unwrap();
    std::fs::write(evil.join("x"), "x").unwrap();
    place
        .file("a/b/file.txt", "x")
        .file(".git/config", "x")
        .file("bare/HEAD", "x")
        .file("bare/objects/x", "x")
        .file("bare/refs/x", "x")
        .file("bare/hooks/post-commit", "x")
        .file("odd\u{FFFD}name", "x")
        .link("in", "../outside/secret.txt")
        .link("dir", "../outside")
        .link("deep", "a/b")
        .link("deep-out", "deep/../../../outside/sub")
        .link("back", "../ws/a")
        .link("absolute", place.root().join("a/b/file.txt"))
        .link("dangling", "../outside/not-yet")
        .link("dangling-inside", "a/not-yet")
        .link("loop", "loop")
        .link("loop-a", "loop-b")
        .link("loop-b", "loop-a")
        .link("git", ".git");
    std::fs::write(place.root().join(OsStr::from_bytes(b"caf\xE9")), "x").unwrap();
    let workspace = place.open();
    let root = workspace.root().to_str().unwrap().to_owned();
    let inside_absolute = format!("{root}/a/b/file.txt");
    let evil_absolute = format!("{root}-evil/x");
    let cases: &[(&str, Result<&str, ErrorCode>)] = &[
        ("a/b/file.txt", Ok("a/b/file.txt")),
        ("./a/./b//file.txt", Ok("a/b/file.txt")),
        ("a/b/../b/file.txt", Ok("a/b/file.txt")),
        (".", Ok(".")),
        ("a/", Ok("a")),
        ("a/..", Ok(".")),
        ("../ws/a", Ok("a")),
        ("deep/file.txt", Ok("a/b/file.txt")),
        ("deep/..", Ok("a")),
        ("deep/../..", Ok(".")),
        ("back/b/file.txt", Ok("a/b/file.txt")),
        ("absolute", Ok("a/b/file.txt")),
        (&inside_absolute, Ok("a/b/file.txt")),
        ("new.txt", Ok("new.txt")),
        ("no/such/parents/new.txt", Ok("no/such/parents/new.txt")),
        ("no/such/../new.txt", Ok("no/new.txt")),
        ("deep/new.txt", Ok("a/b/new.txt")),
        ("dangling-inside", Ok("a/not-yet")),
        ("new-folder/", Ok("new-folder")),
        ("odd\u{FFFD}name", Ok("odd\u{FFFD}name")),
        ("caf\u{FFFD}", Ok("caf\u{FFFD}")),
        ("~/x", Ok("~/x")),
        ("in", Err(ErrorCode::PathOutside)),
        ("dir", Err(ErrorCode::PathOutside)),
        ("dir/secret.txt", Err(ErrorCode::PathOutside)),
        ("dir/not-yet", Err(ErrorCode::PathOutside)),
        ("dir/sub/../../ws-evil/x", Err(ErrorCode::PathOutside)),
        ("deep-out", Err(ErrorCode::PathOutside)),
        ("deep/../../../outside/secret.txt", Err(ErrorCode::PathOutside)),
        ("dangling", Err(ErrorCode::PathOutside)),
        ("..", Err(ErrorCode::PathOutside)),
        ("../outside/secret.txt", Err(ErrorCode::PathOutside)),
        ("no/../../outside/x", Err(ErrorCode::PathOutside)),
        ("../ws-evil/x", Err(ErrorCode::PathOutside)),
        (&evil_absolute, Err(ErrorCode::PathOutside)),
        ("/etc/passwd", Err(ErrorCode::PathOutside)),
        ("/", Err(ErrorCode::PathOutside)),
        ("/proc/self/root/etc/passwd", Err(ErrorCode::PathOutside)),
        ("loop", Err(ErrorCode::FileIo)),
        ("loop-a/x", Err(ErrorCode::FileIo)),
        ("a/b/file.txt/", Err(ErrorCode::PathNotADirectory)),
        ("a/b/file.txt/x", Err(ErrorCode::PathNotADirectory)),
        ("a/b/file.txt/..", Err(ErrorCode::PathNotADirectory)),
        ("", Err(ErrorCode::ToolArguments)),
        ("a\0b", Err(ErrorCode::ToolArguments)),
    ];
    for (asked, expected) in cases {
        let resolved = workspace.resolve(asked);
        if let Ok(path) = &resolved {
            assert!(path.absolute().starts_with(workspace.root()), "{asked}");
        }
        let result = resolved
            .map(|path| path.display())
            .map_err(|error| RuntimeError::from(error).code);
        assert_eq!(result, expected.map(str::to_owned), "{asked}");
    }
    let latin = workspace.resolve(OsStr::from_bytes(b"caf\xE9")).unwrap();
    assert_eq!(latin.relative(), Path::new(OsStr::from_bytes(b"caf\xE9")));
    assert_eq!(workspace.resolve("caf\u{FFFD}").unwrap(), latin);
    // The refusal names the real place, so that a person can decide about it.
    let error = RuntimeError::from(workspace.resolve("dir/secret.txt").unwrap_err());
    assert!(
        error.message.contains(
            outside
                .canonicalize()
                .unwrap()
                .join("secret.txt")
                .to_str()
                .unwrap()
        )
    );

    for (path, protected) in [
        (".git", true),
        (".git/hooks/pre-commit", true),
        ("git/config", true),
        ("a/.git", true),
        ("a/b/.GIT/config", true),
        ("bare/hooks/post-commit", true),
        ("bare/config", true),
        (".gitignore", false),
        ("a/git/config", false),
        ("a/b/file.txt", false),
    ] {
        assert_eq!(
            workspace.resolve(path).unwrap().is_protected(),
            protected,
            "{path}"
        );
    }
}

/// The check and the use are two moments: what was swapped for a link in between is not followed.
#[test]
fn a_path_swapped_for_a_link_is_not_followed() {
    let place = Place::new();
    let outside = place.dir.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("file"), "secret").unwrap();
    place.file("folder/file", "mine").file("plain", "mine");
    let workspace = place.open();
    let in_folder = workspace.resolve("folder/file").unwrap();
    let folder = workspace.resolve("folder").unwrap();
    let plain = workspace.resolve("plain").unwrap();
    std::fs::remove_dir_all(place.root().join("folder")).unwrap();
    std::fs::remove_file(place.root().join("plain")).unwrap();
    place.link("folder", &outside).link("plain", outside.join("file"));
    for path in [&in_folder, &plain] {
        let result = read_text(path, &Overlay::default(), LineRange::ALL, ReadLimits::default());
        assert!(result.is_err(), "{path}: {result:?}");
    }
    assert!(list::list(&workspace, &folder, &Overlay::default(), 10).is_err());
}

#[test]
fn only_a_project_folder_opens() {
    let place = Place::new();
    place.file("file", "x");
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
    let mut cases = vec![
        (place.root().join("missing"), ErrorCode::WorkspaceNotFound),
        (place.root().join("file"), ErrorCode::WorkspaceNotADirectory),
        ("/".into(), ErrorCode::WorkspaceTooWide),
    ];
    cases.extend(
        home.filter(|home| home.is_dir())
            .map(|home| (home, ErrorCode::WorkspaceTooWide)),
    );
    for (dir, code) in cases {
        let error = Workspace::open(&dir, Breadth::Project)
            .map_err(RuntimeError::from)
            .unwrap_err();
        assert_eq!(error.code, code, "{dir:?}");
        assert!(error.user_action.is_some(), "{dir:?}");
    }
    assert!(Workspace::open(Path::new("/"), Breadth::Any).is_ok());
    place.link("self", ".");
    let through_link = Workspace::open(&place.root().join("self"), Breadth::Project).unwrap();
    assert_eq!(through_link.root(), place.root());
}
