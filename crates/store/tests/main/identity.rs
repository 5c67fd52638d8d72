use std::{fs, os::unix::fs::PermissionsExt, path::Path, time::Duration};

use protocol::{ErrorCode, RuntimeError};
use store::{DataHome, OpenError, Store};

use crate::support::*;

#[test]
fn workspace_is_found_through_links_and_after_a_rename_but_a_copy_is_another() {
    let place = Place::new();
    let store = place.open();
    let context = store.context_id().clone();
    append(&store, created("kept"));
    drop(store);

    std::os::unix::fs::symlink(&place.root, place.path("link")).unwrap();
    assert_eq!(open(&place.home, &place.path("link")).0.context_id(), &context);

    let copy = place.path("copy");
    fs::create_dir(&copy).unwrap();
    assert_ne!(open(&place.home, &copy).0.context_id(), &context);

    let renamed = place.path("renamed");
    fs::rename(&place.root, &renamed).unwrap();
    let (store, notes) = open(&place.home, &renamed);
    assert_eq!(store.context_id(), &context);
    assert_eq!(sequence(&store), [1]);
    assert!(notes.iter().any(|note| note.contains("project")), "{notes:?}");
    drop(store);
    assert_eq!(open(&place.home, &renamed).1, Vec::<String>::new());

    // A new folder under the old name is a new workspace, with a folder of its own.
    fs::create_dir(&place.root).unwrap();
    let store = place.open();
    assert_ne!(store.context_id(), &context);
    drop(store);
    assert_eq!(open(&place.home, &renamed).0.context_id(), &context);
    let roots: Vec<_> = place
        .home
        .workspaces()
        .unwrap()
        .into_iter()
        .map(|entry| entry.root)
        .collect();
    assert_eq!(roots.len(), 3, "{roots:?}");
}

#[test]
fn workspace_that_was_renamed_and_replaced_is_found_by_its_inode() {
    let place = Place::new();
    let context = place.open().context_id().clone();
    let renamed = place.path("renamed");
    fs::rename(&place.root, &renamed).unwrap();
    fs::create_dir(&place.root).unwrap();
    assert_eq!(open(&place.home, &renamed).0.context_id(), &context);
    assert_ne!(place.open().context_id(), &context);
}

#[test]
fn lost_identity_file_is_made_again_from_the_database() {
    for (name, damage) in [
        ("missing", (|path| fs::remove_file(path).unwrap()) as fn(&Path)),
        ("cut", |path| fs::write(path, "{\"contextId\":").unwrap()),
        ("empty", |path| fs::write(path, "").unwrap()),
    ] {
        let place = Place::new();
        let store = place.open();
        let context = store.context_id().clone();
        let file = store.data_folder().join("workspace.json");
        append(&store, created("kept"));
        drop(store);
        let original = fs::read(&file).unwrap();
        damage(&file);
        // Also when the folder's name no longer says whose it is.
        let renamed = place.path("renamed");
        fs::rename(&place.root, &renamed).unwrap();
        assert_eq!(open(&place.home, &renamed).0.context_id(), &context, "{name}");
        fs::rename(&renamed, &place.root).unwrap();
        assert_eq!(place.open().context_id(), &context, "{name}");
        assert_eq!(fs::read(&file).unwrap(), original, "{name}");
    }
}

#[test]
fn lost_database_is_told_and_starts_a_new_context() {
    let place = Place::new();
    let store = place.open();
    let context = store.context_id().clone();
    let database = store.data_folder().join("store.db");
    append(&store, created("gone"));
    drop(store);
    fs::remove_file(&database).unwrap();
    fs::write(database.with_extension("db-wal"), "newest events").unwrap();
    let (store, notes) = place.open_noting();
    assert_ne!(store.context_id(), &context);
    assert_eq!(notes.len(), 2, "{notes:?}");
    let kept: Vec<_> = fs::read_dir(store.data_folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| fs::read(path).is_ok_and(|bytes| bytes == b"newest events"))
        .collect();
    assert_eq!(kept.len(), 1);
    drop(store);
    assert_eq!(place.open_noting().1, Vec::<String>::new());
}

#[test]
fn roots_that_cannot_be_opened_are_told_apart() {
    let place = Place::new();
    fs::write(place.path("file"), "").unwrap();
    for (name, code) in [
        ("nowhere", ErrorCode::WorkspaceNotFound),
        ("file", ErrorCode::WorkspaceNotADirectory),
    ] {
        let error = Store::open(&place.home, &place.path(name), Duration::ZERO).unwrap_err();
        assert_eq!(RuntimeError::from(error).code, code, "{name}");
    }
    let absent = Store::open_read_only(&place.home, &place.root).unwrap_err();
    assert!(matches!(absent, OpenError::Absent { .. }));
    assert!(!place.home.path().exists(), "looking must not create anything");
}

#[test]
fn everything_kept_is_private() {
    fn check(path: &Path) {
        let metadata = fs::symlink_metadata(path).unwrap();
        let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(
            metadata.permissions().mode() & 0o777,
            expected,
            "{}",
            path.display()
        );
        if metadata.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                check(&entry.unwrap().path());
            }
        }
    }
    let place = Place::new();
    let store = place.open();
    append(&store, user("x"));
    store.put_blob(b"content").unwrap();
    let _artifact = store
        .create_artifact(&session("a"), protocol::tool::ArtifactKind::CommandLog)
        .unwrap();
    let _scratch = store.scratch_dir().unwrap();
    place.home.set_setting("defaultModel", "m".into()).unwrap();
    check(place.home.path());
}

#[test]
fn data_home_comes_from_the_environment() {
    let home = DataHome::from_environment(|name| (name == "VIBE_CODER_HOME").then(|| "/some/where".into()));
    assert_eq!(home.unwrap().path(), Path::new("/some/where"));
    let home = DataHome::from_environment(|_| Some("".into())).unwrap();
    assert!(home.path().ends_with("vibe-coder"), "{}", home.path().display());
}

/// S03: what cannot be found by its identity can be given to the folder it belongs to.
#[test]
fn data_of_a_project_moved_to_another_disk_is_relinked_on_request() {
    let place = Place::new();
    let store = place.open();
    let context = store.context_id().clone();
    append(&store, created("kept"));
    store.put_session(&session_row("a")).unwrap();
    drop(store);
    let from = fs::canonicalize(&place.root).unwrap();
    let moved = place.path("moved");
    fs::create_dir(&moved).unwrap();

    let error = Store::relink(&place.home, &from, &moved).unwrap_err();
    assert!(matches!(error, OpenError::NotRelinked { .. }), "{error}");
    fs::remove_dir(&place.root).unwrap();
    drop(open(&place.home, &moved));
    Store::relink(&place.home, &from, &moved).unwrap();
    let (store, notes) = open(&place.home, &moved);
    assert_eq!((store.context_id(), sequence(&store)), (&context, vec![1]));
    assert_eq!(notes, Vec::<String>::new());
    drop(store);

    assert!(matches!(
        Store::relink(&place.home, &from, &moved),
        Err(OpenError::Absent { .. })
    ));
    let other = place.path("other");
    fs::create_dir(&other).unwrap();
    append(&open(&place.home, &other).0, created("its own"));
    fs::remove_dir(&moved).unwrap();
    let moved = fs::canonicalize(place.folder.path()).unwrap().join("moved");
    assert!(matches!(
        Store::relink(&place.home, &moved, &other),
        Err(OpenError::NotRelinked { .. })
    ));
}
