//! Reading one file: its bytes for whoever edits it, or a bounded excerpt of its text for a reader.
//!
//! What is not text, or is no regular file, is refused with what it is in words, so that it never gets into a
//! conversation.

mod error;
mod lines;
mod view;

use std::{io::Read, sync::Arc};

use protocol::ContentHash;

pub use error::ReadError;
pub(crate) use error::similar_names;
pub use view::{END_BYTES, FileContent, FileForEditor, MAX_WHOLE_BYTES, whole_or_ends};

use crate::{
    Overlay, OverlayEntry, WorkspacePath,
    beneath::{self, NodeKind},
    text::{self, Encoding, Indent, LineEndings},
};
use lines::LineWindow;

/// The largest text that is looked through for an excerpt. The excerpt itself is bounded by [`ReadLimits`].
pub const MAX_TEXT_BYTES: u64 = 256 * 1024 * 1024;
/// UTF-16 is decoded whole.
const MAX_UTF16_BYTES: u64 = 32 * 1024 * 1024;
const CHUNK_BYTES: usize = 64 * 1024;

/// One file's content, from the draft where that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileBytes {
    pub bytes: Arc<[u8]>,
    /// Permission bits (`0o7777`).
    pub mode: u32,
    pub source: Source,
}

/// Where a content came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Disk,
    Draft,
}

/// The lines wanted, counted from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    pub first: u64,
    /// To the end of the file when absent.
    pub last: Option<u64>,
}

impl LineRange {
    pub const ALL: LineRange = LineRange { first: 1, last: None };
}

/// How much of a file a reader is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    pub max_lines: u64,
    /// Bytes of UTF-8 over all lines.
    pub max_bytes: usize,
    /// Characters of one line.
    pub max_line_chars: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            max_lines: 2_000,
            max_bytes: 48 * 1024,
            max_line_chars: 2_000,
        }
    }
}

/// An excerpt of a text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextView {
    /// The lines, joined by LF, without a byte-order mark. Tabs are kept. A line that is too long ends in a mark
    /// that says how much of it is left out.
    pub text: String,
    /// Of the lines in `text`, counted from 1. An empty file has first 1 and last 0.
    pub first_line: u64,
    pub last_line: u64,
    pub total_lines: u64,
    pub encoding: Encoding,
    pub endings: LineEndings,
    pub indent: Indent,
    /// Whether the file's last line is ended. True for an empty file.
    pub final_newline: bool,
    /// Why fewer lines than asked for are here. The next one is `last_line + 1`.
    pub truncated: Option<Truncation>,
    /// How many of the lines in `text` are cut.
    pub cut_lines: u64,
    /// Of all the file's bytes.
    pub content_hash: ContentHash,
    pub size_bytes: u64,
    pub mode: u32,
    pub source: Source,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// `max_lines` was reached.
    Lines,
    /// `max_bytes` was reached.
    Bytes,
}

impl TextView {
    /// The lines with their numbers, as a model reads them: `12│text`. The bar cannot be taken for part of the
    /// indentation, as a tab or a space could.
    pub fn numbered(&self) -> String {
        if self.last_line < self.first_line {
            return String::new();
        }
        let mut numbered = String::with_capacity(self.text.len() + self.text.len() / 8);
        for (number, line) in (self.first_line..).zip(self.text.split('\n')) {
            numbered.push_str(&number.to_string());
            numbered.push('│');
            numbered.push_str(line);
            numbered.push('\n');
        }
        numbered
    }

    /// One line about the whole file: which lines these are, how it is written, and how to get more.
    pub fn description(&self) -> String {
        let mut parts = vec![match (self.total_lines, self.last_line - (self.first_line - 1)) {
            (0, _) => "empty file".to_owned(),
            (total, shown) if shown == total => format!("{total} lines"),
            (total, _) => format!("lines {}–{} of {total}", self.first_line, self.last_line),
        }];
        parts.push(self.encoding.name().to_owned());
        if self.total_lines > 0 {
            parts.push(self.endings.name().to_owned());
        }
        if self.indent != Indent::None {
            parts.push(format!("indented with {}", self.indent));
        }
        if !self.final_newline {
            parts.push("no newline at the end".to_owned());
        }
        if self.cut_lines > 0 {
            parts.push(format!("{} long lines cut", self.cut_lines));
        }
        if self.source == Source::Draft {
            parts.push("with your pending changes".to_owned());
        }
        if self.truncated.is_some() {
            parts.push(format!("more from line {}", self.last_line + 1));
        }
        parts.join(", ")
    }
}

/// The content of one file and its permission bits, links already resolved by `path`.
///
/// # Errors
/// Whatever is no regular file, and files larger than `max_bytes`.
pub fn read_bytes(path: &WorkspacePath, overlay: &Overlay, max_bytes: u64) -> Result<FileBytes, ReadError> {
    let (bytes, mode, source) = match open(path, overlay)? {
        Opened::Draft { bytes, mode } => {
            check_size(path, bytes.len() as u64, max_bytes)?;
            (bytes, mode, Source::Draft)
        }
        Opened::File {
            file,
            size,
            mode,
            source,
        } => {
            check_size(path, size, max_bytes)?;
            let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
            // One more than allowed, to notice a file that grows while it is read.
            file.take(max_bytes.saturating_add(1))
                .read_to_end(&mut bytes)
                .map_err(|reason| ReadError::io(path, reason))?;
            check_size(path, bytes.len() as u64, max_bytes)?;
            (bytes.into(), mode, source)
        }
    };
    Ok(FileBytes { bytes, mode, source })
}

/// An excerpt of a text file with all that a reader should know about it. Files up to 256 MiB are looked through
/// in pieces; memory use follows the excerpt, not the file.
///
/// # Errors
/// Binary contents with what they are, folders, missing files with similar names, lines past the end, and
/// whatever is no regular file.
pub fn read_text(
    path: &WorkspacePath,
    overlay: &Overlay,
    range: LineRange,
    limits: ReadLimits,
) -> Result<TextView, ReadError> {
    if range.first == 0 || range.last.is_some_and(|last| last < range.first) {
        return Err(ReadError::BadRange {
            first: range.first,
            last: range.last.unwrap_or(0),
        });
    }
    match open(path, overlay)? {
        Opened::Draft { bytes, mode } => {
            let size = bytes.len() as u64;
            excerpt(path, &*bytes, size, mode, Source::Draft, range, limits)
        }
        Opened::File {
            file,
            size,
            mode,
            source,
        } => excerpt(path, file, size, mode, source, range, limits),
    }
}

fn excerpt(
    path: &WorkspacePath,
    mut source_bytes: impl Read,
    size: u64,
    mode: u32,
    source: Source,
    range: LineRange,
    limits: ReadLimits,
) -> Result<TextView, ReadError> {
    if size == 0 {
        refuse_empty_binary(path)?;
    }
    check_size(path, size, MAX_TEXT_BYTES)?;
    let mut head = vec![0; CHUNK_BYTES];
    let filled = fill(&mut source_bytes, &mut head).map_err(|reason| ReadError::io(path, reason))?;
    head.truncate(filled);
    let extent = if filled < CHUNK_BYTES {
        text::Extent::Whole
    } else {
        text::Extent::Head
    };
    let encoding = text::detect_encoding(&head, extent).map_err(|kind| ReadError::Binary {
        path: path.display(),
        kind,
        size,
    })?;
    let mut hasher = blake3::Hasher::new();
    let mut window = LineWindow::new(range, limits);
    let (encoding, indent, size_bytes) = match encoding {
        Encoding::Utf16Le | Encoding::Utf16Be => {
            check_size(path, size, MAX_UTF16_BYTES)?;
            let mut bytes = head;
            source_bytes
                .take(MAX_UTF16_BYTES)
                .read_to_end(&mut bytes)
                .map_err(|reason| ReadError::io(path, reason))?;
            hasher.update(&bytes);
            let decoded = text::decode(&bytes, encoding);
            window.feed(decoded.as_bytes());
            (
                encoding,
                text::detect_indent(decoded.as_bytes()),
                bytes.len() as u64,
            )
        }
        _ => {
            let indent = text::detect_indent(&head);
            hasher.update(&head);
            let mark = encoding.mark().len();
            window.feed(&head[mark..]);
            let mut total = head.len() as u64;
            let mut chunk = head;
            if extent == text::Extent::Head {
                loop {
                    chunk.resize(CHUNK_BYTES, 0);
                    let count =
                        fill(&mut source_bytes, &mut chunk).map_err(|reason| ReadError::io(path, reason))?;
                    if count == 0 {
                        break;
                    }
                    total += count as u64;
                    check_size(path, total, MAX_TEXT_BYTES)?;
                    hasher.update(&chunk[..count]);
                    window.feed(&chunk[..count]);
                }
            }
            // The start may be plain ASCII and only the rest show that it is not UTF-8.
            let encoding = if window.is_utf8() {
                encoding
            } else {
                Encoding::Windows1252
            };
            (encoding, indent, total)
        }
    };
    let line_encoding = match encoding {
        Encoding::Windows1252 => Encoding::Windows1252,
        _ => Encoding::Utf8,
    };
    let lines = window.finish(line_encoding);
    if range.first > lines.total.max(1) {
        return Err(ReadError::PastEnd {
            path: path.display(),
            first: range.first,
            total: lines.total,
        });
    }
    Ok(TextView {
        text: lines.text,
        first_line: range.first,
        last_line: lines.last,
        total_lines: lines.total,
        encoding,
        endings: lines.endings,
        indent,
        final_newline: lines.final_newline,
        truncated: lines.truncated,
        cut_lines: lines.cut,
        content_hash: ContentHash(hasher.finalize().to_hex().to_string()),
        size_bytes,
        mode,
        source,
    })
}

/// The hash that [`TextView::content_hash`] would have for this content.
pub fn content_hash(bytes: &[u8]) -> ContentHash {
    ContentHash(blake3::hash(bytes).to_hex().to_string())
}

enum Opened {
    Draft {
        bytes: Arc<[u8]>,
        mode: u32,
    },
    /// On disk, or a draft too large for memory.
    File {
        file: std::fs::File,
        size: u64,
        mode: u32,
        source: Source,
    },
}

fn open(path: &WorkspacePath, overlay: &Overlay) -> Result<Opened, ReadError> {
    match overlay.get(path.relative()) {
        Some(OverlayEntry::Content { bytes, mode }) => {
            return Ok(Opened::Draft {
                bytes: bytes.clone(),
                mode: *mode,
            });
        }
        Some(OverlayEntry::Stored { file, size, mode }) => {
            return Ok(Opened::File {
                file: std::fs::File::open(file).map_err(|reason| ReadError::io(path, reason))?,
                size: *size,
                mode: *mode,
                source: Source::Draft,
            });
        }
        Some(OverlayEntry::Deleted) => {
            return Err(ReadError::DeletedInDraft { path: path.display() });
        }
        None => {}
    }
    let io_error = |reason| ReadError::io(path, reason);
    let missing = |reason: std::io::Error| match reason.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
            if overlay.has_content_below(path.relative()) {
                ReadError::IsDirectory { path: path.display() }
            } else {
                ReadError::NotFound {
                    path: path.display(),
                    similar: similar_names(path, overlay),
                }
            }
        }
        _ => ReadError::io(path, reason),
    };
    let root = path.open_root().map_err(io_error)?;
    // Looked at first: opening a pipe or a device can block or have effects.
    let stat = beneath::stat(&root, path.relative()).map_err(missing)?;
    match NodeKind::of(&stat) {
        NodeKind::File => {}
        NodeKind::Directory => {
            return Err(ReadError::IsDirectory { path: path.display() });
        }
        NodeKind::Link => return Err(ReadError::Moved { path: path.display() }),
        NodeKind::Special => {
            return Err(ReadError::Special { path: path.display() });
        }
    }
    let (file, stat) = beneath::open_file(&root, path.relative()).map_err(missing)?;
    Ok(Opened::File {
        file,
        size: beneath::size_of(&stat),
        mode: beneath::mode_of(&stat),
        source: Source::Disk,
    })
}

fn check_size(path: &WorkspacePath, size: u64, max: u64) -> Result<(), ReadError> {
    if size <= max {
        return Ok(());
    }
    Err(ReadError::TooLarge {
        path: path.display(),
        size,
        max,
    })
}

fn refuse_empty_binary(path: &WorkspacePath) -> Result<(), ReadError> {
    let extension = path
        .relative()
        .extension()
        .and_then(|extension| extension.to_str());
    match extension.and_then(text::kind_by_extension) {
        Some(kind) => Err(ReadError::Binary {
            path: path.display(),
            kind: format!("empty, not {kind}"),
            size: 0,
        }),
        None => Ok(()),
    }
}

/// Reads until the buffer is full or the source ends.
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
