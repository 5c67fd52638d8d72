//! Decides whether a shell command may run: by itself, after a person's yes, or never.
//!
//! The command line is parsed as the shell would, and every simple command in it is judged with its arguments,
//! wherever it stands: in chains, pipes, substitutions, redirections, functions and behind wrappers such as `env`
//! or `xargs`. The strictest finding decides. What cannot be parsed, or depends on a value that is only known
//! when it runs, asks.
//!
//! This is the only maker of [`ApprovedCommand`]. It starts nothing and writes nothing; it looks at the file
//! system only to follow links and wildcards in paths.

mod checks;
mod commands;
mod deletes;
mod git;
mod options;
mod paths;
mod repository;
mod rules;
mod scripts;
mod syntax;
// Laid out by hand: tables read as tables.
#[rustfmt::skip]
pub(crate) mod tables;
#[cfg(test)]
#[rustfmt::skip]
mod tests;
mod words;
mod wrappers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use paths::names_credentials;
pub use rules::{Effect, Pattern, PatternError, Rule};

use protocol::{ErrorCode, Mode, RuntimeError};

/// What a mode lets commands do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Ask and Edit mode: read-only commands, nothing else.
    ReadOnly,
    /// Agent mode.
    Full,
}

impl From<Mode> for Reach {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Ask | Mode::Edit => Reach::ReadOnly,
            Mode::Agent => Reach::Full,
        }
    }
}

/// Whether commands that build or test the project run without a question. They execute the repository's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    Allow,
    Ask,
}

/// Where and for whom a command is judged.
#[derive(Clone, Debug)]
pub struct PolicyContext {
    workspace_root: PathBuf,
    cwd: PathBuf,
    home: Option<PathBuf>,
    linked_roots: Vec<PathBuf>,
    reach: Reach,
    checks: Checks,
    environment: BTreeMap<String, String>,
}

impl PolicyContext {
    /// Full reach, project checks ask, no home and an empty environment. Paths are resolved through links.
    pub fn new(workspace_root: impl AsRef<Path>, cwd: impl AsRef<Path>) -> Self {
        Self {
            workspace_root: paths::real(workspace_root.as_ref()),
            cwd: paths::real(cwd.as_ref()),
            home: None,
            linked_roots: Vec::new(),
            reach: Reach::Full,
            checks: Checks::Ask,
            environment: BTreeMap::new(),
        }
    }

    pub fn reach(mut self, reach: impl Into<Reach>) -> Self {
        self.reach = reach.into();
        self
    }

    pub fn checks(mut self, checks: Checks) -> Self {
        self.checks = checks;
        self
    }

    /// The variables that the command will have; `HOME` among them is what `~` means.
    pub fn environment(mut self, environment: &crate::CommandEnvironment) -> Self {
        self.environment = environment
            .iter()
            .map(|(name, value)| {
                (
                    name.to_string_lossy().into_owned(),
                    value.to_string_lossy().into_owned(),
                )
            })
            .collect();
        self.home = self
            .environment
            .get("HOME")
            .map(|home| paths::real(Path::new(home)));
        self
    }

    /// Another folder that counts as the workspace, for example the target of a linked dependency folder in a
    /// staged copy.
    pub fn linked_root(mut self, folder: impl AsRef<Path>) -> Self {
        self.linked_roots.push(paths::real(folder.as_ref()));
        self
    }
}

/// What the policy says of a command, from the mildest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ruling {
    /// It may run by itself.
    Allow,
    /// A person decides.
    Ask,
    /// The mode allows read-only commands only, and this is not one. Another mode may ask or allow.
    NotInThisMode,
    /// Never, in no mode and by nobody's word.
    Block,
}

/// What kind of command it is, for grants and cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommandClass {
    /// Reads inside the workspace, and nothing else.
    ReadOnly,
    /// Builds, tests, lints or type-checks the project, and so runs its code.
    ProjectCheck,
    Other,
}

/// The judgement of one command line.
#[derive(Clone, Debug)]
pub struct Verdict {
    command: String,
    ruling: Ruling,
    class: CommandClass,
    reasons: Vec<String>,
    last_pipeline: Vec<Option<String>>,
    changes_repository: bool,
    parts: Vec<rules::Part>,
    /// Whether it asks because of its parts and nothing else, as a redirection would be.
    parts_ask: bool,
    /// Patterns of a person's rules that decided.
    rules: Vec<Pattern>,
}

impl Verdict {
    pub fn command(&self) -> &str {
        &self.command
    }

    pub fn ruling(&self) -> Ruling {
        self.ruling
    }

    pub fn class(&self) -> CommandClass {
        self.class
    }

    /// Whether a git command in it is not known to read only. One that is allowed to run needs to write `.git`.
    pub fn changes_repository(&self) -> bool {
        self.changes_repository
    }

    /// Why, in plain words, for example "read-only" or "`rm` deletes files".
    pub fn reason(&self) -> String {
        self.reasons.join("; ")
    }

    /// Takes a command that needs nobody's word.
    pub fn approve(self) -> Result<ApprovedCommand, Refusal> {
        match self.ruling {
            Ruling::Allow => {
                let reason = self.reason();
                Ok(self.into_approved(reason))
            }
            _ => Err(self.refusal()),
        }
    }

    /// Takes a command that a person was asked about and said yes to. A blocked command, or one that the mode
    /// does not allow, stays refused.
    pub fn approve_by(self, grant: Grant) -> Result<ApprovedCommand, Refusal> {
        match self.ruling {
            Ruling::Allow | Ruling::Ask => Ok(self.into_approved(grant.reason)),
            Ruling::NotInThisMode | Ruling::Block => Err(self.refusal()),
        }
    }

    fn into_approved(self, reason: String) -> ApprovedCommand {
        ApprovedCommand {
            text: self.command,
            reason,
            class: self.class,
            last_pipeline: self.last_pipeline,
            changes_repository: self.changes_repository,
        }
    }

    fn refusal(self) -> Refusal {
        Refusal {
            ruling: self.ruling,
            reason: self.reason(),
            command: self.command,
        }
    }
}

/// A person's yes to one command.
#[derive(Clone, Debug)]
pub struct Grant {
    reason: String,
}

impl Grant {
    /// `reason` says who allowed it and how far, for the record: "approved for this run".
    pub fn by_person(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}

/// A command that may be started. Made only by a [`Verdict`].
#[derive(Clone, Debug)]
pub struct ApprovedCommand {
    text: String,
    reason: String,
    class: CommandClass,
    last_pipeline: Vec<Option<String>>,
    changes_repository: bool,
}

impl ApprovedCommand {
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Why it may run.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    pub fn class(&self) -> CommandClass {
        self.class
    }

    /// Whether it was allowed although a git command in it is not known to read only.
    pub fn changes_repository(&self) -> bool {
        self.changes_repository
    }

    /// The command name of each stage of the pipeline whose status is the command's own.
    pub(crate) fn last_pipeline(&self) -> Vec<Option<String>> {
        self.last_pipeline.clone()
    }
}

/// A command that does not run.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    pub command: String,
    pub ruling: Ruling,
    pub reason: String,
}

impl From<Refusal> for RuntimeError {
    fn from(refusal: Refusal) -> Self {
        match refusal.ruling {
            Ruling::Block => RuntimeError::new(
                ErrorCode::PermissionBlocked,
                format!("Blocked: {}.", refusal.reason),
            )
            .because(refusal.command)
            .action("This is never run for you. If you mean it, run it in your own terminal."),
            Ruling::NotInThisMode => RuntimeError::new(
                ErrorCode::PermissionMode,
                format!("Only read-only commands run in this mode: {}.", refusal.reason),
            )
            .because(refusal.command)
            .action("Switch to Agent mode to run it."),
            Ruling::Allow | Ruling::Ask => RuntimeError::new(
                ErrorCode::PermissionDenied,
                format!("Not approved: {}.", refusal.reason),
            )
            .because(refusal.command)
            .action("Approve the command to run it."),
        }
    }
}

/// Judges one command line, as `sh -c` would be given it.
pub fn judge(command: &str, context: &PolicyContext) -> Verdict {
    let judged = syntax::judge_text(command, context);
    let strictest = judged
        .findings
        .iter()
        .map(|finding| finding.level)
        .max()
        .unwrap_or(Level::Allow);
    let class = judged
        .findings
        .iter()
        .map(|finding| finding.class)
        .max()
        .unwrap_or(CommandClass::ReadOnly);
    let level = match (strictest, class) {
        (Level::Allow, CommandClass::ProjectCheck) if context.checks == Checks::Ask => Level::Ask,
        (level, _) => level,
    };
    let ruling = match (level, context.reach) {
        (Level::Block, _) => Ruling::Block,
        (_, Reach::ReadOnly) if level != Level::Allow || class != CommandClass::ReadOnly => {
            Ruling::NotInThisMode
        }
        (Level::Ask, _) => Ruling::Ask,
        (Level::Allow, _) => Ruling::Allow,
    };
    let asks = |finding: &Finding| {
        finding.level == Level::Ask
            || (finding.class == CommandClass::ProjectCheck
                && finding.level == Level::Allow
                && context.checks == Checks::Ask)
    };
    let parts: Vec<rules::Part> = judged
        .parts
        .into_iter()
        .enumerate()
        .map(|(index, words)| rules::Part {
            words,
            asks: judged
                .findings
                .iter()
                .any(|finding| finding.part == Some(index) && asks(finding)),
        })
        .collect();
    let parts_ask = judged
        .findings
        .iter()
        .filter(|finding| asks(finding))
        .all(|finding| finding.part.is_some());
    let mut reasons: Vec<String> = Vec::new();
    for finding in &judged.findings {
        let decides = finding.level == strictest && (strictest != Level::Allow || finding.class == class);
        if decides && !reasons.contains(&finding.reason) && reasons.len() < 4 {
            reasons.push(finding.reason.clone());
        }
    }
    if reasons.is_empty() {
        reasons.push("read-only".to_owned());
    }
    Verdict {
        command: command.to_owned(),
        ruling,
        class,
        reasons,
        last_pipeline: judged.last_pipeline,
        changes_repository: judged.changes_repository,
        parts,
        parts_ask,
        rules: Vec::new(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Allow,
    Ask,
    Block,
}

/// One thing the policy noticed.
#[derive(Clone, Debug)]
struct Finding {
    level: Level,
    class: CommandClass,
    reason: String,
    /// The simple command it is about, where it is about one.
    part: Option<usize>,
}
