//! Puts the hunks of a patch into a file's bytes: each where its old lines are exactly, or not at all.
//!
//! Pure. A line number chooses among exact places, it never makes an inexact one good enough.

use protocol::{LineKind, changes::LineEnding};

use crate::{
    edit::{self, Layout, Mismatch},
    lines,
    nearest::{self, Nearest},
    patch::{PatchHunk, PatchLine},
};

/// Why a hunk does not fit. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HunkError {
    #[error("hunk {number}: its lines are not in the file{}", nearest.as_ref().map(|near| format!("; {near}")).unwrap_or_default())]
    NotFound { number: usize, nearest: Option<Nearest> },
    #[error("hunk {number}: {count} places match; add context or a line number")]
    Ambiguous { number: usize, count: usize },
    #[error("hunk {number}: it has no line to find its place by")]
    NoPlace { number: usize },
    #[error("{0}")]
    Text(#[from] Mismatch),
}

type Lines<'a> = Vec<(&'a [u8], LineEnding)>;

/// Applies all hunks in order, each on the result of the one before, or none.
pub fn apply_hunks(bytes: &[u8], hunks: &[PatchHunk]) -> Result<Vec<u8>, HunkError> {
    let layout = Layout::of(bytes)?;
    let mut body = bytes[layout.mark..].to_vec();
    // How far lines have moved by the hunks before, to correct the numbers of the following ones.
    let mut drift: isize = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        body = apply_hunk(&body, layout, hunk, index + 1, drift)?;
        for line in &hunk.lines {
            drift += match line.kind {
                LineKind::Added => 1,
                LineKind::Deleted => -1,
                LineKind::Context => 0,
            };
        }
    }
    let mut out = bytes[..layout.mark].to_vec();
    out.append(&mut body);
    Ok(out)
}

fn apply_hunk(
    body: &[u8],
    layout: Layout,
    hunk: &PatchHunk,
    number: usize,
    drift: isize,
) -> Result<Vec<u8>, HunkError> {
    let pieces = lines::split(body, layout.width);
    let file: Lines = pieces
        .iter()
        .map(|piece| lines::parts(piece, layout.width))
        .collect();
    let wanted: Vec<&PatchLine> = hunk
        .lines
        .iter()
        .filter(|line| line.kind != LineKind::Added)
        .collect();
    let at = place(&file, layout, hunk, &wanted, number, drift)?;
    let mut out: Vec<(Vec<u8>, LineEnding)> = Vec::new();
    let end = at + wanted.len();
    let (mut old, mut run_start, mut run_added) = (at, at, 0);
    // Lines appended after an unterminated one end that line, so it is written anew with them.
    let mut kept = at;
    if at == file.len()
        && let Some((content, LineEnding::None)) = file.last()
    {
        out.push((content.to_vec(), LineEnding::None));
        kept -= 1;
    }
    let mut added_end = None;
    for line in &hunk.lines {
        match line.kind {
            LineKind::Context => {
                out.push((file[old].0.to_vec(), file[old].1));
                old += 1;
                (run_start, run_added) = (old, 0);
                added_end = None;
            }
            LineKind::Deleted => old += 1,
            LineKind::Added => {
                // The deletions of this run may follow its additions in the patch.
                let deleted = run_length(&wanted, run_start - at);
                let ending = edit::neighbour(&file, run_start, run_start + deleted, run_added)
                    .unwrap_or_else(|| lines::dominant_ending(body, layout.width));
                out.push((layout.encode(&line.text)?, ending));
                run_added += 1;
                added_end = Some(line.unterminated);
            }
        }
    }
    if end == file.len() {
        finish_file(&mut out, &file, &wanted, added_end, body, layout);
    }
    let mut bytes: Vec<u8> = pieces[..kept].concat();
    for (content, ending) in out {
        bytes.extend(content);
        bytes.extend(layout.width.ending_bytes(ending));
    }
    bytes.extend(pieces[end..].concat());
    Ok(bytes)
}

/// Deleted lines from the `start`th old line of the hunk on, up to the next context line.
fn run_length(wanted: &[&PatchLine], start: usize) -> usize {
    wanted[start..]
        .iter()
        .take_while(|line| line.kind == LineKind::Deleted)
        .count()
}

/// The end of the file after a hunk that reaches it: as the patch's markers say; without one the file keeps
/// what it had, a final newline or none.
fn finish_file(
    out: &mut [(Vec<u8>, LineEnding)],
    file: &Lines,
    wanted: &[&PatchLine],
    added_last: Option<bool>,
    body: &[u8],
    layout: Layout,
) {
    let ended = file.last().is_none_or(|line| line.1 != LineEnding::None);
    let old_marked = wanted.last().is_some_and(|line| line.unterminated);
    // Where the last line is not a new one, every line has the ending it had.
    let Some(unterminated) = added_last else { return };
    let terminated = !unterminated && (ended || old_marked);
    let usual = lines::dominant_ending(body, layout.width);
    let count = out.len();
    for (index, line) in out.iter_mut().enumerate() {
        if index + 1 < count || terminated {
            if line.1 == LineEnding::None {
                line.1 = usual;
            }
        } else {
            line.1 = LineEnding::None;
        }
    }
}

/// The index of the line the hunk's old lines begin at.
fn place(
    file: &Lines,
    layout: Layout,
    hunk: &PatchHunk,
    wanted: &[&PatchLine],
    number: usize,
    drift: isize,
) -> Result<usize, HunkError> {
    let numbered = |start: usize| start.checked_add_signed(drift);
    if wanted.is_empty() {
        // A pure insertion: after the numbered line, or anywhere in an empty file.
        return match hunk.old_start.and_then(numbered) {
            _ if file.is_empty() => Ok(0),
            Some(after) if after <= file.len() => Ok(after),
            _ => Err(HunkError::NoPlace { number }),
        };
    }
    let not_found = |number| {
        let text: Vec<&str> = wanted.iter().map(|line| line.text.as_str()).collect();
        let mut body = String::new();
        for (content, _) in file {
            body.push_str(&workspace::text::decode(content, layout.encoding));
            body.push('\n');
        }
        HunkError::NotFound {
            number,
            nearest: nearest::find(&body, &text.join("\n")),
        }
    };
    let mut encoded = Vec::with_capacity(wanted.len());
    for line in wanted {
        match layout.encode(&line.text) {
            Ok(bytes) => encoded.push(bytes),
            Err(_) => return Err(not_found(number)),
        }
    }
    let fits = |at: usize| {
        encoded
            .iter()
            .zip(wanted)
            .enumerate()
            .all(|(index, (content, line))| {
                file.get(at + index).is_some_and(|(found, ending)| {
                    found == content && (!line.unterminated || *ending == LineEnding::None)
                })
            })
    };
    let last_start = (file.len() + 1).saturating_sub(wanted.len());
    let matches: Vec<usize> = (0..last_start).filter(|at| fits(*at)).collect();
    match matches[..] {
        [] => Err(not_found(number)),
        [only] => Ok(only),
        _ => hunk
            .old_start
            .and_then(|start| start.checked_sub(1))
            .and_then(numbered)
            .filter(|at| matches.contains(at))
            .ok_or(HunkError::Ambiguous {
                number,
                count: matches.len(),
            }),
    }
}
