//! The wire contract on any pair of byte streams: the engine's side over stdio or an in-memory pipe, and the
//! client's side for whoever starts an engine. One JSON object a line.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use protocol::{
    ErrorCode, EventEnvelope, RuntimeError,
    request::{EngineFrame, Method, ReplyFrame, Request, RequestFrame},
};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, BufWriter},
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use tokio_util::sync::CancellationToken;

use crate::{Engine, notices::Listener};

/// Longest request line. A message with a large paste is far below it.
const MAX_LINE: u64 = 16 * 1024 * 1024;
/// Frames waiting for a slow reader; beyond that the sender waits, and events wait in the log.
const OUTGOING: usize = 256;

/// What the end of a conversation means for the engine.
#[derive(Clone, Debug)]
pub enum Conversation {
    /// It is the engine's only one: what is still running at its end is cancelled.
    Only,
    /// One of several: its end cancels nothing. It is ended from here when `closing` is cancelled.
    Shared { closing: CancellationToken },
}

/// Why a conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    ByClient,
    /// The client asked for the engine's end.
    OnRequest,
    /// The engine is closing.
    ByEngine,
}

/// Serves one client until it closes its side or asks for shutdown. What is still running then is cancelled.
pub async fn serve(
    engine: Engine,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), RuntimeError> {
    converse(engine, input, output, Conversation::Only)
        .await
        .map(drop)
}

/// Serves one client, as its conversation says.
pub async fn converse(
    engine: Engine,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    conversation: Conversation,
) -> Result<Ended, RuntimeError> {
    let (frames, outgoing) = mpsc::channel(OUTGOING);
    let writer = tokio::spawn(write_frames(output, outgoing));
    let mut answers = JoinSet::new();
    let mut forwarding = JoinSet::new();
    let client = engine.notices().client();
    forwarding.spawn(forward_notices(
        engine.clone(),
        engine.notices().listen(),
        frames.clone(),
    ));
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    let closing = match &conversation {
        Conversation::Only => CancellationToken::new(),
        Conversation::Shared { closing } => closing.clone(),
    };
    let ended = loop {
        line.clear();
        let mut limited = (&mut input).take(MAX_LINE);
        let read = tokio::select! {
            read = limited.read_until(b'\n', &mut line) => read,
            () = closing.cancelled() => break Ended::ByEngine,
        };
        match read {
            Ok(0) => break Ended::ByClient,
            Err(error) => {
                engine.log_failure("wire.read", &RuntimeError::internal(error));
                break Ended::ByClient;
            }
            Ok(_) => {}
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match parse(&line) {
            Err(refused) => {
                let _ = frames.send(EngineFrame::Reply(*refused)).await;
            }
            Ok(RequestFrame {
                id,
                request: Request::EventsSubscribe(params),
            }) => {
                let _ = frames.send(reply(id, Ok(done()))).await;
                forwarding.spawn(forward_events(engine.clone(), params.from_seq, frames.clone()));
            }
            Ok(RequestFrame {
                id,
                request: Request::FilesWatch(params),
            }) => {
                let (engine, frames) = (engine.clone(), frames.clone());
                // In its place: a later list must not be overtaken by an earlier one.
                let shown = tokio::task::spawn_blocking(move || {
                    let workspace = &engine.rooms().workspace;
                    engine.notices().show(workspace, client, &params.folders)
                })
                .await
                .map_err(RuntimeError::internal)
                .flatten();
                let (answer, notice) = match shown {
                    Ok(notice) => (Ok(done()), notice),
                    Err(error) => (Err(error), None),
                };
                let _ = frames.send(reply(id, answer)).await;
                if let Some(notice) = notice {
                    let _ = frames.send(EngineFrame::Notice { notice }).await;
                }
            }
            Ok(RequestFrame {
                id,
                request: Request::Shutdown(_),
            }) => {
                engine.shutdown().await;
                let _ = frames.send(reply(id, Ok(done()))).await;
                break Ended::OnRequest;
            }
            Ok(RequestFrame { id, request }) => {
                let (engine, frames) = (engine.clone(), frames.clone());
                // Each in its own task: a cancel must not wait behind an accept of many files.
                answers.spawn(async move {
                    let answer = engine.handle(request).await;
                    let _ = frames.send(reply(id, answer)).await;
                });
            }
        }
        while answers.try_join_next().is_some() {}
    };
    engine.notices().forget(client);
    match conversation {
        Conversation::Only => {
            engine.shutdown().await;
            answers.abort_all();
        }
        // What was asked for is done, also when nobody waits for the answer any more.
        Conversation::Shared { .. } => {}
    }
    while answers.join_next().await.is_some() {}
    forwarding.abort_all();
    while forwarding.join_next().await.is_some() {}
    drop(frames);
    match writer.await {
        Ok(()) => Ok(ended),
        Err(error) => Err(RuntimeError::internal(error)),
    }
}

fn done() -> Value {
    Value::Object(Default::default())
}

async fn forward_notices(engine: Engine, mut notices: Listener, frames: mpsc::Sender<EngineFrame>) {
    while let Some(notice) = notices.next().await {
        if matches!(notice, protocol::request::Notice::FilesChanged { .. }) {
            engine.results_may_be_stale();
        }
        if frames.send(EngineFrame::Notice { notice }).await.is_err() {
            return;
        }
    }
}

fn reply(id: u64, answer: Result<Value, RuntimeError>) -> EngineFrame {
    EngineFrame::Reply(match answer {
        Ok(data) => ReplyFrame {
            id: Some(id),
            ok: true,
            data: Some(data),
            error: None,
        },
        Err(error) => ReplyFrame {
            id: Some(id),
            ok: false,
            data: None,
            error: Some(error),
        },
    })
}

fn parse(line: &[u8]) -> Result<RequestFrame, Box<ReplyFrame>> {
    let refuse = |id: Option<u64>, error: RuntimeError| {
        Box::new(ReplyFrame {
            id,
            ok: false,
            data: None,
            error: Some(error),
        })
    };
    if line.len() as u64 == MAX_LINE {
        return Err(refuse(
            None,
            RuntimeError::new(ErrorCode::RequestInvalid, "A request line is longer than 16 MiB."),
        ));
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        refuse(
            None,
            RuntimeError::new(ErrorCode::RequestInvalid, "A request line is not JSON.").because(error),
        )
    })?;
    let id = value.get("id").and_then(Value::as_u64);
    let method = value
        .get("method")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    if !Request::METHODS.contains(&method.as_str()) {
        let error = RuntimeError::new(
            ErrorCode::RequestUnknown,
            format!("There is no request “{method}”."),
        );
        return Err(refuse(id, error));
    }
    serde_json::from_value(value).map_err(|error| {
        let error = RuntimeError::new(
            ErrorCode::RequestInvalid,
            format!("The request {method} is not valid."),
        )
        .because(error);
        refuse(id, error)
    })
}

async fn forward_events(engine: Engine, from_seq: u64, frames: mpsc::Sender<EngineFrame>) {
    let mut events = engine.subscribe(from_seq);
    loop {
        match events.next().await {
            Ok(Some(event)) => {
                if frames
                    .send(EngineFrame::Event {
                        event: Box::new(event),
                    })
                    .await
                    .is_err()
                {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => {
                engine.log_failure("events.read", &error);
                // Whoever waits for an event must learn that none comes.
                let _ = frames.send(EngineFrame::Reply(events_end(error))).await;
                return;
            }
        }
    }
}

/// The reply to no request that ends the events of a conversation.
fn events_end(error: RuntimeError) -> ReplyFrame {
    ReplyFrame {
        id: None,
        ok: false,
        data: None,
        error: Some(error),
    }
}

async fn write_frames(output: impl AsyncWrite + Unpin, mut frames: mpsc::Receiver<EngineFrame>) {
    let mut output = BufWriter::new(output);
    while let Some(frame) = frames.recv().await {
        let Ok(mut line) = serde_json::to_vec(&frame) else {
            continue;
        };
        line.push(b'\n');
        if output.write_all(&line).await.is_err() {
            return;
        }
        // One flush for whatever is waiting.
        if frames.is_empty() && output.flush().await.is_err() {
            return;
        }
    }
    let _ = output.flush().await;
}

/// A client of an engine: typed requests out, events in.
pub struct Client {
    next_id: AtomicU64,
    outgoing: mpsc::Sender<RequestFrame>,
    waiting: Arc<Mutex<HashMap<u64, oneshot::Sender<ReplyFrame>>>>,
    failure: Arc<Mutex<Option<RuntimeError>>>,
}

impl Client {
    /// Returns the client and the events it subscribes to.
    pub fn connect(
        input: impl AsyncRead + Unpin + Send + 'static,
        output: impl AsyncWrite + Unpin + Send + 'static,
    ) -> (Self, mpsc::Receiver<EventEnvelope>) {
        let (outgoing, requests) = mpsc::channel(OUTGOING);
        let (event_sender, events) = mpsc::channel(OUTGOING);
        let waiting = Arc::new(Mutex::new(HashMap::new()));
        let failure = Arc::default();
        tokio::spawn(send_requests(output, requests));
        tokio::spawn(receive_frames(
            input,
            event_sender,
            waiting.clone(),
            Arc::clone(&failure),
        ));
        (
            Self {
                next_id: AtomicU64::new(1),
                outgoing,
                waiting,
                failure,
            },
            events,
        )
    }

    /// An engine in this process, reached over an in-memory pipe by the same contract as one over stdio.
    pub fn in_process(engine: Engine) -> (Self, mpsc::Receiver<EventEnvelope>) {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (engine_input, engine_output) = tokio::io::split(theirs);
        tokio::spawn(serve(engine, engine_input, engine_output));
        let (input, output) = tokio::io::split(ours);
        Self::connect(input, output)
    }

    /// Why the events ended, where the engine has said so.
    pub fn failure(&self) -> Option<RuntimeError> {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub async fn call<M: Method>(&self, params: M) -> Result<M::Result, RuntimeError>
    where
        Request: From<M>,
    {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        self.waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id, sender);
        let gone = || {
            RuntimeError::new(ErrorCode::Interrupted, "The engine has ended.")
                .action("Start Vibe Coder again; the session continues where it was.")
        };
        let frame = RequestFrame {
            id,
            request: params.into(),
        };
        self.outgoing.send(frame).await.map_err(|_| gone())?;
        match answer.await.map_err(|_| gone())? {
            ReplyFrame {
                error: Some(error), ..
            } => Err(error),
            ReplyFrame { data, .. } => {
                serde_json::from_value(data.unwrap_or_default()).map_err(RuntimeError::internal)
            }
        }
    }
}

async fn send_requests(mut output: impl AsyncWrite + Unpin, mut requests: mpsc::Receiver<RequestFrame>) {
    while let Some(frame) = requests.recv().await {
        let Ok(mut line) = serde_json::to_vec(&frame) else {
            continue;
        };
        line.push(b'\n');
        if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
    // The other half stays open for replies, so the end of the requests must be said.
    let _ = output.shutdown().await;
}

async fn receive_frames(
    input: impl AsyncRead + Unpin,
    events: mpsc::Sender<EventEnvelope>,
    waiting: Arc<Mutex<HashMap<u64, oneshot::Sender<ReplyFrame>>>>,
    failure: Arc<Mutex<Option<RuntimeError>>>,
) {
    let mut events = Some(events);
    let mut lines = BufReader::new(input).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        match serde_json::from_str(&line) {
            Ok(EngineFrame::Event { event }) => {
                // A client that stopped listening still gets its replies.
                if let Some(events) = &events {
                    let _ = events.send(*event).await;
                }
            }
            Ok(EngineFrame::Reply(ReplyFrame {
                id: None,
                error: Some(error),
                ..
            })) => {
                *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                events = None;
            }
            Ok(EngineFrame::Reply(reply)) => {
                let sender = reply
                    .id
                    .and_then(|id| waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id));
                if let Some(sender) = sender {
                    let _ = sender.send(reply);
                }
            }
            // A client of requests and events has no use for what is only true now.
            Ok(EngineFrame::Notice { .. }) | Err(_) => {}
        }
    }
    // Dropping the senders tells every caller that the engine is gone.
    waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
}
