//! Whether a proxy stands on the way to a provider, by the same rules as the HTTP client's. Its failures look like the
//! provider's own: a refused connection, a gateway error. What is known here tells them apart.

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::{Url, header::HeaderMap};

use crate::http::is_loopback;

/// The proxy that the system's settings name for an address, without its credentials.
pub(crate) fn on_the_way(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    if is_loopback(&url) {
        return None;
    }
    let found = Matcher::from_system().intercept(&address.parse().ok()?)?;
    let uri = found.uri();
    let port = uri.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{}{port}", uri.host()?))
}

/// Whether a failed answer is the proxy's own. Over TLS it cannot be: what is inside the tunnel is the provider's.
pub(crate) fn answered(address: &str, status: u16, headers: &HeaderMap, is_web_page: bool) -> bool {
    let signed = ["proxy-status", "x-squid-error", "proxy-authenticate"]
        .iter()
        .any(|name| headers.contains_key(*name));
    matches!(status, 403 | 407 | 500..=504)
        && address.starts_with("http://")
        && (signed || is_web_page)
        && on_the_way(address).is_some()
}
