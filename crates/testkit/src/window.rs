//! A window of the screen as the host sees it: plain HTTP, and a WebSocket with requests, replies and events.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket, client::IntoClientRequest};

/// Whatever is waited for comes sooner, or not at all.
const LIMIT: Duration = Duration::from_secs(20);

/// An answer of an HTTP server.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The code of the error it carries.
    pub fn code(&self) -> Option<String> {
        let value: Value = serde_json::from_str(&self.body).ok()?;
        Some(value["error"]["code"].as_str()?.to_owned())
    }
}

/// One request written by hand, so that nothing corrects its headers. Without a `Host` among them, the right one is
/// sent.
pub fn request(port: u16, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a server");
    stream.set_read_timeout(Some(LIMIT)).expect("a time limit");
    let mut text = format!(
        "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        text.push_str(&format!("Host: 127.0.0.1:{port}\r\n"));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    stream.write_all(text.as_bytes()).expect("a request");
    stream.write_all(body).expect("a body");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.split_whitespace().nth(1).expect("a status");
    Answer {
        status: status.parse().expect("a number"),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

/// A window of the screen, as the host sees it.
pub struct Window {
    socket: WebSocket<TcpStream>,
    next_id: u64,
    /// Frames that came while something else was waited for.
    pub seen: Vec<Value>,
}

impl Window {
    pub fn open(port: u16, headers: &[(&str, &str)]) -> Result<Self, u16> {
        let mut request = format!("ws://127.0.0.1:{port}/ws")
            .into_client_request()
            .expect("an address");
        for (name, value) in headers {
            request.headers_mut().insert(
                tungstenite::http::HeaderName::try_from(*name).expect("a name"),
                value.parse().expect("a value"),
            );
        }
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("a server");
        stream.set_read_timeout(Some(LIMIT)).expect("a time limit");
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(Self {
                socket,
                next_id: 1,
                seen: Vec::new(),
            }),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => {
                Err(answer.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }

    pub fn send(&mut self, context: Option<&str>, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let mut frame = json!({ "id": id, "method": method, "params": params });
        if let Some(context) = context {
            frame["context"] = context.into();
        }
        self.send_text(frame.to_string());
        id
    }

    pub fn send_text(&mut self, text: String) {
        self.socket.send(Message::text(text)).expect("an open window");
    }

    pub fn next_frame(&mut self) -> Value {
        loop {
            match self.socket.read().expect("a frame") {
                Message::Text(text) => return serde_json::from_str(&text).expect("JSON"),
                Message::Close(_) => panic!("the window was closed"),
                _ => {}
            }
        }
    }

    /// The reply to a request; other frames go to `seen`.
    pub fn reply(&mut self, id: u64) -> Value {
        self.until(|frame| frame["id"] == id)
    }

    /// The first frame that is wanted, also among those that came while something else was waited for.
    pub fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(place) = self.seen.iter().position(&wanted) {
            return self.seen.remove(place);
        }
        let deadline = Instant::now() + LIMIT;
        loop {
            let frame = self.next_frame();
            if wanted(&frame) {
                return frame;
            }
            self.seen.push(frame);
            assert!(
                Instant::now() < deadline,
                "it did not come; so far: {:#?}",
                self.seen
            );
        }
    }

    /// Waits until a context has come to a state.
    pub fn until_state(&mut self, state: &str) -> Value {
        self.until(|frame| frame["hostEvent"]["to"] == state)
    }

    /// The states that a context has come to, up to the first time it came to this one. State changes and answers
    /// are not ordered among each other.
    pub fn states_up_to(&mut self, state: &str) -> Vec<String> {
        while !self.seen.iter().any(|frame| frame["hostEvent"]["to"] == state) {
            let next = self.next_frame();
            self.seen.push(next);
        }
        let states = self
            .seen
            .iter()
            .filter_map(|frame| frame["hostEvent"]["to"].as_str());
        states.map(str::to_owned).collect()
    }

    /// Asks and expects an answer.
    pub fn ask(&mut self, context: Option<&str>, method: &str, params: Value) -> Value {
        let id = self.send(context, method, params);
        let reply = self.reply(id);
        assert_eq!(reply["ok"], true, "{method}: {reply}");
        reply["data"].clone()
    }

    /// Asks and expects an error; gives it.
    pub fn refused(&mut self, context: Option<&str>, method: &str, params: Value) -> Value {
        let id = self.send(context, method, params);
        let reply = self.reply(id);
        assert_eq!(reply["ok"], false, "{method}: {reply}");
        reply["error"].clone()
    }
}
