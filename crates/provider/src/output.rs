//! The sending end of one request: assembles pieces, reports them, and keeps the request's state.

use std::{sync::Arc, time::Instant};

use protocol::Usage;
use tokio::sync::mpsc;

use crate::{
    assemble::{Assembler, Part},
    error::{ErrorPlace, ProviderError, ProviderErrorKind},
    event::ModelEvent,
    machine::{RequestInput, RequestState},
    message::{Answer, ModelRequest},
};

pub(crate) struct Output {
    events: mpsc::Sender<ModelEvent>,
    place: Arc<ErrorPlace>,
    state: RequestState,
    assembler: Assembler,
    attempt: u32,
    opened_at: Option<Instant>,
}

impl Output {
    pub(crate) fn new(
        events: mpsc::Sender<ModelEvent>,
        request: &ModelRequest,
        place: Arc<ErrorPlace>,
    ) -> Self {
        Self {
            events,
            place,
            state: RequestState::Created,
            assembler: Assembler::new(request),
            attempt: 0,
            opened_at: None,
        }
    }

    pub(crate) fn advance(&mut self, input: RequestInput) -> Result<(), ProviderError> {
        self.state = self.state.next(input).map_err(|error| {
            ProviderError::new(ProviderErrorKind::Internal, error.to_string(), &self.place)
        })?;
        Ok(())
    }

    /// Whether the request may be sent again as far as its state goes.
    pub(crate) fn may_retry(&self) -> bool {
        self.state.next(RequestInput::Retry).is_ok()
    }

    /// Whether a user may have seen something of the answer.
    pub(crate) fn is_visible(&self) -> bool {
        self.state == RequestState::StreamingVisible
    }

    /// Counts so far of the newest attempt.
    pub(crate) fn usage(&self) -> Usage {
        self.assembler.usage
    }

    /// When the newest attempt's answer began.
    pub(crate) fn opened_at(&self) -> Option<Instant> {
        self.opened_at
    }

    /// Begins an attempt with nothing of the one before.
    pub(crate) fn begin_attempt(&mut self, request: &ModelRequest) -> Result<(), ProviderError> {
        self.advance(RequestInput::Send)?;
        self.assembler = Assembler::new(request);
        self.attempt += 1;
        Ok(())
    }

    pub(crate) async fn opened(&mut self, provider_request_id: Option<String>) -> Result<(), ProviderError> {
        self.advance(RequestInput::Opened)?;
        self.opened_at = Some(Instant::now());
        self.report(ModelEvent::Started {
            attempt: self.attempt,
            provider_request_id,
        })
        .await
    }

    pub(crate) async fn part(&mut self, part: Part) -> Result<(), ProviderError> {
        let Some(event) = self.assembler.apply(part) else {
            return Ok(());
        };
        if is_visible(&event) {
            self.advance(RequestInput::Output)?;
        }
        self.report(event).await
    }

    /// Whether the protocol's terminator has come.
    pub(crate) fn ended(&self) -> bool {
        self.assembler.ended
    }

    pub(crate) async fn report(&self, event: ModelEvent) -> Result<(), ProviderError> {
        // The receiver is gone only when its owner has lost interest, which is a cancellation.
        self.events
            .send(event)
            .await
            .map_err(|_| ProviderError::cancelled(&self.place))
    }

    pub(crate) fn finish(&mut self, request: &ModelRequest) -> Result<Answer, ProviderError> {
        let assembler = std::mem::replace(&mut self.assembler, Assembler::new(request));
        assembler.finish().ok_or_else(|| {
            let words = "it ended without saying why the model stopped";
            ProviderError::new(ProviderErrorKind::StreamBroken, words, &self.place)
        })
    }
}

/// What a user may have seen and an automatic second attempt would show twice.
fn is_visible(event: &ModelEvent) -> bool {
    match event {
        ModelEvent::Text { .. }
        | ModelEvent::Thinking { .. }
        | ModelEvent::ToolStarted { .. }
        | ModelEvent::ToolArguments { .. } => true,
        ModelEvent::Started { .. }
        | ModelEvent::Retrying { .. }
        | ModelEvent::Switched { .. }
        | ModelEvent::Usage(_)
        | ModelEvent::Done(_)
        | ModelEvent::Failed(_) => false,
    }
}
