//! How text becomes terms, the same way for files and for requests. Pure.
//!
//! A word is a run of letters, digits and underscores. It gives its whole lower-case form without underscores
//! (`read_file` and `readFile` both give `readfile`), its parts (`read`, `file`), and neighbouring parts joined
//! (`auto_resize_box` gives `autoresize`), so that a request finds a name however it is spelled. Parts are stemmed:
//! "validates" in a request meets `validate`.

/// Longer words are data (hashes, encoded images), not language.
pub(crate) const MAX_WORD_BYTES: usize = 64;

/// The words of a text, in order.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
}

/// Calls `emit` for every term of one word, each at most once, the whole form first.
pub(crate) fn each_term(word: &str, mut emit: impl FnMut(&str)) {
    if word.len() > MAX_WORD_BYTES {
        return;
    }
    let whole: String = word
        .chars()
        .filter(|c| *c != '_')
        .flat_map(char::to_lowercase)
        .collect();
    if whole.is_empty() || whole.len() == 1 && whole.is_ascii() {
        return;
    }
    if whole.len() > 6 && whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return;
    }
    emit(&whole);
    let parts = parts(word);
    if let [single] = parts.as_slice() {
        let stemmed = stem(single);
        if *stemmed != *whole {
            emit(stemmed);
        }
        return;
    }
    let mut seen: Vec<&str> = Vec::with_capacity(parts.len());
    for part in &parts {
        let stemmed = stem(part);
        if stemmed.len() > 1 && stemmed != whole && !seen.contains(&stemmed) {
            seen.push(stemmed);
            emit(stemmed);
        }
    }
    if parts.len() > 2 {
        for pair in parts.windows(2) {
            let joined = pair.concat();
            if joined.len() > 3 && joined != whole {
                emit(&joined);
            }
        }
    }
}

/// `HTTPServer_v2` → `http`, `server`, `v2`.
pub(crate) fn parts(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    let mut parts = Vec::new();
    let mut current = String::new();
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| chars.get(before));
        let starts = before.is_some_and(|before| {
            before.is_lowercase() && c.is_uppercase()
                || before.is_ascii_digit() && c.is_uppercase()
                || before.is_uppercase()
                    && c.is_uppercase()
                    && chars.get(at + 1).is_some_and(|after| after.is_lowercase())
        });
        if (*c == '_' || starts) && !current.is_empty() {
            parts.push(std::mem::take(&mut current));
        }
        if *c != '_' {
            current.extend(c.to_lowercase());
        }
    }
    if !current.is_empty() {
        parts.push(current);
    }
    parts
}

/// Cuts English endings off, so that forms of a word meet. It may cut wrongly as long as it does so everywhere.
pub(crate) fn stem(word: &str) -> &str {
    if word.len() < 4 || !word.is_ascii() {
        return word;
    }
    let mut stem = word;
    for (ending, keep) in [("ies", 3), ("s", 3)] {
        if let Some(cut) = stem.strip_suffix(ending)
            && cut.len() >= keep
            && !cut.ends_with('s')
            && !(ending == "s" && (cut.ends_with('u') || cut.ends_with('i')))
        {
            stem = cut;
            break;
        }
    }
    for (ending, keep) in [
        ("ization", 3),
        ("isation", 3),
        ("ations", 3),
        ("ation", 3),
        ("ator", 4),
        ("ating", 3),
        ("ings", 4),
        ("ing", 4),
        ("ated", 4),
        ("edly", 4),
        ("ed", 3),
        ("ers", 4),
        ("er", 4),
        ("or", 5),
        ("ion", 4),
        ("able", 4),
        ("ible", 4),
        ("ment", 4),
        ("ize", 4),
        ("ise", 4),
        ("ate", 4),
        ("ly", 4),
        ("y", 4),
        ("e", 3),
    ] {
        if let Some(cut) = stem.strip_suffix(ending)
            && cut.len() >= keep
        {
            stem = cut;
            break;
        }
    }
    let bytes = stem.as_bytes();
    match bytes {
        [.., a, b] if a == b && stem.len() > 3 && !matches!(b, b'l' | b's' | b'z') => &stem[..stem.len() - 1],
        _ => stem,
    }
}

/// Words that say nothing about where in a repository something is.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Lower case, sorted.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "above",
    "after",
    "again",
    "all",
    "allow",
    "also",
    "although",
    "always",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "best",
    "better",
    "between",
    "both",
    "but",
    "by",
    "can",
    "cannot",
    "case",
    "cases",
    "could",
    "did",
    "do",
    "does",
    "doesn",
    "doing",
    "don",
    "done",
    "down",
    "during",
    "each",
    "either",
    "etc",
    "even",
    "every",
    "few",
    "fix",
    "fixed",
    "fixes",
    "following",
    "for",
    "from",
    "further",
    "get",
    "gets",
    "had",
    "has",
    "have",
    "having",
    "he",
    "hence",
    "her",
    "here",
    "his",
    "how",
    "however",
    "i",
    "if",
    "improve",
    "in",
    "instead",
    "into",
    "is",
    "isn",
    "issue",
    "it",
    "its",
    "just",
    "least",
    "let",
    "like",
    "make",
    "makes",
    "many",
    "may",
    "me",
    "might",
    "more",
    "most",
    "much",
    "must",
    "my",
    "need",
    "needed",
    "needs",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "on",
    "once",
    "one",
    "only",
    "or",
    "other",
    "otherwise",
    "our",
    "out",
    "over",
    "own",
    "please",
    "pr",
    "previously",
    "problem",
    "properly",
    "rather",
    "really",
    "same",
    "see",
    "she",
    "should",
    "since",
    "so",
    "some",
    "still",
    "such",
    "support",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "therefore",
    "these",
    "they",
    "thing",
    "this",
    "those",
    "through",
    "thus",
    "to",
    "too",
    "under",
    "until",
    "up",
    "us",
    "use",
    "used",
    "uses",
    "using",
    "very",
    "via",
    "want",
    "was",
    "way",
    "we",
    "well",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "why",
    "will",
    "with",
    "within",
    "without",
    "work",
    "works",
    "would",
    "yet",
    "you",
    "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(word: &str) -> Vec<String> {
        let mut terms = Vec::new();
        each_term(word, |term| terms.push(term.to_owned()));
        terms
    }

    #[test]
    fn a_name_is_found_however_it_is_spelled() {
        for word in ["AutoResize", "auto_resize", "autoResize", "autoresize"] {
            assert_eq!(terms(word)[0], "autoresize", "{word}");
        }
        assert_eq!(terms("HTTPServer"), ["httpserver", "http", "serv"]);
        assert_eq!(
            terms("auto_resize_box"),
            ["autoresizebox", "auto", "resiz", "box", "autoresize", "resizebox"]
        );
        assert_eq!(terms("x"), Vec::<String>::new());
        assert_eq!(terms("20240131120000"), Vec::<String>::new());
        assert_eq!(terms(&"a".repeat(80)), Vec::<String>::new());
    }

    #[test]
    fn forms_of_a_word_meet() {
        for group in [
            &[
                "validate",
                "validates",
                "validated",
                "validating",
                "validation",
                "validator",
            ][..],
            &["parse", "parses", "parsed", "parsing", "parser", "parsers"],
            &["query", "queries"],
            &["stop", "stopped", "stops"],
            &["class", "classes"],
        ] {
            let stems: Vec<&str> = group.iter().map(|word| stem(word)).collect();
            assert!(
                stems.windows(2).all(|pair| pair[0] == pair[1]),
                "{group:?} {stems:?}"
            );
        }
    }

    #[test]
    fn stop_words_are_sorted_for_the_search() {
        assert!(STOP_WORDS.is_sorted());
    }
}
