//! Which files count as noise: ignore files and generated folders. Decides about one entry at a time; `walk`
//! decides where to go.
//!
//! The order of authority, first answer wins: `.aiignore`, `.ignore`, `.gitignore` (each nearest folder first),
//! the repository's `info/exclude`, the user's global git excludes, and last the names of generated folders. A
//! `!pattern` in any of them brings something back that a later one would leave out. As in git, nothing inside an
//! ignored folder can be brought back, a nested repository does not inherit the outer one's `.gitignore`, and a
//! workspace that is a folder of a larger repository is ruled by that repository's files from its top down. Unlike
//! git, `.gitignore` also counts where there is no repository. These rules keep noise out; they are no access
//! control, and what is named explicitly is read.

mod tracked;

use std::{
    borrow::Cow,
    collections::HashSet,
    ffi::OsStr,
    io::Read,
    os::fd::{AsFd, BorrowedFd},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path},
};

use crate::beneath;

/// Far more than any real ignore file.
const MAX_IGNORE_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Why something is left out of walks and searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// `.gitignore`, `info/exclude` or the user's global git excludes.
    GitIgnore,
    /// `.aiignore` or `.ignore`.
    IgnoreFile,
    /// A folder that tools fill: dependencies, build output, caches.
    Generated,
    /// A pipe, socket or device.
    Special,
    /// The system did not let us look.
    Unreadable,
}

/// Folders that tools create and fill, wherever they are.
const GENERATED: &[&str] = &[
    ".bundle",
    ".cache",
    ".eggs",
    ".gradle",
    ".hg",
    ".ipynb_checkpoints",
    ".jj",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".nyc_output",
    ".output",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".svn",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    ".yarn",
    "__pycache__",
    "bower_components",
    "node_modules",
    "site-packages",
    "venv",
];
/// Build output by custom, but also ordinary names for folders of source: where they hold tracked files, or lie in a
/// folder of source, they are source.
const GENERATED_UNLESS_SOURCE: &[&str] = &["build", "coverage", "dist", "out", "target"];
/// Below one of these the names above are source.
const SOURCE: &[&str] = &["cmd", "internal", "pkg", "src", "tests"];

/// The rules that hold for the entries of one directory.
#[derive(Clone)]
pub(crate) struct Rules(Arc<Level>);

struct Level {
    parent: Option<Rules>,
    ai: Gitignore,
    dot: Gitignore,
    git: Gitignore,
    /// `info/exclude` of a repository whose top this is.
    exclude: Gitignore,
    repository_top: bool,
    /// For a folder above the workspace: where the workspace lies in it.
    inside: PathBuf,
    shared: Arc<Shared>,
    /// Somebody named an ignored place: nothing below it is left out.
    everything: bool,
}

/// What holds for a whole walk.
struct Shared {
    /// The user's excludes for all repositories.
    global: Gitignore,
    /// The top of the repository the workspace is or lies in, and where it lies there.
    repository: Option<(PathBuf, PathBuf)>,
    /// Folders with an ambiguous name that hold tracked files; the index is read when the first such name is met.
    tracked: OnceLock<HashSet<PathBuf>>,
}

impl Shared {
    fn is_tracked(&self, relative: &Path) -> bool {
        let Some((top, inside)) = &self.repository else {
            return false;
        };
        self.tracked
            .get_or_init(|| tracked::tracked_folders(top, inside, GENERATED_UNLESS_SOURCE))
            .contains(relative)
    }
}

impl Rules {
    /// For the entries of the workspace root.
    pub(crate) fn at_root(root: &Path, directory: BorrowedFd<'_>) -> Rules {
        let global = gitconfig_excludes_path().map_or_else(Gitignore::empty, |path| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            parse(Path::new(""), &text)
        });
        let repository = repository_around(root);
        let shared = Shared {
            global,
            repository: repository.and_then(|top| {
                let inside = root.strip_prefix(top).ok()?;
                Some((top.to_owned(), inside.to_owned()))
            }),
            tracked: OnceLock::new(),
        };
        let top = Rules(Arc::new(Level::new(None, Arc::new(shared))));
        let outer = repository
            .filter(|repository| *repository != root)
            .and_then(|repository| top.with_outer(root, repository));
        outer.unwrap_or(top).enter(Path::new(""), directory)
    }

    /// For a walk that leaves nothing out but `.git`.
    pub(crate) fn everything() -> Rules {
        let shared = Shared {
            global: Gitignore::empty(),
            repository: None,
            tracked: OnceLock::new(),
        };
        Rules(Arc::new(Level {
            everything: true,
            ..Level::new(None, Arc::new(shared))
        }))
    }

    /// For the entries of `relative`, which `directory` is open on. Costs nothing where it has no ignore files.
    pub(crate) fn enter(&self, relative: &Path, directory: BorrowedFd<'_>) -> Rules {
        if self.0.everything {
            return self.clone();
        }
        let load = |name: &str| read_rules(relative, directory, Path::new(name));
        let (ai, dot, git) = (load(".aiignore"), load(".ignore"), load(".gitignore"));
        let repository_top = beneath::stat(directory, Path::new(".git")).is_ok();
        if ai.is_none() && dot.is_none() && git.is_none() && !repository_top {
            return self.clone();
        }
        let exclude = match repository_top {
            true => beneath::open_directory(directory, Path::new(".git/info"))
                .ok()
                .and_then(|info| read_rules(relative, info.as_fd(), Path::new("exclude"))),
            false => None,
        };
        Rules(Arc::new(Level {
            ai: ai.unwrap_or_else(Gitignore::empty),
            dot: dot.unwrap_or_else(Gitignore::empty),
            git: git.unwrap_or_else(Gitignore::empty),
            exclude: exclude.unwrap_or_else(Gitignore::empty),
            repository_top,
            ..Level::new(Some(self.clone()), self.0.shared.clone())
        }))
    }

    /// Whether the entry `relative` of the directory these rules are for is left out, and why.
    pub(crate) fn skips(&self, relative: &Path, is_directory: bool) -> Option<SkipReason> {
        if self.0.everything {
            return None;
        }
        let mut git = Match::None;
        let mut git_ended = false;
        let mut dot = Match::None;
        let mut level = Some(self);
        while let Some(Rules(current)) = level {
            match current.ai.matched(relative, is_directory) {
                Match::Ignore(_) => return Some(SkipReason::IgnoreFile),
                Match::Whitelist(_) => return None,
                Match::None => {}
            }
            if dot.is_none() {
                dot = current
                    .dot
                    .matched(relative, is_directory)
                    .map(|_| SkipReason::IgnoreFile);
            }
            if git.is_none() && !git_ended {
                git = current.matches_git(relative, is_directory);
                git_ended = current.repository_top;
            }
            level = current.parent.as_ref();
        }
        let decided = dot.or(git).or(self
            .0
            .shared
            .global
            .matched(relative, is_directory)
            .map(|_| SkipReason::GitIgnore));
        match decided {
            Match::Ignore(reason) => Some(reason),
            Match::Whitelist(_) => None,
            Match::None => (is_directory && self.is_generated(relative)).then_some(SkipReason::Generated),
        }
    }

    /// Whether everything directly inside the directory `relative` is left out by a rule such as `scripts/*`.
    pub(crate) fn skips_all_inside(&self, relative: &Path) -> bool {
        // No pattern that aims at certain names matches this one.
        let stand_in = relative.join("\u{2}any\u{2}");
        self.skips(&stand_in, false).is_some() && self.skips(&stand_in, true).is_some()
    }

    fn is_generated(&self, relative: &Path) -> bool {
        let Some(name) = relative.file_name().and_then(OsStr::to_str) else {
            return false;
        };
        if GENERATED.contains(&name) {
            return true;
        }
        let parts_above = || relative.parent().unwrap_or(relative).components();
        GENERATED_UNLESS_SOURCE.contains(&name)
            && !parts_above().any(|part| SOURCE.iter().any(|source| part.as_os_str() == *source))
            && !self.0.shared.is_tracked(relative)
    }

    /// Adds the rules of the repository that the workspace is a folder of. `None` when those rules ignore the
    /// workspace itself: then it was opened in spite of them.
    fn with_outer(&self, root: &Path, repository: &Path) -> Option<Rules> {
        let mut rules = self.clone();
        let mut place = repository.to_path_buf();
        for (depth, part) in root.strip_prefix(repository).ok()?.components().enumerate() {
            let inside = root.strip_prefix(&place).ok()?.to_path_buf();
            let git = read_outer(&place.join(".gitignore"));
            let exclude = match depth {
                0 => read_outer(&place.join(".git/info/exclude")),
                _ => Gitignore::empty(),
            };
            let ignored = [&git, &exclude]
                .iter()
                .any(|matcher| matcher.matched_path_or_any_parents(&inside, true).is_ignore());
            if ignored {
                return None;
            }
            rules = Rules(Arc::new(Level {
                git,
                exclude,
                repository_top: depth == 0,
                inside,
                ..Level::new(Some(rules), self.0.shared.clone())
            }));
            place.push(part);
        }
        Some(rules)
    }
}

impl Level {
    fn new(parent: Option<Rules>, shared: Arc<Shared>) -> Self {
        Self {
            parent,
            ai: Gitignore::empty(),
            dot: Gitignore::empty(),
            git: Gitignore::empty(),
            exclude: Gitignore::empty(),
            repository_top: false,
            inside: PathBuf::new(),
            shared,
            everything: false,
        }
    }

    fn matches_git(&self, relative: &Path, is_directory: bool) -> Match<SkipReason> {
        if self.git.is_empty() && self.exclude.is_empty() {
            return Match::None;
        }
        let path = match self.inside.as_os_str().is_empty() {
            true => Cow::Borrowed(relative),
            false => Cow::Owned(self.inside.join(relative)),
        };
        let first = self.git.matched(&path, is_directory);
        first
            .or(self.exclude.matched(&path, is_directory))
            .map(|_| SkipReason::GitIgnore)
    }
}

/// The top of the repository that `root` is or lies in.
fn repository_around(root: &Path) -> Option<&Path> {
    root.ancestors()
        .find(|place| std::fs::symlink_metadata(place.join(".git")).is_ok())
}

fn read_outer(path: &Path) -> Gitignore {
    let is_file = std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    let text = match is_file {
        true => std::fs::read(path).unwrap_or_default(),
        false => Vec::new(),
    };
    parse(Path::new(""), &String::from_utf8_lossy(&text))
}

fn read_rules(relative: &Path, directory: BorrowedFd<'_>, name: &Path) -> Option<Gitignore> {
    // A link or pipe of that name is not followed, as git does not.
    let (file, _) = beneath::open_file(directory, name).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_IGNORE_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(parse(relative, &String::from_utf8_lossy(&bytes)))
}

fn parse(relative: &Path, text: &str) -> Gitignore {
    let mut builder = GitignoreBuilder::new(relative);
    for line in text.strip_prefix('\u{FEFF}').unwrap_or(text).lines() {
        // A pattern that cannot be understood counts for nothing, as in git.
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
