//! What a list of effects makes of the disk as it is now: the exact writes, or the conflicts that prevent them.
//!
//! Owns the rules of "base check, then merge, then conflict". Reads the disk, writes nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use protocol::ContentHash;

use crate::{
    content::Content,
    disk::{self, DiskError, FileState},
    edit::Layout,
    error::{ApplyError, PathConflict},
    merge::{self, Clash, Merged},
    nearest,
    record::{Effect, Located, StoredPath, Version},
};

/// Finds contents by hash.
pub(crate) type Contents<'a> = &'a dyn Fn(&ContentHash) -> Result<Content, ApplyError>;

/// The disk with planned effects done to it in memory.
pub(crate) struct Tree<'a> {
    root: &'a Path,
    contents: Contents<'a>,
    wording: Wording,
    original: BTreeMap<StoredPath, Option<FileState>>,
    current: BTreeMap<StoredPath, Option<FileState>>,
}

/// What the side that is not the disk is called in a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wording {
    Proposed,
    BeforeTheChange,
}

impl Wording {
    fn other_side(self) -> &'static str {
        match self {
            Wording::Proposed => "proposed",
            Wording::BeforeTheChange => "to be put back",
        }
    }
}

/// One path from its content on disk to a new one.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub path: StoredPath,
    pub before: Option<FileState>,
    pub after: Option<FileState>,
}

impl<'a> Tree<'a> {
    pub fn new(root: &'a Path, contents: Contents<'a>, wording: Wording) -> Tree<'a> {
        Tree {
            root,
            contents,
            wording,
            original: BTreeMap::new(),
            current: BTreeMap::new(),
        }
    }

    pub fn get(&mut self, path: &StoredPath) -> Result<Option<FileState>, ApplyError> {
        if let Some(state) = self.current.get(path) {
            return Ok(state.clone());
        }
        let state = disk::look(self.root, &path.0).map_err(|error| ApplyError::Io {
            path: path.display(),
            reason: error.to_string(),
        })?;
        self.original.insert(path.clone(), state.clone());
        self.current.insert(path.clone(), state.clone());
        Ok(state)
    }

    /// Does the effects of one step together and returns what each really changes; those that find their work done
    /// are left out. On a conflict the tree is not usable any more.
    pub fn apply(&mut self, step: &[Effect]) -> Result<Vec<Effect>, ApplyError> {
        let mut conflicts = Vec::new();
        // What moves away or goes frees its path for what comes in the same step.
        let leaving: BTreeSet<&StoredPath> = step.iter().filter_map(left_path).collect();
        let mut outcomes: Vec<(&Effect, Option<FileState>, Option<FileState>)> = Vec::new();
        for effect in step {
            match self.outcome(effect, &leaving)? {
                Outcome::Becomes(before, after) => outcomes.push((effect, before, after)),
                Outcome::Done => {}
                Outcome::Conflict(detail) => conflicts.push(conflict(effect, detail)),
            }
        }
        let freed: BTreeSet<&StoredPath> = outcomes
            .iter()
            .filter_map(|(effect, ..)| left_path(effect))
            .collect();
        for (effect, ..) in &outcomes {
            let Some(to) = &effect.to else { continue };
            let stays = effect.from.as_ref().is_some_and(|from| from.path == to.path);
            if !stays && !freed.contains(&to.path) && self.get(&to.path)?.is_some() {
                conflicts.push(conflict(
                    effect,
                    "there is another file of that name on disk".to_owned(),
                ));
            }
        }
        if !conflicts.is_empty() {
            return Err(ApplyError::Conflict { conflicts });
        }
        for path in freed {
            self.current.insert(path.clone(), None);
        }
        let mut actual = Vec::new();
        for (effect, before, after) in outcomes {
            let at = |located: &Option<Located>, state: &Option<FileState>| {
                let (located, state) = located.as_ref().zip(state.as_ref())?;
                Some(Located {
                    path: located.path.clone(),
                    version: state.version.clone(),
                })
            };
            if let Some(to) = &effect.to {
                self.current.insert(to.path.clone(), after.clone());
            }
            let effect = Effect {
                from: at(&effect.from, &before),
                to: at(&effect.to, &after),
            };
            if !effect.changes_nothing() {
                actual.push(effect);
            }
        }
        Ok(actual)
    }

    /// The difference between the disk and what the effects make of it, in path order.
    pub fn writes(self) -> Vec<Write> {
        let mut original = self.original;
        self.current
            .into_iter()
            .filter_map(|(path, after)| {
                let before = original.remove(&path).flatten();
                let same =
                    before.as_ref().map(|state| &state.version) == after.as_ref().map(|state| &state.version);
                (!same).then_some(Write { path, before, after })
            })
            .collect()
    }

    fn outcome(&mut self, effect: &Effect, leaving: &BTreeSet<&StoredPath>) -> Result<Outcome, ApplyError> {
        let Some(from) = &effect.from else {
            return self.creation(effect, leaving);
        };
        let Some(found) = self.get(&from.path)? else {
            return match &effect.to {
                None => Ok(Outcome::Done),
                // A rename that was already done by hand, to the same result.
                Some(to) if to.path != from.path => {
                    let there = self.get(&to.path)?;
                    Ok(match there {
                        Some(there) if there.version == to.version => Outcome::Done,
                        _ => Outcome::Conflict(format!("{} was deleted on disk", from.path.display())),
                    })
                }
                Some(_) => Ok(Outcome::Conflict("it was deleted on disk".to_owned())),
            };
        };
        let Some(to) = &effect.to else {
            return Ok(if found.version == from.version {
                Outcome::Becomes(Some(found), None)
            } else {
                Outcome::Conflict("it was changed on disk since, and deleting it would lose that".to_owned())
            });
        };
        if found.version == to.version && from.path == to.path {
            return Ok(Outcome::Done);
        }
        let after = (self.contents)(&to.version.hash)?;
        if found.version.hash == from.version.hash {
            let mode = merged_mode(from.version.mode, found.version.mode, to.version.mode);
            let version = Version {
                hash: to.version.hash.clone(),
                mode,
            };
            return Ok(Outcome::Becomes(Some(found), Some(FileState::of(after, version))));
        }
        let base = (self.contents)(&from.version.hash)?;
        match merge_contents(&base, &found.content, &after, self.wording.other_side()) {
            Ok(bytes) => {
                let mode = merged_mode(from.version.mode, found.version.mode, to.version.mode);
                Ok(Outcome::Becomes(Some(found), Some(FileState::new(bytes, mode))))
            }
            Err(detail) => Ok(Outcome::Conflict(detail)),
        }
    }

    fn creation(&mut self, effect: &Effect, leaving: &BTreeSet<&StoredPath>) -> Result<Outcome, ApplyError> {
        let Some(to) = &effect.to else {
            return Ok(Outcome::Done);
        };
        match self.get(&to.path)? {
            // An equal file that stays is the work done.
            Some(there) if there.version.hash == to.version.hash && !leaving.contains(&to.path) => {
                Ok(Outcome::Done)
            }
            _ => {
                let content = (self.contents)(&to.version.hash)?;
                Ok(Outcome::Becomes(
                    None,
                    Some(FileState::of(content, to.version.clone())),
                ))
            }
        }
    }
}

/// The path an effect leaves without a file.
fn left_path(effect: &Effect) -> Option<&StoredPath> {
    let from = &effect.from.as_ref()?.path;
    (effect.to.as_ref().map(|to| &to.path) != Some(from)).then_some(from)
}

enum Outcome {
    Becomes(Option<FileState>, Option<FileState>),
    Done,
    Conflict(String),
}

fn conflict(effect: &Effect, detail: String) -> PathConflict {
    PathConflict {
        path: effect.path().map(StoredPath::display).unwrap_or_default(),
        detail,
    }
}

/// As [`merge_text`], for contents of any size.
pub(crate) fn merge_contents(
    base: &Content,
    found: &Content,
    after: &Content,
    other: &str,
) -> Result<Vec<u8>, String> {
    match (base.bytes(), found.bytes(), after.bytes()) {
        (Some(base), Some(found), Some(after)) => merge_text(base, found, after, other),
        _ => Err("it is too large to be merged, and both sides changed it".to_owned()),
    }
}

/// Merges the change `base → after` into `found`; the error names both sides.
pub(crate) fn merge_text(base: &[u8], found: &[u8], after: &[u8], other: &str) -> Result<Vec<u8>, String> {
    if found == after {
        return Ok(found.to_vec());
    }
    if [base, found, after]
        .iter()
        .any(|bytes| Layout::of(bytes).is_err())
    {
        return Err("it is not text, and both sides changed it".to_owned());
    }
    match merge::merge(base, found, after) {
        Merged::Clean(bytes) => Ok(bytes),
        Merged::Conflict(clashes) => Err(describe(&clashes, found, other)),
    }
}

fn describe(clashes: &[Clash], found: &[u8], other: &str) -> String {
    let encoding = Layout::of(found).map_or(workspace::text::Encoding::Utf8, |layout| layout.encoding);
    let side = |bytes: &[u8]| {
        let text = workspace::text::decode(bytes, encoding);
        let mut lines = text.lines();
        let Some(first) = lines.next() else {
            return "nothing".to_owned();
        };
        match lines.count() {
            0 => nearest::quote(first),
            more => format!("{} and {more} more lines", nearest::quote(first)),
        }
    };
    let shown: Vec<String> = clashes
        .iter()
        .take(3)
        .map(|clash| {
            let (ours, theirs) = (side(&clash.ours), side(&clash.theirs));
            format!("line {}: on disk {ours}, {other} {theirs}", clash.line)
        })
        .collect();
    let more = clashes.len().saturating_sub(3);
    match more {
        0 => shown.join("; "),
        _ => format!("{}; and {more} more places", shown.join("; ")),
    }
}

/// The side that changed the mode wins; where both did, the proposal does.
fn merged_mode(base: u32, found: u32, after: u32) -> u32 {
    if base == after { found } else { after }
}

/// Whether two states are the same file content and mode.
pub(crate) fn same(state: Option<&FileState>, version: Option<&Version>) -> bool {
    state.map(|state| &state.version) == version
}

impl From<DiskError> for ApplyError {
    fn from(error: DiskError) -> Self {
        ApplyError::Io {
            path: "a file".to_owned(),
            reason: error.to_string(),
        }
    }
}
