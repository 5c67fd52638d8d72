//! Tries out what a model can do before it is trusted with files: streaming, tool calls, edits, and how much it can
//! really read. Servers on the user's own machine often cut what is too long for them without a word.

use std::time::{Duration, Instant};

use protocol::ToolSchema;
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    error::ProviderError,
    event::ModelEvent,
    gateway::Gateway,
    message::{Answer, AnswerFormat, Message, ModelRequest},
};

/// What was found out about one model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub provider: String,
    pub model: String,
    pub findings: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    pub name: &'static str,
    pub verdict: Verdict,
    /// In plain words.
    pub detail: String,
    /// What to do about it, where something can be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Works,
    /// Usable, with what the detail says.
    Limited,
    Fails,
}

impl Finding {
    fn new(name: &'static str, verdict: Verdict, detail: impl Into<String>) -> Self {
        Self {
            name,
            verdict,
            detail: detail.into(),
            action: None,
        }
    }

    fn action(mut self, action: impl Into<String>) -> Self {
        self.action = Some(action.into());
        self
    }
}

/// Sends a handful of small requests, and larger ones to find the limit of what is read. Those cost a few cents at
/// a paid provider; `depth` says how far they go.
pub async fn check(
    gateway: &Gateway,
    provider: &str,
    model: &str,
    depth: Depth,
    cancel: &CancellationToken,
) -> Report {
    let probe = Probe {
        gateway,
        provider,
        model,
        cancel,
    };
    let mut findings = vec![probe.model_list().await];
    let answers = probe.streaming().await;
    let usable = answers.verdict != Verdict::Fails;
    findings.push(answers);
    // Nothing is learnt from asking a server that does not answer again and again.
    if usable {
        findings.push(probe.tools().await);
        findings.push(probe.edits().await);
        findings.push(probe.context(depth).await);
    }
    Report {
        provider: provider.to_owned(),
        model: model.to_owned(),
        findings,
    }
}

/// How many tokens the largest request of a check may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Where every token is paid for.
    Paid,
    /// On the user's own machine.
    Local,
}

impl Depth {
    fn sizes(self) -> &'static [u64] {
        match self {
            Depth::Paid => &[3_000, 12_000],
            Depth::Local => &[3_000, 7_000, 15_000, 30_000],
        }
    }
}

/// Below this the instructions, a few files and an answer have no room.
const LEAST_CONTEXT: u64 = 15_000;

struct Probe<'a> {
    gateway: &'a Gateway,
    provider: &'a str,
    model: &'a str,
    cancel: &'a CancellationToken,
}

/// An answer, how long its first piece took, and in how many pieces it came.
struct Heard {
    answer: Answer,
    first: Duration,
    pieces: usize,
}

impl Probe<'_> {
    async fn ask(&self, prompt: &str, tools: Vec<ToolSchema>) -> Result<Heard, ProviderError> {
        let request = ModelRequest {
            provider: self.provider.to_owned(),
            model: self.model.to_owned(),
            system: "You are being tested. Do exactly what is asked, without explanations.".to_owned(),
            tools,
            messages: vec![Message::user(prompt)],
            max_output_tokens: 2_048,
            format: AnswerFormat::Text,
            request_id: protocol::ProviderRequestId::mint(),
        };
        let sent = Instant::now();
        let mut first = None;
        let mut pieces = 0;
        let mut stream = self.gateway.stream(request, self.cancel.clone());
        while let Some(event) = stream.next().await {
            match event {
                ModelEvent::Text { .. } | ModelEvent::Thinking { .. } | ModelEvent::ToolStarted { .. } => {
                    first.get_or_insert_with(|| sent.elapsed());
                    pieces += 1;
                }
                ModelEvent::Done(answer) => {
                    return Ok(Heard {
                        answer,
                        first: first.unwrap_or_else(|| sent.elapsed()),
                        pieces,
                    });
                }
                ModelEvent::Failed(error) => return Err(error),
                _ => {}
            }
        }
        Err(self.gateway.ended_early(self.provider, self.model))
    }

    async fn model_list(&self) -> Finding {
        const NAME: &str = "model list";
        match self.gateway.list_models(self.provider).await {
            Ok(models) if models.iter().any(|model| model.id == self.model) => Finding::new(
                NAME,
                Verdict::Works,
                format!("{} models, {} among them", models.len(), self.model),
            ),
            Ok(models) => {
                let some: Vec<&str> = models.iter().take(8).map(|model| model.id.as_str()).collect();
                Finding::new(
                    NAME,
                    Verdict::Limited,
                    format!("{} is not among the {} models it lists", self.model, models.len()),
                )
                .action(match some.is_empty() {
                    true => "Load a model in the server.".to_owned(),
                    false => format!("Choose one with --model, for example: {}.", some.join(", ")),
                })
            }
            Err(error) => Finding::new(NAME, Verdict::Limited, error.to_string()),
        }
    }

    async fn streaming(&self) -> Finding {
        const NAME: &str = "streaming";
        let prompt = "Count from one to twenty in words, separated by commas.";
        match self.ask(prompt, Vec::new()).await {
            Err(error) => {
                let runtime = protocol::RuntimeError::from(error.clone());
                let finding = Finding::new(NAME, Verdict::Fails, error.to_string());
                match runtime.user_action {
                    Some(action) => finding.action(action),
                    None => finding,
                }
            }
            Ok(heard) if heard.pieces >= 3 => Finding::new(
                NAME,
                Verdict::Works,
                format!("the first words came after {:.1} s", heard.first.as_secs_f64()),
            ),
            Ok(heard) => Finding::new(
                NAME,
                Verdict::Limited,
                format!(
                    "the whole answer came at once, after {:.1} s; it works, but nothing is seen until it is done",
                    heard.first.as_secs_f64()
                ),
            ),
        }
    }

    async fn tools(&self) -> Finding {
        const NAME: &str = "tool calls";
        let tool = schema(
            "report_colours",
            "Reports two colours.",
            json!({ "first": { "type": "string" }, "second": { "type": "string" } }),
        );
        let prompt = "Call the tool report_colours once, with first = green and second = blue.";
        let expected = json!({ "first": "green", "second": "blue" });
        match self.ask(prompt, vec![tool]).await {
            Err(error) => Finding::new(NAME, Verdict::Fails, error.to_string()).action(NO_TOOLS),
            Ok(heard) => match called(&heard.answer, "report_colours") {
                Some(input) if input == expected => {
                    Finding::new(NAME, Verdict::Works, "called the tool with the right arguments")
                }
                Some(input) => Finding::new(
                    NAME,
                    Verdict::Limited,
                    format!("called the tool, but with {input}"),
                )
                .action("Expect mistakes in agent mode; a larger model does better."),
                None => Finding::new(NAME, Verdict::Fails, "answered in words and called no tool")
                    .action(NO_TOOLS),
            },
        }
    }

    async fn edits(&self) -> Finding {
        const NAME: &str = "edit format";
        const FILE: &str = "fn area(width: u32, height: u32) -> u32 {\n    width + height\n}\n";
        let tool = schema(
            "edit_file",
            "Replaces text in a file. `old` is copied exactly from the file and occurs once.",
            json!({ "path": { "type": "string" }, "old": { "type": "string" }, "new": { "type": "string" } }),
        );
        let prompt = format!(
            "The file area.rs holds:\n\n```rust\n{FILE}```\n\nThe area must be width times height. Correct it with one \
             call of edit_file."
        );
        match self.ask(&prompt, vec![tool]).await {
            Err(error) => Finding::new(NAME, Verdict::Fails, error.to_string()),
            Ok(heard) => {
                let input = called(&heard.answer, "edit_file").unwrap_or_default();
                let text = |key: &str| input[key].as_str().unwrap_or_default().to_owned();
                let (old, new) = (text("old"), text("new"));
                let found = if old.is_empty() {
                    0
                } else {
                    FILE.matches(&old).count()
                };
                let edited = FILE.replacen(&old, &new, 1);
                match (
                    found,
                    edited.contains("width * height") || edited.contains("height * width"),
                ) {
                    (1, true) => Finding::new(NAME, Verdict::Works, "made an edit that fits the file"),
                    (1, false) => {
                        Finding::new(NAME, Verdict::Limited, "the edit fits the file but is not right")
                    }
                    _ => Finding::new(
                        NAME,
                        Verdict::Fails,
                        "the text to replace is not in the file as written",
                    )
                    .action("Use it in ask mode, or choose a larger model for edits."),
                }
            }
        }
    }

    /// A word at the very beginning is what a server drops first.
    async fn context(&self, depth: Depth) -> Finding {
        const NAME: &str = "context";
        let stated = self.gateway.facts(self.provider, self.model).context_window;
        let mut read = 0;
        let mut ended = String::new();
        for size in depth.sizes() {
            if stated.is_some_and(|stated| stated < size + 2_500) {
                break;
            }
            match self.ask(&long_prompt(*size), Vec::new()).await {
                Ok(heard) if heard.answer.message.text().to_lowercase().contains(CODE_WORD) => read = *size,
                Ok(_) => {
                    ended = format!("at {size} tokens the beginning was lost without a word");
                    break;
                }
                Err(error) => {
                    ended = format!("at {size} tokens: {error}");
                    break;
                }
            }
        }
        let claim = match stated {
            Some(stated) => format!("; {stated} are stated"),
            None => String::new(),
        };
        let detail = match ended.as_str() {
            "" => format!("{read} tokens were read in full{claim}"),
            ended => format!("{read} tokens were read in full{claim}; {ended}"),
        };
        let enough =
            read >= LEAST_CONTEXT || ended.is_empty() && stated.is_none_or(|stated| stated >= LEAST_CONTEXT);
        match (enough, ended.is_empty()) {
            (true, true) => Finding::new(NAME, Verdict::Works, detail),
            (true, false) => Finding::new(NAME, Verdict::Limited, detail).action(set_window(self, read)),
            (false, _) => Finding::new(NAME, Verdict::Fails, detail).action(format!(
                "Give the model a larger context in the server (Ollama: OLLAMA_CONTEXT_LENGTH=32768; llama.cpp: \
                 --ctx-size 32768). {}",
                set_window(self, read)
            )),
        }
    }
}

const NO_TOOLS: &str = "Use it in ask mode only; editing and agent mode need tool calls. In llama.cpp start the \
                        server with --jinja.";

const CODE_WORD: &str = "marigold";

fn set_window(probe: &Probe<'_>, read: u64) -> String {
    format!(
        "So that no more is sent than it reads: vibe-coder settings set providers.{}.models.\"{}\".contextWindow {}",
        probe.provider,
        probe.model,
        read + 2_048
    )
}

fn long_prompt(tokens: u64) -> String {
    let mut prompt = format!("The code word is {CODE_WORD}. Remember it.\n\n");
    let mut line = 0;
    // About four bytes a token.
    while (prompt.len() as u64) < tokens * 4 {
        line += 1;
        prompt.push_str(&format!("Line {line}: nothing of interest is written here.\n"));
    }
    prompt.push_str("\nWhat is the code word? Answer with that word only.");
    prompt
}

fn schema(name: &str, description: &str, properties: Value) -> ToolSchema {
    let required: Vec<&String> = properties
        .as_object()
        .into_iter()
        .flat_map(|all| all.keys())
        .collect();
    let parameters = json!({ "type": "object", "required": required, "properties": properties });
    ToolSchema {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
    }
}

/// The readable arguments of the first call of this tool.
fn called(answer: &Answer, name: &str) -> Option<Value> {
    let mut calls = answer.message.tool_uses();
    calls
        .find(|call| call.name == name && call.invalid_arguments.is_none())
        .map(|call| call.input.clone())
}
