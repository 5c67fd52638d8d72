//! Takes the matching lines of one file and keeps what is shown of them. Knows nothing of where the file came from.

use std::{io, path::Path};

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkMatch};

use super::{Hit, SearchLimits};
use crate::text;

pub(super) struct HitSink<'a> {
    path: &'a Path,
    matcher: &'a RegexMatcher,
    limits: SearchLimits,
    file: FileHits,
}

#[derive(Default)]
pub(super) struct FileHits {
    pub hits: Vec<Hit>,
    pub left_out: u64,
    pub binary: bool,
}

impl<'a> HitSink<'a> {
    pub(super) fn new(path: &'a Path, matcher: &'a RegexMatcher, limits: SearchLimits) -> Self {
        Self {
            path,
            matcher,
            limits,
            file: FileHits::default(),
        }
    }

    pub(super) fn finish(self) -> FileHits {
        self.file
    }
}

impl Sink for HitSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.file.hits.len() >= self.limits.max_hits_per_file {
            self.file.left_out += 1;
            return Ok(true);
        }
        let line = found.bytes();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let (start, end) = match self.matcher.find(line) {
            Ok(Some(place)) => (place.start(), place.end()),
            _ => (0, 0),
        };
        let (column, text) = excerpt(line, start, end, self.limits.max_line_chars);
        self.file.hits.push(Hit {
            path: self.path.to_owned(),
            line: found.line_number().unwrap_or(0),
            column,
            text,
        });
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        // What was found before is as much noise as the rest.
        self.file.binary = true;
        Ok(false)
    }
}

/// The column of byte `start`, and at most `max_chars` characters of the line around the match.
fn excerpt(line: &[u8], start: usize, end: usize, max_chars: usize) -> (u64, String) {
    let before = text::decode_for_display(&line[..start]);
    let column = before.chars().count() as u64 + 1;
    // Four bytes are the longest character: enough bytes to fill the excerpt, and no more of a huge line.
    let reach = max_chars.saturating_mul(4);
    let tail_end = line.len().min(end.saturating_add(reach));
    let matched_and_after = text::decode_for_display(trim_partial(&line[start..tail_end]));
    let whole_tail = tail_end == line.len();
    let before_chars = column as usize - 1;
    let after_chars = matched_and_after.chars().count();
    if whole_tail && before_chars + after_chars <= max_chars {
        return (column, before + &matched_and_after);
    }
    // A third of the room shows what leads to the match, more when little follows it.
    let lead = (max_chars / 3)
        .max(max_chars.saturating_sub(after_chars))
        .min(before_chars);
    let mut shown = String::new();
    if lead < before_chars {
        shown.push('…');
    }
    shown.extend(before.chars().skip(before_chars - lead));
    shown.extend(matched_and_after.chars().take(max_chars - lead));
    if !whole_tail || after_chars > max_chars - lead {
        shown.push('…');
    }
    (column, shown)
}

/// Leaves out the start of a character at the end.
fn trim_partial(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_keep_the_match_in_view() {
        let of = |line: &str, needle: &str, max| {
            let start = line.find(needle).unwrap();
            excerpt(line.as_bytes(), start, start + needle.len(), max)
        };
        let owned = str::to_owned;
        let cases = [
            ("let needle = 1;", 300, (5, owned("let needle = 1;"))),
            (
                "aaaaaaaaaaaaneedlebbbbbbbbbbbb",
                12,
                (13, owned("…aaaaneedlebb…")),
            ),
            ("aaaaaaaaaaaaneedle", 12, (13, owned("…aaaaaaneedle"))),
            ("needlebbbbbbbbbb", 12, (1, owned("needlebbbbbb…"))),
            ("éééééééééneedleééééééééé", 9, (10, owned("…éééneedle…"))),
        ];
        for (line, max, expected) in cases {
            assert_eq!(of(line, "needle", max), expected, "{line}");
        }
        // A file in another encoding is still shown.
        assert_eq!(excerpt(b"caf\xE9 needle", 5, 11, 300), (6, owned("café needle")));
    }
}
