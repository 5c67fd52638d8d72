//! One window's use of one context. Owns which requests are still to be answered: a backend that ends leaves none of
//! them without an answer, and the next request finds it started again.
//!
//! Frames pass as they are; only the context's key is added, and taken off.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use protocol::{ErrorCode, RuntimeError, host::ChatTurnParams};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::{sync::mpsc, task::JoinSet};

use crate::{
    adapter::{ContextAdapter, Conversation},
    registry::ContextHandle,
};

/// A request of a window to this context.
pub(crate) struct Asked {
    pub id: u64,
    pub method: String,
    /// JSON, as the window wrote it.
    pub params: String,
}

/// Runs until the window is gone.
pub(crate) async fn run(
    handle: Arc<ContextHandle>,
    mut requests: mpsc::Receiver<Asked>,
    out: mpsc::Sender<String>,
) {
    let _presence = handle.use_it();
    let link = Link {
        context: handle.key().to_string(),
        out,
        unanswered: Mutex::default(),
    };
    while let Some(first) = requests.recv().await {
        let conversation = async {
            let adapter = handle.ready().await?;
            let conversation = adapter.converse().await?;
            Ok((adapter, conversation))
        };
        match conversation.await {
            Ok((adapter, conversation)) => link.talk(adapter, conversation, first, &mut requests).await,
            Err(error) => link.answer(first.id, Err::<(), _>(error)).await,
        }
    }
}

struct Link {
    context: String,
    out: mpsc::Sender<String>,
    unanswered: Mutex<HashSet<u64>>,
}

impl Link {
    /// Passes requests and frames until the backend ends the conversation or the window is gone.
    async fn talk(
        &self,
        adapter: Arc<dyn ContextAdapter>,
        conversation: Conversation,
        first: Asked,
        requests: &mut mpsc::Receiver<Asked>,
    ) {
        let Conversation {
            requests: to_backend,
            mut frames,
        } = conversation;
        // Side by side: a backend that waits for its frames to be taken must not hold up the taking.
        let asking = async {
            let mut general = JoinSet::new();
            let mut next = Some(first);
            while let Some(asked) = next {
                self.unanswered().insert(asked.id);
                match asked.method.as_str() {
                    "chat/turn" | "capabilities/list" => {
                        general.spawn(answer_generally(
                            adapter.clone(),
                            self.context.clone(),
                            asked,
                            self.out.clone(),
                        ));
                    }
                    _ => {
                        if to_backend.send(line(&asked)).await.is_err() {
                            // It has ended; the other side says so.
                            std::future::pending::<()>().await;
                        }
                    }
                }
                while general.try_join_next().is_some() {}
                next = requests.recv().await;
            }
        };
        let answering = async {
            while let Some(frame) = frames.recv().await {
                if let Some(id) = answered(&frame) {
                    self.unanswered().remove(&id);
                }
                if let Some(frame) = tagged(&self.context, &frame) {
                    let _ = self.out.send(frame).await;
                }
            }
        };
        tokio::select! {
            () = asking => {}
            () = answering => {
                let left: Vec<u64> = self.unanswered().drain().collect();
                for id in left {
                    self.answer(id, Err::<(), _>(ended())).await;
                }
            }
        }
    }

    async fn answer(&self, id: u64, answer: Result<impl Serialize, RuntimeError>) {
        let _ = self.out.send(reply(&self.context, id, answer)).await;
    }

    fn unanswered(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What every kind of context can be asked.
async fn answer_generally(
    adapter: Arc<dyn ContextAdapter>,
    context: String,
    asked: Asked,
    out: mpsc::Sender<String>,
) {
    let frame = match asked.method.as_str() {
        "chat/turn" => {
            let answer = match serde_json::from_str::<ChatTurnParams>(&asked.params) {
                Ok(turn) => adapter.chat_turn(turn).await,
                Err(error) => Err(RuntimeError::new(
                    ErrorCode::RequestInvalid,
                    "The request chat/turn is not valid.",
                )
                .because(error)),
            };
            reply(&context, asked.id, answer)
        }
        _ => reply(&context, asked.id, adapter.capability_registry().await),
    };
    let _ = out.send(frame).await;
}

pub(crate) fn refused(context: &str, id: u64, error: &RuntimeError) -> String {
    reply(context, id, Err::<(), _>(error.clone()))
}

fn reply(context: &str, id: u64, answer: Result<impl Serialize, RuntimeError>) -> String {
    match answer {
        Ok(data) => json!({ "context": context, "id": id, "ok": true, "data": data }),
        Err(error) => json!({ "context": context, "id": id, "ok": false, "error": error }),
    }
    .to_string()
}

fn ended() -> RuntimeError {
    RuntimeError::new(
        ErrorCode::Interrupted,
        "The backend ended before it answered. It is started again.",
    )
    .because("What it was doing may be done in part.")
    .action("Look at where things stand, then try again.")
    .files(protocol::FilesChanged::Unknown)
}

/// The request as the backend knows it, on one line: a line break in JSON can only be blank space.
fn line(asked: &Asked) -> String {
    let params = asked.params.replace(['\n', '\r'], " ");
    let method = json!(asked.method);
    format!("{{\"id\":{},\"method\":{method},\"params\":{params}}}", asked.id)
}

fn tagged(context: &str, frame: &str) -> Option<String> {
    let rest = frame.trim_start().strip_prefix('{')?;
    Some(format!("{{\"context\":\"{context}\",{rest}"))
}

/// The id that a frame answers; events and notices answer none.
fn answered(frame: &str) -> Option<u64> {
    #[derive(Deserialize)]
    struct Id {
        id: Option<u64>,
    }
    if frame.starts_with("{\"event\"") || frame.starts_with("{\"notice\"") {
        return None;
    }
    serde_json::from_str::<Id>(frame).ok()?.id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_keep_what_they_say() {
        let asked = Asked {
            id: 7,
            method: "files/save\"\n".to_owned(),
            params: "{\n  \"text\": \"a\\nb\",\r\n \"big\": 18446744073709551615 }".to_owned(),
        };
        let sent = line(&asked);
        assert!(!sent.contains(['\n', '\r']), "{sent}");
        let value: serde_json::Value = serde_json::from_str(&sent).unwrap();
        assert_eq!(
            value,
            json!({ "id": 7, "method": "files/save\"\n", "params": { "text": "a\nb", "big": u64::MAX } })
        );

        for (frame, id) in [
            (r#"{"id":7,"ok":true,"data":{"id":8}}"#, Some(7)),
            (r#"{"ok":false,"id":9,"error":{}}"#, Some(9)),
            (r#"{"id":null,"ok":false}"#, None),
            (r#"{"event":{"id":3}}"#, None),
            (r#"{"notice":{"type":"gitChanged"}}"#, None),
        ] {
            assert_eq!(answered(frame), id, "{frame}");
            let tagged: serde_json::Value = serde_json::from_str(&tagged("abc", frame).unwrap()).unwrap();
            let mut expected: serde_json::Value = serde_json::from_str(frame).unwrap();
            expected["context"] = "abc".into();
            assert_eq!(tagged, expected);
        }
    }
}
