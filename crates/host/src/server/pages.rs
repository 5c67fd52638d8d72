//! The few pages that the server itself speaks: words to someone who came without the key, or before the screen was
//! built.

use axum::{
    body::Body,
    http::{HeaderValue, Response, StatusCode, header::CONTENT_TYPE},
};

pub(crate) fn unauthorized() -> Response<Body> {
    page(
        StatusCode::UNAUTHORIZED,
        "This window has no key",
        "Run <code>vibe-coder</code> in a terminal: it opens a window that has one.",
        "",
    )
}

pub(crate) fn code_not_good() -> Response<Body> {
    page(
        StatusCode::UNAUTHORIZED,
        "This address has been used",
        "It works once, for a minute. Run <code>vibe-coder</code> again for a new one.",
        "",
    )
}

pub(crate) fn not_built() -> Response<Body> {
    page(
        StatusCode::SERVICE_UNAVAILABLE,
        "The screen is not built",
        "This program was built without it. In the repository, run <code>cargo xtask run</code>: it builds the screen \
         and opens it.",
        "",
    )
}

/// Goes on by itself. A redirect would not do when another site led here: the browser withholds the cookie from
/// everything that follows from there, but not from what this page asks for.
pub(crate) fn go_on(to: &str) -> Response<Body> {
    page(
        StatusCode::OK,
        "Vibe Coder",
        "One moment…",
        &format!("<meta http-equiv=\"refresh\" content=\"0;url={to}\">"),
    )
}

fn page(status: StatusCode, title: &str, text: &str, head: &str) -> Response<Body> {
    let html = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>{head}\
         <style>body{{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem;\
         color-scheme:light dark}}</style></head><body><h1>{title}</h1><p>{text}</p></body></html>\n"
    );
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}
