//! What past commits say about a request: commits with similar words touched files that are likely meant again.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use workspace::git::Commit;

use crate::{request::Request, terms};

/// Commits kept, the newest.
pub const MAX_COMMITS: usize = 4_000;
/// Commits that touch more files say little about any one of them.
const MAX_FILES_OF_COMMIT: usize = 40;
/// Similar commits whose files count.
const SIMILAR: usize = 60;
/// Seconds after which a commit counts half as recent.
const HALF_LIFE: f32 = 120.0 * 24.0 * 3600.0;
const K1: f32 = 1.2;
const B: f32 = 0.5;

/// The words and files of past commits.
#[derive(Debug, Default)]
pub struct Past {
    commits: Vec<PastCommit>,
    /// Commits that have the term, and how often.
    terms: HashMap<String, Vec<(u32, u8)>>,
    files: HashMap<PathBuf, Vec<u32>>,
    average_terms: f32,
    newest: i64,
}

#[derive(Debug)]
struct PastCommit {
    at: i64,
    terms: u32,
    files: Vec<PathBuf>,
}

impl Past {
    /// Of commits with the newest first.
    pub fn of(commits: Vec<Commit>) -> Self {
        let mut past = Self::default();
        let mut total = 0u64;
        for (at, commit) in commits.into_iter().take(MAX_COMMITS).enumerate() {
            let mut counts: HashMap<String, u8> = HashMap::new();
            let mut length = 0;
            for line in commit.message.lines() {
                if is_trailer(line) {
                    continue;
                }
                for word in terms::words(line) {
                    if terms::is_stop_word(&word.to_lowercase()) {
                        continue;
                    }
                    length += 1;
                    terms::each_term(word, |term| {
                        let count = counts.entry(term.to_owned()).or_default();
                        *count = count.saturating_add(1);
                    });
                }
            }
            for (term, count) in counts {
                past.terms.entry(term).or_default().push((at as u32, count));
            }
            for file in &commit.files {
                past.files.entry(file.clone()).or_default().push(at as u32);
            }
            total += u64::from(length);
            past.newest = past.newest.max(commit.at);
            past.commits.push(PastCommit {
                at: commit.at,
                terms: length,
                files: commit.files,
            });
        }
        past.average_terms = total as f32 / past.commits.len().max(1) as f32;
        past
    }

    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// Files that commits with similar words touched, each with how much speaks for it.
    pub(crate) fn similar(&self, request: &Request) -> HashMap<&Path, f32> {
        let mut scores: HashMap<u32, f32> = HashMap::new();
        let count = self.commits.len() as f32;
        for term in &request.terms {
            let Some(found) = self.terms.get(&term.text) else {
                continue;
            };
            let having = found.len() as f32;
            let rarity = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
            for (commit, often) in found {
                let length = self.commits[*commit as usize].terms as f32 / self.average_terms.max(1.0);
                let often = f32::from(*often);
                let value = often / (often + K1 * (1.0 - B + B * length));
                *scores.entry(*commit).or_default() += term.weight * rarity * value;
            }
        }
        let mut ranked: Vec<(u32, f32)> = scores.into_iter().collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        ranked.truncate(SIMILAR);
        let best = ranked
            .first()
            .map_or(1.0, |(_, score)| *score)
            .max(f32::MIN_POSITIVE);
        let mut files: HashMap<&Path, f32> = HashMap::new();
        for (commit, score) in ranked {
            let commit = &self.commits[commit as usize];
            if commit.files.is_empty() || commit.files.len() > MAX_FILES_OF_COMMIT {
                continue;
            }
            // The best few must outweigh many that are somewhat alike.
            let alike = (score / best).powi(2) * score;
            let share = alike / (commit.files.len() as f32).sqrt();
            for file in &commit.files {
                *files.entry(file).or_default() += share * (0.5 + 0.5 * self.recency_of(commit.at));
            }
        }
        files
    }

    fn recency_of(&self, at: i64) -> f32 {
        let age = (self.newest - at).max(0) as f32;
        0.5f32.powf(age / HALF_LIFE)
    }

    /// How much the file was worked on lately; 0 where it was not.
    pub(crate) fn recency(&self, path: &Path) -> f32 {
        self.files.get(path).map_or(0.0, |commits| {
            commits
                .iter()
                .take(30)
                .map(|commit| self.recency_of(self.commits[*commit as usize].at))
                .sum::<f32>()
        })
    }

    /// How often `path` changed in the same commit as `other`, as a share of the changes of `other` (0 to 1).
    pub(crate) fn together(&self, other: &Path, path: &Path) -> f32 {
        let (Some(theirs), Some(own)) = (self.files.get(other), self.files.get(path)) else {
            return 0.0;
        };
        let own: HashSet<u32> = own.iter().copied().collect();
        let small = |commit: &&u32| self.commits[**commit as usize].files.len() <= MAX_FILES_OF_COMMIT;
        let all = theirs.iter().filter(small).count();
        let both = theirs
            .iter()
            .filter(small)
            .filter(|commit| own.contains(commit))
            .count();
        // A pair seen once in a file changed once is chance.
        both as f32 / (all as f32 + 2.0)
    }
}

/// `Signed-off-by: …` and its like name people, not code.
fn is_trailer(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(key, _)| {
        key.contains('-') && key.ends_with("-by") || key.eq_ignore_ascii_case("change-id")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(at: i64, message: &str, files: &[&str]) -> Commit {
        Commit {
            id: format!("{at:040}"),
            at,
            message: message.to_owned(),
            files: files.iter().map(PathBuf::from).collect(),
        }
    }

    #[test]
    fn commits_with_the_same_words_point_to_their_files() {
        let past = Past::of(vec![
            commit(900, "Parse headers\n\nSigned-off-by: cache cache", &["http.rs"]),
            commit(800, "Cache eviction order", &["cache.rs", "lru.rs"]),
            commit(700, "Cache sizes", &["cache.rs"]),
        ]);
        let found = past.similar(&Request::parse("wrong cache eviction"));
        assert!(found[Path::new("cache.rs")] > found[Path::new("lru.rs")]);
        assert!(!found.contains_key(Path::new("http.rs")));
        assert!(past.together(Path::new("lru.rs"), Path::new("cache.rs")) > 0.3);
        assert_eq!(past.together(Path::new("http.rs"), Path::new("cache.rs")), 0.0);
        assert!(past.recency(Path::new("cache.rs")) > past.recency(Path::new("lru.rs")));
    }
}
