//! A model provider on loopback: real HTTP in the real wire formats, answering from a scenario or from recorded
//! answers. It refuses what the real services refuse (unanswered calls, foreign signatures, empty messages),
//! records every request, and produces the faults of bad networks and overloaded providers.
//!
//! ```ignore
//! let server = ModelServer::spawn("steps: [{ text: hello }]");
//! // ANTHROPIC_BASE_URL = server.anthropic_base_url(), OPENAI_BASE_URL = server.openai_base_url()
//! assert_eq!(server.requests().len(), 1);
//! ```

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use provider::Scenario;
use tokio::{net::TcpListener, sync::oneshot, task::JoinSet};

mod answer;
mod anthropic;
mod connection;
mod fault;
mod gemini;
mod openai;
mod recording;
mod responses;

pub use fault::Fault;
pub use recording::{End, Recording, Step};

/// Where a server's answers come from.
pub enum Script {
    Scenario(Scenario),
    /// The same, with every answer's bytes spoilt.
    Faulty(Scenario, Fault),
    /// Answers one request after the other; the last one every further request.
    Recordings(Vec<Recording>),
}

impl From<Scenario> for Script {
    fn from(scenario: Scenario) -> Self {
        Script::Scenario(scenario)
    }
}

/// The text of a scenario file.
impl From<&str> for Script {
    fn from(yaml: &str) -> Self {
        match Scenario::parse(yaml, "scenario") {
            Ok(scenario) => Script::Scenario(scenario),
            Err(error) => panic!("{error}"),
        }
    }
}

/// The text of a scenario file, with every answer's bytes spoilt.
impl From<(&str, Fault)> for Script {
    fn from((yaml, fault): (&str, Fault)) -> Self {
        match Script::from(yaml) {
            Script::Scenario(scenario) => Script::Faulty(scenario, fault),
            other => other,
        }
    }
}

impl From<Recording> for Script {
    fn from(recording: Recording) -> Self {
        Script::Recordings(vec![recording])
    }
}

impl From<Vec<Recording>> for Script {
    fn from(recordings: Vec<Recording>) -> Self {
        Script::Recordings(recordings)
    }
}

/// The wire format a request is in, told by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFamily {
    Anthropic,
    OpenAiChat,
    OpenAiResponses,
    Gemini,
}

impl WireFamily {
    fn of(method: &str, path: &str) -> Option<Self> {
        match (method, path) {
            ("POST", "/v1/messages") => Some(WireFamily::Anthropic),
            ("POST", "/v1/chat/completions") => Some(WireFamily::OpenAiChat),
            ("POST", "/v1/responses") => Some(WireFamily::OpenAiResponses),
            ("POST", path) if gemini::model_of(path).is_some() => Some(WireFamily::Gemini),
            _ => None,
        }
    }
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    pub family: Option<WireFamily>,
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The client closed the connection before the answer was complete.
    pub disconnected: bool,
    /// When the whole request was here.
    pub arrived_at: Instant,
    /// When the answer's last bytes were handed to the system; nothing for an answer that did not end properly.
    pub answered_at: Option<Instant>,
}

impl RecordedRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body, or null when it is not JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// Runs until it is dropped, on a thread of its own, so that a test may block or use any runtime.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    answerer: answer::Answerer,
    requests: Mutex<Vec<RecordedRequest>>,
    /// How often the list of models was asked for.
    lists: AtomicUsize,
}

impl ModelServer {
    /// Starts a server on a free port of 127.0.0.1.
    pub fn spawn(script: impl Into<Script>) -> Self {
        Self::bind(script.into()).expect("a server on loopback")
    }

    /// [`ModelServer::spawn`] for callers that are asynchronous.
    pub async fn start(script: impl Into<Script>) -> Self {
        Self::spawn(script)
    }

    fn bind(script: Script) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let shared = Arc::new(Shared {
            answerer: answer::Answerer::new(script),
            requests: Mutex::new(Vec::new()),
            lists: AtomicUsize::new(0),
        });
        let (stop, stopped) = oneshot::channel();
        let served = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("model-server".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        () = accept(listener, served) => {}
                        _ = stopped => {}
                    }
                });
            })?;
        Ok(Self {
            address,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// As `ANTHROPIC_BASE_URL` wants it.
    pub fn anthropic_base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// As `OPENAI_BASE_URL` wants it.
    pub fn openai_base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// With the version, as a Gemini client wants it.
    pub fn gemini_base_url(&self) -> String {
        format!("http://{}/v1beta", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All requests to a model so far, in the order they arrived. Questions for the list of models are apart.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.requests().clone()
    }

    /// How often the list of models was asked for.
    pub fn lists_asked(&self) -> usize {
        self.shared.lists.load(Ordering::Relaxed)
    }

    /// Waits until the client of request `number` (from 0) has gone, at most for `limit`. Says whether it has.
    pub async fn wait_for_disconnect(&self, number: usize, limit: Duration) -> bool {
        let gone = async {
            while !self
                .shared
                .requests()
                .get(number)
                .is_some_and(|request| request.disconnected)
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(limit, gone).await.is_ok()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn requests(&self) -> MutexGuard<'_, Vec<RecordedRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the request's number, or none for a question that is not counted with the requests to a model.
    fn record(&self, request: RecordedRequest) -> Option<usize> {
        if request.method == "GET" {
            self.lists.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let mut requests = self.requests();
        requests.push(request);
        Some(requests.len() - 1)
    }

    fn mark_answered(&self, number: Option<usize>, at: Instant) {
        let mut requests = self.requests();
        if let Some(request) = number.and_then(|number| requests.get_mut(number)) {
            request.answered_at = Some(at);
        }
    }

    fn mark_disconnected(&self, number: Option<usize>) {
        let mut requests = self.requests();
        if let Some(request) = number.and_then(|number| requests.get_mut(number)) {
            request.disconnected = true;
        }
    }
}

async fn accept(listener: std::net::TcpListener, shared: Arc<Shared>) {
    let Ok(listener) = TcpListener::from_std(listener) else {
        return;
    };
    // Dropped with this future, which ends every connection.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((socket, _)) = accepted {
                    connections.spawn(connection::serve(socket, Arc::clone(&shared)));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}
