//! The canonical model-side history: what was said to a model and by it, in order. The engine stores these as
//! JSON and replays them; the adapters turn them into a provider's own shape. Field order is part of the format.

use protocol::{ToolSchema, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Assistant,
}

/// The provider and model that produced a message. Reasoning goes back only to exactly this pair.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin {
    pub provider: String,
    pub model: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    pub blocks: Vec<Block>,
    /// Absent on what the user or the engine wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    Text {
        text: String,
    },
    Thinking {
        text: String,
        /// The provider's proof that it wrote this text; sent back byte for byte.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// Reasoning that only the provider can read.
    RedactedThinking {
        data: String,
    },
    ToolUse {
        id: String,
        name: String,
        /// A JSON object; empty when the arguments were not one.
        input: Value,
        /// The arguments as they came, present only when they are not a JSON object. Such a call must be
        /// answered with an error and never run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        invalid_arguments: Option<String>,
    },
    ToolResult {
        tool_use_id: String,
        content: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    Image {
        /// For example `image/png`.
        media_type: String,
        base64: String,
    },
    /// A block of a kind we do not know, kept so that it can go back to the provider that made it.
    Opaque {
        provider: String,
        json: Value,
    },
}

impl Message {
    pub fn user(text: impl Into<String>) -> Self {
        Self::from_user(vec![Block::Text { text: text.into() }])
    }

    /// Several blocks of the user's side in one message: all results of one round of tool calls belong together.
    pub fn from_user(blocks: Vec<Block>) -> Self {
        Self {
            role: Role::User,
            blocks,
            origin: None,
        }
    }

    /// All text blocks joined, without reasoning.
    pub fn text(&self) -> String {
        self.blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The calls in the order the model made them.
    pub fn tool_uses(&self) -> impl Iterator<Item = ToolUse<'_>> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolUse {
                id,
                name,
                input,
                invalid_arguments,
            } => Some(ToolUse {
                id,
                name,
                input,
                invalid_arguments: invalid_arguments.as_deref(),
            }),
            _ => None,
        })
    }
}

/// A borrowed [`Block::ToolUse`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolUse<'a> {
    pub id: &'a str,
    pub name: &'a str,
    pub input: &'a Value,
    pub invalid_arguments: Option<&'a str>,
}

/// One request to a model. For the provider's prompt cache to hit, `system` and `tools` must be the same bytes
/// from turn to turn and `messages` must only grow at its end.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// The id of a provider the gateway was built with.
    pub provider: String,
    pub model: String,
    pub system: String,
    pub tools: Vec<ToolSchema>,
    pub messages: Vec<Message>,
    pub max_output_tokens: u32,
    pub format: AnswerFormat,
    /// Our own id for logs; never sent.
    pub request_id: protocol::ProviderRequestId,
}

/// What an answer's text must be.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum AnswerFormat {
    #[default]
    Text,
    /// One JSON object of any shape. Some families want the word JSON in the prompt as well.
    Json,
    /// One JSON object of this schema, as far as the server keeps to it.
    Schema { name: String, schema: Value },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    EndTurn,
    ToolUse,
    /// The output limit was reached; see [`Answer::cut_calls`].
    OutputLimit,
    /// The provider's policy ended the answer. What was said until then is kept.
    Refused,
    /// The provider paused a long turn; sending the history again continues it.
    Paused,
}

/// A finished answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Role assistant, with its origin. It may have no blocks; then it must not be stored.
    pub message: Message,
    pub stop_reason: StopReason,
    /// Calls whose arguments the output limit cut. They are not in `message` and must not run.
    pub cut_calls: Vec<CutCall>,
    pub usage: Usage,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutCall {
    pub id: String,
    pub name: String,
    /// What had arrived of the arguments.
    pub arguments: String,
}
