//! Where text that was not found most nearly is, and how it differs, in words. Only explains; what it finds is
//! never written to.

use std::collections::HashMap;

/// Characters of a line that are quoted in an explanation.
const QUOTED: usize = 120;

/// The place that comes nearest to a text that was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// First line of the place, counted from 1.
    pub line: usize,
    /// The first line that differs there, counted from 1.
    pub differs_at: usize,
    /// How it differs: "file: 1 tab, request: 4 spaces".
    pub difference: String,
}

impl std::fmt::Display for Nearest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the nearest place is line {}", self.line)?;
        if self.differs_at != self.line {
            write!(f, ", where line {} differs", self.differs_at)?;
        }
        write!(f, " ({})", self.difference)
    }
}

/// The place in `file` nearest to `wanted`; nothing where no line resembles it. Takes time in proportion to the
/// two texts.
pub fn find(file: &str, wanted: &str) -> Option<Nearest> {
    let file: Vec<&str> = file
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .collect();
    let wanted: Vec<&str> = wanted.strip_suffix('\n').unwrap_or(wanted).split('\n').collect();
    let start = by_equal_lines(&file, &wanted).or_else(|| by_resemblance(&file, &wanted))?;
    let last = wanted.len() - 1;
    for (index, request) in wanted.iter().enumerate() {
        let found = file.get(start + index).copied();
        // The request may begin and end inside a line.
        let fits = found.is_some_and(|line| match (index == 0, index == last) {
            (true, true) => line.contains(request),
            (true, false) => line.ends_with(request),
            (false, true) => line.starts_with(request),
            (false, false) => line == *request,
        });
        if !fits {
            return Some(Nearest {
                line: start + 1,
                differs_at: start + index + 1,
                difference: difference(found, request),
            });
        }
    }
    // Every line fits, so what differs is the final newline.
    Some(Nearest {
        line: start + 1,
        differs_at: start + last + 1,
        difference: "file: no newline at the end, request: a newline".to_owned(),
    })
}

/// The start that most lines vote for, where a line votes if it equals a wanted one but for whitespace.
fn by_equal_lines(file: &[&str], wanted: &[&str]) -> Option<usize> {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate() {
        if let Some(key) = key(line) {
            let known = places.entry(key).or_default();
            // A text of many equal lines must not make this quadratic.
            if known.len() < 8 {
                known.push(index);
            }
        }
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (line, text) in file.iter().enumerate() {
        for index in key(text).and_then(|key| places.get(&key)).into_iter().flatten() {
            if let Some(start) = line.checked_sub(*index) {
                *votes.entry(start).or_default() += 1;
            }
        }
    }
    votes
        .into_iter()
        .max_by_key(|(start, count)| (*count, usize::MAX - start))
        .map(|(start, _)| start)
}

/// The line most like the longest wanted one, judged by what they share at both ends.
fn by_resemblance(file: &[&str], wanted: &[&str]) -> Option<usize> {
    let (index, anchor) = wanted
        .iter()
        .map(|line| line.trim())
        .enumerate()
        .max_by_key(|(_, line)| line.len())?;
    let anchor = &anchor.as_bytes()[..anchor.len().min(400)];
    let mut best: Option<(usize, usize)> = None;
    for (line, text) in file.iter().enumerate() {
        let text = text.trim().as_bytes();
        let text = &text[..text.len().min(400)];
        let head = text.iter().zip(anchor).take_while(|(a, b)| a == b).count();
        let room = text.len().min(anchor.len()) - head;
        let tail = (text.iter().rev().zip(anchor.iter().rev()))
            .take(room)
            .take_while(|(a, b)| a == b)
            .count();
        let score = (head + tail) * 100 / text.len().max(anchor.len()).max(1);
        if score >= 50 && best.is_none_or(|(highest, _)| score > highest) {
            best = Some((score, line));
        }
    }
    best.map(|(_, line)| line.saturating_sub(index))
}

/// A hash of a line without its whitespace; none for a blank line.
fn key(line: &str) -> Option<u64> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut blank = true;
    for byte in line.bytes() {
        if !byte.is_ascii_whitespace() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            blank = false;
        }
    }
    (!blank).then_some(hash)
}

fn difference(found: Option<&str>, request: &str) -> String {
    let Some(found) = found else {
        return format!("the file ends before it, request: {}", quote(request));
    };
    let (file_indent, request_indent) = (indent(found), indent(request));
    if found.trim() == request.trim() {
        if file_indent != request_indent {
            return format!("file: {}, request: {}", spell(file_indent), spell(request_indent));
        }
        return format!(
            "at the end of the line, file: {}, request: {}",
            spell(&found[found.trim_end().len()..]),
            spell(&request[request.trim_end().len()..])
        );
    }
    format!("file: {}, request: {}", quote(found), quote(request))
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// Whitespace in words: "1 tab", "4 spaces", "2 tabs and 1 space".
fn spell(whitespace: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let characters: Vec<char> = whitespace.chars().collect();
    for run in characters.chunk_by(|a, b| a == b) {
        let name = match run[0] {
            '\t' => "tab",
            ' ' => "space",
            '\u{a0}' => "no-break space",
            '\r' => "carriage return",
            _ => "other space",
        };
        let plural = if run.len() == 1 { "" } else { "s" };
        words.push(format!("{} {name}{plural}", run.len()));
    }
    if words.is_empty() {
        return "no space".to_owned();
    }
    words.join(" and ")
}

/// A line as a reader can compare it: tabs visible, cut where it is long.
pub(crate) fn quote(line: &str) -> String {
    let mut text: String = line.chars().take(QUOTED).collect::<String>().replace('\t', "\\t");
    if line.chars().nth(QUOTED).is_some() {
        text.push('…');
    }
    format!("`{text}`")
}
