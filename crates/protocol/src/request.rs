//! Requests of the wire contract. One JSON object a line: a client sends `{"id":1,"method":"turn/send",
//! "params":{…}}`, the engine answers `{"id":1,"ok":true,"data":{…}}` or `{"id":1,"ok":false,"error":{…}}`, and
//! sends events as `{"event":{…}}`. A mutating request is acknowledged with ids; what it does arrives as events.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    ApprovalId, ArtifactId, ChangeSet, ChangeSetId, CommandId, ContextId, EventEnvelope, ItemId, Millis,
    Mode, RuntimeError, SessionId, SessionState, Spending, TimelineItem, TurnId, changes::Selection,
    timeline::ApprovalDecision,
};
pub use crate::{checks::*, commands::*, context::*, memory::*, service::*};

/// A request's name together with its parameter and result types.
pub trait Method: Serialize + DeserializeOwned + Send + 'static {
    const NAME: &'static str;
    type Result: Serialize + DeserializeOwned + Send + 'static;
}

macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident($params:ident) = $name:literal -> $result:ident;)*) => {
        /// Every request, as it arrives.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[cfg_attr(test, derive(ts_rs::TS))]
        #[serde(tag = "method", content = "params")]
        pub enum Request {
            $($(#[$doc])* #[serde(rename = $name)] $variant($params),)*
        }

        impl Request {
            pub const METHODS: &[&str] = &[$($name),*];

            #[cfg(test)]
            pub(crate) fn declare(module: &mut crate::typescript::Module) {
                $(module.method::<$params, $result>($name);)*
            }
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
    /// Ends one running command; a turn that waits for it goes on.
    CommandStop(CommandStopParams) = "command/stop" -> Done;
    /// Runs a command of the user's own, beside any turn.
    CommandRun(CommandRunParams) = "command/run" -> CommandAccepted;
    /// All commands that run.
    CommandList(CommandListParams) = "command/list" -> CommandListResult;
    /// Types into a command's terminal.
    CommandInput(CommandInputParams) = "command/input" -> Done;
    /// Runs the project's checks, and answers when the last has ended.
    VerifyRun(VerifyRunParams) = "verify/run" -> VerifyRunResult;
    /// A person's standing rules about commands.
    ApprovalsList(ApprovalsListParams) = "approvals/list" -> ApprovalsListResult;
    ApprovalsAdd(ApprovalsAddParams) = "approvals/add" -> CommandRule;
    ApprovalsRevoke(ApprovalsRevokeParams) = "approvals/revoke" -> Done;
    SessionRename(SessionRenameParams) = "session/rename" -> Done;
    /// Sends again what a condensing left out, from the next turn on, and leaves it out last if room is short again.
    SessionRestore(SessionRestoreParams) = "session/restore" -> Done;

    FilesList(FilesListParams) = "files/list" -> FilesListResult;
    FilesRead(FilesReadParams) = "files/read" -> FilesReadResult;
    /// The user's own save, through the same atomic writer as an accept.
    FilesSave(FilesSaveParams) = "files/save" -> FilesSaveResult;
    /// Create, rename, move or delete by the user; undoable.
    FilesChange(FilesChangeParams) = "files/change" -> FilesChangeResult;
    FilesUndo(FilesUndoParams) = "files/undo" -> FilesChangeResult;
    FilesFind(FilesFindParams) = "files/find" -> FilesFindResult;
    FilesSearch(FilesSearchParams) = "files/search" -> FilesSearchResult;
    /// Which folders a client shows, so that their changes are told to it as notices.
    FilesWatch(FilesWatchParams) = "files/watch" -> Done;
    GitStatus(GitStatusParams) = "git/status" -> GitStatusResult;
    /// A file's content in the last commit, for decorations.
    GitShow(GitShowParams) = "git/show" -> GitShowResult;
    /// Before and proposed text of one file of a change set, for the diff editor.
    ChangesFile(ChangesFileParams) = "changes/file" -> ChangesFileResult;

    MemoryShow(MemoryShowParams) = "memory/show" -> MemoryShowResult;
    MemoryClear(MemoryClearParams) = "memory/clear" -> MemoryClearResult;

    SettingsGet(SettingsGetParams) = "settings/get" -> SettingsValue;
    SettingsSet(SettingsSetParams) = "settings/set" -> SettingsValue;
    ProvidersList(ProvidersListParams) = "providers/list" -> ProvidersListResult;
    /// How each provider has been doing, and what it cost today.
    ProvidersHealth(ProvidersHealthParams) = "providers/health" -> ProvidersHealthResult;
    /// What a client wants back after a crash: composer text, unsaved buffers, layout. Opaque to the engine.
    UiLoad(UiLoadParams) = "ui/load" -> UiLoadResult;
    UiSave(UiSaveParams) = "ui/save" -> Done;
    /// What the model would be shown of the repository for a request, what not, and why.
    ContextExplain(ContextExplainParams) = "context/explain" -> ContextExplainResult;
    /// The files a request may be about, likeliest first.
    ContextRank(ContextRankParams) = "context/rank" -> ContextRankResult;
    /// What a turn was shown of the repository, exactly.
    ContextPack(ContextPackParams) = "context/pack" -> ContextPackResult;
    /// Pins a file, excludes it, or takes that back.
    ContextMark(ContextMarkParams) = "context/mark" -> Done;
    ContextMarks(ContextMarksParams) = "context/marks" -> ContextMarksResult;
    /// Ends running turns as cancelled and closes the store.
    Shutdown(ShutdownParams) = "engine/shutdown" -> Done;
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RequestFrame {
    pub id: u64,
    #[serde(flatten)]
    pub request: Request,
}

/// One line from the engine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
pub enum EngineFrame {
    Event {
        event: Box<EventEnvelope>,
    },
    /// What is true now and need not be kept: no number, not in the log, lost when nobody listens.
    Notice {
        notice: Notice,
    },
    Reply(ReplyFrame),
}

/// §10.2. Exactly one of `data` and `error` is present, as `ok` says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReplyFrame {
    /// The request's id; absent when the line could not be read far enough to find one, and in the error that ends
    /// the events because the log can no longer be read or written.
    pub id: Option<u64>,
    pub ok: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RuntimeError>,
}

/// Types of the contract: camelCase, and a field nobody knows is refused.
macro_rules! wire {
    ($($(#[$doc:meta])* pub struct $name:ident { $($(#[$fdoc:meta])* $field:ident: $ty:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(test, derive(ts_rs::TS))]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty,)* }
    )*};
}

pub(crate) use wire;

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
        #[cfg_attr(test, ts(optional = nullable))]
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
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        spent: Spending,
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
        /// The newest event that `timeline` contains: a client that follows events adds only later ones to it.
        last_seq: u64,
        change_sets: Vec<ChangeSet>,
        /// Damaged records that were left out, in words.
        notes: Vec<String>,
    }

    pub struct SessionSearchParams {
        query: String,
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
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
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        mode: Mode,
        /// The configured default when absent.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        provider: Option<String>,
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        model: Option<String>,
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        approvals: Approvals,
        /// Milliseconds after which the turn is ended as failed.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
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
        /// Beyond this one question only for what the question offers in `patterns`.
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        scope: AnswerScope,
    }

    pub struct ChangesListParams {
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        session_id: Option<SessionId>,
    }
    pub struct ChangesListResult {
        change_sets: Vec<ChangeSet>,
    }
    pub struct ChangesShowParams {
        /// The newest open one when absent.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        id: Option<ChangeSetId>,
    }
    pub struct ChangesShowResult {
        change_set: ChangeSet,
        /// The pending part as a unified diff.
        diff: String,
    }
    pub struct ChangesDecideParams {
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        id: Option<ChangeSetId>,
        selection: Selection,
    }
    pub struct ChangesRejectParams {
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        id: Option<ChangeSetId>,
        selection: Selection,
    }
    pub struct ChangesUndoParams {
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        id: Option<ChangeSetId>,
        /// Only say which files would be written and what would not be taken back.
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        dry_run: bool,
    }
    pub struct ChangesRedoParams {
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
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
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        offset: u64,
        /// At most 1 MiB, which is also the default.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        max_bytes: Option<u64>,
    }
    pub struct ArtifactReadResult {
        /// Bytes of the artifact decoded for display; `size` counts the stored bytes.
        text: String,
        size: u64,
        next_offset: u64,
    }

    pub struct CommandStopParams {
        command_id: CommandId,
    }
    pub struct SessionRenameParams {
        session_id: SessionId,
        title: String,
    }
    pub struct SessionRestoreParams {
        session_id: SessionId,
        /// The mark in the timeline.
        item_id: ItemId,
    }

    pub struct ShutdownParams {}
    pub struct Done {}
}

/// What becomes of a call that needs a person. A hard block is never lifted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Approvals {
    /// Refused, with the reason told to the model.
    #[default]
    Deny,
    Allow,
    /// Waits for `approval/answer`.
    Ask,
}
