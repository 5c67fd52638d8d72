//! Makes room in what is sent to the model: results of tools first, then whole turns, for which a summary of recorded
//! facts stands. What is stored of the conversation stays whole; each condensing is stored beside it, is an item of
//! the timeline, and can be taken back. Must not know how messages travel or how tokens are counted.

mod facts;
mod view;

use std::io::Write;

use prompt::{
    TokenBudgetManager,
    condense::{result_left_out, result_shortened, summary},
};
use protocol::{
    ArtifactRef, ErrorCode, EventBody, ItemId, ItemKind, ItemStatus, RuntimeError, SessionId,
    timeline::{CondensedItem, LeftOut},
    tool::ArtifactKind,
};
use provider::{Block, Role};
use store::{Document, Durability};

use self::view::KIND;
pub use self::{
    facts::{gather, standing},
    view::{Condensed, Condensing, ResultKey},
};
use super::{
    Turn,
    history::{Entry, History},
    message_bytes,
};
use crate::rooms::Rooms;

/// Results of fewer bytes stay: what would stand in their place is not much shorter.
const SMALLEST_RESULT: usize = 600;
/// Lines of the ledger that the timeline's mark names.
const MAX_LEDGER: usize = 100;
/// Bytes that a shortened newest result keeps at least.
const LEAST_SHORTENED: usize = 1_000;

/// Why there must be less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    NearLimit,
    /// The provider refused the request as too long, so its real limit is below what was sent.
    ProviderSaysTooLong,
}

/// Sizes in tokens as estimated.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Of what is sent besides the conversation.
    pub fixed: u64,
    /// What the whole request is to come to.
    pub target: u64,
    /// What it may come to where a person wanted something back.
    pub most: u64,
    /// What the summary may have.
    pub summary: u64,
}

/// Whether the next request is smaller than the last would have been.
pub fn condense(
    turn: &Turn,
    history: &mut History,
    sizes: Sizes,
    cause: Cause,
) -> Result<bool, RuntimeError> {
    let before = size_of(history);
    let conversation = |request: u64| request.saturating_sub(sizes.fixed).max(sizes.summary);
    let (room, most) = (conversation(sizes.target), conversation(sizes.most));
    let mut plan = Plan::new(history);
    plan.leave_out_results(room, Wanted::No);
    plan.leave_out_results(most, Wanted::Yes);
    let room = match plan.holds_wanted() {
        true => most,
        false => room,
    };
    if plan.size() > room {
        plan.cut_turns(turn, room, sizes.summary)?;
    }
    if plan.size() > room {
        plan.shorten_newest(room);
    }
    if plan.ledger.is_empty() || plan.size() >= before {
        return Ok(false);
    }
    let after = plan.size();
    let Plan {
        draft, ledger, text, ..
    } = plan;
    let more = ledger.len().saturating_sub(MAX_LEDGER);
    let item = CondensedItem {
        title: title(&draft, &ledger, sizes.fixed + before, sizes.fixed + after),
        reason: match cause {
            Cause::NearLimit => "The conversation came near to what the model can hold.",
            Cause::ProviderSaysTooLong => {
                "The provider said that the conversation is too long for the model."
            }
        }
        .to_owned(),
        left_out: ledger.into_iter().take(MAX_LEDGER).collect(),
        more: u32::try_from(more).unwrap_or(u32::MAX),
        tokens_before: sizes.fixed + before,
        tokens_after: sizes.fixed + after,
        summary: draft.summary.clone(),
        original: keep_original(turn, &text),
        undone: false,
    };
    let mut item = turn.item(ItemKind::Condensed(item), ItemStatus::Succeeded);
    item.updated_at = Some(item.created_at);
    let condensing = Condensing {
        item: Some(item.clone()),
        ..draft
    };
    put(&turn.rooms, &turn.session.id, &item.id, &condensing)?;
    turn.emit(EventBody::ItemCompleted { item }, Durability::Normal)?;
    history.add_condensing(condensing);
    Ok(true)
}

/// Sends again what one condensing left out, as far as no later one leaves it out too.
pub fn restore(rooms: &Rooms, session: &SessionId, item: &ItemId) -> Result<(), RuntimeError> {
    let stored = rooms.store.session_documents(KIND, session)?;
    let found = stored.into_iter().find(|(id, _)| id == item.as_str());
    let condensing = found.and_then(|(_, value)| serde_json::from_value::<Condensing>(value).ok());
    let Some(Condensing {
        item: Some(mut shown),
        ..
    }) = condensing.clone()
    else {
        return Err(RuntimeError::new(
            ErrorCode::RequestInvalid,
            "There is no such mark of a condensed conversation in this session.",
        )
        .action("Choose one from the session's timeline."));
    };
    if let ItemKind::Condensed(condensed) = &mut shown.kind {
        condensed.undone = true;
    }
    shown.updated_at = Some(rooms.sink.now());
    let condensing = Condensing {
        item: Some(shown.clone()),
        undone: true,
        ..condensing.unwrap_or_default()
    };
    put(rooms, session, item, &condensing)?;
    rooms.sink.emit(
        Some(session),
        EventBody::ItemCompleted { item: shown },
        Durability::Normal,
    )
}

fn put(rooms: &Rooms, session: &SessionId, id: &ItemId, condensing: &Condensing) -> Result<(), RuntimeError> {
    let document = Document {
        kind: KIND.to_owned(),
        id: id.to_string(),
        session_id: Some(session.clone()),
        value: Some(serde_json::to_value(condensing).map_err(RuntimeError::internal)?),
    };
    Ok(rooms.store.put_documents(&[document], Durability::Normal)?)
}

/// The session's record has it all; without this file a person only reads it less easily.
fn keep_original(turn: &Turn, text: &str) -> Option<ArtifactRef> {
    let write = || -> Result<ArtifactRef, RuntimeError> {
        let mut artifact = turn
            .rooms
            .store
            .create_artifact(&turn.session.id, ArtifactKind::PromptTrace)?;
        artifact
            .write_all(text.as_bytes())
            .map_err(RuntimeError::internal)?;
        Ok(artifact.finish()?)
    };
    match write() {
        Ok(artifact) => Some(artifact),
        Err(error) => {
            turn.rooms.log_failure("condense.original", &error);
            None
        }
    }
}

fn title(draft: &Condensing, ledger: &[LeftOut], before: u64, after: u64) -> String {
    let what = match draft.through {
        Some(_) => {
            "earlier parts of the conversation; a summary of what was asked, decided and done stands for them"
                .to_owned()
        }
        None => match ledger.len() {
            1 => "one tool result".to_owned(),
            count => format!("{count} tool results"),
        },
    };
    format!(
        "To make room the model is no longer sent {what}: about {} instead of {} tokens",
        thousands(after),
        thousands(before)
    )
}

fn thousands(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        _ => format!("{}k", (tokens + 500) / 1_000),
    }
}

/// Of the conversation as it is sent.
pub fn size_of(history: &History) -> u64 {
    let bytes: usize = history.messages().iter().map(message_bytes).sum();
    TokenBudgetManager::estimate_bytes(bytes)
}

/// Whether a person took back that something was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Yes,
    No,
}

/// What is to be left out, while it is being decided.
struct Plan<'a> {
    entries: &'a [Entry],
    /// What earlier condensings leave out already.
    before: &'a Condensed,
    draft: Condensing,
    ledger: Vec<LeftOut>,
    /// All that is left out, for a person to read.
    text: String,
}

impl<'a> Plan<'a> {
    fn new(history: &'a History) -> Self {
        Self {
            entries: history.entries(),
            before: history.condensed(),
            draft: Condensing::default(),
            ledger: Vec::new(),
            text: String::new(),
        }
    }

    fn size(&self) -> u64 {
        let view = self.before.with(self.draft.clone()).view(self.entries);
        TokenBudgetManager::estimate_bytes(view.iter().map(message_bytes).sum())
    }

    fn holds_wanted(&self) -> bool {
        self.entries
            .iter()
            .any(|entry| self.before.shows(entry) && self.before.is_wanted(entry.number))
    }

    /// Oldest first; the newest message's stay.
    fn leave_out_results(&mut self, room: u64, wanted: Wanted) {
        let Some((_, older)) = self.entries.split_last() else {
            return;
        };
        let mut candidates = Vec::new();
        for (at, entry) in older.iter().enumerate() {
            if !self.before.shows(entry) || self.before.is_wanted(entry.number) != (wanted == Wanted::Yes) {
                continue;
            }
            for block in &entry.message.blocks {
                if let Block::ToolResult {
                    tool_use_id, content, ..
                } = block
                    && content.len() >= SMALLEST_RESULT
                    && !self.before.leaves_out(entry.number, tool_use_id)
                {
                    candidates.push((at, tool_use_id.as_str(), content.as_str()));
                }
            }
        }
        let mut size = self.size();
        for (at, id, content) in candidates {
            if size <= room {
                break;
            }
            let what = call_words(self.entries, at, id);
            let note = result_left_out(&what, content.len());
            let saved = TokenBudgetManager::estimate_bytes(content.len().saturating_sub(note.len()));
            size = size.saturating_sub(saved);
            self.text.push_str(&format!("## {what}\n\n{content}\n\n"));
            self.ledger.push(LeftOut {
                what,
                tokens: TokenBudgetManager::estimate(content),
            });
            self.draft.results.push(ResultKey {
                number: self.entries[at].number,
                call: id.to_owned(),
                note,
            });
        }
    }

    /// Puts a summary in place of the oldest turns, and of the oldest part of the running one where that must be.
    fn cut_turns(&mut self, turn: &Turn, room: u64, summary_limit: u64) -> Result<(), RuntimeError> {
        let with_results = self.before.with(self.draft.clone());
        let shown: Vec<usize> = (0..self.entries.len())
            .filter(|at| self.before.shows(&self.entries[*at]))
            .collect();
        // What is sent from each place on.
        let mut tail = vec![0; self.entries.len() + 1];
        for at in shown.iter().rev() {
            let message = with_results.shown(&self.entries[*at]);
            tail[*at] = tail_after(&tail, *at) + TokenBudgetManager::estimate_bytes(message_bytes(&message));
        }
        let places: Vec<usize> = shown
            .iter()
            .copied()
            .skip(1)
            .filter(|at| self.may_begin(*at))
            .collect();
        let fits = |at: &&usize| tail[**at] + summary_limit <= room;
        let begins_turn = |at: &&usize| self.entries[**at].message.role == Role::User;
        let cut = places
            .iter()
            .filter(begins_turn)
            .find(fits)
            .or_else(|| places.iter().find(fits))
            .or_else(|| places.last());
        let Some(&cut) = cut else {
            return Ok(());
        };
        let (gone, kept) = self.entries.split_at(cut);
        let open_turn_is_cut = kept
            .iter()
            .all(|entry| !is_request(entry) || entry.turn.as_ref() != Some(&turn.id));
        let facts = gather(&turn.rooms, &turn.session.id, &|id| {
            gone.iter().any(|entry| entry.turn.as_ref() == Some(id)) && (id != &turn.id || open_turn_is_cut)
        })?;
        let (rules, instructions) = self.rules_of(turn, gone);
        self.draft.through = gone.last().map(|entry| entry.number);
        self.draft.summary = summary(&facts, summary_limit) + &rules;
        self.draft.instructions = instructions;
        for (at, entry) in gone
            .iter()
            .enumerate()
            .filter(|(_, entry)| self.before.shows(entry))
        {
            self.text.push_str(&readable(self.entries, at));
            if is_request(entry) {
                let words = entry.message.text();
                let line = words.lines().last().unwrap_or_default();
                let line: String = line.chars().take(80).collect();
                let size = gone[at..]
                    .iter()
                    .enumerate()
                    .take_while(|(next, entry)| *next == 0 || !is_request(entry))
                    .map(|(_, entry)| message_bytes(&entry.message))
                    .sum();
                self.ledger.push(LeftOut {
                    what: format!("“{line}” and what was done for it"),
                    tokens: TokenBudgetManager::estimate_bytes(size),
                });
            }
        }
        if self.ledger.is_empty() {
            self.ledger.push(LeftOut {
                what: "Earlier steps of the running request".to_owned(),
                tokens: TokenBudgetManager::estimate(&self.text),
            });
        }
        Ok(())
    }

    /// A conversation may go on from here: no result without its call, and the record before is another.
    fn may_begin(&self, at: usize) -> bool {
        let entry = &self.entries[at];
        let is_whole = entry.message.role == Role::Assistant || is_request(entry);
        is_whole && self.entries[at - 1].number < entry.number
    }

    /// Instruction files that the turns left out brought in apply as before, read anew from where they stand.
    fn rules_of(&self, turn: &Turn, gone: &[Entry]) -> (String, Vec<super::history::InstructionMark>) {
        let mut paths: Vec<String> = Vec::new();
        let marks = gone
            .iter()
            .filter(|entry| self.before.shows(entry))
            .flat_map(|entry| &entry.marks.instructions);
        for mark in self.before.instructions().iter().chain(marks) {
            if !paths.contains(&mark.path) {
                paths.push(mark.path.clone());
            }
        }
        crate::instructions::again(turn, &paths)
    }

    /// When even the newest results are too much, each keeps its two ends.
    fn shorten_newest(&mut self, room: u64) {
        let Some(newest) = self.entries.last() else {
            return;
        };
        let results: Vec<(&String, &String)> = newest
            .message
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::ToolResult {
                    tool_use_id, content, ..
                } => Some((tool_use_id, content)),
                _ => None,
            })
            .collect();
        let bytes: usize = results.iter().map(|(_, content)| content.len()).sum();
        let others = self
            .size()
            .saturating_sub(TokenBudgetManager::estimate_bytes(bytes));
        let free = TokenBudgetManager::bytes_of(room.saturating_sub(others));
        let share = (free / results.len().max(1)).max(LEAST_SHORTENED);
        let at = self.entries.len() - 1;
        for (id, content) in results.into_iter().filter(|(_, content)| content.len() > share) {
            let note = result_shortened(content, share);
            let what = call_words(self.entries, at, id);
            self.text.push_str(&format!("## {what}\n\n{content}\n\n"));
            self.ledger.push(LeftOut {
                what: format!("the middle of {what}"),
                tokens: TokenBudgetManager::estimate_bytes(content.len() - note.len()),
            });
            self.draft.results.push(ResultKey {
                number: newest.number,
                call: id.clone(),
                note,
            });
        }
    }
}

fn tail_after(tail: &[u64], at: usize) -> u64 {
    tail[at + 1..].iter().copied().find(|size| *size > 0).unwrap_or(0)
}

/// A message that a person wrote.
fn is_request(entry: &Entry) -> bool {
    let is_answer = |block: &Block| matches!(block, Block::ToolResult { .. });
    entry.message.role == Role::User && !entry.message.blocks.iter().any(is_answer)
}

/// "read_file src/app.rs": the call that a result answers.
fn call_words(entries: &[Entry], at: usize, id: &str) -> String {
    let call = entries[..at]
        .iter()
        .rev()
        .find_map(|entry| entry.message.tool_uses().find(|call| call.id == id));
    let Some(call) = call else {
        return "a tool call".to_owned();
    };
    let argument = ["path", "command", "pattern", "query", "from"]
        .iter()
        .find_map(|key| call.input.get(key)?.as_str());
    match argument {
        Some(argument) => {
            let argument: String = argument.chars().take(120).collect();
            format!("{} {}", call.name, argument.replace('\n', " "))
        }
        None => call.name.to_owned(),
    }
}

fn readable(entries: &[Entry], at: usize) -> String {
    let entry = &entries[at];
    let mut text = String::new();
    for block in &entry.message.blocks {
        match (block, entry.message.role) {
            (Block::Text { text: words }, Role::User) => text.push_str(&format!("## User\n\n{words}\n\n")),
            (Block::Text { text: words }, Role::Assistant) => {
                text.push_str(&format!("## Assistant\n\n{words}\n\n"));
            }
            (Block::ToolUse { name, input, .. }, _) => {
                text.push_str(&format!("## Call of {name}\n\n{input}\n\n"));
            }
            (
                Block::ToolResult {
                    tool_use_id, content, ..
                },
                _,
            ) => {
                let what = call_words(entries, at, tool_use_id);
                text.push_str(&format!("## Result of {what}\n\n{content}\n\n"));
            }
            _ => {}
        }
    }
    text
}
