//! Puts the pieces of a streamed answer together, whatever family they came from. Knows no wire format and does
//! no IO. Here it is decided that a call cut by the output limit is not a call.

use std::collections::HashSet;

use protocol::Usage;
use serde_json::Value;

use crate::{
    event::ModelEvent,
    message::{Answer, Block, CutCall, Message, ModelRequest, Origin, Role, StopReason},
};

/// One piece as a decoder found it. `block` is the decoder's key of the block the piece belongs to; blocks keep
/// the order in which they were first seen, however their pieces alternate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Text {
        block: usize,
        delta: String,
    },
    Thinking {
        block: usize,
        delta: String,
    },
    Signature {
        block: usize,
        delta: String,
    },
    Redacted {
        block: usize,
        data: String,
    },
    /// An empty id is replaced by one of ours.
    ToolStart {
        block: usize,
        id: String,
        name: String,
    },
    ToolArguments {
        block: usize,
        delta: String,
    },
    /// A block of unknown kind as it began.
    Opaque {
        block: usize,
        json: Value,
    },
    OpaqueInput {
        block: usize,
        delta: String,
    },
    /// Counts so far.
    Usage(Usage),
    Stop(StopReason),
    /// The protocol's own terminator.
    End,
}

enum Draft {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    Redacted(String),
    Tool {
        index: usize,
        id: String,
        name: String,
        arguments: String,
    },
    Opaque {
        json: Value,
        input: String,
    },
}

/// Pieces of one attempt.
pub(crate) struct Assembler {
    origin: Origin,
    drafts: Vec<(usize, Draft)>,
    tools: usize,
    /// Ids of the history and of this answer: a call's id must be its own in the whole session.
    taken_ids: HashSet<String>,
    pub(crate) usage: Usage,
    stop: Option<StopReason>,
    pub(crate) ended: bool,
}

impl Assembler {
    pub(crate) fn new(request: &ModelRequest) -> Self {
        let taken_ids = request
            .messages
            .iter()
            .flat_map(Message::tool_uses)
            .map(|call| call.id.to_owned())
            .collect();
        Self {
            origin: Origin {
                provider: request.provider.clone(),
                model: request.model.clone(),
            },
            drafts: Vec::new(),
            tools: 0,
            taken_ids,
            usage: Usage::default(),
            stop: None,
            ended: false,
        }
    }

    /// Takes a piece and returns what is to be reported of it.
    pub(crate) fn apply(&mut self, part: Part) -> Option<ModelEvent> {
        match part {
            Part::Text { block, delta } => {
                match self.draft(block, || Draft::Text(String::new())) {
                    Draft::Text(text) => text.push_str(&delta),
                    _ => return None,
                }
                (!delta.is_empty()).then_some(ModelEvent::Text { delta })
            }
            Part::Thinking { block, delta } => {
                match self.draft(block, empty_thinking) {
                    Draft::Thinking { text, .. } => text.push_str(&delta),
                    _ => return None,
                }
                (!delta.is_empty()).then_some(ModelEvent::Thinking { delta })
            }
            Part::Signature { block, delta } => {
                if let Draft::Thinking { signature, .. } = self.draft(block, empty_thinking) {
                    signature.push_str(&delta);
                }
                None
            }
            Part::Redacted { block, data } => {
                self.drafts.push((block, Draft::Redacted(data)));
                None
            }
            Part::ToolStart { block, id, name } => {
                let id = self.unique_id(id);
                let index = self.tools;
                self.tools += 1;
                let draft = Draft::Tool {
                    index,
                    id: id.clone(),
                    name: name.clone(),
                    arguments: String::new(),
                };
                self.drafts.push((block, draft));
                Some(ModelEvent::ToolStarted { index, id, name })
            }
            Part::ToolArguments { block, delta } => match self.find(block) {
                Some(Draft::Tool { index, arguments, .. }) => {
                    arguments.push_str(&delta);
                    let index = *index;
                    (!delta.is_empty()).then_some(ModelEvent::ToolArguments { index, delta })
                }
                _ => None,
            },
            Part::Opaque { block, json } => {
                self.drafts.push((
                    block,
                    Draft::Opaque {
                        json,
                        input: String::new(),
                    },
                ));
                None
            }
            Part::OpaqueInput { block, delta } => {
                if let Some(Draft::Opaque { input, .. }) = self.find(block) {
                    input.push_str(&delta);
                }
                None
            }
            Part::Usage(usage) => {
                self.usage = usage;
                Some(ModelEvent::Usage(usage))
            }
            Part::Stop(reason) => {
                self.stop = Some(reason);
                None
            }
            Part::End => {
                self.ended = true;
                None
            }
        }
    }

    /// The whole answer, or nothing when the model never said why it stopped: then the answer is not complete.
    pub(crate) fn finish(self) -> Option<Answer> {
        let stated = self.stop?;
        let provider = self.origin.provider.clone();
        let mut blocks = Vec::new();
        let mut cut_calls = Vec::new();
        for (_, draft) in self.drafts {
            match draft {
                Draft::Text(text) if text.is_empty() => {}
                Draft::Text(text) => blocks.push(Block::Text { text }),
                Draft::Thinking { text, signature } if text.is_empty() && signature.is_empty() => {}
                Draft::Thinking { text, signature } => {
                    let signature = (!signature.is_empty()).then_some(signature);
                    blocks.push(Block::Thinking { text, signature });
                }
                Draft::Redacted(data) => blocks.push(Block::RedactedThinking { data }),
                Draft::Tool {
                    id, name, arguments, ..
                } => {
                    let ended_early = matches!(stated, StopReason::OutputLimit | StopReason::Refused);
                    match parse_arguments(&arguments) {
                        // A complete JSON object has no longer continuation, so it was not cut.
                        Some(input) if !(ended_early && arguments.trim().is_empty()) => {
                            blocks.push(Block::ToolUse {
                                id,
                                name,
                                input,
                                invalid_arguments: None,
                            });
                        }
                        _ if ended_early => cut_calls.push(CutCall { id, name, arguments }),
                        _ => blocks.push(Block::ToolUse {
                            id,
                            name,
                            input: Value::Object(serde_json::Map::new()),
                            invalid_arguments: Some(arguments),
                        }),
                    }
                }
                Draft::Opaque { mut json, input } => {
                    if let (Ok(input), Some(object)) = (serde_json::from_str(&input), json.as_object_mut()) {
                        object.insert("input".to_owned(), input);
                    }
                    blocks.push(Block::Opaque {
                        provider: provider.clone(),
                        json,
                    });
                }
            }
        }
        let has_calls = blocks.iter().any(|block| matches!(block, Block::ToolUse { .. }));
        // Compatible servers state these two loosely; what the answer holds is what counts.
        let stop_reason = match stated {
            StopReason::EndTurn if has_calls => StopReason::ToolUse,
            StopReason::ToolUse if !has_calls => StopReason::EndTurn,
            other => other,
        };
        Some(Answer {
            message: Message {
                role: Role::Assistant,
                blocks,
                origin: Some(self.origin),
            },
            stop_reason,
            cut_calls,
            usage: self.usage,
        })
    }

    fn find(&mut self, block: usize) -> Option<&mut Draft> {
        // Nearly always the newest.
        self.drafts
            .iter_mut()
            .rev()
            .find(|(key, _)| *key == block)
            .map(|(_, draft)| draft)
    }

    fn draft(&mut self, block: usize, make: impl FnOnce() -> Draft) -> &mut Draft {
        let at = match self.drafts.iter().rposition(|(key, _)| *key == block) {
            Some(at) => at,
            None => {
                self.drafts.push((block, make()));
                self.drafts.len() - 1
            }
        };
        &mut self.drafts[at].1
    }

    fn unique_id(&mut self, id: String) -> String {
        let mut candidate = id.clone();
        let mut number = 1;
        while candidate.is_empty() || self.taken_ids.contains(&candidate) {
            candidate = match id.as_str() {
                "" => format!("call_{number}"),
                _ => format!("{id}_{}", number + 1),
            };
            number += 1;
        }
        self.taken_ids.insert(candidate.clone());
        candidate
    }
}

fn empty_thinking() -> Draft {
    Draft::Thinking {
        text: String::new(),
        signature: String::new(),
    }
}

/// The arguments as a JSON object. Models send nothing at all, or `null`, for a tool without parameters.
fn parse_arguments(text: &str) -> Option<Value> {
    let empty = || Value::Object(serde_json::Map::new());
    match text.trim() {
        "" | "null" => Some(empty()),
        text => serde_json::from_str::<Value>(text).ok().filter(Value::is_object),
    }
}

#[cfg(test)]
mod tests;
