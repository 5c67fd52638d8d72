//! Reads the upper layer of a view after a command: new and changed files, whiteouts for what is gone, folders that
//! hide what was below them. What is ignored goes home to the real workspace; everything else joins the draft.

use std::{
    collections::BTreeSet,
    fs::Metadata,
    io,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
};

use protocol::{RuntimeError, SessionId};
use workspace::{
    IgnoreRules, Ignored, SkipReason,
    walk::{self, Ignored as WalkIgnored, WalkOptions},
};

use super::{
    copy,
    harvest::{Found, Harvest, content, join, not_taken},
    home,
    view::{self, StagedView, changed},
};
use crate::{
    ChangeSets,
    disk::{self, DiskError},
    record::Version,
};

/// Changes of one command that are listed one by one in the notes; more are counted.
const MAX_NOTES: usize = 20;

pub(super) fn harvest(
    sets: &ChangeSets,
    view: &StagedView,
    session: &SessionId,
    command: &str,
) -> Result<Harvest, RuntimeError> {
    let mut reader = Reader {
        sets,
        view,
        upper: view.upper(),
        rules: None,
        failed: None,
        found: Vec::new(),
        met: BTreeSet::new(),
        notes: Vec::new(),
    };
    reader.folder(Path::new(""));
    reader.drafted_files_that_are_gone();
    let Reader {
        found, notes, failed, ..
    } = reader;
    if let Some(error) = failed {
        return Err(error);
    }
    let mut harvest = join(sets, session, command, found)?;
    harvest.notes.extend(notes);
    let notes = &mut harvest.notes;
    if notes.len() > MAX_NOTES {
        let more = notes.len() - MAX_NOTES;
        notes.truncate(MAX_NOTES);
        notes.push(format!("and {more} more of that kind"));
    }
    Ok(harvest)
}

struct Reader<'a> {
    sets: &'a ChangeSets,
    view: &'a StagedView,
    upper: PathBuf,
    /// Made when the first path needs them: most commands write nothing that has to be judged.
    rules: Option<IgnoreRules>,
    failed: Option<RuntimeError>,
    found: Vec<(PathBuf, Found)>,
    /// Drafted files that are still there, in whatever form.
    met: BTreeSet<PathBuf>,
    notes: Vec<String>,
}

impl Reader<'_> {
    fn folder(&mut self, folder: &Path) {
        let Ok(entries) = std::fs::read_dir(self.upper.join(folder)) else {
            self.left_behind(folder, "it could not be read");
            return;
        };
        for entry in entries.flatten() {
            let path = folder.join(entry.file_name());
            if entry.file_name() == ".git" {
                self.left_behind(&path, "git's own files are not reviewed as text");
                continue;
            }
            match entry.metadata() {
                Ok(metadata) => self.entry(path, &metadata),
                Err(_) => self.left_behind(&path, "it could not be read"),
            }
        }
    }

    fn entry(&mut self, path: PathBuf, metadata: &Metadata) {
        let is_drafted = self.view.staged.contains_key(&path);
        if is_whiteout(metadata) {
            if !self.view.deleted.contains(&path) || is_drafted {
                self.deletion(&path);
            }
            return;
        }
        if !is_drafted && self.goes_home(&path, metadata.is_dir()) {
            return;
        }
        if metadata.is_dir() {
            if copy::is_opaque(&self.upper.join(&path)) {
                self.hidden_below(&path);
            }
            let is_new = self.real(&path).is_none();
            self.folder(&path);
            if is_new && is_empty(&self.upper.join(&path)) {
                self.left_behind(&path, "it is an empty folder");
            }
            return;
        }
        if is_drafted {
            self.met.insert(path.clone());
        }
        match self.content(&path, metadata) {
            Ok(Some(found)) => self.found.push((path, found)),
            Ok(None) => {}
            Err(_) => self.left_behind(&path, "it could not be read"),
        }
    }

    /// Takes what is ignored to the real workspace. What may be source stays for the review.
    fn goes_home(&mut self, path: &Path, is_folder: bool) -> bool {
        let Some(ignored) = self.look_up(path, is_folder) else {
            return false;
        };
        let drafted_below = self.view.staged.keys().any(|drafted| drafted.starts_with(path));
        let real = match ignored.reason {
            SkipReason::Generated if view::is_perhaps_source(&ignored.path) => {
                let places = [
                    self.view.root().join(&ignored.path),
                    self.upper.join(&ignored.path),
                ];
                places.iter().any(|place| view::is_output(place))
            }
            _ => view::stays_real(self.sets.workspace(), &ignored),
        };
        if !real || (is_folder && drafted_below) {
            return false;
        }
        if is_folder {
            self.sets.deep_folders().add(path.to_owned());
        }
        let moved = home::bring_home(&self.upper, self.view.root(), path, self.view.started);
        self.notes.extend(moved);
        true
    }

    fn look_up(&mut self, path: &Path, is_folder: bool) -> Option<Ignored> {
        if self.rules.is_none() {
            match IgnoreRules::of(self.sets.workspace()) {
                Ok(rules) => self.rules = Some(rules),
                Err(error) => {
                    self.failed.get_or_insert(RuntimeError::internal(error));
                }
            }
        }
        self.rules.as_mut()?.look_up(path, is_folder)
    }

    fn real(&self, path: &Path) -> Option<Metadata> {
        self.view.root().join(path).symlink_metadata().ok()
    }

    fn content(&self, path: &Path, metadata: &Metadata) -> io::Result<Option<Found>> {
        let drafted = self.view.staged.get(path);
        if drafted.is_some_and(|(_, stamp)| *stamp == copy::Stamp::of(metadata)) {
            return Ok(None);
        }
        let real = self.real(path);
        let is_unchanged_link = || {
            let target = |root: &Path| std::fs::read_link(root.join(path)).ok();
            target(self.view.root()).is_some_and(|real| target(&self.upper) == Some(real))
        };
        if metadata.is_symlink() {
            return Ok(match is_unchanged_link() {
                true => None,
                false => not_taken("it is a link"),
            });
        }
        if !metadata.is_file() {
            return Ok(not_taken("it is not a regular file"));
        }
        let was = match (drafted, real) {
            (Some((version, _)), _) => Some(version.clone()),
            (None, Some(real)) if real.is_symlink() => return Ok(not_taken("it replaces a link")),
            (None, Some(_)) if self.view.deleted.contains(path) => None,
            (None, Some(real)) if real.is_file() => {
                if changed(&real) >= self.view.started {
                    return Ok(not_taken("it was changed while the command ran"));
                }
                self.real_version(path)?
            }
            _ => None,
        };
        content(self.sets.store(), &self.upper, path, metadata, was)
    }

    fn real_version(&self, path: &Path) -> io::Result<Option<Version>> {
        match disk::look(self.view.root(), path) {
            Ok(found) => Ok(found.map(|state| state.version)),
            Err(DiskError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error.to_string())),
        }
    }

    /// Whatever a reader saw at a path is gone.
    fn deletion(&mut self, path: &Path) {
        let drafted: Vec<PathBuf> = self.drafted_at(path);
        for file in drafted {
            if let Some((version, _)) = self.view.staged.get(&file) {
                let was = version.clone();
                self.met.insert(file.clone());
                self.found.push((file, Found::Deleted { was }));
            }
        }
        let Some(real) = self.real(path) else { return };
        if let Some(ignored) = self.look_up(path, real.is_dir())
            && view::stays_real(self.sets.workspace(), &ignored)
        {
            self.notes
                .extend(home::remove(self.view.root(), path, self.view.started));
            return;
        }
        if real.is_dir() {
            self.real_files_below(path)
                .into_iter()
                .for_each(|file| self.real_deletion(file));
        } else {
            self.real_deletion(path.to_owned());
        }
    }

    fn drafted_at(&self, path: &Path) -> Vec<PathBuf> {
        self.view
            .staged
            .keys()
            .filter(|file| file.starts_with(path))
            .cloned()
            .collect()
    }

    fn real_deletion(&mut self, path: PathBuf) {
        if self.view.staged.contains_key(&path) || self.view.deleted.contains(&path) {
            return;
        }
        let Some(real) = self.real(&path) else { return };
        let found = if changed(&real) >= self.view.started {
            not_taken("it was changed while the command ran, and the command deleted it")
        } else if real.is_symlink() {
            not_taken("it is a link, its deletion was left out")
        } else {
            match self.real_version(&path) {
                Ok(Some(was)) => Some(Found::Deleted { was }),
                Ok(None) => None,
                Err(_) => not_taken("it could not be read, its deletion was left out"),
            }
        };
        self.found.extend(found.map(|found| (path, found)));
    }

    /// A folder that was removed and made again hides everything that was below it.
    fn hidden_below(&mut self, path: &Path) {
        for file in self.real_files_below(path) {
            if self.upper.join(&file).symlink_metadata().is_err() {
                self.real_deletion(file);
            }
        }
    }

    fn real_files_below(&self, path: &Path) -> Vec<PathBuf> {
        let workspace = self.sets.workspace();
        let Ok(start) = workspace.resolve(self.view.root().join(path)) else {
            return Vec::new();
        };
        let options = WalkOptions {
            starts: vec![start],
            ignored: WalkIgnored::Skip,
        };
        let walk = walk::walk(workspace, &options, &workspace::never);
        walk.map(|walk| walk.files.into_iter().map(|file| file.path).collect())
            .unwrap_or_default()
    }

    /// A drafted file without a real one below leaves no whiteout when it is deleted.
    fn drafted_files_that_are_gone(&mut self) {
        for (path, (version, _)) in &self.view.staged {
            if !self.met.contains(path) {
                let was = version.clone();
                self.found.push((path.clone(), Found::Deleted { was }));
            }
        }
    }

    fn left_behind(&mut self, path: &Path, reason: &str) {
        self.notes.push(format!(
            "not taken over: {} ({reason})",
            workspace::display_path(path)
        ));
    }
}

pub(super) fn is_whiteout(metadata: &Metadata) -> bool {
    metadata.file_type().is_char_device() && metadata.rdev() == 0
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}
