//! A file for an editor: all of its text, or the two ends of one that is too large to edit, or what it is instead
//! of text.

use std::{
    io::{Read, Seek, SeekFrom},
    os::unix::fs::MetadataExt,
};

use protocol::ContentHash;

use super::{Opened, ReadError, content_hash, fill, open};
use crate::{
    Overlay, WorkspacePath,
    text::{self, Detected, Encoding, LineEndings},
};

/// The largest text that is given whole, in bytes.
pub const MAX_WHOLE_BYTES: u64 = 5 * 1024 * 1024;
/// Of each end of a larger one.
pub const END_BYTES: u64 = 256 * 1024;

/// A file as it is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileForEditor {
    pub content: FileContent,
    /// The hash of all bytes. Of a file over [`MAX_WHOLE_BYTES`], which cannot be saved, a stamp of its size and
    /// time of change: good for noticing a change and nothing else.
    pub version: ContentHash,
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContent {
    Text {
        /// Line endings as they are; no byte-order mark.
        text: String,
        encoding: Encoding,
        endings: LineEndings,
    },
    /// Up to 256 KiB from each end, cut at lines where there are any.
    Ends {
        head: String,
        tail: String,
        omitted_bytes: u64,
    },
    Binary {
        /// "a PNG image", "binary data".
        what: String,
    },
}

/// Reads a file for an editor. Memory use is bounded whatever its size.
///
/// # Errors
/// Folders, missing files and whatever is no regular file.
pub fn whole_or_ends(path: &WorkspacePath) -> Result<FileForEditor, ReadError> {
    let Opened::File { mut file, mode, .. } = open(path, &Overlay::default())? else {
        return Err(ReadError::Moved { path: path.display() });
    };
    let failed = |reason| ReadError::io(path, reason);
    let mut head = Vec::new();
    // One more than allowed, to notice a larger one whatever its size was said to be.
    (&mut file)
        .take(MAX_WHOLE_BYTES + 1)
        .read_to_end(&mut head)
        .map_err(failed)?;
    if head.len() as u64 <= MAX_WHOLE_BYTES {
        let content = match text::detect(&head) {
            Detected::Text {
                encoding, endings, ..
            } => FileContent::Text {
                text: text::decode(&head, encoding),
                encoding,
                endings,
            },
            Detected::Binary { reason } => FileContent::Binary { what: reason },
        };
        return Ok(FileForEditor {
            content,
            version: content_hash(&head),
            size: head.len() as u64,
            mode,
        });
    }
    head.truncate(END_BYTES as usize);
    let metadata = file.metadata().map_err(failed)?;
    let size = metadata.len().max(MAX_WHOLE_BYTES + 1);
    let stamp = format!("{size} {} {}", metadata.mtime(), metadata.mtime_nsec());
    let content = match text::detect_encoding(&head, text::Extent::Head) {
        Err(what) => FileContent::Binary { what },
        Ok(encoding) => {
            // An even place, so that two-byte units stay whole.
            let start = (size - END_BYTES) & !1;
            let mut tail = vec![0; END_BYTES as usize + 1];
            file.seek(SeekFrom::Start(start)).map_err(failed)?;
            let filled = fill(&mut file, &mut tail).map_err(failed)?;
            tail.truncate(filled);
            let head = &head[..end_of_last_line(&head, encoding)];
            let tail = &tail[start_of_first_line(&tail, encoding)..];
            FileContent::Ends {
                head: text::decode(head, encoding),
                tail: text::decode(tail, encoding),
                omitted_bytes: size.saturating_sub((head.len() + tail.len()) as u64),
            }
        }
    };
    Ok(FileForEditor {
        content,
        version: content_hash(stamp.as_bytes()),
        size,
        mode,
    })
}

fn newlines(bytes: &[u8], encoding: Encoding) -> impl DoubleEndedIterator<Item = usize> + '_ {
    let (width, pattern): (usize, &[u8]) = match encoding {
        Encoding::Utf16Le => (2, b"\n\0"),
        Encoding::Utf16Be => (2, b"\0\n"),
        Encoding::Utf8 | Encoding::Utf8Bom | Encoding::Windows1252 => (1, b"\n"),
    };
    bytes
        .chunks_exact(width)
        .enumerate()
        .filter(move |(_, unit)| *unit == pattern)
        .map(move |(index, _)| (index + 1) * width)
}

/// Where to cut a beginning: after its last line, else between two characters.
fn end_of_last_line(bytes: &[u8], encoding: Encoding) -> usize {
    if let Some(end) = newlines(bytes, encoding).next_back() {
        return end;
    }
    match encoding {
        Encoding::Utf8 | Encoding::Utf8Bom => match std::str::from_utf8(bytes) {
            // The last character is cut off.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => bytes.len(),
        },
        Encoding::Utf16Le | Encoding::Utf16Be => bytes.len() & !1,
        Encoding::Windows1252 => bytes.len(),
    }
}

/// Where to cut an end: at its first whole line, else between two characters.
fn start_of_first_line(bytes: &[u8], encoding: Encoding) -> usize {
    let first = newlines(bytes, encoding).next();
    if let Some(start) = first.filter(|start| *start < bytes.len()) {
        return start;
    }
    let mut start = 0;
    if matches!(encoding, Encoding::Utf8 | Encoding::Utf8Bom) {
        while start < bytes.len() && !is_boundary(bytes, start) {
            start += 1;
        }
    }
    start
}

/// Whether a UTF-8 character starts at `at`; 0b10xxxxxx goes on with one.
fn is_boundary(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| byte & 0xC0 != 0x80)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make the files they read")]
mod tests {
    use super::*;
    use crate::{Breadth, Workspace};

    fn read(bytes: &[u8]) -> FileForEditor {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f"), bytes).unwrap();
        let workspace = Workspace::open(folder.path(), Breadth::Project).unwrap();
        whole_or_ends(&workspace.resolve("f").unwrap()).unwrap()
    }

    #[test]
    fn up_to_the_limit_all_of_a_text_is_given() {
        let text = "é\r\n".repeat(MAX_WHOLE_BYTES as usize / 4);
        let file = read(text.as_bytes());
        assert_eq!(file.version, content_hash(text.as_bytes()));
        assert_eq!(
            file.content,
            FileContent::Text {
                text,
                encoding: Encoding::Utf8,
                endings: LineEndings::Crlf
            }
        );
        let binary = read(b"\x89PNG\r\n\x1a\n....");
        assert_eq!(
            binary.content,
            FileContent::Binary {
                what: "a PNG image".to_owned()
            }
        );
    }

    /// Lines of each width of character, and one line without an end, which is cut between characters.
    #[test]
    fn of_a_larger_text_both_ends_are_given_whole_lines_at_a_time() {
        let lines = |count: usize| -> String { (0..count).map(|n| format!("é line {n}\n")).collect() };
        let utf16 = |text: &str| -> Vec<u8> {
            [0xFF, 0xFE]
                .into_iter()
                .chain(text.encode_utf16().flat_map(u16::to_le_bytes))
                .collect()
        };
        for (bytes, has_lines) in [
            (lines(400_000).into_bytes(), true),
            (utf16(&lines(400_001)), true),
            ("€".repeat(2_000_000).into_bytes(), false),
        ] {
            let file = read(&bytes);
            let FileContent::Ends {
                head,
                tail,
                omitted_bytes,
            } = file.content
            else {
                panic!("not ends");
            };
            assert_eq!(file.size, bytes.len() as u64);
            assert!(!head.contains('\u{FFFD}') && !tail.contains('\u{FFFD}'));
            let width = |text: &str| match bytes[0] {
                0xFF => text.encode_utf16().count() * 2,
                _ => text.len(),
            };
            let mark = if bytes[0] == 0xFF { 2 } else { 0 };
            assert_eq!(
                (mark + width(&head) + width(&tail)) as u64 + omitted_bytes,
                file.size
            );
            assert!(head.len() > 200_000 / 2 && tail.len() > 200_000 / 2);
            if has_lines {
                assert!(head.starts_with("é line 0\n") && head.ends_with('\n'));
                assert!(tail.starts_with("é line ") && tail.ends_with('\n'));
            }
        }
    }

    #[test]
    fn the_stamp_of_a_large_file_changes_with_it() {
        let one = read(&vec![b'a'; MAX_WHOLE_BYTES as usize + 1]);
        let two = read(&vec![b'a'; MAX_WHOLE_BYTES as usize + 2]);
        assert_ne!(one.version, two.version);
    }
}
