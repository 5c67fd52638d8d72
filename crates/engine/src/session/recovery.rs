//! What a crash left half done (§23.3): cards that spin, a turn without an end, a draft nobody proposed. Runs when
//! the workspace is opened, before anything else, and only ever adds events.

use changeset::ChangeSets;
use protocol::{
    CommandState, ErrorCode, EventBody, EventEnvelope, ItemKind, ItemStatus, RuntimeError, TimelineItem,
    TurnId, Usage, event::TurnOutcome,
};
use serde_json::json;
use store::{Durability, SessionRow, Store};

use super::machine::{self, SessionInput};
use crate::events::{EventSink, Timeline};

const COMMAND_NOTE: &str = "Ended with the app; its effects are not known.";

/// Returns what was mended, in words. Data that has no room left is mended when it has; until then it can be read.
pub fn mend_sessions(
    store: &Store,
    sink: &EventSink,
    changes: &ChangeSets,
) -> Result<Vec<String>, RuntimeError> {
    match mend(store, sink, changes) {
        Err(error) if error.code == ErrorCode::StoreFull => Ok(vec![format!(
            "An interrupted session could not be marked as such. {} {}",
            error.message,
            error.user_action.unwrap_or_default()
        )]),
        mended => mended,
    }
}

fn mend(store: &Store, sink: &EventSink, changes: &ChangeSets) -> Result<Vec<String>, RuntimeError> {
    let mut notes = Vec::new();
    for mut row in store.sessions()? {
        if !row.state.is_active() {
            continue;
        }
        let page = store.session_events(&row.id)?;
        let mended = close_items(sink, &row, Timeline::of(&page.events).into_items())?;
        let proposed = changes.propose(&row.id)?;
        if let Some(change_set) = &proposed {
            let kind = ItemKind::ChangeSet {
                change_set_id: change_set.id.clone(),
                title: change_set.title.clone(),
            };
            sink.emit(
                Some(&row.id),
                EventBody::ChangeSetUpdated {
                    change_set: change_set.clone(),
                },
                Durability::Full,
            )?;
            if let Some(turn) = unfinished_turn(&page.events) {
                let item = TimelineItem {
                    id: protocol::ItemId::mint(),
                    session_id: row.id.clone(),
                    correlation_id: turn,
                    created_at: sink.now(),
                    updated_at: None,
                    status: ItemStatus::Succeeded,
                    visible: true,
                    kind,
                };
                sink.emit(
                    Some(&row.id),
                    EventBody::ItemCompleted { item },
                    Durability::Normal,
                )?;
            }
        }
        let input = match proposed {
            Some(_) => SessionInput::InterruptedWithChanges,
            None => SessionInput::Interrupted,
        };
        let to = machine::next(row.state, input).map_err(RuntimeError::internal)?;
        let body = EventBody::SessionStateChanged {
            from: row.state,
            to,
            reason: Some("The app ended while this session was working.".to_owned()),
        };
        sink.emit(Some(&row.id), body, Durability::Normal)?;
        if let Some(turn_id) = unfinished_turn(&page.events) {
            let body = EventBody::TurnCompleted {
                turn_id,
                outcome: TurnOutcome::Interrupted,
                usage: Usage::default(),
                cost: None,
                duration_ms: 0,
            };
            sink.emit(Some(&row.id), body, Durability::Full)?;
        }
        row.state = to;
        row.settings["interrupted"] = json!(true);
        store.put_session(&row)?;
        let changes_note = if proposed.is_some() {
            "; its changes wait for review"
        } else {
            ""
        };
        notes.push(format!(
            "Session “{}” was interrupted; {mended} unfinished steps were marked{changes_note}.",
            row.title
        ));
    }
    Ok(notes)
}

/// Gives every open card its final state. Returns how many there were.
fn close_items(sink: &EventSink, row: &SessionRow, items: Vec<TimelineItem>) -> Result<usize, RuntimeError> {
    let mut count = 0;
    for mut item in items.into_iter().filter(|item| !item.status.is_final()) {
        item.status = ItemStatus::Cancelled;
        item.updated_at = Some(sink.now());
        match &mut item.kind {
            ItemKind::Command(command) => {
                command.state = CommandState::Cancelled;
                command.notes.push(COMMAND_NOTE.to_owned());
            }
            ItemKind::ToolCall(call) => {
                call.summary = "Interrupted; it may or may not have finished.".to_owned()
            }
            _ => {}
        }
        sink.emit(
            Some(&row.id),
            EventBody::ItemCompleted { item },
            Durability::Normal,
        )?;
        count += 1;
    }
    Ok(count)
}

fn unfinished_turn(events: &[EventEnvelope]) -> Option<TurnId> {
    let mut open = None;
    for event in events {
        match &event.body {
            EventBody::TurnStarted { turn_id, .. } => open = Some(turn_id.clone()),
            EventBody::TurnCompleted { .. } => open = None,
            _ => {}
        }
    }
    open
}
