//! Ranks the files of the workspace for a request: brings what `index` finds, what the user does and what `prompt`
//! weighs together.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use index::{Candidate, Relations, Request, Role, Seed};
use prompt::{
    rank::{Factor, RankInput, Ranked, rank, shares},
    select::{Choice, Chosen, select},
};
use protocol::request::ContextMark;
use workspace::{Workspace, display_path};

use super::Known;

/// Files taken by each way of finding them.
const CANDIDATES: usize = 80;
/// Files from whose relations others are found.
const SEEDS: usize = 8;
/// Files that are found by their relations alone.
const RELATED: usize = 40;
/// Files of which parts may be shown.
const SHOWN: usize = 25;

/// What is asked, and what the user does meanwhile. Paths are relative to the workspace.
#[derive(Clone, Debug, Default)]
pub struct Asked<'a> {
    pub text: &'a str,
    pub active_file: Option<&'a Path>,
    pub open_files: Vec<&'a Path>,
    /// Files with pending edits of this session.
    pub edited: HashSet<PathBuf>,
    pub marks: Vec<(String, ContextMark)>,
}

/// All files that may be meant, the likeliest first.
pub struct Ranking {
    pub files: Vec<RankedFile>,
}

pub struct RankedFile {
    pub path: PathBuf,
    pub role: Role,
    pub ranked: Ranked,
    pub mark: ContextMark,
    choice: Choice,
}

impl Ranking {
    /// The parts to show within a number of tokens, by position in `files`. Tests and excluded files take no room.
    pub fn select(&self, max_tokens: u64) -> Vec<Chosen> {
        let shown: Vec<usize> = self
            .files
            .iter()
            .enumerate()
            .filter(|(_, file)| file.may_be_shown())
            .map(|(at, _)| at)
            .take(SHOWN)
            .collect();
        let choices: Vec<Choice> = shown.iter().map(|at| self.files[*at].choice.clone()).collect();
        let mut chosen = select(&choices, max_tokens);
        for one in &mut chosen {
            one.input = shown[one.input];
        }
        chosen
    }
}

impl RankedFile {
    pub fn may_be_shown(&self) -> bool {
        self.mark == ContextMark::Pinned || self.mark != ContextMark::Excluded && self.role != Role::Test
    }

    pub fn estimated_tokens(&self) -> u64 {
        prompt::TokenBudgetManager::estimate_bytes(usize::try_from(self.choice.bytes).unwrap_or(usize::MAX))
    }
}

pub fn rank_files(workspace: &Workspace, known: &Known, asked: &Asked<'_>) -> Ranking {
    let request = Request::parse(asked.text);
    let mut candidates = index::retrieve(&known.snapshot, &known.past, &request, CANDIDATES);
    let mut have: HashSet<PathBuf> = candidates
        .iter()
        .map(|candidate| candidate.path.clone())
        .collect();
    let marks: HashMap<&str, ContextMark> = asked
        .marks
        .iter()
        .map(|(path, mark)| (path.as_str(), *mark))
        .collect();
    let pinned = marks
        .iter()
        .filter(|(_, mark)| **mark == ContextMark::Pinned)
        .map(|(path, _)| Path::new(*path));
    let users = asked
        .active_file
        .into_iter()
        .chain(asked.open_files.iter().copied())
        .chain(asked.edited.iter().map(PathBuf::as_path))
        .chain(pinned);
    let missing: Vec<&Path> = users.filter(|path| have.insert((*path).to_owned())).collect();
    candidates.extend(index::candidates_for(&known.snapshot, missing));
    let none = HashMap::new();
    let first = rank(&inputs(&candidates, asked, known, &marks, &none));
    let sources: Vec<&Ranked> = first
        .iter()
        .filter(|ranked| candidates[ranked.input].role == Role::Source)
        .take(SEEDS)
        .collect();
    let leading: Vec<Ranked> = sources.iter().map(|ranked| (*ranked).clone()).collect();
    let seeds: Vec<Seed<'_>> = leading
        .iter()
        .zip(shares(&leading, SEEDS))
        .map(|(ranked, share)| Seed {
            candidate: &candidates[ranked.input],
            share,
        })
        .collect();
    let relations = index::relate(workspace, &known.snapshot, &known.past, &seeds, &candidates);
    let mut related: Vec<(&PathBuf, f32)> = relations
        .iter()
        .filter(|(path, _)| !have.contains(*path))
        .map(|(path, relations)| (path, relations.together + relations.defines + relations.uses))
        .collect();
    related.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let found = index::candidates_for(
        &known.snapshot,
        related.iter().take(RELATED).map(|(path, _)| path.as_path()),
    );
    candidates.extend(found);
    let ranked = rank(&inputs(&candidates, asked, known, &marks, &relations));
    let files = ranked
        .into_iter()
        .map(|ranked| {
            let candidate = &candidates[ranked.input];
            RankedFile {
                path: candidate.path.clone(),
                role: candidate.role,
                mark: marks
                    .get(display_path(&candidate.path).as_str())
                    .copied()
                    .unwrap_or(ContextMark::None),
                choice: Choice {
                    score: ranked.score,
                    lines: candidate.lines,
                    bytes: candidate.bytes,
                    parts: candidate
                        .pieces
                        .iter()
                        .map(|(lines, fits)| (lines.first, lines.last, *fits))
                        .collect(),
                },
                ranked,
            }
        })
        .collect();
    Ranking { files }
}

fn inputs(
    candidates: &[Candidate],
    asked: &Asked<'_>,
    known: &Known,
    marks: &HashMap<&str, ContextMark>,
    relations: &HashMap<PathBuf, Relations>,
) -> Vec<RankInput> {
    let flag = |is: bool| if is { 1.0 } else { 0.0 };
    candidates
        .iter()
        .map(|candidate| {
            let path = candidate.path.as_path();
            let shown = display_path(path);
            let signals = &candidate.signals;
            let related = relations.get(path).copied().unwrap_or_default();
            let mut values = vec![
                (
                    Factor::Pinned,
                    flag(marks.get(shown.as_str()) == Some(&ContextMark::Pinned)),
                ),
                (Factor::ActiveFile, flag(asked.active_file == Some(path))),
                (Factor::OpenFile, flag(asked.open_files.contains(&path))),
                (Factor::GitChange, flag(known.changed.contains(path))),
                (Factor::RecentEdit, flag(asked.edited.contains(path))),
                (Factor::Mentioned, signals.mentioned),
                (Factor::BestPiece, signals.piece),
                (Factor::MorePieces, signals.more_pieces),
                (Factor::WholeFile, signals.file),
                (Factor::Coverage, signals.coverage),
                (Factor::PieceCoverage, signals.piece_coverage),
                (Factor::Definitions, signals.definitions),
                (Factor::Names, signals.names),
                (Factor::FileName, signals.file_name),
                (Factor::Folders, signals.folders),
                (Factor::NameShare, signals.name_share),
                (Factor::PastCommits, signals.past),
                (Factor::PastMessages, signals.messages),
                (Factor::Together, related.together),
                (Factor::Defines, related.defines),
                (Factor::Uses, related.uses),
                (Factor::Folder, related.folder),
                (Factor::SameName, related.same_name),
                (Factor::Test, flag(candidate.role == Role::Test)),
                (Factor::Document, flag(candidate.role == Role::Document)),
                (Factor::Data, flag(candidate.role == Role::Data)),
            ];
            values.retain(|(_, value)| *value != 0.0);
            RankInput { path: shown, values }
        })
        .collect()
}
