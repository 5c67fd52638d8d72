//! Finds the files a request may be about and says what speaks for each. Gives facts; `prompt` weighs them.
//!
//! One pass over the lists of the request's terms scores every piece of text (BM25), every file, every name defined
//! and every path; the best files by any of these become candidates with all their signals.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use crate::{
    chunks::Lines,
    language::{self, Language},
    live::{Place, Snapshot},
    past::Past,
    request::Request,
    segment::{Coverage, Posting},
};

const K1: f32 = 1.2;
const B: f32 = 0.7;
/// Files have very different lengths; what a long one says still counts.
const FILE_B: f32 = 0.5;
/// Pieces of a candidate that are handed on, the best.
const MAX_PIECES: usize = 30;

/// What speaks for a file. All are 0 or more; they compare only within one request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signals {
    /// BM25 of its best piece.
    pub piece: f32,
    /// Of its second and third.
    pub more_pieces: f32,
    /// BM25 of the whole file.
    pub file: f32,
    /// The share of the request's terms, by rarity, that occur in it (0 to 1), and in its best piece.
    pub coverage: f32,
    pub piece_coverage: f32,
    /// Terms in the names it defines: the best piece.
    pub definitions: f32,
    /// Names of the request that are defined in it, by rarity.
    pub names: f32,
    /// Terms in its own name, and in its folders.
    pub file_name: f32,
    pub folders: f32,
    /// How much of its own name the request has (0 to 1).
    pub name_share: f32,
    /// Its path or name stands in the request: 1 for the whole path, less for a part.
    pub mentioned: f32,
    /// Commits with similar words touched it.
    pub past: f32,
    /// The messages of all commits that touched it have the request's terms.
    pub messages: f32,
    /// Worked on lately.
    pub recency: f32,
}

/// What kind of file it is, from its path and language alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    Source,
    Test,
    /// Texts, examples, change logs.
    Document,
    /// Settings and records.
    Data,
}

/// A file that may be meant.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub path: PathBuf,
    pub language: Language,
    pub role: Role,
    pub signals: Signals,
    /// The best pieces, best first, with their BM25.
    pub pieces: Vec<(Lines, f32)>,
    /// Lines of the file, as far as its text is indexed.
    pub lines: u32,
    /// Size of the file.
    pub bytes: u64,
    pub(crate) place: Place,
}

/// The files that may be meant, in no particular order, at most `limit` for each way of finding them.
pub fn retrieve(snapshot: &Snapshot, past: &Past, request: &Request, limit: usize) -> Vec<Candidate> {
    let mut tables: Vec<Table> = snapshot
        .slots
        .iter()
        .map(|slot| Table::new(&slot.segment))
        .collect();
    let mut sought = 0.0;
    let totals = Totals::of(snapshot);
    let names: HashSet<String> = request
        .names
        .iter()
        .map(|name| name.replace('_', "").to_lowercase())
        .collect();
    for term in &request.terms {
        let lists: Vec<Vec<Posting>> = snapshot
            .slots
            .iter()
            // A damaged list counts as empty: the refresh that notices it reads the files again.
            .map(|slot| slot.segment.postings(&term.text).unwrap_or_default())
            .collect();
        let found: usize = lists.iter().map(Vec::len).sum();
        if found == 0 {
            continue;
        }
        let rarity = rarity(totals.pieces, found);
        sought += term.weight * rarity;
        let in_names = found_files(&lists, |posting| posting.in_file_name);
        let in_folders = found_files(&lists, |posting| posting.in_folder);
        let weights = TermWeights {
            weight: term.weight,
            rarity,
            name_rarity: self::rarity(totals.files, in_names),
            folder_rarity: self::rarity(totals.files, in_folders),
            is_name: names.contains(&term.text),
        };
        for ((slot, table), list) in snapshot.slots.iter().zip(&mut tables).zip(&lists) {
            table.add(slot, list, &weights, &totals);
        }
    }
    let similar = past.similar(request);
    let mut chosen: HashSet<Place> = HashSet::new();
    choose(snapshot, &tables, limit, &mut chosen);
    let mut by_past: Vec<(&Path, f32)> = similar
        .iter()
        .map(|(path, similar)| (*path, similar.commits))
        .collect();
    by_past.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    chosen.extend(
        by_past
            .iter()
            .filter_map(|(path, _)| snapshot.places.get(*path))
            .take(limit),
    );
    let mentioned = mentions(snapshot, request);
    chosen.extend(mentioned.keys().copied());
    let mut chosen: Vec<Place> = chosen.into_iter().collect();
    chosen.sort();
    chosen
        .into_iter()
        .filter_map(|place| {
            let entry = snapshot.entry(place)?;
            let mut candidate = tables
                .get(place.slot as usize)?
                .candidate(snapshot, place, sought)?;
            let past_says = similar.get(entry.path.as_path()).copied().unwrap_or_default();
            candidate.signals.past = past_says.commits;
            candidate.signals.messages = past_says.messages;
            candidate.signals.recency = past.recency(&entry.path);
            candidate.signals.mentioned = mentioned.get(&place).copied().unwrap_or(0.0);
            Some(candidate)
        })
        .collect()
}

/// Candidates for files that are meant for another reason than the request's words, as far as they are known. One
/// empty table a segment serves them all.
pub fn candidates_for<'a>(snapshot: &Snapshot, paths: impl IntoIterator<Item = &'a Path>) -> Vec<Candidate> {
    let mut tables: HashMap<u32, Table> = HashMap::new();
    paths
        .into_iter()
        .filter_map(|path| {
            let place = *snapshot.places.get(path)?;
            let slot = snapshot.slots.get(place.slot as usize)?;
            tables
                .entry(place.slot)
                .or_insert_with(|| Table::new(&slot.segment))
                .candidate(snapshot, place, 0.0)
        })
        .collect()
}

struct Totals {
    pieces: usize,
    files: usize,
    piece_terms: f32,
    file_terms: f32,
}

impl Totals {
    fn of(snapshot: &Snapshot) -> Self {
        let pieces: usize = snapshot.slots.iter().map(|slot| slot.segment.piece_count()).sum();
        let terms: u64 = snapshot.slots.iter().map(|slot| slot.segment.total_terms).sum();
        let files = snapshot.places.len().max(1);
        // Each file has a piece for its path, of a few terms.
        let text_pieces = pieces.saturating_sub(files).max(1);
        Self {
            pieces: pieces.max(1),
            files,
            piece_terms: (terms as f32 / text_pieces as f32).max(1.0),
            file_terms: (terms as f32 / files as f32).max(1.0),
        }
    }
}

fn rarity(all: usize, having: usize) -> f32 {
    let (all, having) = (all as f32, (having as f32).min(all as f32));
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

fn found_files(lists: &[Vec<Posting>], wanted: impl Fn(&Posting) -> bool) -> usize {
    lists.iter().flatten().filter(|posting| wanted(posting)).count()
}

struct TermWeights {
    weight: f32,
    rarity: f32,
    name_rarity: f32,
    folder_rarity: f32,
    /// The request writes it as a name in code.
    is_name: bool,
}

/// The scores of one segment's pieces and files.
struct Table {
    pieces: Vec<f32>,
    piece_coverage: Vec<f32>,
    definitions: Vec<f32>,
    files: Vec<FileScores>,
}

#[derive(Clone, Copy, Default)]
struct FileScores {
    text: f32,
    coverage: f32,
    names: f32,
    file_name: f32,
    folders: f32,
    /// Terms of the file's own name that the request has.
    name_terms: u16,
}

impl Table {
    fn new(segment: &crate::segment::Segment) -> Self {
        Self {
            pieces: vec![0.0; segment.piece_count()],
            piece_coverage: vec![0.0; segment.piece_count()],
            definitions: vec![0.0; segment.piece_count()],
            files: vec![FileScores::default(); segment.files.len()],
        }
    }

    fn add(&mut self, slot: &crate::live::Slot, list: &[Posting], term: &TermWeights, totals: &Totals) {
        let value = term.weight * term.rarity;
        let mut at = 0;
        while let Some(first) = list.get(at) {
            let Some(piece) = slot.segment.piece(first.piece) else {
                return;
            };
            let file = piece.file;
            let Some(entry) = slot.segment.files.get(file as usize) else {
                return;
            };
            let end = entry.first_piece + entry.pieces;
            let mut often = 0.0;
            let mut defined = false;
            let scores = &mut self.files[file as usize];
            while let Some(posting) = list.get(at).filter(|posting| posting.piece < end) {
                at += 1;
                if posting.in_file_name {
                    scores.file_name += term.weight * term.name_rarity;
                    scores.name_terms += 1;
                }
                if posting.in_folder {
                    scores.folders += term.weight * term.folder_rarity;
                }
                if posting.in_file_name || posting.in_folder {
                    continue;
                }
                let place = posting.piece as usize;
                let terms = slot.segment.piece(posting.piece).map_or(0, |piece| piece.terms);
                let length = terms as f32 / totals.piece_terms;
                let count = f32::from(posting.count);
                self.pieces[place] += value * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
                self.piece_coverage[place] += value;
                if posting.in_definition {
                    self.definitions[place] += value;
                    defined = true;
                }
                often += count;
            }
            if often > 0.0 {
                let length = entry.terms as f32 / totals.file_terms;
                scores.text += value * often * (K1 + 1.0) / (often + K1 * (1.0 - FILE_B + FILE_B * length));
                scores.coverage += value;
            }
            if defined && term.is_name {
                scores.names += value;
            }
        }
    }

    fn best(&self, from: usize, to: usize, values: &[f32]) -> f32 {
        values
            .get(from..to)
            .unwrap_or(&[])
            .iter()
            .copied()
            .fold(0.0, f32::max)
    }

    fn candidate(&self, snapshot: &Snapshot, place: Place, sought: f32) -> Option<Candidate> {
        let slot = snapshot.slots.get(place.slot as usize)?;
        let entry = slot.segment.files.get(place.file as usize)?;
        let scores = self.files.get(place.file as usize)?;
        let (from, to) = (
            entry.first_piece as usize,
            (entry.first_piece + entry.pieces) as usize,
        );
        let mut pieces: Vec<(Lines, f32)> = slot
            .segment
            .pieces_of(place.file)
            .iter()
            .zip(self.pieces.get(from..to)?)
            .filter(|(piece, _)| piece.lines.first > 0)
            .map(|(piece, score)| (piece.lines, *score))
            .collect();
        let lines = pieces.last().map_or(0, |(lines, _)| lines.last);
        pieces.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.first.cmp(&b.0.first)));
        let score = |at: usize| pieces.get(at).map_or(0.0, |(_, score)| *score);
        let share = |value: f32| if sought > 0.0 { value / sought } else { 0.0 };
        let name = entry
            .path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        let own_terms: usize = name.map_or(0, |name| {
            crate::terms::parts(&name.replace(['-', '.'], "_")).len()
        });
        let signals = Signals {
            piece: score(0),
            more_pieces: score(1) + score(2),
            file: scores.text,
            coverage: share(scores.coverage),
            piece_coverage: share(self.best(from, to, &self.piece_coverage)),
            definitions: self.best(from, to, &self.definitions),
            names: scores.names,
            file_name: scores.file_name,
            folders: scores.folders,
            name_share: f32::from(scores.name_terms).min(own_terms as f32) / own_terms.max(1) as f32,
            ..Signals::default()
        };
        pieces.truncate(MAX_PIECES);
        Some(Candidate {
            role: role(&entry.path, entry.language),
            path: entry.path.clone(),
            language: entry.language,
            signals,
            pieces,
            lines,
            bytes: entry.stamp.size,
            place,
        })
    }
}

/// The best files by each kind of score.
fn choose(snapshot: &Snapshot, tables: &[Table], limit: usize, chosen: &mut HashSet<Place>) {
    type Score = fn(&Table, &crate::segment::FileEntry, usize) -> f32;
    let ways: [Score; 4] = [
        |table, entry, _| {
            table.best(
                entry.first_piece as usize,
                (entry.first_piece + entry.pieces) as usize,
                &table.pieces,
            )
        },
        |table, _, file| table.files[file].text,
        |table, entry, file| {
            table.files[file].names
                + table.best(
                    entry.first_piece as usize,
                    (entry.first_piece + entry.pieces) as usize,
                    &table.definitions,
                )
        },
        |table, _, file| table.files[file].file_name * 2.0 + table.files[file].folders,
    ];
    for way in ways {
        let mut scored: Vec<(f32, Place)> = Vec::new();
        for (at, (slot, table)) in snapshot.slots.iter().zip(tables).enumerate() {
            for (file, entry) in slot.segment.files.iter().enumerate() {
                let score = way(table, entry, file);
                if score > 0.0 && slot.current[file] && entry.coverage_allows() {
                    let place = Place {
                        slot: at as u32,
                        file: file as u32,
                    };
                    scored.push((score, place));
                }
            }
        }
        let order = |a: &(f32, Place), b: &(f32, Place)| -> Ordering {
            b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1))
        };
        if scored.len() > limit && limit > 0 {
            scored.select_nth_unstable_by(limit - 1, order);
        }
        chosen.extend(scored.into_iter().take(limit).map(|(_, place)| place));
    }
}

/// Files whose path, or the end of it, stands in the request.
fn mentions(snapshot: &Snapshot, request: &Request) -> HashMap<Place, f32> {
    let mut found: HashMap<Place, f32> = HashMap::new();
    for wanted in &request.paths {
        let wanted_path = Path::new(wanted);
        if let Some(place) = snapshot.places.get(wanted_path) {
            found.insert(*place, 1.0);
            continue;
        }
        let lower = wanted.to_lowercase();
        let matching: Vec<Place> = snapshot
            .places
            .iter()
            .filter(|(path, _)| {
                path.ends_with(wanted_path)
                    || lower.contains('/') && path.to_string_lossy().to_lowercase().contains(lower.as_str())
            })
            .map(|(_, place)| *place)
            .collect();
        let share = 1.0 / (matching.len().max(1) as f32).sqrt();
        if matching.len() <= 60 {
            for place in matching {
                let value = found.entry(place).or_default();
                *value = value.max(share * 0.9);
            }
        }
    }
    found
}

/// From the path and the language: what it is for.
pub fn role(path: &Path, language: Language) -> Role {
    let text = path.to_string_lossy().to_lowercase();
    let mut folders: Vec<&str> = text.split('/').collect();
    let name = folders.pop().unwrap_or("");
    let stem = name.split('.').next().unwrap_or("");
    let is_test_folder = |folder: &str| {
        matches!(
            folder,
            "test"
                | "tests"
                | "testing"
                | "spec"
                | "specs"
                | "__tests__"
                | "__mocks__"
                | "testdata"
                | "test-data"
                | "fixtures"
                | "fixture"
                | "e2e"
                | "benches"
                | "bench"
                | "benchmark"
                | "benchmarks"
                | "playground"
                | "integrationtest"
                | "androidtest"
                | "unittest"
                | "testfixtures"
                | "mocks"
                | "test_helpers"
        )
    };
    let is_test_name = stem.starts_with("test_")
        || ["_test", "_tests", "-test", "_spec", ".test", ".spec"]
            .iter()
            .any(|end| stem.ends_with(end))
        || name.contains(".test.")
        || name.contains(".spec.")
        || matches!(stem, "test" | "tests" | "conftest")
        || path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .is_some_and(|stem| {
                ["Test", "Tests", "TestCase", "IT", "Spec"]
                    .iter()
                    .any(|end| stem.ends_with(end) && stem.len() > end.len())
            });
    if is_test_name || folders.iter().any(|folder| is_test_folder(folder)) {
        return Role::Test;
    }
    let is_document_folder = |folder: &str| {
        matches!(
            folder,
            "doc"
                | "docs"
                | "documentation"
                | "example"
                | "examples"
                | "website"
                | "site"
                | "man"
                | "guides"
                | ".github"
                | "changelog"
                | "changelogs"
                | "locale"
                | "locales"
                | "translations"
                | "i18n"
        )
    };
    match language.content() {
        language::Content::Prose => Role::Document,
        _ if folders.iter().any(|folder| is_document_folder(folder)) => Role::Document,
        _ if ["readme", "changelog", "changes", "history", "news", "license"].contains(&stem) => {
            Role::Document
        }
        language::Content::Data | language::Content::Unknown => Role::Data,
        language::Content::Code | language::Content::Markup => Role::Source,
    }
}

impl crate::segment::FileEntry {
    /// Whether the file can be shown to a model.
    fn coverage_allows(&self) -> bool {
        !matches!(
            self.coverage,
            Coverage::Binary | Coverage::Unreadable | Coverage::Secret
        )
    }
}
