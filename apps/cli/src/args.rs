//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// A local-first AI coding assistant: it drafts changes and tests them; only what you accept reaches your files.
///
/// Without a command it opens a window on a folder.
#[derive(Debug, Parser)]
#[command(name = "vibe-coder", version, propagate_version = true)]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub window: Window,
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

#[derive(Debug, Args)]
pub struct Window {
    /// The folder to open in a window (default: the current one). Write ./exec for a folder that is named as a command
    #[arg(value_name = "PATH", value_hint = clap::ValueHint::DirPath)]
    pub path: Option<PathBuf>,
    /// Print the window's address instead of opening it; it works once, for a minute
    #[arg(long)]
    pub no_open: bool,
    /// Open a practice repository with a practice model
    #[arg(long, conflicts_with = "path")]
    pub sample: bool,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// The folder to open first
    #[arg(value_name = "PATH", value_hint = clap::ValueHint::DirPath)]
    pub path: Option<PathBuf>,
    /// The port to listen on, on this machine only (default: any free one)
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// End the engine of a folder that nobody has used for this many seconds; the next use starts it again
    #[arg(long, value_name = "S", default_value_t = 900, value_parser = clap::value_parser!(u64).range(1..))]
    pub idle_after: u64,
    /// The server alone never opens a window; accepted so that scripts can say so
    #[arg(long, hide = true)]
    pub no_open: bool,
    /// Print {"url": …} instead of words
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Common {
    /// The folder to work in (default: the current one)
    #[arg(long, global = true, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Allow `/` or the home folder as the workspace
    #[arg(long, global = true)]
    pub allow_wide_workspace: bool,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// The server of the window alone: prints an address that works once, for a minute
    Serve(Serve),
    /// Work on one request and propose changes
    Exec(Exec),
    /// Review proposed changes: list, show, accept, reject, undo, redo
    Changes(Changes),
    /// Earlier work: list, show, resume, export, search
    Sessions(Sessions),
    /// Run the project's checks on what is proposed, else on the whole folder
    Verify(Verify),
    /// Standing rules about commands: what runs without a question, always asks, or never runs
    Approvals(Approvals),
    /// The commands that run in an open window: list, stop
    Commands(Commands),
    /// What the model would be shown of the repository for a request, and why
    Context(Context),
    /// What is remembered of the repository and of a session: show, clear
    Memory(Memory),
    /// Read or change settings
    Settings(Settings),
    /// Models: list them, try them out, store or forget a key
    Providers(Providers),
    /// Say what works on this machine
    Doctor(Doctor),
    /// A full run without a key: a sample repository, a failing test, a fix, a review
    Demo(Demo),
    /// The wire contract on standard input and output, one JSON object a line
    #[command(hide = true)]
    Engine(EngineMode),
}

#[derive(Debug, Args)]
pub struct EngineMode {
    /// Serve any number of clients on a socket instead, until standard input ends
    #[arg(long)]
    pub listen: bool,
}

#[derive(Debug, Args)]
pub struct Exec {
    /// ask: answers only; edit: proposes changes; agent: also runs commands and repairs
    #[arg(long, value_name = "MODE", default_value = "agent", value_parser = ["ask", "edit", "agent"])]
    pub mode: String,
    /// anthropic, openai, scripted, or one from the settings
    #[arg(long, value_name = "ID")]
    pub provider: Option<String>,
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// Print events as JSON, one a line, then one result line
    #[arg(long)]
    pub json: bool,
    /// What to do with the proposed changes at the end
    #[arg(long, value_enum, default_value_t = Accept::None)]
    pub accept: Accept,
    /// What becomes of a call that needs a person
    #[arg(long, value_enum, default_value_t = ApprovalChoice::Deny)]
    pub approvals: ApprovalChoice,
    /// Go on with an earlier session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// End the turn after this many seconds
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,
    /// The request; `-` reads it from standard input
    pub prompt: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Accept {
    None,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ApprovalChoice {
    Deny,
    Allow,
}

#[derive(Debug, Args)]
pub struct Changes {
    #[command(subcommand)]
    pub verb: ChangesVerb,
}

#[derive(Debug, Subcommand)]
pub enum ChangesVerb {
    /// Every change set of the workspace, newest last
    List {
        #[arg(long)]
        json: bool,
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// The pending difference, as a diff
    Show {
        /// Default: the newest that waits for review
        id: Option<String>,
        #[arg(long)]
        json: bool,
    },
    /// Write proposed changes to the files
    Accept(Decide),
    /// Drop proposed changes; files stay as they are
    Reject(Decide),
    /// Take back what an accept wrote, keeping edits made since
    Undo {
        /// Default: the latest accept
        id: Option<String>,
        /// Only say what would be taken back
        #[arg(long)]
        dry_run: bool,
        #[arg(long)]
        json: bool,
    },
    /// Write again what was undone
    Redo {
        /// Default: the latest undo
        id: Option<String>,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct Decide {
    /// Default: the newest that waits for review
    pub id: Option<String>,
    /// Only this file
    #[arg(long, value_name = "PATH")]
    pub file: Option<String>,
    /// Only this hunk of the file, as numbered by `changes show`
    #[arg(long, value_name = "N", requires = "file", value_parser = clap::value_parser!(u32).range(1..))]
    pub hunk: Option<u32>,
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Sessions {
    #[command(subcommand)]
    pub verb: SessionsVerb,
}

#[derive(Debug, Subcommand)]
pub enum SessionsVerb {
    /// All sessions of the workspace; interrupted ones first
    List {
        #[arg(long)]
        json: bool,
    },
    /// One session's timeline
    Show {
        id: String,
        #[arg(long)]
        json: bool,
    },
    /// Mend what a crash interrupted and show where the session stands
    Resume {
        id: String,
        #[arg(long)]
        json: bool,
    },
    /// Everything stored about a session, one JSON record a line
    Export { id: String },
    /// Find messages by their words
    Search {
        query: String,
        #[arg(long)]
        json: bool,
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
}

#[derive(Debug, Args)]
pub struct Context {
    #[command(subcommand)]
    pub verb: ContextVerb,
}

/// A request in words, or a file that has it.
#[derive(Debug, Args)]
pub struct RequestText {
    #[arg(value_name = "REQUEST", required_unless_present = "file")]
    pub request: Option<String>,
    /// Read the request from a file
    #[arg(long, value_name = "PATH", conflicts_with = "request")]
    pub file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum ContextVerb {
    /// Every file that would be shown or left out, with its score, tokens and reason
    Explain {
        #[command(flatten)]
        request: RequestText,
        #[arg(long)]
        json: bool,
        /// Tokens for files (default: 8000)
        #[arg(long, value_name = "N")]
        max_tokens: Option<u64>,
        /// The file in front of you, relative to the workspace
        #[arg(long, value_name = "PATH")]
        active: Option<String>,
    },
    /// The files the request may be about, likeliest first
    Rank {
        #[command(flatten)]
        request: RequestText,
        /// With scores and the lines to show
        #[arg(long)]
        json: bool,
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// What a turn was shown before its request, exactly
    Shown {
        #[arg(value_name = "TURN")]
        turn: String,
        #[arg(long)]
        json: bool,
    },
    /// Always show this file to the model
    Pin { path: String },
    /// Never choose this file for the model
    Exclude { path: String },
    /// Take a pin or an exclusion back
    Unmark { path: String },
    /// The pinned and excluded files
    Marks {
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct Verify {
    /// The session whose changes are checked (default: the newest that waits for review)
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only what is nearest to the changes
    #[arg(long)]
    pub focused: bool,
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Memory {
    #[command(subcommand)]
    pub verb: MemoryVerb,
}

#[derive(Debug, Subcommand)]
pub enum MemoryVerb {
    /// What is remembered, with what it was read from
    Show {
        /// Also what the records of a session say
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        #[arg(long)]
        json: bool,
    },
    /// Forget what is remembered of the repository
    Clear {
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct Approvals {
    #[command(subcommand)]
    pub verb: ApprovalsVerb,
}

#[derive(Debug, Subcommand)]
pub enum ApprovalsVerb {
    /// The rules of this workspace, with who made each and how often it decided
    List {
        #[arg(long)]
        json: bool,
    },
    /// Make a rule, for example `allow 'npm install *'`; never wins over ask, ask over allow
    Add {
        #[arg(value_enum)]
        effect: EffectChoice,
        /// Words of a command; `*` stands for its arguments (for allow: those that are no options)
        pattern: String,
        /// Also where no sandbox keeps the command from the machine
        #[arg(long)]
        anywhere: bool,
        /// Only in this session
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        #[arg(long)]
        json: bool,
    },
    /// Take a rule back
    Revoke { id: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EffectChoice {
    Allow,
    Ask,
    Never,
}

#[derive(Debug, Args)]
pub struct Commands {
    #[command(subcommand)]
    pub verb: CommandsVerb,
}

#[derive(Debug, Subcommand)]
pub enum CommandsVerb {
    /// All that run now, those beside turns included
    List {
        #[arg(long)]
        json: bool,
    },
    /// End one and everything it started
    Stop { id: String },
}

#[derive(Debug, Args)]
pub struct Settings {
    #[command(subcommand)]
    pub verb: SettingsVerb,
}

#[derive(Debug, Subcommand)]
pub enum SettingsVerb {
    /// Print one setting, or all
    Get { key: Option<String> },
    /// Set one, for example `providers.openai.baseUrl http://localhost:8080/v1`
    Set { key: String, value: String },
}

#[derive(Debug, Args)]
pub struct Providers {
    #[command(subcommand)]
    pub verb: ProvidersVerb,
}

#[derive(Debug, Subcommand)]
pub enum ProvidersVerb {
    /// Every provider, whether it can be used, and what is missing
    List {
        #[arg(long)]
        json: bool,
    },
    /// How each has been doing in the last two days, and what it cost today
    Health {
        #[arg(long)]
        json: bool,
    },
    /// Try out streaming, tool calls, edits and how much is really read; a paid provider charges a few cents
    Check {
        /// Default: the default provider and every server found on this machine
        id: Option<String>,
        #[arg(long, value_name = "ID")]
        model: Option<String>,
        #[arg(long)]
        json: bool,
    },
    /// Store a key, read from the terminal without showing it, or from standard input
    Login { id: String },
    /// Forget a stored key
    Logout { id: String },
}

#[derive(Debug, Args)]
pub struct Doctor {
    #[arg(long)]
    pub json: bool,
    /// Save what is readable of a damaged database into a new one; the damaged one is kept
    #[arg(long)]
    pub salvage: bool,
}

#[derive(Debug, Args)]
pub struct Demo {
    /// Where to put the sample repository (default: a new temporary folder)
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Only make the sample repository in this empty folder, and say where it is
    #[arg(long, value_name = "DIR", hide = true, conflicts_with = "into")]
    pub prepare: Option<PathBuf>,
    #[arg(long)]
    pub json: bool,
}
