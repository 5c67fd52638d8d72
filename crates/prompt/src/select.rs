//! Chooses which parts of the ranked files are shown within a number of tokens. Pure.
//!
//! A part is worth as much as its file is likely and as it fits within its file; a long part must be worth more.
//! Parts are taken by worth until the budget is used, then shown file by file in the order of the ranking.

use crate::budget::TokenBudgetManager;

/// Differences in a file's score count less here than in the order: several files must be seen.
const LIKELIHOOD_TEMPER: f32 = 2.0;
/// How much more the best part of a file is worth than its others.
const FIT_POWER: f32 = 1.5;
/// Tokens of a part of usual length.
const USUAL_TOKENS: f32 = 450.0;
/// Smaller files are shown whole.
const WHOLE_FILE_TOKENS: u64 = 600;
/// Lines shown around a part.
const AROUND: u32 = 3;

/// A file that may be shown. Lines are counted from 1, both ends included.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// From the ranking; files are given in its order.
    pub score: f32,
    pub lines: u32,
    pub bytes: u64,
    /// The parts that fit the request with how well, best first.
    pub parts: Vec<(u32, u32, f32)>,
}

/// Lines of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Position in the input.
    pub input: usize,
    /// Ascending, without overlap.
    pub ranges: Vec<(u32, u32)>,
    pub estimated_tokens: u64,
}

struct Item {
    input: usize,
    first: u32,
    last: u32,
    tokens: u64,
    worth: f32,
}

/// What to show, in the order of the input, within `max_tokens`.
pub fn select(choices: &[Choice], max_tokens: u64) -> Vec<Chosen> {
    let best = choices.first().map_or(0.0, |choice| choice.score);
    let mut items: Vec<Item> = Vec::new();
    for (input, choice) in choices.iter().enumerate() {
        let likely = ((choice.score - best) / LIKELIHOOD_TEMPER).exp();
        let whole = TokenBudgetManager::estimate_bytes(usize::try_from(choice.bytes).unwrap_or(usize::MAX));
        let tokens_of = |first: u32, last: u32| {
            let share = f64::from(last - first + 1) / f64::from(choice.lines.max(1));
            ((whole as f64 * share).ceil() as u64).max(1)
        };
        let long = |tokens: u64| (USUAL_TOKENS / (tokens as f32).max(USUAL_TOKENS / 4.0)).sqrt();
        if choice.lines == 0 {
            continue;
        }
        if whole <= WHOLE_FILE_TOKENS || choice.parts.is_empty() {
            items.push(Item {
                input,
                first: 1,
                last: choice.lines,
                tokens: whole.max(1),
                worth: likely * 0.8 * long(whole),
            });
            continue;
        }
        let fits_best = choice
            .parts
            .first()
            .map_or(1.0, |part| part.2.max(f32::MIN_POSITIVE));
        for (first, last, fits) in &choice.parts {
            let first = first.saturating_sub(AROUND).max(1);
            let last = (last + AROUND).min(choice.lines);
            if first > last {
                continue;
            }
            let tokens = tokens_of(first, last);
            items.push(Item {
                input,
                first,
                last,
                tokens,
                worth: likely * (fits / fits_best).max(0.0).powf(FIT_POWER) * long(tokens),
            });
        }
    }
    items.sort_by(|a, b| {
        b.worth
            .total_cmp(&a.worth)
            .then_with(|| (a.input, a.first).cmp(&(b.input, b.first)))
    });
    let mut chosen: Vec<Chosen> = Vec::new();
    let mut used = 0;
    for item in items {
        if used + item.tokens > max_tokens {
            continue;
        }
        used += item.tokens;
        match chosen.iter_mut().find(|chosen| chosen.input == item.input) {
            Some(chosen) => {
                chosen.ranges.push((item.first, item.last));
                chosen.estimated_tokens += item.tokens;
            }
            None => chosen.push(Chosen {
                input: item.input,
                ranges: vec![(item.first, item.last)],
                estimated_tokens: item.tokens,
            }),
        }
    }
    for one in &mut chosen {
        one.ranges = joined(std::mem::take(&mut one.ranges));
    }
    chosen.sort_by_key(|chosen| chosen.input);
    chosen
}

/// Ascending, with what touches or overlaps made one.
fn joined(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut joined: Vec<(u32, u32)> = Vec::new();
    for (first, last) in ranges {
        match joined.last_mut() {
            Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long_file(score: f32) -> Choice {
        Choice {
            score,
            lines: 1_000,
            bytes: 40_000,
            parts: vec![(401, 440, 9.0), (441, 480, 6.0), (1, 40, 2.0), (900, 940, 1.0)],
        }
    }

    #[test]
    fn a_likely_file_gets_more_room_and_nothing_exceeds_the_budget() {
        let choices = [long_file(5.0), long_file(3.0), long_file(-4.0)];
        for budget in [0, 300, 1_500, 4_000] {
            let chosen = select(&choices, budget);
            let total: u64 = chosen.iter().map(|one| one.estimated_tokens).sum();
            assert!(total <= budget);
        }
        let chosen = select(&choices, 1_800);
        assert_eq!(chosen[0].input, 0);
        assert_eq!(chosen[0].ranges[0], (398, 483), "parts that touch are one");
        let lines = |at: usize| -> u32 {
            let one = chosen.iter().find(|one| one.input == at);
            one.map_or(0, |one| {
                one.ranges.iter().map(|(first, last)| last - first + 1).sum()
            })
        };
        assert!(lines(0) > lines(1) && lines(1) > lines(2));
    }

    #[test]
    fn a_small_file_is_shown_whole_and_an_empty_one_not_at_all() {
        let small = Choice {
            score: 1.0,
            lines: 30,
            bytes: 900,
            parts: vec![(1, 30, 3.0)],
        };
        let empty = Choice {
            score: 1.0,
            lines: 0,
            bytes: 0,
            parts: Vec::new(),
        };
        let chosen = select(&[small, empty], 1_000);
        assert_eq!(chosen.len(), 1);
        assert_eq!(chosen[0].ranges, [(1, 30)]);
    }
}
