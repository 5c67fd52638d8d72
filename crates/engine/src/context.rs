//! Collects what the model is shown before it starts: the repository's instruction files, a summary of the
//! workspace on the first turn, and what the user decided since the last one.

use prompt::{ContextPack, ContextSource, Instructions, SourceKind};
use protocol::{ChangeSetStatus, EventBody, RuntimeError};
use workspace::{Overlay, WorkspacePath};

use crate::turn::Turn;

/// Read at the root, in this order; all that exist are used.
const INSTRUCTION_FILES: &[&str] = &["AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md"];
/// Bytes of one instruction file that are read at most.
const MAX_INSTRUCTION_BYTES: u64 = 256 * 1024;
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

pub fn collect(turn: &Turn, position: Position) -> Result<Collected, RuntimeError> {
    let mut sources = Vec::new();
    match position {
        Position::FirstTurn => sources.extend(root_listing(turn)),
        Position::LaterTurn => sources.extend(decisions(turn)?),
    }
    Ok(Collected {
        instructions: instructions(turn),
        pack: ContextPack::build(sources, MAX_CONTEXT_TOKENS),
    })
}

fn instructions(turn: &Turn) -> Vec<Instructions> {
    INSTRUCTION_FILES
        .iter()
        .filter_map(|name| {
            let path = turn.rooms.workspace.resolve(name).ok()?;
            let text = read_small(turn, &path)?;
            Some(Instructions {
                path: (*name).to_owned(),
                text,
            })
        })
        .collect()
}

/// A file that is missing, too large or not text is simply not an instruction file.
fn read_small(turn: &Turn, path: &WorkspacePath) -> Option<String> {
    let file = workspace::read_bytes(path, &Overlay::default(), MAX_INSTRUCTION_BYTES).ok()?;
    match workspace::text::detect(&file.bytes) {
        workspace::text::Detected::Text { encoding, .. } => {
            Some(workspace::text::decode(&file.bytes, encoding))
        }
        workspace::text::Detected::Binary { .. } => {
            turn.note(format!(
                "{} is not text and was not used as instructions.",
                path.display()
            ));
            None
        }
    }
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
