//! The agent's edits. Each call is a transaction on the session's draft: all of it joins, or none.
//!
//! Owns what each call means and when a draft is begun, reopened and stored; the operations on it are
//! `transaction`'s. It writes no user file.

use protocol::{
    ChangeSet, ChangeSetId, ChangeSetStatus, ChangeType, ContentHash, FileStatus, Millis, SessionId,
    ToolCallId,
};
use store::Durability;
use workspace::WorkspacePath;

use crate::{
    ChangeSets,
    disk::{self, Executable},
    edit::{self, Mismatch, Replacement, ReplacementError},
    error::{ApplyError, EditError, FileVerdict},
    machine::{self, Input},
    patch,
    record::{SetRecord, StoredPath},
    set,
    transaction::{Editing, Ended},
};

/// What an edit call did.
#[derive(Clone, Debug, PartialEq)]
pub struct EditOutcome {
    /// The session's draft with the edit in it.
    pub change_set: ChangeSet,
    pub files: Vec<EditedFile>,
}

/// What one call did to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedFile {
    /// The real path, through links.
    pub path: String,
    pub change_type: ChangeType,
    /// Lines, by this call alone.
    pub added: u64,
    pub deleted: u64,
    /// The hash of the content a reader saw before this call; absent when there was none.
    pub old_hash: Option<ContentHash>,
    /// The hash of the content a reader now sees; absent when the file is deleted.
    pub new_hash: Option<ContentHash>,
    /// The changed lines with line numbers and some context, cut at 40 lines. Empty for deletions and renames.
    pub excerpt: String,
}

/// Who asks for an edit.
#[derive(Clone, Debug)]
pub(crate) enum Author<'a> {
    Call(&'a ToolCallId),
    Command { line: &'a str },
}

impl ChangeSets {
    /// Creates a text file, UTF-8 as given.
    pub fn create(
        &self,
        session: &SessionId,
        call: &ToolCallId,
        path: &WorkspacePath,
        text: &str,
    ) -> Result<EditOutcome, EditError> {
        self.edited(session, Author::Call(call), |editing| {
            let path = editing.writable(path)?;
            editing.create(&path, text.as_bytes(), disk::new_file_mode(Executable::No))
        })
    }

    /// Replaces pieces of a text file, in order; all of them or none.
    pub fn edit(
        &self,
        session: &SessionId,
        call: &ToolCallId,
        path: &WorkspacePath,
        edits: &[Replacement],
    ) -> Result<EditOutcome, EditError> {
        self.edited(session, Author::Call(call), |editing| {
            let path = editing.writable(path)?;
            let current = editing.existing(&path)?;
            let before = editing.editable(&path, &current)?;
            let bytes = edit::apply_replacements(&before, edits).map_err(|error| EditError::Text {
                path: path.display(),
                error,
            })?;
            editing.write(&path, Some(&current), &bytes, current.version.mode)
        })
    }

    /// Replaces the whole text of a file. `seen` is the hash of the content the caller last read: another content
    /// there now refuses the call. Encoding, byte-order mark and the endings of lines that stay are kept.
    pub fn replace(
        &self,
        session: &SessionId,
        call: &ToolCallId,
        path: &WorkspacePath,
        text: &str,
        seen: Option<&ContentHash>,
    ) -> Result<EditOutcome, EditError> {
        self.edited(session, Author::Call(call), |editing| {
            let path = editing.writable(path)?;
            let current = editing.existing(&path)?;
            if seen != Some(&current.version.hash) {
                return Err(EditError::Stale { path: path.display() });
            }
            let before = editing.editable(&path, &current)?;
            let bytes = edit::replace_whole(&before, text).map_err(|mismatch| text_error(&path, mismatch))?;
            editing.write(&path, Some(&current), &bytes, current.version.mode)
        })
    }

    pub fn delete(
        &self,
        session: &SessionId,
        call: &ToolCallId,
        path: &WorkspacePath,
    ) -> Result<EditOutcome, EditError> {
        self.edited(session, Author::Call(call), |editing| {
            let path = editing.writable(path)?;
            editing.delete(&path)
        })
    }

    /// Moves a file to a path that nothing is at.
    pub fn rename(
        &self,
        session: &SessionId,
        call: &ToolCallId,
        from: &WorkspacePath,
        to: &WorkspacePath,
    ) -> Result<EditOutcome, EditError> {
        self.edited(session, Author::Call(call), |editing| {
            let (from, to) = (editing.writable(from)?, editing.writable(to)?);
            editing.rename(&from, &to)
        })
    }

    /// Applies a unified diff of any number of files; all of it or nothing.
    pub fn patch(
        &self,
        session: &SessionId,
        call: &ToolCallId,
        unified_diff: &str,
    ) -> Result<EditOutcome, EditError> {
        let patches = patch::parse(unified_diff)?;
        self.edited(session, Author::Call(call), |editing| {
            let mut verdicts = Vec::new();
            for file in &patches {
                let problem = editing.patch_file(file).err();
                if let Some(error @ (EditError::Store(_) | EditError::Internal(_))) = problem {
                    return Err(error);
                }
                verdicts.push(FileVerdict {
                    path: workspace::display_path(file.path().as_ref()),
                    problem: problem.map(|error| error.to_string()),
                });
            }
            if verdicts.iter().any(|verdict| verdict.problem.is_some()) {
                return Err(EditError::PatchRejected { files: verdicts });
            }
            Ok(())
        })
    }

    /// Runs one edit call on a copy of the draft and keeps the copy if the call succeeds.
    pub(crate) fn edited(
        &self,
        session: &SessionId,
        author: Author,
        run: impl FnOnce(&mut Editing) -> Result<(), EditError>,
    ) -> Result<EditOutcome, EditError> {
        let mut state = self.lock();
        let now = set::now();
        let open = state.open.get(session).cloned();
        let mut record = open.clone().unwrap_or_else(|| new_record(session, now));
        if record.status != ChangeSetStatus::Draft {
            record.status = machine::next(record.status, Input::Reopen)?;
        }
        record.updated_at = now;
        if let Author::Call(call) = author
            && !record.source_tool_call_ids.contains(call)
        {
            record.source_tool_call_ids.push(call.clone());
        }
        let mut editing = Editing::begin(self, &mut state, record, author, now);
        let result = run(&mut editing);
        let Ended {
            record,
            files,
            set_aside,
        } = editing.end();
        if let Err(error) = result {
            // The one thing a failed call may leave behind: that a file of the draft no longer fits the disk.
            if let Some(mut before) = open
                && !set_aside.is_empty()
            {
                for (path, detail) in set_aside {
                    for file in before.files.iter_mut().filter(|file| {
                        file.status == FileStatus::Pending && file.effect.path() == Some(&path)
                    }) {
                        file.status = FileStatus::Conflicted;
                        file.conflict = Some(detail.clone());
                    }
                }
                if before.status != ChangeSetStatus::Draft {
                    before.status = machine::next(before.status, Input::Conflict)?;
                }
                self.put(&mut state, before, Durability::Normal)?;
            }
            return Err(error);
        }
        if let Some(open) = open.as_ref().filter(|open| open.files == record.files) {
            // Nothing changed, so a review that is under way goes on.
            return Ok(EditOutcome {
                change_set: self.shown(&mut state, open)?,
                files,
            });
        }
        if record.files.is_empty() && record.snapshots.is_empty() {
            // Nothing came of it, or the draft went back to where it began.
            if open.is_some() {
                self.forget(&mut state, &record)?;
            }
        } else {
            self.put(&mut state, record.clone(), Durability::Normal)?;
        }
        Ok(EditOutcome {
            change_set: self.shown(&mut state, &record)?,
            files,
        })
    }
}

fn new_record(session: &SessionId, now: Millis) -> SetRecord {
    SetRecord {
        id: ChangeSetId::mint(),
        session_id: session.clone(),
        title: String::new(),
        reason: String::new(),
        created_at: now,
        updated_at: now,
        status: ChangeSetStatus::Draft,
        files: Vec::new(),
        snapshots: Vec::new(),
        undone_by: None,
        source_tool_call_ids: Vec::new(),
    }
}

fn text_error(path: &StoredPath, mismatch: Mismatch) -> EditError {
    EditError::Text {
        path: path.display(),
        error: ReplacementError {
            number: 1,
            of: 1,
            mismatch,
        },
    }
}

impl From<ApplyError> for EditError {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Store(error) => EditError::Store(error),
            ApplyError::State(error) => EditError::State(error),
            ApplyError::Path(error) => EditError::Path(error),
            ApplyError::Io { path, reason } => EditError::Io { path, reason },
            other => EditError::Internal(other.to_string()),
        }
    }
}
