//! Requests of the wire contract. One JSON object a line: a client sends `{"id":1,"method":"turn/send",
//! "params":{…}}`, the engine answers `{"id":1,"ok":true,"data":{…}}` or `{"id":1,"ok":false,"error":{…}}`, and
//! sends events as `{"event":{…}}`. A mutating request is acknowledged with ids; what it does arrives as events.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    ApprovalId, ArtifactId, ChangeSet, ChangeSetId, ContextId, EventEnvelope, Millis, Mode, RuntimeError,
    SessionId, SessionState, TimelineItem, TurnId, changes::Selection, timeline::ApprovalDecision,
};

/// A request's name together with its parameter and result types.
pub trait Method: Serialize + DeserializeOwned + Send + 'static {
    const NAME: &'static str;
    type Result: Serialize + DeserializeOwned + Send + 'static;
}

macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident($params:ident) = $name:literal -> $result:ident;)*) => {
        /// Every request, as it arrives.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[serde(tag = "method", content = "params")]
        pub enum Request {
            $($(#[$doc])* #[serde(rename = $name)] $variant($params),)*
        }

        impl Request {
            pub const METHODS: &[&str] = &[$($name),*];
        }

        $(impl Method for $params {
            const NAME: &'static str = $name;
            type Result = $result;
        }

        impl From<$params> for Request {
            fn from(params: $params) -> Self {
                Request::$variant(params)
            }
        })*
    };
}

methods! {
    /// Version, workspace and the newest event number.
    Hello(HelloParams) = "engine/hello" -> HelloResult;
    SessionStart(SessionStartParams) = "session/start" -> SessionStarted;
    SessionList(SessionListParams) = "session/list" -> SessionListResult;
    SessionShow(SessionShowParams) = "session/show" -> SessionShowResult;
    /// Marks what a crash interrupted, so that the session can go on.
    SessionResume(SessionResumeParams) = "session/resume" -> SessionShowResult;
    SessionSearch(SessionSearchParams) = "session/search" -> SessionSearchResult;
    /// Every event and model message of a session, one JSON value each.
    SessionExport(SessionExportParams) = "session/export" -> SessionExportResult;
    TurnSend(TurnSendParams) = "turn/send" -> TurnAccepted;
    TurnCancel(TurnCancelParams) = "turn/cancel" -> Done;
    ApprovalAnswer(ApprovalAnswerParams) = "approval/answer" -> Done;
    ChangesList(ChangesListParams) = "changes/list" -> ChangesListResult;
    ChangesShow(ChangesShowParams) = "changes/show" -> ChangesShowResult;
    ChangesAccept(ChangesDecideParams) = "changes/accept" -> ChangesResult;
    ChangesReject(ChangesRejectParams) = "changes/reject" -> ChangesResult;
    ChangesUndo(ChangesUndoParams) = "changes/undo" -> ChangesResult;
    ChangesRedo(ChangesRedoParams) = "changes/redo" -> ChangesResult;
    EventsSubscribe(EventsSubscribeParams) = "events/subscribe" -> Done;
    ArtifactRead(ArtifactReadParams) = "artifact/read" -> ArtifactReadResult;
    /// Ends running turns as cancelled and closes the store.
    Shutdown(ShutdownParams) = "engine/shutdown" -> Done;
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RequestFrame {
    pub id: u64,
    #[serde(flatten)]
    pub request: Request,
}

/// One line from the engine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EngineFrame {
    Event { event: Box<EventEnvelope> },
    Reply(ReplyFrame),
}

/// §10.2. Exactly one of `data` and `error` is present, as `ok` says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReplyFrame {
    /// The request's id; absent when the line could not be read far enough to find one.
    pub id: Option<u64>,
    pub ok: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RuntimeError>,
}

macro_rules! wire {
    ($($(#[$doc:meta])* pub struct $name:ident { $($(#[$fdoc:meta])* $field:ident: $ty:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty,)* }
    )*};
}

wire! {
    pub struct HelloParams {}
    pub struct HelloResult {
        version: String,
        context_id: ContextId,
        workspace: String,
        last_seq: u64,
        /// What opening the workspace repaired, in words.
        recovered: Vec<String>,
    }

    pub struct SessionStartParams {
        #[serde(default)]
        title: Option<String>,
    }
    pub struct SessionStarted {
        session_id: SessionId,
    }

    pub struct SessionListParams {}
    pub struct SessionListResult {
        sessions: Vec<SessionSummary>,
    }
    pub struct SessionSummary {
        id: SessionId,
        title: String,
        created_at: Millis,
        updated_at: Millis,
        state: SessionState,
        /// The engine ended while a turn was running.
        interrupted: bool,
    }

    pub struct SessionShowParams {
        session_id: SessionId,
    }
    pub struct SessionResumeParams {
        session_id: SessionId,
    }
    pub struct SessionShowResult {
        session: SessionSummary,
        timeline: Vec<TimelineItem>,
        change_sets: Vec<ChangeSet>,
        /// Damaged records that were left out, in words.
        notes: Vec<String>,
    }

    pub struct SessionSearchParams {
        query: String,
        #[serde(default)]
        limit: Option<u32>,
    }
    pub struct SessionSearchResult {
        hits: Vec<SessionHit>,
    }
    pub struct SessionHit {
        session_id: SessionId,
        title: String,
        seq: u64,
        /// The matching text with `[` and `]` around the matches.
        snippet: String,
    }

    pub struct SessionExportParams {
        session_id: SessionId,
    }
    pub struct SessionExportResult {
        records: Vec<serde_json::Value>,
    }

    pub struct TurnSendParams {
        session_id: SessionId,
        text: String,
        #[serde(default)]
        mode: Mode,
        /// The configured default when absent.
        #[serde(default)]
        provider: Option<String>,
        #[serde(default)]
        model: Option<String>,
        #[serde(default)]
        approvals: Approvals,
        /// Milliseconds after which the turn is ended as failed.
        #[serde(default)]
        timeout_ms: Option<u64>,
    }
    pub struct TurnAccepted {
        turn_id: TurnId,
    }
    pub struct TurnCancelParams {
        session_id: SessionId,
    }

    pub struct ApprovalAnswerParams {
        approval_id: ApprovalId,
        decision: ApprovalDecision,
    }

    pub struct ChangesListParams {
        #[serde(default)]
        session_id: Option<SessionId>,
    }
    pub struct ChangesListResult {
        change_sets: Vec<ChangeSet>,
    }
    pub struct ChangesShowParams {
        /// The newest open one when absent.
        #[serde(default)]
        id: Option<ChangeSetId>,
    }
    pub struct ChangesShowResult {
        change_set: ChangeSet,
        /// The pending part as a unified diff.
        diff: String,
    }
    pub struct ChangesDecideParams {
        #[serde(default)]
        id: Option<ChangeSetId>,
        selection: Selection,
    }
    pub struct ChangesRejectParams {
        #[serde(default)]
        id: Option<ChangeSetId>,
        selection: Selection,
    }
    pub struct ChangesUndoParams {
        #[serde(default)]
        id: Option<ChangeSetId>,
        /// Only say which files would be written and what would not be taken back.
        #[serde(default)]
        dry_run: bool,
    }
    pub struct ChangesRedoParams {
        #[serde(default)]
        id: Option<ChangeSetId>,
    }
    pub struct ChangesResult {
        change_set: ChangeSet,
        /// Paths whose content on disk this changed.
        files_written: Vec<String>,
        notes: Vec<String>,
    }

    /// Replays events after `fromSeq`, then follows live.
    pub struct EventsSubscribeParams {
        from_seq: u64,
    }

    pub struct ArtifactReadParams {
        id: ArtifactId,
        #[serde(default)]
        offset: u64,
        /// At most 1 MiB, which is also the default.
        #[serde(default)]
        max_bytes: Option<u64>,
    }
    pub struct ArtifactReadResult {
        /// Bytes of the artifact decoded for display; `size` counts the stored bytes.
        text: String,
        size: u64,
        next_offset: u64,
    }

    pub struct ShutdownParams {}
    pub struct Done {}
}

/// What becomes of a call that needs a person. A hard block is never lifted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Approvals {
    /// Refused, with the reason told to the model.
    #[default]
    Deny,
    Allow,
    /// Waits for `approval/answer`.
    Ask,
}
