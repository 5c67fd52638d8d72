//! What is remembered of the repository and of a session (§20). Repository memory is found without a model, from the
//! index and the manifests, kept with the workspace, and renewed entry by entry when what it was read from changes. Session
//! memory is no store of its own: it is what the session's records say. Keys are in neither.

mod manifests;

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use prompt::{ContextSource, SourceKind, condense::RequestEnd};
use protocol::{
    Millis, RuntimeError, SessionId,
    memory::{MemoryClearResult, MemoryEntry, MemoryShowParams, MemoryShowResult},
};
use serde::{Deserialize, Serialize};
use store::{Document, Durability, Store};
use workspace::{Overlay, display_path};

use crate::{
    knowledge::{Known, Need},
    rooms::Rooms,
    turn::condense,
    verification::project::Shown,
};

const KIND: &str = "memory";
/// A person who asks waits for an index that is being made, but not for ever.
const SHOW_WAIT: Duration = Duration::from_secs(20);
const MAX_FOLDERS: usize = 24;
const MAX_MODULES: usize = 30;
const MAX_COMMANDS: usize = 12;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Remembered {
    text: String,
    because: String,
    found_at: Millis,
}

/// What a session's first turn is told of the repository.
pub fn source(rooms: &Rooms, known: &Known) -> Result<Option<ContextSource>, RuntimeError> {
    let entries = refreshed(rooms, known)?;
    let mut text = String::new();
    for (name, entry) in &entries {
        text.push_str(&format!("{name}:\n{}", entry.text));
    }
    Ok((!text.is_empty()).then(|| ContextSource {
        kind: SourceKind::RepoSummary,
        label: "What is known of the repository".to_owned(),
        path: None,
        reason: "found in its files and manifests, on the first turn".to_owned(),
        text,
    }))
}

pub fn show(rooms: Arc<Rooms>, params: &MemoryShowParams) -> Result<MemoryShowResult, RuntimeError> {
    let known = rooms.knowledge.current(&rooms, SHOW_WAIT, Need::Files);
    let repository = refreshed(&rooms, &known)?
        .into_iter()
        .map(|(name, entry)| MemoryEntry {
            name,
            text: entry.text,
            because: entry.because,
            found_at: entry.found_at,
        })
        .collect();
    let session = match &params.session_id {
        Some(id) => of_session(&rooms, id)?,
        None => Vec::new(),
    };
    Ok(MemoryShowResult {
        repository,
        session,
        long_term: rooms.home.settings()?.flags.long_term_memory,
    })
}

pub fn clear(rooms: &Rooms) -> Result<MemoryClearResult, RuntimeError> {
    let stored = rooms.store.documents(KIND)?;
    let forgotten = u32::try_from(stored.len()).unwrap_or(u32::MAX);
    let deletions: Vec<Document> = stored.into_iter().map(|(id, _)| document(&id, None)).collect();
    rooms.store.put_documents(&deletions, Durability::Normal)?;
    Ok(MemoryClearResult { forgotten })
}

/// Brings each entry up to date. What has not changed keeps its date and is not written; what is no longer true of
/// anything goes.
fn refreshed(rooms: &Rooms, known: &Known) -> Result<BTreeMap<String, Remembered>, RuntimeError> {
    let mut entries = stored(&rooms.store)?;
    let mut changes = Vec::new();
    for (name, found) in find(rooms, known) {
        let found = found.map(|(text, because)| Remembered {
            text: rooms.sink.redactor().redact(&text).into_owned(),
            because,
            found_at: rooms.sink.now(),
        });
        match (found, entries.get(name)) {
            (Some(found), Some(before)) if before.text == found.text && before.because == found.because => {}
            (Some(found), _) => {
                let value = serde_json::to_value(&found).map_err(RuntimeError::internal)?;
                changes.push(document(name, Some(value)));
                entries.insert(name.to_owned(), found);
            }
            // The index is still being made, so that it is not known whether this is gone.
            (None, _) if !known.complete => {}
            (None, Some(_)) => {
                changes.push(document(name, None));
                entries.remove(name);
            }
            (None, None) => {}
        }
    }
    if !changes.is_empty() {
        rooms.store.put_documents(&changes, Durability::Normal)?;
    }
    Ok(entries)
}

/// An entry that cannot be read is found anew.
fn stored(store: &Store) -> Result<BTreeMap<String, Remembered>, RuntimeError> {
    let documents = store.documents(KIND)?;
    Ok(documents
        .into_iter()
        .filter_map(|(id, value)| Some((id, serde_json::from_value(value).ok()?)))
        .collect())
}

fn document(id: &str, value: Option<serde_json::Value>) -> Document {
    Document {
        kind: KIND.to_owned(),
        id: id.to_owned(),
        session_id: None,
        value,
    }
}

/// Each entry's name, its text, and what it was read from.
fn find(rooms: &Rooms, known: &Known) -> [(&'static str, Option<(String, String)>); 3] {
    let modules = manifests::modules(&rooms.workspace, known.snapshot.paths());
    let module_lines: Vec<String> = modules
        .iter()
        .take(MAX_MODULES)
        .map(|module| module.line())
        .collect();
    let read_from: Vec<&str> = modules
        .iter()
        .map(|module| module.manifest.as_str())
        .take(MAX_MODULES)
        .collect();
    [
        ("Commands", commands(rooms, &modules)),
        (
            "Modules",
            (!module_lines.is_empty()).then(|| (lines(&module_lines), read_from.join(", "))),
        ),
        ("Structure", structure(known)),
    ]
}

fn commands(rooms: &Rooms, modules: &[manifests::Module]) -> Option<(String, String)> {
    let shown = Shown {
        workspace: &rooms.workspace,
        overlay: &Overlay::default(),
    };
    let mut found: Vec<String> = modules
        .iter()
        .filter(|module| module.is_at_root())
        .filter_map(|module| Some(format!("build: `{}`", module.build.as_ref()?)))
        .collect();
    for check in shown.checks(&[]) {
        let place = match check.folder.is_empty() {
            true => String::new(),
            false => format!(" in {}", check.folder),
        };
        let what = match check.kind {
            checks::Kind::Test => "test",
            checks::Kind::Types => "check types",
            checks::Kind::Lint => "lint",
        };
        found.push(format!("{what}: `{}`{place}", check.command));
    }
    found.truncate(MAX_COMMANDS);
    (!found.is_empty()).then(|| (lines(&found), "the manifests of the workspace".to_owned()))
}

/// Folders with the most files, two levels deep, and what is in them.
fn structure(known: &Known) -> Option<(String, String)> {
    let mut folders: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for path in known.snapshot.paths() {
        let parts: Vec<&Path> = path.ancestors().skip(1).collect();
        // From the root: "", "src", "src/api".
        let depth = parts.len().min(3);
        let Some(folder) = parts.get(parts.len() - depth) else {
            continue;
        };
        let ending = path
            .extension()
            .map_or_else(String::new, |ending| ending.to_string_lossy().into_owned());
        *folders
            .entry(display_path(folder))
            .or_default()
            .entry(ending)
            .or_default() += 1;
    }
    let mut sized: Vec<(String, usize, String)> = folders
        .into_iter()
        .map(|(folder, endings)| {
            let mut endings: Vec<(String, usize)> = endings.into_iter().collect();
            endings.sort_by_key(|(ending, count)| (std::cmp::Reverse(*count), ending.clone()));
            let most: Vec<String> = endings
                .iter()
                .filter(|(ending, _)| !ending.is_empty())
                .take(2)
                .map(|(ending, _)| format!(".{ending}"))
                .collect();
            let count = endings.iter().map(|(_, count)| count).sum();
            (folder, count, most.join(", "))
        })
        .collect();
    sized.sort_by_key(|(folder, count, _)| (std::cmp::Reverse(*count), folder.clone()));
    sized.truncate(MAX_FOLDERS);
    sized.sort();
    let found: Vec<String> = sized
        .into_iter()
        .map(|(folder, count, endings)| {
            let files = if count == 1 { "file" } else { "files" };
            match endings.is_empty() {
                true => format!("{folder}: {count} {files}"),
                false => format!("{folder}: {count} {files}, mostly {endings}"),
            }
        })
        .collect();
    (!found.is_empty()).then(|| (lines(&found), "the files of the workspace".to_owned()))
}

fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("- {line}\n")).collect()
}

/// What the records say: nothing is kept that is not there.
fn of_session(rooms: &Rooms, id: &SessionId) -> Result<Vec<MemoryEntry>, RuntimeError> {
    let found_at = rooms.sink.now();
    let facts = condense::gather(rooms, id, &|_| true)?;
    let requests = facts.requests.into_iter().map(|request| match request.end {
        RequestEnd::Open => format!("“{}” (not ended)", request.words),
        RequestEnd::Ended(end) => format!("“{}” ({end})", request.words),
    });
    let standing = facts.standing;
    let parts = [
        ("Requests", requests.collect::<Vec<_>>()),
        ("Decisions", facts.decisions),
        ("Files", facts.files),
        ("Commands", facts.commands),
        ("Plan", standing.plan),
        ("Waiting for review", standing.reviews),
        ("Running", standing.running),
    ];
    Ok(parts
        .into_iter()
        .filter(|(_, found)| !found.is_empty())
        .map(|(name, found)| MemoryEntry {
            name: name.to_owned(),
            text: lines(&found),
            because: "the session's records".to_owned(),
            found_at,
        })
        .collect())
}
