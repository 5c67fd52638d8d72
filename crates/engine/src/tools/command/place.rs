//! Where a command runs: in a staged view of the workspace with the draft in it, or where none can be had in a plain
//! copy. Never in the workspace itself.

use std::{path::PathBuf, time::Duration};

use changeset::stage::{self, Harvest, StagedCopy, StagedView};
use process::{
    ApprovedCommand, CommandEnvironment,
    runner::CommandEnd,
    staged::{Repository, Sandbox, Staged, View},
};
use protocol::{RuntimeError, commands::RulePlace};
use workspace::display_path;

use super::{not_a_folder, repository::Elsewhere};
use crate::{
    isolation::{self, Level},
    secrets::SecretPaths,
    turn::Turn,
};

/// Changed files that are named in a note; more are counted.
const NAMED_FILES: usize = 20;

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
    /// The longest that a command may run here.
    pub longest: Option<Duration>,
    relative: PathBuf,
    level: Level,
    sandbox: Sandbox,
    staged: Option<Stage>,
}

enum Stage {
    View(StagedView),
    Copy(StagedCopy),
}

impl Place {
    /// A folder that is gone falls back to the root, and says so (C07).
    pub async fn find(
        turn: &Turn,
        cwd: Option<&str>,
        environment: &CommandEnvironment,
    ) -> Result<Self, RuntimeError> {
        let root = turn.rooms.workspace.root();
        let settings = turn.rooms.home.settings()?.sandbox.in_workspace(root);
        let mut sandbox = isolation::sandbox(&settings, environment, turn.rooms.home.path());
        sandbox
            .hidden
            .extend(SecretPaths::of(&turn.rooms)?.absolute(root));
        let most_seconds = settings.limits.seconds;
        let rooms = turn.rooms.clone();
        let level = tokio::task::spawn_blocking(move || rooms.isolation.level(&rooms.store, &settings))
            .await
            .map_err(RuntimeError::internal)?;
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
            isolation: match &level {
                Level::View => format!("staged view, {}", sandbox.in_words()),
                Level::Copy { because } => {
                    format!("in a copy of the workspace, without a sandbox: {because}")
                }
            },
            notes,
            relative,
            level,
            sandbox,
            longest: most_seconds.map(Duration::from_secs),
            staged: None,
        })
    }

    /// Whether nothing keeps the command from anything but the copy it runs in.
    pub fn is_unprotected(&self) -> bool {
        matches!(self.level, Level::Copy { .. })
    }

    /// Which of a person's rules hold here.
    pub fn rule_place(&self) -> RulePlace {
        match self.is_unprotected() {
            true => RulePlace::Anywhere,
            false => RulePlace::Sandboxed,
        }
    }

    /// Where there is no view, moves to a copy: there, paths mean other places.
    pub async fn copy(&mut self, turn: &Turn) -> Result<(), RuntimeError> {
        let Level::Copy { because } = &self.level else {
            return Ok(());
        };
        let (changes, session) = (turn.rooms.changes.clone(), turn.session.id.clone());
        let copy = in_background(move || stage::prepare(&changes, &session))
            .await?
            .map_err(RuntimeError::from)?;
        self.isolation = format!("{}; no sandbox: {because}", copy.level_description());
        self.root = copy.root().to_owned();
        self.cwd = self.root.join(&self.relative);
        self.linked_roots = copy
            .linked()
            .map(|path| turn.rooms.workspace.root().join(path))
            .collect();
        self.staged = Some(Stage::Copy(copy));
        Ok(())
    }

    /// Makes the view a command that may run now is to run in.
    pub async fn view(
        &mut self,
        turn: &Turn,
        command: &ApprovedCommand,
    ) -> Result<Option<Staged>, RuntimeError> {
        if self.staged.is_some() {
            return Ok(None);
        }
        let (changes, session) = (turn.rooms.changes.clone(), turn.session.id.clone());
        let layers = in_background(move || stage::prepare_view(&changes, &session))
            .await?
            .map_err(RuntimeError::from)?;
        let mut sandbox = self.sandbox.clone();
        let elsewhere = Elsewhere::of(layers.root());
        if let Some(repository) = &elsewhere {
            match command.changes_repository() {
                true => {
                    sandbox.writable.push(repository.folder.clone());
                    sandbox.closed.extend(repository.closed());
                }
                false => sandbox.readable.push(repository.folder.clone()),
            }
        }
        let staged = Staged {
            view: View {
                root: layers.root().to_owned(),
                upper: layers.upper(),
                work: layers.work(),
                scratch: layers.scratch(),
                kept: layers.kept().to_vec(),
                repository: match command.changes_repository() {
                    true => Repository::Writable,
                    false => Repository::ReadOnly,
                },
            },
            sandbox,
        };
        self.staged = Some(Stage::View(layers));
        Ok(Some(staged))
    }

    /// What the command changed joins the draft. A copy is kept for the next command unless the command left something
    /// running. Returns what a reader must know of it.
    pub async fn harvest(
        &mut self,
        turn: &Turn,
        command: &str,
        end: &CommandEnd,
    ) -> Result<Vec<String>, RuntimeError> {
        if let Some(because) = &end.not_entered {
            turn.rooms.isolation.refused(because);
            return Ok(vec![
                "Commands run in a plain copy of the workspace from now on; run it again.".to_owned(),
            ]);
        }
        let Some(staged) = self.staged.take() else {
            return Ok(Vec::new());
        };
        let (changes, session, command) = (
            turn.rooms.changes.clone(),
            turn.session.id.clone(),
            command.to_owned(),
        );
        let quiet = end.still_running.is_empty();
        let harvest = in_background(move || match staged {
            Stage::View(view) => {
                let harvest = stage::harvest_view(&changes, &view, &session, &command);
                // Removing its layers takes longer than all else, and nobody needs to wait for it. What the engine's end
                // leaves of them is swept at the next start.
                drop(tokio::task::spawn_blocking(move || drop(view)));
                harvest
            }
            Stage::Copy(copy) => {
                let harvest = stage::harvest(&changes, &copy, &session, &command);
                if quiet {
                    changes.keep_copy(copy);
                }
                harvest
            }
        })
        .await??;
        Ok(in_words(harvest))
    }
}

fn in_words(harvest: Harvest) -> Vec<String> {
    let mut notes = harvest.notes;
    if !harvest.files.is_empty() {
        let mut names: Vec<String> = harvest
            .files
            .iter()
            .take(NAMED_FILES)
            .map(|file| file.path.clone())
            .collect();
        if harvest.files.len() > NAMED_FILES {
            names.push(format!("and {} more", harvest.files.len() - NAMED_FILES));
        }
        notes.insert(
            0,
            format!("It changed {}; that joined the draft.", names.join(", ")),
        );
    }
    notes
}

async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RuntimeError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(RuntimeError::internal)
}
