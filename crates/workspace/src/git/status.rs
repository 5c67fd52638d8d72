//! Reads `git status --porcelain=v2 -z`. Pure.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

/// The state of a repository as far as the workspace goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitStatus {
    /// Absent when `HEAD` is detached.
    pub branch: Option<String>,
    /// Absent before the first commit.
    pub commit: Option<String>,
    pub upstream: Option<String>,
    /// Commits that the upstream does not have.
    pub ahead: u64,
    /// Commits that only the upstream has.
    pub behind: u64,
    /// In git's order: tracked files by path, then untracked ones.
    pub entries: Vec<StatusEntry>,
    /// There are more entries than a status holds.
    pub truncated: bool,
}

/// One path that differs. Paths are relative to the workspace root and carry the file's real name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusEntry {
    pub path: PathBuf,
    /// Where a renamed or copied file was.
    pub old_path: Option<PathBuf>,
    /// Between the last commit and the index.
    pub staged: Change,
    /// Between the index and the file.
    pub unstaged: Change,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    Unchanged,
    Modified,
    Added,
    Deleted,
    Renamed,
    Copied,
    /// A file became a link or the like.
    TypeChanged,
    Untracked,
    /// Both sides of a merge changed it.
    Conflicted,
}

impl Change {
    fn from_letter(letter: u8) -> Self {
        match letter {
            b'M' => Change::Modified,
            b'A' => Change::Added,
            b'D' => Change::Deleted,
            b'R' => Change::Renamed,
            b'C' => Change::Copied,
            b'T' => Change::TypeChanged,
            b'U' => Change::Conflicted,
            _ => Change::Unchanged,
        }
    }

    /// One word for people.
    pub fn name(self) -> &'static str {
        match self {
            Change::Unchanged => "unchanged",
            Change::Modified => "modified",
            Change::Added => "added",
            Change::Deleted => "deleted",
            Change::Renamed => "renamed",
            Change::Copied => "copied",
            Change::TypeChanged => "type changed",
            Change::Untracked => "untracked",
            Change::Conflicted => "conflicted",
        }
    }
}

impl StatusEntry {
    /// "staged: modified, unstaged: deleted", "untracked".
    pub fn in_words(&self) -> String {
        match (self.staged, self.unstaged) {
            (Change::Unchanged, change @ (Change::Untracked | Change::Conflicted)) => {
                change.name().to_owned()
            }
            (Change::Unchanged, change) => format!("unstaged: {}", change.name()),
            (change, Change::Unchanged) => format!("staged: {}", change.name()),
            (staged, unstaged) => format!("staged: {}, unstaged: {}", staged.name(), unstaged.name()),
        }
    }
}

/// `prefix` is where the workspace lies in the work tree; git names paths from the work tree's top.
pub(super) fn parse(output: &[u8], truncated: bool, prefix: &Path) -> GitStatus {
    let mut status = GitStatus {
        truncated,
        ..GitStatus::default()
    };
    // What follows the last NUL is nothing, or a record that was cut.
    let complete = memchr::memrchr(0, output).map_or(0, |at| at);
    let mut records = output[..complete].split(|byte| *byte == 0);
    while let Some(record) = records.next() {
        let entry = match record.first() {
            Some(b'#') => {
                header(&mut status, record);
                None
            }
            Some(b'1') => changed(record, 8, None),
            Some(b'2') => changed(record, 9, records.next()),
            Some(b'u') => nth_field(record, 10).map(|path| StatusEntry {
                path: path_of(path),
                old_path: None,
                staged: Change::Unchanged,
                unstaged: Change::Conflicted,
            }),
            Some(b'?') => nth_field(record, 1).map(|path| StatusEntry {
                path: path_of(path),
                old_path: None,
                staged: Change::Unchanged,
                unstaged: Change::Untracked,
            }),
            _ => None,
        };
        status
            .entries
            .extend(entry.and_then(|entry| entry.inside(prefix)));
    }
    status
}

impl StatusEntry {
    fn inside(mut self, prefix: &Path) -> Option<Self> {
        self.path = self.path.strip_prefix(prefix).ok()?.to_owned();
        self.old_path = self
            .old_path
            .and_then(|path| path.strip_prefix(prefix).map(Path::to_owned).ok());
        Some(self)
    }
}

fn header(status: &mut GitStatus, record: &[u8]) {
    let text = String::from_utf8_lossy(record);
    let mut words = text.split(' ').skip(1);
    let (Some(name), Some(value)) = (words.next(), words.next()) else {
        return;
    };
    match name {
        "branch.oid" if value != "(initial)" => status.commit = Some(value.to_owned()),
        "branch.head" if value != "(detached)" => status.branch = Some(value.to_owned()),
        "branch.upstream" => status.upstream = Some(value.to_owned()),
        "branch.ab" => {
            status.ahead = value.trim_start_matches('+').parse().unwrap_or(0);
            let behind = words.next().unwrap_or_default();
            status.behind = behind.trim_start_matches('-').parse().unwrap_or(0);
        }
        _ => {}
    }
}

fn changed(record: &[u8], path_field: usize, old_path: Option<&[u8]>) -> Option<StatusEntry> {
    let letters = nth_field(record, 1)?;
    Some(StatusEntry {
        path: path_of(nth_field(record, path_field)?),
        old_path: old_path.map(path_of),
        staged: Change::from_letter(*letters.first()?),
        unstaged: Change::from_letter(*letters.get(1)?),
    })
}

/// The field with this number, counted from 0; the last one of a record, a path, may contain spaces, so whatever
/// follows belongs to it when it is the one asked for.
fn nth_field(record: &[u8], number: usize) -> Option<&[u8]> {
    let mut fields = record.splitn(number + 1, |byte| *byte == b' ');
    let field = fields.nth(number)?;
    // `XY` is the one field that is not last.
    Some(if number == 1 && record.first() != Some(&b'?') {
        field.split(|byte| *byte == b' ').next()?
    } else {
        field
    })
}

fn path_of(bytes: &[u8]) -> PathBuf {
    // An untracked nested repository is named as a folder.
    let bytes = bytes.strip_suffix(b"/").unwrap_or(bytes);
    PathBuf::from(OsStr::from_bytes(bytes))
}
