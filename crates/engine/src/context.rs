//! Collects what the model is shown before it starts: the repository's instruction files, a summary of the
//! workspace on the first turn, and what the user decided since the last one.

use std::{fmt::Write as _, path::PathBuf, time::Duration};

use prompt::{ContextPack, ContextSource, Instructions, SourceKind};
use protocol::{ChangeSetStatus, EventBody, RuntimeError, request::ContextMark};
use workspace::{Overlay, display_path};

use crate::{
    instructions,
    knowledge::{
        self, Known, Need,
        ranking::{Asked, Ranking, rank_files},
    },
    memory,
    turn::Turn,
};

/// Tokens for everything shown before the user's message.
const MAX_CONTEXT_TOKENS: u64 = 2_000;
/// Entries of the root folder that the summary names.
const MAX_ROOT_ENTRIES: usize = 60;

pub struct Collected {
    pub instructions: Vec<Instructions>,
    pub pack: ContextPack,
}

pub enum Position {
    FirstTurn,
    LaterTurn,
}

/// A turn does not wait longer for an index that is still being made.
const INDEX_WAIT: Duration = Duration::from_millis(300);
/// Likely files that are named, and the tokens their parts may add up to: the model reads what it needs of them.
const MAX_LIKELY_FILES: usize = 10;
const LIKELY_FILE_TOKENS: u64 = 8_000;
/// Files with less of the leader's score are not named.
const LEAST_SHARE: f32 = 0.3;

pub async fn collect(turn: &Turn, position: Position, text: &str) -> Result<Collected, RuntimeError> {
    let mut sources = Vec::new();
    match position {
        Position::FirstTurn => {
            sources.extend(root_listing(turn));
            let rooms = turn.rooms.clone();
            let known =
                tokio::task::spawn_blocking(move || rooms.knowledge.current(&rooms, INDEX_WAIT, Need::Files))
                    .await
                    .map_err(RuntimeError::internal)?;
            sources.extend(memory::source(&turn.rooms, &known)?);
            sources.extend(likely_files(turn, &known, text)?);
        }
        Position::LaterTurn => sources.extend(decisions(turn)?),
    }
    Ok(Collected {
        instructions: instructions::of_root(turn),
        pack: ContextPack::build(sources, MAX_CONTEXT_TOKENS),
    })
}

fn root_listing(turn: &Turn) -> Option<ContextSource> {
    let root = turn.rooms.workspace.resolve(".").ok()?;
    let listing = workspace::list::list(
        &turn.rooms.workspace,
        &root,
        &Overlay::default(),
        MAX_ROOT_ENTRIES,
    )
    .ok()?;
    Some(ContextSource {
        kind: SourceKind::RepoSummary,
        label: "Workspace root".to_owned(),
        path: Some(".".to_owned()),
        reason: "the root of the workspace, on the first turn".to_owned(),
        text: crate::tools::listing_text(&listing),
    })
}

/// Where to look first: the pinned files, then those the request may be about, each with the lines that fit. Their
/// text is not sent: the model reads what it needs.
fn likely_files(turn: &Turn, known: &Known, text: &str) -> Result<Option<ContextSource>, RuntimeError> {
    let asked = Asked {
        text,
        edited: edited_files(turn)?,
        marks: knowledge::marks(&turn.rooms.store)?,
        ..Asked::default()
    };
    let ranking: Ranking = rank_files(&turn.rooms.workspace, known, &asked);
    let best = ranking.files.first().map_or(0.0, |file| file.ranked.score);
    let mut lines = String::new();
    for chosen in ranking
        .select(LIKELY_FILE_TOKENS)
        .into_iter()
        .take(MAX_LIKELY_FILES)
    {
        let file = &ranking.files[chosen.input];
        let pinned = file.mark == ContextMark::Pinned;
        if !pinned && file.ranked.score < best * LEAST_SHARE {
            continue;
        }
        let ranges: Vec<String> = chosen
            .ranges
            .iter()
            .map(|(first, last)| format!("{first}-{last}"))
            .collect();
        let word = if pinned { " (pinned by the user)" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{}:{}{word}", display_path(&file.path), ranges.join(","));
    }
    Ok((!lines.is_empty()).then(|| ContextSource {
        kind: SourceKind::SearchResult,
        label: "Files the request may be about, likeliest first, with lines to read".to_owned(),
        path: None,
        reason: "ranked by the request's words, names, paths and past commits".to_owned(),
        text: lines,
    }))
}

fn edited_files(turn: &Turn) -> Result<std::collections::HashSet<PathBuf>, RuntimeError> {
    Ok(turn
        .rooms
        .changes
        .overlay(&turn.session.id)?
        .entries
        .into_keys()
        .collect())
}

/// Events read at a time when a session's end is looked at.
const PAGE: usize = 32;

/// The model must know what became of its proposals, or it would build on changes that are not there.
fn decisions(turn: &Turn) -> Result<Option<ContextSource>, RuntimeError> {
    let mut latest: Vec<(String, String)> = Vec::new();
    let mut before = u64::MAX;
    // Backwards from the end: what a turn costs must not grow with the session.
    'pages: loop {
        let page = turn
            .rooms
            .store
            .session_events_before(&turn.session.id, before, PAGE)?;
        for event in page.events.iter().rev() {
            match &event.body {
                EventBody::TurnCompleted { .. } => break 'pages,
                EventBody::ChangeSetUpdated { change_set } => {
                    let id = change_set.id.to_string();
                    if !latest.iter().any(|(known, _)| *known == id) {
                        latest.push((id, decision_words(change_set)));
                    }
                }
                _ => {}
            }
        }
        if page.next == before {
            break;
        }
        before = page.next;
    }
    if latest.is_empty() {
        return Ok(None);
    }
    let text: Vec<String> = latest.into_iter().rev().map(|(_, words)| words).collect();
    Ok(Some(ContextSource {
        kind: SourceKind::ConversationSummary,
        label: "What the user decided since your last answer".to_owned(),
        path: None,
        reason: "the state of your proposals changed".to_owned(),
        text: text.join("\n"),
    }))
}

fn decision_words(set: &protocol::ChangeSet) -> String {
    let what = match set.status {
        ChangeSetStatus::Accepted => "was accepted and is on disk",
        ChangeSetStatus::PartiallyAccepted => "was partly accepted; the rest still waits",
        ChangeSetStatus::Rejected => "was rejected; the files are as they were before it",
        ChangeSetStatus::Restored => "was undone; the files are as they were before it",
        ChangeSetStatus::Conflicted => "conflicts with the user's own edits and is not on disk",
        ChangeSetStatus::Draft | ChangeSetStatus::Proposed | ChangeSetStatus::PendingReview => {
            "waits for review"
        }
    };
    let files: Vec<&str> = set.files.iter().map(|file| file.path.as_str()).collect();
    format!("Your change to {} {what}.", files.join(", "))
}
