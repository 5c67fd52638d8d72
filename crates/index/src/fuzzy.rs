//! Scores how well a few typed letters fit a path. Pure.
//!
//! Every letter must be found in order. Of all ways to place them the best one counts: letters at the start of a
//! word, in unbroken runs and in the file's own name are worth more, gaps cost a little. What is typed exactly as
//! the file is called wins over everything else.

const MATCH: i32 = 16;
/// A letter that continues the run of the one before.
const RUN: i32 = 14;
/// The first letter of a part of the path, and of a word in it.
const PART_START: i32 = 16;
const WORD_START: i32 = 12;
/// A letter in the file's own name.
const IN_NAME: i32 = 8;
const GAP_START: i32 = -3;
const GAP_MORE: i32 = -1;
/// Gaps cost no more than this.
const GAP_MAX: i32 = -12;
/// The word is the file's whole name, its name without extension, or the start of its name.
const WHOLE_NAME: i32 = 120;
const WHOLE_STEM: i32 = 90;
const NAME_START: i32 = 30;
/// For each folder above the file.
const DEPTH: i32 = -2;

const NONE: i32 = i32::MIN / 2;

/// A path, taken apart once.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    chars: Vec<char>,
    /// The same in lower case, one for one.
    lower: Vec<char>,
    bonus: Vec<i8>,
    /// Where the file's own name starts.
    name: usize,
    depth: i32,
    /// Which ASCII letters and digits occur, so that most paths are passed over at once.
    letters: u64,
}

impl Candidate {
    pub(crate) fn new(path: &str) -> Self {
        let chars: Vec<char> = path.chars().collect();
        let lower: Vec<char> = chars.iter().copied().map(lower).collect();
        let name = chars.iter().rposition(|c| *c == '/').map_or(0, |at| at + 1);
        let bonus = (0..chars.len()).map(|at| bonus_at(&chars, at)).collect();
        Self {
            name,
            depth: chars.iter().filter(|c| **c == '/').count() as i32,
            letters: letters(&lower),
            bonus,
            lower,
            chars,
        }
    }

    fn place_value(&self, at: usize) -> i32 {
        i32::from(self.bonus[at]) + if at >= self.name { IN_NAME } else { 0 }
    }
}

fn bonus_at(chars: &[char], at: usize) -> i8 {
    let Some(before) = at.checked_sub(1).and_then(|before| chars.get(before)) else {
        return PART_START as i8;
    };
    let this = chars[at];
    let starts_word = matches!(before, '_' | '-' | '.' | ' ')
        || before.is_lowercase() && this.is_uppercase()
        || !before.is_ascii_digit() && this.is_ascii_digit();
    match (*before, starts_word) {
        ('/', _) => PART_START as i8,
        (_, true) => WORD_START as i8,
        (_, false) => 0,
    }
}

fn lower(c: char) -> char {
    // The few letters whose lower case is more than one character stay as they are.
    let mut lowered = c.to_lowercase();
    match (lowered.next(), lowered.next()) {
        (Some(single), None) => single,
        _ => c,
    }
}

fn letters(lower: &[char]) -> u64 {
    lower.iter().fold(0, |set, c| match c {
        'a'..='z' => set | 1 << (*c as u32 - 'a' as u32),
        '0'..='9' => set | 1 << (*c as u32 - '0' as u32 + 26),
        _ => set,
    })
}

/// What was typed: words that must all be found.
pub(crate) struct Query {
    words: Vec<Word>,
}

struct Word {
    chars: Vec<char>,
    lower: Vec<char>,
    has_upper: bool,
    letters: u64,
}

/// Memory for the scoring tables, reused from path to path.
#[derive(Default)]
pub(crate) struct Scratch {
    /// Best score with the word's letter at this place of the path, one row a letter.
    ends: Vec<i32>,
    /// Best score with that letter at this place or before.
    best: Vec<i32>,
}

impl Query {
    pub(crate) fn parse(query: &str) -> Self {
        let words = query
            .split_whitespace()
            .map(|word| {
                let word = word.strip_prefix("./").unwrap_or(word);
                let chars: Vec<char> = word.chars().collect();
                let lower: Vec<char> = chars.iter().copied().map(lower).collect();
                Word {
                    has_upper: chars.iter().any(|c| c.is_uppercase()),
                    letters: letters(&lower),
                    chars,
                    lower,
                }
            })
            .filter(|word| !word.chars.is_empty())
            .collect();
        Self { words }
    }

    /// `None` when a word is not in the path.
    pub(crate) fn score(&self, candidate: &Candidate, scratch: &mut Scratch) -> Option<i32> {
        let mut total = candidate.depth * DEPTH;
        for word in &self.words {
            total += word.score(candidate, scratch)?;
        }
        Some(total)
    }

    pub(crate) fn positions(&self, candidate: &Candidate, scratch: &mut Scratch) -> Vec<u32> {
        let mut all = Vec::new();
        for word in &self.words {
            if word.score(candidate, scratch).is_some() {
                word.trace(candidate, scratch, &mut all);
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Word {
    fn score(&self, candidate: &Candidate, scratch: &mut Scratch) -> Option<i32> {
        if self.letters & !candidate.letters != 0 || !self.is_in(candidate) {
            return None;
        }
        let width = candidate.chars.len();
        scratch.ends.clear();
        scratch.ends.resize(self.lower.len() * width, NONE);
        scratch.best.clear();
        scratch.best.resize(self.lower.len() * width, NONE);
        for letter in 0..self.lower.len() {
            let row = letter * width;
            // The best way to have placed the letters before, ending left of here, gap included.
            let mut carried = NONE;
            let mut gap = 0;
            for at in 0..width {
                if letter > 0 && at > 0 {
                    let ended_before = scratch.ends[row - width + at - 1];
                    // A gap that starts here may beat one that started earlier.
                    let extended = if gap <= GAP_MAX {
                        carried
                    } else {
                        carried + GAP_MORE
                    };
                    let started = match at {
                        0 | 1 => NONE,
                        _ => scratch.ends[row - width + at - 2] + GAP_START,
                    };
                    if started >= extended {
                        carried = started;
                        gap = GAP_START;
                    } else if carried > NONE {
                        gap += if gap <= GAP_MAX { 0 } else { GAP_MORE };
                        carried = extended;
                    }
                    if self.fits(letter, candidate, at) {
                        let value = MATCH + candidate.place_value(at);
                        let run = if ended_before > NONE {
                            ended_before + RUN
                        } else {
                            NONE
                        };
                        let previous = run.max(carried);
                        if previous > NONE / 2 {
                            scratch.ends[row + at] = previous + value;
                        }
                    }
                } else if letter == 0 && self.fits(0, candidate, at) {
                    scratch.ends[row + at] = MATCH + candidate.place_value(at);
                }
                let left = if at > 0 { scratch.best[row + at - 1] } else { NONE };
                scratch.best[row + at] = left.max(scratch.ends[row + at]);
            }
        }
        let placed = scratch.best.last().copied().filter(|best| *best > NONE / 2)?;
        Some(placed + self.name_value(candidate))
    }

    /// Whether the letters occur in order at all; most paths fail here, before any table is filled.
    fn is_in(&self, candidate: &Candidate) -> bool {
        let mut at = 0;
        (0..self.lower.len()).all(|letter| {
            while at < candidate.lower.len() && !self.fits(letter, candidate, at) {
                at += 1;
            }
            at += 1;
            at <= candidate.lower.len()
        })
    }

    fn fits(&self, letter: usize, candidate: &Candidate, at: usize) -> bool {
        if self.has_upper && self.chars[letter].is_uppercase() {
            self.chars[letter] == candidate.chars[at]
        } else {
            self.lower[letter] == candidate.lower[at]
        }
    }

    fn name_value(&self, candidate: &Candidate) -> i32 {
        let name = &candidate.lower[candidate.name..];
        // A word with folders in it is compared by its last part.
        let word = match self.lower.iter().rposition(|c| *c == '/') {
            Some(at) => &self.lower[at + 1..],
            None => &self.lower[..],
        };
        if word.is_empty() || !name.starts_with(word) {
            return 0;
        }
        match name.get(word.len()) {
            None => WHOLE_NAME,
            Some('.') => WHOLE_STEM,
            Some(_) => NAME_START,
        }
    }

    /// Follows the filled tables back from the best end.
    fn trace(&self, candidate: &Candidate, scratch: &Scratch, positions: &mut Vec<u32>) {
        let width = candidate.chars.len();
        let Some(mut at) = self.best_end(scratch, self.lower.len() - 1, width, width) else {
            return;
        };
        positions.push(at as u32);
        for letter in (0..self.lower.len() - 1).rev() {
            let row = letter * width;
            let run = scratch.ends[row + at - 1];
            let gapped = (0..at.saturating_sub(1))
                .filter(|place| scratch.ends[row + place] > NONE / 2)
                .max_by_key(|place| scratch.ends[row + place] + gap_cost(at - place - 1));
            let previous = match gapped {
                Some(place)
                    if run <= NONE / 2
                        || scratch.ends[row + place] + gap_cost(at - place - 1) > run + RUN =>
                {
                    place
                }
                _ => at - 1,
            };
            at = previous;
            positions.push(at as u32);
        }
    }

    fn best_end(&self, scratch: &Scratch, letter: usize, width: usize, before: usize) -> Option<usize> {
        let row = letter * width;
        (0..before)
            .filter(|at| scratch.ends[row + at] > NONE / 2)
            .max_by_key(|at| scratch.ends[row + at])
    }
}

fn gap_cost(length: usize) -> i32 {
    let more = i32::try_from(length).unwrap_or(i32::MAX).saturating_sub(1);
    GAP_START
        .saturating_add(GAP_MORE.saturating_mul(more))
        .max(GAP_MAX)
}
