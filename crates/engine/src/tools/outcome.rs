//! What an executor hands back to the router, which makes the tool result and the card of it.

use protocol::{ArtifactRef, RuntimeError};
use serde_json::Value;

/// `content` is what the model reads, `summary` what a person sees on the card's line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub content: String,
    pub summary: String,
    pub data: Option<Value>,
    pub artifacts: Vec<ArtifactRef>,
}

impl Outcome {
    pub fn new(content: impl Into<String>, summary: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            summary: summary.into(),
            data: None,
            artifacts: Vec::new(),
        }
    }

    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}

pub type ToolOutcome = Result<Outcome, RuntimeError>;

/// An error as the model reads it: what failed, why, and what to do instead.
pub fn error_text(error: &RuntimeError) -> String {
    let parts = [
        Some(error.message.as_str()),
        error.detail.as_deref(),
        error.user_action.as_deref(),
    ];
    let mut text = String::new();
    for part in parts.into_iter().flatten().filter(|part| !part.is_empty()) {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(part);
    }
    text
}
