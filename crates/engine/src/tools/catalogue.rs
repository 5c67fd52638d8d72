//! The one table of tools: arguments, descriptions for the model, words for the screen. Schemas are made from the
//! argument types, so that what the model is told and what is checked cannot differ.

use protocol::{ErrorCode, Mode, ToolClass, ToolError, ToolId, ToolSchema};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

macro_rules! arguments {
    ($($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $ty:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty,)* }
    )*};
}

arguments! {
    ReadFile {
        path: String,
        /// First line, from 1.
        #[serde(default)]
        start_line: Option<u32>,
        /// Last line, inclusive.
        #[serde(default)]
        end_line: Option<u32>,
    }
    ListDirectory {
        #[serde(default)]
        path: Option<String>,
    }
    SearchFiles {
        /// A glob such as `src/**/*.rs`, or words of the path.
        query: String,
    }
    SearchContent {
        /// A regular expression (Rust syntax).
        pattern: String,
        /// File or folder to search; an ignored one is searched when named.
        #[serde(default)]
        path: Option<String>,
        #[serde(default)]
        glob: Option<String>,
        /// Take the pattern as plain text.
        #[serde(default)]
        literal: bool,
        #[serde(default)]
        ignore_case: bool,
    }
    GitStatus {}
    GitDiff {
        #[serde(default)]
        path: Option<String>,
        #[serde(default)]
        staged: bool,
    }
    CreateFile {
        path: String,
        content: String,
    }
    EditFile {
        path: String,
        /// Exact text that occurs once.
        old: String,
        new: String,
    }
    Replacement {
        old: String,
        new: String,
    }
    MultiEdit {
        path: String,
        edits: Vec<Replacement>,
    }
    ReplaceFile {
        path: String,
        content: String,
    }
    ApplyPatch {
        /// Unified diff; context and deleted lines must match exactly.
        patch: String,
    }
    DeleteFile {
        path: String,
    }
    RenameFile {
        from: String,
        to: String,
    }
    RunCommand {
        command: String,
        /// Folder to run in; the workspace root if absent.
        #[serde(default)]
        cwd: Option<String>,
        /// Default 120, at most 1800.
        #[serde(default)]
        timeout_seconds: Option<u32>,
        /// true for what runs on, as a server: returns at once, ends when stopped.
        #[serde(default)]
        background: bool,
        /// true where a terminal is needed.
        #[serde(default)]
        terminal: bool,
    }
    CheckCommand {
        /// Of a background command; absent: the only one, or a list of all.
        #[serde(default)]
        id: Option<String>,
        /// End it.
        #[serde(default)]
        stop: bool,
        /// Wait for more output first, at most 30.
        #[serde(default)]
        wait_seconds: Option<u32>,
    }
    RunChecks {
        /// true for everything, not only what is nearest to your changes.
        #[serde(default)]
        all: bool,
    }
}

/// A call whose arguments have been checked; one variant a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolArguments {
    ReadFile(ReadFile),
    ListDirectory(ListDirectory),
    SearchFiles(SearchFiles),
    SearchContent(SearchContent),
    GitStatus(GitStatus),
    GitDiff(GitDiff),
    CreateFile(CreateFile),
    EditFile(EditFile),
    MultiEdit(MultiEdit),
    ReplaceFile(ReplaceFile),
    ApplyPatch(ApplyPatch),
    DeleteFile(DeleteFile),
    RenameFile(RenameFile),
    RunCommand(RunCommand),
    CheckCommand(CheckCommand),
    RunChecks(RunChecks),
}

impl ToolArguments {
    pub fn parse(tool: ToolId, arguments: &Value) -> Result<Self, ToolError> {
        Ok(match tool {
            ToolId::ReadFile => Self::ReadFile(typed(tool, arguments)?),
            ToolId::ListDirectory => Self::ListDirectory(typed(tool, arguments)?),
            ToolId::SearchFiles => Self::SearchFiles(typed(tool, arguments)?),
            ToolId::SearchContent => Self::SearchContent(typed(tool, arguments)?),
            ToolId::GitStatus => Self::GitStatus(typed(tool, arguments)?),
            ToolId::GitDiff => Self::GitDiff(typed(tool, arguments)?),
            ToolId::CreateFile => Self::CreateFile(typed(tool, arguments)?),
            ToolId::EditFile => Self::EditFile(typed(tool, arguments)?),
            ToolId::MultiEdit => Self::MultiEdit(typed(tool, arguments)?),
            ToolId::ReplaceFile => Self::ReplaceFile(typed(tool, arguments)?),
            ToolId::ApplyPatch => Self::ApplyPatch(typed(tool, arguments)?),
            ToolId::DeleteFile => Self::DeleteFile(typed(tool, arguments)?),
            ToolId::RenameFile => Self::RenameFile(typed(tool, arguments)?),
            ToolId::RunCommand => Self::RunCommand(typed(tool, arguments)?),
            ToolId::CheckCommand => Self::CheckCommand(typed(tool, arguments)?),
            ToolId::RunChecks => Self::RunChecks(typed(tool, arguments)?),
        })
    }
}

fn typed<T: DeserializeOwned>(tool: ToolId, arguments: &Value) -> Result<T, ToolError> {
    T::deserialize(arguments).map_err(|error| ToolError {
        code: ErrorCode::ToolArguments,
        message: format!(
            "The arguments of {} are not valid: {error}. Nothing was done.",
            tool.name()
        ),
        retryable: false,
    })
}

/// What a tool is called on screen and what the model is told about it.
struct Entry {
    description: &'static str,
    verb: &'static str,
    running: &'static str,
}

fn entry(tool: ToolId) -> Entry {
    let (description, verb, running) = match tool {
        ToolId::ReadFile => (
            "Read a text file, or some of its lines. Each line comes as `number│text`.",
            "Read",
            "Reading",
        ),
        ToolId::ListDirectory => (
            "List a folder; the workspace root if no path is given.",
            "Listed",
            "Listing",
        ),
        ToolId::SearchFiles => ("Find files by path.", "Searched files for", "Searching files for"),
        ToolId::SearchContent => (
            "Search file contents. Says how many files were skipped and why.",
            "Searched",
            "Searching",
        ),
        ToolId::GitStatus => (
            "The user's uncommitted changes on disk (not your draft).",
            "Checked git status",
            "Checking git status",
        ),
        ToolId::GitDiff => (
            "Diff of the user's uncommitted changes on disk (not your draft).",
            "Read git diff",
            "Reading git diff",
        ),
        ToolId::CreateFile => ("Create a file that does not exist yet.", "Created", "Creating"),
        ToolId::EditFile => (
            "Replace `old`, which must occur exactly once, with `new`.",
            "Edited",
            "Editing",
        ),
        ToolId::MultiEdit => (
            "Several replacements in one file, in order, all or none.",
            "Edited",
            "Editing",
        ),
        ToolId::ReplaceFile => (
            "Replace the whole content of a file that you have read. Prefer edit_file.",
            "Replaced",
            "Replacing",
        ),
        ToolId::ApplyPatch => (
            "Apply a unified diff to one or more files, all or none.",
            "Patched",
            "Patching",
        ),
        ToolId::DeleteFile => ("Delete a file.", "Deleted", "Deleting"),
        ToolId::RenameFile => (
            "Rename or move a file to a path that is free.",
            "Renamed",
            "Renaming",
        ),
        ToolId::RunCommand => (
            "Run a shell command; your draft is applied where it runs. No terminal, no input. Each call starts anew: \
             `cd` does not carry over. Ends at the timeout. What must run on is started with `background`.",
            "Ran",
            "Running",
        ),
        ToolId::CheckCommand => (
            "See what a background command printed, or stop it.",
            "Checked",
            "Checking",
        ),
        ToolId::RunChecks => (
            "Run the project's own tests and type checks on your draft; failures come with their places. They also run by \
             themselves when you are done.",
            "Ran checks",
            "Running checks",
        ),
    };
    Entry {
        description,
        verb,
        running,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tense {
    Running,
    Finished,
}

/// The verb for a person: "Reading" while it runs, "Read" after.
pub fn verb(tool: ToolId, tense: Tense) -> &'static str {
    match tense {
        Tense::Running => entry(tool).running,
        Tense::Finished => entry(tool).verb,
    }
}

/// What the verb applies to.
pub fn target(tool: ToolId, arguments: &Value) -> String {
    let text = |key: &str| {
        arguments
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    match tool {
        ToolId::ListDirectory => arguments
            .get("path")
            .and_then(Value::as_str)
            .unwrap_or(".")
            .to_owned(),
        ToolId::SearchFiles => text("query"),
        ToolId::SearchContent => text("pattern"),
        ToolId::GitStatus => String::new(),
        ToolId::ApplyPatch => patch_target(&text("patch")),
        ToolId::RenameFile => format!("{} → {}", text("from"), text("to")),
        ToolId::RunCommand => text("command"),
        ToolId::CheckCommand => text("id"),
        ToolId::RunChecks => String::new(),
        ToolId::ReadFile
        | ToolId::GitDiff
        | ToolId::CreateFile
        | ToolId::EditFile
        | ToolId::MultiEdit
        | ToolId::ReplaceFile
        | ToolId::DeleteFile => text("path"),
    }
}

fn patch_target(patch: &str) -> String {
    let mut files = patch
        .lines()
        .filter_map(|line| line.strip_prefix("+++ "))
        .map(|name| {
            name.split('\t')
                .next()
                .unwrap_or(name)
                .trim_start_matches("b/")
                .to_owned()
        });
    let first = files.next().unwrap_or_default();
    match files.count() {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Whether a mode offers a tool. The router enforces the same answer: the mode shown is the mode enforced.
pub fn offered(tool: ToolId, mode: Mode) -> bool {
    match (tool.class(), mode) {
        // Nothing that runs on is started in the other modes.
        (ToolClass::Execute, Mode::Ask | Mode::Edit) => tool == ToolId::RunCommand,
        (ToolClass::Read | ToolClass::Execute, _) => true,
        (ToolClass::Write, Mode::Ask) => false,
        (ToolClass::Write, Mode::Edit | Mode::Agent) => true,
    }
}

/// The tools of a mode, in a fixed order.
pub fn schemas(mode: Mode) -> Vec<ToolSchema> {
    ToolId::ALL
        .iter()
        .filter(|tool| offered(**tool, mode))
        .map(|tool| schema(*tool))
        .collect()
}

fn schema(tool: ToolId) -> ToolSchema {
    fn of<T: JsonSchema>() -> schemars::Schema {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
        settings.into_generator().into_root_schema_for::<T>()
    }
    let parameters = match tool {
        ToolId::ReadFile => of::<ReadFile>(),
        ToolId::ListDirectory => of::<ListDirectory>(),
        ToolId::SearchFiles => of::<SearchFiles>(),
        ToolId::SearchContent => of::<SearchContent>(),
        ToolId::GitStatus => of::<GitStatus>(),
        ToolId::GitDiff => of::<GitDiff>(),
        ToolId::CreateFile => of::<CreateFile>(),
        ToolId::EditFile => of::<EditFile>(),
        ToolId::MultiEdit => of::<MultiEdit>(),
        ToolId::ReplaceFile => of::<ReplaceFile>(),
        ToolId::ApplyPatch => of::<ApplyPatch>(),
        ToolId::DeleteFile => of::<DeleteFile>(),
        ToolId::RenameFile => of::<RenameFile>(),
        ToolId::RunCommand => of::<RunCommand>(),
        ToolId::CheckCommand => of::<CheckCommand>(),
        ToolId::RunChecks => of::<RunChecks>(),
    };
    let mut parameters = parameters.to_value();
    slim(&mut parameters);
    ToolSchema {
        name: tool.name().to_owned(),
        description: entry(tool).description.to_owned(),
        parameters,
    }
}

/// Drops what costs tokens and says nothing: titles, defaults, number formats, "or null" of optional fields.
fn slim(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.remove("format");
            map.remove("minimum");
            map.remove("default");
            if map.get("title").is_some_and(Value::is_string) {
                map.remove("title");
            }
            if let Some(Value::Array(types)) = map.get("type") {
                let real: Vec<Value> = types.iter().filter(|name| *name != "null").cloned().collect();
                if let [only] = real.as_slice() {
                    map.insert("type".to_owned(), only.clone());
                }
            }
            map.values_mut().for_each(slim);
        }
        Value::Array(values) => values.iter_mut().for_each(slim),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_tool_schemas() {
        insta::assert_json_snapshot!(schemas(Mode::Agent));
    }

    /// The whole first prompt has 3,000 tokens (characters / 4) for system text and tools together.
    #[test]
    fn system_text_and_tools_stay_small() {
        let bundle = prompt::compose(prompt::PromptRequest {
            mode: Mode::Agent,
            workspace: Some("a-rather-long-folder-name"),
            platform: "linux",
            instructions: &[],
            tools: schemas(Mode::Agent),
            budget: prompt::TokenBudgetManager::new(200_000, 8_000),
        });
        assert!(
            bundle.estimated_tokens < 2_400,
            "{} tokens",
            bundle.estimated_tokens
        );
    }

    #[test]
    fn wrong_arguments_are_named() {
        let cases = [
            (ToolId::ReadFile, serde_json::json!({}), "missing field `path`"),
            (
                ToolId::ReadFile,
                serde_json::json!({"path": 3}),
                "invalid type: integer `3`, expected a string",
            ),
            (
                ToolId::EditFile,
                serde_json::json!({"path": "a", "old": "b", "new": "c", "all": true}),
                "unknown field `all`",
            ),
            (
                ToolId::RunCommand,
                serde_json::json!("ls"),
                "invalid type: string",
            ),
        ];
        for (tool, arguments, expected) in cases {
            let error = ToolArguments::parse(tool, &arguments).unwrap_err();
            assert!(error.message.contains(expected), "{}", error.message);
        }
    }

    #[test]
    fn ask_mode_offers_no_writing_tool() {
        assert!(
            schemas(Mode::Ask)
                .iter()
                .all(|tool| ToolId::from_name(&tool.name).unwrap().class() != ToolClass::Write)
        );
    }
}
