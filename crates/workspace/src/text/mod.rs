//! What bytes say: encodings, line endings and indentation. Pure; knows no files.
//!
//! Decoding is for showing. Whoever changes a file splices its bytes and uses [`encode`] for the new part only.

mod binary;

use encoding_rs::WINDOWS_1252;

pub use binary::binary_kind;
pub(crate) use binary::kind_by_extension;

/// Bytes that are looked at for NUL before a content counts as text.
const NUL_WINDOW: usize = 8 * 1024;
/// Lines that are looked at to tell the indentation.
const INDENT_LINES: usize = 2_000;

/// The encodings text is read and written in. Anything else without a byte-order mark is taken as Windows-1252,
/// which gives every byte a character and so loses nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    Utf8,
    /// UTF-8 that starts with a byte-order mark.
    Utf8Bom,
    /// With byte-order mark, as is [`Encoding::Utf16Be`].
    Utf16Le,
    Utf16Be,
    Windows1252,
}

impl Encoding {
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf8Bom => "UTF-8 with byte-order mark",
            Encoding::Utf16Le => "UTF-16 LE",
            Encoding::Utf16Be => "UTF-16 BE",
            Encoding::Windows1252 => "Windows-1252",
        }
    }

    /// The byte-order mark that stands before the text.
    pub fn mark(self) -> &'static [u8] {
        match self {
            Encoding::Utf8 | Encoding::Windows1252 => b"",
            Encoding::Utf8Bom => b"\xEF\xBB\xBF",
            Encoding::Utf16Le => b"\xFF\xFE",
            Encoding::Utf16Be => b"\xFE\xFF",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineEndings {
    Lf,
    Crlf,
    Mixed,
    /// No line is ended.
    None,
}

impl LineEndings {
    pub fn name(self) -> &'static str {
        match self {
            LineEndings::Lf => "LF",
            LineEndings::Crlf => "CRLF",
            LineEndings::Mixed => "mixed LF and CRLF",
            LineEndings::None => "no line ending",
        }
    }

    /// From how many lines end in `\n` altogether and how many of those in `\r\n`.
    pub(crate) fn from_counts(ended: u64, with_return: u64) -> Self {
        match (ended, with_return) {
            (0, _) => LineEndings::None,
            (_, 0) => LineEndings::Lf,
            (ended, with_return) if ended == with_return => LineEndings::Crlf,
            _ => LineEndings::Mixed,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Indent {
    Tabs,
    /// Spaces per level.
    Spaces(u8),
    /// Some lines start with tabs, others with spaces.
    Mixed,
    None,
}

impl std::fmt::Display for Indent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Indent::Tabs => f.write_str("tabs"),
            Indent::Spaces(count) => write!(f, "{count} spaces"),
            Indent::Mixed => f.write_str("both tabs and spaces"),
            Indent::None => f.write_str("nothing"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detected {
    Text {
        encoding: Encoding,
        endings: LineEndings,
        indent: Indent,
    },
    Binary {
        /// What it is, to be read after "it is": "a PNG image".
        reason: String,
    },
}

/// Whether the bytes are all there is or the start of more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    Head,
}

/// Tells text from binary, and how the text is written. An empty content is UTF-8 text.
pub fn detect(bytes: &[u8]) -> Detected {
    let encoding = match detect_encoding(bytes, Extent::Whole) {
        Ok(encoding) => encoding,
        Err(reason) => return Detected::Binary { reason },
    };
    let (endings, indent) = match encoding {
        Encoding::Utf16Le | Encoding::Utf16Be => {
            let text = decode(bytes, encoding);
            (detect_endings(text.as_bytes()), detect_indent(text.as_bytes()))
        }
        _ => (detect_endings(bytes), detect_indent(bytes)),
    };
    Detected::Text {
        encoding,
        endings,
        indent,
    }
}

/// The encoding, or what the binary content is.
pub(crate) fn detect_encoding(bytes: &[u8], extent: Extent) -> Result<Encoding, String> {
    if bytes.starts_with(Encoding::Utf8Bom.mark()) {
        let rest = &bytes[Encoding::Utf8Bom.mark().len()..];
        // A mark in front of something else is three odd characters of another encoding.
        return Ok(if is_utf8(rest, extent) {
            Encoding::Utf8Bom
        } else {
            Encoding::Windows1252
        });
    }
    if let Some(kind) = binary_kind(bytes) {
        return Err(kind.to_owned());
    }
    for encoding in [Encoding::Utf16Le, Encoding::Utf16Be] {
        if bytes.starts_with(encoding.mark()) {
            return match is_utf16(bytes, encoding, extent) {
                true => Ok(encoding),
                false => Err("damaged UTF-16".to_owned()),
            };
        }
    }
    let window = &bytes[..bytes.len().min(NUL_WINDOW)];
    if memchr::memchr(0, window).is_some() {
        return Err("binary data".to_owned());
    }
    if is_utf8(bytes, extent) {
        return Ok(Encoding::Utf8);
    }
    // Text in some other 8-bit encoding has hardly any control characters; noise is full of them.
    let controls = window.iter().filter(|byte| is_odd_control(**byte)).count();
    if controls * 20 > window.len() {
        return Err("binary data".to_owned());
    }
    Ok(Encoding::Windows1252)
}

fn is_odd_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0C | 0x08 | 0x1B)
}

fn is_utf8(bytes: &[u8], extent: Extent) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        // Cut in the middle of a character.
        Err(error) => extent == Extent::Head && error.error_len().is_none(),
    }
}

fn is_utf16(bytes: &[u8], encoding: Encoding, extent: Extent) -> bool {
    let units = &bytes[encoding.mark().len()..];
    if units.len() % 2 == 1 && extent == Extent::Whole {
        return false;
    }
    let mut decoded = char::decode_utf16(units_of(units, encoding)).peekable();
    while let Some(unit) = decoded.next() {
        match unit {
            // A NUL in UTF-16 is what UTF-32 and binary data have in common.
            Ok('\0') => return false,
            Ok(_) => {}
            Err(_) if extent == Extent::Head && decoded.peek().is_none() => {}
            Err(_) => return false,
        }
    }
    true
}

fn units_of(bytes: &[u8], encoding: Encoding) -> impl Iterator<Item = u16> + '_ {
    bytes.chunks_exact(2).map(move |pair| {
        let pair = [pair[0], pair[1]];
        match encoding {
            Encoding::Utf16Be => u16::from_be_bytes(pair),
            _ => u16::from_le_bytes(pair),
        }
    })
}

/// The text without its byte-order mark. With the encoding [`detect`] found nothing is lost; with another one,
/// what cannot be decoded becomes U+FFFD.
pub fn decode(bytes: &[u8], encoding: Encoding) -> String {
    let body = bytes.strip_prefix(encoding.mark()).unwrap_or(bytes);
    match encoding {
        Encoding::Utf8 | Encoding::Utf8Bom => String::from_utf8_lossy(body).into_owned(),
        Encoding::Utf16Le | Encoding::Utf16Be => {
            let mut text: String = char::decode_utf16(units_of(body, encoding))
                .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect();
            if body.len() % 2 == 1 {
                text.push(char::REPLACEMENT_CHARACTER);
            }
            text
        }
        Encoding::Windows1252 => WINDOWS_1252.decode_without_bom_handling(body).0.into_owned(),
    }
}

/// The bytes of `text` in `encoding`, without byte-order mark. `None` when a character has no place in it.
pub fn encode(text: &str, encoding: Encoding) -> Option<Vec<u8>> {
    match encoding {
        Encoding::Utf8 | Encoding::Utf8Bom => Some(text.as_bytes().to_vec()),
        Encoding::Utf16Le => Some(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        Encoding::Utf16Be => Some(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
        Encoding::Windows1252 => {
            let (bytes, _, unmappable) = WINDOWS_1252.encode(text);
            (!unmappable).then(|| bytes.into_owned())
        }
    }
}

/// Bytes of unknown origin as text for a reader: UTF-8 where they are, Windows-1252 otherwise.
pub fn decode_for_display(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => decode(bytes, Encoding::Windows1252),
    }
}

fn detect_endings(bytes: &[u8]) -> LineEndings {
    let mut ended = 0;
    let mut with_return = 0;
    for at in memchr::memchr_iter(b'\n', bytes) {
        ended += 1;
        if at > 0 && bytes[at - 1] == b'\r' {
            with_return += 1;
        }
    }
    LineEndings::from_counts(ended, with_return)
}

/// What lines are indented with, judged by their first lines. Bytes in an encoding that keeps ASCII as it is.
pub(crate) fn detect_indent(bytes: &[u8]) -> Indent {
    let mut tabs = 0usize;
    let mut spaces = 0usize;
    // How often a line is indented deeper than the one before by so many spaces.
    let mut steps = [0usize; 9];
    let mut previous = 0usize;
    for line in bytes.split(|byte| *byte == b'\n').take(INDENT_LINES) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(width) = line.iter().position(|byte| !matches!(byte, b' ' | b'\t')) else {
            continue;
        };
        // One space before a star is a comment's shape, not a level.
        if width == 1 && line[0] == b' ' && line.get(1) == Some(&b'*') {
            continue;
        }
        match line.first() {
            Some(b'\t') => tabs += 1,
            Some(b' ') => {
                spaces += 1;
                let step = width.saturating_sub(previous);
                if let Some(count) = steps.get_mut(step) {
                    *count += 1;
                }
            }
            _ => {}
        }
        previous = if line.first() == Some(&b'\t') { 0 } else { width };
    }
    match (tabs, spaces) {
        (0, 0) => Indent::None,
        (_, 0) => Indent::Tabs,
        (0, _) => Indent::Spaces(commonest_step(&steps)),
        // A few odd lines, as in a continuation, do not make a file mixed.
        (tabs, spaces) if tabs > spaces * 10 => Indent::Tabs,
        (tabs, spaces) if spaces > tabs * 10 => Indent::Spaces(commonest_step(&steps)),
        _ => Indent::Mixed,
    }
}

fn commonest_step(steps: &[usize; 9]) -> u8 {
    // One space is alignment more often than a level: it counts only when nothing else was seen.
    let best = (2..=8u8).rev().max_by_key(|step| steps[usize::from(*step)]);
    match best {
        Some(step) if steps[usize::from(step)] > 0 => step,
        _ if steps[1] > 0 => 1,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_writing_is_told_apart() {
        let text = |encoding, endings, indent| Detected::Text {
            encoding,
            endings,
            indent,
        };
        let binary = |reason: &str| Detected::Binary {
            reason: reason.to_owned(),
        };
        use Encoding::*;
        let noise: Vec<u8> = (0..200u32).map(|n| (n * 97 % 251 + 1) as u8).collect();
        let cases: &[(&[u8], Detected)] = &[
            (b"", text(Utf8, LineEndings::None, Indent::None)),
            (b"a", text(Utf8, LineEndings::None, Indent::None)),
            (b"a\n  b\n    c\n", text(Utf8, LineEndings::Lf, Indent::Spaces(2))),
            (b"a\r\n\tb\r\n", text(Utf8, LineEndings::Crlf, Indent::Tabs)),
            (b"a\r\nb\n\tc\n  d", text(Utf8, LineEndings::Mixed, Indent::Mixed)),
            (
                b"\xEF\xBB\xBFa\r\n",
                text(Utf8Bom, LineEndings::Crlf, Indent::None),
            ),
            (
                b"\xEF\xBB\xBF\xE9",
                text(Windows1252, LineEndings::None, Indent::None),
            ),
            (b"caf\xE9\n", text(Windows1252, LineEndings::Lf, Indent::None)),
            (
                "gr\u{fc}n 你好\n".as_bytes(),
                text(Utf8, LineEndings::Lf, Indent::None),
            ),
            (b"\xFF\xFEa\0\n\0", text(Utf16Le, LineEndings::Lf, Indent::None)),
            (
                b"\xFE\xFF\0a\0\r\0\n",
                text(Utf16Be, LineEndings::Crlf, Indent::None),
            ),
            (b"\xFF\xFEa\0\n", binary("damaged UTF-16")),
            (b"\xFF\xFE\x00\xD8a\0", binary("damaged UTF-16")),
            (b"\xFF\xFE\0\0a\0\0\0", binary("damaged UTF-16")),
            (b"a\0b", binary("binary data")),
            (&noise, binary("binary data")),
            (b"\x89PNG\r\n\x1a\nrest", binary("a PNG image")),
            (b"%PDF-1.7\n", binary("a PDF document")),
            (b"PK\x03\x04..", binary("a ZIP archive")),
            (b"\x7fELF\x02", binary("an ELF program")),
        ];
        for (bytes, expected) in cases {
            assert_eq!(&detect(bytes), expected, "{:?}", bytes.escape_ascii().to_string());
        }
    }

    #[test]
    fn a_file_cut_in_the_middle_of_a_character_is_still_utf8() {
        let text = "né".as_bytes();
        assert_eq!(detect_encoding(&text[..2], Extent::Head), Ok(Encoding::Utf8));
        assert_eq!(
            detect_encoding(&text[..2], Extent::Whole),
            Ok(Encoding::Windows1252)
        );
        let utf16 = b"\xFF\xFEa\0\x3D\xD8";
        assert_eq!(detect_encoding(utf16, Extent::Head), Ok(Encoding::Utf16Le));
    }

    #[test]
    fn windows_1252_keeps_all_256_bytes() {
        let all: Vec<u8> = (0..=255).collect();
        let text = decode(&all, Encoding::Windows1252);
        assert_eq!(text.chars().count(), 256);
        assert_eq!(encode(&text, Encoding::Windows1252), Some(all));
        assert_eq!(decode(b"\x80\xE9", Encoding::Windows1252), "€é");
    }

    #[test]
    fn what_is_decoded_encodes_to_the_same_bytes() {
        let text = "a\té€😀\r\n";
        for encoding in [
            Encoding::Utf8,
            Encoding::Utf8Bom,
            Encoding::Utf16Le,
            Encoding::Utf16Be,
        ] {
            let body = encode(text, encoding).unwrap();
            let bytes = [encoding.mark(), &body].concat();
            assert_eq!(decode(&bytes, encoding), text, "{encoding:?}");
        }
        assert_eq!(encode("😀", Encoding::Windows1252), None);
        assert_eq!(encode("é", Encoding::Windows1252), Some(vec![0xE9]));
    }
}
