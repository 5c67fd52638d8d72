//! What the model would be shown for a request, and why; the user's marks on files.

use std::{path::Path, time::Duration};

use protocol::{
    ErrorCode, RuntimeError,
    request::{
        ContextExplainParams, ContextExplainResult, ContextFile, ContextIndexState, ContextMark,
        ContextMarkParams, ContextMarksResult, ContextPackParams, ContextPackResult, ContextPackSource,
        ContextRankParams, ContextRankResult, ContextRanked, ContextScorePart, Done,
    },
};
use workspace::display_path;

use crate::{
    Engine,
    knowledge::{
        self, Known, Need,
        ranking::{Asked, RankedFile, Ranking, rank_files},
    },
};

/// A person or a program asks for this alone and would rather wait than be told half.
const LONGEST_WAIT: Duration = Duration::from_secs(120);
const USUAL_TOKENS: u64 = 8_000;
const MOST_TOKENS: u64 = 100_000;
/// Omitted files that are listed.
const MAX_OMITTED: usize = 60;
const MAX_TESTS: usize = 20;
const USUAL_PATHS: u32 = 100;

pub fn explain(engine: &Engine, params: &ContextExplainParams) -> Result<ContextExplainResult, RuntimeError> {
    let known = known(engine, &params.request)?;
    let max_tokens = params.max_tokens.unwrap_or(USUAL_TOKENS).min(MOST_TOKENS);
    let ranking = ranking(
        engine,
        &known,
        &params.request,
        params.active_file.as_deref(),
        &params.open_files,
    )?;
    let chosen = ranking.select(max_tokens);
    let mut result = ContextExplainResult {
        included: Vec::new(),
        omitted: Vec::new(),
        tests: Vec::new(),
        max_tokens,
        estimated_tokens: chosen.iter().map(|one| one.estimated_tokens).sum(),
        index: index_state(&known),
    };
    for one in &chosen {
        let file = &ranking.files[one.input];
        result.included.push(shown(
            file,
            file.ranked.reason(),
            one.ranges.clone(),
            one.estimated_tokens,
        ));
    }
    for (at, file) in ranking.files.iter().enumerate() {
        if chosen.iter().any(|one| one.input == at) {
            continue;
        }
        let tokens = file.estimated_tokens();
        if file.may_be_shown() || file.mark == ContextMark::Excluded {
            if result.omitted.len() < MAX_OMITTED {
                let reason = match file.mark {
                    ContextMark::Excluded => "you excluded it".to_owned(),
                    _ => format!(
                        "files before it use the {max_tokens} tokens; {}",
                        file.ranked.reason()
                    ),
                };
                result.omitted.push(shown(file, reason, Vec::new(), tokens));
            }
        } else if result.tests.len() < MAX_TESTS {
            result
                .tests
                .push(shown(file, file.ranked.reason(), Vec::new(), tokens));
        }
    }
    Ok(result)
}

pub fn rank(engine: &Engine, params: &ContextRankParams) -> Result<ContextRankResult, RuntimeError> {
    let known = known(engine, &params.request)?;
    let max_tokens = params.max_tokens.unwrap_or(USUAL_TOKENS).min(MOST_TOKENS);
    let ranking = ranking(engine, &known, &params.request, None, &[])?;
    let chosen = ranking.select(max_tokens);
    let limit = params.limit.unwrap_or(USUAL_PATHS) as usize;
    let shown = chosen.iter().map(|one| (one.input, one.ranges.clone()));
    let others = (0..ranking.files.len())
        .filter(|at| !chosen.iter().any(|one| one.input == *at))
        .map(|at| (at, Vec::new()));
    let mut files: Vec<(usize, Vec<(u32, u32)>)> = shown.chain(others).collect();
    files.sort_by_key(|(at, _)| *at);
    files.truncate(limit);
    Ok(ContextRankResult {
        files: files
            .into_iter()
            .map(|(at, ranges)| ContextRanked {
                path: display_path(&ranking.files[at].path),
                score: ranking.files[at].ranked.score,
                ranges,
            })
            .collect(),
    })
}

pub fn pack(engine: &Engine, params: &ContextPackParams) -> Result<ContextPackResult, RuntimeError> {
    let pack = knowledge::pack_of(&engine.rooms().store, &params.turn_id)?.ok_or_else(|| {
        RuntimeError::new(
            ErrorCode::RequestInvalid,
            format!("There is no record for {}.", params.turn_id),
        )
        .action("vibe-coder sessions show names the turns of a session.")
    })?;
    let kind = |kind: prompt::SourceKind| serde_name(&kind);
    Ok(ContextPackResult {
        shown: pack
            .sources
            .into_iter()
            .map(|source| ContextPackSource {
                kind: kind(source.kind),
                label: source.label,
                path: source.path,
                reason: source.reason,
                estimated_tokens: prompt::TokenBudgetManager::estimate(&source.text),
                text: source.text,
            })
            .collect(),
        omitted: pack
            .omitted
            .into_iter()
            .map(|omitted| ContextPackSource {
                kind: kind(omitted.kind),
                label: omitted.label,
                path: None,
                reason: omitted.reason,
                estimated_tokens: omitted.estimated_tokens,
                text: String::new(),
            })
            .collect(),
        estimated_tokens: pack.estimated_tokens,
        max_tokens: pack.max_tokens,
    })
}

pub fn mark(engine: &Engine, params: &ContextMarkParams) -> Result<Done, RuntimeError> {
    let rooms = engine.rooms();
    // A mark on a file that is gone can still be taken away.
    let path = match params.mark {
        ContextMark::None => params.path.clone(),
        _ => rooms.workspace.resolve(&params.path)?.display(),
    };
    knowledge::set_mark(&rooms.store, &path, params.mark)?;
    Ok(Done {})
}

pub fn marks(engine: &Engine) -> Result<ContextMarksResult, RuntimeError> {
    let marks = knowledge::marks(&engine.rooms().store)?;
    let with = |wanted: ContextMark| -> Vec<String> {
        marks
            .iter()
            .filter(|(_, mark)| *mark == wanted)
            .map(|(path, _)| path.clone())
            .collect()
    };
    Ok(ContextMarksResult {
        pinned: with(ContextMark::Pinned),
        excluded: with(ContextMark::Excluded),
    })
}

fn known(engine: &Engine, request: &str) -> Result<Known, RuntimeError> {
    if request.trim().is_empty() {
        return Err(
            RuntimeError::new(ErrorCode::RequestInvalid, "The request is empty.")
                .action("Say in words what you would ask for."),
        );
    }
    let rooms = engine.rooms();
    Ok(rooms.knowledge.current(rooms, LONGEST_WAIT, Need::AlsoCommits))
}

fn ranking(
    engine: &Engine,
    known: &Known,
    text: &str,
    active_file: Option<&str>,
    open_files: &[String],
) -> Result<Ranking, RuntimeError> {
    let rooms = engine.rooms();
    let asked = Asked {
        text,
        active_file: active_file.map(Path::new),
        open_files: open_files.iter().map(Path::new).collect(),
        marks: knowledge::marks(&rooms.store)?,
        ..Asked::default()
    };
    Ok(rank_files(&rooms.workspace, known, &asked))
}

fn shown(file: &RankedFile, reason: String, ranges: Vec<(u32, u32)>, estimated_tokens: u64) -> ContextFile {
    ContextFile {
        path: display_path(&file.path),
        score: file.ranked.score,
        reason,
        parts: file
            .ranked
            .parts
            .iter()
            .map(|part| ContextScorePart {
                factor: serde_name(&part.factor),
                words: part.factor.in_words().to_owned(),
                score: part.score,
            })
            .collect(),
        ranges,
        estimated_tokens,
        mark: file.mark,
    }
}

fn serde_name(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

fn index_state(known: &Known) -> ContextIndexState {
    let mut left_out = known.snapshot.skipped.in_words();
    let mut reasons: Vec<(index::Coverage, Vec<String>)> = Vec::new();
    for (path, coverage) in known.snapshot.left_out() {
        match reasons.iter_mut().find(|(known, _)| *known == coverage) {
            Some((_, paths)) => paths.push(display_path(path)),
            None => reasons.push((coverage, vec![display_path(path)])),
        }
    }
    for (coverage, paths) in reasons {
        let examples: Vec<&str> = paths.iter().take(3).map(String::as_str).collect();
        let more = if paths.len() > examples.len() { ", …" } else { "" };
        let (count, are) = match paths.len() {
            1 => ("1 file".to_owned(), "is"),
            many => (format!("{many} files"), "are"),
        };
        left_out.push(format!(
            "{count} {are} {} ({}{more})",
            coverage.in_words(),
            examples.join(", ")
        ));
    }
    left_out.extend(known.problem.clone());
    ContextIndexState {
        files: known.snapshot.len() as u64,
        complete: known.complete,
        left_out,
    }
}
