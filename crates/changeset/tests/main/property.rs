//! No order of edits, decisions, undos and restarts loses a byte the user typed.
//!
//! Every line the user types is a unique token. The promise, checked after every step:
//! - Only the user's own saves, accept, undo and redo change the disk, and a refused one changes nothing.
//! - A token that was on disk is still there, in whatever file, unless the user deleted it just now, or an accept did
//!   that showed its line as deleted in the diff. A redo may only take again what such an accept took.
//! - Accepting all gives exactly the disk with the draft on it that the reader showed.
//! - Undoing an accept with nothing changed in between restores every byte and mode.

use std::collections::{BTreeMap, BTreeSet};

use changeset::hash;
use proptest::{prelude::*, test_runner::Config};
use protocol::{ChangeSet, ChangeSetStatus, LineKind, changes::Selection};
use workspace::OverlayEntry;

use crate::place::{Place, Tree, call, file, hunk};

#[derive(Clone, Debug)]
enum Step {
    UserInserts { file: usize, at: usize },
    UserDeletesLine { file: usize, at: usize },
    UserDeletesFile { file: usize },
    AgentInserts { file: usize, at: usize },
    AgentReplaces { file: usize, at: usize },
    AgentDeletesLine { file: usize, at: usize },
    AgentCreates { file: usize },
    AgentDeletes { file: usize },
    AgentRenames { from: usize, to: usize },
    AcceptAll,
    AcceptFile { nth: usize },
    AcceptHunk { nth: usize, number: u32 },
    RejectFile { nth: usize },
    RejectHunk { nth: usize, number: u32 },
    RejectAll,
    Undo,
    Redo,
    Restart,
}

const FILES: [&str; 4] = ["a", "b", "c", "d"];

fn step() -> impl Strategy<Value = Step> {
    let file = || 0..FILES.len();
    let at = || 0..30usize;
    prop_oneof![
        4 => (file(), at()).prop_map(|(file, at)| Step::UserInserts { file, at }),
        1 => (file(), at()).prop_map(|(file, at)| Step::UserDeletesLine { file, at }),
        1 => file().prop_map(|file| Step::UserDeletesFile { file }),
        4 => (file(), at()).prop_map(|(file, at)| Step::AgentInserts { file, at }),
        3 => (file(), at()).prop_map(|(file, at)| Step::AgentReplaces { file, at }),
        3 => (file(), at()).prop_map(|(file, at)| Step::AgentDeletesLine { file, at }),
        1 => file().prop_map(|file| Step::AgentCreates { file }),
        1 => file().prop_map(|file| Step::AgentDeletes { file }),
        1 => (file(), file()).prop_map(|(from, to)| Step::AgentRenames { from, to }),
        3 => Just(Step::AcceptAll),
        2 => (0..3usize).prop_map(|nth| Step::AcceptFile { nth }),
        3 => (0..3usize, 1..4u32).prop_map(|(nth, number)| Step::AcceptHunk { nth, number }),
        1 => (0..3usize).prop_map(|nth| Step::RejectFile { nth }),
        2 => (0..3usize, 1..4u32).prop_map(|(nth, number)| Step::RejectHunk { nth, number }),
        1 => Just(Step::RejectAll),
        4 => Just(Step::Undo),
        2 => Just(Step::Redo),
        1 => Just(Step::Restart),
    ]
}

struct World {
    place: Place,
    next_token: u32,
    /// Tokens that accepts have shown as deleted, for redo.
    taken: BTreeSet<String>,
    /// The disk before and after the only accept of a set.
    single_accepts: BTreeMap<String, (Tree, Tree)>,
    /// Steps that changed the disk, to know that the test tests something.
    effective: u32,
}

impl World {
    fn new() -> World {
        let place = Place::new();
        let lines = |ending: &str| -> String { (0..16).map(|line| format!("base {line}{ending}")).collect() };
        place.put("a", lines("\n"));
        place.put("b", lines("\r\n"));
        place.put("c", lines("\n").trim_end());
        place.set_mode("b", 0o755);
        World {
            place,
            next_token: 0,
            taken: BTreeSet::new(),
            single_accepts: BTreeMap::new(),
            effective: 0,
        }
    }

    fn token(&mut self, prefix: &str) -> String {
        self.next_token += 1;
        format!("{prefix}{};", self.next_token)
    }

    fn run(&mut self, step: &Step) {
        let before = self.place.tree();
        let mut permitted = BTreeSet::new();
        let mut may_write = true;
        match step {
            Step::UserInserts { file, at } => {
                let token = self.token("U");
                self.user_edits(FILES[*file], *at, Some(&token));
            }
            Step::UserDeletesLine { file, at } => {
                permitted = self.user_edits(FILES[*file], *at, None);
            }
            Step::UserDeletesFile { file } => {
                let path = self.place.root().join(FILES[*file]);
                permitted = tokens(&std::fs::read(&path).unwrap_or_default());
                let _ = std::fs::remove_file(path);
            }
            Step::AcceptAll => permitted = self.accept(&Selection::All, &before),
            Step::AcceptFile { nth } => {
                if let Some(path) = self.pending_path(*nth) {
                    permitted = self.accept(&file(&path), &before);
                }
            }
            Step::AcceptHunk { nth, number } => {
                if let Some(path) = self.pending_path(*nth) {
                    permitted = self.accept(&hunk(&path, *number), &before);
                }
            }
            Step::Undo => {
                if let Ok(undone) = self.place.sets().undo(None) {
                    let accepted = self.single_accepts.get(undone.change_set.id.as_str());
                    if let Some((original, after)) = accepted.filter(|(_, after)| *after == before) {
                        assert_eq!(&self.place.tree(), original, "undo of {after:?}");
                    }
                } else {
                    may_write = false;
                }
            }
            Step::Redo => {
                may_write = self.place.sets().redo(None).is_ok();
                permitted = self.taken.clone();
            }
            other => {
                may_write = false;
                self.without_effect(other);
            }
        }
        let after = self.place.tree();
        if !may_write {
            assert_eq!(before, after, "{step:?}");
        }
        if before != after {
            self.effective += 1;
        }
        let all = |tree: &Tree| -> BTreeSet<String> {
            tree.values().flat_map(|(_, bytes)| tokens(bytes)).collect()
        };
        let lost: Vec<String> = all(&before).difference(&all(&after)).cloned().collect();
        for token in lost {
            assert!(
                permitted.contains(&token),
                "{token} was lost by {step:?}\n{before:?}\n{after:?}"
            );
        }
        for (path, (_, bytes)) in &after {
            let mixed = bytes
                .windows(2)
                .filter(|pair| pair[1] == b'\n' && pair[0] != b'\r')
                .count()
                > 0
                && bytes.contains(&b'\r');
            // Files that were moved onto each other aside, no ending ever changes.
            assert!(!mixed, "{}: {:?}", path.display(), String::from_utf8_lossy(bytes));
        }
    }

    /// Inserts a token, or deletes a line; returns the tokens that went.
    fn user_edits(&mut self, path: &str, at: usize, token: Option<&str>) -> BTreeSet<String> {
        let bytes = std::fs::read(self.place.root().join(path)).unwrap_or_default();
        let text = String::from_utf8(bytes).unwrap();
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
        match token {
            Some(token) => {
                // Not behind an unterminated line: that would change the line itself.
                let room = lines.iter().take_while(|line| line.ends_with('\n')).count();
                lines.insert(at.min(room), format!("{token}{ending}"));
                self.place.put(path, lines.concat());
                BTreeSet::new()
            }
            None if lines.is_empty() => BTreeSet::new(),
            None => {
                let line = lines.remove(at % lines.len());
                self.place.put(path, lines.concat());
                tokens(line.as_bytes())
            }
        }
    }

    fn accept(&mut self, selection: &Selection, before: &Tree) -> BTreeSet<String> {
        let Some(set) = self.propose() else {
            return BTreeSet::new();
        };
        let shown = deleted_tokens(&set, selection);
        let mut expected = before.clone();
        for (path, entry) in self.place.sets().overlay(&self.place.session).unwrap().entries {
            match entry {
                OverlayEntry::Content { bytes, mode } => {
                    expected.insert(path, (mode, bytes.to_vec()));
                }
                OverlayEntry::Stored { file, mode, .. } => {
                    expected.insert(path, (mode, std::fs::read(file).unwrap()));
                }
                OverlayEntry::Deleted => {
                    expected.remove(&path);
                }
            }
        }
        let Ok(applied) = self.place.sets().accept(&set.id, selection) else {
            assert_eq!(&self.place.tree(), before, "a refused accept");
            return BTreeSet::new();
        };
        let after = self.place.tree();
        // A file that was in conflict until now is not in what the reader showed.
        if *selection == Selection::All && set.status != ChangeSetStatus::Conflicted {
            assert_eq!(after, expected, "accepting all");
        }
        match applied.change_set.snapshots.len() {
            1 => self
                .single_accepts
                .insert(set.id.as_str().to_owned(), (before.clone(), after)),
            _ => self.single_accepts.remove(set.id.as_str()),
        };
        self.taken.extend(shown.clone());
        shown
    }

    fn propose(&self) -> Option<ChangeSet> {
        self.place.sets().propose(&self.place.session).unwrap()
    }

    fn pending_path(&self, nth: usize) -> Option<String> {
        let set = self.propose()?;
        let pending: Vec<&str> = set
            .files
            .iter()
            .filter(|file| !file.hunks.is_empty() || file.conflict.is_some())
            .map(|file| &file.path[..])
            .collect();
        pending
            .get(nth % pending.len().max(1))
            .map(|path| (*path).to_owned())
    }

    /// What never touches the disk. Refusals are fine: the promise is about bytes.
    fn without_effect(&mut self, step: &Step) {
        match step {
            Step::AgentInserts { file, at } => {
                let token = self.token("A");
                self.agent_edits(FILES[*file], |lines| lines.insert(*at % (lines.len() + 1), token));
            }
            Step::AgentReplaces { file, at } => {
                let token = self.token("A");
                self.agent_edits(FILES[*file], |lines| {
                    let at = *at % lines.len().max(1);
                    if let Some(line) = lines.get_mut(at) {
                        *line = token;
                    }
                });
            }
            Step::AgentDeletesLine { file, at } => self.agent_edits(FILES[*file], |lines| {
                if !lines.is_empty() {
                    lines.remove(*at % lines.len());
                }
            }),
            Step::AgentCreates { file } => {
                let token = self.token("A");
                let _ = self.place.create(FILES[*file], &format!("{token}\nmore\n"));
            }
            Step::AgentDeletes { file } => drop(self.place.delete(FILES[*file])),
            Step::AgentRenames { from, to } => drop(self.place.rename(FILES[*from], FILES[*to])),
            Step::RejectAll => self.reject(&Selection::All),
            Step::RejectFile { nth } => {
                if let Some(path) = self.pending_path(*nth) {
                    self.reject(&file(&path));
                }
            }
            Step::RejectHunk { nth, number } => {
                if let Some(path) = self.pending_path(*nth) {
                    self.reject(&hunk(&path, *number));
                }
            }
            Step::Restart => self.place.reopen(),
            _ => unreachable!(),
        }
    }

    fn reject(&self, selection: &Selection) {
        if let Some(set) = self.propose() {
            let _ = self.place.sets().reject(&set.id, selection);
        }
    }

    /// Rewrites the file as the agent sees it, with LF as models write it.
    fn agent_edits(&self, path: &str, change: impl FnOnce(&mut Vec<String>)) {
        let overlay = self.place.sets().overlay(&self.place.session).unwrap();
        let bytes = match overlay.get(path.as_ref()) {
            Some(OverlayEntry::Content { bytes, .. }) => bytes.to_vec(),
            Some(OverlayEntry::Stored { file, .. }) => std::fs::read(file).unwrap(),
            Some(OverlayEntry::Deleted) => return,
            None => match std::fs::read(self.place.root().join(path)) {
                Ok(bytes) => bytes,
                Err(_) => return,
            },
        };
        let text = String::from_utf8(bytes.clone()).unwrap().replace("\r\n", "\n");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        change(&mut lines);
        let mut text_after = lines.join("\n");
        if text.ends_with('\n') && !lines.is_empty() {
            text_after.push('\n');
        }
        let path = self.place.path(path);
        let _ = (self.place.sets()).replace(
            &self.place.session,
            &call(),
            &path,
            &text_after,
            Some(&hash(&bytes)),
        );
    }
}

/// The user's tokens in a content.
fn tokens(bytes: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    text.lines()
        .filter(|line| line.starts_with('U'))
        .map(str::to_owned)
        .collect()
}

/// The user's tokens that the diff shows as deleted in what is selected.
fn deleted_tokens(set: &ChangeSet, selection: &Selection) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in &set.files {
        for shown in &file.hunks {
            let selected = match selection {
                Selection::All => true,
                Selection::File { path } => *path == file.path,
                Selection::Hunk { path, number } => *path == file.path && *number == shown.number,
            };
            if selected {
                let deleted = shown.lines.iter().filter(|line| line.kind == LineKind::Deleted);
                found.extend(
                    deleted
                        .filter(|line| line.text.starts_with('U'))
                        .map(|line| line.text.clone()),
                );
            }
        }
    }
    found
}

/// A few dozen runs each time; `PROPTEST_CASES` asks for more.
fn config() -> Config {
    let default = Config::default();
    let cases = std::env::var("PROPTEST_CASES").map_or(24, |_| default.cases);
    Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 400,
        ..default
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_byte_of_the_user_is_lost(steps in prop::collection::vec(step(), 1..40)) {
        let mut world = World::new();
        for step in &steps {
            world.run(step);
        }
        prop_assert!(world.effective > 0 || steps.len() < 40);
    }
}
