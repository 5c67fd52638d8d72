//! Results of checks, each bound to the files it was seen on. Keeps the newest of each check of a session, and says when
//! one no longer holds and when it does again.

use protocol::{
    EventBody, ItemId, ItemKind, ItemStatus, RuntimeError, SessionId, TimelineItem, checks::VerificationItem,
};
use store::{Document, Durability};

use super::fingerprint::TreeName;
use crate::rooms::Rooms;

/// Document kind; the id is the item's.
const KIND: &str = "verification";

/// A result that is kept.
#[derive(Clone, Debug)]
pub struct Evidence {
    item: TimelineItem,
}

impl Evidence {
    fn of(item: TimelineItem) -> Option<Self> {
        matches!(item.kind, ItemKind::Verification(_)).then_some(Self { item })
    }

    pub fn result(&self) -> Option<&VerificationItem> {
        match &self.item.kind {
            ItemKind::Verification(result) => Some(result),
            _ => None,
        }
    }

    pub fn passed(&self) -> bool {
        self.item.status == ItemStatus::Succeeded
    }
}

/// What has been seen in a session, oldest first.
pub fn of_session(rooms: &Rooms, session: &SessionId) -> Result<Vec<Evidence>, RuntimeError> {
    let stored = rooms.store.session_documents(KIND, session)?;
    Ok(stored
        .into_iter()
        .filter_map(|(_, value)| serde_json::from_value::<TimelineItem>(value).ok())
        .filter_map(Evidence::of)
        .collect())
}

/// Keeps a result that has just been shown, in place of an earlier one of the same check.
pub fn keep(rooms: &Rooms, item: &TimelineItem) -> Result<(), RuntimeError> {
    let ItemKind::Verification(new) = &item.kind else {
        return Ok(());
    };
    let mut documents = vec![document(&item.id, &item.session_id, Some(item))];
    for earlier in of_session(rooms, &item.session_id)? {
        let Some(old) = earlier.result() else { continue };
        if old.cwd == new.cwd
            && checks::is_same_check(&old.command, &new.command)
            && earlier.item.id != item.id
        {
            documents.push(document(&earlier.item.id, &item.session_id, None));
            if old.stale.is_none() {
                tell(rooms, &earlier.item, Some("It was run again since.".to_owned()))?;
            }
        }
    }
    Ok(rooms.store.put_documents(&documents, Durability::Normal)?)
}

/// Tells of each result whether it holds for the files as they are, where that changed.
pub fn compare(rooms: &Rooms, session: &SessionId, now: &TreeName) -> Result<(), RuntimeError> {
    for evidence in of_session(rooms, session)? {
        let Some(result) = evidence.result() else { continue };
        let stale = match result.tree_hash == now.hash {
            true => None,
            // The first reason stays: it is why the result ended.
            false if result.stale.is_some() => continue,
            false => Some(why_stale(&now.changed_on_disk)),
        };
        if stale != result.stale {
            let item = tell(rooms, &evidence.item, stale)?;
            let kept = document(&item.id, session, Some(&item));
            rooms.store.put_documents(&[kept], Durability::Normal)?;
        }
    }
    Ok(())
}

fn why_stale(changed_on_disk: &[String]) -> String {
    match changed_on_disk {
        [] => "The files are others now.".to_owned(),
        [only] => format!("{only} changed since."),
        [first, more @ ..] => format!("{first} and {} more changed since.", more.len()),
    }
}

/// The same item again, with what is to be known of it now.
fn tell(rooms: &Rooms, item: &TimelineItem, stale: Option<String>) -> Result<TimelineItem, RuntimeError> {
    let mut item = item.clone();
    item.updated_at = Some(rooms.sink.now());
    if let ItemKind::Verification(result) = &mut item.kind {
        result.stale = stale;
    }
    let body = EventBody::ItemCompleted { item: item.clone() };
    rooms
        .sink
        .emit(Some(&item.session_id), body, Durability::Normal)?;
    Ok(item)
}

fn document(id: &ItemId, session: &SessionId, item: Option<&TimelineItem>) -> Document {
    Document {
        kind: KIND.to_owned(),
        id: id.to_string(),
        session_id: Some(session.clone()),
        value: item.and_then(|item| serde_json::to_value(item).ok()),
    }
}
