//! A draft while one call edits it: what is at a path, and the operations on it.
//!
//! Owns what an edit may do to a path and which content it works on: the disk with the draft on it, brought up to
//! date first. Works on a copy of the record; `editing` keeps the copy or lets it go.

use std::sync::Arc;

use protocol::{ChangeType, FileStatus, LineKind, Millis};
use workspace::{WorkspacePath, text};

use crate::{
    ChangeSets,
    diff::Diff,
    disk::{self, Executable, FileState},
    draft::{self, Draft, Drafted, Origin},
    editing::{Author, EditedFile},
    error::EditError,
    hunks,
    patch::FilePatch,
    record::{SetRecord, StoredPath, Version},
    set::{self, State},
    show,
};

/// Lines of an excerpt a model is shown after an edit.
const EXCERPT_LINES: usize = 40;

/// A draft being edited by one call.
pub(crate) struct Editing<'a> {
    sets: &'a ChangeSets,
    state: &'a mut State,
    record: SetRecord,
    author: Author<'a>,
    now: Millis,
    touched: Vec<Touched>,
    /// Files whose draft turned out not to fit the disk, with both sides in words.
    set_aside: Vec<(StoredPath, String)>,
}

/// What a call leaves behind.
pub(crate) struct Ended {
    pub record: SetRecord,
    pub files: Vec<EditedFile>,
    pub set_aside: Vec<(StoredPath, String)>,
}

struct Touched {
    path: StoredPath,
    kind: ChangeType,
    before: Option<FileState>,
    after: Option<FileState>,
}

impl<'a> Editing<'a> {
    pub fn begin(
        sets: &'a ChangeSets,
        state: &'a mut State,
        record: SetRecord,
        author: Author<'a>,
        now: Millis,
    ) -> Editing<'a> {
        Editing {
            sets,
            state,
            record,
            author,
            now,
            touched: Vec::new(),
            set_aside: Vec::new(),
        }
    }

    pub fn end(self) -> Ended {
        Ended {
            record: self.record,
            files: self.touched.iter().map(Touched::report).collect(),
            set_aside: self.set_aside,
        }
    }

    /// A path an edit may write to.
    pub fn writable(&self, path: &WorkspacePath) -> Result<StoredPath, EditError> {
        let shown = || path.display();
        if path.is_protected() {
            return Err(EditError::Protected { path: shown() });
        }
        if path.relative().as_os_str().is_empty() {
            return Err(EditError::IsDirectory { path: shown() });
        }
        Ok(StoredPath(path.relative().to_owned()))
    }

    /// What a reader of this session finds at a path.
    pub fn current(&mut self, path: &StoredPath) -> Result<Option<FileState>, EditError> {
        self.bring_up_to_date(path)?;
        match set::drafted(&self.record, &path.0) {
            Drafted::Present(version) => {
                let content = self.sets.content(self.state, &version.hash)?;
                Ok(Some(FileState::of(content, version)))
            }
            Drafted::Absent => Ok(None),
            Drafted::Untouched => self.on_disk(path),
        }
    }

    pub fn create(&mut self, path: &StoredPath, bytes: &[u8], mode: u32) -> Result<(), EditError> {
        if self.current(path)?.is_some() {
            return Err(EditError::Exists { path: path.display() });
        }
        self.check_room(path)?;
        self.write(path, None, bytes, mode)
    }

    /// Creates a file with a content of any size, which the store has.
    pub fn create_stored(&mut self, path: &StoredPath, file: FileState) -> Result<(), EditError> {
        if self.current(path)?.is_some() {
            return Err(EditError::Exists { path: path.display() });
        }
        self.check_room(path)?;
        self.put(path, None, file)
    }

    pub fn existing(&mut self, path: &StoredPath) -> Result<FileState, EditError> {
        self.current(path)?
            .ok_or_else(|| EditError::NotFound { path: path.display() })
    }

    /// The bytes of a file that is to be worked on.
    pub fn editable(&self, path: &StoredPath, file: &FileState) -> Result<Arc<[u8]>, EditError> {
        file.bytes().cloned().ok_or_else(|| EditError::TooLarge {
            path: path.display(),
            size: file.content.size(),
            limit: disk::MAX_FILE_BYTES,
        })
    }

    /// Gives `path`, which has `before`, a new content.
    pub fn write(
        &mut self,
        path: &StoredPath,
        before: Option<&FileState>,
        bytes: &[u8],
        mode: u32,
    ) -> Result<(), EditError> {
        if bytes.len() as u64 > disk::MAX_FILE_BYTES {
            return Err(EditError::TooLarge {
                path: path.display(),
                size: bytes.len() as u64,
                limit: disk::MAX_FILE_BYTES,
            });
        }
        self.sets.keep(self.state, bytes)?;
        self.put(path, before, FileState::new(bytes, mode))
    }

    /// The same with a content of any size, which the store has.
    pub fn put(
        &mut self,
        path: &StoredPath,
        before: Option<&FileState>,
        after: FileState,
    ) -> Result<(), EditError> {
        let disk = self.disk_version(path)?;
        self.draft().write(path, after.version.clone(), disk);
        self.touch(
            path,
            if before.is_some() {
                ChangeType::Modify
            } else {
                ChangeType::Create
            },
            before,
            Some(after),
        );
        Ok(())
    }

    pub fn delete(&mut self, path: &StoredPath) -> Result<(), EditError> {
        let before = self.existing(path)?;
        let disk = self.disk_version(path)?;
        self.draft().delete(path, disk);
        self.touch(path, ChangeType::Delete, Some(&before), None);
        Ok(())
    }

    pub fn rename(&mut self, from: &StoredPath, to: &StoredPath) -> Result<(), EditError> {
        let moved = self.existing(from)?;
        if self.current(to)?.is_some() {
            return Err(EditError::Exists { path: to.display() });
        }
        self.check_room(to)?;
        let disk = self.disk_version(from)?;
        self.draft().rename(from, to, disk);
        self.touch(to, ChangeType::Rename, Some(&moved), Some(moved.clone()));
        Ok(())
    }

    pub fn patch_file(&mut self, patch: &FilePatch) -> Result<(), EditError> {
        let workspace = self.sets.workspace().clone();
        let resolve = |path: &std::ffi::OsString| workspace.resolve(path);
        let old = patch.old_path.as_ref().map(resolve).transpose()?;
        let new = patch.new_path.as_ref().map(resolve).transpose()?;
        let old = old.as_ref().map(|path| self.writable(path)).transpose()?;
        let new = new.as_ref().map(|path| self.writable(path)).transpose()?;
        let fit = |path: &StoredPath, bytes: &[u8]| {
            hunks::apply_hunks(bytes, &patch.hunks).map_err(|error| EditError::Hunk {
                path: path.display(),
                error,
            })
        };
        match (old, new) {
            (None, Some(new)) => {
                let executable = match patch.new_mode {
                    Some(mode) if mode & 0o100 != 0 => Executable::Yes,
                    _ => Executable::No,
                };
                let bytes = fit(&new, b"")?;
                self.create(&new, &bytes, disk::new_file_mode(executable))
            }
            (Some(old), None) => {
                let current = self.existing(&old)?;
                // The lines that go must be the lines that are there.
                if !patch.hunks.is_empty() && !fit(&old, &self.editable(&old, &current)?)?.is_empty() {
                    return Err(EditError::Stale { path: old.display() });
                }
                self.delete(&old)
            }
            (Some(old), Some(new)) => {
                let current = self.existing(&old)?;
                let before = self.editable(&old, &current)?;
                let bytes = fit(&old, &before)?;
                let mode = match patch.new_mode {
                    Some(mode) if mode & 0o100 != 0 => {
                        current.version.mode | ((current.version.mode & 0o444) >> 2)
                    }
                    Some(_) => current.version.mode & !0o111,
                    None => current.version.mode,
                };
                if old != new {
                    self.rename(&old, &new)?;
                }
                if bytes[..] != before[..] || mode != current.version.mode {
                    self.write(&new, Some(&current), &bytes, mode)?;
                }
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }

    /// Rebases the draft's entry for a path on the disk as it is now. An entry that was found not to fit earlier is
    /// dropped: this edit is the new attempt.
    fn bring_up_to_date(&mut self, path: &StoredPath) -> Result<(), EditError> {
        let files = &self.record.files;
        let Some(index) = draft::writer(files, &path.0).or_else(|| draft::taker(files, &path.0)) else {
            return Ok(());
        };
        if files[index].status == FileStatus::Conflicted {
            self.record.files.remove(index);
            return self.bring_up_to_date(path);
        }
        match self.sets.rebased(self.state, &self.record.files, index)? {
            Ok(file) if file.effect.changes_nothing() => {
                self.record.files.remove(index);
                Ok(())
            }
            Ok(file) => {
                self.record.files[index] = file;
                Ok(())
            }
            Err(detail) => {
                let shown = self.record.files[index]
                    .effect
                    .path()
                    .cloned()
                    .unwrap_or_else(|| path.clone());
                self.set_aside.push((shown.clone(), detail.clone()));
                Err(EditError::Conflict {
                    path: shown.display(),
                    detail,
                })
            }
        }
    }

    fn on_disk(&self, path: &StoredPath) -> Result<Option<FileState>, EditError> {
        disk::look(self.sets.workspace().root(), &path.0)
            .map_err(|error| EditError::disk(path.display(), error))
    }

    /// The version on disk where it counts as the origin of a new entry, with its content stored.
    fn disk_version(&mut self, path: &StoredPath) -> Result<Option<Version>, EditError> {
        if set::drafted(&self.record, &path.0) != Drafted::Untouched {
            return Ok(None);
        }
        let Some(found) = self.on_disk(path)? else {
            return Ok(None);
        };
        self.sets.keep_found(self.state, path, &found)?;
        Ok(Some(found.version))
    }

    /// Whether the draft leaves room for a file at a path: no file above it, no files below it.
    fn check_room(&self, path: &StoredPath) -> Result<(), EditError> {
        let targets = || {
            self.record
                .open_files()
                .filter_map(|file| file.effect.to.as_ref())
        };
        for target in targets() {
            if path.0 != target.path.0 && path.0.starts_with(&target.path.0) {
                return Err(EditError::ParentIsFile {
                    path: path.display(),
                    parent: target.path.display(),
                });
            }
            if path.0 != target.path.0 && target.path.0.starts_with(&path.0) {
                return Err(EditError::IsDirectory { path: path.display() });
            }
        }
        Ok(())
    }

    fn draft(&mut self) -> Draft<'_> {
        Draft {
            files: &mut self.record.files,
            origin: Origin {
                at: self.now,
                command: match self.author {
                    Author::Command { line } => Some(line),
                    Author::Call(_) => None,
                },
            },
        }
    }

    fn touch(
        &mut self,
        path: &StoredPath,
        kind: ChangeType,
        before: Option<&FileState>,
        after: Option<FileState>,
    ) {
        let before = before.cloned();
        match self.touched.iter_mut().find(|touched| touched.path == *path) {
            // A renamed file that is then changed stays a rename, with the change in it.
            Some(known) => {
                known.after = after;
                if kind == ChangeType::Delete {
                    known.kind = kind;
                }
            }
            None => self.touched.push(Touched {
                path: path.clone(),
                kind,
                before,
                after,
            }),
        }
    }
}

impl Touched {
    fn report(&self) -> EditedFile {
        let shown = |state: &Option<FileState>| match state {
            Some(state) => match state.bytes() {
                Some(bytes) => bytes.clone(),
                None => show::stand_in(&state.version.hash),
            },
            None => Arc::from(&[][..]),
        };
        let (before, after) = (shown(&self.before), shown(&self.after));
        let counts = show::counts(&before, &after);
        let hash = |state: &Option<FileState>| state.as_ref().map(|state| state.version.hash.clone());
        EditedFile {
            path: self.path.display(),
            change_type: self.kind,
            added: counts.added,
            deleted: counts.deleted,
            old_hash: hash(&self.before).filter(|_| self.kind != ChangeType::Create),
            new_hash: hash(&self.after),
            excerpt: match self.after {
                Some(_) => excerpt(&before, &after),
                None => String::new(),
            },
        }
    }
}

/// The new lines with their numbers, as a reader shows them.
fn excerpt(before: &[u8], after: &[u8]) -> String {
    if show::is_opaque(before) || show::is_opaque(after) {
        return String::new();
    }
    let encoding = show::encoding(after).unwrap_or(text::Encoding::Utf8);
    let mut out = String::new();
    let mut shown = 0;
    for hunk in Diff::of(before, after).hunks(|line| text::decode(line, encoding)) {
        let new_lines = hunk.lines.iter().filter(|line| line.kind != LineKind::Deleted);
        for (number, line) in (hunk.new_start..).zip(new_lines) {
            if shown == EXCERPT_LINES {
                out.push_str("…\n");
                return out;
            }
            let cut: String = line.text.chars().take(200).collect();
            out.push_str(&format!("{number}\t{cut}\n"));
            shown += 1;
        }
    }
    out
}
