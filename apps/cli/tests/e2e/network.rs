//! The way to a model as companies have it: a proxy that the environment names, and certificates of their own.

use serde_json::json;
use testkit::{
    Hermetic, ModelServer,
    network::{Proxy, TlsFront},
};

use crate::{support::hermetic, told::expect_failure};

/// A name that leads nowhere: only a proxy can bring a request for it to an answer.
const HOST: &str = "models.vibe-coder.invalid";

fn at(base_url: &str) -> Hermetic {
    let mut place = hermetic();
    place.set_variable("ANTHROPIC_BASE_URL", base_url);
    place.set_variable("ANTHROPIC_API_KEY", "sk-ant-test-0123456789");
    let quick = place.vibe(&["settings", "set", "providers.anthropic.maxRetries", "0"]);
    assert!(quick.status.success());
    place
}

fn ask(place: &Hermetic) -> testkit::ExecRun {
    place.exec(&["--provider", "anthropic", "Hello."])
}

/// Where nothing listens.
fn nowhere() -> String {
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    format!("http://{}", free.local_addr().expect("an address"))
}

#[test]
fn the_systems_proxy_is_used_unless_the_host_is_excepted() {
    let server = ModelServer::spawn("steps: [{ text: Through the proxy., repeat: always }]");
    let proxy = Proxy::to(server.address());
    let mut place = at(&format!("http://{HOST}"));
    place.set_variable("HTTP_PROXY", proxy.url());
    place.set_variable("http_proxy", proxy.url());
    let run = ask(&place).expect_code(0);
    assert_eq!(run.answer(), "Through the proxy.");
    assert_eq!(
        proxy.asked(),
        [format!("POST http://{HOST}/v1/messages HTTP/1.1")]
    );

    place.set_variable("NO_PROXY", ".vibe-coder.invalid");
    expect_failure(&ask(&place), 1, "provider.network");
    assert_eq!(proxy.asked().len(), 1);
}

#[test]
fn failures_of_a_proxy_are_not_taken_for_the_providers() {
    for scheme in ["http", "https"] {
        for proxy in [None, Some(Proxy::refusing(407)), Some(Proxy::refusing(502))] {
            let mut place = at(&format!("{scheme}://{HOST}"));
            let url = proxy.as_ref().map_or_else(nowhere, Proxy::url);
            for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"] {
                place.set_variable(name, &url);
            }
            let run = ask(&place);
            expect_failure(&run, 1, "provider.proxy");
            let action = run.result["error"]["userAction"].as_str().unwrap_or_default();
            assert!(action.contains("HTTPS_PROXY"), "{action}");
        }
    }
}

#[test]
fn certificates_of_an_own_authority_are_honoured_also_through_a_proxy() {
    let server = ModelServer::spawn("steps: [{ text: In private., repeat: always }]");
    let front = TlsFront::to(server.address(), HOST);
    let proxy = Proxy::to(front.address());
    let mut place = at(&format!("https://{HOST}"));
    place.set_variable("HTTPS_PROXY", proxy.url());
    let run = ask(&place);
    expect_failure(&run, 1, "provider.tls");
    assert!(server.requests().is_empty());
    let action = run.result["error"]["userAction"].as_str().unwrap_or_default();
    assert!(action.contains("SSL_CERT_FILE"), "{action}");

    place.write("authority.pem", front.authority());
    let path = place.workspace().join("authority.pem");
    place.set_variable("SSL_CERT_FILE", path);
    let run = ask(&place).expect_code(0);
    assert_eq!(run.answer(), "In private.");
    assert_eq!(server.requests().len(), 1);
    assert!(
        proxy
            .asked()
            .iter()
            .all(|line| line.starts_with(&format!("CONNECT {HOST}:443"))),
        "{:?}",
        proxy.asked()
    );
    assert_eq!(run.result["error"], json!(null));
}
