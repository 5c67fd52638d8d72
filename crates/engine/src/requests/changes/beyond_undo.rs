//! What an undo cannot take back: whatever commands of the same turns changed by themselves. Only edits are recorded,
//! so nothing more can be said than which commands ran; those that only read are left out.

use std::collections::HashSet;

use process::{
    CommandEnvironment,
    policy::{self, CommandClass, PolicyContext},
};
use protocol::{
    ChangeSet, CommandState, EventBody, EventEnvelope, ItemDelta, ItemId, ItemKind, Mode, RuntimeError,
    TurnId, timeline::CommandItem,
};

use crate::{Engine, Timeline};

/// Commands that are named, and characters of each that are shown.
const NAMED: usize = 5;
const SHOWN_CHARS: usize = 120;

/// One line about the commands of the turns that made a change set; nothing where none could have changed anything.
pub fn note(engine: &Engine, set: &ChangeSet) -> Result<Option<String>, RuntimeError> {
    let events = engine.rooms().store.session_events(&set.session_id)?.events;
    let timeline = Timeline::of(&events);
    let turns: HashSet<&TurnId> = (timeline.items().iter())
        .filter(|item| match &item.kind {
            ItemKind::ToolCall(call) => set.source_tool_call_ids.contains(&call.tool_call_id),
            ItemKind::Command(command) => {
                let line = Some(&command.command);
                set.files.iter().any(|file| file.by_command.as_ref() == line)
            }
            _ => false,
        })
        .map(|item| &item.correlation_id)
        .collect();
    let ran = ran(&events);
    let commands: Vec<&str> = (timeline.items().iter())
        .filter(|item| turns.contains(&item.correlation_id) && ran.contains(&item.id))
        .filter_map(|item| match &item.kind {
            ItemKind::Command(command) if may_change(engine, command) => Some(command.command.as_str()),
            _ => None,
        })
        .collect();
    if commands.is_empty() {
        return Ok(None);
    }
    let mut named: Vec<String> = commands.iter().take(NAMED).copied().map(shown).collect();
    if let Some(more) = commands.len().checked_sub(NAMED).filter(|more| *more > 0) {
        named.push(format!("{more} more"));
    }
    Ok(Some(format!(
        "Not taken back: what commands of the same turn may have changed by themselves: {}.",
        named.join(", ")
    )))
}

/// Cards of commands that really started; refused ones have no effect.
fn ran(events: &[EventEnvelope]) -> HashSet<&ItemId> {
    let running = ItemDelta::Command {
        state: CommandState::Running,
    };
    (events.iter())
        .filter_map(|event| match &event.body {
            EventBody::ItemDelta { item_id, delta } if *delta == running => Some(item_id),
            _ => None,
        })
        .collect()
}

fn may_change(engine: &Engine, command: &CommandItem) -> bool {
    let root = engine.rooms().workspace.root();
    let environment = CommandEnvironment::filtered(engine.rooms().environment.variables());
    let context = PolicyContext::new(root, root.join(&command.cwd))
        .reach(Mode::Agent)
        .environment(&environment);
    policy::judge(&command.command, &context).class() != CommandClass::ReadOnly
}

fn shown(command: &str) -> String {
    let mut text: String = command.chars().take(SHOWN_CHARS).collect();
    if text.len() < command.len() {
        text.push('…');
    }
    format!("`{text}`")
}
