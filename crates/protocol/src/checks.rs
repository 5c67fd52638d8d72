//! Checks of the wire contract: what a run of the project's own tests showed, and on which files.

use serde::{Deserialize, Serialize};

use crate::{CommandId, Millis, SessionId, request::wire};

/// What a passing check shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum CheckKind {
    #[default]
    Tests,
    /// It compiles, or its types are right.
    Types,
    Lint,
}

/// How much of the project is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum CheckReach {
    /// What is nearest to the changed files.
    Focused,
    /// That first, and then everything that belongs together with it.
    #[default]
    Broad,
}

/// One test, or one place in the code, that a check complains about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CheckFailure {
    pub name: String,
    /// Relative to the workspace where it is known to lie there, else as the runner wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub line: Option<u32>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub message: String,
}

/// One run of a check. It says something only about the files it ran on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct VerificationItem {
    pub command: String,
    /// The folder it ran in, relative to the workspace.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub cwd: String,
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub kind: CheckKind,
    /// Names the exact files, those on disk with the draft over them.
    pub tree_hash: String,
    pub exit_code: Option<i32>,
    /// One line: "12 passed", "1 of 12 failed".
    pub summary: String,
    /// Why it was run, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub reason: String,
    /// Counts are absent where the runner does not tell them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub passed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub failed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub skipped: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub failures: Vec<CheckFailure>,
    /// The card of the command itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub command_id: Option<CommandId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub finished_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub duration_ms: Option<u64>,
    /// Why it says nothing about the files as they are now; absent while it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub stale: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum VerifiedState {
    /// Every check that was chosen passed on exactly these files.
    Passed,
    Failed,
    NotVerified,
}

/// What may be said of the files at a turn's end. Written by the engine from results, whatever a model claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    pub state: VerifiedState,
    /// One sentence, with what to do where something is left to do.
    pub text: String,
}

wire! {
    /// Runs the project's checks on the files as they are with the session's draft.
    pub struct VerifyRunParams {
        /// Absent: the newest session whose changes wait for review, else a new one.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        session_id: Option<SessionId>,
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        reach: CheckReach,
    }
    /// Returned when the last check has ended; each is an item of the timeline meanwhile.
    pub struct VerifyRunResult {
        session_id: SessionId,
        verified: Verified,
        results: Vec<VerificationItem>,
    }
}
