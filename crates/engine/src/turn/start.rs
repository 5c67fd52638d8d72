//! The beginning of a turn: the user's message is recorded, the context collected and the prompt composed.

use protocol::{EventBody, ItemKind, ItemStatus, RuntimeError};
use provider::{Block, Message};
use store::{Durability, log::LogEvent};

use super::{
    Turn, TurnRequest, condense,
    history::{History, Loaded, Marks},
};
use crate::{
    context::{self, Position},
    instructions, knowledge,
    tools::catalogue,
};

/// Records the message durably first: from here on it is never lost.
pub async fn begin(
    turn: &Turn,
    request: &TurnRequest,
) -> Result<(prompt::PromptBundle, History), RuntimeError> {
    turn.emit(
        EventBody::TurnStarted {
            turn_id: turn.id.clone(),
            mode: turn.mode,
            provider: turn.provider.clone(),
            model: turn.model.clone(),
        },
        Durability::Normal,
    )?;
    turn.log(&LogEvent::ProviderSelected {
        session: turn.session.id.clone(),
        turn: turn.id.clone(),
        provider: turn.provider.clone(),
        model: turn.model.clone(),
    });
    let item = ItemKind::UserMessage {
        text: request.text.clone(),
        mode: turn.mode,
    };
    turn.add_item(item, ItemStatus::Succeeded, Durability::Full)?;

    let rooms = &turn.rooms;
    let Loaded { mut history, notes } = History::load(
        &rooms.store,
        &turn.session.id,
        &turn.id,
        rooms.sink.now(),
        rooms.sink.redactor(),
    )?;
    notes.into_iter().for_each(|note| turn.note(note));

    tokio::select! {
        () = turn.cancel.cancelled() => {}
        () = rooms.models.learn_of(&turn.provider, &turn.model) => {}
    }
    let position = if history.is_empty() {
        Position::FirstTurn
    } else {
        Position::LaterTurn
    };
    let collected = context::collect(turn, position, &request.text).await?;
    if !collected.pack.sources.is_empty() {
        knowledge::keep_pack(&rooms.store, &turn.session.id, &turn.id, &collected.pack)?;
    }
    let bundle = prompt::compose(prompt::PromptRequest {
        mode: turn.mode,
        workspace: Some(&rooms.workspace_name),
        platform: std::env::consts::OS,
        instructions: &collected.instructions,
        tools: catalogue::schemas(turn.mode),
        budget: rooms.budget(&turn.provider, &turn.model),
    });
    bundle
        .omitted
        .iter()
        .for_each(|omitted| turn.note(omitted.clone()));
    // Its summary is of then; what waits and runs is of now (X02).
    let standing = match history.condensed().has_summary() {
        true => condense::standing(rooms, &turn.session.id)?.render(),
        false => String::new(),
    };
    if !collected.instructions.is_empty() {
        let paths = collected.instructions.iter().map(|file| file.path.as_str());
        turn.note(instructions::used(paths));
    }
    let named = instructions::paths_in(&request.text);
    let (rules, marks) = match instructions::entered(turn, &named, &history.instructions_in_view()) {
        Some((Block::Text { text }, instructions)) => {
            let marks = Marks {
                instructions,
                ..Marks::default()
            };
            (text + "\n", marks)
        }
        _ => (String::new(), Marks::default()),
    };
    let text = format!("{}{standing}{rules}{}", collected.pack.render(), request.text);
    history.push(
        &rooms.store,
        &turn.session.id,
        &turn.id,
        rooms.sink.now(),
        Message::user(text),
        marks,
    )?;
    turn.session.show(history.reads_in_view());
    Ok((bundle, history))
}
