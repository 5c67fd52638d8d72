//! One model request: its stream becomes timeline items while it runs, its answer is returned whole.

use std::time::Duration;

use protocol::{ErrorCode, EventBody, ItemDelta, ItemKind, ItemStatus, RuntimeError, TimelineItem};
use provider::{Answer, ModelEvent, ModelRequest, Origin, ProviderError};
use store::{Durability, log::LogEvent, redact::RedactedStream};
use tokio::time::Instant;

use super::Turn;

/// Text is handed on at most this often or when this much is waiting, so that a fast stream costs few events.
const FLUSH_EVERY: Duration = Duration::from_millis(16);
const FLUSH_AT: usize = 4 * 1024;

/// Runs the request to its end; `fallbacks` are asked where its provider cannot answer. Cancellation reaches the
/// provider through the turn's token.
pub async fn ask(turn: &Turn, request: ModelRequest, fallbacks: Vec<Origin>) -> Result<Answer, RuntimeError> {
    let request_id = request.request_id.clone();
    let asked = Origin {
        provider: request.provider.clone(),
        model: request.model.clone(),
    };
    let mut events = turn
        .rooms
        .models
        .gateway()
        .stream_or_else(request, fallbacks, turn.cancel.clone());
    let mut open = OpenItem::new(turn, asked);
    let mut retry: Option<TimelineItem> = None;
    loop {
        let event = match open.flush_due() {
            Some(due) => tokio::select! {
                event = events.next() => event,
                () = tokio::time::sleep_until(due) => {
                    open.flush()?;
                    continue;
                }
            },
            None => events.next().await,
        };
        match event {
            Some(ModelEvent::Started { .. }) => close_retry(turn, &mut retry, ItemStatus::Succeeded)?,
            Some(ModelEvent::Text { delta }) => open.push(TextKind::Answer, &delta)?,
            Some(ModelEvent::Thinking { delta }) => open.push(TextKind::Thinking, &delta)?,
            Some(
                ModelEvent::ToolStarted { .. } | ModelEvent::ToolArguments { .. } | ModelEvent::Usage(_),
            ) => {}
            Some(ModelEvent::Retrying {
                after,
                reason,
                attempt,
                attempts,
            }) => {
                close_retry(turn, &mut retry, ItemStatus::Failed)?;
                let reason = RuntimeError::from(reason);
                turn.log(&LogEvent::ProviderRequestRetried {
                    request: request_id.clone(),
                    code: reason.code,
                    attempt,
                    delay_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
                });
                let error = reason.retryable().action(format!(
                    "Trying again in {:.0} s (attempt {attempt} of {attempts}). Stop ends the wait.",
                    after.as_secs_f64().ceil()
                ));
                retry = Some(turn.start_item(ItemKind::Error { error })?);
            }
            Some(ModelEvent::Switched { to, reason }) => {
                close_retry(turn, &mut retry, ItemStatus::Failed)?;
                turn.note_switch(&to, reason)?;
                open.spoken_by = to;
            }
            Some(ModelEvent::Done(answer)) => {
                close_retry(turn, &mut retry, ItemStatus::Succeeded)?;
                open.close(ItemStatus::Succeeded)?;
                return Ok(answer);
            }
            Some(ModelEvent::Failed(error)) => {
                close_retry(turn, &mut retry, ItemStatus::Failed)?;
                let error = RuntimeError::from(error);
                let cancelled = error.code == ErrorCode::Cancelled;
                open.close(if cancelled {
                    ItemStatus::Cancelled
                } else {
                    ItemStatus::Failed
                })?;
                return Err(error);
            }
            None => {
                open.close(ItemStatus::Failed)?;
                return Err(RuntimeError::internal(
                    "the provider's stream ended without saying how",
                ));
            }
        }
    }
}

impl Turn {
    /// Tells that another model answers, and why.
    fn note_switch(&self, to: &Origin, reason: ProviderError) -> Result<(), RuntimeError> {
        let from = reason.place.provider.clone();
        let words = format!(
            "{from} could not answer; {} ({}) answers instead.",
            to.provider, to.model
        );
        let error = RuntimeError::from(reason).action(words.clone());
        self.note(words);
        self.add_item(ItemKind::Error { error }, ItemStatus::Failed, Durability::Normal)
    }
}

fn close_retry(
    turn: &Turn,
    retry: &mut Option<TimelineItem>,
    status: ItemStatus,
) -> Result<(), RuntimeError> {
    match retry.take() {
        Some(item) => turn.complete_item(item, status, Durability::Normal),
        None => Ok(()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TextKind {
    Answer,
    Thinking,
}

/// The text item that is being streamed, if one is.
struct OpenItem<'a> {
    turn: &'a Turn,
    /// Whose words these are.
    spoken_by: Origin,
    current: Option<(TextKind, TimelineItem)>,
    text: String,
    /// How much of `text` has been sent.
    sent: usize,
    waiting_since: Option<Instant>,
    /// A key that comes in two pieces must not get out either.
    redacted: RedactedStream,
}

impl<'a> OpenItem<'a> {
    fn new(turn: &'a Turn, spoken_by: Origin) -> Self {
        Self {
            turn,
            spoken_by,
            current: None,
            text: String::new(),
            sent: 0,
            waiting_since: None,
            redacted: turn.rooms.sink.redacted_stream(),
        }
    }

    fn push(&mut self, kind: TextKind, delta: &str) -> Result<(), RuntimeError> {
        if delta.is_empty() {
            return Ok(());
        }
        if self.current.as_ref().is_none_or(|(open, _)| *open != kind) {
            self.close(ItemStatus::Succeeded)?;
            let item = self.turn.start_item(self.kind_with(kind, String::new()))?;
            self.current = Some((kind, item));
        }
        self.text.push_str(&self.redacted.push(delta));
        self.waiting_since.get_or_insert_with(Instant::now);
        if self.text.len() - self.sent >= FLUSH_AT
            || self.flush_due().is_some_and(|due| due <= Instant::now())
        {
            self.flush()?;
        }
        Ok(())
    }

    fn flush_due(&self) -> Option<Instant> {
        self.waiting_since.map(|since| since + FLUSH_EVERY)
    }

    fn flush(&mut self) -> Result<(), RuntimeError> {
        self.waiting_since = None;
        let Some((_, item)) = &self.current else {
            return Ok(());
        };
        if self.sent == self.text.len() {
            return Ok(());
        }
        let delta = ItemDelta::Text {
            text: self.text[self.sent..].to_owned(),
        };
        self.sent = self.text.len();
        self.turn.emit(
            EventBody::ItemDelta {
                item_id: item.id.clone(),
                delta,
            },
            Durability::Normal,
        )
    }

    fn close(&mut self, status: ItemStatus) -> Result<(), RuntimeError> {
        self.waiting_since = None;
        let rest = std::mem::replace(&mut self.redacted, self.turn.rooms.sink.redacted_stream()).finish();
        let text = std::mem::take(&mut self.text) + &rest;
        self.sent = 0;
        let Some((kind, mut item)) = self.current.take() else {
            return Ok(());
        };
        item.kind = self.kind_with(kind, text);
        self.turn.complete_item(item, status, Durability::Normal)
    }

    fn kind_with(&self, kind: TextKind, text: String) -> ItemKind {
        match kind {
            TextKind::Thinking => ItemKind::Thinking { text },
            TextKind::Answer => ItemKind::AssistantMessage {
                text,
                provider: self.spoken_by.provider.clone(),
                model: self.spoken_by.model.clone(),
            },
        }
    }
}
