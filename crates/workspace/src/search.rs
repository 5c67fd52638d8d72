//! Searching the contents of files: the draft's contents in place of the disk's, bounded in hits, line length and
//! time, and open about what was not searched.

mod searching;
mod sink;

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use protocol::{ErrorCode, RuntimeError};

use crate::{
    Overlay, OverlayEntry, Stop, Workspace, WorkspacePath,
    walk::{self, Flow, Found, Ignored, Skipped, WalkError, WalkOptions, WalkedKind},
};
use searching::{Ending, Searching};

/// Hits are collected beyond the limit, so that which ones are shown depends on their paths and not on which
/// thread was faster.
const COLLECT_FACTOR: usize = 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// The pattern stands for itself.
    #[default]
    Literal,
    /// Rust regex syntax, matched within lines.
    Regex,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    #[default]
    Sensitive,
    Insensitive,
    /// Insensitive unless the pattern has an upper-case letter.
    Smart,
}

/// What to look for and where.
#[derive(Clone, Debug, Default)]
pub struct ContentQuery {
    pub pattern: String,
    pub syntax: Syntax,
    pub case: Case,
    /// Files and folders to search; the whole workspace when empty. Naming an ignored one searches it.
    pub paths: Vec<WorkspacePath>,
    /// Only files that match one of these: `*.rs`, `src/**/*.ts`. A glob without `/` is for the name in any folder.
    pub globs: Vec<String>,
    pub ignored: Ignored,
    pub limits: SearchLimits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    pub max_hits: usize,
    /// Hits of one file that are shown; the rest are counted.
    pub max_hits_per_file: usize,
    /// Characters of a line that are shown, around its first match.
    pub max_line_chars: usize,
    pub max_time: Duration,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self {
            max_hits: 200,
            max_hits_per_file: 50,
            max_line_chars: 300,
            max_time: Duration::from_secs(20),
        }
    }
}

/// Hits by path, then line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentMatches {
    pub hits: Vec<Hit>,
    /// Matching lines that were found and are not among `hits`. A lower bound when the search was ended early.
    pub hits_left_out: u64,
    pub files_with_hits: u64,
    pub files_searched: u64,
    /// Files left out because their content is binary.
    pub binary_files: u64,
    /// Files that could not be read or have a line of more than 64 MiB.
    pub unsearchable_files: u64,
    pub skipped: Skipped,
    pub ended_early: Option<EndedEarly>,
}

/// One matching line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Relative to the workspace root.
    pub path: PathBuf,
    /// Counted from 1.
    pub line: u64,
    /// The character the match starts at in its line, counted from 1.
    pub column: u64,
    /// The line without its ending, or the part of it around the match with `…` where something is left out.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedEarly {
    /// Far more matches than are shown.
    TooManyHits,
    /// `max_time` was reached.
    Time,
    /// The caller asked to stop.
    Stopped,
}

impl ContentMatches {
    /// What a reader must know besides the hits, in sentences: how much was searched, what was not and why, and
    /// how to include it.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!(
            "Searched {} file{}; {} had matches.",
            self.files_searched,
            if self.files_searched == 1 { "" } else { "s" },
            self.files_with_hits
        )];
        if self.hits_left_out > 0 {
            notes.push(format!(
                "{}{} more matching lines are not shown. Search for something more exact, or in fewer files.",
                if self.ended_early.is_some() {
                    "At least "
                } else {
                    ""
                },
                self.hits_left_out
            ));
        }
        match self.ended_early {
            Some(EndedEarly::TooManyHits) => {
                notes.push("The search ended early because there are so many matches.".to_owned());
            }
            Some(EndedEarly::Time) => notes.push(
                "The search ran out of time, so files are missing. Search in a folder or with a glob."
                    .to_owned(),
            ),
            Some(EndedEarly::Stopped) => {
                notes.push("The search was stopped, so files are missing.".to_owned())
            }
            None => {}
        }
        if !self.skipped.is_empty() {
            notes.push(format!(
                "Not searched: {}. To search one of these, name it as the path.",
                self.skipped.in_words().join("; ")
            ));
        }
        if self.binary_files > 0 {
            notes.push(format!("Not searched: {} binary files.", self.binary_files));
        }
        if self.unsearchable_files > 0 {
            notes.push(format!("{} files could not be read.", self.unsearchable_files));
        }
        notes
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error("the pattern is empty")]
    EmptyPattern,
    /// Of the pattern or a glob, with the parser's words.
    #[error("“{pattern}” cannot be searched for: {reason}")]
    Pattern { pattern: String, reason: String },
    #[error("“{glob}” is not a glob: {reason}")]
    Glob { glob: String, reason: String },
    #[error(transparent)]
    Walk(#[from] WalkError),
}

impl From<SearchError> for RuntimeError {
    fn from(error: SearchError) -> Self {
        let made = RuntimeError::new(ErrorCode::SearchPattern, format!("Not searched: {error}."));
        match error {
            SearchError::EmptyPattern => made.action("Give the text to look for."),
            SearchError::Pattern { .. } => made
                .action("Correct the regular expression, or search for it as literal text within one line."),
            SearchError::Glob { .. } => made.action("Use a glob such as *.rs or src/**/*.ts."),
            SearchError::Walk(error) => error.into(),
        }
    }
}

/// Searches the contents of the workspace's files as the draft leaves them.
pub fn content(
    workspace: &Workspace,
    overlay: &Overlay,
    query: &ContentQuery,
    stop: Stop<'_>,
) -> Result<ContentMatches, SearchError> {
    let matcher = matcher(query)?;
    let globs = glob_set(&query.globs)?;
    let chosen = |path: &Path| globs.as_ref().is_none_or(|globs| globs.is_match(path));
    let (disk_starts, draft_only) = starts(query, overlay);
    let deadline = Instant::now() + query.limits.max_time;
    let ending = Ending {
        stop,
        deadline,
        out_of_time: AtomicBool::new(false),
        enough: AtomicBool::new(false),
    };
    let collected = AtomicUsize::new(0);
    let collect_limit = query.limits.max_hits.saturating_mul(COLLECT_FACTOR);
    let make = || Searching::new(&matcher, query.limits);

    let mut draft = make();
    for (path, entry) in &overlay.entries {
        let wanted =
            query.paths.is_empty() || query.paths.iter().any(|start| path.starts_with(start.relative()));
        if !wanted || !chosen(path) || ending.reached() {
            continue;
        }
        match entry {
            OverlayEntry::Content { bytes, .. } => draft.search(path, &**bytes, &ending),
            OverlayEntry::Stored { file, .. } => match std::fs::File::open(file) {
                Ok(file) => draft.search(path, file, &ending),
                Err(_) => draft.unsearchable += 1,
            },
            OverlayEntry::Deleted => {}
        }
    }
    let on_file = |searching: &mut Searching<'_>, found: &Found<'_>| {
        if found.kind != WalkedKind::File || overlay.get(found.relative).is_some() || !chosen(found.relative)
        {
            return Flow::Continue;
        }
        match found.open() {
            Ok(file) => {
                let before = searching.hits.len();
                searching.search(found.relative, file, &ending);
                let total = collected.fetch_add(searching.hits.len() - before, Ordering::Relaxed);
                if total > collect_limit {
                    ending.enough.store(true, Ordering::Relaxed);
                }
            }
            Err(_) => searching.unsearchable += 1,
        }
        match ending.reached() {
            true => Flow::End,
            false => Flow::Continue,
        }
    };
    let (mut parts, skipped) = if draft_only {
        (Vec::new(), Skipped::default())
    } else {
        let options = WalkOptions {
            starts: disk_starts,
            ignored: query.ignored,
        };
        walk::visit(workspace, &options, &|| ending.reached(), make, on_file)?
    };
    parts.push(draft);
    Ok(combine(parts, skipped, query.limits, &ending))
}

/// The paths to walk, without those that exist only in the draft; and whether nothing is left to walk.
fn starts(query: &ContentQuery, overlay: &Overlay) -> (Vec<WorkspacePath>, bool) {
    let on_disk: Vec<WorkspacePath> = query
        .paths
        .iter()
        .filter(|path| {
            let drafted = overlay.get(path.relative()).is_some_and(OverlayEntry::is_content)
                || overlay.has_content_below(path.relative());
            // A missing path that the draft does not have either is the walk's to report.
            !drafted || std::fs::symlink_metadata(path.absolute()).is_ok()
        })
        .cloned()
        .collect();
    let draft_only = !query.paths.is_empty() && on_disk.is_empty();
    (on_disk, draft_only)
}

fn matcher(query: &ContentQuery) -> Result<RegexMatcher, SearchError> {
    if query.pattern.is_empty() {
        return Err(SearchError::EmptyPattern);
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .fixed_strings(query.syntax == Syntax::Literal)
        .case_insensitive(query.case == Case::Insensitive)
        .case_smart(query.case == Case::Smart)
        // `^` and `$` are a line's, whose ending may be CRLF.
        .multi_line(true)
        .crlf(true);
    builder
        .build(&query.pattern)
        .map_err(|error| SearchError::Pattern {
            pattern: query.pattern.clone(),
            reason: error.to_string(),
        })
}

/// Whether a path below the root is meant by one of `globs`, written as in a search. A glob that cannot be read means
/// nothing.
pub fn is_meant_by(globs: &[String], path: &Path) -> bool {
    globs.iter().any(|glob| {
        let set = glob_set(std::slice::from_ref(glob)).ok().flatten();
        set.is_some_and(|set| set.is_match(path))
    })
}

pub(crate) fn glob_set(globs: &[String]) -> Result<Option<GlobSet>, SearchError> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let fail = |error: globset::Error| SearchError::Glob {
            glob: glob.clone(),
            reason: error.kind().to_string(),
        };
        let plain = glob.strip_prefix("./").unwrap_or(glob);
        let anywhere = match plain.contains('/') {
            true => plain.trim_start_matches('/').to_owned(),
            false => format!("**/{plain}"),
        };
        // A folder stands for what is in it.
        let anywhere = match anywhere.strip_suffix('/') {
            Some(folder) => format!("{folder}/**"),
            None => anywhere,
        };
        set.add(
            GlobBuilder::new(&anywhere)
                .literal_separator(true)
                .build()
                .map_err(fail)?,
        );
    }
    let build = set.build().map_err(|error| SearchError::Glob {
        glob: globs.join(", "),
        reason: error.kind().to_string(),
    })?;
    Ok(Some(build))
}

fn combine(
    parts: Vec<Searching<'_>>,
    skipped: Skipped,
    limits: SearchLimits,
    ending: &Ending<'_>,
) -> ContentMatches {
    let mut matches = ContentMatches {
        skipped,
        ended_early: ending.why(),
        ..ContentMatches::default()
    };
    for part in parts {
        matches.hits.extend(part.hits);
        matches.hits_left_out += part.left_out;
        matches.files_with_hits += part.files_with_hits;
        matches.files_searched += part.searched;
        matches.binary_files += part.binary;
        matches.unsearchable_files += part.unsearchable;
    }
    matches
        .hits
        .sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    // Named paths may overlap.
    matches.hits.dedup();
    if matches.hits.len() > limits.max_hits {
        matches.hits_left_out += (matches.hits.len() - limits.max_hits) as u64;
        matches.hits.truncate(limits.max_hits);
    }
    matches
}
