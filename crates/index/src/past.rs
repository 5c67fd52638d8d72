//! What past commits say about a request: commits with similar words touched files that are likely meant again.

use std::{
    collections::HashMap,
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use workspace::git::Commit;

use crate::{
    codec::{Reader, put, put_bytes},
    request::Request,
    terms,
};

const SAVED_FORMAT: [u8; 8] = *b"vcpast01";
/// Commits kept, the newest.
pub const MAX_COMMITS: usize = 4_000;
/// Commits that touch more files say little about any one of them.
const MAX_FILES_OF_COMMIT: usize = 40;
/// Similar commits whose files count.
const SIMILAR: usize = 60;
/// Seconds after which a commit counts half as recent.
const HALF_LIFE: f32 = 120.0 * 24.0 * 3600.0;
/// Of a file changed very often, the newest are looked at.
const MAX_COMMITS_OF_FILE: usize = 200;
const K1: f32 = 1.2;
const B: f32 = 0.5;
const FILE_B: f32 = 0.6;

/// What past commits say for a file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Similar {
    /// The most similar commits touched it.
    pub commits: f32,
    /// BM25 of all messages of commits that touched it.
    pub messages: f32,
}

/// The words and files of past commits.
#[derive(Debug, Default)]
pub struct Past {
    commits: Vec<PastCommit>,
    /// Commits that have the term, and how often.
    terms: HashMap<String, Vec<(u32, u8)>>,
    files: HashMap<PathBuf, Vec<u32>>,
    average_terms: f32,
    /// For each file, the terms of all messages of commits that touched it, large commits counting less.
    file_terms: HashMap<PathBuf, f32>,
    average_file_terms: f32,
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
            let share = length as f32 / (commit.files.len().max(1) as f32).sqrt();
            for file in &commit.files {
                past.files.entry(file.clone()).or_default().push(at as u32);
                if commit.files.len() <= MAX_FILES_OF_COMMIT {
                    *past.file_terms.entry(file.clone()).or_default() += share;
                }
            }
            total += u64::from(length);
            past.newest = past.newest.max(commit.at);
            past.commits.push(PastCommit {
                at: commit.at,
                terms: length,
                files: commit.files,
            });
        }
        past.average_file_terms = past.file_terms.values().sum::<f32>() / past.file_terms.len().max(1) as f32;
        past.average_terms = total as f32 / past.commits.len().max(1) as f32;
        past
    }

    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// Files that commits with similar words touched, each with how much speaks for it.
    pub(crate) fn similar(&self, request: &Request) -> HashMap<&Path, Similar> {
        let mut scores: HashMap<u32, f32> = HashMap::new();
        let mut files: HashMap<&Path, Similar> = HashMap::new();
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
            for (file, often) in self.files_with(found) {
                let length =
                    self.file_terms.get(file).copied().unwrap_or(0.0) / self.average_file_terms.max(1.0);
                let value = often / (often + K1 * (1.0 - FILE_B + FILE_B * length));
                files.entry(file).or_default().messages += term.weight * rarity * value;
            }
        }
        let mut ranked: Vec<(u32, f32)> = scores.into_iter().collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        ranked.truncate(SIMILAR);
        let best = ranked
            .first()
            .map_or(1.0, |(_, score)| *score)
            .max(f32::MIN_POSITIVE);
        for (commit, score) in ranked {
            let commit = &self.commits[commit as usize];
            if commit.files.is_empty() || commit.files.len() > MAX_FILES_OF_COMMIT {
                continue;
            }
            // The best few must outweigh many that are somewhat alike.
            let alike = (score / best).powi(2) * score;
            let share = alike / (commit.files.len() as f32).sqrt();
            for file in &commit.files {
                files.entry(file).or_default().commits += share * (0.5 + 0.5 * self.recency_of(commit.at));
            }
        }
        files
    }

    /// How often files changed with a message that has a term, large commits counting less.
    fn files_with(&self, commits: &[(u32, u8)]) -> HashMap<&Path, f32> {
        let mut often: HashMap<&Path, f32> = HashMap::new();
        for (commit, _) in commits {
            let commit = &self.commits[*commit as usize];
            if commit.files.len() > MAX_FILES_OF_COMMIT {
                continue;
            }
            let share = 1.0 / (commit.files.len() as f32).sqrt();
            for file in &commit.files {
                *often.entry(file).or_default() += share;
            }
        }
        often
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

    /// The files that changed in the same commits as `path`, each with the share of its changes they took part in
    /// (0 to 1).
    pub(crate) fn with(&self, path: &Path) -> Vec<(&Path, f32)> {
        let Some(commits) = self.files.get(path) else {
            return Vec::new();
        };
        let mut together: HashMap<&Path, f32> = HashMap::new();
        let mut all = 0.0;
        for commit in commits.iter().take(MAX_COMMITS_OF_FILE) {
            let commit = &self.commits[*commit as usize];
            if commit.files.len() > MAX_FILES_OF_COMMIT {
                continue;
            }
            let recent = 0.3 + 0.7 * self.recency_of(commit.at);
            all += recent;
            for file in &commit.files {
                if file != path {
                    *together.entry(file).or_default() += recent;
                }
            }
        }
        // A pair seen once in a file changed once is chance.
        together
            .into_iter()
            .map(|(file, count)| (file, count / (all + 2.0)))
            .collect()
    }
}

/// Commits as bytes, to be kept on a shelf: `head` is the commit they were read at.
pub fn save_commits(head: &str, commits: &[Commit]) -> Vec<u8> {
    let mut bytes = SAVED_FORMAT.to_vec();
    put_bytes(&mut bytes, head.as_bytes());
    for commit in commits {
        put_bytes(&mut bytes, commit.id.as_bytes());
        put(&mut bytes, commit.at.max(0) as u64);
        put_bytes(&mut bytes, commit.message.as_bytes());
        put(&mut bytes, commit.files.len() as u64);
        for file in &commit.files {
            put_bytes(&mut bytes, file.as_os_str().as_bytes());
        }
    }
    bytes
}

/// What [`save_commits`] was given; nothing where the bytes are damaged or of another format.
pub fn load_commits(bytes: &[u8]) -> Option<(String, Vec<Commit>)> {
    let mut reader = Reader::new(bytes.strip_prefix(&SAVED_FORMAT)?);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let head = text(reader.bytes().ok()?)?;
    let mut commits = Vec::new();
    while !reader.is_empty() {
        let id = text(reader.bytes().ok()?)?;
        let at = i64::try_from(reader.number().ok()?).ok()?;
        let message = text(reader.bytes().ok()?)?;
        let mut files = Vec::new();
        for _ in 0..reader.number().ok()? {
            files.push(PathBuf::from(OsStr::from_bytes(reader.bytes().ok()?)));
        }
        commits.push(Commit {
            id,
            at,
            message,
            files,
        });
    }
    Some((head, commits))
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
    fn saved_commits_are_read_back_and_damage_is_noticed() {
        let commits = vec![
            commit(900, "Parse headers", &["http.rs", "a/b.rs"]),
            commit(800, "Start", &[]),
        ];
        let bytes = save_commits("abc", &commits);
        assert_eq!(load_commits(&bytes), Some(("abc".to_owned(), commits)));
        assert_eq!(load_commits(&bytes[..bytes.len() - 2]), None);
        assert_eq!(load_commits(b"something else"), None);
    }

    #[test]
    fn commits_with_the_same_words_point_to_their_files() {
        let past = Past::of(vec![
            commit(900, "Parse headers\n\nSigned-off-by: cache cache", &["http.rs"]),
            commit(800, "Cache eviction order", &["cache.rs", "lru.rs"]),
            commit(700, "Cache sizes", &["cache.rs"]),
        ]);
        let found = past.similar(&Request::parse("wrong cache eviction"));
        assert!(found[Path::new("cache.rs")].commits > found[Path::new("lru.rs")].commits);
        assert!(!found.contains_key(Path::new("http.rs")));
        let with = past.with(Path::new("lru.rs"));
        assert_eq!(with.len(), 1);
        assert!(with[0].0 == Path::new("cache.rs") && with[0].1 > 0.2);
        assert_eq!(past.with(Path::new("http.rs")), []);
        assert!(past.recency(Path::new("cache.rs")) > past.recency(Path::new("lru.rs")));
    }
}
