//! The gateway: one door to all configured providers. Owns attempts, retries, slots and cancellation; how bytes
//! travel is `http`'s business, what they mean the adapters'.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tokio::{
    sync::{Semaphore, mpsc},
    task::AbortHandle,
};
use tokio_util::sync::CancellationToken;

use crate::{
    adapter::Adapter,
    catalogue::{self, LiveModel, ModelFacts},
    config::ProviderConfig,
    cost::cost,
    error::{ErrorPlace, ProviderError, ProviderErrorKind},
    event::ModelEvent,
    health::{Health, Observer, Outcome, may_switch},
    http::HttpTransport,
    live,
    machine::RequestInput,
    message::{Answer, ModelRequest, Origin},
    output::Output,
    retry::RetryCount,
    scripted::ScriptedTransport,
};

/// Requests one provider serves at the same time; more wait.
const SLOTS: usize = 8;
/// How long a turn waits for a list of models, and for how long the answer, or that there was none, holds.
const LEARN_WAIT: Duration = Duration::from_secs(2);
const LEARN_AGAIN: Duration = Duration::from_secs(60);
/// Events a slow reader may be behind before the stream itself is slowed down.
const EVENT_BUFFER: usize = 256;

/// All configured providers. Cheap to clone; building one opens no connection and reads no file.
#[derive(Clone, Default)]
pub struct Gateway {
    providers: Arc<BTreeMap<String, Arc<Provider>>>,
    observer: Option<Observer>,
}

struct Provider {
    config: ProviderConfig,
    transport: Transport,
    slots: Semaphore,
    health: Mutex<Health>,
    /// What the server said of its models when it was last asked.
    live: Mutex<Vec<LiveModel>>,
    /// When it was last asked for that on behalf of a turn.
    learned_at: Mutex<Option<Instant>>,
}

enum Transport {
    Http(HttpTransport),
    Scripted(ScriptedTransport),
}

impl Gateway {
    /// A later configuration of the same id replaces an earlier one.
    pub fn new(configs: impl IntoIterator<Item = ProviderConfig>) -> Self {
        let providers = configs
            .into_iter()
            .map(|config| (config.id.clone(), Arc::new(Provider::new(config))))
            .collect();
        Self {
            providers: Arc::new(providers),
            observer: None,
        }
    }

    /// Tells `observer` what became of every request to a real model.
    #[must_use]
    pub fn observed_by(mut self, observer: Observer) -> Self {
        self.observer = Some(observer);
        self
    }

    pub fn config(&self, provider: &str) -> Option<&ProviderConfig> {
        self.providers.get(provider).map(|provider| &provider.config)
    }

    /// What can be known to fail before a request: an id that is not configured, a scenario that cannot be read.
    pub fn check(&self, provider: &str) -> Result<(), ProviderError> {
        let found = self.find(provider)?;
        match &found.transport {
            Transport::Http(_) => Ok(()),
            Transport::Scripted(scripted) => scripted.check(&found.place(&found.config.model)),
        }
    }

    /// Sends a request and reports what comes of it. Every failure arrives as [`ModelEvent::Failed`]. Must be
    /// called within a tokio runtime.
    pub fn stream(&self, request: ModelRequest, cancel: CancellationToken) -> ModelStream {
        self.stream_or_else(request, Vec::new(), cancel)
    }

    /// Like [`Gateway::stream`]; where the provider cannot answer and nothing visible has come, the others are asked
    /// in turn. One that is known to fail is passed by. The request's own provider is always asked: the user named it.
    pub fn stream_or_else(
        &self,
        request: ModelRequest,
        others: Vec<Origin>,
        cancel: CancellationToken,
    ) -> ModelStream {
        let (sender, events) = mpsc::channel(EVENT_BUFFER);
        let place = match self.find(&request.provider) {
            Ok(provider) => provider.place(&request.model),
            Err(error) => error.place,
        };
        let gateway = self.clone();
        let task = tokio::spawn(async move {
            let last = gateway.serve(request, others, &cancel, &sender).await;
            // Nobody listening means nobody to tell.
            let _ = sender.send(last).await;
        });
        ModelStream {
            events,
            place,
            task: task.abort_handle(),
            ended: false,
        }
    }

    async fn serve(
        &self,
        mut request: ModelRequest,
        others: Vec<Origin>,
        cancel: &CancellationToken,
        events: &mpsc::Sender<ModelEvent>,
    ) -> ModelEvent {
        let mut others = others.into_iter();
        loop {
            let (last, visible) = match self.find(&request.provider) {
                Ok(provider) => {
                    let (last, visible, outcome) = provider.serve(&request, cancel, events.clone()).await;
                    self.remember(&provider, outcome);
                    (last, visible)
                }
                Err(error) => (ModelEvent::Failed(error), false),
            };
            let ModelEvent::Failed(reason) = last else {
                return last;
            };
            let next = match visible || !may_switch(reason.kind) {
                true => None,
                false => others.find(|other| self.is_usable(other, &request)),
            };
            let Some(to) = next else {
                return ModelEvent::Failed(reason);
            };
            request.provider.clone_from(&to.provider);
            request.model.clone_from(&to.model);
            // Nobody listening: the next request finds out.
            let _ = events.send(ModelEvent::Switched { to, reason }).await;
        }
    }

    fn remember(&self, provider: &Provider, mut outcome: Outcome) {
        lock(&provider.health).record(&outcome);
        if let (Some(observer), Transport::Http(_)) = (&self.observer, &provider.transport) {
            let prices = self.facts(&outcome.provider, &outcome.model).prices;
            outcome.dollars = prices.map(|prices| cost(&outcome.usage, &prices));
            observer(&outcome);
        }
    }

    fn is_usable(&self, other: &Origin, failed: &ModelRequest) -> bool {
        let is_same = other.provider == failed.provider && other.model == failed.model;
        let health = self.health(&other.provider);
        !is_same
            && health.is_some_and(|health| health.hard_failure(&other.model, SystemTime::now()).is_none())
    }

    /// For the case that cannot be: a stream without a last event.
    pub(crate) fn ended_early(&self, provider: &str, model: &str) -> ProviderError {
        let place = self
            .find(provider)
            .map(|provider| provider.place(model))
            .unwrap_or_default();
        ProviderError::new(
            ProviderErrorKind::Internal,
            "the request's task ended early",
            &place,
        )
    }

    /// How the provider has been doing; nothing for one that is not configured.
    pub fn health(&self, provider: &str) -> Option<Health> {
        Some(lock(&self.providers.get(provider)?.health).clone())
    }

    /// What is known of a model: the user's word first, then the server's own, then the embedded snapshot.
    /// A server on this machine has no public prices.
    pub fn facts(&self, provider: &str, model: &str) -> ModelFacts {
        let Some(found) = self.providers.get(provider) else {
            return catalogue::facts(provider, model);
        };
        let live = lock(&found.live)
            .iter()
            .find(|live| live.id == model)
            .map(|live| live.facts.clone());
        let mut public = catalogue::facts(provider, model);
        if found.config.is_local() {
            public.prices = None;
        }
        let stated = found.config.stated(model);
        stated.or(live.unwrap_or_default()).or(public)
    }

    /// Asks the server about a model of which neither the user nor the snapshot says enough, so that a turn is cut to
    /// what the server has really loaded. One that does not answer soon is not waited for.
    pub async fn learn_of(&self, provider: &str, model: &str) {
        let Some(found) = self.providers.get(provider) else {
            return;
        };
        let is_told = found.config.stated(model).context_window.is_some()
            || lock(&found.live)
                .iter()
                .any(|live| live.id == model && live.facts.context_window.is_some());
        // A name that is known from its vendor says little of what a server on this machine has loaded.
        let is_known = match found.config.is_local() {
            true => catalogue::models(provider).any(|known| known == model),
            false => self.facts(provider, model).context_window.is_some(),
        };
        if is_told || is_known {
            return;
        }
        let now = Instant::now();
        let last = lock(&found.learned_at).replace(now);
        if last.is_none_or(|last| now.duration_since(last) > LEARN_AGAIN) {
            // Whatever is wrong there, the request itself will tell.
            let _ = tokio::time::timeout(LEARN_WAIT, self.list_models(provider)).await;
        }
    }

    /// Asks the server which models it has and remembers what it says of them.
    pub async fn list_models(&self, provider: &str) -> Result<Vec<LiveModel>, ProviderError> {
        let found = self.find(provider)?;
        let place = found.place(&found.config.model);
        let Transport::Http(http) = &found.transport else {
            return Ok(Vec::new());
        };
        let ProviderConfig { id, base_url, .. } = &found.config;
        let read = match live::ollama_root(id, base_url) {
            Some(root) => {
                let tags = http.get(&format!("{root}/api/tags"), &place).await?;
                // An older Ollama may not say what is loaded.
                let running = http
                    .get(&format!("{root}/api/ps"), &place)
                    .await
                    .unwrap_or_default();
                live::ollama_models(&tags, &running)
            }
            None => {
                let path = live::path(found.config.family, base_url);
                live::models(&http.get(path, &place).await?)
            }
        };
        let models = read.ok_or_else(|| {
            let words = "its list of models is in a form that is not known";
            ProviderError::new(ProviderErrorKind::NotAModel, words, &place)
        })?;
        lock(&found.live).clone_from(&models);
        Ok(models)
    }

    fn find(&self, id: &str) -> Result<Arc<Provider>, ProviderError> {
        self.providers.get(id).cloned().ok_or_else(|| {
            let known: Vec<&str> = self.providers.keys().map(String::as_str).collect();
            unknown_provider(id, &known)
        })
    }
}

pub(crate) fn unknown_provider(id: &str, known: &[&str]) -> ProviderError {
    let place = ErrorPlace {
        provider: id.to_owned(),
        ..ErrorPlace::default()
    };
    let words = match known {
        [] => "No provider is configured.".to_owned(),
        known => format!("Known: {}.", known.join(", ")),
    };
    ProviderError::new(ProviderErrorKind::UnknownProvider, words, &Arc::new(place))
}

/// The events of one request. Dropping it ends the request and closes its connection.
pub struct ModelStream {
    events: mpsc::Receiver<ModelEvent>,
    place: Arc<ErrorPlace>,
    task: AbortHandle,
    ended: bool,
}

impl ModelStream {
    /// The next event; nothing after `Done` or `Failed`.
    pub async fn next(&mut self) -> Option<ModelEvent> {
        if self.ended {
            return None;
        }
        let event = self.events.recv().await.unwrap_or_else(|| {
            // The task cannot end without a last event unless it panicked or the runtime is shutting down.
            ModelEvent::Failed(ProviderError::new(
                ProviderErrorKind::Internal,
                "the request's task ended early",
                &self.place,
            ))
        });
        self.ended = matches!(event, ModelEvent::Done(_) | ModelEvent::Failed(_));
        Some(event)
    }
}

impl Drop for ModelStream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Provider {
    fn new(config: ProviderConfig) -> Self {
        let transport = match Adapter::of(&config) {
            Some(adapter) => Transport::Http(HttpTransport::new(adapter, &config)),
            None => Transport::Scripted(ScriptedTransport::new(config.scenario.clone(), config.limits)),
        };
        Self {
            config,
            transport,
            slots: Semaphore::new(SLOTS),
            health: Mutex::default(),
            live: Mutex::default(),
            learned_at: Mutex::default(),
        }
    }

    fn place(&self, model: &str) -> Arc<ErrorPlace> {
        Arc::new(ErrorPlace {
            provider: self.config.id.clone(),
            model: model.to_owned(),
            base_url: self.config.base_url.clone(),
            key_variable: self.config.key_variable.clone(),
        })
    }

    /// Runs the request to its end and returns the last event, whether anything visible came before it, and what
    /// became of it.
    async fn serve(
        &self,
        request: &ModelRequest,
        cancel: &CancellationToken,
        events: mpsc::Sender<ModelEvent>,
    ) -> (ModelEvent, bool, Outcome) {
        let began = Instant::now();
        let place = self.place(&request.model);
        let mut output = Output::new(events, request, Arc::clone(&place));
        // Dropping the work in the middle of anything is how a cancellation closes the connection.
        let result = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ProviderError::cancelled(&place)),
            result = self.attempts(request, &place, &mut output) => result,
        };
        let visible = output.is_visible();
        let outcome = self.outcome(&result, &output, began, &request.model);
        let (input, event) = match result {
            Ok(answer) => (RequestInput::Finish, ModelEvent::Done(answer)),
            Err(error) if error.kind == ProviderErrorKind::Cancelled => {
                (RequestInput::Cancel, ModelEvent::Failed(error))
            }
            Err(error) => (RequestInput::Fail, ModelEvent::Failed(error)),
        };
        match output.advance(input) {
            Ok(()) => (event, visible, outcome),
            Err(bug) => (ModelEvent::Failed(bug), visible, outcome),
        }
    }

    fn outcome(
        &self,
        result: &Result<Answer, ProviderError>,
        output: &Output,
        began: Instant,
        model: &str,
    ) -> Outcome {
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let mut outcome = Outcome {
            at: millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()),
            provider: self.config.id.clone(),
            model: model.to_owned(),
            first_byte_ms: output
                .opened_at()
                .map(|opened| millis(opened.duration_since(began))),
            // What a broken answer cost before it broke is paid for, too.
            usage: output.usage(),
            ..Outcome::default()
        };
        match result {
            Ok(answer) => {
                outcome.usage = answer.usage;
                for call in answer.message.tool_uses() {
                    outcome.calls.count(call.invalid_arguments.is_none());
                }
            }
            Err(error) => {
                outcome.failure = Some(error.kind);
                outcome.retry_after_ms = error.retry_after.map(millis);
            }
        }
        outcome
    }

    async fn attempts(
        &self,
        request: &ModelRequest,
        place: &Arc<ErrorPlace>,
        output: &mut Output,
    ) -> Result<Answer, ProviderError> {
        output.advance(RequestInput::Enqueue)?;
        // The semaphore is never closed, so the only way not to get a slot is to be dropped while waiting.
        let _slot = self.slots.acquire().await;
        let mut count = RetryCount::default();
        loop {
            output.begin_attempt(request)?;
            let error = match self.attempt(request, place, output).await {
                Ok(()) => match output.finish(request) {
                    Ok(answer) => return Ok(answer),
                    Err(error) => error,
                },
                Err(error) => error,
            };
            if !output.may_retry() {
                return Err(error);
            }
            let attempt = count.next_attempt();
            let Some(after) = count.next_wait(&self.config.retry, &error) else {
                return Err(error);
            };
            output.advance(RequestInput::Retry)?;
            let attempts = self.config.retry.max_retries + 1;
            output
                .report(ModelEvent::Retrying {
                    after,
                    reason: error,
                    attempt,
                    attempts,
                })
                .await?;
            tokio::time::sleep(after).await;
        }
    }

    async fn attempt(
        &self,
        request: &ModelRequest,
        place: &Arc<ErrorPlace>,
        output: &mut Output,
    ) -> Result<(), ProviderError> {
        let work = async {
            match &self.transport {
                Transport::Http(http) => http.attempt(request, place, output).await,
                Transport::Scripted(scripted) => scripted.attempt(request, place, output).await,
            }
        };
        let limit = self.config.limits.total;
        match tokio::time::timeout(limit, work).await {
            Ok(result) => result,
            Err(_) => {
                let words = format!(
                    "it was not complete after {}",
                    crate::error::duration_words(limit)
                );
                Err(ProviderError::new(ProviderErrorKind::TimeoutTotal, words, place))
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
