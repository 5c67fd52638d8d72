//! What the host can do with a context, whatever stands behind it. One implementation for each kind of backend; they
//! own their protocol and the process, and decide nothing about when to start or end it (`supervise` does).

pub mod engine;
pub mod http;
pub mod manifest;

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use process::Service;
use protocol::{
    ErrorCode, RuntimeError,
    host::{CapabilityRegistry, ChatTurnParams, ChatTurnResult},
};
use serde_json::Value;
use tokio::sync::mpsc;

/// A piece of work of an adapter. Dropping it gives the work up.
pub type Work<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A backend that did not come up.
#[derive(Clone, Debug)]
pub struct StartFailure {
    pub error: RuntimeError,
    pub again: Again,
}

/// Whether the same start may succeed a moment later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    Worthwhile,
    Pointless,
}

/// One window's conversation with a backend: request lines in, frame lines out, each one JSON object without a line
/// break. The frames end when the backend does.
#[derive(Debug)]
pub struct Conversation {
    pub requests: mpsc::Sender<String>,
    pub frames: mpsc::Receiver<String>,
}

/// Lines that wait in a conversation, each way.
pub(crate) const WAITING_LINES: usize = 64;

/// One live backend, keyed by its context. Every method but `start` and `stop` needs it to be ready.
pub trait ContextAdapter: Send + Sync {
    /// Starts the backend and returns when it serves. What an earlier start left is ended first.
    fn start(&self) -> Work<'_, Result<(), StartFailure>>;

    /// Sends one message and waits for the whole answer.
    fn chat_turn(&self, turn: ChatTurnParams) -> Work<'_, Result<ChatTurnResult, RuntimeError>>;

    /// Everything the backend can do.
    fn capability_registry(&self) -> Work<'_, Result<CapabilityRegistry, RuntimeError>>;

    /// What happens in the backend, after the event with this number where it numbers them. The events end with the
    /// backend; dropping the receiver ends the subscription.
    fn subscribe(&self, from_seq: u64) -> Work<'_, Result<mpsc::Receiver<Value>, RuntimeError>>;

    /// Opens a conversation in the backend's own words.
    fn converse(&self) -> Work<'_, Result<Conversation, RuntimeError>>;

    /// Whether it is at work for someone, so that it must not be suspended.
    fn is_busy(&self) -> Work<'_, bool>;

    /// Returns when the backend has ended by whatever cause, with the cause in words; at once when none runs.
    fn ended(&self) -> Work<'_, String>;

    /// Ends the backend: politely within `patience`, then by force. Nothing of its tree is left afterwards.
    fn stop(&self, patience: Duration) -> Work<'_, ()>;
}

/// The answer for whoever asks a backend that is not there.
pub(crate) fn not_running() -> RuntimeError {
    RuntimeError::new(
        ErrorCode::Interrupted,
        "The backend of this context is not running.",
    )
    .action("Try again in a moment; it is started when it is needed.")
    .retryable()
}

/// Why a backend did not come up, with its own last words.
pub(crate) async fn did_not_start(service: &Arc<Service>, what: &str, why: &str) -> RuntimeError {
    let words = service.stderr_tail();
    let last: Vec<&str> = words.trim().lines().rev().take(5).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    let detail = match last.is_empty() {
        true => why.to_owned(),
        false => format!("{why} Its last words: {}", last.join("\n")),
    };
    RuntimeError::new(ErrorCode::ContextFailed, format!("{what} did not start."))
        .because(detail)
        .action("Restart it when the cause is mended.")
}
