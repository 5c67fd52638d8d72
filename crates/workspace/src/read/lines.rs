//! Takes a text's bytes piece by piece, counts its lines and keeps the ones asked for. Knows no files.

use super::{LineRange, ReadLimits, Truncation};
use crate::text::{self, Encoding, LineEndings};

/// Text in an encoding that keeps ASCII as it is.
pub(super) struct LineWindow {
    range: LineRange,
    limits: ReadLimits,
    /// The lines kept, still encoded, the last one perhaps not complete yet.
    kept: Vec<RawLine>,
    /// A lower bound of what `kept` will be in UTF-8.
    kept_bytes: usize,
    truncated: Option<Truncation>,
    /// The number of the line being read.
    number: u64,
    /// Whether anything of that line was seen.
    open: bool,
    last_byte: u8,
    ended: u64,
    with_return: u64,
    utf8: Utf8Check,
}

#[derive(Default)]
struct RawLine {
    bytes: Vec<u8>,
    /// Bytes of the line that were not kept.
    dropped: u64,
    /// Continuation bytes among the dropped ones, to count characters if it is UTF-8.
    dropped_continuations: u64,
}

pub(super) struct Lines {
    pub text: String,
    pub last: u64,
    pub total: u64,
    pub endings: LineEndings,
    pub final_newline: bool,
    pub truncated: Option<Truncation>,
    pub cut: u64,
}

impl LineWindow {
    pub(super) fn new(range: LineRange, limits: ReadLimits) -> Self {
        Self {
            range,
            limits,
            kept: Vec::new(),
            kept_bytes: 0,
            truncated: None,
            number: 1,
            open: false,
            last_byte: 0,
            ended: 0,
            with_return: 0,
            utf8: Utf8Check::default(),
        }
    }

    pub(super) fn feed(&mut self, piece: &[u8]) {
        self.utf8.feed(piece);
        let mut start = 0;
        for at in memchr::memchr_iter(b'\n', piece) {
            let before = if at > 0 { piece[at - 1] } else { self.last_byte };
            self.ended += 1;
            if before == b'\r' && (at > 0 || self.ended > 0) {
                self.with_return += 1;
            }
            self.take(&piece[start..at]);
            self.end_line();
            start = at + 1;
            self.last_byte = b'\n';
        }
        let rest = &piece[start..];
        if let Some(last) = rest.last() {
            self.take(rest);
            self.last_byte = *last;
        }
    }

    fn wanted(&self) -> bool {
        self.truncated.is_none()
            && self.number >= self.range.first
            && self.range.last.is_none_or(|last| self.number <= last)
    }

    fn take(&mut self, part: &[u8]) {
        if !self.open {
            self.open_line();
        }
        if !self.wanted() {
            return;
        }
        // The longest UTF-8 character has four bytes, and a CR may stand at the end.
        let max = self.limits.max_line_chars.saturating_mul(4) + 1;
        let Some(line) = self.kept.last_mut() else {
            return;
        };
        let room = max.saturating_sub(line.bytes.len()).min(part.len());
        line.bytes.extend_from_slice(&part[..room]);
        let dropped = &part[room..];
        line.dropped += dropped.len() as u64;
        line.dropped_continuations += dropped.iter().filter(|byte| is_continuation(**byte)).count() as u64;
    }

    fn open_line(&mut self) {
        self.open = true;
        if !self.wanted() {
            return;
        }
        if self.kept.len() as u64 >= self.limits.max_lines {
            self.truncated = Some(Truncation::Lines);
        } else if self.kept_bytes > self.limits.max_bytes {
            self.truncated = Some(Truncation::Bytes);
        } else {
            self.kept.push(RawLine::default());
        }
    }

    fn end_line(&mut self) {
        if !self.open {
            self.open_line();
        }
        if self.wanted()
            && let Some(line) = self.kept.last()
        {
            self.kept_bytes += line.bytes.len().min(self.limits.max_line_chars) + 1;
        }
        self.open = false;
        self.number += 1;
    }

    /// Whether everything fed so far can be UTF-8.
    pub(super) fn is_utf8(&self) -> bool {
        self.utf8.holds()
    }

    pub(super) fn finish(mut self, encoding: Encoding) -> Lines {
        let final_newline = !self.open;
        let total = self.ended + u64::from(self.open);
        let mut text = String::new();
        let mut cut = 0;
        let mut count = 0;
        for line in std::mem::take(&mut self.kept) {
            let (shown, was_cut) = line.finish(encoding, self.limits.max_line_chars);
            if count > 0 && text.len() + 1 + shown.len() > self.limits.max_bytes {
                self.truncated = Some(Truncation::Bytes);
                break;
            }
            if count > 0 {
                text.push('\n');
            }
            text.push_str(&shown);
            cut += u64::from(was_cut);
            count += 1;
        }
        Lines {
            text,
            last: self.range.first + count - 1,
            total,
            endings: LineEndings::from_counts(self.ended, self.with_return),
            final_newline,
            truncated: self.truncated,
            cut,
        }
    }
}

impl RawLine {
    fn finish(self, encoding: Encoding, max_chars: usize) -> (String, bool) {
        let mut bytes = self.bytes;
        let mut dropped_chars = match encoding {
            Encoding::Windows1252 => self.dropped,
            _ => self.dropped - self.dropped_continuations,
        };
        if self.dropped == 0 {
            if bytes.last() == Some(&b'\r') {
                bytes.pop();
            }
        } else if encoding != Encoding::Windows1252
            && let Err(error) = std::str::from_utf8(&bytes)
            && error.error_len().is_none()
        {
            // The kept part ends inside a character.
            bytes.truncate(error.valid_up_to());
            dropped_chars += 1;
        }
        let mut line = text::decode(&bytes, encoding);
        let Some((at, _)) = line.char_indices().nth(max_chars) else {
            return (line, false);
        };
        let left_out = line[at..].chars().count() as u64 + dropped_chars;
        line.truncate(at);
        line.push_str(&format!("… [{left_out} more characters in this line]"));
        (line, true)
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Checks UTF-8 that comes in pieces.
#[derive(Default)]
struct Utf8Check {
    broken: bool,
    /// The start of a character whose rest is in the next piece.
    pending: Vec<u8>,
}

impl Utf8Check {
    fn feed(&mut self, piece: &[u8]) {
        let mut piece = piece;
        while !self.broken && !self.pending.is_empty() && !piece.is_empty() {
            self.pending.push(piece[0]);
            piece = &piece[1..];
            match std::str::from_utf8(&self.pending) {
                Ok(_) => self.pending.clear(),
                Err(error) if error.error_len().is_some() => self.broken = true,
                Err(_) => {}
            }
        }
        if self.broken {
            return;
        }
        if let Err(error) = std::str::from_utf8(piece) {
            match error.error_len() {
                Some(_) => self.broken = true,
                None => self.pending.extend_from_slice(&piece[error.valid_up_to()..]),
            }
        }
    }

    fn holds(&self) -> bool {
        !self.broken && self.pending.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the pieces, the lines are the same.
    #[test]
    fn pieces_do_not_matter() {
        let content = "one\r\n\r\nthr\u{e9}e\n\tfour 你\nlast".as_bytes();
        for size in 1..content.len() {
            let mut window = LineWindow::new(LineRange::ALL, ReadLimits::default());
            for piece in content.chunks(size) {
                window.feed(piece);
            }
            assert!(window.is_utf8(), "{size}");
            let lines = window.finish(Encoding::Utf8);
            assert_eq!(lines.text, "one\n\nthr\u{e9}e\n\tfour 你\nlast", "{size}");
            assert_eq!((lines.total, lines.last), (5, 5), "{size}");
            assert_eq!(lines.endings, LineEndings::Mixed, "{size}");
            assert!(!lines.final_newline, "{size}");
        }
    }

    #[test]
    fn limits_cut_lines_and_files() {
        let limits = ReadLimits {
            max_lines: 3,
            max_bytes: 12,
            max_line_chars: 4,
        };
        let read = |content: &str, first, last| {
            let mut window = LineWindow::new(LineRange { first, last }, limits);
            window.feed(content.as_bytes());
            let lines = window.finish(Encoding::Utf8);
            (lines.text, lines.last, lines.total, lines.truncated, lines.cut)
        };
        let owned = str::to_owned;
        let cases = [
            ("", 1, None, (owned(""), 0, 0, None, 0)),
            ("\n", 1, None, (owned(""), 1, 1, None, 0)),
            ("a\nb\nc", 2, Some(2), (owned("b"), 2, 3, None, 0)),
            ("a\nb\nc", 2, Some(9), (owned("b\nc"), 3, 3, None, 0)),
            (
                "1\n2\n3\n4\n",
                1,
                None,
                (owned("1\n2\n3"), 3, 4, Some(Truncation::Lines), 0),
            ),
            ("1\n2\n3\n4\n", 2, None, (owned("2\n3\n4"), 4, 4, None, 0)),
            (
                "aaaa\nbbbb\ncccc\n",
                1,
                None,
                (owned("aaaa\nbbbb"), 2, 3, Some(Truncation::Bytes), 0),
            ),
            (
                "ééééé\n",
                1,
                None,
                (owned("éééé… [1 more characters in this line]"), 1, 1, None, 1),
            ),
        ];
        for (content, first, last, expected) in cases {
            assert_eq!(
                read(content, first, last),
                expected,
                "{content:?} {first} {last:?}"
            );
        }
        let (text, ..) = read(&"你".repeat(100), 1, None);
        assert_eq!(text, "你你你你… [96 more characters in this line]");
    }
}
