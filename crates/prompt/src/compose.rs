//! Puts the layers of §21.1 together. Text lives in `layers/*.md`; a change there changes the golden tests.

use protocol::{Mode, ToolSchema};

use crate::budget::{TokenBudgetManager, cut_to_tokens};

/// Raised with every change of a layer's text.
pub const PROMPT_VERSION: &str = "1";

const GLOBAL: &str = include_str!("../layers/global.md");
const SAFETY: &str = include_str!("../layers/safety.md");
const REPOSITORY: &str = include_str!("../layers/repository.md");

fn mode_layer(mode: Mode) -> &'static str {
    match mode {
        Mode::Ask => include_str!("../layers/mode_ask.md"),
        Mode::Edit => include_str!("../layers/mode_edit.md"),
        Mode::Agent => include_str!("../layers/mode_agent.md"),
    }
}

/// An instruction file of the repository, for example AGENTS.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instructions {
    pub path: String,
    pub text: String,
}

#[derive(Clone, Debug)]
pub struct PromptRequest<'a> {
    pub mode: Mode,
    /// The workspace folder's name and the platform, for example "shop" and "linux"; `None` without a workspace.
    pub workspace: Option<&'a str>,
    pub platform: &'a str,
    pub instructions: &'a [Instructions],
    pub tools: Vec<ToolSchema>,
    pub budget: TokenBudgetManager,
}

/// §53.4: what every request of a turn starts with.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptBundle {
    pub system: String,
    pub tools: Vec<ToolSchema>,
    pub version: &'static str,
    /// Names the exact system text and tools in logs, where the text itself may not stand.
    pub hash: String,
    pub estimated_tokens: u64,
    /// Instruction files whose end was cut, in words.
    pub omitted: Vec<String>,
}

pub fn compose(request: PromptRequest<'_>) -> PromptBundle {
    let mut omitted = Vec::new();
    let mut system = String::from(GLOBAL);
    system.push('\n');
    system.push_str(mode_layer(request.mode));
    system.push('\n');
    system.push_str(SAFETY);
    match request.workspace {
        Some(name) => system.push_str(&format!(
            "\nWorkspace: {name} ({}). Paths are relative to its root.\n",
            request.platform
        )),
        None => system.push_str("\nNo workspace is open: there are no files to read or edit.\n"),
    }
    if !request.instructions.is_empty() {
        system.push('\n');
        system.push_str(REPOSITORY);
        let mut free = request.budget.instruction_limit();
        for file in request.instructions {
            let (text, cut) = cut_to_tokens(&file.text, free);
            if cut {
                omitted.push(format!(
                    "{}: its end was cut, instructions may use {free} tokens",
                    file.path
                ));
            }
            free -= TokenBudgetManager::estimate(text).min(free);
            system.push_str(&format!(
                "\n<instructions file=\"{}\">\n{}\n</instructions>\n",
                file.path,
                text.trim_end()
            ));
        }
    }
    let tools = request.tools;
    let mut hasher = blake3::Hasher::new();
    hasher.update(system.as_bytes());
    let mut tool_bytes = 0;
    for tool in &tools {
        let parameters = tool.parameters.to_string();
        for part in [&tool.name, &tool.description, &parameters] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
            tool_bytes += part.len();
        }
    }
    let estimated_tokens = TokenBudgetManager::estimate_bytes(system.len() + tool_bytes);
    PromptBundle {
        system,
        tools,
        version: PROMPT_VERSION,
        hash: hasher.finalize().to_hex()[..16].to_owned(),
        estimated_tokens,
        omitted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(mode: Mode, instructions: &[Instructions]) -> PromptRequest<'_> {
        PromptRequest {
            mode,
            workspace: Some("shop"),
            platform: "linux",
            instructions,
            tools: Vec::new(),
            budget: TokenBudgetManager::new(200_000, 8_000),
        }
    }

    #[test]
    fn golden_ask_mode() {
        insta::assert_snapshot!(compose(request(Mode::Ask, &[])).system);
    }

    #[test]
    fn golden_edit_mode() {
        insta::assert_snapshot!(compose(request(Mode::Edit, &[])).system);
    }

    #[test]
    fn golden_agent_mode_with_repository_instructions() {
        let files = [Instructions {
            path: "AGENTS.md".into(),
            text: "Use tabs.\n".into(),
        }];
        insta::assert_snapshot!(compose(request(Mode::Agent, &files)).system);
    }

    #[test]
    fn golden_without_a_workspace() {
        insta::assert_snapshot!(
            compose(PromptRequest {
                workspace: None,
                ..request(Mode::Ask, &[])
            })
            .system
        );
    }

    #[test]
    fn a_long_instruction_file_is_cut_and_named() {
        let files = [Instructions {
            path: "AGENTS.md".into(),
            text: "rule\n".repeat(10_000),
        }];
        let small = TokenBudgetManager::new(1_000, 100);
        let bundle = compose(PromptRequest {
            budget: small,
            ..request(Mode::Agent, &files)
        });
        assert_eq!(
            bundle.omitted,
            ["AGENTS.md: its end was cut, instructions may use 100 tokens"]
        );
        assert!(bundle.system.len() < 6_000);
    }

    /// E04 for templates: text of the repository is placed as it is, whatever it looks like.
    #[test]
    fn instruction_text_is_not_interpreted() {
        let odd = "$& $$ \\1 {0} {{x}} ${1} “yes”";
        let files = [Instructions {
            path: "AGENTS.md".into(),
            text: odd.into(),
        }];
        assert!(compose(request(Mode::Ask, &files)).system.contains(odd));
    }

    #[test]
    fn the_hash_names_text_and_tools() {
        let plain = compose(request(Mode::Ask, &[]));
        let tool = ToolSchema {
            name: "a".into(),
            description: "b".into(),
            parameters: serde_json::json!({}),
        };
        let with_tool = compose(PromptRequest {
            tools: vec![tool],
            ..request(Mode::Ask, &[])
        });
        assert_ne!(plain.hash, with_tool.hash);
        assert_eq!(plain.hash, compose(request(Mode::Ask, &[])).hash);
    }
}
