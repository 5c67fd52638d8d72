//! The coding engine of one workspace: a child of this same program that serves the wire contract on a Unix socket.
//!
//! Owns the child's start line and the few requests the host makes for itself; what windows ask passes through
//! unread.

use std::{
    ffi::OsString,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use process::{Orphaned, Service, ServiceEnvironment, ServiceSpec, start_service};
use protocol::{
    ErrorCode, EventBody, ItemKind, RuntimeError, SessionId, SessionStatus, ToolClass, ToolId,
    event::TurnOutcome,
    host::{Capability, CapabilityRegistry, ChatTurnParams, ChatTurnResult},
    request::{
        Approvals, EngineFrame, EventsSubscribeParams, HelloParams, Method, ReplyFrame, Request,
        RequestFrame, SessionListParams, SessionStartParams, TurnSendParams,
    },
};
use serde::Deserialize;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc,
};

use super::{
    Again, ContextAdapter, Conversation, StartFailure, WAITING_LINES, Work, did_not_start, not_running,
};

/// How to start the engine of one workspace.
#[derive(Clone, Debug)]
pub struct EngineLaunch {
    pub program: Program,
    /// The folder to work in, canonical.
    pub workspace: PathBuf,
    pub breadth: Breadth,
    /// Added to the environment of this process.
    pub variables: Vec<(OsString, OsString)>,
    /// For how long a start may take. Repairing a large store after a crash takes seconds.
    pub ready_within: Duration,
}

/// This program, which has the `engine` verb.
#[derive(Clone, Debug)]
pub struct Program(pub PathBuf);

impl Program {
    /// Where it is now. One that was replaced while it ran is still reached by what the kernel keeps of it.
    pub(crate) fn path(&self) -> PathBuf {
        match self.0.is_file() || !cfg!(target_os = "linux") {
            true => self.0.clone(),
            false => "/proc/self/exe".into(),
        }
    }
}

/// Whether `/` and the home folder may be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breadth {
    Project,
    Any,
}

pub struct EngineAdapter {
    launch: EngineLaunch,
    live: Mutex<Option<Live>>,
}

#[derive(Clone)]
struct Live {
    service: Arc<Service>,
    socket: PathBuf,
}

/// The one line that the child prints when it serves, or cannot.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum StartLine {
    Ready(ReadyLine),
    Failed(RuntimeError),
}

#[derive(Deserialize)]
struct ReadyLine {
    socket: PathBuf,
}

/// Longest frame taken from an engine. A file shown whole is far below it.
const LONGEST_FRAME: u64 = 64 * 1024 * 1024;
/// An answer to one of the host's own requests.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
const NAME: &str = "The engine";

impl EngineAdapter {
    pub fn new(launch: EngineLaunch) -> Self {
        Self {
            launch,
            live: Mutex::new(None),
        }
    }

    fn live(&self) -> Option<Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_live(&self, live: Option<Live>) -> Option<Live> {
        std::mem::replace(
            &mut *self.live.lock().unwrap_or_else(PoisonError::into_inner),
            live,
        )
    }

    async fn launch(&self) -> Result<(), StartFailure> {
        let pointless = |error: RuntimeError| StartFailure {
            error,
            again: Again::Pointless,
        };
        if let Some(earlier) = self.set_live(None) {
            earlier.service.stop(Duration::ZERO).await;
        }
        let mut arguments: Vec<OsString> = vec!["engine".into(), "--listen".into(), "--workspace".into()];
        arguments.push(self.launch.workspace.clone().into());
        if self.launch.breadth == Breadth::Any {
            arguments.push("--allow-wide-workspace".into());
        }
        let service = start_service(ServiceSpec {
            program: self.launch.program.path(),
            arguments,
            // Not the workspace: it may be gone, which the engine says better.
            directory: "/".into(),
            environment: ServiceEnvironment::Inherited(self.launch.variables.clone()),
            orphaned: Orphaned::EndsItself,
        })
        .map_err(|error| pointless(error.into()))?;
        let service = Arc::new(service);
        let line = tokio::time::timeout(self.launch.ready_within, start_line(&service)).await;
        let why = match line {
            Ok(Some(StartLine::Ready(ready))) => {
                self.set_live(Some(Live {
                    service,
                    socket: ready.socket,
                }));
                return Ok(());
            }
            Ok(Some(StartLine::Failed(error))) => {
                service.stop(Duration::from_millis(500)).await;
                let again = match error.retryable {
                    true => Again::Worthwhile,
                    false => Again::Pointless,
                };
                return Err(StartFailure { error, again });
            }
            Ok(None) => format!("It ended with {} before it served.", service.ended().await),
            Err(_) => {
                service.stop(Duration::ZERO).await;
                let seconds = self.launch.ready_within.as_secs_f32();
                format!("It did not serve within {seconds} s.")
            }
        };
        Err(StartFailure {
            error: did_not_start(&service, NAME, &why).await,
            again: Again::Worthwhile,
        })
    }

    async fn connect(&self) -> Result<UnixStream, RuntimeError> {
        let live = self.live().ok_or_else(not_running)?;
        UnixStream::connect(&live.socket)
            .await
            .map_err(|error| not_running().because(error))
    }

    async fn ask(&self) -> Result<Asking, RuntimeError> {
        Ok(Asking::over(self.connect().await?))
    }

    async fn chat(&self, turn: ChatTurnParams) -> Result<ChatTurnResult, RuntimeError> {
        let mut asking = self.ask().await?;
        let seen = asking.call(HelloParams {}).await?.last_seq;
        let session_id = match turn.thread_id {
            Some(id) => SessionId::from_text(id),
            None => asking.call(SessionStartParams { title: None }).await?.session_id,
        };
        asking.call(EventsSubscribeParams { from_seq: seen }).await?;
        let accepted = asking
            .call(TurnSendParams {
                session_id: session_id.clone(),
                text: turn.message,
                mode: Default::default(),
                provider: None,
                model: None,
                approvals: Approvals::Ask,
                timeout_ms: None,
            })
            .await?;
        let mut answer = ChatTurnResult {
            thread_id: session_id.to_string(),
            text: String::new(),
            proposals: Vec::new(),
        };
        // A turn may wait for a person for as long as it takes.
        while let Some(event) = asking.next_event().await? {
            match event {
                EventBody::ItemCompleted { item } if item.correlation_id == accepted.turn_id => {
                    match item.kind {
                        ItemKind::AssistantMessage { text, .. } => answer.text = text,
                        ItemKind::ChangeSet { change_set_id, .. } => {
                            answer.proposals.push(Value::String(change_set_id.to_string()));
                        }
                        _ => {}
                    }
                }
                EventBody::TurnCompleted { turn_id, outcome, .. } if turn_id == accepted.turn_id => {
                    return match outcome {
                        TurnOutcome::Completed => Ok(answer),
                        TurnOutcome::Failed { error } => Err(error),
                        TurnOutcome::Cancelled => Err(RuntimeError::cancelled()),
                        TurnOutcome::Interrupted => Err(not_running()),
                    };
                }
                _ => {}
            }
        }
        Err(not_running())
    }

    async fn busy(&self) -> Result<bool, RuntimeError> {
        let listed = self.ask().await?.call(SessionListParams {}).await?;
        Ok(listed
            .sessions
            .iter()
            .any(|session| !session.interrupted && session.state.status() == SessionStatus::Running))
    }

    async fn events(&self, from_seq: u64) -> Result<mpsc::Receiver<Value>, RuntimeError> {
        let mut asking = self.ask().await?;
        asking.call(EventsSubscribeParams { from_seq }).await?;
        let (send, events) = mpsc::channel(WAITING_LINES);
        tokio::spawn(async move {
            while let Ok(Some(frame)) = asking.next_frame().await {
                let EngineFrame::Event { event } = frame else {
                    continue;
                };
                let Ok(event) = serde_json::to_value(event) else {
                    continue;
                };
                if send.send(event).await.is_err() {
                    return;
                }
            }
        });
        Ok(events)
    }
}

impl ContextAdapter for EngineAdapter {
    fn start(&self) -> Work<'_, Result<(), StartFailure>> {
        Box::pin(self.launch())
    }

    fn chat_turn(&self, turn: ChatTurnParams) -> Work<'_, Result<ChatTurnResult, RuntimeError>> {
        Box::pin(self.chat(turn))
    }

    /// The engine's tools are a closed list of the contract.
    fn capability_registry(&self) -> Work<'_, Result<CapabilityRegistry, RuntimeError>> {
        let capabilities = ToolId::ALL.iter().map(|tool| Capability {
            name: tool.name().to_owned(),
            description: match tool.class() {
                ToolClass::Read => "Reads the workspace.",
                ToolClass::Write => "Drafts a change for review.",
                ToolClass::Execute => "Runs a command that the policy allows.",
            }
            .to_owned(),
            requires_confirmation: tool.class() == ToolClass::Execute,
        });
        let registry = CapabilityRegistry {
            capabilities: capabilities.collect(),
        };
        Box::pin(std::future::ready(Ok(registry)))
    }

    fn subscribe(&self, from_seq: u64) -> Work<'_, Result<mpsc::Receiver<Value>, RuntimeError>> {
        Box::pin(self.events(from_seq))
    }

    fn converse(&self) -> Work<'_, Result<Conversation, RuntimeError>> {
        Box::pin(async {
            let (reader, writer) = self.connect().await?.into_split();
            let (requests, outgoing) = mpsc::channel(WAITING_LINES);
            let (incoming, frames) = mpsc::channel(WAITING_LINES);
            tokio::spawn(write_lines(writer, outgoing));
            tokio::spawn(read_lines(reader, incoming));
            Ok(Conversation { requests, frames })
        })
    }

    fn is_busy(&self) -> Work<'_, bool> {
        // One that does not answer is left alone.
        Box::pin(async { self.busy().await.unwrap_or(true) })
    }

    fn ended(&self) -> Work<'_, String> {
        Box::pin(async {
            match self.live() {
                Some(live) => format!("{NAME} ended with {}.", live.service.ended().await),
                None => format!("{NAME} is not running."),
            }
        })
    }

    fn stop(&self, patience: Duration) -> Work<'_, ()> {
        Box::pin(async move {
            if let Some(live) = self.set_live(None) {
                live.service.stop(patience).await;
            }
        })
    }
}

/// The first line that is one of the two; a library may have printed something before it.
async fn start_line(service: &Service) -> Option<StartLine> {
    while let Some(line) = service.next_line().await {
        if let Ok(line) = serde_json::from_str(&line) {
            return Some(line);
        }
    }
    None
}

async fn write_lines(mut writer: OwnedWriteHalf, mut lines: mpsc::Receiver<String>) {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        if writer.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
    // The window is gone; the engine ends this conversation and nothing else.
    let _ = writer.shutdown().await;
}

async fn read_lines(reader: OwnedReadHalf, lines: mpsc::Sender<String>) {
    let mut reader = BufReader::new(reader);
    loop {
        let mut line = Vec::new();
        let read = (&mut reader)
            .take(LONGEST_FRAME)
            .read_until(b'\n', &mut line)
            .await;
        if !matches!(read, Ok(1..)) || line.pop() != Some(b'\n') {
            return;
        }
        let Ok(line) = String::from_utf8(line) else { return };
        if lines.send(line).await.is_err() {
            return;
        }
    }
}

/// The host's own requests, one at a time. Events that come before an answer are kept.
struct Asking {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    next_id: u64,
    events: std::collections::VecDeque<EventBody>,
}

impl Asking {
    fn over(stream: UnixStream) -> Self {
        let (reader, writer) = stream.into_split();
        Self {
            reader: BufReader::new(reader),
            writer,
            next_id: 1,
            events: Default::default(),
        }
    }

    async fn call<M: Method>(&mut self, params: M) -> Result<M::Result, RuntimeError>
    where
        Request: From<M>,
    {
        let answered = tokio::time::timeout(ANSWERS_WITHIN, self.exchange(params.into())).await;
        let data = answered.map_err(|_| not_running().because("It does not answer."))??;
        serde_json::from_value(data).map_err(RuntimeError::internal)
    }

    async fn exchange(&mut self, request: Request) -> Result<Value, RuntimeError> {
        let id = self.next_id;
        self.next_id += 1;
        let mut line = serde_json::to_vec(&RequestFrame { id, request }).map_err(RuntimeError::internal)?;
        line.push(b'\n');
        let lost = |error: std::io::Error| not_running().because(error);
        self.writer.write_all(&line).await.map_err(lost)?;
        loop {
            match self.next_frame().await? {
                None => return Err(not_running()),
                Some(EngineFrame::Event { event }) => self.events.push_back(event.body),
                Some(EngineFrame::Reply(ReplyFrame {
                    id: Some(answered),
                    data,
                    error,
                    ..
                })) if answered == id => {
                    return match error {
                        Some(error) => Err(error),
                        None => Ok(data.unwrap_or_default()),
                    };
                }
                Some(EngineFrame::Notice { .. } | EngineFrame::Reply(_)) => {}
            }
        }
    }

    async fn next_event(&mut self) -> Result<Option<EventBody>, RuntimeError> {
        if let Some(event) = self.events.pop_front() {
            return Ok(Some(event));
        }
        loop {
            match self.next_frame().await? {
                None => return Ok(None),
                Some(EngineFrame::Event { event }) => return Ok(Some(event.body)),
                Some(_) => {}
            }
        }
    }

    async fn next_frame(&mut self) -> Result<Option<EngineFrame>, RuntimeError> {
        let mut line = Vec::new();
        let read = (&mut self.reader)
            .take(LONGEST_FRAME)
            .read_until(b'\n', &mut line)
            .await;
        match read {
            Ok(0) => Ok(None),
            Ok(_) => serde_json::from_slice(&line).map(Some).map_err(|error| {
                RuntimeError::new(ErrorCode::RequestInvalid, "The engine sent something unreadable.")
                    .because(error)
            }),
            Err(error) => Err(not_running().because(error)),
        }
    }
}
