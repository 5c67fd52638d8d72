//! Tools the model can call and what comes back (§15). `ToolId` is closed: a tool of a future island cannot be
//! named, and there is no way to add one at run time (§54).

use serde::{Deserialize, Serialize};

use crate::{ArtifactId, ErrorCode, Millis, ToolCallId};

macro_rules! tools {
    ($($variant:ident = $name:literal, $class:ident;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(test, derive(ts_rs::TS))]
        pub enum ToolId {
            $(#[serde(rename = $name)] $variant,)*
        }

        impl ToolId {
            pub const ALL: &[ToolId] = &[$(ToolId::$variant),*];

            /// The name the model uses.
            pub fn name(self) -> &'static str {
                match self { $(ToolId::$variant => $name,)* }
            }

            pub fn class(self) -> ToolClass {
                match self { $(ToolId::$variant => ToolClass::$class,)* }
            }

            pub fn from_name(name: &str) -> Option<ToolId> {
                Self::ALL.iter().copied().find(|tool| tool.name() == name)
            }
        }
    };
}

/// What a tool can do, which decides in which mode it is offered and whether calls run side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum ToolClass {
    /// No effect; runs concurrently with other reads.
    Read,
    /// Changes the draft; strictly in the order the model asked.
    Write,
    /// Starts a process; strictly in order.
    Execute,
}

tools! {
    ReadFile = "read_file", Read;
    ListDirectory = "list_directory", Read;
    SearchFiles = "search_files", Read;
    SearchContent = "search_content", Read;
    GitStatus = "git_status", Read;
    GitDiff = "git_diff", Read;
    CreateFile = "create_file", Write;
    EditFile = "edit_file", Write;
    MultiEdit = "multi_edit", Write;
    ReplaceFile = "replace_file", Write;
    ApplyPatch = "apply_patch", Write;
    DeleteFile = "delete_file", Write;
    RenameFile = "rename_file", Write;
    RunCommand = "run_command", Execute;
    CheckCommand = "check_command", Execute;
    RunChecks = "run_checks", Execute;
}

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ToolSchema {
    pub name: String,
    pub description: String,
    /// A JSON Schema of type object.
    pub parameters: serde_json::Value,
}

/// A stored file beside the event log: a whole command log, an exported diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ArtifactRef {
    pub id: ArtifactId,
    pub kind: ArtifactKind,
    pub size_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ArtifactKind {
    CommandLog,
    DiffPatch,
    ProviderTrace,
    Snapshot,
    DiagnosticReport,
    PromptTrace,
    /// A whole tool result of which the model was given a part.
    ToolOutput,
}

/// Why a call did not do its work; `message` is also what the model reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolError {
    pub code: ErrorCode,
    pub message: String,
    pub retryable: bool,
}

/// §15.2. `content` is exactly the text the model is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    pub ok: bool,
    pub tool_call_id: ToolCallId,
    pub name: String,
    pub started_at: Millis,
    pub completed_at: Millis,
    pub duration_ms: u64,
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactRef>,
    /// One line for a person: "Read src/app.rs 1–120".
    pub summary: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §54.2: with default flags no browser, design or device tool can even be written down.
    #[test]
    fn island_tools_cannot_be_expressed() {
        for tool in ToolId::ALL {
            for island in ["browser", "design", "device", "screen"] {
                assert!(!tool.name().contains(island), "{}", tool.name());
            }
            assert_eq!(ToolId::from_name(tool.name()), Some(*tool));
        }
        assert_eq!(ToolId::from_name("browser_open"), None);
        assert!(serde_json::from_str::<ToolId>("\"device_click\"").is_err());
    }
}
