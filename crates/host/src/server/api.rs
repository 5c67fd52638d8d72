//! The two ways in: a later launch that asks for a window, and the one-time address that a browser opens.

use std::sync::Arc;

use axum::{
    Json,
    body::Body,
    extract::{Query, State},
    http::{
        HeaderMap, HeaderValue, Response, StatusCode,
        header::{CACHE_CONTROL, LOCATION, SET_COOKIE},
    },
};
use protocol::{ErrorCode, RuntimeError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{App, pages};
use crate::attach::OpenRequest;

#[derive(Deserialize)]
pub(crate) struct Once {
    #[serde(default)]
    once: String,
}

/// `GET /open?once=CODE`: hands the key over.
pub(crate) async fn hand_over(
    State(app): State<Arc<App>>,
    Query(query): Query<Once>,
    headers: HeaderMap,
) -> Response<Body> {
    let Some(context) = app.auth.redeem(&query.once) else {
        app.refused(ErrorCode::HostUnauthorized, "GET /open");
        // Who has the key already, as after a reload, needs no new one.
        return match app.auth.proof(&headers) {
            Some(_) => redirect("/"),
            None => pages::code_not_good(),
        };
    };
    // Keys are hexadecimal.
    let to = context.map_or("/".to_owned(), |context| format!("/?context={context}"));
    let from_elsewhere = headers
        .get("sec-fetch-site")
        .is_some_and(|site| site != "none" && site != "same-origin");
    let mut response = match from_elsewhere {
        true => pages::go_on(&to),
        false => redirect(&to),
    };
    if let Ok(cookie) = HeaderValue::try_from(app.auth.cookie()) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

fn redirect(to: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    headers.insert(
        LOCATION,
        HeaderValue::try_from(to).unwrap_or(HeaderValue::from_static("/")),
    );
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// `POST /api/open`: makes a folder known and gives a one-time address for it.
pub(crate) async fn open(State(app): State<Arc<App>>, body: bytes::Bytes) -> (StatusCode, Json<Value>) {
    let request: Result<OpenRequest, RuntimeError> = serde_json::from_slice(&body).map_err(|error| {
        RuntimeError::new(ErrorCode::RequestInvalid, "The request is not valid.").because(error)
    });
    let opened = match request {
        Ok(request) => app.open(request.into()).await,
        Err(error) => Err(error),
    };
    match opened {
        Ok(answer) => (StatusCode::OK, Json(json!({ "ok": true, "data": answer }))),
        Err(error) => (
            StatusCode::BAD_REQUEST,
            Json(json!({ "ok": false, "error": error })),
        ),
    }
}
