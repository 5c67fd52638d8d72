//! The model-side history of a session: what is stored, and the repair that keeps it always sendable. Every tool
//! call has exactly one result, whatever interrupted it.

use std::collections::HashSet;

use protocol::{ContentHash, Millis, RuntimeError, SessionId, TurnId};
use provider::{Block, Message, Role};
use serde::{Deserialize, Serialize};
use store::{Redactor, Store};

use super::condense::{Condensed, Condensing};

/// What a call that was cut off is answered with.
pub const INTERRUPTED: &str = "Interrupted before it finished. Its effects are not known; look at the current state before repeating it.";
/// What stands in place of a result that a provider would not read (X04).
pub const LEFT_OUT: &str = "The call was made, but its result was left out: the model's provider did not accept it. Look at something else, or at less of it.";
/// What a call that never started is answered with.
pub const NOT_RUN: &str = "Not run: the user stopped the turn before this call started.";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    turn_id: TurnId,
    at: Millis,
    message: Message,
    /// Whether it stands in place of the record before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    replaces: bool,
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    marks: Marks,
}

/// What a message brought in that need not be brought in again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Marks {
    /// Files that its tool results show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<ReadMark>,
    /// Instruction files that stand in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<InstructionMark>,
}

impl Marks {
    fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.instructions.is_empty()
    }
}

/// Lines of a file's version, and the call whose result shows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadMark {
    pub call: String,
    pub path: String,
    pub first_line: u64,
    pub last_line: u64,
    pub content_hash: ContentHash,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstructionMark {
    pub path: String,
    pub content_hash: ContentHash,
}

/// A message with the number of its record. One that only repairs another has the number of the one it stands before.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub number: u64,
    pub turn: Option<TurnId>,
    pub message: Message,
    pub marks: Marks,
}

impl Entry {
    fn repair(number: u64, blocks: Vec<Block>) -> Self {
        Self {
            number,
            turn: None,
            message: Message::from_user(blocks),
            marks: Marks::default(),
        }
    }
}

/// Messages of one session, in order, mirrored in memory while the session is live. Free of keys: what is stored and
/// what is sent are the same, but for what was condensed.
#[derive(Debug, Default)]
pub struct History {
    entries: Vec<Entry>,
    condensed: Condensed,
    redactor: Redactor,
}

pub struct Loaded {
    pub history: History,
    /// Damaged records that were left out, in words.
    pub notes: Vec<String>,
}

impl History {
    /// Reads what is stored, leaves damaged records out, and answers calls that lost their result.
    pub fn load(
        store: &Store,
        session: &SessionId,
        turn: &TurnId,
        now: Millis,
        redactor: &Redactor,
    ) -> Result<Loaded, RuntimeError> {
        let page = store.messages(session)?;
        let mut notes: Vec<String> = page.damaged.iter().map(|record| record.to_string()).collect();
        let mut entries: Vec<Entry> = Vec::with_capacity(page.records.len());
        for (number, value) in page.records {
            match Record::deserialize(value) {
                Ok(record) => {
                    // The record before may be a damaged one that is not here; then there is nothing to replace.
                    let replaced = match record.replaces {
                        true => entries.pop_if(|before| before.message.role == record.message.role),
                        false => None,
                    };
                    entries.push(Entry {
                        // It keeps its place, which a condensing may name.
                        number: replaced.map_or(number, |before| before.number),
                        turn: Some(record.turn_id),
                        message: record.message,
                        marks: record.marks,
                    });
                }
                Err(error) => notes.push(format!(
                    "Message {number} could not be read and was left out: {error}"
                )),
            }
        }
        let mut history = Self {
            entries: drop_orphan_results(entries),
            condensed: Condensed::load(store, session)?,
            redactor: redactor.clone(),
        };
        let missing = unanswered_at_end(&history.entries);
        if !missing.is_empty() {
            notes.push(format!(
                "{} of the last turn had no result; it is recorded as interrupted, its effects are not known.",
                match missing.len() {
                    1 => "A tool call".to_owned(),
                    count => format!("Each of {count} tool calls"),
                }
            ));
            let mut blocks: Vec<Block> = missing.into_iter().map(|id| result(id, INTERRUPTED)).collect();
            match history
                .entries
                .last_mut()
                .filter(|last| last.message.role == Role::User)
            {
                None => history.push(
                    store,
                    session,
                    turn,
                    now,
                    Message::from_user(blocks),
                    Marks::default(),
                )?,
                Some(partly) => {
                    blocks.append(&mut partly.message.blocks);
                    partly.message.blocks = blocks;
                    history.store_last(store, session, turn, now)?;
                }
            }
        }
        history.entries = answer_inner_calls(std::mem::take(&mut history.entries));
        Ok(Loaded { history, notes })
    }

    /// As they are sent: what was condensed is left out.
    pub fn messages(&self) -> Vec<Message> {
        self.condensed.view(&self.entries)
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn condensed(&self) -> &Condensed {
        &self.condensed
    }

    pub fn add_condensing(&mut self, condensing: Condensing) {
        self.condensed.add(condensing);
    }

    /// File versions that the model still has before it.
    pub fn reads_in_view(&self) -> Vec<ReadMark> {
        let mut reads = Vec::new();
        for entry in self.entries.iter().filter(|entry| self.condensed.shows(entry)) {
            let kept = |read: &&ReadMark| !self.condensed.leaves_out(entry.number, &read.call);
            reads.extend(entry.marks.reads.iter().filter(kept).cloned());
        }
        reads
    }

    /// Instruction files that the model still has before it, the newest version of each last.
    pub fn instructions_in_view(&self) -> Vec<InstructionMark> {
        let mut marks = self.condensed.instructions().to_vec();
        for entry in self.entries.iter().filter(|entry| self.condensed.shows(entry)) {
            marks.extend(entry.marks.instructions.iter().cloned());
        }
        marks
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Stores a message before anything is done with it.
    pub fn push(
        &mut self,
        store: &Store,
        session: &SessionId,
        turn: &TurnId,
        at: Millis,
        message: Message,
        marks: Marks,
    ) -> Result<(), RuntimeError> {
        if message.blocks.is_empty() {
            return Ok(());
        }
        let record = Record {
            turn_id: turn.clone(),
            at,
            message: without_keys(message, &self.redactor)?,
            replaces: false,
            marks,
        };
        let value = serde_json::to_value(&record).map_err(RuntimeError::internal)?;
        let number = store.push_message(session, &value)?;
        self.entries.push(Entry {
            number,
            turn: Some(record.turn_id),
            message: record.message,
            marks: record.marks,
        });
        Ok(())
    }

    /// Takes what the newest tool calls brought in out of the message that holds it, in memory only. Returns the
    /// message as it was, or nothing when there are no results that could be left out.
    pub fn leave_out_results(&mut self) -> Option<Message> {
        let last = &mut self.entries.last_mut()?.message;
        let original = last.clone();
        for block in &mut last.blocks {
            if let Block::ToolResult { content, .. } = block
                && content != LEFT_OUT
            {
                LEFT_OUT.clone_into(content);
            }
        }
        (*last != original).then_some(original)
    }

    /// Puts a message back that was changed in memory only.
    pub fn restore_last(&mut self, original: Message) {
        if let Some(last) = self.entries.last_mut() {
            last.message = original;
        }
    }

    /// Stores the newest message as it is now in place of what is stored of it.
    pub fn store_last(
        &self,
        store: &Store,
        session: &SessionId,
        turn: &TurnId,
        at: Millis,
    ) -> Result<(), RuntimeError> {
        let Some(last) = self.entries.last() else {
            return Ok(());
        };
        let record = Record {
            turn_id: last.turn.clone().unwrap_or_else(|| turn.clone()),
            at,
            message: last.message.clone(),
            replaces: true,
            marks: last.marks.clone(),
        };
        let value = serde_json::to_value(&record).map_err(RuntimeError::internal)?;
        store.push_message(session, &value)?;
        Ok(())
    }
}

/// A key that a file, a command or the user brought in is no part of the conversation.
fn without_keys(message: Message, redactor: &Redactor) -> Result<Message, RuntimeError> {
    if !redactor.has_values() {
        return Ok(message);
    }
    let mut value = serde_json::to_value(&message).map_err(RuntimeError::internal)?;
    if !redactor.redact_values_in_json(&mut value) {
        return Ok(message);
    }
    let mut clean = Message::deserialize(value).map_err(RuntimeError::internal)?;
    // The provider's signature is for the text as it was.
    clean.blocks.retain(|block| match block {
        Block::Thinking { .. } | Block::RedactedThinking { .. } => message.blocks.contains(block),
        _ => true,
    });
    Ok(clean)
}

pub fn result(tool_use_id: String, content: &str) -> Block {
    Block::ToolResult {
        tool_use_id,
        content: content.to_owned(),
        is_error: true,
    }
}

fn answered(message: &Message) -> HashSet<&str> {
    message
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::ToolResult { tool_use_id, .. } => Some(tool_use_id.as_str()),
            _ => None,
        })
        .collect()
}

/// Calls of the last answer without a result, whether others of it have one or not.
fn unanswered_at_end(entries: &[Entry]) -> Vec<String> {
    let (asked, given) = match entries {
        [.., asked, given] if given.message.role == Role::User => (asked, answered(&given.message)),
        [.., asked] => (asked, HashSet::new()),
        [] => return Vec::new(),
    };
    if asked.message.role != Role::Assistant {
        return Vec::new();
    }
    asked
        .message
        .tool_uses()
        .filter(|call| !given.contains(call.id))
        .map(|call| call.id.to_owned())
        .collect()
}

/// A damaged record in the middle may have taken results with it: the message after a call gets them back.
fn answer_inner_calls(entries: Vec<Entry>) -> Vec<Entry> {
    let mut repaired: Vec<Entry> = Vec::with_capacity(entries.len());
    let mut waiting: Vec<String> = Vec::new();
    for mut entry in entries {
        if !waiting.is_empty() {
            let given = answered(&entry.message);
            let missing: Vec<Block> = waiting
                .drain(..)
                .filter(|id| !given.contains(id.as_str()))
                .map(|id| result(id, INTERRUPTED))
                .collect();
            if entry.message.role == Role::User {
                entry.message.blocks.splice(0..0, missing);
            } else if !missing.is_empty() {
                repaired.push(Entry::repair(entry.number, missing));
            }
        }
        if entry.message.role == Role::Assistant {
            waiting.extend(entry.message.tool_uses().map(|call| call.id.to_owned()));
        }
        repaired.push(entry);
    }
    repaired
}

/// A result whose call is gone (its record was damaged) would be refused by every provider.
fn drop_orphan_results(entries: Vec<Entry>) -> Vec<Entry> {
    let mut kept: Vec<Entry> = Vec::with_capacity(entries.len());
    let mut open: HashSet<String> = HashSet::new();
    for mut entry in entries {
        let message = &mut entry.message;
        if message.role == Role::User {
            message.blocks.retain(|block| match block {
                Block::ToolResult { tool_use_id, .. } => open.remove(tool_use_id),
                _ => true,
            });
            open.clear();
        } else {
            open = message.tool_uses().map(|call| call.id.to_owned()).collect();
        }
        if !message.blocks.is_empty() {
            kept.push(entry);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(ids: &[&str]) -> Message {
        let blocks = ids
            .iter()
            .map(|id| Block::ToolUse {
                id: (*id).to_owned(),
                name: "read_file".into(),
                input: serde_json::json!({}),
                invalid_arguments: None,
            })
            .collect();
        Message {
            role: Role::Assistant,
            blocks,
            origin: None,
        }
    }

    fn answers(ids: &[&str]) -> Message {
        Message::from_user(
            ids.iter()
                .map(|id| Block::ToolResult {
                    tool_use_id: (*id).to_owned(),
                    content: "ok".into(),
                    is_error: false,
                })
                .collect(),
        )
    }

    fn shape(messages: &[Message]) -> Vec<String> {
        messages
            .iter()
            .map(|message| {
                let parts: Vec<String> = message
                    .blocks
                    .iter()
                    .map(|block| match block {
                        Block::Text { text } => text.clone(),
                        Block::ToolUse { id, .. } => format!("call {id}"),
                        Block::ToolResult {
                            tool_use_id,
                            is_error: true,
                            ..
                        } => format!("lost {tool_use_id}"),
                        Block::ToolResult { tool_use_id, .. } => format!("result {tool_use_id}"),
                        _ => "other".into(),
                    })
                    .collect();
                parts.join(", ")
            })
            .collect()
    }

    /// V01: whatever records are missing, each call has one result and each result its call.
    #[test]
    fn every_call_has_exactly_one_result() {
        let cases: [(&str, Vec<Message>, &[&str]); 5] = [
            (
                "one of two answered, then the user goes on",
                vec![call(&["t1", "t2"]), answers(&["t2"]), Message::user("continue")],
                &["call t1, call t2", "lost t1, result t2", "continue"],
            ),
            (
                "the results are gone and the user goes on",
                vec![call(&["t1"]), Message::user("continue")],
                &["call t1", "lost t1, continue"],
            ),
            (
                "the results are gone and the model went on",
                vec![call(&["t1"]), call(&["t2"]), answers(&["t2"])],
                &["call t1", "lost t1", "call t2", "result t2"],
            ),
            (
                "the call is gone",
                vec![Message::user("hi"), answers(&["t1"])],
                &["hi"],
            ),
            (
                "a result twice",
                vec![call(&["t1"]), answers(&["t1", "t1"])],
                &["call t1", "result t1"],
            ),
        ];
        for (name, messages, expected) in cases {
            let entries = messages.into_iter().enumerate().map(|(at, message)| Entry {
                number: at as u64,
                turn: None,
                message,
                marks: Marks::default(),
            });
            let repaired = answer_inner_calls(drop_orphan_results(entries.collect()));
            let messages: Vec<Message> = repaired.into_iter().map(|entry| entry.message).collect();
            assert_eq!(shape(&messages), expected, "{name}");
        }
    }
}
