//! The screen's files, part of this program. Owns names, types and caching; everything here is the same for everyone.

use axum::{
    body::Body,
    http::{
        HeaderMap, HeaderValue, Response, StatusCode,
        header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY},
    },
};
use rust_embed::{Embed, EmbeddedFile};

/// Read from the folder in a debug build, so that a rebuilt screen shows without a new program.
#[derive(Embed)]
#[folder = "../../apps/ui/dist"]
struct Screen;

const INDEX: &str = "index.html";

/// What is at `path` (as in the request, percent-encoded): a file, or the page for every address of the page's own.
pub(crate) fn serve(path: &str, headers: &HeaderMap) -> Response<Body> {
    let name = path.trim_start_matches('/');
    if !is_plain(name) {
        return not_found();
    }
    if name.is_empty() || !name.contains('.') {
        return match Screen::get(INDEX) {
            Some(_) => file(INDEX, headers).unwrap_or_else(not_found),
            None => super::pages::not_built(),
        };
    }
    file(name, headers).unwrap_or_else(not_found)
}

/// No way up or out, whatever the decoding: the names that the build makes need none of these.
fn is_plain(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    name.is_empty()
        || name
            .split('/')
            .all(|part| !part.is_empty() && !part.starts_with('.') && part.chars().all(allowed))
}

fn file(name: &str, headers: &HeaderMap) -> Option<Response<Body>> {
    let plain = Screen::get(name)?;
    let compressed = accepts_brotli(headers)
        .then(|| Screen::get(&format!("{name}.br")))
        .flatten();
    let encoding = compressed.is_some().then(|| HeaderValue::from_static("br"));
    let file = compressed.unwrap_or(plain);
    let tag = tag(&file);
    let unchanged = headers.get(IF_NONE_MATCH).is_some_and(|known| *known == tag);
    let (status, body) = match unchanged {
        true => (StatusCode::NOT_MODIFIED, Body::empty()),
        false => (StatusCode::OK, Body::from(file.data.into_owned())),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let answer = response.headers_mut();
    answer.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(name)));
    answer.insert(ETAG, tag);
    answer.insert(VARY, HeaderValue::from_static("accept-encoding"));
    // The build puts a hash of the content into the names below assets/.
    let caching = match name.starts_with("assets/") {
        true => "private, max-age=31536000, immutable",
        false => "no-cache",
    };
    answer.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    if let Some(encoding) = encoding {
        answer.insert(CONTENT_ENCODING, encoding);
    }
    Some(response)
}

fn accepts_brotli(headers: &HeaderMap) -> bool {
    headers
        .get(ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| {
            value
                .split(',')
                .any(|coding| coding.split(';').next().is_some_and(|name| name.trim() == "br"))
        })
}

fn tag(file: &EmbeddedFile) -> HeaderValue {
    let hash: String = file
        .metadata
        .sha256_hash()
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    HeaderValue::try_from(format!("\"{hash}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "woff" => "font/woff",
        "ttf" => "font/ttf",
        "wasm" => "application/wasm",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn not_found() -> Response<Body> {
    let mut response = Response::new(Body::from("Not found\n"));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response.headers_mut().insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_a_way_out_are_no_names() {
        for name in [
            "../Cargo.toml",
            "assets/../../Cargo.toml",
            "assets/..%2f..%2fCargo.toml",
            "%2e%2e/Cargo.toml",
            "assets//x.js",
            "/etc/passwd",
            "assets\\..\\x",
            ".gitkeep",
            "assets/.hidden",
        ] {
            assert!(!is_plain(name), "{name}");
        }
        for name in [
            "",
            "assets/index-B7x_2.js",
            "fonts/Inter.woff2",
            "settings/providers",
        ] {
            assert!(is_plain(name), "{name}");
        }
    }
}
