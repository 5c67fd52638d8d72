//! Where a command of the agent runs, so that it sees the draft and the user's files stay as they are; and what the
//! command changed there as part of the draft.
//!
//! Two ways. The *view*: layers for an overlay that is mounted over the workspace (see [`StagedView`]); its cost does
//! not depend on the size of the workspace. Where no overlay can be had, the *copy* ([`StagedCopy`]): every file that
//! is not ignored, by reflink where the file system can, with mode and modification time. In both, what git ignores is
//! the real thing, so that caches and installed packages persist. The copy links to it, and to `.git`: a command that
//! writes through such a link writes the real thing, as [`StagedCopy::level_description`] says. Never hard links:
//! writing to one would change the user's file.
//!
//! Owns what is staged, what stays real and what is taken over afterwards. It starts no process and mounts nothing; it
//! writes below its own scratch folder, and to ignored files of the workspace when it brings home what a command made
//! there.

mod copy;
mod harvest;
mod home;
mod layer;
mod reuse;
mod seen;
mod view;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use protocol::{ErrorCode, RuntimeError, SessionId};
use store::{ScratchDir, StoreError};
use workspace::{
    Overlay, SkipReason, Workspace, WorkspacePath,
    walk::{self, SkippedEntry, WalkOptions, WalkedKind},
};

use crate::{ChangeSets, record::Version};
pub use harvest::Harvest;
pub(crate) use seen::after_review;
pub(crate) use view::DeepFolders;
pub use view::StagedView;

/// More files than this are not copied for a command.
pub const MAX_STAGED_FILES: usize = 200_000;
/// What an entry that git does not ignore may hold to be copied although walks leave it out.
const SMALL_FILES: usize = 2_000;
const SMALL_BYTES: u64 = 32 * 1024 * 1024;

/// Names that are build output by custom and source by chance. Those in `.venv`'s class are never source.
const PERHAPS_SOURCE: &[&str] = &["build", "coverage", "dist", "out", "target"];

/// Where one command runs. The copy is removed when this is dropped.
#[derive(Debug)]
pub struct StagedCopy {
    root: PathBuf,
    /// Files and links as they were put there.
    staged: BTreeMap<PathBuf, Staged>,
    /// Paths that are links to the real workspace.
    linked: BTreeSet<PathBuf>,
    /// Folders that are the copy's own.
    folders: BTreeSet<PathBuf>,
    /// Of all of them; absent before there is any.
    folder_mode: Option<u32>,
    level_description: String,
    directory: ScratchDir,
}

/// `source` is the stamp of the user's file that was copied; absent where the content came from the draft, or where a
/// later change of the file might not show in it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Staged {
    File {
        version: Version,
        stamp: copy::Stamp,
        source: Option<copy::Stamp>,
    },
    Link {
        target: PathBuf,
    },
}

impl StagedCopy {
    /// The folder that stands for the workspace.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a path of the workspace is in the copy; for a command's working directory.
    pub fn place_of(&self, path: &WorkspacePath) -> PathBuf {
        self.root.join(path.relative())
    }

    /// Paths of the workspace that the copy links to instead of holding them, so that caches persist.
    pub fn linked(&self) -> impl Iterator<Item = &Path> {
        self.linked.iter().map(PathBuf::as_path)
    }

    /// What the command could reach, in one line for its card.
    pub fn level_description(&self) -> &str {
        &self.level_description
    }
}

#[derive(Debug, thiserror::Error)]
pub enum StageError {
    #[error(
        "the workspace has {files} files that are not ignored, more than the {MAX_STAGED_FILES} that are copied"
    )]
    TooMany { files: usize },
    #[error("{path} could not be copied: {reason}")]
    Copy { path: String, reason: String },
    #[error("{0}")]
    Walk(#[from] walk::WalkError),
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("{0}")]
    Draft(RuntimeError),
}

impl From<StageError> for RuntimeError {
    fn from(error: StageError) -> Self {
        let message =
            "The command was not run: no copy of the workspace with the pending changes could be made.";
        let new = |error: &StageError| RuntimeError::new(ErrorCode::CommandStaging, message).because(error);
        match error {
            StageError::TooMany { .. } => new(&error)
                .action("Accept or reject the pending changes, or ignore generated files in .gitignore."),
            StageError::Copy { .. } | StageError::Walk(_) => new(&error)
                .action("Check free space and permissions, or decide about the pending changes first."),
            StageError::Store(error) => error.into(),
            StageError::Draft(error) => error,
        }
    }
}

/// Makes the layers of a view. Takes time in proportion to the draft.
pub fn prepare_view(sets: &ChangeSets, session: &SessionId) -> Result<StagedView, StageError> {
    view::prepare(sets, session)
}

/// Takes what a command changed in a view over into the session's draft, labelled with the command. What it wrote to
/// ignored places is brought home to the real workspace.
pub fn harvest_view(
    sets: &ChangeSets,
    view: &StagedView,
    session: &SessionId,
    command: &str,
) -> Result<Harvest, RuntimeError> {
    view::harvest(sets, view, session, command)
}

/// Makes the copy, out of the one that was kept where there is one. The first takes time in proportion to the files
/// that are not ignored; a later one looks at each of them and copies what changed.
pub fn prepare(sets: &ChangeSets, session: &SessionId) -> Result<StagedCopy, StageError> {
    let overlay = sets.overlay(session).map_err(StageError::Draft)?;
    let workspace = sets.workspace();
    let walk = walk::walk(workspace, &WalkOptions::default(), &workspace::never)?;
    if walk.files.len() > MAX_STAGED_FILES {
        return Err(StageError::TooMany {
            files: walk.files.len(),
        });
    }
    if let Some(kept) = sets.take_copy()
        && let Ok(kept) = reuse::clean(kept, workspace.root())
        && let Ok(copy) = build(workspace, &overlay, &walk, kept)
    {
        return Ok(copy);
    }
    // Whatever made the kept copy useless went with it.
    let directory = sets.store().scratch_dir()?;
    let name = workspace.root().file_name().unwrap_or("workspace".as_ref());
    let empty = StagedCopy {
        root: directory.path().join(name),
        staged: BTreeMap::new(),
        linked: BTreeSet::new(),
        folders: BTreeSet::new(),
        folder_mode: None,
        level_description: String::new(),
        directory,
    };
    build(workspace, &overlay, &walk, empty)
}

/// Brings a copy, whose records say exactly what is in it, to what the workspace and the draft are now.
fn build(
    workspace: &Workspace,
    overlay: &Overlay,
    walk: &walk::Walk,
    before: StagedCopy,
) -> Result<StagedCopy, StageError> {
    let mut builder = Builder {
        workspace,
        real: workspace.root(),
        root: before.root,
        staged: BTreeMap::new(),
        linked: BTreeSet::new(),
        folders: BTreeSet::new(),
        copied_anyway: Vec::new(),
        before: reuse::Before {
            staged: before.staged,
            linked: before.linked,
            folders: before.folders,
        },
    };
    builder.folder(Path::new(""))?;
    for file in walk
        .files
        .iter()
        .filter(|file| !overlay.entries.contains_key(&file.path))
    {
        builder.copy(&file.path, file.kind)?;
    }
    for entry in &walk.skipped.entries {
        builder.skipped(entry)?;
    }
    builder.empty_folders()?;
    for (path, entry) in &overlay.entries {
        builder.remove(path)?;
        if let Some(content) = copy::Drafted::of(entry) {
            builder.own_parents(path)?;
            builder.draft(path, &content)?;
        }
    }
    builder.before.remove_rest(&builder.root)?;
    let mut level_description =
        "in a copy of the workspace with the pending changes; git-ignored files and .git are the real ones"
            .to_owned();
    if !builder.copied_anyway.is_empty() {
        level_description.push_str(&format!("; copied as well: {}", builder.copied_anyway.join(", ")));
    }
    let folder_mode = match before.folder_mode {
        Some(mode) => mode,
        None => reuse::folder_mode(&builder.root).map_err(failed(Path::new("")))?,
    };
    Ok(StagedCopy {
        folder_mode: Some(folder_mode),
        root: builder.root,
        staged: builder.staged,
        linked: builder.linked,
        folders: builder.folders,
        level_description,
        directory: before.directory,
    })
}

/// Takes what a command changed in the copy over into the session's draft, labelled with the command.
pub fn harvest(
    sets: &ChangeSets,
    copy: &StagedCopy,
    session: &SessionId,
    command: &str,
) -> Result<Harvest, RuntimeError> {
    harvest::harvest(sets, copy, session, command)
}

struct Builder<'a> {
    workspace: &'a Workspace,
    real: &'a Path,
    root: PathBuf,
    staged: BTreeMap<PathBuf, Staged>,
    linked: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
    copied_anyway: Vec<String>,
    /// What is there from an earlier command and has not been used yet.
    before: reuse::Before,
}

impl Builder<'_> {
    /// Makes a folder and those above it, with the links a folder may need: to a repository in it.
    fn folder(&mut self, path: &Path) -> Result<(), StageError> {
        if self.folders.contains(path) {
            return Ok(());
        }
        if let Some(parent) = path.parent() {
            self.folder(parent)?;
        }
        if !self.before.folders.remove(path) {
            self.before.clear(&self.root, path)?;
            copy::make_folder(&self.root.join(path)).map_err(failed(path))?;
        }
        self.folders.insert(path.to_owned());
        let repository = path.join(".git");
        if self.real.join(&repository).symlink_metadata().is_ok() {
            self.link(&repository)?;
        }
        Ok(())
    }

    fn link(&mut self, path: &Path) -> Result<(), StageError> {
        if !self.before.linked.remove(path) {
            self.before.clear(&self.root, path)?;
            copy::link(&self.real.join(path), &self.root.join(path)).map_err(failed(path))?;
        }
        self.linked.insert(path.to_owned());
        Ok(())
    }

    fn copy(&mut self, path: &Path, kind: WalkedKind) -> Result<(), StageError> {
        self.folder(path.parent().unwrap_or(Path::new("")))?;
        if let Some(staged) = self.before.take_copied(self.real, &self.root, path, kind) {
            self.staged.insert(path.to_owned(), staged);
            return Ok(());
        }
        self.before.clear(&self.root, path)?;
        let destination = self.root.join(path);
        let staged = match kind {
            WalkedKind::File => match copy::copy(self.real, path, &destination).map_err(failed(path))? {
                Some(staged) => staged,
                // Gone since the walk.
                None => return Ok(()),
            },
            WalkedKind::Link => {
                let target = std::fs::read_link(self.real.join(path)).map_err(failed(path))?;
                let target = copy::retarget(&target, path, self.real, &self.root);
                copy::link(&target, &destination).map_err(failed(path))?;
                Staged::Link { target }
            }
        };
        self.staged.insert(path.to_owned(), staged);
        Ok(())
    }

    /// Puts the draft's content of a path there.
    fn draft(&mut self, path: &Path, content: &copy::Drafted) -> Result<(), StageError> {
        let version = content.version();
        let staged = match self.before.take_drafted(path, &version) {
            Some(staged) => staged,
            None => {
                self.before.clear(&self.root, path)?;
                let stamp = copy::write(&self.root.join(path), content, None).map_err(failed(path))?;
                Staged::File {
                    version,
                    stamp,
                    source: None,
                }
            }
        };
        self.staged.insert(path.to_owned(), staged);
        Ok(())
    }

    /// An entry walks leave out. What git ignores is linked. What only we leave out may be source that a command must
    /// not change unreviewed, so it is copied as long as it is small.
    fn skipped(&mut self, entry: &SkippedEntry) -> Result<(), StageError> {
        let name = entry
            .path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("");
        let perhaps_source = match entry.reason {
            SkipReason::Special | SkipReason::Unreadable => return Ok(()),
            SkipReason::GitIgnore => false,
            SkipReason::IgnoreFile => true,
            SkipReason::Generated => PERHAPS_SOURCE.contains(&name),
        };
        self.folder(entry.path.parent().unwrap_or(Path::new("")))?;
        if perhaps_source && let Some(files) = self.small_content(entry)? {
            for file in files {
                self.copy(&file.path, file.kind)?;
            }
            self.copied_anyway.push(workspace::display_path(&entry.path));
            return Ok(());
        }
        self.link(&entry.path)
    }

    /// The files of a left-out entry, if they are few and small.
    fn small_content(&self, entry: &SkippedEntry) -> Result<Option<Vec<walk::WalkedFile>>, StageError> {
        let Ok(start) = self.workspace.resolve(self.real.join(&entry.path)) else {
            return Ok(None);
        };
        let options = WalkOptions {
            starts: vec![start],
            ignored: walk::Ignored::Include,
        };
        let found = walk::walk(self.workspace, &options, &workspace::never)?;
        let mut bytes = 0;
        for file in &found.files {
            bytes += self
                .real
                .join(&file.path)
                .symlink_metadata()
                .map_or(0, |metadata| metadata.len());
        }
        let small = found.files.len() <= SMALL_FILES && bytes <= SMALL_BYTES;
        Ok(small.then_some(found.files))
    }

    /// Folders without a file in them: walks do not report them, but a command may want to write there.
    fn empty_folders(&mut self) -> Result<(), StageError> {
        let mut pending: Vec<PathBuf> = self.folders.iter().cloned().collect();
        while let Some(folder) = pending.pop() {
            let Ok(entries) = std::fs::read_dir(self.real.join(&folder)) else {
                continue;
            };
            for entry in entries.flatten() {
                let path = folder.join(entry.file_name());
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let known = self.folders.contains(&path) || self.linked.contains(&path);
                if is_folder && !known && entry.file_name() != ".git" {
                    self.folder(&path)?;
                    pending.push(path);
                }
            }
        }
        Ok(())
    }

    /// Takes a path out of the copy before the draft's content comes, without following links on the way.
    fn remove(&mut self, path: &Path) -> Result<(), StageError> {
        let linked_parent = path
            .ancestors()
            .skip(1)
            .any(|parent| self.linked.contains(parent));
        if linked_parent {
            self.own_parents(path)?;
        }
        let known = self.staged.remove(path).is_some() | self.linked.remove(path);
        if known {
            copy::remove(&self.root.join(path)).map_err(failed(path))?;
        }
        Ok(())
    }

    /// Makes every folder above a path one of the copy's own. A linked folder is opened up: a folder with a link for
    /// each of its entries takes its place.
    fn own_parents(&mut self, path: &Path) -> Result<(), StageError> {
        let Some(parent) = path.parent() else {
            return Ok(());
        };
        let mut at = PathBuf::new();
        for part in parent.components() {
            at.push(part);
            if !self.linked.remove(&at) {
                self.folder(&at)?;
                continue;
            }
            copy::remove(&self.root.join(&at)).map_err(failed(&at))?;
            self.folder(&at)?;
            for entry in std::fs::read_dir(self.real.join(&at)).map_err(failed(&at))? {
                let entry = at.join(entry.map_err(failed(&at))?.file_name());
                if !self.linked.contains(&entry) {
                    self.link(&entry)?;
                }
            }
        }
        Ok(())
    }
}

fn failed<E: std::fmt::Display>(path: &Path) -> impl FnOnce(E) -> StageError + use<E> {
    let path = workspace::display_path(path);
    move |error| StageError::Copy {
        path,
        reason: error.to_string(),
    }
}
