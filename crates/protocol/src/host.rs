//! The host's part of the wire: which contexts there are, how they fare, and the one conversation that every kind of
//! context can have. A window names a context by its key and sends the context's own requests through the host
//! unchanged; what is listed here the host answers itself.

use serde::{Deserialize, Serialize};

use crate::{ContextState, Millis, RuntimeError, request::wire};

/// What stands behind a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum ContextKind {
    /// The coding engine of one workspace.
    Engine,
    /// A program of any kind that answers over HTTP on this machine.
    Http,
}

/// A request that the host answers itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "method", content = "params")]
pub enum HostRequest {
    #[serde(rename = "host/hello")]
    Hello(HostHelloParams),
    #[serde(rename = "host/contexts")]
    Contexts(HostContextsParams),
    /// Makes a workspace known; its engine starts with the first request.
    #[serde(rename = "host/open")]
    Open(HostOpenParams),
    #[serde(rename = "host/close")]
    Close(HostCloseParams),
    #[serde(rename = "host/restart")]
    Restart(HostRestartParams),
    #[serde(rename = "host/recent")]
    Recent(HostRecentParams),
    /// Makes a practice repository and opens it with the practice model.
    #[serde(rename = "host/sample")]
    Sample(HostSampleParams),
    /// Names of folders for a folder picker; never of files.
    #[serde(rename = "host/folders")]
    Folders(HostFoldersParams),
}

impl HostRequest {
    pub const METHODS: &[&str] = &[
        "host/hello",
        "host/contexts",
        "host/open",
        "host/close",
        "host/restart",
        "host/recent",
        "host/sample",
        "host/folders",
    ];
}

#[cfg(test)]
pub(crate) fn declare(module: &mut crate::typescript::Module) {
    module.add::<HostRequest>();
    module.add::<HostEvent>();
    module.add::<HostHelloResult>();
    module.add::<HostContextsResult>();
    module.add::<HostOpenResult>();
    module.add::<HostRecentResult>();
    module.add::<HostFoldersResult>();
    module.add::<ChatTurnParams>();
    module.add::<ChatTurnResult>();
    module.add::<CapabilityRegistry>();
}

/// Something about contexts that every window is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum HostEvent {
    ContextStateChanged {
        context: String,
        from: ContextState,
        to: ContextState,
        /// In words, where the change needs them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

wire! {
    pub struct HostHelloParams {}
    pub struct HostHelloResult {
        version: String,
        /// "linux", "macos", "windows".
        platform: String,
        contexts: Vec<ContextSummary>,
    }
    pub struct HostContextsParams {}
    pub struct HostContextsResult {
        contexts: Vec<ContextSummary>,
    }
    pub struct ContextSummary {
        /// The key by which frames name the context.
        context: String,
        kind: ContextKind,
        name: String,
        path: String,
        state: ContextState,
        /// Why it failed, when it did.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        error: Option<RuntimeError>,
    }

    pub struct HostOpenParams {
        /// Absolute.
        path: String,
        /// Also `/` or the home folder.
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        allow_wide: bool,
    }
    pub struct HostOpenResult {
        context: String,
    }
    pub struct HostCloseParams {
        context: String,
    }
    pub struct HostRestartParams {
        context: String,
    }
    pub struct HostRecentParams {}
    pub struct HostRecentResult {
        /// Latest first.
        recent: Vec<RecentWorkspace>,
    }
    pub struct RecentWorkspace {
        path: String,
        name: String,
        opened_at: Millis,
        exists: bool,
    }
    pub struct HostSampleParams {}
    pub struct HostFoldersParams {
        /// Absolute; empty for the home folder.
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        path: String,
    }
    pub struct HostFoldersResult {
        path: String,
        parent: Option<String>,
        /// Names, sorted, without hidden ones; at most 2,000.
        folders: Vec<String>,
    }

    /// `chat/turn`: one message to any context and its whole answer.
    pub struct ChatTurnParams {
        message: String,
        /// The conversation to go on with; a new one when absent.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        thread_id: Option<String>,
        /// What the screen shows, for backends that want to know; opaque to the host.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        context: Option<serde_json::Value>,
        /// What was said before, for backends that keep nothing.
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        thread: Vec<ChatMessage>,
    }
    pub struct ChatMessage {
        /// "user" or "assistant".
        role: String,
        text: String,
    }
    pub struct ChatTurnResult {
        thread_id: String,
        text: String,
        /// What the backend proposes and a person decides about; for the engine, ids of change sets.
        #[serde(default)]
        proposals: Vec<serde_json::Value>,
    }

    /// `capabilities/list`: what a context can do, before any filter of who may see it.
    pub struct CapabilitiesListParams {}
    pub struct CapabilityRegistry {
        capabilities: Vec<Capability>,
    }
    pub struct Capability {
        name: String,
        #[serde(default)]
        description: String,
        /// Whether a person is asked before it acts.
        #[serde(default)]
        requires_confirmation: bool,
    }
}
