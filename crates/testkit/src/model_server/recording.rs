//! An answer as bytes on a socket: what is sent in which chunk, when, and how it ends. Recorded answers of real
//! providers have this shape; scenario steps are turned into it.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    #[serde(default)]
    pub note: String,
    pub status: u16,
    /// A value `@DATE+9s` becomes the HTTP date nine seconds from now.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    pub steps: Vec<Step>,
}

/// One HTTP chunk, pause or ending.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    pub send: Option<String>,
    pub send_b64: Option<String>,
    pub sleep_ms: Option<u64>,
    pub end: Option<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// The body's proper end.
    Close,
    /// The connection is reset.
    Reset,
    /// The connection stays open, silent.
    Hold,
    /// The connection is reset before any header is sent.
    Refuse,
    /// The connection stays open and not even headers are sent.
    Silent,
}

impl Recording {
    /// Reads a recorded answer.
    pub fn load(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let text =
            std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub fn new(status: u16, content_type: &str) -> Self {
        Self {
            note: String::new(),
            status,
            headers: BTreeMap::from([("content-type".to_owned(), content_type.to_owned())]),
            steps: Vec::new(),
        }
    }

    pub fn header(mut self, name: &str, value: impl ToString) -> Self {
        self.headers.insert(name.to_owned(), value.to_string());
        self
    }

    pub fn send(mut self, text: impl Into<String>) -> Self {
        self.steps.push(Step {
            send: Some(text.into()),
            ..Step::default()
        });
        self
    }

    pub fn wait(mut self, duration: Duration) -> Self {
        let sleep_ms = u64::try_from(duration.as_millis())
            .ok()
            .filter(|millis| *millis > 0);
        if sleep_ms.is_some() {
            self.steps.push(Step {
                sleep_ms,
                ..Step::default()
            });
        }
        self
    }

    pub fn end(mut self, end: End) -> Self {
        self.steps.push(Step {
            end: Some(end),
            ..Step::default()
        });
        self
    }

    /// The same bytes without pauses, cut into two chunks at `position`.
    pub fn cut_at(&self, position: usize) -> Self {
        let bytes = self.bytes();
        let (head, tail) = bytes.split_at(position);
        self.with_chunks([head, tail])
    }

    /// The same bytes without pauses, in chunks of `size`.
    pub fn in_chunks_of(&self, size: usize) -> Self {
        self.with_chunks(self.bytes().chunks(size))
    }

    /// The whole body.
    pub fn bytes(&self) -> Vec<u8> {
        self.steps.iter().flat_map(Step::bytes).collect()
    }

    /// The same head with another body in one chunk, and another ending where one is given.
    pub(super) fn with_body(&self, body: impl Into<String>, end: Option<End>) -> Self {
        let body = body.into();
        let mut copy = self.with_chunks([body.as_bytes()]);
        if let Some(end) = end {
            copy.steps.retain(|step| step.end.is_none());
            copy = copy.end(end);
        }
        copy
    }

    fn with_chunks<'a>(&self, chunks: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut copy = Self {
            steps: Vec::new(),
            ..self.clone()
        };
        for chunk in chunks {
            copy.steps.push(Step {
                send_b64: Some(STANDARD.encode(chunk)),
                ..Step::default()
            });
        }
        copy.steps
            .extend(self.steps.iter().filter(|step| step.end.is_some()).cloned());
        copy
    }

    /// The header lines of the response, terminated.
    pub(super) fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} Answer\r\n", self.status);
        for (name, value) in &self.headers {
            let value = relative_date(value).unwrap_or_else(|| value.clone());
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("transfer-encoding: chunked\r\n\r\n");
        head
    }
}

impl Step {
    pub(super) fn bytes(&self) -> Vec<u8> {
        match (&self.send, &self.send_b64) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, Some(encoded)) => STANDARD.decode(encoded).expect("send_b64 is base64"),
            (None, None) => Vec::new(),
        }
    }
}

fn relative_date(value: &str) -> Option<String> {
    let seconds: f64 = value.strip_prefix("@DATE+")?.strip_suffix('s')?.parse().ok()?;
    Some(httpdate::fmt_http_date(
        SystemTime::now() + Duration::from_secs_f64(seconds),
    ))
}
