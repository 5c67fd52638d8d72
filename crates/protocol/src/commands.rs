//! Commands of the wire contract: those that run beside turns, and a person's standing rules about all of them.

use serde::{Deserialize, Serialize};

use crate::{CommandId, Millis, RuleId, SessionId, request::wire};

/// What a rule does with the commands it names. The strictest that matches counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum RuleEffect {
    /// Runs without a question where the policy would ask. Never lifts a block.
    Allow,
    /// Asks where the policy would allow.
    Ask,
    Never,
}

/// How far an answer to a question reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum AnswerScope {
    #[default]
    Once,
    /// The same kind of command in this session.
    Session,
    /// The same kind of command in every session of this workspace.
    Workspace,
}

/// Where a rule holds: what is harmless in a sandbox may not be without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum RulePlace {
    /// Only for commands in a staged view.
    #[default]
    Sandboxed,
    Anywhere,
}

/// What a command has for its input and output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum CommandTerminal {
    #[default]
    None,
    /// A terminal of its own, into which `command/input` types.
    Own,
}

/// How long a command may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum CommandLifetime {
    /// To its end or its time limit; the turn waits for it.
    #[default]
    Awaited,
    /// Until it is stopped or the engine ends; it outlives the turn.
    Background,
}

wire! {
    pub struct CommandRule {
        id: RuleId,
        /// Words of a command; `*` stands for any arguments, for `allow` any that are no options.
        pattern: String,
        effect: RuleEffect,
        place: RulePlace,
        /// Absent where it holds for the workspace.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        session_id: Option<SessionId>,
        created_at: Millis,
        /// Who made it and over what.
        because: String,
        /// Commands it has decided about since the engine started.
        used: u64,
    }

    pub struct ApprovalsListParams {}
    pub struct ApprovalsListResult {
        rules: Vec<CommandRule>,
    }
    pub struct ApprovalsAddParams {
        pattern: String,
        effect: RuleEffect,
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        place: RulePlace,
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        session_id: Option<SessionId>,
    }
    pub struct ApprovalsRevokeParams {
        id: RuleId,
    }

    /// A command of the user's own. What it changes joins the session's draft, as an agent's would.
    pub struct CommandRunParams {
        session_id: SessionId,
        command: String,
        /// Relative to the workspace; its root when absent.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        cwd: Option<String>,
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        lifetime: CommandLifetime,
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        terminal: CommandTerminal,
    }
    pub struct CommandAccepted {
        command_id: CommandId,
    }
    pub struct CommandListParams {}
    pub struct CommandListResult {
        commands: Vec<RunningCommand>,
    }
    /// One that has not ended.
    pub struct RunningCommand {
        command_id: CommandId,
        session_id: SessionId,
        command: String,
        cwd: String,
        started_at: Millis,
        lifetime: CommandLifetime,
        terminal: CommandTerminal,
        /// The end of what it has printed.
        recent_output: String,
    }
    pub struct CommandInputParams {
        command_id: CommandId,
        text: String,
    }
}
