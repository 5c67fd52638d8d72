//! The tools that change the draft. Nothing they do reaches the user's files.

use std::sync::Arc;

use changeset::{EditOutcome, EditedFile, Replacement};
use protocol::{ChangeType, RuntimeError, ToolCallId};
use serde_json::json;
use workspace::{PathError, WorkspacePath};

use super::{
    catalogue::ToolArguments,
    outcome::{Outcome, ToolOutcome},
    router::AuthorizedToolCall,
};
use crate::{rooms::Rooms, session::Session, turn::Turn};

/// Runs on a blocking thread and is always awaited: an edit is short, and half of one must not come late.
pub async fn run(turn: &Turn, call: AuthorizedToolCall) -> ToolOutcome {
    let editor = Editor {
        rooms: turn.rooms.clone(),
        session: turn.session.clone(),
        call: call.id,
    };
    tokio::task::spawn_blocking(move || editor.apply(call.arguments))
        .await
        .map_err(RuntimeError::internal)?
}

struct Editor {
    rooms: Arc<Rooms>,
    session: Arc<Session>,
    call: ToolCallId,
}

impl Editor {
    fn apply(&self, arguments: ToolArguments) -> ToolOutcome {
        let (changes, session, call) = (&self.rooms.changes, &self.session.id, &self.call);
        let outcome = match arguments {
            ToolArguments::CreateFile(new) => {
                changes.create(session, call, &self.path(&new.path)?, &new.content)?
            }
            ToolArguments::EditFile(edit) => {
                let replacement = Replacement {
                    old: edit.old,
                    new: edit.new,
                };
                changes.edit(session, call, &self.path(&edit.path)?, &[replacement])?
            }
            ToolArguments::MultiEdit(edit) => {
                let replacements: Vec<Replacement> = edit
                    .edits
                    .into_iter()
                    .map(|edit| Replacement {
                        old: edit.old,
                        new: edit.new,
                    })
                    .collect();
                changes.edit(session, call, &self.path(&edit.path)?, &replacements)?
            }
            ToolArguments::ReplaceFile(new) => {
                let path = self.path(&new.path)?;
                let seen = self.session.last_seen(&path.display());
                changes.replace(session, call, &path, &new.content, seen.as_ref())?
            }
            ToolArguments::ApplyPatch(patch) => changes.patch(session, call, &patch.patch)?,
            ToolArguments::DeleteFile(file) => changes.delete(session, call, &self.path(&file.path)?)?,
            ToolArguments::RenameFile(file) => {
                changes.rename(session, call, &self.path(&file.from)?, &self.path(&file.to)?)?
            }
            ToolArguments::ReadFile(_)
            | ToolArguments::ListDirectory(_)
            | ToolArguments::SearchFiles(_)
            | ToolArguments::SearchContent(_)
            | ToolArguments::GitStatus(_)
            | ToolArguments::GitDiff(_)
            | ToolArguments::RunCommand(_)
            | ToolArguments::CheckCommand(_)
            | ToolArguments::RunChecks(_) => {
                return Err(RuntimeError::internal(
                    "a call that is no edit reached the editor",
                ));
            }
        };
        self.remember(&outcome);
        Ok(report(&outcome))
    }

    fn path(&self, path: &str) -> Result<WorkspacePath, PathError> {
        self.rooms.workspace.resolve(path)
    }

    /// The model knows the new text of a file only if it knew the one it changed.
    fn remember(&self, outcome: &EditOutcome) {
        for file in &outcome.files {
            self.session
                .saw_edit(&file.path, file.old_hash.as_ref(), file.new_hash.as_ref());
        }
    }
}

/// What the model reads: what was done, and the place as it is now, so that it need not read it again.
fn report(outcome: &EditOutcome) -> Outcome {
    let mut content = String::new();
    for file in &outcome.files {
        content.push_str(&describe(file));
        content.push('\n');
        if !file.excerpt.is_empty() {
            content.push_str(&file.excerpt);
            if !file.excerpt.ends_with('\n') {
                content.push('\n');
            }
        }
    }
    content.push_str("In the draft; the user reviews it.");
    let (added, deleted) = outcome.files.iter().fold((0, 0), |(added, deleted), file| {
        (added + file.added, deleted + file.deleted)
    });
    let summary = format!("+{added} −{deleted}");
    let files: Vec<_> = outcome
        .files
        .iter()
        .map(|file| json!({ "path": file.path, "changeType": file.change_type, "added": file.added, "deleted": file.deleted }))
        .collect();
    Outcome::new(content, summary).with_data(json!({ "files": files }))
}

fn describe(file: &EditedFile) -> String {
    let verb = match file.change_type {
        ChangeType::Create => "Created",
        ChangeType::Modify => "Edited",
        ChangeType::Delete => "Deleted",
        ChangeType::Rename => "Renamed",
    };
    format!("{verb} {} (+{} −{})", file.path, file.added, file.deleted)
}
