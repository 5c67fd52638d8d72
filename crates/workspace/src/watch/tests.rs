use std::{
    fs,
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
};

use super::*;
use crate::Breadth;

struct Place {
    folder: tempfile::TempDir,
    watcher: Option<Watcher>,
    changes: Receiver<Change>,
}

/// What was told within a time.
#[derive(Debug, Default)]
struct Told {
    folders: BTreeSet<PathBuf>,
    files: BTreeSet<PathBuf>,
    git: usize,
    live: Vec<Result<(), String>>,
}

impl Place {
    fn new(options: WatchOptions, make: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path());
        let workspace = Workspace::open(folder.path(), Breadth::Project).unwrap();
        let (sender, changes) = channel();
        let watcher = Watcher::start(&workspace, options, move |change| {
            let _ = sender.send(change);
        })
        .unwrap();
        Self {
            folder,
            watcher: Some(watcher),
            changes,
        }
    }

    fn show(&self, folders: &[&str]) {
        let folders = folders.iter().map(PathBuf::from).collect();
        self.watcher.as_ref().unwrap().show(folders);
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Gathers until `enough`, at most two seconds: within that a tree must be right.
    fn told_until(&self, enough: impl Fn(&Told) -> bool) -> Told {
        let mut told = Told::default();
        let end = Instant::now() + Duration::from_secs(2);
        while !enough(&told) {
            match self
                .changes
                .recv_timeout(end.saturating_duration_since(Instant::now()))
            {
                Ok(Change::Files { folders, files }) => {
                    told.folders.extend(folders);
                    told.files.extend(files);
                }
                Ok(Change::Git) => told.git += 1,
                Ok(Change::Live(live)) => told.live.push(live),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        told
    }

    /// What is told in half a second, which is long after the watches are set.
    fn settle(&self) -> Told {
        let mut told = Told::default();
        while let Ok(change) = self.changes.recv_timeout(Duration::from_millis(500)) {
            match change {
                Change::Files { folders, files } => {
                    told.folders.extend(folders);
                    told.files.extend(files);
                }
                Change::Git => told.git += 1,
                Change::Live(live) => told.live.push(live),
            }
        }
        told
    }
}

fn path(text: &str) -> PathBuf {
    PathBuf::from(text)
}

/// The system's own count of the watches this process holds.
fn watches_held() -> usize {
    let descriptors = fs::read_dir("/proc/self/fdinfo").unwrap();
    descriptors
        .filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok())
        .map(|text| {
            text.lines()
                .filter(|line| line.starts_with("inotify wd:"))
                .count()
        })
        .sum()
}

fn project(root: &Path) {
    fs::create_dir_all(root.join("src/deep")).unwrap();
    fs::create_dir_all(root.join(".git/refs/heads")).unwrap();
    fs::create_dir_all(root.join(".git/logs")).unwrap();
    fs::create_dir_all(root.join(".git/objects/ab")).unwrap();
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(root.join("src/a.rs"), "a").unwrap();
    fs::write(root.join("src/deep/b.rs"), "b").unwrap();
    fs::write(root.join(".gitignore"), "ignored/\n").unwrap();
    for number in 0..200 {
        fs::create_dir_all(root.join(format!("ignored/{number}"))).unwrap();
    }
}

#[test]
fn i05_only_shown_folders_are_watched_and_closing_releases_all() {
    let place_before = watches_held();
    let mut place = Place::new(WatchOptions::default(), project);
    place.show(&["", "src", "ignored", "ignored/3", "missing", ".git/objects"]);
    place.settle();
    // The root, src, and three folders of git's state.
    assert_eq!(watches_held() - place_before, 5);

    fs::write(place.root().join("src/a.rs"), "changed").unwrap();
    let told = place.told_until(|told| !told.files.is_empty());
    assert_eq!(told.files, [path("src/a.rs")].into());
    assert_eq!(told.folders, [].into());

    // Not shown: nobody is told.
    fs::write(place.root().join("src/deep/b.rs"), "changed").unwrap();
    fs::write(place.root().join(".git/objects/ab/cd"), "object").unwrap();
    let told = place.settle();
    assert!(told.files.is_empty() && told.git == 0, "{told:?}");

    // Shown and ignored: without a watch, and right within two seconds all the same.
    fs::write(place.root().join("ignored/3/new"), "").unwrap();
    let told = place.told_until(|told| told.folders.contains(&path("ignored/3")));
    assert!(told.files.contains(&path("ignored/3/new")), "{told:?}");

    place.watcher = None;
    let end = Instant::now() + Duration::from_secs(2);
    while watches_held() > place_before && Instant::now() < end {
        std::thread::yield_now();
    }
    assert_eq!(watches_held(), place_before);
}

#[test]
fn i05_at_the_limit_folders_are_looked_at_and_that_is_told_once() {
    let options = WatchOptions {
        max_watches: 6,
        look_every: Duration::from_millis(200),
        ..WatchOptions::default()
    };
    let place = Place::new(options, |root| {
        project(root);
        for number in 0..20 {
            fs::create_dir(root.join(format!("d{number}"))).unwrap();
            fs::write(root.join(format!("d{number}/f")), "1").unwrap();
        }
    });
    let names: Vec<String> = (0..20).map(|number| format!("d{number}")).collect();
    place.show(&names.iter().map(String::as_str).collect::<Vec<_>>());
    place.show(&names.iter().skip(1).map(String::as_str).collect::<Vec<_>>());
    let told = place.settle();
    assert_eq!(told.live.len(), 1, "{told:?}");
    assert!(told.live[0].as_ref().unwrap_err().contains("max_user_watches"));
    for number in 1..20 {
        fs::write(place.root().join(format!("d{number}/f")), "22").unwrap();
        fs::write(place.root().join(format!("d{number}/new")), "").unwrap();
    }
    fs::write(place.root().join(".git/HEAD"), "ref: refs/heads/other\n").unwrap();
    let told = place.told_until(|told| told.folders.len() == 19 && told.files.len() == 38 && told.git > 0);
    assert_eq!(
        (told.folders.len(), told.files.len(), told.git > 0),
        (19, 38, true),
        "{told:?}"
    );
    // With fewer folders shown all are watched again, and that is told.
    place.show(&[]);
    assert_eq!(place.settle().live, [Ok(())]);
}

#[test]
fn every_way_a_tree_changes_is_told() {
    type Step = fn(&Path);
    let cases: [(&str, Step, &[&str], &[&str]); 6] = [
        (
            "create",
            |root| fs::write(root.join("src/n"), "").unwrap(),
            &["src"],
            &["src/n"],
        ),
        (
            "delete",
            |root| fs::remove_file(root.join("src/n")).unwrap(),
            &["src"],
            &["src/n"],
        ),
        (
            "save by rename",
            |root| {
                fs::write(root.join("src/.x.vibe-coder.tmp"), "new").unwrap();
                fs::rename(root.join("src/.x.vibe-coder.tmp"), root.join("src/a.rs")).unwrap();
            },
            &["src"],
            &["src/a.rs"],
        ),
        (
            "move between folders",
            |root| fs::rename(root.join("src/a.rs"), root.join("a.rs")).unwrap(),
            &["", "src"],
            &["src/a.rs", "a.rs"],
        ),
        (
            "a shown folder goes",
            |root| fs::rename(root.join("src/deep"), root.join("src/other")).unwrap(),
            &["src"],
            &[],
        ),
        (
            "and another comes under its name, and is watched",
            |root| {
                fs::create_dir(root.join("src/deep")).unwrap();
                std::thread::spawn({
                    let root = root.to_owned();
                    move || {
                        let end = Instant::now() + Duration::from_millis(700);
                        while Instant::now() < end {
                            std::thread::yield_now();
                        }
                        fs::write(root.join("src/deep/late"), "").unwrap();
                    }
                });
            },
            &["src", "src/deep"],
            &["src/deep/late"],
        ),
    ];
    let place = Place::new(WatchOptions::default(), project);
    place.show(&["src", "src/deep"]);
    place.settle();
    for (name, step, folders, files) in cases {
        step(place.root());
        let folders: BTreeSet<PathBuf> = folders.iter().map(PathBuf::from).collect();
        let files: BTreeSet<PathBuf> = files.iter().map(PathBuf::from).collect();
        let told = place.told_until(|told| folders.is_subset(&told.folders) && files.is_subset(&told.files));
        assert!(
            folders.is_subset(&told.folders) && files.is_subset(&told.files),
            "{name}: {told:?}"
        );
        assert!(
            !told
                .files
                .iter()
                .any(|file| file.to_string_lossy().contains("tmp")),
            "{name}"
        );
        place.settle();
    }
}

#[test]
fn a_repository_that_appears_is_watched() {
    let place = Place::new(WatchOptions::default(), |_| {});
    place.settle();
    fs::create_dir_all(place.root().join(".git/refs/heads")).unwrap();
    fs::write(place.root().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    assert!(place.told_until(|told| told.git > 0).git > 0);
    place.settle();
    for change in ["index", "HEAD", "refs/heads/main"] {
        fs::write(place.root().join(".git").join(change), "x").unwrap();
        let told = place.told_until(|told| told.git > 0);
        assert!(told.git > 0 && told.folders.is_empty(), "{change}: {told:?}");
        place.settle();
    }
}

#[test]
fn a_folder_that_is_newly_shown_is_told_once() {
    let place = Place::new(WatchOptions::default(), project);
    place.show(&[""]);
    place.settle();
    place.show(&["", "src"]);
    assert_eq!(place.settle().folders, BTreeSet::from([path("src")]));
    place.show(&["", "src"]);
    assert!(place.settle().folders.is_empty());
}
