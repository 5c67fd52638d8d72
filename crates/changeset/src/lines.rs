//! Lines of a file as bytes: where they end and with which ending, for one-byte and two-byte encodings.
//!
//! Owns nothing but the splitting; it must not decode, compare or change content.

use protocol::changes::LineEnding;

/// The size and byte order of one character unit, as far as finding line ends needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// UTF-8 and the one-byte encodings: an ending is the byte 0x0A.
    Byte,
    Utf16Le,
    Utf16Be,
}

impl Width {
    /// UTF-16 is recognised by its byte-order mark only.
    pub fn of(bytes: &[u8]) -> Width {
        match bytes {
            [0xFF, 0xFE, ..] => Width::Utf16Le,
            [0xFE, 0xFF, ..] => Width::Utf16Be,
            _ => Width::Byte,
        }
    }

    /// The width to compare several contents with: that of UTF-16 only where every non-empty one has it.
    pub fn common(contents: &[&[u8]]) -> Width {
        let mut widths = contents
            .iter()
            .filter(|bytes| !bytes.is_empty())
            .map(|bytes| Width::of(bytes));
        let first = widths.next().unwrap_or(Width::Byte);
        if widths.all(|width| width == first) {
            first
        } else {
            Width::Byte
        }
    }

    /// Bytes of one unit.
    pub fn unit(self) -> usize {
        match self {
            Width::Byte => 1,
            Width::Utf16Le | Width::Utf16Be => 2,
        }
    }

    pub(crate) fn line_feed(self) -> &'static [u8] {
        match self {
            Width::Byte => b"\n",
            Width::Utf16Le => b"\n\0",
            Width::Utf16Be => b"\0\n",
        }
    }

    pub(crate) fn carriage_return(self) -> &'static [u8] {
        match self {
            Width::Byte => b"\r",
            Width::Utf16Le => b"\r\0",
            Width::Utf16Be => b"\0\r",
        }
    }

    pub(crate) fn ending_bytes(self, ending: LineEnding) -> Vec<u8> {
        match ending {
            LineEnding::None => Vec::new(),
            LineEnding::Lf => self.line_feed().to_vec(),
            LineEnding::Crlf => [self.carriage_return(), self.line_feed()].concat(),
        }
    }
}

/// Cuts `bytes` after every line feed; each piece keeps its ending, so that the pieces joined are `bytes`.
/// The last piece may be unterminated; empty content has no piece.
pub fn split(bytes: &[u8], width: Width) -> Vec<&[u8]> {
    let feed = width.line_feed();
    let mut pieces = Vec::new();
    let mut start = 0;
    match width {
        Width::Byte => {
            for at in memchr::memchr_iter(b'\n', bytes) {
                pieces.push(&bytes[start..=at]);
                start = at + 1;
            }
        }
        Width::Utf16Le | Width::Utf16Be => {
            let mut at = 0;
            while at + 2 <= bytes.len() {
                if &bytes[at..at + 2] == feed {
                    pieces.push(&bytes[start..at + 2]);
                    start = at + 2;
                }
                at += 2;
            }
        }
    }
    if start < bytes.len() {
        pieces.push(&bytes[start..]);
    }
    pieces
}

/// A piece of [`split`] as its content and the kind of its ending.
pub fn parts(piece: &[u8], width: Width) -> (&[u8], LineEnding) {
    let Some(content) = piece.strip_suffix(width.line_feed()) else {
        return (piece, LineEnding::None);
    };
    match content.strip_suffix(width.carriage_return()) {
        Some(content) => (content, LineEnding::Crlf),
        None => (content, LineEnding::Lf),
    }
}

/// The ending most lines have; LF where there is none or they are even.
pub fn dominant_ending(bytes: &[u8], width: Width) -> LineEnding {
    let (mut feeds, mut pairs) = (0usize, 0usize);
    for piece in split(bytes, width) {
        match parts(piece, width).1 {
            LineEnding::Lf => feeds += 1,
            LineEnding::Crlf => pairs += 1,
            LineEnding::None => {}
        }
    }
    if pairs > feeds {
        LineEnding::Crlf
    } else {
        LineEnding::Lf
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_to_the_whole_and_know_their_endings() {
        let utf16: Vec<u8> = "a\r\nb\nc".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let cases: [(&[u8], Width, &[LineEnding]); 5] = [
            (b"", Width::Byte, &[]),
            (
                b"a\r\nb\n\nc",
                Width::Byte,
                &[LineEnding::Crlf, LineEnding::Lf, LineEnding::Lf, LineEnding::None],
            ),
            (b"\r\n", Width::Byte, &[LineEnding::Crlf]),
            (
                &utf16,
                Width::Utf16Le,
                &[LineEnding::Crlf, LineEnding::Lf, LineEnding::None],
            ),
            // U+0A0D has both bytes of an ending and is none.
            (&[0x0D, 0x0A], Width::Utf16Le, &[LineEnding::None]),
        ];
        for (bytes, width, endings) in cases {
            let pieces = split(bytes, width);
            assert_eq!(pieces.concat(), bytes);
            let found: Vec<_> = pieces.iter().map(|piece| parts(piece, width).1).collect();
            assert_eq!(found, endings, "{bytes:?}");
        }
    }
}
