//! Whoever is not this user's window is refused, with a stable code, a line in the log, and nothing read.

use serde_json::json;

use crate::support::{Place, Window, request};

#[test]
fn foreign_requests_are_refused_and_logged() {
    let place = Place::new();
    let authority = place.authority();
    let own_origin = format!("http://{authority}");
    let own_cookie = format!("vc_session_{}={}", place.port(), place.record().token);
    let old_cookie = format!("vc_session_{}={}", place.port(), "0".repeat(64));
    let bearer = format!("Bearer {}", place.record().token);
    let port = place.port();
    let rebound = format!("evil.example:{port}");
    let evil_localhost = format!("localhost.evil.example:{port}");
    let by_other_port = format!("127.0.0.1:{}", port.wrapping_add(1));

    let (host, origin, unauthorized) = ("host.forbiddenHost", "host.forbiddenOrigin", "host.unauthorized");
    let upgrade = [("Upgrade", "websocket"), ("Connection", "Upgrade")];
    let cases: &[(&str, &str, &str, &[(&str, &str)], &str, u16)] = &[
        (
            "a name that was rebound to this machine",
            "GET",
            "/",
            &[("Host", &rebound), ("Cookie", &own_cookie)],
            host,
            403,
        ),
        (
            "a name that begins as ours",
            "GET",
            "/",
            &[("Host", &evil_localhost), ("Cookie", &own_cookie)],
            host,
            403,
        ),
        (
            "another port",
            "GET",
            "/",
            &[("Host", &by_other_port), ("Cookie", &own_cookie)],
            host,
            403,
        ),
        (
            "no port",
            "GET",
            "/",
            &[("Host", "127.0.0.1"), ("Cookie", &own_cookie)],
            host,
            403,
        ),
        (
            "two hosts",
            "GET",
            "/",
            &[("Host", &rebound), ("Authorization", &bearer)],
            host,
            403,
        ),
        (
            "a page of another site",
            "GET",
            "/",
            &[("Origin", "https://evil.example"), ("Cookie", &own_cookie)],
            origin,
            403,
        ),
        (
            "a page of another port",
            "GET",
            "/",
            &[("Origin", "http://127.0.0.1:1"), ("Cookie", &own_cookie)],
            origin,
            403,
        ),
        (
            "the same name over TLS",
            "GET",
            "/",
            &[
                ("Origin", &format!("https://{authority}")),
                ("Cookie", &own_cookie),
            ],
            origin,
            403,
        ),
        (
            "a page from nowhere",
            "POST",
            "/api/open",
            &[("Origin", "null"), ("Authorization", &bearer)],
            origin,
            403,
        ),
        (
            "our own page under the other name",
            "GET",
            "/",
            &[
                ("Origin", &format!("http://localhost:{port}")),
                ("Cookie", &own_cookie),
            ],
            origin,
            403,
        ),
        ("no key", "GET", "/", &[], unauthorized, 401),
        (
            "no key for a file",
            "GET",
            "/assets/index.js",
            &[("Origin", &own_origin)],
            unauthorized,
            401,
        ),
        (
            "a key of an earlier start",
            "GET",
            "/",
            &[("Cookie", &old_cookie)],
            unauthorized,
            401,
        ),
        (
            "a foreign bearer",
            "POST",
            "/api/open",
            &[("Authorization", "Bearer 123")],
            unauthorized,
            401,
        ),
        (
            "another kind of key",
            "POST",
            "/api/open",
            &[("Authorization", &format!("Basic {}", place.record().token))],
            unauthorized,
            401,
        ),
        (
            "a good cookie beside a bad bearer",
            "GET",
            "/",
            &[("Authorization", "Bearer 1"), ("Cookie", &own_cookie)],
            unauthorized,
            401,
        ),
        (
            "a cookie where something is changed",
            "POST",
            "/api/open",
            &[("Origin", &own_origin), ("Cookie", &own_cookie)],
            unauthorized,
            401,
        ),
        (
            "a socket without an origin",
            "GET",
            "/ws",
            &[upgrade[0], upgrade[1], ("Cookie", &own_cookie)],
            origin,
            403,
        ),
        (
            "a socket without a key",
            "GET",
            "/ws",
            &[upgrade[0], upgrade[1], ("Origin", &own_origin)],
            unauthorized,
            401,
        ),
    ];
    for (index, (what, method, path, headers, code, status)) in cases.iter().enumerate() {
        let answer = request(port, method, path, headers, b"{}");
        assert_eq!(answer.status, *status, "{what}: {}", answer.head);
        assert_eq!(answer.code().as_deref(), Some(*code), "{what}: {}", answer.body);
        let refusals: Vec<_> = place
            .log()
            .into_iter()
            .filter(|line| line["event"] == "requestRefused")
            .collect();
        assert_eq!(refusals.len(), index + 1, "{what} is logged once");
        assert_eq!(refusals[index]["code"], *code, "{what}");
        assert_eq!(refusals[index]["what"], format!("{method} {path}"), "{what}");
    }
    let log = std::fs::read_to_string(place.data().join("logs/vibe-coder.jsonl")).unwrap();
    assert!(!log.contains(&place.record().token), "the token is in the log");
}

#[test]
fn windows_need_an_origin_or_the_token() {
    let place = Place::new();
    let origin = format!("http://{}", place.authority());
    let cookie = format!("theme=dark; vc_session_{}={}", place.port(), place.record().token);
    let (name, bearer) = place.bearer();
    for (what, headers, expected) in [
        (
            "our page",
            vec![("origin", origin.as_str()), ("cookie", &cookie)],
            Ok(()),
        ),
        ("a program with the token", vec![(name, bearer.as_str())], Ok(())),
        (
            "another page",
            vec![("origin", "http://evil.example"), ("cookie", &cookie)],
            Err(403),
        ),
        (
            "another page with the token",
            vec![("origin", "http://evil.example"), (name, &bearer)],
            Err(403),
        ),
        ("no origin", vec![("cookie", &cookie)], Err(403)),
        ("no key", vec![("origin", origin.as_str())], Err(401)),
    ] {
        let opened = Window::open(place.port(), &headers).map(|mut window| {
            let hello = window.ask(None, "host/hello", json!({}));
            assert_eq!(hello["platform"], "linux", "{what}");
        });
        assert_eq!(opened, expected, "{what}");
    }
}

#[test]
fn a_one_time_address_works_once() {
    let place = Place::new();
    let url = place
        .runtime
        .block_on(place.host().open(host::Target::Nothing))
        .unwrap();
    let path = url
        .strip_prefix(&format!("http://{}", place.authority()))
        .unwrap();

    let first = place.get(path, &[("Sec-Fetch-Site", "none")]);
    assert_eq!((first.status, first.header("location")), (303, Some("/")));
    let cookie = first.header("set-cookie").unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let pair = cookie.split(';').next().unwrap();
    assert_ne!(place.get("/", &[("Cookie", pair)]).status, 401);

    let second = place.get(path, &[]);
    assert_eq!((second.status, second.header("set-cookie")), (401, None));
    assert!(
        second.body.contains("vibe-coder"),
        "it names the way out: {}",
        second.body
    );
    // Who has the key already may reload.
    assert_eq!(place.get(path, &[("Cookie", pair)]).status, 303);
    assert_eq!(place.get("/open?once=guess", &[]).status, 401);
    assert_eq!(place.get("/open", &[]).status, 401);

    // A link in another site's page: the browser would withhold the cookie from a redirect.
    let url = place
        .runtime
        .block_on(place.host().open(host::Target::Nothing))
        .unwrap();
    let path = url
        .strip_prefix(&format!("http://{}", place.authority()))
        .unwrap();
    let clicked = place.get(path, &[("Sec-Fetch-Site", "cross-site")]);
    assert_eq!(clicked.status, 200);
    assert!(clicked.header("set-cookie").is_some());
    assert!(clicked.body.contains("url=/"), "{}", clicked.body);
}

#[test]
fn nothing_but_the_screen_is_served_and_every_answer_is_guarded() {
    let place = Place::new();
    let (name, bearer) = place.bearer();
    let key = [(name, bearer.as_str())];
    for path in [
        "/../Cargo.toml",
        "/assets/../../Cargo.toml",
        "/assets/%2e%2e/%2e%2e/Cargo.toml",
        "/assets/..%2f..%2fpackage.json",
        "/assets//etc/passwd",
        "/.gitkeep",
        "/package.json",
        "/src/main.tsx",
        "/index.html/../../index.html",
    ] {
        let answer = place.get(path, &key);
        assert_eq!(answer.status, 404, "{path}: {}", answer.body);
    }
    assert_eq!(request(place.port(), "PUT", "/", &key, b"x").status, 405);
    for answer in [
        place.get("/", &key),
        place.get("/", &[]),
        place.get("/nothing.js", &key),
        place.get("/open", &[]),
    ] {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe-eval"));
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{}", answer.head);
        }
    }
    let page = place.get("/", &[("Accept", "text/html")]);
    assert_eq!(page.status, 401);
    assert!(page.body.contains("vibe-coder"), "{}", page.body);
}

#[test]
fn a_window_that_talks_nonsense_gets_an_answer_and_stays_open() {
    let place = Place::new();
    let mut window = place.window();
    for (text, id, code) in [
        ("", None, "request.invalid"),
        ("[]", None, "request.invalid"),
        ("{\"id\":5}", Some(5), "request.invalid"),
        (
            "{\"id\":6,\"method\":\"files/read\",\"params\":{\"path\":\"x\"}}",
            Some(6),
            "request.unknown",
        ),
        (
            "{\"id\":7,\"method\":\"host/open\",\"params\":{}}",
            Some(7),
            "request.invalid",
        ),
        (
            "{\"id\":8,\"method\":\"host/open\",\"params\":{\"path\":\"relative\"}}",
            Some(8),
            "request.invalid",
        ),
        (
            "{\"id\":9,\"context\":\"../x\",\"method\":\"files/list\"}",
            Some(9),
            "context.notFound",
        ),
        (
            "{\"id\":10,\"method\":\"host/close\",\"params\":{\"context\":\"none\"}}",
            Some(10),
            "context.notFound",
        ),
        (
            "{\"id\":11,\"method\":\"host/open\",\"params\":{\"path\":\"/no/such\"}}",
            Some(11),
            "workspace.notFound",
        ),
        (
            "{\"id\":12,\"method\":\"host/open\",\"params\":{\"path\":\"/etc/passwd\"}}",
            Some(12),
            "workspace.notADirectory",
        ),
        (
            "{\"id\":13,\"method\":\"host/open\",\"params\":{\"path\":\"/\"}}",
            Some(13),
            "workspace.tooWide",
        ),
        (
            "{\"id\":14,\"method\":\"host/folders\",\"params\":{\"path\":\"/etc/passwd\"}}",
            Some(14),
            "workspace.notADirectory",
        ),
    ] {
        window.send_text(text.to_owned());
        let reply = window.next_frame();
        assert_eq!(reply["ok"], false, "{text}: {reply}");
        assert_eq!(reply["id"], json!(id), "{text}");
        assert_eq!(reply["error"]["code"], code, "{text}");
    }
    std::fs::create_dir_all(place.folder().join("picked/one")).unwrap();
    std::fs::create_dir(place.folder().join("picked/.hidden")).unwrap();
    std::fs::write(place.folder().join("picked/secret.txt"), "x").unwrap();
    let picked = place.folder().join("picked");
    let folders = window.ask(None, "host/folders", json!({ "path": picked }));
    assert_eq!(folders["folders"], json!(["one"]));
    assert_eq!(folders["parent"], json!(place.folder()));
}
