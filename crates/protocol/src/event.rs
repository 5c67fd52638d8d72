//! Events: the only way state changes reach anyone. Persisted before they are sent, numbered per context,
//! replayable from any number.

use serde::{Deserialize, Serialize};

use crate::{
    ChangeSet, CommandState, ContextId, ItemId, Millis, Mode, ProviderRequestId, RuntimeError, SessionId,
    SessionState, Spending, TimelineItem, TurnId, Usage,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct EventEnvelope {
    pub context_id: ContextId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Counts from 1 without gaps within a context.
    pub seq: u64,
    pub at: Millis,
    pub body: EventBody,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum EventBody {
    SessionStateChanged {
        from: SessionState,
        to: SessionState,
        /// In words, where the transition needs one: "interrupted by a crash".
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    SessionCreated {
        title: String,
    },
    SessionRenamed {
        title: String,
    },
    TurnStarted {
        turn_id: TurnId,
        mode: Mode,
        provider: String,
        model: String,
    },
    ItemStarted {
        item: TimelineItem,
    },
    ItemDelta {
        item_id: ItemId,
        delta: ItemDelta,
    },
    ItemCompleted {
        item: TimelineItem,
    },
    /// The turn's end. No event of this turn follows it.
    TurnCompleted {
        turn_id: TurnId,
        outcome: TurnOutcome,
        usage: Usage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
        duration_ms: u64,
    },
    ChangeSetUpdated {
        change_set: ChangeSet,
    },
    /// After each model request: what it was estimated to cost and what it cost.
    UsageUpdated {
        turn_id: TurnId,
        request_id: ProviderRequestId,
        prompt_hash: String,
        estimated_input: u64,
        usage: Usage,
        /// In US dollars, at the prices of the model that answered; absent where they are not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
        /// Of the session so far.
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        session: Spending,
        /// Of the user's day so far (UTC), over all workspaces.
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        today: Spending,
    },
    /// What the engine found and mended when it opened the workspace.
    Recovered {
        notes: Vec<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum ItemDelta {
    /// More of an assistant's or a thinking text.
    Text { text: String },
    /// More of a command's output, decoded for display. The card keeps a head and a tail of it.
    Output { text: String },
    /// A command moved on, for example from starting to running.
    Command { state: CommandState },
    /// What a reader of a running command must know, in place of what was said before.
    Notes { notes: Vec<String> },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "result", rename_all = "camelCase")]
pub enum TurnOutcome {
    Completed,
    Failed {
        error: RuntimeError,
    },
    Cancelled,
    /// The engine ended during the turn; effects of its last tool are not known.
    Interrupted,
}
