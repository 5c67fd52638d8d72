//! The repository's own instructions for assistants: which files there are, and their text. Knows nothing of how they
//! are placed in a prompt.

use prompt::Instructions;
use protocol::ContentHash;
use workspace::{Overlay, WorkspacePath};

use crate::turn::{Turn, history::InstructionMark};

/// Read at the root, in this order; all that exist are used.
const INSTRUCTION_FILES: &[&str] = &["AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md"];
/// Bytes of one instruction file that are read at most.
const MAX_INSTRUCTION_BYTES: u64 = 256 * 1024;

pub fn of_root(turn: &Turn) -> Vec<Instructions> {
    INSTRUCTION_FILES
        .iter()
        .filter_map(|name| {
            let path = turn.rooms.workspace.resolve(name).ok()?;
            let text = read_small(turn, &path)?;
            Some(Instructions {
                path: (*name).to_owned(),
                text,
            })
        })
        .collect()
}

/// A file that is missing, too large or not text is simply not an instruction file.
fn read_small(turn: &Turn, path: &WorkspacePath) -> Option<String> {
    let file = workspace::read_bytes(path, &Overlay::default(), MAX_INSTRUCTION_BYTES).ok()?;
    match workspace::text::detect(&file.bytes) {
        workspace::text::Detected::Text { encoding, .. } => {
            Some(workspace::text::decode(&file.bytes, encoding))
        }
        workspace::text::Detected::Binary { .. } => {
            turn.note(format!(
                "{} is not text and was not used as instructions.",
                path.display()
            ));
            None
        }
    }
}

/// The files as they are now, for a summary that stands for the messages they stood in.
pub fn again(turn: &Turn, paths: &[String]) -> (String, Vec<InstructionMark>) {
    let mut text = String::new();
    let mut marks = Vec::new();
    for path in paths {
        let Some(file) = turn.rooms.workspace.resolve(path).ok() else {
            continue;
        };
        let Some(words) = read_small(turn, &file) else {
            continue;
        };
        marks.push(InstructionMark {
            path: path.clone(),
            content_hash: ContentHash(String::new()),
        });
        text.push_str(&words);
    }
    (text, marks)
}
