//! Line differences between two contents, and rebuilding a content from some of them. The product's only diff.
//!
//! Owns hunks and their numbers: the same two contents always give the same hunks, so that a number a person
//! saw means the same hunk later. It knows nothing of files, paths or drafts.

use std::{collections::HashMap, ops::Range};

use protocol::{
    LineKind,
    changes::{DiffHunk, DiffLine},
};
use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::lines::{self, Width};

/// Lines of context around a change; changes nearer than twice this are one hunk.
const CONTEXT: usize = 3;

/// One run of lines that differ; everything between two changes is equal byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// A hunk with its pieces as they are, endings included.
pub(crate) struct RawHunk<'a> {
    /// What it covers on both sides, context included.
    pub span: Change,
    pub lines: Vec<(LineKind, &'a [u8])>,
}

/// Two contents and where they differ.
pub struct Diff<'a> {
    width: Width,
    old: Vec<&'a [u8]>,
    new: Vec<&'a [u8]>,
    changes: Vec<Change>,
}

impl<'a> Diff<'a> {
    pub fn of(old: &'a [u8], new: &'a [u8]) -> Diff<'a> {
        let width = Width::common(&[old, new]);
        let (old, new) = (lines::split(old, width), lines::split(new, width));
        let changes = changes(&old, &new);
        Diff {
            width,
            old,
            new,
            changes,
        }
    }

    /// Lines added and lines deleted.
    pub fn counts(&self) -> (u64, u64) {
        self.changes.iter().fold((0, 0), |(added, deleted), change| {
            (added + change.new.len() as u64, deleted + change.old.len() as u64)
        })
    }

    /// The changes grouped as they are shown and decided about; hunk `n` is element `n - 1`.
    fn groups(&self) -> Vec<&[Change]> {
        let mut groups = Vec::new();
        let mut start = 0;
        for index in 1..=self.changes.len() {
            let ends = match self.changes.get(index) {
                Some(next) => next.old.start - self.changes[index - 1].old.end > 2 * CONTEXT,
                None => true,
            };
            if ends {
                groups.push(&self.changes[start..index]);
                start = index;
            }
        }
        groups
    }

    pub fn hunk_count(&self) -> u32 {
        self.groups().len() as u32
    }

    /// The old content with the new lines of the chosen hunks only. Choosing all gives the new content, choosing
    /// none the old one, byte for byte.
    pub fn rebuild(&self, chosen: impl Fn(u32) -> bool) -> Vec<u8> {
        let mut out = Vec::new();
        let mut at = 0;
        for (index, group) in self.groups().into_iter().enumerate() {
            if !chosen(index as u32 + 1) {
                continue;
            }
            for change in group {
                extend(&mut out, &self.old[at..change.old.start]);
                extend(&mut out, &self.new[change.new.clone()]);
                at = change.old.end;
            }
        }
        extend(&mut out, &self.old[at..]);
        out
    }

    /// Hunks as the wire shows them; `decode` turns a line without its ending into text.
    pub fn hunks(&self, decode: impl Fn(&[u8]) -> String) -> Vec<DiffHunk> {
        self.groups()
            .into_iter()
            .enumerate()
            .map(|(index, group)| self.hunk(index as u32 + 1, group, &decode))
            .collect()
    }

    fn hunk(&self, number: u32, group: &[Change], decode: &impl Fn(&[u8]) -> String) -> DiffHunk {
        let span = self.span(group);
        let lines = self
            .walk(group, &span)
            .into_iter()
            .map(|(kind, piece)| {
                let (content, ending) = lines::parts(piece, self.width);
                DiffLine {
                    kind,
                    text: decode(content),
                    ending,
                }
            })
            .collect();
        DiffHunk {
            number,
            old_start: first_line(&span.old),
            old_lines: span.old.len() as u32,
            new_start: first_line(&span.new),
            new_lines: span.new.len() as u32,
            lines,
        }
    }

    /// Every hunk as a patch file holds it.
    pub(crate) fn raw_hunks(&self) -> Vec<RawHunk<'a>> {
        self.groups()
            .into_iter()
            .map(|group| {
                let span = self.span(group);
                let lines = self.walk(group, &span);
                RawHunk { span, lines }
            })
            .collect()
    }

    /// The lines a group covers on both sides, context included.
    fn span(&self, group: &[Change]) -> Change {
        let (first, last) = (&group[0], &group[group.len() - 1]);
        let before = first.old.start.min(CONTEXT);
        let after = (self.old.len() - last.old.end).min(CONTEXT);
        Change {
            old: first.old.start - before..last.old.end + after,
            new: first.new.start - before..last.new.end + after,
        }
    }

    fn walk(&self, group: &[Change], span: &Change) -> Vec<(LineKind, &'a [u8])> {
        let mut out = Vec::new();
        let mut at = span.old.start;
        let mut push = |kind, pieces: &[&'a [u8]]| out.extend(pieces.iter().map(|piece| (kind, *piece)));
        for change in group {
            push(LineKind::Context, &self.old[at..change.old.start]);
            push(LineKind::Deleted, &self.old[change.old.clone()]);
            push(LineKind::Added, &self.new[change.new.clone()]);
            at = change.old.end;
        }
        push(LineKind::Context, &self.old[at..span.old.end]);
        out
    }
}

/// Header numbers count from 1; an empty side names the line before it, as unified diffs do.
pub(crate) fn first_line(range: &Range<usize>) -> u32 {
    if range.is_empty() {
        range.start as u32
    } else {
        range.start as u32 + 1
    }
}

/// Where two sequences of lines differ. Deterministic: no time limit decides about the result.
pub(crate) fn changes<'t, T: std::hash::Hash + Eq>(old: &'t [T], new: &'t [T]) -> Vec<Change> {
    // Comparing small numbers instead of lines makes the search independent of line length.
    let mut ids: HashMap<&'t T, u32> = HashMap::new();
    let mut intern = |lines: &'t [T]| -> Vec<u32> {
        let mut numbers = Vec::with_capacity(lines.len());
        for line in lines {
            let next = ids.len() as u32;
            numbers.push(*ids.entry(line).or_insert(next));
        }
        numbers
    };
    let (old, new) = (intern(old), intern(new));
    let mut changes: Vec<Change> = Vec::new();
    for operation in capture_diff_slices(Algorithm::Myers, &old, &new) {
        if operation.tag() == DiffTag::Equal {
            continue;
        }
        let (old, new) = (operation.old_range(), operation.new_range());
        match changes.last_mut() {
            // A deletion followed by an insertion at the same place is one change.
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            _ => changes.push(Change { old, new }),
        }
    }
    changes
}

fn extend(out: &mut Vec<u8>, pieces: &[&[u8]]) {
    for piece in pieces {
        out.extend_from_slice(piece);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Contents that share lines, with every kind of ending and often without a final one.
    pub(crate) fn content() -> impl Strategy<Value = Vec<u8>> {
        let line = prop_oneof![
            4 => (0..12u8).prop_map(|n| format!("line {n}")),
            1 => Just(String::new()),
            1 => Just("\u{e9}".to_owned()),
        ];
        let ending = prop_oneof![4 => Just("\n"), 1 => Just("\r\n")];
        (prop::collection::vec((line, ending), 0..40), any::<bool>()).prop_map(|(lines, ended)| {
            let mut text: String = lines
                .iter()
                .map(|(line, ending)| format!("{line}{ending}"))
                .collect();
            if !ended {
                text.truncate(text.trim_end_matches(['\n', '\r']).len());
            }
            text.into_bytes()
        })
    }

    proptest! {
        /// Accepting any hunks one after the other, in any order, comes to the same as choosing them at once; all of
        /// them are the new content and none the old.
        #[test]
        fn rebuilding_is_exact(old in content(), new in content(), chosen in any::<u32>()) {
            let diff = Diff::of(&old, &new);
            prop_assert_eq!(diff.rebuild(|_| true), new.clone());
            prop_assert_eq!(diff.rebuild(|_| false), old.clone());
            let some = diff.rebuild(|number| chosen >> (number % 32) & 1 == 1);
            let rest = Diff::of(&some, &new);
            prop_assert_eq!(rest.rebuild(|_| true), new.clone());
            // What was not chosen, taken the other way round, leads back.
            prop_assert_eq!(Diff::of(&new, &some).rebuild(|_| true), some);
        }

        /// The hunks shown add up to the counts shown, and their numbers to the lines they cover.
        #[test]
        fn hunks_and_counts_agree(old in content(), new in content()) {
            let diff = Diff::of(&old, &new);
            let hunks = diff.hunks(|line| String::from_utf8_lossy(line).into_owned());
            let of_kind = |kind| hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind == kind).count() as u64;
            prop_assert_eq!((of_kind(LineKind::Added), of_kind(LineKind::Deleted)), diff.counts());
            for hunk in &hunks {
                let kinds = |left: LineKind| hunk.lines.iter().filter(|line| line.kind != left).count() as u32;
                prop_assert_eq!(kinds(LineKind::Added), hunk.old_lines);
                prop_assert_eq!(kinds(LineKind::Deleted), hunk.new_lines);
            }
        }

        /// What we write as a patch we read back, and it makes the new content of the old one.
        #[test]
        fn a_written_patch_applies(old in content(), new in content()) {
            prop_assume!(old != new);
            let side = |bytes| crate::unified::Side { path: std::path::Path::new("f"), bytes, mode: 0o644 };
            let mut patch = Vec::new();
            crate::unified::write_file(&mut patch, Some(side(&old)), Some(side(&new)), crate::unified::Form::Lines);
            // A patch in a text message has LF ends only; endings are the file's business.
            let text = String::from_utf8(patch).unwrap();
            let mixed = text.contains('\r');
            let files = crate::patch::parse(&text).unwrap();
            let applied = crate::hunks::apply_hunks(&old, &files[0].hunks);
            prop_assert!(applied.is_ok(), "{:?}\n{}", applied, text);
            if !mixed {
                prop_assert_eq!(String::from_utf8(applied.unwrap()), String::from_utf8(new));
            }
        }

        /// A merge does not depend on whose side is whose, and loses no line either side added.
        #[test]
        fn merging_is_symmetric_and_keeps_added_lines(base in content(), at in 0..40usize, ours in content()) {
            let mut lines: Vec<&[u8]> = crate::lines::split(&base, Width::Byte);
            lines.insert(at.min(lines.len().saturating_sub(1)), b"UNIQUE\n");
            let theirs = lines.concat();
            let (left, right) = (crate::merge::merge(&base, &ours, &theirs), crate::merge::merge(&base, &theirs, &ours));
            match (left, right) {
                (crate::merge::Merged::Clean(left), crate::merge::Merged::Clean(right)) => {
                    prop_assert_eq!(&left, &right);
                    prop_assert!(left.windows(7).any(|window| window == b"UNIQUE\n"));
                    let diff = Diff::of(&base, &ours);
                    prop_assert_eq!(Diff::of(&theirs, &left).counts(), diff.counts());
                }
                (crate::merge::Merged::Conflict(left), crate::merge::Merged::Conflict(right)) => {
                    prop_assert_eq!(left.len(), right.len());
                }
                (left, right) => prop_assert!(false, "{left:?} {right:?}"),
            }
        }
    }
}
