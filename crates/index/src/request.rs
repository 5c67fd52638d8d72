//! A request in words, taken apart into what can be looked up. Pure.

use std::collections::HashMap;

use crate::terms;

/// How much the first line counts against the rest: it says what is wanted, the rest explains.
const TITLE: f32 = 2.0;
/// Text between code fences: examples and traces, which name much that is not to be changed.
const CODE_BLOCK: f32 = 0.6;
/// Words beyond this many are not looked at. A pasted log must not cost seconds.
const MAX_WORDS: usize = 2_000;
/// Terms that are looked up, those that weigh most.
const MAX_TERMS: usize = 160;

/// What a request names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    pub(crate) terms: Vec<Term>,
    /// Words that look like names in code, as they are written: `readFile`, `max_size`, `Foo::bar`'s `Foo` and `bar`.
    pub(crate) names: Vec<String>,
    /// Words that look like paths or file names.
    pub(crate) paths: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    pub text: String,
    pub weight: f32,
}

impl Request {
    pub fn parse(text: &str) -> Self {
        let mut weights: HashMap<String, Weights> = HashMap::new();
        let mut request = Self::default();
        let mut seen_words = 0;
        let mut in_fence = false;
        let mut title_seen = false;
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                in_fence = !in_fence;
                continue;
            }
            if line.trim().is_empty() {
                continue;
            }
            let is_title = !title_seen && !in_fence;
            title_seen = true;
            let place = match (is_title, in_fence) {
                (true, _) => TITLE,
                (false, true) => CODE_BLOCK,
                (false, false) => 1.0,
            };
            request.note_paths(line);
            request.note_names(line, in_fence);
            let mut before: Option<String> = None;
            for word in terms::words(line) {
                seen_words += 1;
                if seen_words > MAX_WORDS {
                    break;
                }
                let lower = word.to_lowercase();
                if terms::is_stop_word(&lower) {
                    before = None;
                    continue;
                }
                add_word(&mut weights, word, place, is_title);
                // "file cache" is often written `filecache` or `FileCache`.
                if let Some(before) = before
                    && !word.contains('_')
                {
                    let joined = before + &lower;
                    note(&mut weights, &joined, place * 0.5, is_title);
                }
                before = (lower.len() > 1 && lower.bytes().all(|byte| byte.is_ascii_alphabetic()))
                    .then_some(lower);
            }
        }
        let mut found: Vec<Term> = weights
            .into_iter()
            .map(|(text, weights)| Term {
                text,
                weight: weights.total(),
            })
            .collect();
        found.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.text.cmp(&b.text)));
        found.truncate(MAX_TERMS);
        request.terms = found;
        request
    }

    fn note_paths(&mut self, line: &str) {
        let split = |c: char| {
            c.is_whitespace()
                || matches!(
                    c,
                    '`' | '"' | '\'' | '(' | ')' | ',' | ';' | '<' | '>' | '[' | ']'
                )
        };
        for token in line.split(split) {
            let token = token.trim_matches(|c: char| matches!(c, '.' | ':' | '!' | '?' | '*'));
            // A line number after the name is not part of it.
            let token = match token.split_once(':') {
                Some((path, rest)) if rest.starts_with(|c: char| c.is_ascii_digit()) => path,
                _ => token,
            };
            let has_extension = token.rsplit_once('.').is_some_and(|(stem, extension)| {
                stem.len() > 1
                    && (1..=5).contains(&extension.len())
                    && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
            });
            let is_path = token.contains('/') && !token.contains("//") || has_extension;
            if is_path
                && token.len() > 2
                && !self.paths.iter().any(|known| known == token)
                && self.paths.len() < 50
            {
                self.paths.push(token.trim_start_matches("./").to_owned());
            }
        }
    }

    fn note_names(&mut self, line: &str, in_fence: bool) {
        for (at, piece) in line.split('`').enumerate() {
            let quoted = at % 2 == 1;
            for word in terms::words(piece) {
                let shaped = word.contains('_') && word.len() > 2
                    || word.chars().skip(1).any(char::is_uppercase) && word.chars().any(char::is_lowercase);
                let wanted = quoted && !in_fence && word.len() > 2 || shaped;
                if wanted && self.names.len() < 60 && !self.names.iter().any(|known| known == word) {
                    self.names.push(word.to_owned());
                }
            }
        }
    }
}

#[derive(Default)]
struct Weights {
    title: f32,
    body: f32,
}

impl Weights {
    /// What is said often counts a little more, not in proportion.
    fn total(&self) -> f32 {
        self.title.min(TITLE) + self.body.min(4.0).sqrt()
    }
}

fn add_word(weights: &mut HashMap<String, Weights>, word: &str, place: f32, is_title: bool) {
    let single = terms::parts(word).len() == 1;
    let mut terms_of_word: Vec<String> = Vec::new();
    terms::each_term(word, |term| terms_of_word.push(term.to_owned()));
    let count = terms_of_word.len();
    for (at, term) in terms_of_word.into_iter().enumerate() {
        let share = match (single, at) {
            (true, 0) if count == 1 => 1.0,
            (true, 0) => 0.35,
            (true, _) => 0.8,
            (false, 0) => 1.0,
            (false, _) => 0.7,
        };
        note(weights, &term, place * share, is_title);
    }
}

fn note(weights: &mut HashMap<String, Weights>, term: &str, weight: f32, is_title: bool) {
    let entry = weights.entry(term.to_owned()).or_default();
    if is_title {
        entry.title += weight;
    } else {
        entry.body += weight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_paths_are_told_from_prose() {
        let request = Request::parse(
            "Fix `load` in src/config/mod.rs:42\n\nWhen readFile sees max_size in conf.toml, e.g. at startup, see https://x.org/a.\n```\nlet a_b = 1;\n```\n",
        );
        assert_eq!(request.paths, ["src/config/mod.rs", "conf.toml"]);
        assert_eq!(request.names, ["load", "readFile", "max_size", "a_b"]);
    }

    #[test]
    fn the_first_line_counts_twice_and_stop_words_do_not() {
        let request = Request::parse("cache files\n\nthe cache is slow with files and folders");
        let weight = |text: &str| {
            request
                .terms
                .iter()
                .find(|term| term.text == text)
                .map_or(0.0, |term| term.weight)
        };
        assert!(weight("cach") > weight("fold") * 2.0);
        assert_eq!(weight("the"), 0.0);
        assert!(weight("cachefiles") > 0.0);
    }

    #[test]
    fn a_pasted_log_is_bounded() {
        let log = (0..50_000)
            .map(|n| format!("word{n} other{n}\n"))
            .collect::<String>();
        assert_eq!(Request::parse(&log).terms.len(), MAX_TERMS);
    }
}
