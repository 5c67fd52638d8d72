//! What the model is shown of a repository and why: explanations, rankings and the user's own marks.

use serde::{Deserialize, Serialize};

use crate::{TurnId, request::wire};

/// The user's word on a file, whatever the ranking says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum ContextMark {
    /// Always in the context.
    Pinned,
    /// Never in the context.
    Excluded,
    /// As the ranking says.
    None,
}

wire! {
    pub struct ContextExplainParams {
        /// The request in words.
        request: String,
        /// The file in front of the user, relative to the workspace.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        active_file: Option<String>,
        #[serde(default)]
        open_files: Vec<String>,
        /// For files, at most 100,000; 8,000 unless given.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        max_tokens: Option<u64>,
    }
    pub struct ContextExplainResult {
        /// What would be shown, best first.
        included: Vec<ContextFile>,
        /// What was considered and is not shown, best first, with the reason.
        omitted: Vec<ContextFile>,
        /// Files found by the request that are tests: shown apart, so that they cost no place.
        tests: Vec<ContextFile>,
        max_tokens: u64,
        estimated_tokens: u64,
        index: ContextIndexState,
    }
    pub struct ContextFile {
        path: String,
        /// Comparable only within one answer.
        score: f32,
        /// Why it is here, or not, in words.
        reason: String,
        /// What made the score, the largest first.
        parts: Vec<ContextScorePart>,
        /// Lines that are or would be shown, counted from 1, both ends included.
        ranges: Vec<(u32, u32)>,
        estimated_tokens: u64,
        mark: ContextMark,
    }
    pub struct ContextScorePart {
        /// For example "past_commits".
        factor: String,
        /// Completes "it is here because …".
        words: String,
        score: f32,
    }
    pub struct ContextIndexState {
        files: u64,
        /// All files were looked at since the engine started; otherwise the index may be behind.
        complete: bool,
        /// What is not in it and why, one sentence a reason.
        left_out: Vec<String>,
    }

    pub struct ContextRankParams {
        request: String,
        /// Paths returned at most; 100 unless given.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        limit: Option<u32>,
        /// Tokens that `ranges` may add up to; 8,000 unless given.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        max_tokens: Option<u64>,
    }
    pub struct ContextRankResult {
        files: Vec<ContextRanked>,
    }
    pub struct ContextRanked {
        path: String,
        score: f32,
        /// The parts to show; empty where the budget was used up by files before it.
        ranges: Vec<(u32, u32)>,
    }

    pub struct ContextPackParams {
        turn_id: TurnId,
    }
    /// What a turn was shown before the user's message.
    pub struct ContextPackResult {
        shown: Vec<ContextPackSource>,
        /// What was left out or cut.
        omitted: Vec<ContextPackSource>,
        estimated_tokens: u64,
        max_tokens: u64,
    }
    pub struct ContextPackSource {
        /// For example "repo_summary".
        kind: String,
        label: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        path: Option<String>,
        reason: String,
        estimated_tokens: u64,
        /// Exactly what was sent; empty for what was left out.
        text: String,
    }

    pub struct ContextMarkParams {
        /// Relative to the workspace.
        path: String,
        mark: ContextMark,
    }
    pub struct ContextMarksParams {}
    pub struct ContextMarksResult {
        pinned: Vec<String>,
        excluded: Vec<String>,
    }
}
