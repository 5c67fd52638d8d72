//! Three-way merge of bytes, line by line. Takes what only one side changed and what both changed alike;
//! anything that overlaps or touches is a conflict, never a guess.
//!
//! Pure: it knows nothing of files. Line endings and a missing final newline are part of a line.

use std::ops::Range;

use crate::{
    diff::{self, Change},
    lines::{self, Width},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    Clean(Vec<u8>),
    Conflict(Vec<Clash>),
}

/// One place both sides changed differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// First line of the place in `ours`, counted from 1.
    pub line: usize,
    pub ours: Vec<u8>,
    pub theirs: Vec<u8>,
}

/// Merges the changes `base → ours` and `base → theirs`.
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Merged {
    if ours == theirs || base == theirs {
        return Merged::Clean(ours.to_vec());
    }
    if base == ours {
        return Merged::Clean(theirs.to_vec());
    }
    let width = Width::common(&[base, ours, theirs]);
    let base = lines::split(base, width);
    let ours = Side::new(&base, lines::split(ours, width));
    let theirs = Side::new(&base, lines::split(theirs, width));
    let mut out = Vec::new();
    let mut clashes = Vec::new();
    let mut at = 0;
    let (mut our_next, mut their_next) = (0, 0);
    while let Some(cluster) = next_cluster(&ours, &theirs, our_next, their_next) {
        extend(&mut out, &base[at..cluster.base.start]);
        let (our_text, our_start) = ours.text(&base, &cluster.base, our_next..cluster.ours);
        let (their_text, _) = theirs.text(&base, &cluster.base, their_next..cluster.theirs);
        if our_next == cluster.ours {
            out.extend_from_slice(&their_text);
        } else if their_next == cluster.theirs || our_text == their_text {
            out.extend_from_slice(&our_text);
        } else {
            clashes.push(Clash {
                line: our_start + 1,
                ours: our_text,
                theirs: their_text,
            });
        }
        at = cluster.base.end;
        (our_next, their_next) = (cluster.ours, cluster.theirs);
    }
    extend(&mut out, &base[at..]);
    if clashes.is_empty() {
        Merged::Clean(out)
    } else {
        Merged::Conflict(clashes)
    }
}

struct Side<'a> {
    lines: Vec<&'a [u8]>,
    changes: Vec<Change>,
}

impl<'a> Side<'a> {
    fn new(base: &[&'a [u8]], lines: Vec<&'a [u8]>) -> Side<'a> {
        let changes = diff::changes(base, &lines);
        Side { lines, changes }
    }

    /// This side's content of a range of base lines that holds exactly the given changes, and the line it starts at.
    fn text(&self, base: &[&[u8]], range: &Range<usize>, changes: Range<usize>) -> (Vec<u8>, usize) {
        let shift_before = changes.start.checked_sub(1).map_or((0, 0), |index| {
            (self.changes[index].old.end, self.changes[index].new.end)
        });
        let start = shift_before.1 + (range.start - shift_before.0);
        let mut out = Vec::new();
        let mut at = range.start;
        for change in &self.changes[changes] {
            extend(&mut out, &base[at..change.old.start]);
            extend(&mut out, &self.lines[change.new.clone()]);
            at = change.old.end;
        }
        extend(&mut out, &base[at..range.end]);
        (out, start)
    }
}

/// A range of base lines outside of which neither side's neighbouring changes reach, with the index after the
/// last change of each side that belongs to it.
struct Cluster {
    base: Range<usize>,
    ours: usize,
    theirs: usize,
}

fn next_cluster(ours: &Side, theirs: &Side, our_next: usize, their_next: usize) -> Option<Cluster> {
    let (mut our_index, mut their_index) = (our_next, their_next);
    let first = match (ours.changes.get(our_index), theirs.changes.get(their_index)) {
        (None, None) => return None,
        (Some(change), None) | (None, Some(change)) => change,
        (Some(our), Some(their)) if our.old.start <= their.old.start => our,
        (Some(_), Some(their)) => their,
    };
    let mut base = first.old.start..first.old.end;
    loop {
        let mut grown = false;
        for (side, index) in [(ours, &mut our_index), (theirs, &mut their_index)] {
            while let Some(change) = side.changes.get(*index)
                && change.old.start <= base.end
            {
                base.end = base.end.max(change.old.end);
                *index += 1;
                grown = true;
            }
        }
        if !grown {
            break;
        }
    }
    Some(Cluster {
        base,
        ours: our_index,
        theirs: their_index,
    })
}

fn extend(out: &mut Vec<u8>, pieces: &[&[u8]]) {
    for piece in pieces {
        out.extend_from_slice(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_what_is_apart_and_reports_what_overlaps() {
        let ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
        let cases: &[(&str, &str, &str, &str, Option<&str>)] = &[
            (
                "apart",
                ten,
                "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n",
                "1\n2\n3\n4\n5\n6\n7\neight\n9\n10\n",
                Some("1\ntwo\n3\n4\n5\n6\n7\neight\n9\n10\n"),
            ),
            ("same on both sides", "a\nb\n", "a\nB\n", "a\nB\n", Some("a\nB\n")),
            (
                "same on both sides and one more",
                "a\nb\nc\nd\n",
                "a\nB\nc\nd\n",
                "a\nB\nc\nD\n",
                Some("a\nB\nc\nD\n"),
            ),
            (
                "endings and final newline kept",
                "a\r\nb\r\nc\r\nd",
                "A\r\nb\r\nc\r\nd",
                "a\r\nb\r\nc\r\nD",
                Some("A\r\nb\r\nc\r\nD"),
            ),
            ("overlap", "a\nb\n", "a\nX\n", "a\nY\n", None),
            ("neighbours", "a\nb\n", "A\nb\n", "a\nB\n", None),
            ("both insert at one place", "a\n", "a\nx\n", "a\ny\n", None),
            ("edit against deletion", "a\nb\nc\n", "a\nB\nc\n", "a\nc\n", None),
            ("both from nothing", "", "x\n", "y\n", None),
        ];
        for (name, base, ours, theirs, expected) in cases {
            let merged = merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
            match expected {
                Some(text) => assert_eq!(merged, Merged::Clean(text.as_bytes().to_vec()), "{name}"),
                None => assert!(matches!(merged, Merged::Conflict(_)), "{name}"),
            }
        }
    }

    #[test]
    fn a_conflict_names_the_line_and_both_sides() {
        let merged = merge(
            b"1\n2\n3\n4\n5\n",
            b"0\n1\n2\n3\nmine\n5\n",
            b"1\n2\n3\nyours\n5\n",
        );
        assert_eq!(
            merged,
            Merged::Conflict(vec![Clash {
                line: 5,
                ours: b"mine\n".to_vec(),
                theirs: b"yours\n".to_vec()
            }])
        );
    }
}
