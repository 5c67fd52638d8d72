//! The workspace's git repository, read through the git program.
//!
//! A repository is data: nothing its configuration names runs when we look at it. Hooks, file monitors, external
//! diffs, text converters and transports are switched off for every call, content filters of the repository's own
//! configuration are emptied (see `neutral`), and submodules are compared by their commit only, because git would
//! run their configuration too. Reads take no lock and leave the index as it is. Paths come and go in git's
//! NUL-separated form and stand after `--`, taken literally.

mod history;
mod neutral;
mod status;

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
    time::Duration,
};

use process::{Tool, ToolLimits, ToolOutput, ToolRunError, run_tool};
use protocol::{ErrorCode, RuntimeError};

use crate::{Workspace, WorkspacePath, text};

pub use history::{Commit, history};
pub use status::{Change, GitStatus, StatusEntry};

/// Longest time for one call; the first status of a large repository on a cold disk takes many seconds.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Of a status; about 200,000 paths.
const MAX_STATUS_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of diff text unless asked for fewer.
pub const DEFAULT_MAX_DIFF_BYTES: usize = 256 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("{} is not in a git repository", .0.display())]
    NotARepository(PathBuf),
    #[error(transparent)]
    Run(#[from] ToolRunError),
    /// A filter whose name cannot be written on a command line, so that it cannot be switched off.
    #[error("the repository configures the content filter “{0}”, which cannot be switched off")]
    Filter(String),
    /// Its configuration names another folder as its work tree.
    #[error("the repository keeps its files in {}, not here", .0.display())]
    Elsewhere(PathBuf),
    #[error("git {command} failed")]
    Failed { command: String, detail: String },
}

impl From<GitError> for RuntimeError {
    fn from(error: GitError) -> Self {
        let message = format!("Git could not be used: {error}.");
        match error {
            GitError::Run(error) => error.into(),
            GitError::NotARepository(_) => RuntimeError::new(
                ErrorCode::GitNotARepository,
                "This workspace is not a git repository.",
            )
            .action("Run `git init` in it if it should be one."),
            GitError::Filter(_) => RuntimeError::new(ErrorCode::GitFailed, message)
                .action("Remove the filter from .git/config if you do not need it."),
            GitError::Elsewhere(_) => RuntimeError::new(ErrorCode::GitFailed, message)
                .action("Open that folder, or remove core.worktree from .git/config."),
            GitError::Failed { detail, .. } => RuntimeError::new(ErrorCode::GitFailed, message)
                .because(detail)
                .action("Run the same git command in a terminal to see what it needs."),
        }
    }
}

/// What `HEAD` points to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Absent when detached.
    pub branch: Option<String>,
    /// Absent before the first commit.
    pub commit: Option<String>,
}

/// Which two sides a diff compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiffScope {
    /// The last commit with the files as they are.
    #[default]
    All,
    /// The index with the files as they are.
    Unstaged,
    /// The last commit with the index.
    Staged,
}

/// A unified diff for reading, in git's format with paths relative to the workspace. Files git does not track are
/// not in it. Content that is not UTF-8 is decoded for display.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitDiff {
    pub text: String,
    /// The text ends after the last whole line that fitted.
    pub truncated: bool,
}

/// Who a commit is by.
#[derive(Clone, Copy, Debug)]
pub struct Author<'a> {
    pub name: &'a str,
    pub email: &'a str,
}

/// Whether the workspace is, or lies in, a git work tree.
pub fn is_repository(workspace: &Workspace) -> Result<bool, GitError> {
    match Repository::open(workspace) {
        Ok(_) | Err(GitError::Elsewhere(_)) => Ok(true),
        Err(GitError::NotARepository(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The branch and commit the workspace is on.
pub fn head(workspace: &Workspace) -> Result<Head, GitError> {
    let repository = Repository::open(workspace)?;
    let line = |args: &[&str]| -> Result<Option<String>, GitError> {
        let output = repository.run(args, 4096)?;
        let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        Ok((output.status.success() && !text.is_empty()).then_some(text))
    };
    Ok(Head {
        branch: line(&["symbolic-ref", "--quiet", "--short", "HEAD"])?,
        commit: line(&["rev-parse", "--verify", "--quiet", "HEAD"])?,
    })
}

/// What differs between the last commit, the index and the files of the workspace. Untracked files are named one by
/// one, a nested repository as one folder.
pub fn status(workspace: &Workspace) -> Result<GitStatus, GitError> {
    let repository = Repository::open(workspace)?;
    let args = [
        "status",
        "--porcelain=v2",
        "-z",
        "--branch",
        "--untracked-files=all",
        "--ignore-submodules=dirty",
        "--find-renames",
        "--",
        ".",
    ];
    let output = repository.checked(&args, MAX_STATUS_BYTES)?;
    Ok(status::parse(
        &output.stdout,
        output.truncated,
        &repository.prefix,
    ))
}

/// The differences as text, of the whole workspace or of some paths, at most `max_bytes` of it.
pub fn diff(
    workspace: &Workspace,
    scope: DiffScope,
    paths: &[WorkspacePath],
    max_bytes: usize,
) -> Result<GitDiff, GitError> {
    let repository = Repository::open(workspace)?;
    let mut args: Vec<OsString> = [
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--relative",
        "--ignore-submodules=dirty",
        "--submodule=short",
        "--find-renames",
        "--unified=3",
        "--src-prefix=a/",
        "--dst-prefix=b/",
    ]
    .map(OsString::from)
    .to_vec();
    match scope {
        DiffScope::Unstaged => {}
        DiffScope::Staged => args.push("--cached".into()),
        DiffScope::All => args.push(repository.last_tree()?),
    }
    args.push("--".into());
    match paths {
        [] => args.push(".".into()),
        paths => args.extend(paths.iter().map(|path| match path.is_root() {
            true => ".".into(),
            false => path.relative().as_os_str().to_owned(),
        })),
    }
    let output = repository.checked(&args, max_bytes)?;
    let mut bytes = output.stdout;
    if output.truncated {
        let end = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
        bytes.truncate(end);
    }
    // Files of different encodings stand side by side.
    let text = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(text::decode_for_display)
        .collect();
    Ok(GitDiff {
        text,
        truncated: output.truncated,
    })
}

/// A file's content in the last commit, at most `max_bytes` of it; nothing where the commit does not have the file
/// or it is larger.
pub fn committed(
    workspace: &Workspace,
    path: &WorkspacePath,
    max_bytes: usize,
) -> Result<Option<Vec<u8>>, GitError> {
    if path.is_root() {
        return Ok(None);
    }
    let repository = Repository::open(workspace)?;
    // `./` starts at the workspace, wherever it lies in the work tree.
    let mut revision = OsString::from("HEAD:./");
    revision.push(path.relative());
    let found = repository.run(
        &[
            OsStr::new("rev-parse"),
            "--verify".as_ref(),
            "--quiet".as_ref(),
            &revision,
        ],
        4096,
    )?;
    if !found.status.success() {
        return Ok(None);
    }
    let object = OsStr::from_bytes(found.stdout.trim_ascii());
    let kind = repository.checked(&[OsStr::new("cat-file"), "-t".as_ref(), object], 64)?;
    if kind.stdout.trim_ascii() != b"blob" {
        return Ok(None);
    }
    let blob = repository.checked(&[OsStr::new("cat-file"), "blob".as_ref(), object], max_bytes)?;
    Ok((!blob.truncated).then_some(blob.stdout))
}

/// Folders whose files say that the repository's state changed, for who watches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFolders {
    /// Of this work tree: `HEAD`, `index`.
    pub own: PathBuf,
    /// Of the repository: `refs`, `logs`, `packed-refs`. The same as `own` but for linked work trees.
    pub common: PathBuf,
}

/// Where the repository around the workspace keeps its state. Runs nothing; absent where there is no repository.
pub fn state_folders(workspace: &Workspace) -> Option<StateFolders> {
    let pointed_to = |file: &Path, key: &str| {
        let text = std::fs::read_to_string(file).ok()?;
        let target = Path::new(text.trim().strip_prefix(key)?.trim()).to_owned();
        Some(file.parent()?.join(target))
    };
    let own = workspace.root().ancestors().find_map(|folder| {
        let dot_git = folder.join(".git");
        if dot_git.is_dir() {
            return Some(dot_git);
        }
        let metadata = std::fs::symlink_metadata(&dot_git).ok()?;
        (metadata.is_file() && metadata.len() < 16 * 1024).then(|| pointed_to(&dot_git, "gitdir:"))?
    })?;
    let own = own.canonicalize().ok()?;
    let common = pointed_to(&own.join("commondir"), "")
        .and_then(|common| common.canonicalize().ok())
        .unwrap_or_else(|| own.clone());
    Some(StateFolders { own, common })
}

/// Makes the workspace a repository with the branch `main`. Only for workspaces the product itself has made.
pub fn init(workspace: &Workspace) -> Result<(), GitError> {
    let args = ["init", "--quiet", "--initial-branch=main", "--template="];
    let output = run(workspace.root(), &[], &args, 4096)?;
    check(output, "init", workspace.root()).map(|_| ())
}

/// Commits everything in the workspace and returns the commit. Only for workspaces the product itself has made.
pub fn commit_all(workspace: &Workspace, author: Author<'_>, message: &str) -> Result<String, GitError> {
    let repository = Repository::open(workspace)?;
    repository.checked(&["add", "--all", "--", "."], 4096)?;
    let name = format!("user.name={}", author.name);
    let email = format!("user.email={}", author.email);
    let args = [
        "-c",
        &name,
        "-c",
        &email,
        "-c",
        "commit.gpgSign=false",
        "commit",
        "--quiet",
        "--no-verify",
        "--message",
        message,
    ];
    repository.checked(&args, 4096)?;
    head(workspace)?.commit.ok_or_else(|| GitError::Failed {
        command: "commit".to_owned(),
        detail: "there is no commit afterwards".to_owned(),
    })
}

/// A repository whose own filters are known and switched off.
struct Repository {
    root: PathBuf,
    /// Where the workspace lies in the work tree; empty when it is its top.
    prefix: PathBuf,
    settings: Vec<OsString>,
}

impl Repository {
    fn open(workspace: &Workspace) -> Result<Self, GitError> {
        let root = workspace.root();
        let output = run(root, &[], &["rev-parse", "--show-toplevel"], 64 * 1024)?;
        let mut top = check(output, "rev-parse", root)?.stdout;
        top.pop();
        let top = PathBuf::from(OsString::from_vec(top));
        let top = top.canonicalize().unwrap_or(top);
        let Ok(prefix) = root.strip_prefix(&top) else {
            return Err(GitError::Elsewhere(top));
        };
        Ok(Self {
            root: root.to_owned(),
            prefix: prefix.to_owned(),
            settings: neutral::filter_settings(root)?,
        })
    }

    fn run(&self, args: &[impl AsRef<OsStr>], max_stdout: usize) -> Result<ToolOutput, GitError> {
        run(&self.root, &self.settings, args, max_stdout)
    }

    fn checked(&self, args: &[impl AsRef<OsStr>], max_stdout: usize) -> Result<ToolOutput, GitError> {
        let output = self.run(args, max_stdout)?;
        let command = args.iter().map(AsRef::as_ref).find(|arg| !is_setting(arg));
        let command = command.unwrap_or_default().to_string_lossy().into_owned();
        check(output, &command, &self.root)
    }

    /// The last commit, or the empty tree before the first one.
    fn last_tree(&self) -> Result<OsString, GitError> {
        let head = self.run(&["rev-parse", "--verify", "--quiet", "HEAD"], 4096)?;
        if head.status.success() {
            return Ok("HEAD".into());
        }
        let empty = self.checked(&["hash-object", "-t", "tree", "/dev/null"], 4096)?;
        Ok(OsStr::from_bytes(empty.stdout.trim_ascii()).to_owned())
    }
}

fn is_setting(arg: &OsStr) -> bool {
    arg == "-c" || arg.as_bytes().contains(&b'=')
}

fn run(
    root: &Path,
    settings: &[OsString],
    args: &[impl AsRef<OsStr>],
    max_stdout: usize,
) -> Result<ToolOutput, GitError> {
    let mut all: Vec<OsString> = neutral::ARGUMENTS.iter().map(OsString::from).collect();
    for setting in neutral::SETTINGS
        .iter()
        .map(OsString::from)
        .chain(settings.iter().cloned())
    {
        all.push("-c".into());
        all.push(setting);
    }
    all.extend(args.iter().map(|arg| arg.as_ref().to_owned()));
    let limits = ToolLimits {
        timeout: TIMEOUT,
        max_stdout,
    };
    Ok(run_tool(Tool::Git, &all, root, limits)?)
}

fn check(output: ToolOutput, command: &str, root: &Path) -> Result<ToolOutput, GitError> {
    if output.status.success() {
        return Ok(output);
    }
    let detail = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if detail.contains("not a git repository") {
        return Err(GitError::NotARepository(root.to_owned()));
    }
    Err(GitError::Failed {
        command: command.to_owned(),
        detail,
    })
}
