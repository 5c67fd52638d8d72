//! The repository's own instructions for assistants: which files there are, what each applies to, and which of them work
//! has come to. Must not know how they are placed in a prompt or what is left out of them.
//!
//! Files of the root belong to every request. Those of a folder join when work enters it, at the conversation's end, so
//! that what was sent before stays as it is; siblings' never do.

use std::path::{Path, PathBuf};

use prompt::{Instructions, nested_instructions};
use protocol::ContentHash;
use provider::Block;
use serde_json::Value;
use workspace::{
    Overlay, Workspace, display_path,
    list::{self, EntryKind},
    search,
};

use crate::{
    tools::router::Call,
    turn::{Turn, history::InstructionMark},
};

/// Looked for in the root, in this order; all that exist are used.
const ROOT_FILES: &[&str] = &["AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md"];
/// Looked for in each folder.
const FOLDER_FILES: &[&str] = &["AGENTS.md", "CLAUDE.md"];
const RULE_FOLDER: &str = ".cursor/rules";
const MAX_RULES: usize = 100;
/// Bytes of one instruction file that are read at most.
const MAX_INSTRUCTION_BYTES: u64 = 256 * 1024;
/// Paths of one step that are looked at: nobody enters more folders at once.
const MAX_PATHS: usize = 64;

pub fn of_root(turn: &Turn) -> Vec<Instructions> {
    let workspace = &turn.rooms.workspace;
    let mut files: Vec<Instructions> = ROOT_FILES
        .iter()
        .filter_map(|name| read(turn, Path::new(name)))
        .collect();
    let rules = rules_of(turn, workspace, Path::new(""));
    files.extend(rules.into_iter().filter(|rule| rule.always).map(|rule| rule.file));
    files
}

/// What joins a message because work has come to `paths`: its block, and the marks that say it is there now.
pub fn entered(
    turn: &Turn,
    paths: &[PathBuf],
    known: &[InstructionMark],
) -> Option<(Block, Vec<InstructionMark>)> {
    let mut files: Vec<Instructions> = Vec::new();
    for path in paths.iter().take(MAX_PATHS) {
        for file in applying_to(turn, path) {
            let hash = file.fingerprint();
            let is_known = known
                .iter()
                .rfind(|mark| mark.path == file.path)
                .is_some_and(|mark| mark.content_hash.0 == hash);
            if !is_known && !files.contains(&file) {
                files.push(file);
            }
        }
    }
    if files.is_empty() {
        return None;
    }
    let (text, marks) = rendered(turn, files);
    turn.note(used(marks.iter().map(|mark| mark.path.as_str())));
    (!text.is_empty()).then_some((Block::Text { text }, marks))
}

/// Files that were in messages that are no longer sent, as they are now.
pub fn again(turn: &Turn, paths: &[String]) -> (String, Vec<InstructionMark>) {
    let files = paths.iter().filter_map(|path| {
        let path = Path::new(path);
        let parent = path.parent().unwrap_or(Path::new(""));
        if parent.ends_with(RULE_FOLDER) {
            let folder = parent.parent().and_then(Path::parent)?;
            let rules = rules_of(turn, &turn.rooms.workspace, folder);
            return rules
                .into_iter()
                .map(|rule| rule.file)
                .find(|file| Path::new(&file.path) == path);
        }
        let file = read(turn, path)?;
        Some(scoped(file, parent))
    });
    rendered(turn, files.collect())
}

fn rendered(turn: &Turn, mut files: Vec<Instructions>) -> (String, Vec<InstructionMark>) {
    // The nearest first: what does not fit is cut from the farthest.
    files.sort_by_key(|file| std::cmp::Reverse(Path::new(&file.path).components().count()));
    let budget = turn.rooms.budget(&turn.provider, &turn.model);
    let (text, omitted) = nested_instructions(&files, budget.nested_instruction_limit());
    omitted.into_iter().for_each(|words| turn.note(words));
    let marks = files.iter().map(|file| InstructionMark {
        path: file.path.clone(),
        content_hash: ContentHash(file.fingerprint()),
    });
    let marks = marks.collect();
    (text, marks)
}

/// The line by which a person sees what was used.
pub fn used<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    let paths: Vec<&str> = paths.collect();
    format!("Instructions used: {}.", paths.join(", "))
}

/// Instruction files below the root that apply to a path, the nearest first. A folder has its own.
fn applying_to(turn: &Turn, path: &Path) -> Vec<Instructions> {
    let workspace = &turn.rooms.workspace;
    let Ok(resolved) = workspace.resolve(path) else {
        return Vec::new();
    };
    let relative = resolved.relative().to_path_buf();
    let mut files = Vec::new();
    for folder in relative.ancestors() {
        let is_root = folder.as_os_str().is_empty();
        if !is_root {
            let own = FOLDER_FILES
                .iter()
                .filter_map(|name| read(turn, &folder.join(name)));
            files.extend(own.map(|file| scoped(file, folder)));
        }
        let below = relative.strip_prefix(folder).unwrap_or(&relative);
        let rules = rules_of(turn, workspace, folder).into_iter();
        let meant = rules.filter(|rule| match rule.always {
            // Of the root it is in every request.
            true => !is_root,
            false => search::is_meant_by(&rule.globs, below),
        });
        files.extend(meant.map(|rule| rule.file));
    }
    files
}

fn scoped(file: Instructions, folder: &Path) -> Instructions {
    Instructions {
        applies_to: Some(format!("{} and below", display_path(folder))),
        ..file
    }
}

/// A file of `.cursor/rules`.
struct Rule {
    file: Instructions,
    always: bool,
    globs: Vec<String>,
}

fn rules_of(turn: &Turn, workspace: &Workspace, folder: &Path) -> Vec<Rule> {
    let Ok(place) = workspace.resolve(folder.join(RULE_FOLDER)) else {
        return Vec::new();
    };
    let Ok(listing) = list::list(workspace, &place, &Overlay::default(), MAX_RULES) else {
        return Vec::new();
    };
    let files = listing.entries.into_iter().filter(|entry| {
        let is_rule = entry.path.extension().is_some_and(|ending| ending == "mdc");
        is_rule && matches!(entry.kind, EntryKind::File)
    });
    let mut rules: Vec<Rule> = files
        .filter_map(|entry| Some(rule(read(turn, &entry.path)?, folder)))
        .collect();
    rules.sort_by(|one, other| one.file.path.cmp(&other.file.path));
    rules
}

/// Splits off the lines between `---`: `alwaysApply`, and `globs` as a comma list or one in brackets.
fn rule(file: Instructions, folder: &Path) -> Rule {
    let text = file.text.replace("\r\n", "\n");
    let parts = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---"));
    let (head, body) = parts.unwrap_or(("", &text));
    let value = |key: &str| {
        head.lines()
            .find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix(':'))
            .map(str::trim)
    };
    let globs: Vec<String> = value("globs")
        .unwrap_or_default()
        .trim_matches(['[', ']'])
        .split(',')
        .map(|glob| glob.trim().trim_matches(['"', '\'']).to_owned())
        .filter(|glob| !glob.is_empty())
        .collect();
    let applies_to = match (globs.is_empty(), folder.as_os_str().is_empty()) {
        (false, true) => Some(globs.join(", ")),
        (false, false) => Some(format!("{} in {}", globs.join(", "), display_path(folder))),
        (true, true) => None,
        (true, false) => Some(format!("{} and below", display_path(folder))),
    };
    Rule {
        always: value("alwaysApply") == Some("true"),
        globs,
        file: Instructions {
            path: file.path,
            applies_to,
            text: body.trim_start_matches(['-', '\n']).to_owned(),
        },
    }
}

/// A file that is missing, too large or not text is simply not an instruction file. What is only drafted is none yet.
fn read(turn: &Turn, path: &Path) -> Option<Instructions> {
    let path = turn.rooms.workspace.resolve(path).ok()?;
    let file = workspace::read_bytes(&path, &Overlay::default(), MAX_INSTRUCTION_BYTES).ok()?;
    match workspace::text::detect(&file.bytes) {
        workspace::text::Detected::Text { encoding, .. } => Some(Instructions {
            path: path.display(),
            applies_to: None,
            text: workspace::text::decode(&file.bytes, encoding),
        }),
        workspace::text::Detected::Binary { .. } => {
            turn.note(format!(
                "{} is not text and was not used as instructions.",
                path.display()
            ));
            None
        }
    }
}

/// Paths that a call is about.
pub fn paths_of(call: &Call) -> Vec<PathBuf> {
    let named = ["path", "from", "to", "cwd"]
        .iter()
        .filter_map(|key| call.arguments.get(key)?.as_str())
        .map(PathBuf::from);
    let patch = call
        .arguments
        .get("patch")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let patched = patch.lines().filter_map(|line| {
        let path = line.strip_prefix("+++ ").or_else(|| line.strip_prefix("--- "))?;
        let path = path.split('\t').next()?.trim();
        let plain = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
        (path != "/dev/null").then(|| PathBuf::from(plain.unwrap_or(path)))
    });
    named.chain(patched).collect()
}

/// Paths that a person names in a message. Whether they exist is seen later.
pub fn paths_in(words: &str) -> Vec<PathBuf> {
    words
        .split(|c: char| c.is_whitespace() || "\"'`()<>,;“”".contains(c))
        .map(|word| {
            word.trim_start_matches('@')
                .trim_end_matches(['.', ':', '!', '?'])
        })
        .filter(|word| word.contains('/') && !word.contains("://"))
        .take(MAX_PATHS)
        .map(PathBuf::from)
        .collect()
}
