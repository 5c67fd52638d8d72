//! The one error that reaches a user (§27). Every crate has its own small error per operation and turns it
//! into a `RuntimeError` at its edge; screens and scripts branch on `code`, never on words.

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal;)*) => {
        /// Every failure the product can report. The text form is stable; new kinds are added, none renamed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(test, derive(ts_rs::TS))]
        pub enum ErrorCode {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)*
        }

        impl ErrorCode {
            pub const ALL: &[ErrorCode] = &[$(ErrorCode::$variant),*];

            pub fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$variant => $text,)* }
            }
        }
    };
}

codes! {
    WorkspaceNotFound = "workspace.notFound";
    WorkspaceNotADirectory = "workspace.notADirectory";
    WorkspaceUnreadable = "workspace.unreadable";
    /// `/` or the home folder: opening it is asked about first.
    WorkspaceTooWide = "workspace.tooWide";

    PathOutside = "path.outside";
    PathNotFound = "path.notFound";
    PathExists = "path.exists";
    PathIsDirectory = "path.isDirectory";
    PathNotADirectory = "path.notADirectory";
    /// `.git` and the like: never written by an edit tool.
    PathProtected = "path.protected";

    FileBinary = "file.binary";
    FileTooLarge = "file.tooLarge";
    FileEncoding = "file.encoding";
    FileIo = "file.io";

    EditNotFound = "edit.notFound";
    EditAmbiguous = "edit.ambiguous";
    EditStale = "edit.stale";
    EditNoChange = "edit.noChange";
    PatchMalformed = "patch.malformed";
    PatchRejected = "patch.rejected";

    ChangesNotFound = "changes.notFound";
    ChangesNotPending = "changes.notPending";
    ChangesConflict = "changes.conflict";
    ChangesNothingToUndo = "changes.nothingToUndo";
    ChangesRecovery = "changes.recovery";

    ToolUnknown = "tool.unknown";
    ToolArguments = "tool.arguments";
    ToolFailed = "tool.failed";
    SearchPattern = "search.pattern";

    PermissionMode = "permission.mode";
    PermissionDenied = "permission.denied";
    PermissionBlocked = "permission.blocked";

    CommandSpawn = "command.spawn";
    CommandFailed = "command.failed";
    CommandTimeout = "command.timeout";
    CommandStaging = "command.staging";

    GitMissing = "git.missing";
    GitNotARepository = "git.notARepository";
    GitFailed = "git.failed";

    ProviderUnknown = "provider.unknown";
    ProviderNoKey = "provider.noKey";
    ProviderAuth = "provider.auth";
    ProviderModelUnknown = "provider.modelUnknown";
    ProviderRateLimited = "provider.rateLimited";
    ProviderQuota = "provider.quota";
    ProviderOverloaded = "provider.overloaded";
    ProviderContextTooLong = "provider.contextTooLong";
    ProviderRefused = "provider.refused";
    ProviderInvalidRequest = "provider.invalidRequest";
    ProviderStreamBroken = "provider.streamBroken";
    ProviderOutputLimit = "provider.outputLimit";
    ProviderTimeoutIdle = "provider.timeoutIdle";
    ProviderTimeoutTotal = "provider.timeoutTotal";
    ProviderNetwork = "provider.network";
    ProviderTls = "provider.tls";
    ProviderProxy = "provider.proxy";
    ProviderOther = "provider.other";
    ScenarioInvalid = "scenario.invalid";
    ScenarioExhausted = "scenario.exhausted";

    SessionNotFound = "session.notFound";
    SessionBusy = "session.busy";
    SessionLimit = "session.limit";
    SessionTimeout = "session.timeout";
    SessionDamaged = "session.damaged";
    IllegalTransition = "session.illegalTransition";

    StoreLocked = "store.locked";
    StoreCorrupt = "store.corrupt";
    StoreNewer = "store.newer";
    StoreFull = "store.full";
    StoreIo = "store.io";
    SettingsInvalid = "settings.invalid";
    ArtifactNotFound = "artifact.notFound";

    /// The `Host` header names another server: a page of the web that reaches for this machine.
    HostForbiddenHost = "host.forbiddenHost";
    HostForbiddenOrigin = "host.forbiddenOrigin";
    /// No token, or one that is not of this host.
    HostUnauthorized = "host.unauthorized";
    HostBusy = "host.busy";
    ContextNotFound = "context.notFound";
    /// The backend of a context does not start, or ends again and again.
    ContextFailed = "context.failed";
    ContextManifest = "context.manifest";

    RequestInvalid = "request.invalid";
    RequestUnknown = "request.unknown";
    UsageInvalid = "usage.invalid";
    Cancelled = "cancelled";
    Interrupted = "interrupted";
    Internal = "internal";
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether the user's files differ from before the failed operation (the fourth question of §27).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", tag = "state", content = "paths")]
pub enum FilesChanged {
    #[default]
    None,
    /// These were written before the failure.
    Some(Vec<String>),
    /// It could not be observed, for example a command that was interrupted.
    Unknown,
}

/// What failed, why likely, what to do, whether files changed, whether to retry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct RuntimeError {
    pub code: ErrorCode,
    /// What failed, one plain sentence.
    pub message: String,
    /// Why, as far as is known: the operating system's or the provider's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Whether the user can go on with this session after acting.
    pub recoverable: bool,
    /// Whether the same request may simply be sent again.
    pub retryable: bool,
    /// The way out, one plain sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_action: Option<String>,
    #[serde(default)]
    pub files_changed: FilesChanged,
}

impl RuntimeError {
    /// A recoverable, not retryable failure that changed no file; the builders below say otherwise.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            detail: None,
            recoverable: true,
            retryable: false,
            user_action: None,
            files_changed: FilesChanged::None,
        }
    }

    pub fn because(mut self, detail: impl std::fmt::Display) -> Self {
        self.detail = Some(detail.to_string());
        self
    }

    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.user_action = Some(action.into());
        self
    }

    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    pub fn unrecoverable(mut self) -> Self {
        self.recoverable = false;
        self
    }

    pub fn files(mut self, files: FilesChanged) -> Self {
        self.files_changed = files;
        self
    }

    /// The error of a bug in our own code: an invariant that did not hold.
    pub fn internal(what: impl std::fmt::Display) -> Self {
        Self::new(ErrorCode::Internal, "Something went wrong inside Vibe Coder.")
            .because(what)
            .action("Please report it with the output of `vibe-coder doctor`. Your files were not touched.")
    }

    pub fn cancelled() -> Self {
        Self::new(ErrorCode::Cancelled, "Cancelled.").retryable()
    }
}

impl std::fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)?;
        if let Some(detail) = &self.detail {
            write!(f, ": {detail}")?;
        }
        Ok(())
    }
}

impl std::error::Error for RuntimeError {}
