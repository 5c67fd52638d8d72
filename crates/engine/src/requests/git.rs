//! The repository for whoever draws a tree or a gutter. Read only.

use protocol::{
    RuntimeError,
    request::{GitEntry, GitLetter, GitShowParams, GitShowResult, GitStatusResult},
};
use workspace::{
    git::{self, Change, GitError},
    text::{self, Detected},
};

use crate::Engine;

/// Larger contents are not decorated.
const MAX_SHOWN: usize = 5 * 1024 * 1024;

pub fn status(engine: &Engine) -> Result<GitStatusResult, RuntimeError> {
    let status = match git::status(&engine.rooms().workspace) {
        Ok(status) => status,
        Err(GitError::NotARepository(_)) => {
            return Ok(GitStatusResult {
                repository: false,
                branch: None,
                ahead: 0,
                behind: 0,
                entries: Vec::new(),
            });
        }
        Err(error) => return Err(error.into()),
    };
    let mut entries = Vec::with_capacity(status.entries.len());
    for entry in &status.entries {
        let path = workspace::display_path(&entry.path);
        for (change, staged) in [(entry.staged, true), (entry.unstaged, false)] {
            if let Some(letter) = letter(change) {
                entries.push(GitEntry {
                    path: path.clone(),
                    letter,
                    staged,
                });
            }
        }
    }
    Ok(GitStatusResult {
        repository: true,
        branch: status.branch,
        ahead: status.ahead,
        behind: status.behind,
        entries,
    })
}

fn letter(change: Change) -> Option<GitLetter> {
    Some(match change {
        Change::Unchanged => return None,
        Change::Modified | Change::TypeChanged => GitLetter::Modified,
        Change::Added | Change::Copied => GitLetter::Added,
        Change::Deleted => GitLetter::Deleted,
        Change::Renamed => GitLetter::Renamed,
        Change::Untracked => GitLetter::Untracked,
        Change::Conflicted => GitLetter::Conflicted,
    })
}

pub fn show(engine: &Engine, params: &GitShowParams) -> Result<GitShowResult, RuntimeError> {
    let workspace = &engine.rooms().workspace;
    let path = workspace.resolve(&params.path)?;
    let bytes = match git::committed(workspace, &path, MAX_SHOWN) {
        Ok(bytes) => bytes,
        Err(GitError::NotARepository(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let text = bytes.and_then(|bytes| match text::detect(&bytes) {
        Detected::Text { encoding, .. } => Some(text::decode(&bytes, encoding)),
        Detected::Binary { .. } => None,
    });
    Ok(GitShowResult { text })
}
