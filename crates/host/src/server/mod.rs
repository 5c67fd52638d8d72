//! The local server: loopback only, for this user only. Owns the guards that every request passes before anything is
//! read, the headers that every answer has, and the routes.

pub(crate) mod api;
mod assets;
pub(crate) mod auth;
mod link;
mod pages;
mod peer;
mod window;

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Body,
    extract::{ConnectInfo, Request, State, WebSocketUpgrade},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode,
        header::{ACCEPT, CACHE_CONTROL, HOST, ORIGIN},
    },
    middleware::{self, Next},
    response::IntoResponse,
    routing::{any, get, post},
};
use protocol::{ErrorCode, RuntimeError};
use serde_json::json;
use store::log::{Log, LogEvent};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::methods::Methods;
use auth::{Auth, Proof};
use peer::Peer;

/// What every request may need.
pub(crate) struct App {
    pub methods: Methods,
    pub auth: Auth,
    pub log: Arc<Log>,
    pub port: u16,
    /// Cancelled when the host ends.
    pub closing: CancellationToken,
}

/// A frame of a window: a file that is saved whole fits.
const LARGEST_MESSAGE: usize = 16 * 1024 * 1024;

/// Serves until the host ends.
pub(crate) async fn serve(listener: TcpListener, app: Arc<App>) -> std::io::Result<()> {
    let closing = app.closing.clone();
    let router = Router::new()
        .route("/open", get(api::hand_over))
        .route("/api/open", post(api::open))
        .route("/ws", any(upgrade))
        .fallback(screen)
        .layer(middleware::from_fn_with_state(app.clone(), guard))
        .with_state(app);
    let service = router.into_make_service_with_connect_info::<Peer>();
    axum::serve(listener, service)
        .with_graceful_shutdown(closing.cancelled_owned())
        .await
}

async fn upgrade(State(app): State<Arc<App>>, upgrade: WebSocketUpgrade) -> Response<Body> {
    upgrade
        .max_message_size(LARGEST_MESSAGE)
        .max_frame_size(LARGEST_MESSAGE)
        .on_upgrade(move |socket| window::serve(app, socket))
}

async fn screen(request: Request) -> Response<Body> {
    match *request.method() {
        Method::GET | Method::HEAD => assets::serve(request.uri().path(), request.headers()),
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

/// Refuses what is not for this host or not from its user, before anything else looks at the request.
async fn guard(
    State(app): State<Arc<App>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let mut response = match app.check(peer, &request) {
        Ok(()) => next.run(request).await,
        Err(error) => {
            app.refused(error.code, &described(&request));
            refusal(error, &request)
        }
    };
    add_headers(response.headers_mut());
    response
}

impl App {
    fn check(&self, peer: Peer, request: &Request) -> Result<(), RuntimeError> {
        let headers = request.headers();
        let host = header(headers, &HOST).unwrap_or_default();
        let own = [
            format!("127.0.0.1:{}", self.port),
            format!("localhost:{}", self.port),
        ];
        if !own.iter().any(|name| name == host) || headers.get_all(HOST).iter().count() != 1 {
            return Err(
                RuntimeError::new(ErrorCode::HostForbiddenHost, "This address is not served here.")
                    .action(format!("Use http://127.0.0.1:{}.", self.port)),
            );
        }
        let origins = headers.get_all(ORIGIN).iter().count();
        let same_origin = header(headers, &ORIGIN).is_some_and(|origin| origin == format!("http://{host}"));
        let foreign = || {
            RuntimeError::new(
                ErrorCode::HostForbiddenOrigin,
                "Pages of other sites cannot use Vibe Coder.",
            )
            .action("Run `vibe-coder`: it opens a window that can.")
        };
        if origins > 1 || (origins == 1 && !same_origin) {
            return Err(foreign());
        }
        let unauthorized = || {
            RuntimeError::new(
                ErrorCode::HostUnauthorized,
                "This request has no key of this host.",
            )
            .action("Run `vibe-coder`: it opens a window that has one.")
        };
        if peer == Peer::OtherUser {
            return Err(unauthorized().because("It comes from another user of this machine."));
        }
        let path = request.uri().path();
        if path == "/open" {
            return Ok(());
        }
        match self.auth.proof(headers) {
            None => Err(unauthorized()),
            // A browser always says where a socket's page came from.
            Some(Proof::Cookie) if path == "/ws" && !same_origin => Err(foreign()),
            // What changes something is not to be had with what a browser attaches by itself.
            Some(Proof::Cookie) if path.starts_with("/api/") => Err(unauthorized()),
            Some(_) => Ok(()),
        }
    }

    pub(crate) fn refused(&self, code: ErrorCode, what: &str) {
        self.log.record(&LogEvent::RequestRefused {
            code,
            what: what.to_owned(),
        });
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Method and path for the log; never the query, which may carry a code.
fn described(request: &Request) -> String {
    let path: String = request.uri().path().chars().take(100).collect();
    format!("{} {path}", request.method())
}

fn refusal(error: RuntimeError, request: &Request) -> Response<Body> {
    let wants_page = request.method() == Method::GET
        && header(request.headers(), &ACCEPT).is_some_and(|accepted| accepted.contains("text/html"));
    let status = match error.code {
        ErrorCode::HostUnauthorized if wants_page => return pages::unauthorized(),
        ErrorCode::HostUnauthorized => StatusCode::UNAUTHORIZED,
        _ => StatusCode::FORBIDDEN,
    };
    (status, Json(json!({ "ok": false, "error": error }))).into_response()
}

/// A page of this host can load what is part of this program and speak to this host, and nothing else; no other page
/// can frame it or read it.
const HEADERS: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self' data:; \
         img-src 'self' data: blob:; worker-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-frame-options", "DENY"),
];

fn add_headers(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}
