//! Text replacements as splices into a file's bytes. Pure: bytes in, bytes out, never a file.
//!
//! A place is found exactly and once, or not at all; only line endings are matched tolerantly. What is written is
//! the request's text as it is, in the file's own encoding and with its neighbours' line endings. Bytes outside
//! the changed lines, the byte-order mark among them, never change.

use memchr::memmem;
use protocol::changes::LineEnding;
use workspace::text::{self, Detected, Encoding};

use crate::{
    diff,
    lines::{self, Width},
    nearest::{self, Nearest},
};

/// Replaces one occurrence of `old` by `new`. Line endings in either may be LF or CRLF; the file's are kept.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Replacement {
    pub old: String,
    pub new: String,
}

/// Why one replacement cannot be done. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    #[error("the text to replace is empty; give the exact text that is in the file")]
    EmptyOld,
    #[error("the old and the new text are the same")]
    NoChange,
    #[error("the text to replace is not in the file{}", nearest.as_ref().map(|near| format!("; {near}")).unwrap_or_default())]
    NotFound { nearest: Option<Nearest> },
    /// First lines of the matches, counted from 1, at most ten.
    #[error("{count} matches, lines {}", list(lines))]
    Ambiguous { count: usize, lines: Vec<usize> },
    #[error("“{character}” has no place in the file's encoding ({encoding})")]
    Unencodable { character: char, encoding: &'static str },
    #[error("it is not text ({reason})")]
    Binary { reason: String },
}

/// Which of several replacements failed; none of them was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacementError {
    /// Counted from 1.
    pub number: usize,
    pub of: usize,
    pub mismatch: Mismatch,
}

impl std::fmt::Display for ReplacementError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.of > 1 {
            write!(f, "edit {} of {}: ", self.number, self.of)?;
        }
        self.mismatch.fmt(f)
    }
}

impl std::error::Error for ReplacementError {}

/// Does all replacements in order, each on the result of the one before, or none.
pub fn apply_replacements(bytes: &[u8], replacements: &[Replacement]) -> Result<Vec<u8>, ReplacementError> {
    let of = replacements.len();
    let at = |number: usize| move |mismatch| ReplacementError { number, of, mismatch };
    let layout = Layout::of(bytes).map_err(at(1))?;
    let mut body = bytes[layout.mark..].to_vec();
    for (index, replacement) in replacements.iter().enumerate() {
        body = replace_once(&body, layout, replacement).map_err(at(index + 1))?;
    }
    let mut out = bytes[..layout.mark].to_vec();
    out.append(&mut body);
    Ok(out)
}

/// Replaces the whole text. Encoding, byte-order mark and the bytes of lines that stay are kept; the final
/// newline is as `text` has it.
pub fn replace_whole(bytes: &[u8], text: &str) -> Result<Vec<u8>, Mismatch> {
    let layout = Layout::of(bytes)?;
    let body = &bytes[layout.mark..];
    let fallback = lines::dominant_ending(body, layout.width);
    let mut out = bytes[..layout.mark].to_vec();
    out.append(&mut reconcile(body, &unify(text), layout, fallback)?);
    if out == bytes {
        return Err(Mismatch::NoChange);
    }
    Ok(out)
}

/// How a text file's bytes are laid out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub encoding: Encoding,
    pub width: Width,
    /// Bytes of the byte-order mark.
    pub mark: usize,
}

impl Layout {
    pub(crate) fn of(bytes: &[u8]) -> Result<Layout, Mismatch> {
        let encoding = match text::detect(bytes) {
            Detected::Text { encoding, .. } => encoding,
            Detected::Binary { reason } => {
                return Err(Mismatch::Binary {
                    reason: reason.to_string(),
                });
            }
        };
        let mark = if bytes.starts_with(encoding.mark()) {
            encoding.mark().len()
        } else {
            0
        };
        let width = match encoding {
            Encoding::Utf16Le => Width::Utf16Le,
            Encoding::Utf16Be => Width::Utf16Be,
            _ => Width::Byte,
        };
        Ok(Layout {
            encoding,
            width,
            mark,
        })
    }

    pub(crate) fn encode(self, text: &str) -> Result<Vec<u8>, Mismatch> {
        text::encode(text, self.encoding).ok_or_else(|| {
            let mut buffer = [0; 4];
            let character = text
                .chars()
                .find(|character| text::encode(character.encode_utf8(&mut buffer), self.encoding).is_none())
                .unwrap_or(char::REPLACEMENT_CHARACTER);
            Mismatch::Unencodable {
                character,
                encoding: self.encoding.name(),
            }
        })
    }
}

/// LF endings, and no byte-order mark: it is not part of the text a reader sees.
fn unify(text: &str) -> String {
    text.strip_prefix('\u{FEFF}')
        .unwrap_or(text)
        .replace("\r\n", "\n")
}

fn replace_once(body: &[u8], layout: Layout, replacement: &Replacement) -> Result<Vec<u8>, Mismatch> {
    let (old, new) = (unify(&replacement.old), unify(&replacement.new));
    if old.is_empty() {
        return Err(Mismatch::EmptyOld);
    }
    if old == new {
        return Err(Mismatch::NoChange);
    }
    let not_found = || Mismatch::NotFound {
        nearest: nearest::find(&text::decode(body, layout.encoding), &old),
    };
    // Text that cannot be encoded cannot be in the file.
    let needle = text::encode(&old, layout.encoding).ok_or_else(not_found)?;
    let unified = Unified::of(body, layout.width);
    let matches = unified.find_all(&needle, layout.width);
    if matches.is_empty()
        && let Some(bare) = without_line_numbers(&old, &new)
    {
        match replace_once(body, layout, &bare) {
            Err(Mismatch::NotFound { .. } | Mismatch::NoChange | Mismatch::EmptyOld) => {}
            decided => return decided,
        }
    }
    let [at] = matches[..] else {
        return Err(match matches.len() {
            0 => not_found(),
            count => Mismatch::Ambiguous {
                count,
                lines: matches
                    .iter()
                    .take(10)
                    .map(|at| unified.line_of(*at, layout.width))
                    .collect(),
            },
        });
    };
    let (start, end) = (
        unified.original(at, layout.width),
        unified.original(at + needle.len(), layout.width),
    );
    let ending = ending_around(body, end, layout.width);
    let mut out = body[..start].to_vec();
    out.append(&mut reconcile(&body[start..end], &new, layout, ending)?);
    out.extend_from_slice(&body[end..]);
    Ok(out)
}

/// The same replacement without the numbers that a reader puts before each line (`12│text`), where all lines of `old`
/// carry them, one after the other. `new` carries them on all lines or on none.
fn without_line_numbers(old: &str, new: &str) -> Option<Replacement> {
    let mut next = None;
    let mut bare = Vec::new();
    let lines: Vec<&str> = old.split('\n').collect();
    for (index, line) in lines.iter().enumerate() {
        // What follows a final newline.
        if line.is_empty() && index > 0 && index + 1 == lines.len() {
            bare.push("");
            continue;
        }
        let (number, text) = numbered(line)?;
        if next.is_some_and(|next| next != number) {
            return None;
        }
        next = Some(number + 1);
        bare.push(text);
    }
    let new_lines: Vec<&str> = new.split('\n').collect();
    let stripped: Vec<Option<&str>> = new_lines
        .iter()
        .map(|line| numbered(line).map(|(_, text)| text))
        .collect();
    let carries = |index: usize| stripped[index].is_some() || new_lines[index].is_empty();
    let new = match stripped.iter().any(Option::is_some) {
        false => new.to_owned(),
        true if (0..new_lines.len()).all(carries) => {
            let texts: Vec<&str> = stripped.iter().map(|text| text.unwrap_or_default()).collect();
            texts.join("\n")
        }
        true => return None,
    };
    Some(Replacement {
        old: bare.join("\n"),
        new,
    })
}

fn numbered(line: &str) -> Option<(u64, &str)> {
    let (number, text) = line.trim_start_matches(' ').split_once('│')?;
    Some((number.parse().ok()?, text))
}

/// A body with every CRLF as LF, and the way back to the original offsets.
struct Unified {
    bytes: Vec<u8>,
    /// Offsets in `bytes` of the line feeds that had a carriage return, ascending.
    pairs: Vec<usize>,
}

impl Unified {
    fn of(body: &[u8], width: Width) -> Unified {
        let mut bytes = Vec::with_capacity(body.len());
        let mut pairs = Vec::new();
        for piece in lines::split(body, width) {
            let (content, ending) = lines::parts(piece, width);
            bytes.extend_from_slice(content);
            if ending == LineEnding::Crlf {
                pairs.push(bytes.len());
            }
            if ending != LineEnding::None {
                bytes.extend_from_slice(width.line_feed());
            }
        }
        Unified { bytes, pairs }
    }

    /// Every place the needle is at, overlapping ones too: two places are two, however they lie.
    fn find_all(&self, needle: &[u8], width: Width) -> Vec<usize> {
        let finder = memmem::Finder::new(needle);
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(at) = finder.find(&self.bytes[from..]).map(|at| at + from) {
            // In a two-byte encoding a match between two units is none.
            if at % width.unit() == 0 {
                found.push(at);
            }
            from = at + 1;
        }
        found
    }

    fn original(&self, offset: usize, width: Width) -> usize {
        offset + self.pairs.partition_point(|pair| *pair < offset) * width.unit()
    }

    fn line_of(&self, offset: usize, width: Width) -> usize {
        lines::split(&self.bytes[..offset], width)
            .iter()
            .filter(|piece| lines::parts(piece, width).1 != LineEnding::None)
            .count()
            + 1
    }
}

/// The ending of the line that holds offset `at`; of the line before it where that one is unterminated.
fn ending_around(body: &[u8], at: usize, width: Width) -> LineEnding {
    let mut passed = 0;
    let mut before = None;
    for piece in lines::split(body, width) {
        passed += piece.len();
        match lines::parts(piece, width).1 {
            LineEnding::None => break,
            ending if passed > at => return ending,
            ending => before = Some(ending),
        }
    }
    before.unwrap_or_else(|| lines::dominant_ending(body, width))
}

/// The bytes of `new` (LF endings) in place of `segment`: lines that are in both keep their bytes, new lines take
/// the ending of the line they replace or follow.
fn reconcile(segment: &[u8], new: &str, layout: Layout, fallback: LineEnding) -> Result<Vec<u8>, Mismatch> {
    let width = layout.width;
    let old_lines = lines::split(segment, width);
    let old: Vec<(&[u8], LineEnding)> = old_lines.iter().map(|piece| lines::parts(piece, width)).collect();
    let mut new_lines = Vec::new();
    for line in new.split_inclusive('\n') {
        let content = line.strip_suffix('\n');
        new_lines.push((layout.encode(content.unwrap_or(line))?, content.is_some()));
    }
    let old_keys: Vec<(&[u8], bool)> = old
        .iter()
        .map(|(content, ending)| (*content, *ending != LineEnding::None))
        .collect();
    let new_keys: Vec<(&[u8], bool)> = new_lines
        .iter()
        .map(|(content, ended)| (&content[..], *ended))
        .collect();
    let mut out = Vec::new();
    let mut at = 0;
    for change in diff::changes(&old_keys, &new_keys) {
        old_lines[at..change.old.start]
            .iter()
            .for_each(|piece| out.extend_from_slice(piece));
        for (index, (content, ended)) in new_keys[change.new.clone()].iter().enumerate() {
            out.extend_from_slice(content);
            if *ended {
                let ending = neighbour(&old, change.old.start, change.old.end, index).unwrap_or(fallback);
                out.extend(width.ending_bytes(ending));
            }
        }
        at = change.old.end;
    }
    old_lines[at..]
        .iter()
        .for_each(|piece| out.extend_from_slice(piece));
    Ok(out)
}

/// The ending for the `index`th new line in place of lines `start..end`: that of its counterpart, else of the
/// nearest line before, else of the next one after.
pub(crate) fn neighbour(
    lines: &[(&[u8], LineEnding)],
    start: usize,
    end: usize,
    index: usize,
) -> Option<LineEnding> {
    let counterpart = (start + index).min(end);
    let ended = |line: &&(&[u8], LineEnding)| line.1 != LineEnding::None;
    let at_counterpart = lines
        .get(counterpart)
        .filter(|_| counterpart < end)
        .filter(|line| line.1 != LineEnding::None);
    at_counterpart
        .or_else(|| lines[..counterpart].iter().rev().find(ended))
        .or_else(|| lines[counterpart..].iter().find(ended))
        .map(|line| line.1)
}

fn list(lines: &[usize]) -> String {
    let words: Vec<String> = lines.iter().map(usize::to_string).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
}
