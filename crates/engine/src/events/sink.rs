//! The only exit of events: each is redacted, numbered and persisted, and only then sent. A subscriber that
//! cannot keep up loses nothing; it reads what it missed from the log.

use std::sync::{Arc, Mutex};

use protocol::{EventBody, EventEnvelope, RuntimeError, SessionId};
use store::{
    Durability, NewEvent, Redactor, Store,
    log::{Log, LogEvent},
    redact::RedactedStream,
};
use tokio::sync::broadcast;

/// Events a subscriber may lag behind before it has to read the log.
const LIVE_QUEUE: usize = 1024;
/// Events read from the log at a time.
const PAGE: usize = 500;

#[derive(Clone)]
pub struct EventSink {
    inner: Arc<Inner>,
}

/// What subscribers are sent as it happens.
#[derive(Clone)]
enum Live {
    Event(Arc<EventEnvelope>),
    /// The log can no longer be written, so no event can follow.
    Broken(Arc<RuntimeError>),
}

struct Inner {
    store: Store,
    redactor: Redactor,
    log: Log,
    live: broadcast::Sender<Live>,
    /// Held from numbering to sending, so that everyone sees events in the order of their numbers.
    order: Mutex<()>,
    clock: fn() -> protocol::Millis,
}

impl EventSink {
    pub fn new(store: Store, redactor: Redactor, log: Log, clock: fn() -> protocol::Millis) -> Self {
        let (live, _) = broadcast::channel(LIVE_QUEUE);
        Self {
            inner: Arc::new(Inner {
                store,
                redactor,
                log,
                live,
                order: Mutex::new(()),
                clock,
            }),
        }
    }

    pub fn now(&self) -> protocol::Millis {
        (self.inner.clock)()
    }

    /// Persists and sends one event. An error means that it was neither stored nor sent.
    pub fn emit(
        &self,
        session: Option<&SessionId>,
        body: EventBody,
        durability: Durability,
    ) -> Result<(), RuntimeError> {
        let body = self.inner.redactor.event(body);
        let event = NewEvent {
            session_id: session.cloned(),
            at: self.now(),
            body,
        };
        let _order = self
            .inner
            .order
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        for envelope in self.inner.store.append(vec![event], durability)? {
            // No receiver is fine: whoever subscribes later reads the log.
            let _ = self.inner.live.send(Live::Event(Arc::new(envelope)));
        }
        Ok(())
    }

    /// Ends all subscriptions with `error`: what happened last could not be recorded, and nobody must wait for it.
    pub fn break_off(&self, error: &RuntimeError) {
        let _ = self.inner.live.send(Live::Broken(Arc::new(error.clone())));
    }

    /// Everything after `from_seq`, then what follows, without gaps.
    pub fn subscribe(&self, from_seq: u64) -> Subscription {
        Subscription {
            store: self.inner.store.clone(),
            live: self.inner.live.subscribe(),
            last: from_seq,
            ready: Vec::new().into_iter(),
            behind: true,
        }
    }

    /// What is kept beside the events is free of keys in the same way.
    pub fn redactor(&self) -> &Redactor {
        &self.inner.redactor
    }

    /// For a text that is sent in pieces: a key must not get out in two halves.
    pub fn redacted_stream(&self) -> RedactedStream {
        self.inner.redactor.stream()
    }

    /// Adds a line to the log file (§29): ids and figures, never contents.
    pub fn log(&self, event: &LogEvent) {
        self.inner.log.record(event);
    }

    pub fn last_seq(&self) -> Result<u64, RuntimeError> {
        Ok(self.inner.store.last_seq()?)
    }
}

pub struct Subscription {
    store: Store,
    live: broadcast::Receiver<Live>,
    last: u64,
    ready: std::vec::IntoIter<EventEnvelope>,
    /// The log may hold events that were not handed out yet.
    behind: bool,
}

impl Subscription {
    /// The next event, or `None` when the engine has closed. An error is the last that comes.
    pub async fn next(&mut self) -> Result<Option<EventEnvelope>, RuntimeError> {
        loop {
            if let Some(event) = self.ready.next() {
                return Ok(Some(event));
            }
            if self.behind {
                let page = self.store.events_after(self.last, PAGE)?;
                self.behind = page.next > self.last;
                // Past damaged records too: they are left out, not read again.
                self.last = page.next;
                self.ready = page.events.into_iter();
                continue;
            }
            match self.live.recv().await {
                Ok(Live::Broken(error)) => return Err(RuntimeError::clone(&error)),
                Ok(Live::Event(event)) if event.seq <= self.last => {}
                Ok(Live::Event(event)) if event.seq == self.last + 1 => {
                    self.last = event.seq;
                    return Ok(Some(EventEnvelope::clone(&event)));
                }
                Ok(Live::Event(_)) | Err(broadcast::error::RecvError::Lagged(_)) => self.behind = true,
                Err(broadcast::error::RecvError::Closed) => return Ok(None),
            }
        }
    }
}
