//! The tool router (§53.2): checks a call, runs it, and turns what came of it into a result for the model and a card
//! for the person. Reads run side by side, everything else strictly in the order the model asked for.

use futures_util::{StreamExt, stream};
use protocol::{
    ErrorCode, ItemKind, ItemStatus, Millis, RuntimeError, ToolCallId, ToolClass, ToolError, ToolId,
    ToolResult, checks::CheckReach, timeline::ToolCallItem,
};
use provider::ToolUse;
use serde_json::Value;
use store::{Durability, log::LogEvent};

use super::{
    catalogue::{self, ToolArguments},
    changes, command,
    outcome::{ToolOutcome, error_text},
    reads,
};
use crate::{
    session::SessionInput,
    turn::{Turn, history},
    verification,
};

/// Reads of one round that run at the same time.
const PARALLEL_READS: usize = 4;
/// Characters of one argument that a card keeps.
const ARGUMENT_CHARS: usize = 4_000;
/// Characters of a result that a card shows without opening the artifact.
const PREVIEW_CHARS: usize = 2_000;

/// A tool call as the model made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub id: ToolCallId,
    pub name: String,
    pub arguments: Value,
    /// The arguments' text where it was no JSON object; such a call never runs.
    pub invalid: Option<String>,
}

impl From<ToolUse<'_>> for Call {
    fn from(call: ToolUse<'_>) -> Self {
        Self {
            id: ToolCallId(call.id.to_owned()),
            name: call.name.to_owned(),
            arguments: call.input.clone(),
            invalid: call.invalid_arguments.map(str::to_owned),
        }
    }
}

impl Call {
    fn is_read(&self) -> bool {
        ToolId::from_name(&self.name).is_some_and(|tool| tool.class() == ToolClass::Read)
    }
}

/// A call that is known, offered in this mode and well formed. Only `authorize` makes one, so that no executor can
/// be reached around the checks.
pub struct AuthorizedToolCall {
    pub id: ToolCallId,
    pub tool: ToolId,
    pub arguments: ToolArguments,
    _checked: (),
}

pub fn authorize(turn: &Turn, call: Call) -> Result<AuthorizedToolCall, ToolError> {
    let refuse = |code, message| {
        Err(ToolError {
            code,
            message,
            retryable: false,
        })
    };
    let Some(tool) = ToolId::from_name(&call.name) else {
        let names: Vec<&str> = ToolId::ALL.iter().map(|tool| tool.name()).collect();
        return refuse(
            ErrorCode::ToolUnknown,
            format!(
                "There is no tool “{}”. The tools are: {}.",
                call.name,
                names.join(", ")
            ),
        );
    };
    if !catalogue::offered(tool, turn.mode) {
        return refuse(
            ErrorCode::PermissionMode,
            format!(
                "{} changes files, which {} mode does not do. Nothing was changed.",
                tool.name(),
                turn.mode
            ),
        );
    }
    if let Some(text) = call.invalid {
        return refuse(
            ErrorCode::ToolArguments,
            format!(
                "The arguments of {} are not a JSON object ({} characters arrived). Nothing was done.",
                tool.name(),
                text.chars().count()
            ),
        );
    }
    let arguments = ToolArguments::parse(tool, &call.arguments)?;
    Ok(AuthorizedToolCall {
        id: call.id,
        tool,
        arguments,
        _checked: (),
    })
}

/// Runs one round of calls. There is a result for each, in their order, whatever happens.
pub async fn run_all(turn: &Turn, calls: Vec<Call>) -> Vec<ToolResult> {
    let mut results = Vec::with_capacity(calls.len());
    let mut calls = calls.into_iter().peekable();
    while let Some(call) = calls.next() {
        if turn.cancel.is_cancelled() {
            results.push(not_run(turn, call));
        } else if call.is_read() {
            let mut reads = vec![call];
            while let Some(next) = calls.next_if(Call::is_read) {
                reads.push(next);
            }
            let side_by_side =
                stream::iter(reads.into_iter().map(|call| run(turn, call))).buffered(PARALLEL_READS);
            results.extend(side_by_side.collect::<Vec<_>>().await);
        } else {
            results.push(run(turn, call).await);
        }
    }
    results
}

fn not_run(turn: &Turn, call: Call) -> ToolResult {
    let error = ToolError {
        code: ErrorCode::Cancelled,
        message: history::NOT_RUN.to_owned(),
        retryable: true,
    };
    let now = turn.rooms.sink.now();
    refused(call.id, call.name, error, now, now)
}

fn refused(id: ToolCallId, name: String, error: ToolError, started_at: Millis, now: Millis) -> ToolResult {
    ToolResult {
        ok: false,
        tool_call_id: id,
        name,
        started_at,
        completed_at: now,
        duration_ms: now - started_at,
        content: error.message.clone(),
        data: None,
        summary: error.message.clone(),
        error: Some(error),
        artifacts: Vec::new(),
    }
}

async fn run(turn: &Turn, call: Call) -> ToolResult {
    let session = turn.session.id.clone();
    turn.log(&LogEvent::ToolCallStarted {
        session: session.clone(),
        call: call.id.clone(),
        tool: ToolId::from_name(&call.name),
    });
    let result = run_to_result(turn, call).await;
    let (call, duration_ms) = (result.tool_call_id.clone(), result.duration_ms);
    turn.log(&match &result.error {
        Some(error) => LogEvent::ToolCallFailed {
            session,
            call,
            code: error.code,
            duration_ms,
        },
        None => {
            let artifacts = result
                .artifacts
                .iter()
                .map(|artifact| artifact.id.clone())
                .collect();
            LogEvent::ToolCallCompleted {
                session,
                call,
                duration_ms,
                artifacts,
            }
        }
    });
    result
}

async fn run_to_result(turn: &Turn, call: Call) -> ToolResult {
    let (id, name) = (call.id.clone(), call.name.clone());
    let started_at = turn.rooms.sink.now();
    match run_checked(turn, call).await {
        Ok(result) => result,
        // The log could not take the card. The model still gets its answer, so that the history stays whole.
        Err(error) => {
            turn.rooms.log_failure("tool.card", &error);
            let error = ToolError {
                code: error.code,
                message: error_text(&error),
                retryable: false,
            };
            refused(id, name, error, started_at, turn.rooms.sink.now())
        }
    }
}

async fn run_checked(turn: &Turn, call: Call) -> Result<ToolResult, RuntimeError> {
    let started_at = turn.rooms.sink.now();
    let (id, name, raw) = (call.id.clone(), call.name.clone(), call.arguments.clone());
    let call = match authorize(turn, call) {
        Ok(call) => call,
        Err(error) => {
            let mut card = card(ToolId::from_name(&name), &id, &name, raw);
            card.summary = error.message.clone();
            card.error = Some(RuntimeError::new(error.code, error.message.clone()));
            turn.add_item(ItemKind::ToolCall(card), ItemStatus::Failed, Durability::Normal)?;
            return Ok(refused(id, name, error, started_at, turn.rooms.sink.now()));
        }
    };
    if let ToolArguments::RunCommand(arguments) = call.arguments {
        // Commands have a card of their own.
        let outcome = command::run(turn, &call.id, arguments).await?;
        return Ok(result_of(turn, id, name, started_at, &outcome));
    }
    if let ToolArguments::RunChecks(arguments) = call.arguments {
        // So have the checks and the commands they run.
        let reach = match arguments.all {
            true => CheckReach::Broad,
            false => CheckReach::Focused,
        };
        let outcome = verification::for_model(turn, reach).await;
        return Ok(result_of(turn, id, name, started_at, &outcome));
    }
    let mut item = turn.start_item(ItemKind::ToolCall(card(Some(call.tool), &id, &name, raw)))?;
    let outcome = match call.tool.class() {
        ToolClass::Write => {
            turn.session.step(SessionInput::ChangeStarted)?;
            let outcome = changes::run(turn, call).await;
            turn.session.step(SessionInput::ChangeDone)?;
            outcome
        }
        ToolClass::Execute => match call.arguments {
            ToolArguments::CheckCommand(arguments) => command::check(turn, arguments).await,
            _ => Err(RuntimeError::internal("a tool call reached the wrong executor")),
        },
        ToolClass::Read => reads::run(turn, call).await,
    };
    let result = result_of(turn, id, name, started_at, &outcome);
    let status = match &outcome {
        Ok(_) => ItemStatus::Succeeded,
        Err(error) if error.code == ErrorCode::Cancelled => ItemStatus::Cancelled,
        Err(_) => ItemStatus::Failed,
    };
    if let ItemKind::ToolCall(card) = &mut item.kind {
        finish_card(card, &result, outcome.err());
    }
    turn.complete_item(item, status, Durability::Normal)?;
    Ok(result)
}

fn card(tool: Option<ToolId>, id: &ToolCallId, name: &str, arguments: Value) -> ToolCallItem {
    ToolCallItem {
        tool_call_id: id.clone(),
        name: name.to_owned(),
        verb: tool.map_or_else(
            || "Asked for".to_owned(),
            |tool| catalogue::verb(tool, catalogue::Tense::Running).to_owned(),
        ),
        target: tool.map_or_else(|| name.to_owned(), |tool| catalogue::target(tool, &arguments)),
        arguments: shortened(arguments),
        summary: String::new(),
        duration_ms: None,
        preview: String::new(),
        error: None,
        artifacts: Vec::new(),
    }
}

/// Arguments for Details, without the bulk of what is written: the change set has it.
fn shortened(mut arguments: Value) -> Value {
    if let Value::Object(members) = &mut arguments {
        for text in members.values_mut() {
            let Value::String(text) = text else { continue };
            if let Some((cut, _)) = text.char_indices().nth(ARGUMENT_CHARS) {
                let left_out = text.chars().count() - ARGUMENT_CHARS;
                text.truncate(cut);
                text.push_str(&format!("… {left_out} more characters"));
            }
        }
    }
    arguments
}

fn finish_card(card: &mut ToolCallItem, result: &ToolResult, error: Option<RuntimeError>) {
    if let Some(tool) = ToolId::from_name(&card.name) {
        card.verb = catalogue::verb(tool, catalogue::Tense::Finished).to_owned();
    }
    card.summary.clone_from(&result.summary);
    card.duration_ms = Some(result.duration_ms);
    card.preview = result.content.chars().take(PREVIEW_CHARS).collect();
    card.artifacts.clone_from(&result.artifacts);
    card.error = error;
}

fn result_of(
    turn: &Turn,
    id: ToolCallId,
    name: String,
    started_at: Millis,
    outcome: &ToolOutcome,
) -> ToolResult {
    let now = turn.rooms.sink.now();
    match outcome {
        Ok(outcome) => ToolResult {
            ok: true,
            tool_call_id: id,
            name,
            started_at,
            completed_at: now,
            duration_ms: now.saturating_sub(started_at),
            content: outcome.content.clone(),
            data: outcome.data.clone(),
            error: None,
            artifacts: outcome.artifacts.clone(),
            summary: outcome.summary.clone(),
        },
        Err(error) => {
            let summary = error.message.clone();
            let error = ToolError {
                code: error.code,
                message: error_text(error),
                retryable: error.retryable,
            };
            ToolResult {
                summary,
                ..refused(id, name, error, started_at, now.max(started_at))
            }
        }
    }
}
