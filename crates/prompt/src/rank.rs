//! Orders files by how likely a request is about them. Pure: each factor is a number with a name and a weight in one
//! table, so that every place in the order can be explained.
//!
//! The weights of the factors that `index` measures were fitted on past changes of four public repositories and
//! checked on four others (`docs/qa/context.md`). Those of what the user does (open, pinned, mentioned, edited) are
//! set by hand: no such record exists to fit them on.

use serde::{Deserialize, Serialize};

/// One thing that speaks for or against a file (§19.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Factor {
    Pinned,
    Mentioned,
    ActiveFile,
    Selection,
    OpenFile,
    Diagnostic,
    GitChange,
    RecentEdit,
    BestPiece,
    MorePieces,
    WholeFile,
    Coverage,
    PieceCoverage,
    Definitions,
    Names,
    FileName,
    Folders,
    NameShare,
    PastCommits,
    PastMessages,
    Together,
    Defines,
    Uses,
    Folder,
    SameName,
    Imports,
    Semantic,
    Test,
    Document,
    Data,
}

/// How a factor's value becomes comparable between requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    /// As it is; the value lies between 0 and 1.
    Absolute,
    /// Its share of the greatest among the candidates.
    Relative,
    /// That share, the leaders drawn apart from the rest.
    Sharp,
    /// That share, those behind brought nearer to the leaders.
    Root,
}

struct Row {
    factor: Factor,
    scale: Scale,
    weight: f32,
    words: &'static str,
}

const fn row(factor: Factor, scale: Scale, weight: f32, words: &'static str) -> Row {
    Row {
        factor,
        scale,
        weight,
        words,
    }
}

/// All factors. `words` completes "It is here because …".
const TABLE: [Row; 30] = [
    row(Factor::Pinned, Scale::Absolute, 20.0, "you pinned it"),
    row(
        Factor::Selection,
        Scale::Absolute,
        12.0,
        "you selected text in it",
    ),
    row(
        Factor::ActiveFile,
        Scale::Absolute,
        3.0,
        "it is the file in front of you",
    ),
    row(Factor::OpenFile, Scale::Absolute, 0.6, "it is open in the editor"),
    row(Factor::Diagnostic, Scale::Absolute, 0.8, "it has problems"),
    row(
        Factor::GitChange,
        Scale::Absolute,
        0.6,
        "it has uncommitted changes",
    ),
    row(
        Factor::RecentEdit,
        Scale::Absolute,
        0.8,
        "it was edited in this session",
    ),
    row(
        Factor::Mentioned,
        Scale::Absolute,
        2.0,
        "the request names its path",
    ),
    row(
        Factor::BestPiece,
        Scale::Sharp,
        2.0,
        "a part of it has the request's words",
    ),
    row(
        Factor::MorePieces,
        Scale::Relative,
        0.8,
        "several parts of it have the request's words",
    ),
    row(
        Factor::WholeFile,
        Scale::Sharp,
        1.65,
        "the file as a whole has the request's words",
    ),
    row(
        Factor::Coverage,
        Scale::Absolute,
        0.35,
        "it has many of the request's words",
    ),
    row(
        Factor::PieceCoverage,
        Scale::Absolute,
        0.6,
        "one part of it has many of the request's words",
    ),
    row(
        Factor::Definitions,
        Scale::Relative,
        0.8,
        "it defines something named like the request",
    ),
    row(
        Factor::Names,
        Scale::Relative,
        0.55,
        "it defines a name that the request uses",
    ),
    row(
        Factor::FileName,
        Scale::Relative,
        0.8,
        "its name has the request's words",
    ),
    row(
        Factor::Folders,
        Scale::Relative,
        1.05,
        "its folder has the request's words",
    ),
    row(
        Factor::NameShare,
        Scale::Absolute,
        0.6,
        "the request has most of its name",
    ),
    row(
        Factor::PastCommits,
        Scale::Sharp,
        1.1,
        "past commits with similar words changed it",
    ),
    row(
        Factor::PastMessages,
        Scale::Sharp,
        1.0,
        "its past commits talk about the request's words",
    ),
    row(
        Factor::Together,
        Scale::Root,
        0.4,
        "it changes together with files that fit",
    ),
    row(
        Factor::Defines,
        Scale::Root,
        0.5,
        "it defines what files that fit use",
    ),
    row(
        Factor::Uses,
        Scale::Root,
        0.6,
        "it uses what files that fit define",
    ),
    row(
        Factor::Folder,
        Scale::Absolute,
        0.3,
        "it lies beside files that fit",
    ),
    row(
        Factor::SameName,
        Scale::Absolute,
        0.3,
        "it has the name of a file that fits",
    ),
    row(Factor::Imports, Scale::Absolute, 0.4, "files that fit import it"),
    row(
        Factor::Semantic,
        Scale::Relative,
        0.8,
        "its meaning is near the request's",
    ),
    row(Factor::Test, Scale::Absolute, -4.0, "it is a test"),
    row(Factor::Document, Scale::Absolute, -3.0, "it is documentation"),
    row(Factor::Data, Scale::Absolute, -2.0, "it is data or settings"),
];

/// Below this a factor's part is not worth a word.
const WORTH_A_WORD: f32 = 0.15;

impl Factor {
    /// Completes "it is here because …".
    pub fn in_words(self) -> &'static str {
        TABLE
            .iter()
            .find(|row| row.factor == self)
            .map_or("", |row| row.words)
    }
}

/// A file with its values; factors that are not given are 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankInput {
    pub path: String,
    pub values: Vec<(Factor, f32)>,
}

/// What one factor gave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    pub factor: Factor,
    pub score: f32,
}

/// A file in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Position in the input.
    pub input: usize,
    /// Comparable only within one ranking.
    pub score: f32,
    /// What made the score, the largest first.
    pub parts: Vec<Part>,
}

impl Ranked {
    /// The two strongest reasons in words: "past commits with similar words changed it; its name has …".
    pub fn reason(&self) -> String {
        let reasons: Vec<&str> = self
            .parts
            .iter()
            .filter(|part| part.score > WORTH_A_WORD)
            .take(2)
            .map(|part| part.factor.in_words())
            .collect();
        match reasons.is_empty() {
            true => "little speaks for it".to_owned(),
            false => reasons.join("; "),
        }
    }
}

/// All inputs, the likeliest first; equal ones by path.
pub fn rank(inputs: &[RankInput]) -> Vec<Ranked> {
    let greatest = |factor: Factor| -> f32 {
        inputs
            .iter()
            .flat_map(|input| &input.values)
            .filter(|(given, _)| *given == factor)
            .map(|(_, value)| *value)
            .fold(0.0, f32::max)
    };
    let scales: Vec<f32> = TABLE
        .iter()
        .map(|row| match row.scale {
            Scale::Absolute => 1.0,
            Scale::Relative | Scale::Sharp | Scale::Root => greatest(row.factor).max(f32::MIN_POSITIVE),
        })
        .collect();
    let mut ranked: Vec<Ranked> = inputs
        .iter()
        .enumerate()
        .map(|(at, input)| {
            let mut parts: Vec<Part> = TABLE
                .iter()
                .zip(&scales)
                .filter_map(|(row, scale)| {
                    let value = input.values.iter().find(|(factor, _)| *factor == row.factor)?.1;
                    let share = value / scale;
                    let scaled = match row.scale {
                        Scale::Absolute | Scale::Relative => share,
                        Scale::Sharp => (share + share.powi(3)) / 2.0,
                        Scale::Root => share.max(0.0).sqrt(),
                    };
                    (scaled != 0.0).then_some(Part {
                        factor: row.factor,
                        score: row.weight * scaled,
                    })
                })
                .collect();
            parts.sort_by(|a, b| b.score.total_cmp(&a.score));
            Ranked {
                input: at,
                score: parts.iter().map(|part| part.score).sum(),
                parts,
            }
        })
        .collect();
    ranked.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| inputs[a.input].path.cmp(&inputs[b.input].path))
    });
    ranked
}

/// How likely each of the first `count` is against the others; the shares add up to 1.
pub fn shares(ranked: &[Ranked], count: usize) -> Vec<f32> {
    let best = ranked.first().map_or(0.0, |first| first.score);
    let weights: Vec<f32> = ranked
        .iter()
        .take(count)
        .map(|entry| (entry.score - best).exp())
        .collect();
    let total: f32 = weights.iter().sum();
    weights
        .into_iter()
        .map(|weight| weight / total.max(f32::MIN_POSITIVE))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(path: &str, values: &[(Factor, f32)]) -> RankInput {
        RankInput {
            path: path.to_owned(),
            values: values.to_vec(),
        }
    }

    #[test]
    fn every_factor_has_one_row() {
        for row in &TABLE {
            assert_eq!(TABLE.iter().filter(|other| other.factor == row.factor).count(), 1);
            assert!(!row.words.is_empty());
        }
    }

    #[test]
    fn what_the_user_pinned_or_selected_comes_first_whatever_its_words() {
        let inputs = [
            input(
                "words.rs",
                &[
                    (Factor::BestPiece, 30.0),
                    (Factor::WholeFile, 40.0),
                    (Factor::PastCommits, 9.0),
                ],
            ),
            input("pinned.rs", &[(Factor::Pinned, 1.0)]),
            input(
                "selected.md",
                &[(Factor::Selection, 1.0), (Factor::Document, 1.0)],
            ),
        ];
        let order: Vec<usize> = rank(&inputs).iter().map(|ranked| ranked.input).collect();
        assert_eq!(order, [1, 2, 0]);
    }

    #[test]
    fn the_score_is_the_sum_of_its_parts_and_is_said_in_words() {
        let inputs = [
            input(
                "a.rs",
                &[
                    (Factor::BestPiece, 8.0),
                    (Factor::PastCommits, 2.0),
                    (Factor::Test, 1.0),
                ],
            ),
            input("b.rs", &[(Factor::BestPiece, 4.0)]),
        ];
        let ranked = rank(&inputs);
        for entry in &ranked {
            let sum: f32 = entry.parts.iter().map(|part| part.score).sum();
            assert!((sum - entry.score).abs() < 1e-5);
        }
        let first = ranked.iter().find(|entry| entry.input == 0).unwrap();
        assert_eq!(
            first.reason(),
            "a part of it has the request's words; past commits with similar words changed it"
        );
    }

    #[test]
    fn an_empty_or_meaningless_input_gives_an_order() {
        assert_eq!(rank(&[]), []);
        assert_eq!(shares(&[], 5), Vec::<f32>::new());
        let same = [input("b", &[]), input("a", &[])];
        let order: Vec<usize> = rank(&same).iter().map(|ranked| ranked.input).collect();
        assert_eq!(order, [1, 0]);
    }
}
