//! One window: its socket, its links to contexts, and the events of the host. Owns the order of what the window is
//! told; reads of its requests only where they go.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::extract::ws::{Message, WebSocket};
use futures_util::{SinkExt, StreamExt, stream::SplitSink};
use protocol::{ErrorCode, RuntimeError, host::HostRequest};
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tokio::{
    sync::{broadcast::error::RecvError, mpsc},
    task::JoinSet,
};

use super::{
    App,
    link::{self, Asked},
};

/// What a window sends. Only the address is read; what it asks goes on as it is.
#[derive(Deserialize)]
struct Incoming<'a> {
    #[serde(default)]
    context: Option<String>,
    id: u64,
    method: String,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// Frames that wait for a slow window; beyond that whoever sends waits, and events wait in their log.
const OUTGOING: usize = 256;
/// Requests of one window to one context that wait for its backend.
const WAITING_REQUESTS: usize = 256;
/// A window that takes nothing for this long is gone.
const STALLED: Duration = Duration::from_secs(30);

pub(crate) async fn serve(app: Arc<App>, socket: WebSocket) {
    let (sink, mut stream) = socket.split();
    let (out, outgoing) = mpsc::channel(OUTGOING);
    let mut writer = tokio::spawn(write(sink, outgoing));
    let mut host_events = app.methods.registry.events();
    let mut window = Window {
        app: app.clone(),
        out,
        links: HashMap::new(),
        tasks: JoinSet::new(),
    };
    loop {
        tokio::select! {
            () = app.closing.cancelled() => break,
            _ = &mut writer => break,
            message = stream.next() => match message {
                Some(Ok(Message::Text(text))) => window.receive(text.as_str()).await,
                Some(Ok(Message::Binary(_))) => window.refuse(None, not_understood("It is not text.")).await,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
            },
            event = host_events.recv() => match event {
                Ok(event) => window.send(json!({ "hostEvent": event }).to_string()).await,
                // The states as they are now are asked for again by whoever shows them.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => break,
            },
        }
        while window.tasks.try_join_next().is_some() {}
    }
    // Its tasks and links end with it; the backends go on.
    drop(window);
    writer.abort();
}

struct Window {
    app: Arc<App>,
    out: mpsc::Sender<String>,
    links: HashMap<String, mpsc::Sender<Asked>>,
    tasks: JoinSet<()>,
}

impl Window {
    async fn receive(&mut self, text: &str) {
        let incoming: Incoming<'_> = match serde_json::from_str(text) {
            Ok(incoming) => incoming,
            Err(error) => return self.refuse(id_of(text), not_understood(error)).await,
        };
        match incoming.context {
            None => self.ask_host(text, &incoming.method, incoming.id).await,
            Some(context) => {
                let asked = Asked {
                    id: incoming.id,
                    method: incoming.method,
                    params: incoming.params.map_or("{}", RawValue::get).to_owned(),
                };
                self.ask_context(context, asked).await;
            }
        }
    }

    async fn ask_host(&mut self, text: &str, method: &str, id: u64) {
        if !HostRequest::METHODS.contains(&method) {
            let error = RuntimeError::new(
                ErrorCode::RequestUnknown,
                format!("The host has no request “{method}”; what is asked of a context names the context."),
            );
            return self.refuse(Some(id), error).await;
        }
        let request: HostRequest = match serde_json::from_str(text) {
            Ok(request) => request,
            Err(error) => return self.refuse(Some(id), not_understood(error)).await,
        };
        let (app, out) = (self.app.clone(), self.out.clone());
        // Making a sample takes seconds; other requests do not wait for it.
        self.tasks.spawn(async move {
            let frame = match app.methods.handle(request).await {
                Ok(data) => json!({ "id": id, "ok": true, "data": data }),
                Err(error) => json!({ "id": id, "ok": false, "error": error }),
            };
            let _ = out.send(frame.to_string()).await;
        });
    }

    async fn ask_context(&mut self, context: String, asked: Asked) {
        let id = asked.id;
        let link = match self.links.get(&context).filter(|link| !link.is_closed()) {
            Some(link) => link,
            None => {
                let handle = match self.app.methods.registry.get(&context) {
                    Ok(handle) => handle,
                    Err(error) => return self.refuse_in(&context, id, error).await,
                };
                let (link, requests) = mpsc::channel(WAITING_REQUESTS);
                self.tasks.spawn(link::run(handle, requests, self.out.clone()));
                self.links.entry(context.clone()).insert_entry(link).into_mut()
            }
        };
        // Never waits here: a backend that hangs must not keep the window from others.
        if link.try_send(asked).is_err() {
            let error = RuntimeError::new(
                ErrorCode::HostBusy,
                "The backend of this context has not answered for a while.",
            )
            .action("Wait a moment, or restart it.")
            .retryable();
            self.refuse_in(&context, id, error).await;
        }
    }

    async fn refuse_in(&self, context: &str, id: u64, error: RuntimeError) {
        self.send(link::refused(context, id, &error)).await;
    }

    async fn refuse(&self, id: Option<u64>, error: RuntimeError) {
        self.send(json!({ "id": id, "ok": false, "error": error }).to_string())
            .await;
    }

    async fn send(&self, frame: String) {
        // A window that is gone is noticed by the loop.
        let _ = self.out.send(frame).await;
    }
}

fn not_understood(why: impl std::fmt::Display) -> RuntimeError {
    RuntimeError::new(ErrorCode::RequestInvalid, "A request is not understood.").because(why)
}

fn id_of(text: &str) -> Option<u64> {
    #[derive(Deserialize)]
    struct Id {
        id: u64,
    }
    serde_json::from_str::<Id>(text).ok().map(|found| found.id)
}

async fn write(mut sink: SplitSink<WebSocket, Message>, mut frames: mpsc::Receiver<String>) {
    while let Some(frame) = frames.recv().await {
        let sent = tokio::time::timeout(STALLED, sink.send(Message::Text(frame.into()))).await;
        if !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
    let _ = sink.close().await;
}
