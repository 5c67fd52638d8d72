//! Writes file changes as a git-style unified diff that `git apply` takes.
//!
//! Pure. Owns the format only: names are quoted as git quotes them, contents are the bytes they are.

use std::{os::unix::ffi::OsStrExt, path::Path};

use protocol::{LineKind, changes::LineEnding};

use crate::diff::{Diff, RawHunk, first_line};

/// One side of a file's change.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    pub path: &'a Path,
    pub bytes: &'a [u8],
    /// Permission bits.
    pub mode: u32,
}

/// Appends the change of one file. `old` is absent for a creation, `new` for a deletion. Content that is not text
/// (`Form::Opaque`) is only named, as git does without `--binary`.
pub fn write_file(out: &mut Vec<u8>, old: Option<Side>, new: Option<Side>, form: Form) {
    let Some(path) = new.or(old).map(|side| side.path) else {
        return;
    };
    let old_name = name("a/", old.map_or(path, |side| side.path));
    let new_name = name("b/", new.map_or(path, |side| side.path));
    line(out, &[b"diff --git ", &old_name, b" ", &new_name]);
    match (&old, &new) {
        (None, Some(new)) => line(out, &[b"new file mode ", mode(new.mode).as_bytes()]),
        (Some(old), None) => line(out, &[b"deleted file mode ", mode(old.mode).as_bytes()]),
        (Some(old), Some(new)) => {
            if mode(old.mode) != mode(new.mode) {
                line(out, &[b"old mode ", mode(old.mode).as_bytes()]);
                line(out, &[b"new mode ", mode(new.mode).as_bytes()]);
            }
            if old.path != new.path {
                line(out, &[b"rename from ", &name("", old.path)]);
                line(out, &[b"rename to ", &name("", new.path)]);
            }
        }
        (None, None) => {}
    }
    let (old_bytes, new_bytes) = (
        old.map_or(&[][..], |side| side.bytes),
        new.map_or(&[][..], |side| side.bytes),
    );
    if old_bytes == new_bytes {
        return;
    }
    let missing = || b"/dev/null".to_vec();
    let old_label = old.map_or_else(missing, |_| label(&old_name));
    let new_label = new.map_or_else(missing, |_| label(&new_name));
    match form {
        Form::Opaque => {
            let bare = |label: &[u8]| label.strip_suffix(b"\t").unwrap_or(label).to_vec();
            line(
                out,
                &[
                    b"Binary files ",
                    &bare(&old_label),
                    b" and ",
                    &bare(&new_label),
                    b" differ",
                ],
            );
        }
        Form::Lines => {
            line(out, &[b"--- ", &old_label]);
            line(out, &[b"+++ ", &new_label]);
            hunks(out, old_bytes, new_bytes);
        }
    }
}

/// How a content is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Lines,
    /// Binary, or UTF-16, whose lines a byte-oriented patch cannot hold.
    Opaque,
}

fn hunks(out: &mut Vec<u8>, old: &[u8], new: &[u8]) {
    for RawHunk { span, lines } in Diff::of(old, new).raw_hunks() {
        let range = |range: &std::ops::Range<usize>| format!("{},{}", first_line(range), range.len());
        line(
            out,
            &[format!("@@ -{} +{} @@", range(&span.old), range(&span.new)).as_bytes()],
        );
        for (kind, piece) in lines {
            out.push(match kind {
                LineKind::Context => b' ',
                LineKind::Added => b'+',
                LineKind::Deleted => b'-',
            });
            out.extend_from_slice(piece);
            let (_, ending) = crate::lines::parts(piece, crate::lines::Width::Byte);
            if ending == LineEnding::None {
                out.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        }
    }
}

fn line(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
    out.push(b'\n');
}

/// Git knows files and executable files.
fn mode(bits: u32) -> &'static str {
    if bits & 0o100 == 0 { "100644" } else { "100755" }
}

/// A name behind `---` or `+++`: a tab ends one that holds a space, or a reader would cut it there.
fn label(name: &[u8]) -> Vec<u8> {
    let mut label = name.to_vec();
    if !label.starts_with(b"\"") && label.contains(&b' ') {
        label.push(b'\t');
    }
    label
}

fn name(mark: &str, path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes();
    let plain = bytes
        .iter()
        .all(|byte| (0x20..0x7f).contains(byte) && !matches!(byte, b'"' | b'\\'));
    if plain {
        return [mark.as_bytes(), bytes].concat();
    }
    let mut out = vec![b'"'];
    out.extend_from_slice(mark.as_bytes());
    for byte in bytes {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            0x20..0x7f => out.push(*byte),
            _ => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    out.push(b'"');
    out
}
