//! Where a command runs: in the workspace itself, or, when a draft exists, in a plain copy that has it applied.

use std::path::PathBuf;

use changeset::stage::{self, StagedCopy};
use process::runner::CommandEnd;
use protocol::RuntimeError;
use workspace::display_path;

use super::not_a_folder;
use crate::turn::Turn;

pub struct Place {
    pub root: PathBuf,
    pub cwd: PathBuf,
    /// Relative to the workspace.
    pub shown_cwd: String,
    /// Other folders that count as the workspace: what a staged copy links to.
    pub linked_roots: Vec<PathBuf>,
    /// What the command can reach, in one line.
    pub isolation: String,
    pub notes: Vec<String>,
    relative: PathBuf,
    copy: Option<StagedCopy>,
}

impl Place {
    /// A folder that is gone falls back to the root, and says so (C07).
    pub fn in_workspace(turn: &Turn, cwd: Option<&str>) -> Result<Self, RuntimeError> {
        let workspace = &turn.rooms.workspace;
        let path = workspace.resolve(cwd.unwrap_or("."))?;
        let absolute = path.absolute();
        let mut notes = Vec::new();
        let relative = match absolute.metadata() {
            Ok(metadata) if metadata.is_dir() => path.relative().to_owned(),
            Ok(_) => return Err(not_a_folder(&path.display())),
            // It may exist in the draft only; the copy has it then.
            Err(_)
                if turn
                    .rooms
                    .changes
                    .overlay(&turn.session.id)?
                    .has_content_below(path.relative()) =>
            {
                path.relative().to_owned()
            }
            Err(_) => {
                notes.push(format!(
                    "{} does not exist; ran in the workspace root.",
                    path.display()
                ));
                PathBuf::new()
            }
        };
        Ok(Self {
            root: workspace.root().to_owned(),
            cwd: workspace.root().join(&relative),
            shown_cwd: display_path(&relative),
            linked_roots: Vec::new(),
            isolation: "in the workspace itself, without a sandbox".to_owned(),
            notes,
            relative,
            copy: None,
        })
    }

    pub fn is_staged(&self) -> bool {
        self.copy.is_some()
    }

    /// Moves to a copy of the workspace if the session has a draft.
    pub async fn stage(&mut self, turn: &Turn) -> Result<(), RuntimeError> {
        if turn.rooms.changes.overlay(&turn.session.id)?.is_empty() {
            return Ok(());
        }
        let (changes, session) = (turn.rooms.changes.clone(), turn.session.id.clone());
        let copy = tokio::task::spawn_blocking(move || stage::prepare(&changes, &session))
            .await
            .map_err(RuntimeError::internal)??;
        self.root = copy.root().to_owned();
        self.cwd = self.root.join(&self.relative);
        self.linked_roots = copy
            .linked()
            .map(|path| turn.rooms.workspace.root().join(path))
            .collect();
        self.isolation = copy.level_description().to_owned();
        self.copy = Some(copy);
        Ok(())
    }

    /// What the command changed in the copy joins the draft, and the copy is kept for the next command unless the
    /// command left something running. Returns what a reader must know of it.
    pub async fn harvest(
        &mut self,
        turn: &Turn,
        command: &str,
        end: &CommandEnd,
    ) -> Result<Vec<String>, RuntimeError> {
        let Some(copy) = self.copy.take() else {
            return Ok(Vec::new());
        };
        let (changes, session, command) = (
            turn.rooms.changes.clone(),
            turn.session.id.clone(),
            command.to_owned(),
        );
        let quiet = end.still_running.is_empty();
        let harvest = tokio::task::spawn_blocking(move || {
            let harvest = stage::harvest(&changes, &copy, &session, &command);
            if quiet {
                changes.keep_copy(copy);
            }
            harvest
        })
        .await
        .map_err(RuntimeError::internal)??;
        let mut notes = harvest.notes;
        if !harvest.files.is_empty() {
            let names: Vec<String> = harvest.files.iter().map(|file| file.path.clone()).collect();
            notes.insert(
                0,
                format!("It changed {}; that joined the draft.", names.join(", ")),
            );
        }
        Ok(notes)
    }
}
