//! A sidecar: any program that serves HTTP on this machine, started from its manifest.
//!
//! The program is told in its environment where to listen (`PORT`), who it is (`VIBE_CONTEXT_ID`), where its own data
//! goes (`VIBE_CONTEXT_DATA`), and the secret that every request of the host bears (`VIBE_CONTEXT_SECRET`). It serves
//! the manifest's health path, `POST /chat`, `GET /capabilities` and `GET /events` (server-sent events, each with a
//! JSON object).

use std::{
    ffi::OsString,
    net::{Ipv4Addr, TcpListener},
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::StreamExt;
use hyper::StatusCode;
use process::{CommandEnvironment, Orphaned, Service, ServiceEnvironment, ServiceSpec, start_service};
use protocol::{
    ErrorCode, RuntimeError,
    host::{CapabilityRegistry, ChatTurnParams, ChatTurnResult},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use sse_stream::SseStream;
use tokio::sync::mpsc;

use super::{
    Again, ContextAdapter, Conversation, StartFailure, WAITING_LINES, Work, did_not_start,
    manifest::{PortChoice, SidecarManifest},
    not_running,
};
use crate::{
    http::{Endpoint, HttpError},
    registry::ContextKey,
    server::auth::random_hex,
};

pub struct HttpSidecarAdapter {
    key: ContextKey,
    manifest: SidecarManifest,
    /// The sidecar's own folder.
    data: PathBuf,
    live: Mutex<Option<Live>>,
    chats: AtomicUsize,
}

#[derive(Clone)]
struct Live {
    service: Arc<Service>,
    endpoint: Endpoint,
}

/// What the program prints when it has chosen its port.
#[derive(Deserialize)]
struct PortLine {
    port: u16,
}

const PROBE_PAUSE: Duration = Duration::from_millis(50);
const PROBE_LIMIT: Duration = Duration::from_secs(1);
/// A sidecar has its own model and may think for long.
const CHAT_LIMIT: Duration = Duration::from_secs(600);
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

impl HttpSidecarAdapter {
    pub fn new(key: ContextKey, manifest: SidecarManifest, data: PathBuf) -> Self {
        Self {
            key,
            manifest,
            data,
            live: Mutex::new(None),
            chats: AtomicUsize::new(0),
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

    fn endpoint(&self) -> Result<Endpoint, RuntimeError> {
        Ok(self.live().ok_or_else(not_running)?.endpoint)
    }

    async fn launch(&self) -> Result<(), StartFailure> {
        let failure = |error: RuntimeError, again| StartFailure { error, again };
        if let Some(earlier) = self.set_live(None) {
            earlier.service.stop(Duration::ZERO).await;
        }
        let secret = random_hex().map_err(|error| failure(error, Again::Pointless))?;
        let assigned = match self.manifest.port {
            PortChoice::Printed => 0,
            PortChoice::Assigned => {
                free_port().map_err(|error| failure(RuntimeError::internal(error), Again::Worthwhile))?
            }
        };
        let service = start_service(self.spec(&secret, assigned))
            .map_err(|error| failure(error.into(), Again::Pointless))?;
        let service = Arc::new(service);
        let limit = self.manifest.ready_within;
        let coming_up = self.come_up(&service, secret, assigned);
        match tokio::time::timeout(limit, coming_up).await {
            Ok(Ok(endpoint)) => {
                self.set_live(Some(Live { service, endpoint }));
                Ok(())
            }
            Ok(Err(why)) => {
                let error = did_not_start(&service, &self.manifest.name, &why).await;
                Err(failure(error, Again::Worthwhile))
            }
            Err(_) => {
                service.stop(Duration::ZERO).await;
                let why = format!("It was not ready within {} s.", limit.as_secs_f32());
                let error = did_not_start(&service, &self.manifest.name, &why).await;
                Err(failure(error, Again::Worthwhile))
            }
        }
    }

    fn spec(&self, secret: &str, port: u16) -> ServiceSpec {
        let mut words = self.manifest.command.iter();
        let program = words.next().cloned().unwrap_or_default();
        let program = match program.contains('/') {
            true => self.manifest.folder.join(program),
            false => program.into(),
        };
        let environment = CommandEnvironment::inherited()
            .with("PORT", port.to_string())
            .with("VIBE_CONTEXT_ID", self.key.as_str())
            .with("VIBE_CONTEXT_SECRET", secret)
            .with("VIBE_CONTEXT_DATA", self.data.as_os_str());
        ServiceSpec {
            program,
            arguments: words.map(OsString::from).collect(),
            directory: self.manifest.folder.clone(),
            environment: ServiceEnvironment::Only(environment),
            orphaned: Orphaned::IsKilled,
        }
    }

    /// Waits for the port and then for health; the error says in words what came instead.
    async fn come_up(&self, service: &Service, secret: String, assigned: u16) -> Result<Endpoint, String> {
        let serving = async {
            let port = match self.manifest.port {
                PortChoice::Assigned => assigned,
                // Lines end with the process, which is waited for beside this.
                PortChoice::Printed => match printed_port(service).await {
                    Some(port) => port,
                    None => std::future::pending().await,
                },
            };
            let endpoint = Endpoint { port, bearer: secret };
            loop {
                match endpoint.get(&self.manifest.health, PROBE_LIMIT).await {
                    Ok((status, _)) if status.is_success() => return endpoint,
                    _ => tokio::time::sleep(PROBE_PAUSE).await,
                }
            }
        };
        tokio::select! {
            endpoint = serving => Ok(endpoint),
            end = service.ended() => Err(format!("It ended with {end} before it was ready.")),
        }
    }

    async fn chat(&self, turn: ChatTurnParams) -> Result<ChatTurnResult, RuntimeError> {
        let endpoint = self.endpoint()?;
        let _counted = Counted::new(&self.chats);
        let body = serde_json::to_vec(&turn).map_err(RuntimeError::internal)?;
        read(
            &self.manifest.name,
            endpoint.post("/chat", body, CHAT_LIMIT).await,
        )
    }

    async fn capabilities(&self) -> Result<CapabilityRegistry, RuntimeError> {
        let endpoint = self.endpoint()?;
        read(
            &self.manifest.name,
            endpoint.get("/capabilities", ANSWER_LIMIT).await,
        )
    }
}

impl ContextAdapter for HttpSidecarAdapter {
    fn start(&self) -> Work<'_, Result<(), StartFailure>> {
        Box::pin(self.launch())
    }

    fn chat_turn(&self, turn: ChatTurnParams) -> Work<'_, Result<ChatTurnResult, RuntimeError>> {
        Box::pin(self.chat(turn))
    }

    fn capability_registry(&self) -> Work<'_, Result<CapabilityRegistry, RuntimeError>> {
        Box::pin(self.capabilities())
    }

    fn subscribe(&self, from_seq: u64) -> Work<'_, Result<mpsc::Receiver<Value>, RuntimeError>> {
        Box::pin(async move { subscribe(&self.manifest.name, &self.endpoint()?, from_seq).await })
    }

    /// A sidecar's events come as `{"event": …}`.
    fn converse(&self) -> Work<'_, Result<Conversation, RuntimeError>> {
        Box::pin(async {
            let live = self.live().ok_or_else(not_running)?;
            let (requests, asked) = mpsc::channel(WAITING_LINES);
            let (answers, frames) = mpsc::channel(WAITING_LINES);
            tokio::spawn(talk(self.manifest.name.clone(), live, asked, answers));
            Ok(Conversation { requests, frames })
        })
    }

    fn is_busy(&self) -> Work<'_, bool> {
        Box::pin(std::future::ready(self.chats.load(Ordering::Relaxed) > 0))
    }

    fn ended(&self) -> Work<'_, String> {
        Box::pin(async {
            let name = &self.manifest.name;
            match self.live() {
                Some(live) => format!("{name} ended with {}.", live.service.ended().await),
                None => format!("{name} is not running."),
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

/// Turns what a sidecar answered into what was asked for.
fn read<T: DeserializeOwned>(
    name: &str,
    answer: Result<(StatusCode, Bytes), HttpError>,
) -> Result<T, RuntimeError> {
    let (status, bytes) = answer.map_err(|error| misbehaved(name, error))?;
    if !status.is_success() {
        let words: String = String::from_utf8_lossy(&bytes).chars().take(500).collect();
        return Err(misbehaved(name, format!("{status} {words}")));
    }
    serde_json::from_slice(&bytes).map_err(|error| misbehaved(name, error))
}

fn misbehaved(name: &str, why: impl std::fmt::Display) -> RuntimeError {
    RuntimeError::new(
        ErrorCode::ContextFailed,
        format!("{name} did not answer as it should."),
    )
    .because(why)
    .action("Try again; if it stays so, restart the context.")
    .retryable()
}

async fn subscribe(
    name: &str,
    endpoint: &Endpoint,
    from_seq: u64,
) -> Result<mpsc::Receiver<Value>, RuntimeError> {
    let path = format!("/events?from={from_seq}");
    let answer = endpoint
        .open(&path, ANSWER_LIMIT)
        .await
        .map_err(|error| misbehaved(name, error))?;
    if !answer.status.is_success() {
        return Err(misbehaved(name, answer.status));
    }
    let (send, events) = mpsc::channel(WAITING_LINES);
    tokio::spawn(async move {
        let (body, _connection) = answer.into_parts();
        let mut stream = std::pin::pin!(SseStream::new(body));
        loop {
            let event = tokio::select! {
                event = stream.next() => event,
                () = send.closed() => return,
            };
            let Some(Ok(event)) = event else { return };
            let value = event.data.and_then(|data| serde_json::from_str(&data).ok());
            let Some(value) = value else { continue };
            if send.send(value).await.is_err() {
                return;
            }
        }
    });
    Ok(events)
}

/// Serves one window's own requests to a sidecar: there is only `events/subscribe`; the rest of what a sidecar can do
/// the host asks for it.
async fn talk(name: String, live: Live, mut asked: mpsc::Receiver<String>, answers: mpsc::Sender<String>) {
    #[derive(Deserialize)]
    struct Asked {
        id: u64,
        method: String,
        #[serde(default)]
        params: Value,
    }
    let mut events: Option<mpsc::Receiver<Value>> = None;
    loop {
        let event = async {
            match &mut events {
                Some(events) => events.recv().await,
                None => std::future::pending().await,
            }
        };
        let frame = tokio::select! {
            _ = live.service.ended() => return,
            event = event => match event {
                Some(event) => json!({ "event": event }),
                None => {
                    events = None;
                    continue;
                }
            },
            request = asked.recv() => {
                let Some(request) = request else { return };
                let Ok(Asked { id, method, params }) = serde_json::from_str(&request) else { continue };
                let done = match method.as_str() {
                    "events/subscribe" => {
                        let from_seq = params.get("fromSeq").and_then(Value::as_u64).unwrap_or(0);
                        subscribe(&name, &live.endpoint, from_seq)
                            .await
                            .map(|subscribed| events = Some(subscribed))
                    }
                    method => Err(RuntimeError::new(
                        ErrorCode::RequestUnknown,
                        format!("This context has no request “{method}”."),
                    )),
                };
                match done {
                    Ok(()) => json!({ "id": id, "ok": true, "data": {} }),
                    Err(error) => json!({ "id": id, "ok": false, "error": error }),
                }
            }
        };
        if answers.send(frame.to_string()).await.is_err() {
            return;
        }
    }
}

async fn printed_port(service: &Service) -> Option<u16> {
    while let Some(line) = service.next_line().await {
        if let Ok(line) = serde_json::from_str::<PortLine>(&line) {
            return Some(line.port);
        }
    }
    None
}

/// Free at this moment; should another program take it meanwhile, the sidecar ends and is started with another one.
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
