//! Small readers of lines.

/// The text without escape sequences for colours and cursors.
pub fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            // A sequence ends with a letter.
            Some('[') => {
                while characters
                    .next()
                    .is_some_and(|next| !('\u{40}'..='\u{7e}').contains(&next))
                {}
            }
            // A title ends with a bell or with escape and backslash.
            Some(']') => {
                while characters
                    .next()
                    .is_some_and(|next| next != '\u{7}' && next != '\\')
                {}
            }
            _ => {}
        }
    }
    plain
}

/// The number that stands before a word: "3 passed" → 3.
pub fn number_before(line: &str, word: &str) -> Option<u64> {
    let mut rest = line;
    while let Some(at) = rest.find(word) {
        let before = rest[..at].trim_end();
        let digits = before.len()
            - before
                .trim_end_matches(|character: char| character.is_ascii_digit())
                .len();
        let next = rest[at + word.len()..].chars().next();
        let whole = next.is_none_or(|next| !next.is_alphanumeric());
        if digits > 0 && whole && before.len() < at {
            return before[before.len() - digits..].parse().ok();
        }
        rest = &rest[at + word.len()..];
    }
    None
}

/// The number that stands after a word: "Failures: 3" → 3.
pub fn number_after(line: &str, word: &str) -> Option<u64> {
    let at = line.find(word)?;
    let rest = line[at + word.len()..].trim_start();
    let end = rest
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// A place at the end of a text or before a space: `src/a.rs:3:5`, `src/a.rs:3`.
pub fn place(text: &str) -> Option<(String, u32)> {
    let text = text.trim().trim_end_matches([')', ':', ']', ',']);
    let text = text.strip_prefix("file://").unwrap_or(text);
    let (rest, last) = text.rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    match rest
        .rsplit_once(':')
        .map(|(file, line)| (file, line.parse::<u32>()))
    {
        Some((file, Ok(line))) if is_file(file) => Some((file.to_owned(), line)),
        _ if is_file(rest) => Some((rest.to_owned(), last)),
        _ => None,
    }
}

/// Whether it looks like a file's path: with an ending and no spaces at its ends.
pub fn is_file(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    !text.is_empty()
        && text.trim() == text
        && !text.contains(['(', '"', '\''])
        && name.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty()
                && !ending.is_empty()
                && ending.len() <= 6
                && ending.chars().all(|character| character.is_ascii_alphanumeric())
        })
}

/// The first line after `from` that says something.
pub fn next_words<'a>(lines: &[&'a str], from: usize) -> &'a str {
    lines
        .get(from..)
        .unwrap_or_default()
        .iter()
        .map(|line| line.trim())
        .find(|line| !line.is_empty())
        .unwrap_or_default()
}
