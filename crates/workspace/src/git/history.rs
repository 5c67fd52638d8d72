//! Past commits: what was said and which files were touched.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    path::PathBuf,
};

use super::{GitError, Repository};
use crate::Workspace;

/// Of one call; about 20,000 commits.
const MAX_HISTORY_BYTES: usize = 32 * 1024 * 1024;

/// One commit that is not a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    /// Seconds since 1970, when it was committed.
    pub at: i64,
    pub message: String,
    /// Relative to the workspace root; files outside it are left out. A renamed file stands under both names.
    pub files: Vec<PathBuf>,
}

/// The last commits that touched the workspace, the newest first, at most `max_commits`. With `after`, only those
/// that are not reachable from that commit.
///
/// # Errors
/// Where there is no repository, no commit, or `after` is not known (any more).
pub fn history(
    workspace: &Workspace,
    max_commits: usize,
    after: Option<&str>,
) -> Result<Vec<Commit>, GitError> {
    let repository = Repository::open(workspace)?;
    let range = match after {
        Some(commit) => format!("{commit}..HEAD"),
        None => "HEAD".to_owned(),
    };
    let args: Vec<OsString> = [
        "log",
        &format!("--max-count={max_commits}"),
        "--no-merges",
        "--no-renames",
        "--no-show-signature",
        "--no-mailmap",
        "--name-only",
        "--relative",
        "-z",
        // NUL cannot be in a message: the marks are one record a commit.
        "--format=format:%x01%H%x02%ct%x02%B%x03",
        &range,
        "--",
        ".",
    ]
    .into_iter()
    .map(OsString::from)
    .collect();
    let output = repository.checked(&args, MAX_HISTORY_BYTES)?;
    Ok(parse(&output.stdout))
}

fn parse(bytes: &[u8]) -> Vec<Commit> {
    let mut commits = Vec::new();
    for record in bytes.split(|byte| *byte == 1) {
        let Some(end) = record.iter().position(|byte| *byte == 3) else {
            continue;
        };
        let mut head = record[..end].splitn(3, |byte| *byte == 2);
        let (Some(id), Some(at), Some(message)) = (head.next(), head.next(), head.next()) else {
            continue;
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let Ok(at) = text(at).parse() else { continue };
        let files = record[end + 1..]
            .split(|byte| matches!(byte, 0))
            .map(|name| name.strip_prefix(b"\n").unwrap_or(name))
            .filter(|name| !name.is_empty())
            .map(|name| PathBuf::from(OsStr::from_bytes(name)))
            .collect();
        commits.push(Commit {
            id: text(id),
            at,
            message: text(message),
            files,
        });
    }
    commits
}
