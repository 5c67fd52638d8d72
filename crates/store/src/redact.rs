//! Secrets out of texts. Two strengths: values that are known to be secret, for events that a user reads and
//! that must otherwise stay as they were; and also everything that looks like a secret, for logs.

use std::{
    borrow::Cow,
    sync::{Arc, LazyLock, PoisonError, RwLock},
};

use memchr::memmem;
use protocol::EventBody;
use regex::{Captures, Regex};
use serde_json::Value;

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Shorter values would hit ordinary words.
const SHORTEST_VALUE: usize = 8;

/// Knows the secrets of this process; clones share what they know. Cheap to make; the patterns are compiled at the
/// first use of any.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Longest first, so that a secret that contains another goes as a whole.
    values: Arc<RwLock<Arc<[String]>>>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redactor({} values)", self.values().len())
    }
}

/// Tokens that are recognised by their own form. Quotes and backslashes never match, so that redacted JSON
/// is still JSON.
static TOKENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?-u)\b(?:sk-[A-Za-z0-9_-]{16,}",
        r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}",
        r"|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}",
        r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|(?:npm|hf|dop_v1)_[A-Za-z0-9]{30,}|[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}",
        r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,})",
    ))
    .ok()
});

/// A secret that is recognised by what stands before it, which is kept.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"(?i)((?:authorization|cookie)\\?["']?\s*[:=]\s*\\?["']?)[^"'\\\r\n]+"#,
        r#"|(\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}"#,
        r#"|((?:api[_-]?key|access[_-]?key|secret|password|passwd|token|credential)s?\\?["']?\s*[:=]\s*\\?["']?)[^\s"',;&\\]{6,}"#,
        r#"|(://[^/\s:@"'\\]*:)[^/\s@"'\\]+@"#,
    ))
    .ok()
});

static PRIVATE_KEYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[^"]*?"#,
        r#"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|"|\z)"#,
    ))
    .ok()
});

impl Redactor {
    /// Redacts these values wherever they occur; those under 8 bytes are ignored.
    pub fn new(values: impl IntoIterator<Item = String>) -> Redactor {
        let redactor = Redactor::default();
        redactor.learn(values);
        redactor
    }

    /// Redacts these values as well from now on, in every clone. What was known stays known: a key that is replaced
    /// may still be printed.
    pub fn learn(&self, values: impl IntoIterator<Item = String>) {
        let new = values
            .into_iter()
            .map(|value| value.trim().to_owned())
            .filter(|value| value.len() >= SHORTEST_VALUE);
        let mut known = self.values.write().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<String> = known.iter().cloned().chain(new).collect();
        all.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        all.dedup();
        *known = all.into();
    }

    fn values(&self) -> Arc<[String]> {
        self.values.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether any secret value is known.
    pub fn has_values(&self) -> bool {
        !self.values().is_empty()
    }

    /// For what a user reads: only the known values go.
    pub fn redact_values<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for value in self.values().iter() {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), REDACTED));
            }
        }
        text
    }

    /// For logs and reports: the known values and everything that looks like a secret.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.redact_values(text);
        match redact_patterns(&known) {
            Cow::Borrowed(_) => known,
            Cow::Owned(redacted) => Cow::Owned(redacted),
        }
    }

    /// The event without known values, in whichever of its texts they occur. One text delta alone may hold a
    /// part of a value: give deltas to a [`RedactedStream`] first.
    pub fn event(&self, body: EventBody) -> EventBody {
        if self.values().is_empty() {
            return body;
        }
        let Ok(mut value) = serde_json::to_value(&body) else {
            return body;
        };
        if !self.redact_values_in_json(&mut value) {
            return body;
        }
        // A redacted event always reads back unless a secret was part of its structure; then none is better.
        serde_json::from_value(value).unwrap_or(EventBody::Recovered {
            notes: vec!["An event was left out because it contained a secret.".to_owned()],
        })
    }

    /// Redacts known values in every string of `value`, keys too; tells whether there were any.
    pub fn redact_values_in_json(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.redact_values(text) {
                Cow::Borrowed(_) => false,
                Cow::Owned(redacted) => {
                    *text = redacted;
                    true
                }
            },
            Value::Array(items) => items
                .iter_mut()
                .fold(false, |found, item| self.redact_values_in_json(item) | found),
            Value::Object(members) => {
                let mut found = false;
                let keys: Vec<String> = members
                    .keys()
                    .filter(|key| matches!(self.redact_values(key), Cow::Owned(_)))
                    .cloned()
                    .collect();
                for key in keys {
                    if let Some(member) = members.remove(&key) {
                        members.insert(self.redact_values(&key).into_owned(), member);
                        found = true;
                    }
                }
                members
                    .values_mut()
                    .fold(found, |found, member| self.redact_values_in_json(member) | found)
            }
            _ => false,
        }
    }

    /// A redacted view of a text that arrives in pieces.
    pub fn stream(&self) -> RedactedStream {
        RedactedStream {
            redactor: self.clone(),
            held: String::new(),
        }
    }

    /// A redacted view of bytes that arrive in pieces and need not be text.
    pub fn byte_stream(&self) -> RedactedBytes {
        RedactedBytes {
            values: self
                .values()
                .iter()
                .map(|value| memmem::Finder::new(value).into_owned())
                .collect(),
            held: Vec::new(),
        }
    }
}

/// Whether `text` holds something that has a secret's form.
pub(crate) fn looks_secret(text: &str) -> bool {
    [&TOKENS, &PRIVATE_KEYS]
        .into_iter()
        .any(|pattern| pattern.as_ref().is_some_and(|pattern| pattern.is_match(text)))
}

fn redact_patterns(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (pattern, replacement) in [
        (&PRIVATE_KEYS, private_key as fn(&Captures<'_>) -> String),
        (&NAMED, named),
        (&TOKENS, |_| REDACTED.to_owned()),
    ] {
        let Some(pattern) = pattern.as_ref() else {
            continue;
        };
        if let Cow::Owned(redacted) = pattern.replace_all(&text, replacement) {
            text = Cow::Owned(redacted);
        }
    }
    text
}

fn private_key(found: &Captures<'_>) -> String {
    // A block that is cut off ends with the string that holds it.
    let quote = if found[0].ends_with('"') { "\"" } else { "" };
    format!("{REDACTED}{quote}")
}

fn named(found: &Captures<'_>) -> String {
    let prefix = (1..=4)
        .find_map(|group| found.get(group))
        .map_or("", |prefix| prefix.as_str());
    let whole = &found[0];
    let value = &whole[prefix.len()..];
    // Counts and the like: `"tokens": 128000`.
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        return whole.to_owned();
    }
    let end = if found.get(4).is_some() { "@" } else { "" };
    format!("{prefix}{REDACTED}{end}")
}

/// Redacts known values across the borders of the pieces in which a text arrives, by holding back an end that
/// may be the beginning of one.
#[derive(Clone, Debug)]
pub struct RedactedStream {
    redactor: Redactor,
    held: String,
}

impl RedactedStream {
    /// Takes the next piece and returns what may be shown now.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let text = self.redactor.redact_values(&self.held).into_owned();
        let hold = self
            .redactor
            .values()
            .iter()
            .map(|value| longest_start_at_end(&text, value))
            .max()
            .unwrap_or(0);
        let (shown, held) = text.split_at(text.len() - hold);
        let shown = shown.to_owned();
        self.held = held.to_owned();
        shown
    }

    /// The rest, when nothing follows.
    pub fn finish(mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

/// As [`RedactedStream`], for bytes: a command's raw output, which may be in any encoding.
#[derive(Clone, Debug)]
pub struct RedactedBytes {
    /// Longest first, as in the redactor.
    values: Vec<memmem::Finder<'static>>,
    held: Vec<u8>,
}

impl RedactedBytes {
    /// Takes the next piece and returns what may be kept now.
    pub fn push<'a>(&mut self, piece: &'a [u8]) -> Cow<'a, [u8]> {
        if self.values.is_empty() {
            return Cow::Borrowed(piece);
        }
        self.held.extend_from_slice(piece);
        let mut kept = Vec::with_capacity(self.held.len());
        let mut rest = self.held.as_slice();
        // The first place decides; where two begin there, the longer one.
        while let Some((at, length)) = self
            .values
            .iter()
            .filter_map(|value| Some((value.find(rest)?, value.needle().len())))
            .min_by_key(|(at, length)| (*at, std::cmp::Reverse(*length)))
        {
            kept.extend_from_slice(&rest[..at]);
            kept.extend_from_slice(REDACTED.as_bytes());
            rest = &rest[at + length..];
        }
        let hold = self
            .values
            .iter()
            .map(|value| longest_beginning_at_end(rest, value.needle()))
            .max()
            .unwrap_or(0);
        let (shown, held) = rest.split_at(rest.len() - hold);
        kept.extend_from_slice(shown);
        self.held = held.to_vec();
        Cow::Owned(kept)
    }

    /// The rest, when nothing follows.
    pub fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

fn longest_beginning_at_end(bytes: &[u8], value: &[u8]) -> usize {
    (1..value.len())
        .rev()
        .find(|&length| bytes.ends_with(&value[..length]))
        .unwrap_or(0)
}

/// How many bytes at the end of `text` are a beginning of `value`, but not all of it.
fn longest_start_at_end(text: &str, value: &str) -> usize {
    value
        .char_indices()
        .map(|(index, _)| index)
        .rev()
        .find(|&length| length > 0 && text.ends_with(&value[..length]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_redacted_and_ordinary_text_is_not() {
        let redactor = Redactor::new(["hunter2-known-value".to_owned(), "short".to_owned()]);
        let key = &format!("sk-ant-{}", "a1B2_c3D4-".repeat(4));
        let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
        for (text, redacted) in [
            (format!("key {key} end"), "key [redacted] end".to_owned()),
            (
                "ghp_0123456789abcdefghijklmnop0123456789".to_owned(),
                REDACTED.to_owned(),
            ),
            ("id AKIAIOSFODNN7EXAMPLE.".to_owned(), "id [redacted].".to_owned()),
            (
                "Authorization: Basic dXNlcjpwYXNz\r\nAccept: */*".to_owned(),
                "Authorization: [redacted]\r\nAccept: */*".to_owned(),
            ),
            (
                r#"{"authorization":"Bearer abc.def","model":"m"}"#.to_owned(),
                r#"{"authorization":"[redacted]","model":"m"}"#.to_owned(),
            ),
            (
                r#"{"body":"{\"api_key\":\"abcdef123\"}"}"#.to_owned(),
                r#"{"body":"{\"api_key\":\"[redacted]\"}"}"#.to_owned(),
            ),
            (
                "X-Api-Key=abcdef123 next".to_owned(),
                "X-Api-Key=[redacted] next".to_owned(),
            ),
            (
                format!("before {pem} after"),
                "before [redacted] after".to_owned(),
            ),
            (
                r#"{"key":"-----BEGIN PRIVATE KEY-----\nMIIE","x":1}"#.to_owned(),
                r#"{"key":"[redacted]","x":1}"#.to_owned(),
            ),
            (
                "https://user:secretpw@example.com/x".to_owned(),
                "https://user:[redacted]@example.com/x".to_owned(),
            ),
            (
                "curl -H 'bearer abcdefghijkl'".to_owned(),
                "curl -H 'bearer [redacted]'".to_owned(),
            ),
            ("say hunter2-known-value".to_owned(), "say [redacted]".to_owned()),
        ] {
            assert_eq!(redactor.redact(&text), redacted, "{text}");
        }
        for text in [
            "short",
            "task-force and risk-averse-behaviour-of-people",
            r#"{"estimatedTokens": 128000, "durationMs": 12}"#,
            "the token is read from the environment",
        ] {
            assert_eq!(redactor.redact(text), text);
        }
        assert_eq!(
            redactor.redact_values(&format!("{key} hunter2-known-value")),
            format!("{key} [redacted]")
        );
    }

    #[test]
    fn value_cut_by_pieces_is_redacted_at_every_cut() {
        let redactor = Redactor::new(["sécret-value".to_owned(), "ret-value-long".to_owned()]);
        let text = "a sécret-value b sécret-valu ret-value-long";
        for first in (0..=text.len()).filter(|&at| text.is_char_boundary(at)) {
            for second in (first..=text.len()).filter(|&at| text.is_char_boundary(at)) {
                let mut stream = redactor.stream();
                let mut shown = stream.push(&text[..first]);
                shown += &stream.push(&text[first..second]);
                shown += &stream.push(&text[second..]);
                shown += &stream.finish();
                assert_eq!(shown, "a [redacted] b sécret-valu [redacted]", "{first} {second}");

                let mut stream = redactor.byte_stream();
                let mut kept = Vec::new();
                for piece in [&text[..first], &text[first..second], &text[second..]] {
                    kept.extend_from_slice(&stream.push(piece.as_bytes()));
                }
                kept.extend_from_slice(&stream.finish());
                assert_eq!(kept, shown.as_bytes(), "{first} {second}");
            }
        }
    }

    #[test]
    fn events_lose_known_values_only() {
        let redactor = Redactor::new(["known-secret-value".to_owned()]);
        let body = |text: &str| EventBody::Recovered {
            notes: vec![text.to_owned()],
        };
        assert_eq!(
            redactor.event(body("a known-secret-value b")),
            body("a [redacted] b")
        );
        let other = body("ghp_0123456789abcdefghijklmnop0123456789");
        assert_eq!(redactor.event(other.clone()), other);
    }
}
