//! Going through the files of a workspace, in parallel, without what counts as noise.
//!
//! Links are reported, never followed: a linked file is met under its real name, and nothing outside the workspace
//! is. `.git` is never entered. What is left out is counted with its reason, so that nobody takes "not found" for
//! "does not exist".

mod crew;
mod worker;

use std::{
    ffi::OsStr,
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
    sync::Arc,
};

use protocol::{ErrorCode, RuntimeError};

use crate::{
    SkipReason, Stop, Workspace, WorkspacePath,
    beneath::{self, NodeKind},
    display_path,
    rules::Rules,
};
use crew::{Crew, Item};
use worker::{Names, Worker};

/// Skipped entries that are kept by name; all are counted.
const MAX_NAMED_SKIPS: usize = 10_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ignored {
    #[default]
    Skip,
    Include,
}

/// Where to go and what to leave out.
#[derive(Clone, Debug, Default)]
pub struct WalkOptions {
    /// Files and folders to start from; the whole workspace when empty. A start that is itself ignored, or a folder
    /// whose whole content is, was named on purpose: everything in it is included.
    pub starts: Vec<WorkspacePath>,
    pub ignored: Ignored,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WalkedFile {
    /// Relative to the workspace root.
    pub path: PathBuf,
    pub kind: WalkedKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WalkedKind {
    File,
    /// A symbolic link, to whatever it leads.
    Link,
}

/// Everything that was found, in path order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    pub files: Vec<WalkedFile>,
    pub skipped: Skipped,
    /// The caller asked to stop, so the lists are not complete.
    pub stopped: bool,
}

/// What a walk left out. A skipped folder counts once, whatever is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    pub files: u64,
    pub folders: u64,
    /// The skipped entries in path order, up to 10,000 of them.
    pub entries: Vec<SkippedEntry>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkippedEntry {
    pub path: PathBuf,
    pub is_directory: bool,
    pub reason: SkipReason,
}

impl Skipped {
    pub fn is_empty(&self) -> bool {
        self.files == 0 && self.folders == 0
    }

    /// One sentence a reason, each with examples: "1 file and 2 folders are ignored by git (node_modules/, …)".
    pub fn in_words(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for (reason, words) in [
            (SkipReason::GitIgnore, "ignored by git rules"),
            (SkipReason::IgnoreFile, "ignored by .aiignore or .ignore"),
            (SkipReason::Generated, "generated"),
            (SkipReason::Special, "not regular files"),
            (SkipReason::Unreadable, "not readable"),
        ] {
            let entries: Vec<_> = self
                .entries
                .iter()
                .filter(|entry| entry.reason == reason)
                .collect();
            if entries.is_empty() {
                continue;
            }
            let folders = entries.iter().filter(|entry| entry.is_directory).count();
            let files = entries.len() - folders;
            let counts = [(files, "file", "files"), (folders, "folder", "folders")]
                .into_iter()
                .filter(|(count, ..)| *count > 0)
                .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
                .collect::<Vec<_>>()
                .join(" and ");
            let mut examples: Vec<String> = entries
                .iter()
                .take(3)
                .map(|entry| display_path(&entry.path) + if entry.is_directory { "/" } else { "" })
                .collect();
            if entries.len() > examples.len() {
                examples.push("…".to_owned());
            }
            sentences.push(format!("{counts} {words} ({})", examples.join(", ")));
        }
        sentences
    }

    pub(crate) fn add(&mut self, path: &Path, is_directory: bool, reason: SkipReason) {
        match is_directory {
            true => self.folders += 1,
            false => self.files += 1,
        }
        if self.entries.len() < MAX_NAMED_SKIPS {
            self.entries.push(SkippedEntry {
                path: path.to_owned(),
                is_directory,
                reason,
            });
        }
    }

    pub(crate) fn merge(&mut self, other: Skipped) {
        self.files += other.files;
        self.folders += other.folders;
        self.entries.extend(other.entries);
        self.entries.sort();
        self.entries.truncate(MAX_NAMED_SKIPS);
    }
}

#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    #[error("{path} does not exist")]
    NotFound { path: String },
    #[error("{path} cannot be read: {reason}")]
    Unreadable { path: String, reason: io::Error },
}

impl From<WalkError> for RuntimeError {
    fn from(error: WalkError) -> Self {
        let message = format!("{error}.");
        match error {
            WalkError::NotFound { .. } => RuntimeError::new(ErrorCode::PathNotFound, message)
                .action("List the folder above it to see what there is."),
            WalkError::Unreadable { reason, .. } => RuntimeError::new(ErrorCode::FileIo, message)
                .because(reason)
                .action("Check the permissions."),
        }
    }
}

/// All files of the workspace, or below the starts, that are not left out.
pub fn walk(workspace: &Workspace, options: &WalkOptions, stop: Stop<'_>) -> Result<Walk, WalkError> {
    let (workers, skipped) = visit(workspace, options, stop, Vec::new, |files, found| {
        files.push(WalkedFile {
            path: found.relative.to_owned(),
            kind: found.kind,
        });
        Flow::Continue
    })?;
    let mut files: Vec<WalkedFile> = workers.into_iter().flatten().collect();
    files.sort();
    // Starts may overlap.
    files.dedup();
    Ok(Walk {
        files,
        skipped,
        stopped: stop(),
    })
}

/// One file as it is met. `directory` is open on the folder it lies in.
pub(crate) struct Found<'a> {
    pub relative: &'a Path,
    pub kind: WalkedKind,
    directory: BorrowedFd<'a>,
    name: &'a OsStr,
}

impl Found<'_> {
    /// Opens the file itself, never what a link leads to.
    pub(crate) fn open(&self) -> io::Result<std::fs::File> {
        Ok(beneath::open_file(self.directory, Path::new(self.name))?.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Continue,
    /// Ends the whole walk.
    End,
}

/// Calls `on_file` for each file, on several threads; each thread has its own state from `make`. Returns the states.
pub(crate) fn visit<S: Send>(
    workspace: &Workspace,
    options: &WalkOptions,
    stop: Stop<'_>,
    make: impl Fn() -> S + Sync,
    on_file: impl Fn(&mut S, &Found<'_>) -> Flow + Sync,
) -> Result<(Vec<S>, Skipped), WalkError> {
    let root = workspace.open_root().map_err(|reason| WalkError::Unreadable {
        path: workspace.root().display().to_string(),
        reason,
    })?;
    let starts = match options.starts.is_empty() {
        true => vec![workspace.top()],
        false => options.starts.clone(),
    };
    let mut items = Vec::new();
    for start in &starts {
        items.push(first_item(workspace, &root, start, options.ignored)?);
    }
    let crew = Crew::new(items);
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get().min(8));
    let work = || {
        let mut worker = Worker {
            root: &root,
            crew: &crew,
            stop,
            state: make(),
            skipped: Skipped::default(),
        };
        while let Some((item, _turn)) = crew.next() {
            let flow = worker.process(item, &on_file);
            if flow == Flow::End || stop() {
                crew.end();
            }
        }
        (worker.state, worker.skipped)
    };
    let results: Vec<(S, Skipped)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut results = vec![work()];
        for other in others {
            match other.join() {
                Ok(result) => results.push(result),
                // A bug in this crate or its caller; hiding it would make results silently incomplete.
                Err(cause) => std::panic::resume_unwind(cause),
            }
        }
        results
    });
    let mut states = Vec::new();
    let mut skipped = Skipped::default();
    for (state, part) in results {
        states.push(state);
        skipped.merge(part);
    }
    Ok((states, skipped))
}

/// The rules for the entries of the directory `relative`, and why that directory itself is left out, if it is.
pub(crate) fn rules_for(
    workspace: &Workspace,
    root: BorrowedFd<'_>,
    relative: &Path,
) -> io::Result<(Rules, Option<SkipReason>)> {
    let mut rules = Rules::at_root(workspace.root(), root);
    let mut place = PathBuf::new();
    for part in relative.components() {
        place.push(part);
        if let Some(reason) = rules.skips(&place, true) {
            return Ok((rules, Some(reason)));
        }
        let directory = beneath::open_directory(root, &place)?;
        rules = rules.enter(&place, directory.as_fd());
    }
    Ok((rules, None))
}

fn first_item(
    workspace: &Workspace,
    root: &OwnedFd,
    start: &WorkspacePath,
    ignored: Ignored,
) -> Result<Item, WalkError> {
    let fail = |reason: io::Error| match reason.kind() {
        io::ErrorKind::NotFound => WalkError::NotFound {
            path: start.display(),
        },
        _ => WalkError::Unreadable {
            path: start.display(),
            reason,
        },
    };
    let relative = start.relative();
    let stat = beneath::stat(root, relative).map_err(fail)?;
    if NodeKind::of(&stat) != NodeKind::Directory {
        let parent = relative.parent().unwrap_or(Path::new(""));
        let directory = Arc::new(beneath::open_directory(root, parent).map_err(fail)?);
        let name = relative.file_name().unwrap_or_default();
        let mut names = Names::default();
        names.push(name.as_bytes(), NodeKind::of(&stat));
        return Ok(Item::Files {
            relative: parent.into(),
            directory,
            names,
        });
    }
    let rules = match ignored {
        Ignored::Include => Rules::everything(),
        Ignored::Skip => match rules_for(workspace, root.as_fd(), relative).map_err(fail)? {
            (_, Some(_)) => Rules::everything(),
            (rules, None) if !start.is_root() && rules.skips_all_inside(relative) => Rules::everything(),
            (rules, None) => rules,
        },
    };
    Ok(Item::Directory {
        relative: relative.into(),
        // `rules` already knows this directory's own ignore files.
        rules,
        entered: true,
    })
}
