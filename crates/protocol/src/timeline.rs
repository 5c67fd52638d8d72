//! The items of a session's timeline: the twelve of §52.1, and the mark where a conversation was condensed. Display words (verb, target, summary) are made in the
//! engine, so that a screen never switches on a tool's name.

use serde::{Deserialize, Serialize};

use crate::{
    ApprovalId, ArtifactRef, ChangeSetId, CommandId, CommandState, DiffHunk, ItemId, Millis, Mode,
    RuntimeError, SessionId, ToolCallId, TurnId, Usage,
    checks::{VerificationItem, Verified},
    commands::{CommandLifetime, CommandTerminal},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum ItemStatus {
    Pending,
    Running,
    Succeeded,
    Failed,
    Cancelled,
}

impl ItemStatus {
    pub fn is_final(self) -> bool {
        matches!(
            self,
            ItemStatus::Succeeded | ItemStatus::Failed | ItemStatus::Cancelled
        )
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TimelineItem {
    pub id: ItemId,
    pub session_id: SessionId,
    /// The turn this item belongs to.
    pub correlation_id: TurnId,
    pub created_at: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Millis>,
    pub status: ItemStatus,
    /// False for what belongs under Details.
    pub visible: bool,
    #[serde(flatten)]
    pub kind: ItemKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ItemKind {
    UserMessage {
        text: String,
        mode: Mode,
    },
    AssistantMessage {
        text: String,
        provider: String,
        model: String,
    },
    Thinking {
        text: String,
    },
    Plan {
        steps: Vec<PlanStep>,
    },
    ToolCall(ToolCallItem),
    Command(CommandItem),
    /// The card of a change set; its state is carried by `changeSetUpdated`.
    ChangeSet {
        change_set_id: ChangeSetId,
        title: String,
    },
    /// One file's difference, shown on its own.
    Diff {
        change_set_id: ChangeSetId,
        path: String,
        hunks: Vec<DiffHunk>,
    },
    /// The outcome of a check that was run, bound to the tree it ran on.
    Verification(VerificationItem),
    Error {
        error: RuntimeError,
    },
    Approval(ApprovalItem),
    Summary(SummaryItem),
    /// From here on the model is sent less of what came before.
    Condensed(CondensedItem),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PlanStep {
    pub text: String,
    pub status: ItemStatus,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolCallItem {
    pub tool_call_id: ToolCallId,
    /// The model's name for the tool; also kept when it names nothing we have.
    pub name: String,
    /// "Read", "Searched", "Edited" …
    pub verb: String,
    /// What the verb applies to: a path, a pattern.
    pub target: String,
    /// The arguments as the model gave them, for Details.
    pub arguments: serde_json::Value,
    /// One line about the outcome; empty while running.
    pub summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The head of what the model was given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub preview: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RuntimeError>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactRef>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CommandItem {
    pub command_id: CommandId,
    pub tool_call_id: ToolCallId,
    /// Exactly one command string, as it was run.
    pub command: String,
    /// The directory it really ran in, relative to the workspace ("." for its root).
    pub cwd: String,
    pub state: CommandState,
    /// "read-only", "approved for this run", or why it was refused.
    pub policy_reason: String,
    /// What the command could reach, in one line.
    pub isolation: String,
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub lifetime: CommandLifetime,
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub terminal: CommandTerminal,
    /// Whether the user ran it, and not the assistant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub by_user: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Head and tail of the output for the card, decoded for display.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// Bytes between head and tail that only the log has.
    #[serde(default)]
    pub omitted_bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<ArtifactRef>,
    /// What else the reader must know: still-running children, a fallback directory, unkept changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalItem {
    pub approval_id: ApprovalId,
    pub tool_call_id: ToolCallId,
    /// The whole of what is asked for, for example the full command.
    pub request: String,
    /// Why a person is asked.
    pub reason: String,
    /// What a standing answer would be about, one for each part that asks. Empty where only this one can be answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub patterns: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<ApprovalDecision>,
    /// Who decided and why: "denied: --approvals deny".
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub decided_because: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum ApprovalDecision {
    Allow,
    Deny,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SummaryItem {
    pub files_changed: Vec<String>,
    pub commands_run: u32,
    pub usage: Usage,
    /// In US dollars; absent where the model's price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    pub duration_ms: u64,
    /// What the checks say of the changes; absent where nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub verified: Option<Verified>,
    /// Things the reader should know: a repaired record, a limit reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What the requests to the model leave out from here on. The session's own record stays whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CondensedItem {
    /// One line for a person: "Left out 12 tool results and 3 earlier requests: 41k → 18k tokens".
    pub title: String,
    /// Why now, in words.
    pub reason: String,
    /// Oldest first, at most 100.
    pub left_out: Vec<LeftOut>,
    /// Parts beyond those named in `left_out`.
    #[serde(default)]
    pub more: u32,
    /// Estimates of the whole request.
    pub tokens_before: u64,
    pub tokens_after: u64,
    /// What is sent in place of whole turns; empty where only results were left out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub summary: String,
    /// All that is left out, as it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<ArtifactRef>,
    /// Whether the person wants it sent again.
    #[serde(default)]
    pub undone: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// "Read src/app.rs", "the request “fix the test” and what was done for it".
    pub what: String,
    /// An estimate.
    pub tokens: u64,
}
