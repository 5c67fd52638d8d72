//! Which paths belong to the workspace. Owns the only constructor of [`WorkspacePath`]; knows nothing of contents.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use protocol::{ErrorCode, RuntimeError};

use crate::beneath;

/// As many links as Linux follows in one path.
const MAX_LINKS: u32 = 40;

/// An open folder. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: Arc<Path>,
}

/// How wide a folder may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breadth {
    /// A project folder: `/`, the home folder and the folder of all homes are refused.
    Project,
    /// Whatever the user insisted on.
    Any,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("there is no folder at {}", .0.display())]
    NotFound(PathBuf),
    #[error("{} is not a folder", .0.display())]
    NotADirectory(PathBuf),
    #[error("the folder {} cannot be read: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: io::Error },
    #[error("{} holds much more than one project", .0.display())]
    TooWide(PathBuf),
}

impl Workspace {
    /// Opens `dir`, whose canonical path becomes the root. Copies and scans nothing.
    pub fn open(dir: &Path, breadth: Breadth) -> Result<Workspace, OpenError> {
        let root = dir.canonicalize().map_err(|reason| match reason.kind() {
            io::ErrorKind::NotFound => OpenError::NotFound(dir.to_owned()),
            io::ErrorKind::NotADirectory => OpenError::NotADirectory(dir.to_owned()),
            _ => OpenError::Unreadable {
                path: dir.to_owned(),
                reason,
            },
        })?;
        if !root.is_dir() {
            return Err(OpenError::NotADirectory(root));
        }
        if breadth == Breadth::Project && is_too_wide(&root) {
            return Err(OpenError::TooWide(root));
        }
        match std::fs::read_dir(&root) {
            Ok(_) => Ok(Workspace { root: root.into() }),
            Err(reason) => Err(OpenError::Unreadable { path: root, reason }),
        }
    }

    /// Canonical and absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The root as a scoped path; its relative path is empty and it displays as ".".
    pub fn top(&self) -> WorkspacePath {
        WorkspacePath {
            relative: Path::new("").into(),
            root: self.root.clone(),
            protected: is_git_directory(&self.root),
        }
    }

    /// Turns a path as typed into the real path it means, following links in every parent and at the end. What
    /// exists is resolved, the rest is taken as written, so a file to be created has a path too. A relative path
    /// starts at the root.
    ///
    /// # Errors
    /// Everything that leads out of the workspace, whatever way it takes, and paths that cannot name a file.
    pub fn resolve(&self, path: impl AsRef<OsStr>) -> Result<WorkspacePath, PathError> {
        let asked = path.as_ref();
        if asked.is_empty() {
            return Err(PathError::Empty);
        }
        if asked.as_bytes().contains(&0) {
            return Err(PathError::Nul(asked.to_owned()));
        }
        let real = real_path(&self.root, asked)?;
        let Ok(relative) = real.strip_prefix(&self.root) else {
            return Err(PathError::Outside {
                asked: asked.to_owned(),
                real,
                root: self.root.to_path_buf(),
            });
        };
        let protected = names_git(relative) || lies_in_git_directory(&self.root, relative);
        Ok(WorkspacePath {
            relative: relative.into(),
            root: self.root.clone(),
            protected,
        })
    }

    /// As [`resolve`](Self::resolve), but a link at the end is not followed: the path of the entry itself, for who
    /// renames or deletes it. Reading a link by such a path is refused.
    pub fn resolve_entry(&self, path: impl AsRef<OsStr>) -> Result<WorkspacePath, PathError> {
        let asked = path.as_ref();
        if asked.as_bytes().contains(&0) {
            return Err(PathError::Nul(asked.to_owned()));
        }
        let as_path = Path::new(asked);
        let Some(name) = as_path.file_name() else {
            return self.resolve(asked);
        };
        let parent = match as_path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => self.resolve(parent)?,
            _ => self.top(),
        };
        let missing = std::fs::symlink_metadata(parent.absolute().join(name)).is_err();
        let twin = missing.then(|| lossy_twin(&parent.absolute(), name)).flatten();
        let name = twin.as_deref().and_then(Path::file_name).unwrap_or(name);
        let relative = parent.relative().join(name);
        let protected =
            parent.protected || names_git(&relative) || lies_in_git_directory(&self.root, &relative);
        Ok(WorkspacePath {
            relative: relative.into(),
            root: self.root.clone(),
            protected,
        })
    }

    pub(crate) fn open_root(&self) -> io::Result<OwnedFd> {
        beneath::open_root(&self.root)
    }
}

/// A real path inside the workspace, links resolved. It was so when it was made: reads open it without following
/// links, and writers must do the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspacePath {
    relative: Arc<Path>,
    root: Arc<Path>,
    protected: bool,
}

impl WorkspacePath {
    /// Relative to the root; empty for the root itself.
    pub fn relative(&self) -> &Path {
        &self.relative
    }

    pub fn absolute(&self) -> PathBuf {
        if self.is_root() {
            return self.root.to_path_buf();
        }
        self.root.join(&self.relative)
    }

    /// For people and models: `/`-separated, lossy where the name is not UTF-8.
    pub fn display(&self) -> String {
        crate::display_path(&self.relative)
    }

    pub fn is_root(&self) -> bool {
        self.relative.as_os_str().is_empty()
    }

    /// Whether this is repository metadata: `.git` itself or anything in it at any depth, and anything inside a
    /// folder that is a git directory under another name.
    pub fn is_protected(&self) -> bool {
        self.protected
    }

    pub(crate) fn open_root(&self) -> io::Result<OwnedFd> {
        beneath::open_root(&self.root)
    }
}

impl std::fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.display())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum PathError {
    #[error("the path is empty")]
    Empty,
    #[error("the path “{}” contains a NUL character", .0.to_string_lossy())]
    Nul(OsString),
    #[error("“{}” leads outside the workspace, to {}", asked.to_string_lossy(), real.display())]
    Outside {
        asked: OsString,
        real: PathBuf,
        root: PathBuf,
    },
    #[error("“{}” goes through too many links", .0.to_string_lossy())]
    LinkLoop(OsString),
    /// A file stands where the path needs a folder.
    #[error("{} is a file, not a folder", at.display())]
    NotADirectory { at: PathBuf },
    #[error("{} cannot be looked at: {reason}", at.display())]
    Unreadable { at: PathBuf, reason: io::Error },
}

/// Resolves like the kernel does, but goes on by the letter where nothing exists.
fn real_path(base: &Path, asked: &OsStr) -> Result<PathBuf, PathError> {
    let mut current = base.to_path_buf();
    // Next component last. `Path::components` would drop a trailing slash, so that is asked for separately.
    let mut pending = Vec::new();
    let needs_directory = asked.as_bytes().ends_with(b"/") || asked.as_bytes().ends_with(b"/.");
    push_components(&mut pending, Path::new(asked));
    let mut links = 0;
    while let Some(part) = pending.pop() {
        let name = match part {
            Part::Root => {
                current = PathBuf::from("/");
                continue;
            }
            Part::Parent => {
                current.pop();
                continue;
            }
            Part::Name(name) => name,
        };
        let next = current.join(&name);
        match std::fs::symlink_metadata(&next) {
            Ok(metadata) if metadata.is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(PathError::LinkLoop(asked.to_owned()));
                }
                let target =
                    std::fs::read_link(&next).map_err(|reason| PathError::Unreadable { at: next, reason })?;
                push_components(&mut pending, &target);
            }
            Ok(metadata) => {
                if !metadata.is_dir() && (needs_directory || !pending.is_empty()) {
                    return Err(PathError::NotADirectory { at: next });
                }
                current = next;
            }
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => {
                current = match lossy_twin(&current, &name) {
                    Some(twin) => twin,
                    None => next,
                };
            }
            Err(reason) => return Err(PathError::Unreadable { at: next, reason }),
        }
    }
    Ok(current)
}

enum Part {
    Root,
    Parent,
    Name(OsString),
}

fn push_components(pending: &mut Vec<Part>, path: &Path) {
    let parts = path.components().rev().filter_map(|part| match part {
        Component::RootDir | Component::Prefix(_) => Some(Part::Root),
        Component::ParentDir => Some(Part::Parent),
        Component::Normal(name) => Some(Part::Name(name.to_owned())),
        Component::CurDir => None,
    });
    pending.extend(parts);
}

/// A name that is not UTF-8 is shown with U+FFFD. Whoever read it there asks for it that way, so a name with that
/// character means the one real entry that is shown so.
fn lossy_twin(directory: &Path, name: &OsStr) -> Option<PathBuf> {
    let shown = name.to_str()?;
    if !shown.contains('\u{FFFD}') {
        return None;
    }
    let mut twins = std::fs::read_dir(directory)
        .ok()?
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy() == shown)
        // A link must be resolved like any other; leave those to their exact name.
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    let twin = twins.next()?;
    twins.next().is_none().then(|| twin.path())
}

fn names_git(relative: &Path) -> bool {
    relative
        .components()
        // Some file systems do not tell upper case from lower.
        .any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
}

/// Metadata reached by another name: behind a `.git` link or file, or a bare repository.
fn lies_in_git_directory(root: &Path, relative: &Path) -> bool {
    root.join(relative)
        .ancestors()
        .take_while(|place| place.starts_with(root))
        .any(is_git_directory)
}

fn is_git_directory(directory: &Path) -> bool {
    // HEAD may be a dangling link in very old repositories.
    std::fs::symlink_metadata(directory.join("HEAD")).is_ok()
        && directory.join("objects").is_dir()
        && directory.join("refs").is_dir()
}

fn is_too_wide(root: &Path) -> bool {
    let home = std::env::var_os("HOME").and_then(|home| Path::new(&home).canonicalize().ok());
    ["/", "/home", "/Users"]
        .iter()
        .any(|wide| root == Path::new(wide))
        || home.is_some_and(|home| home == root)
}

impl From<OpenError> for RuntimeError {
    fn from(error: OpenError) -> Self {
        let message = format!("The workspace was not opened: {error}.");
        match error {
            OpenError::NotFound(_) => RuntimeError::new(ErrorCode::WorkspaceNotFound, message)
                .action("Check the path, or create the folder first."),
            OpenError::NotADirectory(_) => RuntimeError::new(ErrorCode::WorkspaceNotADirectory, message)
                .action("Name the folder that holds the project."),
            OpenError::Unreadable { reason, .. } => {
                RuntimeError::new(ErrorCode::WorkspaceUnreadable, message)
                    .because(reason)
                    .action("Make the folder readable for you, or open another one.")
            }
            OpenError::TooWide(_) => RuntimeError::new(ErrorCode::WorkspaceTooWide, message)
                .action("Open the project's own folder, or confirm that you want all of it."),
        }
    }
}

impl From<PathError> for RuntimeError {
    fn from(error: PathError) -> Self {
        let message = format!("The path cannot be used: {error}.");
        match error {
            PathError::Empty => RuntimeError::new(ErrorCode::ToolArguments, message)
                .action("Give a path; “.” is the workspace itself."),
            PathError::Nul(_) => RuntimeError::new(ErrorCode::ToolArguments, message)
                .action("Give the path without that character."),
            PathError::Outside { root, .. } => RuntimeError::new(ErrorCode::PathOutside, message)
                .action(format!("Use a path inside {}.", root.display())),
            PathError::LinkLoop(_) => RuntimeError::new(ErrorCode::FileIo, message)
                .action("Use the path of the file the links should lead to."),
            PathError::NotADirectory { .. } => RuntimeError::new(ErrorCode::PathNotADirectory, message)
                .action("Leave out what follows the file's name."),
            PathError::Unreadable { reason, .. } => RuntimeError::new(ErrorCode::FileIo, message)
                .because(reason)
                .action("Check the permissions of the folders on the way."),
        }
    }
}
