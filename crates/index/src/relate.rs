//! What connects a file with those that already look meant. The third file of a change often shares no word with
//! the request: it declares, calls or is always changed with one that does.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use workspace::{Overlay, Workspace};

use crate::{
    Candidate,
    chunks::Lines,
    live::{Place, Snapshot},
    past::Past,
    terms,
};

/// Bytes of a seed that are read at most.
const MAX_SEED_BYTES: u64 = 1_000_000;
/// A name defined in more files than this points to none of them.
const MAX_DEFINERS: usize = 12;
/// A name used in more files than this says nothing about who uses it.
const MAX_USERS: usize = 60;
/// Names of one seed that are looked up.
const MAX_NAMES: usize = 160;

/// What connects a file with the seeds; each at least 0, weighed by how likely the seed is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Relations {
    /// Changed in the same commits.
    pub together: f32,
    /// Defines names that the seeds' best pieces use.
    pub defines: f32,
    /// Uses names that the seeds' best pieces define.
    pub uses: f32,
    /// Lies in the folder of a seed.
    pub folder: f32,
    /// Has the name of a seed but for its ending or folder: `dict.h` for `dict.c`.
    pub same_name: f32,
    /// Shares a word of its name with a seed in the same folder: `RedisQueue` for `SqsQueue`.
    pub sibling: f32,
}

/// A file taken for meant, with how likely it is against the other seeds (the shares add up to 1).
#[derive(Clone, Copy, Debug)]
pub struct Seed<'a> {
    pub candidate: &'a Candidate,
    pub share: f32,
}

/// The relations of all files that have any, those of the seeds themselves included.
pub fn relate(
    workspace: &Workspace,
    snapshot: &Snapshot,
    past: &Past,
    seeds: &[Seed<'_>],
    candidates: &[Candidate],
) -> HashMap<std::path::PathBuf, Relations> {
    let mut found: HashMap<Place, Relations> = HashMap::new();
    for seed in seeds {
        let text = read(workspace, &seed.candidate.path);
        by_names(snapshot, seed, &text, &mut found);
        for (path, share) in past.with(&seed.candidate.path) {
            if let Some(place) = snapshot.places.get(path) {
                found.entry(*place).or_default().together += share * seed.share;
            }
        }
    }
    for candidate in candidates {
        for seed in seeds {
            if seed.candidate.place == candidate.place {
                continue;
            }
            let relations = found.entry(candidate.place).or_default();
            let (own, other) = (candidate.path.as_path(), seed.candidate.path.as_path());
            let same_folder = own.parent() == other.parent();
            if same_folder {
                relations.folder += seed.share;
            }
            if own.file_stem() == other.file_stem() {
                relations.same_name += seed.share;
            } else if same_folder {
                relations.sibling += seed.share * likeness(own, other);
            }
        }
    }
    found
        .into_iter()
        .filter_map(|(place, relations)| Some((snapshot.entry(place)?.path.clone(), relations)))
        .collect()
}

fn likeness(own: &Path, other: &Path) -> f32 {
    let parts = |path: &Path| -> HashSet<String> {
        let stem = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().replace(['-', '.'], "_"));
        terms::parts(&stem.unwrap_or_default()).into_iter().collect()
    };
    let (own, other) = (parts(own), parts(other));
    let shared = own.intersection(&other).count() as f32;
    shared / (own.len().max(other.len()).max(1)) as f32
}

fn read(workspace: &Workspace, path: &Path) -> String {
    workspace
        .resolve(path)
        .ok()
        .and_then(|path| workspace::read_bytes(&path, &Overlay::default(), MAX_SEED_BYTES).ok())
        .map(|read| String::from_utf8_lossy(&read.bytes).into_owned())
        .unwrap_or_default()
}

/// Follows the names in the seed's best pieces to where they are defined, and from what it defines to its users.
fn by_names(snapshot: &Snapshot, seed: &Seed<'_>, text: &str, found: &mut HashMap<Place, Relations>) {
    let lines: Vec<&str> = text.lines().collect();
    let outline = snapshot
        .slots
        .get(seed.candidate.place.slot as usize)
        .and_then(|slot| slot.segment.outline(seed.candidate.place.file).ok())
        .unwrap_or_default();
    let own: HashSet<String> = outline
        .definitions
        .iter()
        .map(|definition| whole(&definition.name))
        .collect();
    let pieces: Vec<(Lines, f32)> = seed.candidate.pieces.iter().take(3).copied().collect();
    let best = pieces
        .first()
        .map_or(1.0, |(_, score)| score.max(f32::MIN_POSITIVE));
    let mut used: HashMap<String, f32> = HashMap::new();
    let mut defined: HashMap<String, f32> = HashMap::new();
    for (piece, score) in &pieces {
        let weight = score / best;
        let from = (piece.first as usize).saturating_sub(1);
        for line in lines.iter().take(piece.last as usize).skip(from) {
            for word in terms::words(line) {
                let name = whole(word);
                if name.len() > 3 && !own.contains(&name) {
                    let entry = used.entry(name).or_default();
                    *entry = entry.max(weight);
                }
            }
        }
        for definition in &outline.definitions {
            if definition.first_line <= piece.last
                && definition.last_line >= piece.first
                && definition.name.len() > 3
            {
                let entry = defined.entry(whole(&definition.name)).or_default();
                *entry = entry.max(weight);
            }
        }
    }
    for (name, weight) in bounded(used) {
        let definers = places(snapshot, &name, true);
        if definers.is_empty() || definers.len() > MAX_DEFINERS {
            continue;
        }
        let value = weight * seed.share / definers.len() as f32;
        for place in definers {
            if place != seed.candidate.place {
                found.entry(place).or_default().defines += value;
            }
        }
    }
    for (name, weight) in bounded(defined) {
        let users = places(snapshot, &name, false);
        if users.is_empty() || users.len() > MAX_USERS {
            continue;
        }
        let value = weight * seed.share / users.len() as f32;
        for place in users {
            if place != seed.candidate.place {
                found.entry(place).or_default().uses += value;
            }
        }
    }
}

fn bounded(names: HashMap<String, f32>) -> Vec<(String, f32)> {
    let mut names: Vec<(String, f32)> = names.into_iter().collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    names.truncate(MAX_NAMES);
    names
}

/// The form of a name that is a term of the index.
fn whole(name: &str) -> String {
    name.chars()
        .filter(|c| *c != '_')
        .flat_map(char::to_lowercase)
        .collect()
}

/// The files that have the term, each once; only those that define it where `defining`.
fn places(snapshot: &Snapshot, term: &str, defining: bool) -> Vec<Place> {
    let mut places = Vec::new();
    for (at, slot) in snapshot.slots.iter().enumerate() {
        for posting in slot.segment.postings(term).unwrap_or_default() {
            if defining && !posting.in_definition || posting.in_folder || posting.in_file_name {
                continue;
            }
            let Some(piece) = slot.segment.piece(posting.piece) else {
                continue;
            };
            let place = Place {
                slot: at as u32,
                file: piece.file,
            };
            if slot.current.get(piece.file as usize) == Some(&true) && places.last() != Some(&place) {
                places.push(place);
            }
        }
    }
    places
}
