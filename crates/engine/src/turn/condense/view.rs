//! What of a conversation is sent: all of it but what the stored condensings leave out. Between two condensings the view
//! only grows at its end. Pure, but for loading.

use protocol::{RuntimeError, SessionId, TimelineItem};
use provider::{Block, Message, Role};
use serde::{Deserialize, Serialize};
use store::Store;

use crate::turn::history::{Entry, InstructionMark};

/// The kind of the stored documents; their ids are those of the marks in the timeline.
pub const KIND: &str = "condensing";

/// One condensing as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condensing {
    pub results: Vec<ResultKey>,
    /// The number of the last message that `summary` stands for.
    pub through: Option<u64>,
    pub summary: String,
    /// Instruction files that stand in the summary.
    pub instructions: Vec<InstructionMark>,
    pub undone: bool,
    pub item: Option<TimelineItem>,
}

/// A tool's result and what stands in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultKey {
    /// Of the message it is in; a call's id alone may come twice.
    pub number: u64,
    pub call: String,
    pub note: String,
}

/// All condensings of a session, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Condensed {
    all: Vec<Condensing>,
}

impl Condensed {
    /// One that cannot be read leaves nothing out: the conversation itself is whole.
    pub fn load(store: &Store, session: &SessionId) -> Result<Self, RuntimeError> {
        let stored = store.session_documents(KIND, session)?;
        let all = stored
            .into_iter()
            .filter_map(|(_, value)| serde_json::from_value(value).ok())
            .collect();
        Ok(Self { all })
    }

    pub fn add(&mut self, condensing: Condensing) {
        self.all.push(condensing);
    }

    #[must_use]
    pub fn with(&self, condensing: Condensing) -> Self {
        let mut with = self.clone();
        with.add(condensing);
        with
    }

    fn active(&self) -> impl DoubleEndedIterator<Item = &Condensing> {
        self.all.iter().filter(|condensing| !condensing.undone)
    }

    /// The newest that has a summary: it stands for all that earlier ones stood for.
    fn summarizing(&self) -> Option<&Condensing> {
        self.active()
            .rev()
            .find(|condensing| condensing.through.is_some())
    }

    pub fn has_summary(&self) -> bool {
        self.summarizing().is_some()
    }

    /// Instruction files that stand in the summary.
    pub fn instructions(&self) -> &[InstructionMark] {
        self.summarizing()
            .map_or(&[], |condensing| &condensing.instructions)
    }

    /// Whether a message is sent, its results aside.
    pub fn shows(&self, entry: &Entry) -> bool {
        let through = self.summarizing().and_then(|condensing| condensing.through);
        through.is_none_or(|through| entry.number > through)
    }

    fn note(&self, number: u64, call: &str) -> Option<&str> {
        self.active()
            .rev()
            .flat_map(|condensing| &condensing.results)
            .find(|key| key.number == number && key.call == call)
            .map(|key| key.note.as_str())
    }

    pub fn leaves_out(&self, number: u64, call: &str) -> bool {
        self.note(number, call).is_some()
    }

    /// Whether a person took back that this message was left out.
    pub fn is_wanted(&self, number: u64) -> bool {
        self.all
            .iter()
            .filter(|condensing| condensing.undone)
            .any(|condensing| {
                condensing.through.is_some_and(|through| number <= through)
                    || condensing.results.iter().any(|key| key.number == number)
            })
    }

    /// One message as it is sent.
    pub fn shown(&self, entry: &Entry) -> Message {
        let mut message = entry.message.clone();
        for block in &mut message.blocks {
            if let Block::ToolResult {
                tool_use_id, content, ..
            } = block
                && let Some(note) = self.note(entry.number, tool_use_id)
            {
                note.clone_into(content);
            }
        }
        message
    }

    pub fn view(&self, entries: &[Entry]) -> Vec<Message> {
        let mut messages: Vec<Message> = entries
            .iter()
            .filter(|entry| self.shows(entry))
            .map(|entry| self.shown(entry))
            .collect();
        if let Some(condensing) = self.summarizing() {
            let text = Block::Text {
                text: condensing.summary.clone(),
            };
            match messages.first_mut().filter(|first| first.role == Role::User) {
                Some(first) => {
                    // A call that is not sent has no result either.
                    first
                        .blocks
                        .retain(|block| !matches!(block, Block::ToolResult { .. }));
                    first.blocks.insert(0, text);
                }
                None => messages.insert(0, Message::from_user(vec![text])),
            }
        }
        messages
    }
}
