use std::{
    fs,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    sync::atomic::AtomicBool,
};

use workspace::{Breadth, never};

use super::*;
use crate::{Past, Request, Role, retrieve};

struct Folder(tempfile::TempDir);

impl Shelf for Folder {
    fn names(&self) -> io::Result<Vec<String>> {
        fs::read_dir(self.0.path())?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect()
    }

    fn open(&self, name: &str) -> io::Result<File> {
        File::open(self.0.path().join(name))
    }

    fn save(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        fs::write(self.0.path().join(name), bytes)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.path().join(name))
    }
}

/// A disk without room.
struct Full;

impl Shelf for Full {
    fn names(&self) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn open(&self, _: &str) -> io::Result<File> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn save(&self, _: &str, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn remove(&self, _: &str) -> io::Result<()> {
        Ok(())
    }
}

fn workspace_of(files: &[(&str, &str)]) -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let workspace = Workspace::open(folder.path(), Breadth::Project).unwrap();
    (folder, workspace)
}

fn nothing(_: &Path) -> bool {
    false
}

fn found(index: &CodeIndex, text: &str) -> Vec<String> {
    let mut found = retrieve(&index.snapshot(), &Past::default(), &Request::parse(text), 20);
    found.sort_by(|a, b| b.signals.piece.total_cmp(&a.signals.piece));
    found
        .into_iter()
        .filter(|candidate| candidate.signals.piece > 0.0)
        .map(|candidate| candidate.path.display().to_string())
        .collect()
}

#[test]
fn it_follows_the_files_and_outlives_the_process() {
    let (folder, workspace) = workspace_of(&[
        ("src/cache.rs", "fn evict_oldest() {}\n"),
        ("src/http.rs", "fn parse_header() {}\n"),
    ]);
    let shelf = Arc::new(Folder(tempfile::tempdir().unwrap()));
    let index = CodeIndex::open(shelf.clone());
    let report = index.refresh(&workspace, &nothing, &never).unwrap();
    assert_eq!((report.files, report.read, report.removed), (2, 2, 0));
    assert_eq!(found(&index, "evict the oldest"), ["src/cache.rs"]);
    assert_eq!(
        index.refresh(&workspace, &nothing, &never).unwrap().read,
        0,
        "nothing changed"
    );

    fs::write(folder.path().join("src/cache.rs"), "fn drop_newest_first() {}\n").unwrap();
    fs::remove_file(folder.path().join("src/http.rs")).unwrap();
    let update = [PathBuf::from("src/cache.rs"), PathBuf::from("src/http.rs")];
    let report = index.update(&workspace, &update, &nothing, &never);
    assert_eq!((report.files, report.read, report.removed), (1, 1, 1));
    assert_eq!(found(&index, "evict parse header"), Vec::<String>::new());
    assert_eq!(found(&index, "newest"), ["src/cache.rs"]);

    let again = CodeIndex::open(shelf.clone());
    assert_eq!(found(&again, "newest"), ["src/cache.rs"]);
    assert_eq!(again.refresh(&workspace, &nothing, &never).unwrap().read, 0);
    assert_eq!(shelf.names().unwrap().len(), 1, "what is dead is removed");
}

#[test]
fn many_small_changes_do_not_pile_up() {
    let (folder, workspace) = workspace_of(&[("a.rs", "fn a() {}\n")]);
    let shelf = Arc::new(Folder(tempfile::tempdir().unwrap()));
    let index = CodeIndex::open(shelf.clone());
    for number in 0..40 {
        let name = format!("file{number}.rs");
        fs::write(folder.path().join(&name), format!("fn number{number}() {{}}\n")).unwrap();
        index.update(&workspace, &[PathBuf::from(name)], &nothing, &never);
    }
    assert!(shelf.names().unwrap().len() <= MAX_SMALL_SEGMENTS + 1);
    assert_eq!(found(&index, "number7"), ["file7.rs"]);
    assert_eq!(index.snapshot().len(), 40);
}

#[test]
fn damage_and_a_full_disk_cost_time_only() {
    let (_folder, workspace) = workspace_of(&[("a.rs", "fn needle() {}\n")]);
    let shelf = Arc::new(Folder(tempfile::tempdir().unwrap()));
    CodeIndex::open(shelf.clone())
        .refresh(&workspace, &nothing, &never)
        .unwrap();
    for name in shelf.names().unwrap() {
        fs::write(shelf.0.path().join(name), b"vcindex3 but not really").unwrap();
    }
    let index = CodeIndex::open(shelf);
    assert!(index.snapshot().is_empty());
    assert_eq!(index.refresh(&workspace, &nothing, &never).unwrap().read, 1);
    assert_eq!(found(&index, "needle"), ["a.rs"]);

    let index = CodeIndex::open(Arc::new(Full));
    let report = index.refresh(&workspace, &nothing, &never).unwrap();
    assert!(report.not_saved.is_some());
    assert_eq!(found(&index, "needle"), ["a.rs"]);
}

#[test]
fn what_cannot_be_indexed_is_named_with_its_reason_and_stops_nothing() {
    let (folder, workspace) = workspace_of(&[
        ("good.rs", "fn needle() {}\n"),
        ("bundle.js", &format!("var a=1;{}", "needle(c,d);".repeat(2_000))),
        (
            "made.go",
            "// Code generated by hand. DO NOT EDIT.\npackage needle\n",
        ),
        ("picture.png", "\u{89}PNG\r\n\u{1a}\n\0\0"),
        ("secret.txt", "needle"),
    ]);
    let root = folder.path();
    let huge = File::create(root.join("huge.json")).unwrap();
    huge.set_len(200 * 1024 * 1024).unwrap();
    std::os::unix::fs::symlink(root, root.join("loop")).unwrap();
    std::os::unix::fs::symlink("nowhere", root.join("broken")).unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"od\xffd.rs");
    fs::write(root.join(odd), "fn needle_too() {}\n").unwrap();
    fs::set_permissions(root.join("secret.txt"), fs::Permissions::from_mode(0o000)).unwrap();
    let index = CodeIndex::open(Arc::new(Folder(tempfile::tempdir().unwrap())));
    index.refresh(&workspace, &nothing, &never).unwrap();
    let snapshot = index.snapshot();
    let mut left_out: Vec<(String, Coverage)> = snapshot
        .left_out()
        .into_iter()
        .map(|(path, coverage)| (path.display().to_string(), coverage))
        .filter(|(path, _)| path != "secret.txt")
        .collect();
    left_out.sort();
    assert_eq!(
        left_out,
        [
            ("bundle.js".to_owned(), Coverage::Minified),
            ("huge.json".to_owned(), Coverage::TooLarge),
            ("made.go".to_owned(), Coverage::Generated),
            ("picture.png".to_owned(), Coverage::Binary),
        ]
    );
    let found = found(&index, "needle");
    assert!(
        found.contains(&"good.rs".to_owned()) && found.contains(&"od\u{fffd}d.rs".to_owned()),
        "{found:?}"
    );
    assert!(!found.contains(&"bundle.js".to_owned()));
}

/// A stopped refresh keeps what it read, and the next one goes on from there.
#[test]
fn a_stopped_refresh_loses_nothing() {
    let files: Vec<(String, String)> = (0..60)
        .map(|number| (format!("f{number}.rs"), format!("fn number{number}() {{}}\n")))
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let (_folder, workspace) = workspace_of(&files);
    let index = CodeIndex::open(Arc::new(Folder(tempfile::tempdir().unwrap())));
    let asked = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let stop = || {
        let now = asked.fetch_add(1, Ordering::Relaxed) > 120;
        if now {
            stopped.store(true, Ordering::Relaxed);
        }
        stopped.load(Ordering::Relaxed)
    };
    let report = index.refresh(&workspace, &nothing, &stop).unwrap();
    assert!(report.stopped);
    let before = index.snapshot().len();
    assert!(before < 60);
    let report = index.refresh(&workspace, &nothing, &never).unwrap();
    assert_eq!(report.read, 60 - before);
    assert_eq!(index.snapshot().len(), 60);
}

#[test]
fn tests_documents_and_data_are_told_from_source() {
    for (path, expected) in [
        ("src/lib.rs", Role::Source),
        ("src/contest.rs", Role::Source),
        ("tests/it.rs", Role::Test),
        ("pkg/a_test.go", Role::Test),
        ("web/a.spec.ts", Role::Test),
        ("com/x/FooTest.java", Role::Test),
        ("com/x/Latest.java", Role::Source),
        ("docs/a.rs", Role::Document),
        ("README.md", Role::Document),
        ("config/app.yaml", Role::Data),
        ("web/index.html", Role::Source),
    ] {
        let path = Path::new(path);
        assert_eq!(
            crate::role(path, crate::Language::of_path(path)),
            expected,
            "{}",
            path.display()
        );
    }
}

/// Not one word of a secret file is kept on disk; taking it from the list lets it in again.
#[test]
fn nothing_of_a_secret_file_is_kept() {
    let (_folder, workspace) = workspace_of(&[
        (".env", "PASSWORD=hunter2verysecret\n"),
        ("config/prod.rs", "const KEY: &str = \"alsohunter2secret\";\n"),
    ]);
    let shelf = Arc::new(Folder(tempfile::tempdir().unwrap()));
    let index = CodeIndex::open(shelf.clone());
    let listed = |path: &Path| path.starts_with("config");
    let kept = |word: &str| {
        shelf.names().unwrap().iter().any(|name| {
            let bytes = fs::read(shelf.0.path().join(name)).unwrap();
            bytes.windows(word.len()).any(|window| window == word.as_bytes())
        })
    };
    index.refresh(&workspace, &listed, &never).unwrap();
    assert!(!kept("hunter2"));
    let left_out = index.snapshot().left_out().len();
    assert_eq!(left_out, 2);
    index.refresh(&workspace, &nothing, &never).unwrap();
    assert!(kept("alsohunter2secret") && !kept("hunter2verysecret"));
    index.refresh(&workspace, &listed, &never).unwrap();
    assert!(!kept("hunter2"));
}
