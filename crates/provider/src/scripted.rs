//! The scripted provider: plays a scenario as if a model answered, through the same assembly, retry and
//! cancellation as the real ones.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use protocol::Usage;

use crate::{
    assemble::Part,
    config::Limits,
    error::{ErrorPlace, ProviderError, ProviderErrorKind},
    message::{Block, Message, ModelRequest, Role, StopReason},
    output::Output,
    scenario::{Arrived, Ending, Player, Scenario, ScriptedError, ScriptedErrorKind, Step},
};

/// One scenario being played. All sessions of a gateway share its position.
pub(crate) struct ScriptedTransport {
    path: Option<PathBuf>,
    /// Read at the first request, or by an early check.
    player: Mutex<Option<Player>>,
    limits: Limits,
}

impl ScriptedTransport {
    pub(crate) fn new(path: Option<PathBuf>, limits: Limits) -> Self {
        Self {
            path,
            player: Mutex::new(None),
            limits,
        }
    }

    /// Reads the scenario if that was not done yet.
    pub(crate) fn check(&self, place: &Arc<ErrorPlace>) -> Result<(), ProviderError> {
        self.with_player(place, |_| Ok(()))
    }

    pub(crate) async fn attempt(
        &self,
        request: &ModelRequest,
        place: &Arc<ErrorPlace>,
        output: &mut Output,
    ) -> Result<(), ProviderError> {
        let arrived = Arrived::of(&request.messages);
        let step = self.with_player(place, |player| {
            player.next(&arrived).map_err(|error| {
                ProviderError::new(ProviderErrorKind::ScenarioExhausted, error.to_string(), place)
            })
        })?;
        if let (Ending::Error(error), false) = (&step.ending, step.says_something()) {
            if error.kind == ScriptedErrorKind::StreamBroken {
                output.opened(None).await?;
            }
            return Err(failure(error, place));
        }
        output.opened(None).await?;
        self.play(&step, request, place, output).await
    }

    fn with_player<T>(
        &self,
        place: &Arc<ErrorPlace>,
        act: impl FnOnce(&mut Player) -> Result<T, ProviderError>,
    ) -> Result<T, ProviderError> {
        let invalid = |reason: String| ProviderError::new(ProviderErrorKind::ScenarioInvalid, reason, place);
        let mut slot = self.player.lock().unwrap_or_else(PoisonError::into_inner);
        let player = match &mut *slot {
            Some(player) => player,
            empty => {
                let path = self.path.as_ref().ok_or_else(|| {
                    invalid("no scenario file is named; set VIBE_CODER_SCENARIO to its path".to_owned())
                })?;
                let scenario = Scenario::load(path).map_err(|error| invalid(error.to_string()))?;
                empty.insert(Player::new(scenario))
            }
        };
        act(player)
    }

    async fn play(
        &self,
        step: &Step,
        request: &ModelRequest,
        place: &Arc<ErrorPlace>,
        output: &mut Output,
    ) -> Result<(), ProviderError> {
        const THINKING: usize = 0;
        const TEXT: usize = 1;
        const FIRST_CALL: usize = 2;
        let mut said = 0;
        for piece in step.pieces(step.thinking.as_deref().unwrap_or_default()) {
            said += piece.len();
            send(
                output,
                step.delay,
                Part::Thinking {
                    block: THINKING,
                    delta: piece.to_owned(),
                },
            )
            .await?;
        }
        for piece in step.pieces(step.sent_text()) {
            said += piece.len();
            send(
                output,
                step.delay,
                Part::Text {
                    block: TEXT,
                    delta: piece.to_owned(),
                },
            )
            .await?;
        }
        for (at, (call, arguments)) in step.sent_calls().enumerate() {
            let block = FIRST_CALL + at;
            let id = call.id.clone().unwrap_or_default();
            send(
                output,
                step.delay,
                Part::ToolStart {
                    block,
                    id,
                    name: call.name.clone(),
                },
            )
            .await?;
            for piece in step.pieces(arguments) {
                said += piece.len();
                send(
                    output,
                    step.delay,
                    Part::ToolArguments {
                        block,
                        delta: piece.to_owned(),
                    },
                )
                .await?;
            }
        }
        let stop = match &step.ending {
            Ending::Complete if step.calls.is_empty() => StopReason::EndTurn,
            Ending::Complete => StopReason::ToolUse,
            Ending::OutputLimit => StopReason::OutputLimit,
            Ending::Refusal => StopReason::Refused,
            Ending::Error(error) => {
                let mut error = failure(error, place);
                // Once a stream is open, these can be seen only as its breaking off.
                if matches!(
                    error.kind,
                    ProviderErrorKind::Network | ProviderErrorKind::NotAModel
                ) {
                    error.kind = ProviderErrorKind::StreamBroken;
                }
                return Err(error);
            }
            Ending::Stall => {
                tokio::time::sleep(self.limits.idle).await;
                let words = crate::http::silence(self.limits.idle);
                return Err(ProviderError::new(ProviderErrorKind::TimeoutIdle, words, place));
            }
        };
        let usage = step.usage.unwrap_or_else(|| estimate(request, said));
        for part in [Part::Usage(usage), Part::Stop(stop), Part::End] {
            output.part(part).await?;
        }
        Ok(())
    }
}

async fn send(output: &mut Output, delay: Duration, part: Part) -> Result<(), ProviderError> {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    output.part(part).await
}

/// Four bytes a token: near enough to give a demonstration plausible numbers, and the same every time.
fn estimate(request: &ModelRequest, said: usize) -> Usage {
    let heard: usize = request
        .messages
        .iter()
        .flat_map(|message| &message.blocks)
        .map(length)
        .sum();
    Usage {
        input: (request.system.len() + heard).div_ceil(4) as u64,
        output: said.div_ceil(4) as u64,
        ..Usage::default()
    }
}

fn length(block: &Block) -> usize {
    match block {
        Block::Text { text } | Block::Thinking { text, .. } => text.len(),
        Block::ToolResult { content, .. } => content.len(),
        Block::ToolUse { name, .. } => name.len(),
        Block::RedactedThinking { .. } | Block::Image { .. } | Block::Opaque { .. } => 0,
    }
}

fn failure(scripted: &ScriptedError, place: &Arc<ErrorPlace>) -> ProviderError {
    let kind = match scripted.kind {
        ScriptedErrorKind::Auth => ProviderErrorKind::Auth,
        ScriptedErrorKind::ModelUnknown => ProviderErrorKind::ModelUnknown,
        ScriptedErrorKind::RateLimited => ProviderErrorKind::RateLimited,
        ScriptedErrorKind::Quota => ProviderErrorKind::Quota,
        ScriptedErrorKind::Overloaded => ProviderErrorKind::Overloaded,
        ScriptedErrorKind::Server => ProviderErrorKind::Server,
        ScriptedErrorKind::ContextTooLong => ProviderErrorKind::ContextTooLong,
        ScriptedErrorKind::Refused => ProviderErrorKind::Refused,
        ScriptedErrorKind::InvalidRequest => ProviderErrorKind::InvalidRequest,
        ScriptedErrorKind::Network => ProviderErrorKind::Network,
        ScriptedErrorKind::StreamBroken => ProviderErrorKind::StreamBroken,
        ScriptedErrorKind::NotAModel => ProviderErrorKind::NotAModel,
    };
    let message = scripted.message.as_deref().unwrap_or("as the scenario says");
    let mut error = ProviderError::new(kind, message, place);
    error.retry_after = scripted.retry_after.map(Duration::from_secs);
    error
}

impl Arrived {
    fn of(messages: &[Message]) -> Self {
        let user = messages
            .iter()
            .rev()
            .filter(|message| message.role == Role::User)
            .map(Message::text)
            .find(|text| !text.is_empty())
            .unwrap_or_default();
        let mut results: Vec<&str> = messages
            .iter()
            .rev()
            .take_while(|message| message.role == Role::User)
            .flat_map(|message| message.blocks.iter().rev())
            .filter_map(|block| match block {
                Block::ToolResult { content, .. } => Some(content.as_str()),
                _ => None,
            })
            .collect();
        results.reverse();
        Self {
            user,
            tool_result: (!results.is_empty()).then(|| results.join("\n")),
        }
    }
}
