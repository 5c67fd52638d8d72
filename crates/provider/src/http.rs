//! The one place that talks HTTP to a model: sends a request, reads its stream within limits, and names what
//! went wrong. Knows no family; the adapter does.

use std::{
    error::Error as StdError,
    pin::Pin,
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use reqwest::{
    Client, Response, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;
use sse_stream::SseByteStream;
use tokio::time::timeout;

use crate::{
    adapter::{Adapter, Decoder, Fault, from_body, looks_like_html},
    config::{Limits, ProviderConfig},
    error::{ErrorPlace, ProviderError, ProviderErrorKind, duration_words},
    message::ModelRequest,
    output::Output,
    proxy,
    retry::retry_after,
    secret::{Secret, redact},
};

/// An answer larger than this is not an answer. In bytes.
const ANSWER_LIMIT: usize = 64 << 20;
/// How much of an error's body is read, in bytes, and for how long.
const ERROR_BODY_LIMIT: usize = 64 << 10;
const ERROR_BODY_WAIT: Duration = Duration::from_secs(5);

/// How large a list of models may be, in bytes, and how long it may take.
const LIST_LIMIT: usize = 16 << 20;
const LIST_WAIT: Duration = Duration::from_secs(10);

/// How long a terminator is waited for when everything else of the answer has come.
const AFTER_COMPLETE: Duration = Duration::from_secs(2);

pub(crate) struct HttpTransport {
    adapter: Adapter,
    base_url: String,
    api_key: Option<Secret>,
    extra_headers: Vec<(String, Secret)>,
    limits: Limits,
    /// Built at the first request: most runs of the program need no more than one provider, many need none.
    client: OnceLock<Client>,
}

impl HttpTransport {
    pub(crate) fn new(adapter: Adapter, config: &ProviderConfig) -> Self {
        Self {
            adapter,
            base_url: config.base_url.clone(),
            api_key: config.api_key.clone(),
            extra_headers: config.headers.clone(),
            limits: config.limits,
            client: OnceLock::new(),
        }
    }

    pub(crate) async fn attempt(
        &self,
        request: &ModelRequest,
        place: &Arc<ErrorPlace>,
        output: &mut Output,
    ) -> Result<(), ProviderError> {
        let site = Site {
            place,
            secrets: self.secrets(),
        };
        let response = self.send(request, &site).await?;
        let status = response.status().as_u16();
        let request_id = request_id(response.headers());
        let result = self
            .read(response, status, request_id.clone(), &site, output)
            .await;
        result.map_err(|mut error| {
            error.status = error.status.or(Some(status));
            error.request_id = error.request_id.or(request_id);
            error
        })
    }

    async fn send(&self, request: &ModelRequest, site: &Site<'_>) -> Result<Response, ProviderError> {
        let url = self.adapter.url(&self.base_url, &request.model);
        let url = Url::parse(&url).map_err(|error| {
            site.error(
                ProviderErrorKind::NotAModel,
                format!("“{url}” is not an address: {error}"),
            )
        })?;
        let body = self
            .adapter
            .body(request)
            .map_err(|error| site.error(ProviderErrorKind::Internal, error.to_string()))?;
        let client = self.client(&url, site)?;
        let sending = client.post(url).headers(self.headers(site)?).body(body).send();
        match timeout(self.limits.first_byte, sending).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(site.transport_error(&error)),
            Err(_) => Err(site.error(
                ProviderErrorKind::TimeoutFirstByte,
                silence(self.limits.first_byte),
            )),
        }
    }

    /// A small answer that is read whole: a list of models. `path` begins with a slash, or is a whole address.
    pub(crate) async fn get(&self, path: &str, place: &Arc<ErrorPlace>) -> Result<Value, ProviderError> {
        let site = Site {
            place,
            secrets: self.secrets(),
        };
        let work = async {
            let url = match path.starts_with('/') {
                true => format!("{}{path}", self.base_url.trim_end_matches('/')),
                false => path.to_owned(),
            };
            let url = Url::parse(&url)
                .map_err(|error| site.error(ProviderErrorKind::NotAModel, format!("“{url}”: {error}")))?;
            let mut headers = self.headers(&site)?;
            headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
            let sending = self.client(&url, &site)?.get(url).headers(headers).send();
            let mut response = sending.await.map_err(|error| site.transport_error(&error))?;
            let status = response.status().as_u16();
            if status != 200 {
                return Err(read_failure(response, status, &site).await);
            }
            let mut body = Vec::new();
            while let Some(chunk) = response
                .chunk()
                .await
                .map_err(|error| site.error(ProviderErrorKind::StreamBroken, causes(&error)))?
            {
                body.extend_from_slice(&chunk);
                if body.len() > LIST_LIMIT {
                    return Err(site.error(ProviderErrorKind::NotAModel, "its list of models is too large"));
                }
            }
            serde_json::from_slice(&body)
                .map_err(|_| site.error(ProviderErrorKind::NotAModel, "its list of models is not JSON"))
        };
        timeout(LIST_WAIT, work)
            .await
            .unwrap_or_else(|_| Err(site.error(ProviderErrorKind::TimeoutFirstByte, silence(LIST_WAIT))))
    }

    fn client(&self, url: &Url, site: &Site<'_>) -> Result<&Client, ProviderError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let mut builder = Client::builder()
            .user_agent(concat!("vibe-coder/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.limits.connect)
            .tcp_keepalive(Duration::from_secs(30))
            // A redirected POST would lose its body or carry the key elsewhere.
            .redirect(reqwest::redirect::Policy::none());
        if url.scheme() == "http" {
            // No certificate will be checked, so the system's are not read: that takes longer than a request.
            builder = builder.tls_certs_only([]);
        }
        if is_loopback(url) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| site.transport_error(&error))?;
        Ok(self.client.get_or_init(|| client))
    }

    fn headers(&self, site: &Site<'_>) -> Result<HeaderMap, ProviderError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        match self.adapter {
            Adapter::Anthropic => {
                headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
                if let Some(key) = &self.api_key {
                    headers.insert("x-api-key", secret_value(key.expose(), site)?);
                }
            }
            Adapter::Gemini => {
                if let Some(key) = &self.api_key {
                    headers.insert("x-goog-api-key", secret_value(key.expose(), site)?);
                }
            }
            Adapter::OpenAi(_) | Adapter::Responses => {
                if let Some(key) = &self.api_key {
                    headers.insert(
                        AUTHORIZATION,
                        secret_value(&format!("Bearer {}", key.expose()), site)?,
                    );
                }
            }
        }
        for (name, value) in &self.extra_headers {
            let name = HeaderName::try_from(name.as_str()).map_err(|_| {
                site.error(
                    ProviderErrorKind::InvalidRequest,
                    format!("“{name}” in the settings is not a header name"),
                )
            })?;
            headers.insert(name, secret_value(value.expose(), site)?);
        }
        Ok(headers)
    }

    fn secrets(&self) -> Vec<Secret> {
        self.api_key
            .iter()
            .cloned()
            .chain(self.extra_headers.iter().map(|(_, value)| value.clone()))
            .collect()
    }

    async fn read(
        &self,
        response: Response,
        status: u16,
        request_id: Option<String>,
        site: &Site<'_>,
        output: &mut Output,
    ) -> Result<(), ProviderError> {
        if status != 200 || !may_be_stream(response.headers()) {
            return Err(read_failure(response, status, site).await);
        }
        output.opened(request_id).await?;
        let mut decoder = self.adapter.decoder();
        let result = self.read_events(response, decoder.as_mut(), site, output).await;
        match result {
            // The answer was whole; how the connection ended does not matter any more.
            Err(error) if decoder.is_complete() && error.kind != ProviderErrorKind::Cancelled => Ok(()),
            result => result,
        }
    }

    async fn read_events(
        &self,
        response: Response,
        decoder: &mut dyn Decoder,
        site: &Site<'_>,
        output: &mut Output,
    ) -> Result<(), ProviderError> {
        let mut events = SseByteStream::new(bounded(response, self.limits.idle));
        let mut parts = Vec::new();
        let mut anything = false;
        loop {
            let next = events.next();
            let next = match decoder.is_complete() {
                true => timeout(AFTER_COMPLETE, next).await.unwrap_or(None),
                false => next.await,
            };
            let Some(event) = next else { break };
            let event = event.map_err(|error| site.stream_error(&error, self.limits.idle))?;
            let Some(data) = event.data.filter(|data| !data.is_empty()) else {
                continue;
            };
            anything = true;
            let outcome = decoder.event(&data, &mut parts);
            for part in parts.drain(..) {
                output.part(part).await?;
            }
            outcome.map_err(|fault| site.fault(fault))?;
            if output.ended() {
                // Reading to the end lets the connection be used again. A server that keeps it open is not
                // waited for.
                let rest = async { while events.next().await.is_some() {} };
                let _ = timeout(Duration::from_millis(5), rest).await;
                return Ok(());
            }
        }
        let words = if anything {
            "it ended before it was complete"
        } else {
            "it was empty"
        };
        Err(site.error(ProviderErrorKind::StreamBroken, words))
    }
}

/// Where errors are made: they carry the place and no key.
struct Site<'a> {
    place: &'a Arc<ErrorPlace>,
    secrets: Vec<Secret>,
}

impl Site<'_> {
    fn error(&self, kind: ProviderErrorKind, message: impl AsRef<str>) -> ProviderError {
        ProviderError::new(kind, redact(message.as_ref(), &self.secrets), self.place)
    }

    fn fault(&self, fault: Fault) -> ProviderError {
        let mut error = self.error(fault.kind, fault.message);
        error.retry_after = fault.retry_after;
        error
    }

    fn stream_error(&self, error: &sse_stream::Error, idle: Duration) -> ProviderError {
        match error {
            sse_stream::Error::Body(inner) => match inner.downcast_ref::<BodyError>() {
                Some(BodyError::Idle) => self.error(ProviderErrorKind::TimeoutIdle, silence(idle)),
                Some(BodyError::Transport(error)) => {
                    self.error(ProviderErrorKind::StreamBroken, causes(error))
                }
                Some(BodyError::TooLarge) | None => {
                    self.error(ProviderErrorKind::StreamBroken, inner.to_string())
                }
            },
            other => self.error(ProviderErrorKind::StreamBroken, other.to_string()),
        }
    }

    /// An error of the transport before there was an answer.
    fn transport_error(&self, error: &reqwest::Error) -> ProviderError {
        let words = causes(error);
        let lower = words.to_lowercase();
        let says = |hints: &[&str]| hints.iter().any(|hint| lower.contains(hint));
        // The layers below have no common error type; their words are all there is.
        let kind = if says(&["proxy", "tunnel"]) {
            ProviderErrorKind::Proxy
        } else if says(&["certificate", "tls", "handshake", "corrupt message", "alert"]) {
            ProviderErrorKind::Tls
        } else if error.is_connect()
            && let Some(proxy) = proxy::on_the_way(&self.place.base_url)
        {
            return self.error(ProviderErrorKind::Proxy, format!("{proxy}: {words}"));
        } else if error.is_builder() {
            ProviderErrorKind::Internal
        } else {
            ProviderErrorKind::Network
        };
        self.error(kind, words)
    }
}

/// "nothing came for 90 seconds"
pub(crate) fn silence(limit: Duration) -> String {
    format!("nothing came for {}", duration_words(limit))
}

fn secret_value(text: &str, site: &Site<'_>) -> Result<HeaderValue, ProviderError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| {
        site.error(
            ProviderErrorKind::Auth,
            "the key holds characters that no key has, for example a line break",
        )
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// A proxy never stands between two programs of one machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.ends_with(".localhost")
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

fn request_id(headers: &HeaderMap) -> Option<String> {
    ["request-id", "x-request-id"]
        .into_iter()
        .find_map(|name| headers.get(name)?.to_str().ok())
        .map(|id| id.chars().take(128).collect())
}

/// Whether the body is worth reading as a stream. Servers that name no type, or a vague one, do stream.
fn may_be_stream(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let kind = kind.to_ascii_lowercase();
    !kind.starts_with("text/html") && !kind.starts_with("application/json")
}

/// The error of an answer that is no stream.
async fn read_failure(mut response: Response, status: u16, site: &Site<'_>) -> ProviderError {
    let headers = response.headers().clone();
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let wait = retry_after(header("retry-after-ms"), header("retry-after"), SystemTime::now());
    let should_retry = header("x-should-retry").and_then(|word| word.trim().parse().ok());
    let location = header("location").map(|to| format!("it redirects to {to}"));
    let mut body = Vec::new();
    let reading = async {
        while body.len() < ERROR_BODY_LIMIT
            && let Ok(Some(chunk)) = response.chunk().await
        {
            body.extend_from_slice(&chunk);
        }
    };
    // A body that does not end is judged by what has come.
    let _ = timeout(ERROR_BODY_WAIT, reading).await;
    let text = String::from_utf8_lossy(&body);
    let mut fault = from_body(status, &text);
    if status == 200 && (fault.kind == ProviderErrorKind::Other || !text.contains("error")) {
        fault.kind = ProviderErrorKind::NotAModel;
    }
    if proxy::answered(&site.place.base_url, status, &headers, looks_like_html(&text)) {
        fault.kind = ProviderErrorKind::Proxy;
    }
    if let (300..400, Some(location)) = (status, location) {
        fault.message = location;
    }
    let mut error = site.fault(fault);
    error.status = Some(status);
    error.retry_after = wait.or(error.retry_after);
    error.should_retry = should_retry;
    error
}

#[derive(Debug, thiserror::Error)]
enum BodyError {
    #[error("nothing came in time")]
    Idle,
    #[error("it is larger than {} MiB", ANSWER_LIMIT >> 20)]
    TooLarge,
    #[error(transparent)]
    Transport(reqwest::Error),
}

type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, BodyError>> + Send>>;

/// The body within its limits. At its end two line feeds are added, so that a last event without its empty line
/// still counts. The silence is measured only while we wait for the server, not while our reader is slow.
fn bounded(response: Response, idle: Duration) -> ByteStream {
    struct State {
        response: Option<Response>,
        taken: usize,
    }
    let state = State {
        response: Some(response),
        taken: 0,
    };
    Box::pin(stream::unfold(state, move |mut state| async move {
        let response = state.response.as_mut()?;
        let item = match timeout(idle, response.chunk()).await {
            Err(_) => Err(BodyError::Idle),
            Ok(Err(error)) => Err(BodyError::Transport(error)),
            Ok(Ok(None)) => {
                state.response = None;
                Ok(Bytes::from_static(b"\n\n"))
            }
            Ok(Ok(Some(chunk))) => {
                state.taken += chunk.len();
                if state.taken > ANSWER_LIMIT {
                    Err(BodyError::TooLarge)
                } else {
                    Ok(chunk)
                }
            }
        };
        if item.is_err() {
            state.response = None;
        }
        Some((item, state))
    }))
}

/// The innermost causes are what helps; the outer layers only say that sending failed.
fn causes(error: &(dyn StdError + 'static)) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        if !words.iter().any(|earlier| earlier.contains(&text)) {
            words.push(text);
        }
        next = cause.source();
    }
    if words.is_empty() {
        error.to_string()
    } else {
        words.join(": ")
    }
}
