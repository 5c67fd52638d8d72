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
