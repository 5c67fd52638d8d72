//! Reads unified diffs as models and git write them: several files, creations and deletions by `/dev/null`,
//! renames, mode changes, quoted names, hunks whose numbers are wrong or missing.
//!
//! Pure: it says what a patch asks for; where it fits is decided in `hunks`, whether it may in `set`.

use std::{ffi::OsString, os::unix::ffi::OsStringExt};

/// What a patch asks of one file. At least one of the paths is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// Absent when the file is created.
    pub old_path: Option<OsString>,
    /// Absent when the file is deleted.
    pub new_path: Option<OsString>,
    /// Permission bits the file gets, where the patch says so.
    pub new_mode: Option<u32>,
    pub hunks: Vec<PatchHunk>,
}

impl FilePatch {
    /// The path to name the file by.
    pub fn path(&self) -> &std::ffi::OsStr {
        self.new_path
            .as_ref()
            .or(self.old_path.as_ref())
            .map_or(std::ffi::OsStr::new(""), |path| path)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchHunk {
    /// First line on the old side as the header says, counted from 1; a hint only.
    pub old_start: Option<usize>,
    /// Line of the patch the hunk starts at, counted from 1.
    pub at: usize,
    pub lines: Vec<PatchLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchLine {
    pub kind: protocol::LineKind,
    pub text: String,
    /// Followed by "\ No newline at end of file".
    pub unterminated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the patch: {problem}")]
pub struct MalformedPatch {
    /// Counted from 1.
    pub line: usize,
    pub problem: &'static str,
}

/// Reads a whole patch. Text before the first file header is skipped, as git does.
pub fn parse(patch: &str) -> Result<Vec<FilePatch>, MalformedPatch> {
    let lines: Vec<&str> = patch
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .collect();
    let mut reader = Reader { lines: &lines, at: 0 };
    let mut files = Vec::new();
    while let Some(line) = reader.peek() {
        if line.starts_with("diff --git ") || reader.at_file_header() {
            files.push(reader.file()?);
        } else if line.starts_with("@@") {
            return Err(
                reader.malformed("a hunk without a file header (`--- a/path` and `+++ b/path`) before it")
            );
        } else {
            reader.at += 1;
        }
    }
    if files.is_empty() {
        return Err(MalformedPatch {
            line: 1,
            problem: "no file header found; a unified diff with `--- a/path` and `+++ b/path` is expected",
        });
    }
    Ok(files)
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn malformed(&self, problem: &'static str) -> MalformedPatch {
        MalformedPatch {
            line: self.at + 1,
            problem,
        }
    }

    fn at_file_header(&self) -> bool {
        self.peek().is_some_and(|line| line.starts_with("--- "))
            && self
                .lines
                .get(self.at + 1)
                .is_some_and(|line| line.starts_with("+++ "))
    }

    fn file(&mut self) -> Result<FilePatch, MalformedPatch> {
        let mut header = Header::default();
        if let Some(names) = self.peek().and_then(|line| line.strip_prefix("diff --git ")) {
            header.names = git_names(names);
            self.at += 1;
            while let Some(line) = self.peek() {
                if !header.read_extended(line) {
                    break;
                }
                self.at += 1;
            }
        }
        if self.at_file_header() {
            header.marked = Some((
                file_name(&self.lines[self.at]["--- ".len()..]),
                file_name(&self.lines[self.at + 1]["+++ ".len()..]),
            ));
            self.at += 2;
        }
        if header.binary {
            return Err(self.malformed("a binary patch; only text can be patched"));
        }
        let at = self.at;
        let (old_path, new_path) = header.paths().ok_or(MalformedPatch {
            line: at,
            problem: "the file header names no file",
        })?;
        let mut hunks = Vec::new();
        while self.peek().is_some_and(|line| line.starts_with("@@")) {
            hunks.push(self.hunk()?);
        }
        let bare = old_path == new_path && header.new_mode.is_none();
        if hunks.is_empty() && bare {
            return Err(self.malformed("no hunk (`@@ … @@`) follows the file header"));
        }
        Ok(FilePatch {
            old_path,
            new_path,
            new_mode: header.new_mode,
            hunks,
        })
    }

    fn hunk(&mut self) -> Result<PatchHunk, MalformedPatch> {
        let at = self.at + 1;
        let (old_start, counts) = hunk_header(self.lines[self.at]);
        self.at += 1;
        let first = self.at;
        let end = counts
            .and_then(|counts| self.counted_end(first, counts))
            .unwrap_or_else(|| self.scanned_end(first));
        let mut lines: Vec<PatchLine> = Vec::new();
        while self.at < end {
            let line = self.lines[self.at];
            let (kind, text) = match line.as_bytes().first() {
                Some(b' ') => (protocol::LineKind::Context, &line[1..]),
                Some(b'+') => (protocol::LineKind::Added, &line[1..]),
                Some(b'-') => (protocol::LineKind::Deleted, &line[1..]),
                // Editors and models drop the lone space of an empty context line.
                None => (protocol::LineKind::Context, ""),
                Some(b'\\') => {
                    match lines.last_mut() {
                        Some(last) => last.unterminated = true,
                        None => return Err(self.malformed("a `\\` marker without a line before it")),
                    }
                    self.at += 1;
                    continue;
                }
                Some(_) => {
                    return Err(self.malformed("a hunk line must begin with a space, `+`, `-` or `\\`"));
                }
            };
            lines.push(PatchLine {
                kind,
                text: text.to_owned(),
                unterminated: false,
            });
            self.at += 1;
        }
        if lines.iter().all(|line| line.kind == protocol::LineKind::Context) {
            return Err(MalformedPatch {
                line: at,
                problem: "the hunk changes nothing",
            });
        }
        Ok(PatchHunk { old_start, at, lines })
    }

    /// The end of a hunk whose header counts are right: exactly so many lines, and then something else.
    fn counted_end(&self, first: usize, (old, new): (usize, usize)) -> Option<usize> {
        let (mut old_left, mut new_left) = (old, new);
        let mut at = first;
        while old_left + new_left > 0 {
            match self.lines.get(at)?.as_bytes().first() {
                Some(b' ') | None => {
                    old_left = old_left.checked_sub(1)?;
                    new_left = new_left.checked_sub(1)?;
                }
                Some(b'-') => old_left = old_left.checked_sub(1)?,
                Some(b'+') => new_left = new_left.checked_sub(1)?,
                Some(b'\\') => {}
                Some(_) => return None,
            }
            at += 1;
        }
        while self.lines.get(at).is_some_and(|line| line.starts_with('\\')) {
            at += 1;
        }
        let over = self
            .lines
            .get(at)
            .is_none_or(|line| line.is_empty() || !line.starts_with([' ', '+', '-']) || self.header_at(at));
        over.then_some(at)
    }

    /// The end of a hunk whose counts are missing or wrong: the next header, or the last line of a hunk's shape.
    fn scanned_end(&self, first: usize) -> usize {
        let mut at = first;
        while let Some(line) = self.lines.get(at) {
            let shaped = line.is_empty() || line.starts_with([' ', '+', '-', '\\']);
            if !shaped || self.header_at(at) {
                break;
            }
            at += 1;
        }
        // Empty lines before a header or the end separate, they are not context.
        while at > first && self.lines[at - 1].is_empty() {
            at -= 1;
        }
        at
    }

    fn header_at(&self, at: usize) -> bool {
        let line = self.lines.get(at).copied().unwrap_or("");
        line.starts_with("--- ")
            && self
                .lines
                .get(at + 1)
                .is_some_and(|next| next.starts_with("+++ "))
            && self
                .lines
                .get(at + 2)
                .is_none_or(|next| next.is_empty() || next.starts_with("@@"))
    }
}

#[derive(Default)]
struct Header {
    names: Option<(OsString, OsString)>,
    marked: Option<(OsString, OsString)>,
    rename: (Option<OsString>, Option<OsString>),
    new_mode: Option<u32>,
    created: bool,
    deleted: bool,
    binary: bool,
}

impl Header {
    /// Takes one of git's extended header lines; false for any other line.
    fn read_extended(&mut self, line: &str) -> bool {
        let mode = |text: &str| u32::from_str_radix(text.trim(), 8).ok().map(|mode| mode & 0o777);
        if let Some(name) = line.strip_prefix("rename from ") {
            self.rename.0 = Some(unquote(name));
        } else if let Some(name) = line.strip_prefix("rename to ") {
            self.rename.1 = Some(unquote(name));
        } else if let Some(text) = line.strip_prefix("new file mode ") {
            self.created = true;
            self.new_mode = mode(text);
        } else if let Some(text) = line.strip_prefix("new mode ") {
            self.new_mode = mode(text);
        } else if line.starts_with("deleted file mode ") {
            self.deleted = true;
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            self.binary = true;
        } else {
            return ["old mode ", "index ", "similarity index ", "dissimilarity index "]
                .iter()
                .any(|start| line.starts_with(start));
        }
        true
    }

    fn paths(&self) -> Option<(Option<OsString>, Option<OsString>)> {
        if let (Some(from), Some(to)) = &self.rename {
            return Some((Some(from.clone()), Some(to.clone())));
        }
        let (old, new) = self.marked.as_ref().or(self.names.as_ref())?;
        let null = |name: &OsString| name == "/dev/null";
        if null(old) && null(new) {
            return None;
        }
        // `a/` and `b/` are git's marks only where both sides carry theirs.
        let strip = |name: &OsString, mark: &str| {
            let bytes = name.as_encoded_bytes();
            bytes
                .strip_prefix(mark.as_bytes())
                .map(|rest| OsString::from_vec(rest.to_vec()))
        };
        let (old_bare, new_bare) = (strip(old, "a/"), strip(new, "b/"));
        let marked = (null(old) || old_bare.is_some()) && (null(new) || new_bare.is_some());
        let old_path = if marked { old_bare } else { Some(old.clone()) };
        let new_path = if marked { new_bare } else { Some(new.clone()) };
        Some((
            old_path.filter(|_| !null(old) && !self.created),
            new_path.filter(|_| !null(new) && !self.deleted),
        ))
    }
}

/// The two names of a `diff --git` line. Unquoted names with spaces are told apart by being equal but for their
/// mark; where that fails the other header lines must name the file.
fn git_names(text: &str) -> Option<(OsString, OsString)> {
    if text.starts_with('"') {
        let end = quoted_end(text)?;
        return Some((unquote(&text[..end]), unquote(text[end..].trim_start())));
    }
    if let Some(at) = text.find(" \"") {
        return Some((OsString::from(&text[..at]), unquote(&text[at + 1..])));
    }
    text.match_indices(' ')
        .map(|(at, _)| (&text[..at], &text[at + 1..]))
        .find(
            |(old, new)| match (old.strip_prefix("a/"), new.strip_prefix("b/")) {
                (Some(old), Some(new)) => old == new,
                _ => old == new,
            },
        )
        .map(|(old, new)| (OsString::from(old), OsString::from(new)))
}

/// A name of a `---` or `+++` line, without the time stamp some tools add after a tab.
fn file_name(text: &str) -> OsString {
    if text.starts_with('"') {
        return unquote(text);
    }
    OsString::from(text.split('\t').next().unwrap_or(text).trim_end())
}

fn quoted_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Undoes git's C-style quoting of a name; a name that is not quoted is itself.
fn unquote(text: &str) -> OsString {
    let text = text.trim_end_matches('\t');
    let Some(inner) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return OsString::from(text);
    };
    let mut out = Vec::new();
    let mut bytes = inner.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'r') => out.push(b'\r'),
            Some(b'a') => out.push(7),
            Some(b'b') => out.push(8),
            Some(b'f') => out.push(12),
            Some(b'v') => out.push(11),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(next @ b'0'..=b'7') = bytes.peek().copied() {
                        value = value * 8 + u32::from(next - b'0');
                        bytes.next();
                    }
                }
                out.push(value as u8);
            }
            Some(other) => out.push(other),
            None => out.push(b'\\'),
        }
    }
    OsString::from_vec(out)
}

/// The old start and both counts of a hunk header, as far as it has them.
fn hunk_header(line: &str) -> (Option<usize>, Option<(usize, usize)>) {
    let numbers = line.trim_start_matches('@').split("@@").next().unwrap_or("");
    let mut ranges = numbers.split_whitespace();
    let mut range = |sign: char| -> Option<(usize, usize)> {
        let text = ranges.next()?.strip_prefix(sign)?;
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let old = range('-');
    let new = range('+');
    (
        old.map(|(start, _)| start),
        old.zip(new).map(|((_, old), (_, new))| (old, new)),
    )
}
