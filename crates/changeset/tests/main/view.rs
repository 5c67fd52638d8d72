//! The layers of a staged view. No overlay is mounted here: a test writes into the upper layer what the kernel would.

use std::{
    fs,
    os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use changeset::stage::{self, Harvest, StagedView};
use protocol::{ChangeType, changes::Selection};
use rustix::fs::{CWD, FileType, Mode, XattrFlags, makedev, mknodat, setxattr};

use crate::place::Place;

struct Layer(PathBuf);

impl Layer {
    fn of(view: &StagedView) -> Self {
        Layer(view.upper())
    }

    fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn hide(&self, path: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), makedev(0, 0)).unwrap();
    }

    fn replace_folder(&self, path: &str) {
        fs::create_dir_all(self.0.join(path)).unwrap();
        setxattr(
            self.0.join(path),
            "user.overlay.opaque",
            b"y",
            XattrFlags::empty(),
        )
        .unwrap();
    }

    fn is_hidden(&self, path: &str) -> bool {
        let metadata = self.0.join(path).symlink_metadata().unwrap();
        metadata.file_type().is_char_device() && metadata.rdev() == 0
    }
}

fn project() -> Place {
    let place = Place::new();
    fs::create_dir(place.root().join(".git")).unwrap();
    place.put(".gitignore", "/cache\n*.log\n");
    for path in ["a.txt", "b.txt", "src/c.txt", "src/deep/d.txt", "tool.sh"] {
        place.put(path, format!("{path}\n"));
    }
    place.put("cache/big", "cached\n");
    place.put("run.log", "log\n");
    place.put("old.log", "old\n");
    place
}

fn view(place: &Place) -> StagedView {
    stage::prepare_view(place.sets(), &place.session).unwrap()
}

fn harvest(place: &Place, view: &StagedView) -> Harvest {
    stage::harvest_view(place.sets(), view, &place.session, "make").unwrap()
}

fn changes(harvest: &Harvest) -> Vec<(String, ChangeType)> {
    let mut found: Vec<_> = harvest
        .files
        .iter()
        .map(|file| (file.path.clone(), file.change_type))
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn modified(path: &Path) -> (i64, i64) {
    let metadata = path.metadata().unwrap();
    (metadata.mtime(), metadata.mtime_nsec())
}

#[test]
fn the_draft_lies_in_the_upper_layer_with_times_that_stay() {
    let place = project();
    place.set_mode("tool.sh", 0o755);
    fs::set_permissions(place.root().join("src"), fs::Permissions::from_mode(0o750)).unwrap();
    place.edit("tool.sh", "tool", "new").unwrap();
    place.create("src/made/new.txt", "new\n").unwrap();
    place.delete("src/c.txt").unwrap();
    place.delete("b.txt").unwrap();
    let first = view(&place);
    let layer = Layer::of(&first);
    assert_eq!(fs::read_to_string(layer.0.join("tool.sh")).unwrap(), "new.sh\n");
    assert_eq!(layer.0.join("tool.sh").metadata().unwrap().mode() & 0o777, 0o755);
    assert_eq!(layer.0.join("src").metadata().unwrap().mode() & 0o777, 0o750);
    assert!(layer.is_hidden("src/c.txt"));
    assert!(layer.is_hidden("b.txt"));
    assert_eq!(first.kept(), [PathBuf::from("cache")]);
    assert!(first.has_repository());
    let before = modified(&layer.0.join("tool.sh"));
    assert_eq!(harvest(&place, &first), Harvest::default());
    let second = view(&place);
    assert_eq!(modified(&second.upper().join("tool.sh")), before);
}

#[test]
fn what_a_command_changed_joins_the_draft_and_what_is_ignored_goes_home() {
    let place = project();
    place.edit("a.txt", "a.txt", "drafted").unwrap();
    place.create("only-drafted", "x\n").unwrap();
    let view = view(&place);
    let layer = Layer::of(&view);
    layer.put("a.txt", "drafted\nmore\n");
    fs::remove_file(layer.0.join("only-drafted")).unwrap();
    layer.hide("b.txt");
    layer.put("new.txt", "new\n");
    layer.put("tool.sh", "tool.sh\n");
    fs::set_permissions(layer.0.join("tool.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    layer.replace_folder("src");
    layer.put("src/c.txt", "src/c.txt\n");
    layer.put("src/e.bin", b"\0\x01\x02");
    layer.put("run.log", "log\nmore\n");
    layer.hide("old.log");
    layer.put(
        "target/CACHEDIR.TAG",
        "Signature: 8a477f597d28d172789f06886806bc55\n",
    );
    layer.put("target/debug/out", "built\n");
    layer.put("node_modules/x/index.js", "x\n");
    layer.put("sub/.git/HEAD", "ref\n");
    fs::create_dir(layer.0.join("empty")).unwrap();
    symlink("a.txt", layer.0.join("link")).unwrap();
    let before = place.tree();
    let harvest = harvest(&place, &view);
    assert_eq!(
        changes(&harvest),
        [
            ("a.txt", ChangeType::Modify),
            ("b.txt", ChangeType::Delete),
            ("new.txt", ChangeType::Create),
            ("only-drafted", ChangeType::Delete),
            ("src/deep/d.txt", ChangeType::Delete),
            ("src/e.bin", ChangeType::Create),
            ("tool.sh", ChangeType::Modify),
        ]
        .map(|(path, kind)| (path.to_owned(), kind))
    );
    let mut notes = harvest.notes.clone();
    notes.sort();
    assert_eq!(
        notes,
        [
            "not taken over: empty (it is an empty folder)",
            "not taken over: link (it is a link)",
            "not taken over: sub/.git (git's own files are not reviewed as text)",
        ]
    );
    // Nothing but what is ignored reached the workspace.
    assert_eq!(place.text("run.log"), "log\nmore\n");
    assert!(!place.exists("old.log"));
    assert_eq!(place.text("target/debug/out"), "built\n");
    assert_eq!(place.text("node_modules/x/index.js"), "x\n");
    for (path, entry) in &before {
        let is_ignored = path.extension().is_some_and(|end| end == "log");
        assert!(
            is_ignored || place.tree().get(path) == Some(entry),
            "{}",
            path.display()
        );
    }
    place.accept_all().unwrap();
    assert_eq!(place.get("src/e.bin"), b"\0\x01\x02");
    assert_eq!(place.tree()[Path::new("tool.sh")].0, 0o755);
    assert!(!place.exists("src/deep/d.txt"));
}

#[test]
fn what_the_user_saves_during_a_command_stays_theirs() {
    let place = project();
    let view = view(&place);
    let layer = Layer::of(&view);
    for path in ["a.txt", "run.log"] {
        place.put(path, "mine\n");
        layer.put(path, "theirs\n");
    }
    place.put("b.txt", "mine\n");
    layer.hide("b.txt");
    let harvest = harvest(&place, &view);
    assert_eq!(changes(&harvest), []);
    assert_eq!(harvest.notes.len(), 3, "{:?}", harvest.notes);
    for path in ["a.txt", "run.log", "b.txt"] {
        assert_eq!(place.text(path), "mine\n", "{path}");
    }
}

/// Build tools compare times: after a draft that a command has seen is dropped, the real file must look new.
#[test]
fn a_rejected_file_that_a_command_saw_looks_newer_than_what_was_built_from_it() {
    let place = project();
    place.edit("a.txt", "a.txt", "drafted").unwrap();
    place.edit("b.txt", "b.txt", "drafted").unwrap();
    drop(view(&place));
    let before = (place.tree(), modified(&place.root().join("src/c.txt")));
    let seen = modified(&place.root().join("a.txt"));
    // Taken back by the agent, seen by the next command.
    place.edit("b.txt", "drafted", "b.txt").unwrap();
    drop(view(&place));
    assert!(modified(&place.root().join("b.txt")) > seen);
    let set = place.propose();
    place.sets().reject(&set.id, &Selection::All).unwrap();
    assert!(modified(&place.root().join("a.txt")) > seen);
    assert_eq!((place.tree(), modified(&place.root().join("src/c.txt"))), before);
}

/// A folder named like build output that git does not ignore is reviewed, unless it plainly is output.
#[test]
fn a_folder_named_build_is_reviewed_and_rules_of_the_draft_do_not_count() {
    let place = project();
    place.put("build/config.txt", "config\n");
    place.edit(".gitignore", "*.log", "*.log\nsrc\n").unwrap();
    let view = view(&place);
    assert_eq!(view.kept(), [PathBuf::from("cache")]);
    let layer = Layer::of(&view);
    layer.put("build/config.txt", "changed\n");
    layer.put("src/c.txt", "changed\n");
    let harvest = harvest(&place, &view);
    let expected = ["build/config.txt", "src/c.txt"].map(|path| (path.to_owned(), ChangeType::Modify));
    assert_eq!(changes(&harvest), expected);
}

/// Content of a size with something at both ends, and a hole between.
fn large_file(path: &Path, size: u64, mark: &[u8]) {
    use std::os::unix::fs::FileExt;
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = fs::File::create(path).unwrap();
    file.set_len(size).unwrap();
    file.write_all_at(mark, 0).unwrap();
    file.write_all_at(mark, size - mark.len() as u64).unwrap();
}

/// What is too large for memory and for lines is proposed whole, seen by the next command, accepted byte for byte, and
/// taken back.
#[test]
fn large_results_of_a_command_are_kept_whole() {
    let place = project();
    let (nine, more) = (9 << 20, changeset::MAX_FILE_BYTES + 3);
    large_file(&place.root().join("model.bin"), more, b"old");
    place.put("gone.txt", "gone\n");
    let before = place.tree();
    let first = view(&place);
    let layer = Layer::of(&first);
    large_file(&layer.0.join("nine.bin"), nine, b"nine");
    large_file(&layer.0.join("out/huge.bin"), more + 5, b"huge");
    large_file(&layer.0.join("model.bin"), more, b"new");
    let found = harvest(&place, &first);
    assert_eq!(
        changes(&found),
        [
            ("model.bin", ChangeType::Modify),
            ("nine.bin", ChangeType::Create),
            ("out/huge.bin", ChangeType::Create),
        ]
        .map(|(path, kind)| (path.to_owned(), kind))
    );
    let mut notes = found.notes.clone();
    notes.sort();
    assert_eq!(
        notes,
        [
            "model.bin has 64 MiB; it is reviewed as a whole",
            "nine.bin has 9 MiB; it is reviewed as a whole",
            "out/huge.bin has 64 MiB; it is reviewed as a whole",
        ]
    );
    let set = found.change_set.unwrap();
    assert!(set.files.iter().all(|file| file.binary && file.hunks.is_empty()));
    assert_eq!(place.tree(), before);

    let next = view(&place);
    let staged = |path: &str| fs::read(next.upper().join(path)).unwrap();
    let (nine, huge, model) = (staged("nine.bin"), staged("out/huge.bin"), staged("model.bin"));
    assert_eq!(
        (&nine[..4], &huge[..4], &model[..3]),
        (&b"nine"[..], &b"huge"[..], &b"new"[..])
    );
    assert!(nine.ends_with(b"nine") && huge.ends_with(b"huge") && model.ends_with(b"new"));
    assert_eq!((huge.len() as u64, model.len() as u64), (more + 5, more));
    assert_eq!(harvest(&place, &next), Harvest::default());

    place.accept_all().unwrap();
    assert_eq!(place.get("nine.bin"), nine);
    assert_eq!(place.get("out/huge.bin"), huge);
    assert_eq!(place.get("model.bin"), model);
    place.sets().undo(None).unwrap();
    assert_eq!(place.tree(), before);
}

/// Somebody else writes the large file that a command changed: both are kept, nothing is overwritten.
#[test]
fn a_large_file_that_both_sides_changed_is_a_conflict() {
    let place = project();
    let size = changeset::MAX_FILE_BYTES + 1;
    large_file(&place.root().join("model.bin"), size, b"old");
    let before = place.tree();
    let view = view(&place);
    large_file(&view.upper().join("model.bin"), size, b"new");
    assert_eq!(changes(&harvest(&place, &view)).len(), 1);
    assert_eq!(place.tree(), before);
    let set = place.propose();
    large_file(&place.root().join("model.bin"), size, b"mine");
    let mine = place.tree();
    let error = place.sets().accept(&set.id, &Selection::All).unwrap_err();
    assert!(error.to_string().contains("too large to be merged"), "{error}");
    assert_eq!(place.tree(), mine);
}
