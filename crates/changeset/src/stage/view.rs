//! The layers of a staged view: what is put into the upper one before a command runs, and what is found there after.
//!
//! Costs time in proportion to the draft and to what the command changed, not to the workspace. Who mounts the layers
//! is not known here.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use protocol::{Millis, RuntimeError, SessionId};
use store::ScratchDir;
use workspace::{
    IgnoreRules, Ignored, OverlayEntry, SkipReason, Workspace,
    walk::{self, WalkOptions},
};

use super::{PERHAPS_SOURCE, SMALL_FILES, StageError, copy, failed, harvest::Harvest, layer, seen};
use crate::{ChangeSets, record::Version};

/// More real folders than this are not bound into a view. What is written to others is brought home afterwards.
const MAX_KEPT: usize = 500;

/// The layers of one command's view. They are removed when this is dropped.
#[derive(Debug)]
pub struct StagedView {
    root: PathBuf,
    folder: ScratchDir,
    kept: Vec<PathBuf>,
    /// The draft's files as they were put into the upper layer.
    pub(super) staged: BTreeMap<PathBuf, (Version, copy::Stamp)>,
    pub(super) deleted: BTreeSet<PathBuf>,
    /// The file system's clock when the view was made.
    pub(super) started: (i64, i64),
    repository: bool,
}

impl StagedView {
    /// The workspace, whose path is the view's too.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Holds what the view has beside the real files.
    pub fn upper(&self) -> PathBuf {
        self.folder.path().join("upper")
    }

    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// For temporary files of the command.
    pub fn scratch(&self) -> PathBuf {
        self.folder.path().join("scratch")
    }

    /// Folders of the workspace that are to be the real ones: git ignores them, so caches persist.
    pub fn kept(&self) -> &[PathBuf] {
        &self.kept
    }

    /// Whether the workspace has a repository of its own.
    pub fn has_repository(&self) -> bool {
        self.repository
    }
}

/// Folders that are ignored somewhere below the top, as far as they are known. Found by one walk in the background and
/// by what commands make; each is judged again before it is used.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeepFolders(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    looked: bool,
    folders: BTreeSet<PathBuf>,
}

impl DeepFolders {
    fn known(&self, workspace: &Workspace) -> BTreeSet<PathBuf> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.looked {
            known.looked = true;
            let (shared, workspace) = (self.clone(), workspace.clone());
            // Without it the folders of a monorepo's packages are copied up instead of bound, which is only slower.
            let _ = std::thread::Builder::new()
                .name("ignored-folders".to_owned())
                .spawn(move || shared.look(&workspace));
        }
        known.folders.clone()
    }

    fn look(&self, workspace: &Workspace) {
        let Ok(walk) = walk::walk(workspace, &WalkOptions::default(), &workspace::never) else {
            return;
        };
        for entry in walk.skipped.entries {
            let deep = entry
                .path
                .parent()
                .is_some_and(|parent| !parent.as_os_str().is_empty());
            if entry.is_directory && deep {
                self.add(entry.path);
            }
        }
    }

    pub(super) fn add(&self, folder: PathBuf) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.folders.len() < MAX_KEPT {
            known.folders.insert(folder);
        }
    }
}

pub(super) fn prepare(sets: &ChangeSets, session: &SessionId) -> Result<StagedView, StageError> {
    let overlay = sets.overlay(session).map_err(StageError::Draft)?;
    let changed_at = seen::record(sets, session, &overlay)?;
    let workspace = sets.workspace();
    let top = Path::new("");
    let folder = sets.store().scratch_dir()?;
    for part in ["upper", "work", "scratch"] {
        copy::make_folder(&folder.path().join(part)).map_err(failed(top))?;
    }
    let started = copy::clock(&folder.path().join("scratch")).map_err(failed(top))?;
    let mut rules = IgnoreRules::of(workspace).map_err(failed(top))?;
    let mut candidates: BTreeSet<PathBuf> = sets.deep_folders().known(workspace);
    let at_top = rules.folders_at_top().map_err(failed(top))?;
    candidates.extend(at_top.into_iter().map(|found| found.path));
    let kept = candidates.into_iter().filter(|path| {
        let drafted = overlay
            .entries
            .keys()
            .any(|entry| entry.starts_with(path) || path.starts_with(entry));
        !drafted
            && rules
                .look_up(path, true)
                .is_some_and(|found| found.path == *path && stays_real(workspace, &found))
    });
    let mut view = StagedView {
        root: workspace.root().to_owned(),
        kept: kept.take(MAX_KEPT).collect(),
        staged: BTreeMap::new(),
        deleted: BTreeSet::new(),
        started,
        repository: workspace.root().join(".git").is_dir(),
        folder,
    };
    let upper = view.upper();
    let mut folders = BTreeSet::new();
    copy::like_real(workspace.root(), top, &upper).map_err(failed(top))?;
    for (path, entry) in &overlay.entries {
        make_parents(workspace.root(), &upper, path, &mut folders).map_err(failed(path))?;
        match entry {
            OverlayEntry::Deleted => {
                if workspace.root().join(path).symlink_metadata().is_ok() {
                    copy::hide(&upper.join(path)).map_err(failed(path))?;
                }
                view.deleted.insert(path.clone());
            }
            OverlayEntry::Content { .. } | OverlayEntry::Stored { .. } => {
                let Some(content) = copy::Drafted::of(entry) else {
                    continue;
                };
                let at = changed_at.get(path).copied();
                let stamp = copy::write(&upper.join(path), &content, at).map_err(failed(path))?;
                view.staged.insert(path.clone(), (content.version(), stamp));
            }
        }
    }
    Ok(view)
}

/// The folders above a drafted file, looking as the real ones do.
fn make_parents(root: &Path, upper: &Path, path: &Path, made: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    let Some(parent) = path.parent() else {
        return Ok(());
    };
    let mut at = PathBuf::new();
    for part in parent.components() {
        at.push(part);
        if made.insert(at.clone()) {
            // Where the draft deleted a file, a folder may take its place.
            copy::unhide(&upper.join(&at))?;
            copy::make_folder(&upper.join(&at))?;
            copy::like_real(root, &at, &upper.join(&at))?;
        }
    }
    Ok(())
}

/// Whether what a rule leaves out is build output, packages and the like. What only our own lists or `.aiignore` leave
/// out may be source, and is reviewed unless it is plainly more than a person wrote.
pub(super) fn stays_real(workspace: &Workspace, found: &Ignored) -> bool {
    match found.reason {
        SkipReason::GitIgnore => true,
        SkipReason::IgnoreFile | SkipReason::Special | SkipReason::Unreadable => false,
        SkipReason::Generated => {
            !is_perhaps_source(&found.path) || is_output(&workspace.root().join(&found.path))
        }
    }
}

pub(super) fn is_perhaps_source(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| PERHAPS_SOURCE.contains(&name))
}

/// Whether a folder is marked as a cache, or holds more files than a person writes.
pub(super) fn is_output(folder: &Path) -> bool {
    if folder.join("CACHEDIR.TAG").is_file() {
        return true;
    }
    let mut left = SMALL_FILES;
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        let Ok(entries) = std::fs::read_dir(folder) else {
            continue;
        };
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push(entry.path()),
                _ if left == 0 => return true,
                _ => left -= 1,
            }
        }
    }
    false
}

pub(super) fn harvest(
    sets: &ChangeSets,
    view: &StagedView,
    session: &SessionId,
    command: &str,
) -> Result<Harvest, RuntimeError> {
    layer::harvest(sets, view, session, command)
}

/// A file's own time of change, in nanoseconds of the clock files have.
pub(super) fn changed(metadata: &std::fs::Metadata) -> (i64, i64) {
    (metadata.ctime(), metadata.ctime_nsec())
}

/// When each drafted file got the content it has.
pub(super) type ChangedAt = BTreeMap<PathBuf, Millis>;
