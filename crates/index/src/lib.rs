//! What is known about a workspace's files beyond their bytes. So far: finding a file by a few letters of its path.
//!
//! Built from what `workspace` walks; reads no file itself and keeps nothing on disk.

mod analyse;
mod chunks;
mod codec;
mod fuzzy;
mod imports;
mod language;
mod live;
mod outline;
mod past;
mod relate;
mod request;
mod retrieve;
mod segment;
mod terms;

use std::path::{Path, PathBuf};

use workspace::{
    Overlay, Stop, Workspace, files::FileList, walk::Skipped, walk::WalkError, walk::WalkOptions,
};

use fuzzy::Query;

pub use chunks::Lines;
pub use imports::{ImportResolver, Manifest};
pub use language::{Content, Language};
pub use live::{CodeIndex, KeptOut, MAX_FILES, Refreshed, Shelf, Snapshot};
pub use outline::{Definition, Import, Outline, Outliner, SymbolKind, outline};
pub use past::{MAX_COMMITS, Past, load_commits, save_commits};
pub use relate::{Relations, Seed, relate};
pub use request::Request;
pub use retrieve::{Candidate, Role, Signals, candidates_for, retrieve, role};
pub use segment::{Coverage, Stamp};

/// Characters of a query that count; what follows is ignored.
const MAX_QUERY_CHARS: usize = 200;

/// The paths of a workspace at one moment, ready to be searched. Searching 50,000 paths takes a few milliseconds,
/// so build it once and search at every keystroke.
#[derive(Clone, Debug, Default)]
pub struct PathIndex {
    entries: Vec<IndexedPath>,
    /// What the walk left out, for saying so beside the results.
    skipped: Skipped,
}

#[derive(Clone, Debug)]
struct IndexedPath {
    path: PathBuf,
    text: fuzzy::Candidate,
}

/// One result, better ones first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathHit {
    /// Relative to the workspace root.
    pub path: PathBuf,
    /// Comparable only with hits of the same query.
    pub score: i32,
    /// Which characters of the displayed path matched, counted from 0, ascending.
    pub positions: Vec<u32>,
}

impl PathIndex {
    /// Indexes the files that are not left out, as the draft leaves them.
    pub fn of_workspace(
        workspace: &Workspace,
        overlay: &Overlay,
        stop: Stop<'_>,
    ) -> Result<PathIndex, WalkError> {
        let list = workspace::files::all(workspace, overlay, &WalkOptions::default(), stop)?;
        Ok(Self::build(list))
    }

    pub fn build(list: FileList) -> PathIndex {
        let entries = list
            .paths
            .into_iter()
            .map(|path| IndexedPath {
                text: fuzzy::Candidate::new(&workspace::display_path(&path)),
                path,
            })
            .collect();
        PathIndex {
            entries,
            skipped: list.skipped,
        }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// The `limit` best paths that contain every word of the query, each word's letters in order. Upper case in a
    /// word asks for upper case; `/` must match `/`. An empty query gives the paths with the fewest folders.
    pub fn find(&self, query: &str, limit: usize) -> Vec<PathHit> {
        let query: String = query.chars().take(MAX_QUERY_CHARS).collect();
        let query = Query::parse(&query);
        let mut scratch = fuzzy::Scratch::default();
        let mut scored: Vec<(i32, &IndexedPath)> = self
            .entries
            .iter()
            .filter_map(|entry| Some((query.score(&entry.text, &mut scratch)?, entry)))
            .collect();
        let order = |a: &(i32, &IndexedPath), b: &(i32, &IndexedPath)| {
            b.0.cmp(&a.0)
                .then_with(|| tie_break(&a.1.path).cmp(&tie_break(&b.1.path)))
        };
        if scored.len() > limit && limit > 0 {
            scored.select_nth_unstable_by(limit - 1, order);
        }
        scored.truncate(limit);
        scored.sort_by(order);
        scored
            .into_iter()
            .map(|(score, entry)| PathHit {
                path: entry.path.clone(),
                score,
                positions: query.positions(&entry.text, &mut scratch),
            })
            .collect()
    }
}

fn tie_break(path: &Path) -> (usize, usize, &Path) {
    (path.components().count(), path.as_os_str().len(), path)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make the files they read")]
mod tests;
