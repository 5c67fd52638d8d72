//! Folds events into the timeline a person sees. Pure; the screen's reducer gives the same result from the same
//! events (shared fixtures). Replaying a log gives the same timeline byte for byte.

use std::collections::HashMap;

use protocol::{EventBody, EventEnvelope, ItemDelta, ItemId, ItemKind, TimelineItem};

/// Bytes of a running command's output that the timeline holds; older text gives way and is counted.
pub const RUNNING_OUTPUT_LIMIT: usize = 64 * 1024;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    items: Vec<TimelineItem>,
    /// Where each item is in `items`.
    places: HashMap<ItemId, usize>,
}

impl Timeline {
    pub fn of<'a>(events: impl IntoIterator<Item = &'a EventEnvelope>) -> Self {
        let mut timeline = Self::default();
        for event in events {
            timeline.apply(event);
        }
        timeline
    }

    pub fn items(&self) -> &[TimelineItem] {
        &self.items
    }

    pub fn into_items(self) -> Vec<TimelineItem> {
        self.items
    }

    /// Items keep the place where they started; an event about an item that never started adds it at the end,
    /// so that a damaged record costs only itself.
    pub fn apply(&mut self, event: &EventEnvelope) {
        match &event.body {
            EventBody::ItemStarted { item } | EventBody::ItemCompleted { item } => {
                match self.find(&item.id) {
                    Some(known) => *known = item.clone(),
                    None => {
                        self.places.insert(item.id.clone(), self.items.len());
                        self.items.push(item.clone());
                    }
                }
            }
            EventBody::ItemDelta { item_id, delta } => {
                if let Some(item) = self.find(item_id) {
                    item.updated_at = Some(event.at);
                    apply_delta(&mut item.kind, delta);
                }
            }
            EventBody::SessionStateChanged { .. }
            | EventBody::SessionCreated { .. }
            | EventBody::SessionRenamed { .. }
            | EventBody::TurnStarted { .. }
            | EventBody::TurnCompleted { .. }
            | EventBody::ChangeSetUpdated { .. }
            | EventBody::UsageUpdated { .. }
            | EventBody::Recovered { .. } => {}
        }
    }

    fn find(&mut self, id: &ItemId) -> Option<&mut TimelineItem> {
        self.items.get_mut(*self.places.get(id)?)
    }
}

fn apply_delta(kind: &mut ItemKind, delta: &ItemDelta) {
    match (kind, delta) {
        (
            ItemKind::AssistantMessage { text, .. } | ItemKind::Thinking { text },
            ItemDelta::Text { text: more },
        ) => {
            text.push_str(more);
        }
        (ItemKind::Command(command), ItemDelta::Output { text }) => {
            command.output.push_str(text);
            if command.output.len() > RUNNING_OUTPUT_LIMIT {
                let mut cut = command.output.len() - RUNNING_OUTPUT_LIMIT;
                while !command.output.is_char_boundary(cut) {
                    cut += 1;
                }
                command.output.drain(..cut);
                command.omitted_bytes += cut as u64;
            }
        }
        (ItemKind::Command(command), ItemDelta::Command { state }) => command.state = *state,
        (ItemKind::Command(command), ItemDelta::Notes { notes }) => command.notes.clone_from(notes),
        _ => {}
    }
}
