//! Which drafted files a command has seen. Build tools compare times: when such a draft is dropped, the real file must
//! look newer than what was built from the draft, or the tool takes the old result for a current one.

use std::collections::BTreeSet;

use protocol::{RuntimeError, SessionId};
use serde::{Deserialize, Serialize};
use store::{Document, Durability};
use workspace::Overlay;

use super::{StageError, copy, view::ChangedAt};
use crate::{ChangeSets, record::StoredPath};

/// Document kind in the store; one for each session.
const SEEN: &str = "staged";

#[derive(Default, PartialEq, Serialize, Deserialize)]
struct Seen {
    paths: BTreeSet<StoredPath>,
}

/// Notes what a command is about to see, and returns when each of it was drafted.
pub(super) fn record(
    sets: &ChangeSets,
    session: &SessionId,
    overlay: &Overlay,
) -> Result<ChangedAt, StageError> {
    settle(sets, session, overlay)?;
    if !overlay.is_empty() {
        let mut seen = load(sets, session)?;
        let before = seen.paths.len();
        seen.paths.extend(overlay.entries.keys().cloned().map(StoredPath));
        if seen.paths.len() != before {
            store(sets, session, &seen)?;
        }
    }
    let state = sets.lock();
    let files = state
        .open
        .get(session)
        .map(|record| record.files.as_slice())
        .unwrap_or_default();
    let changed = files.iter().filter_map(|file| {
        let to = file.effect.to.as_ref()?;
        Some((to.path.0.clone(), file.updated_at))
    });
    Ok(changed.collect())
}

/// Touches the real files whose drafts are gone.
fn settle(sets: &ChangeSets, session: &SessionId, overlay: &Overlay) -> Result<(), StageError> {
    let mut seen = load(sets, session)?;
    let gone: Vec<StoredPath> = seen
        .paths
        .iter()
        .filter(|path| !overlay.entries.contains_key(&path.0))
        .cloned()
        .collect();
    for path in &gone {
        // Not there any more, or not ours to touch: then it is not what a build would look at either.
        let _ = copy::touch(sets.workspace().root(), &path.0);
        seen.paths.remove(path);
    }
    if !gone.is_empty() {
        store(sets, session, &seen)?;
    }
    Ok(())
}

/// For the end of a review: what was rejected is settled at once, since the user may build next.
pub(crate) fn after_review(sets: &ChangeSets, session: &SessionId) -> Result<(), RuntimeError> {
    let overlay = sets.overlay(session)?;
    Ok(settle(sets, session, &overlay)?)
}

fn load(sets: &ChangeSets, session: &SessionId) -> Result<Seen, StageError> {
    let value = sets.store().document(SEEN, session.as_str())?;
    // A record that cannot be read costs a rebuild at most.
    Ok(value
        .and_then(|value| serde_json::from_value(value).ok())
        .unwrap_or_default())
}

fn store(sets: &ChangeSets, session: &SessionId, seen: &Seen) -> Result<(), StageError> {
    let value = match seen.paths.is_empty() {
        true => None,
        false => serde_json::to_value(seen).ok(),
    };
    let document = Document {
        kind: SEEN.to_owned(),
        id: session.as_str().to_owned(),
        session_id: Some(session.clone()),
        value,
    };
    Ok(sets.store().put_documents(&[document], Durability::Normal)?)
}
