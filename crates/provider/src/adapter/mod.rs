//! Wire formats. An adapter turns a request into a body and a stream's events into parts; it does no IO.

mod anthropic;
mod failure;
mod gemini;
mod openai;
mod quirks;
mod responses;
mod schema;

use crate::{
    assemble::Part,
    config::{Family, ProviderConfig},
    error::ProviderErrorKind,
    message::{Message, ModelRequest},
};

pub(crate) use failure::{Fault, from_body, looks_like_html};
pub(crate) use quirks::Quirks;

/// Reads the data of one server-sent event after another.
pub(crate) trait Decoder: Send {
    fn event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), Fault>;

    /// Whether everything of the answer has come, although the terminator has not.
    fn is_complete(&self) -> bool {
        false
    }
}

/// The adapter of an HTTP family.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Adapter {
    Anthropic,
    OpenAi(&'static Quirks),
    Responses,
    Gemini,
}

impl Adapter {
    pub(crate) fn of(config: &ProviderConfig) -> Option<Self> {
        match config.family {
            Family::Anthropic => Some(Adapter::Anthropic),
            Family::OpenAiChat => Some(Adapter::OpenAi(Quirks::of(&config.id, &config.base_url))),
            Family::OpenAiResponses => Some(Adapter::Responses),
            Family::Gemini => Some(Adapter::Gemini),
            Family::Scripted => None,
        }
    }

    pub(crate) fn url(self, base_url: &str, model: &str) -> String {
        let base = base_url.trim_end_matches('/');
        match self {
            Adapter::Anthropic if base.ends_with("/v1") => format!("{base}/messages"),
            Adapter::Anthropic => format!("{base}/v1/messages"),
            Adapter::OpenAi(_) => format!("{base}/chat/completions"),
            Adapter::Responses => format!("{base}/responses"),
            Adapter::Gemini => gemini::url(base, model),
        }
    }

    /// The same request gives the same bytes; a request whose messages continue another's begins with the
    /// other's bytes up to the end of its last message.
    pub(crate) fn body(self, request: &ModelRequest) -> Result<Vec<u8>, serde_json::Error> {
        match self {
            Adapter::Anthropic => anthropic::body(request),
            Adapter::OpenAi(quirks) => openai::body(request, quirks),
            Adapter::Responses => responses::body(request),
            Adapter::Gemini => gemini::body(request),
        }
    }

    pub(crate) fn decoder(self) -> Box<dyn Decoder> {
        match self {
            Adapter::Anthropic => Box::new(anthropic::AnthropicDecoder::default()),
            Adapter::OpenAi(_) => Box::new(openai::OpenAiDecoder::default()),
            Adapter::Responses => Box::new(responses::ResponsesDecoder::default()),
            Adapter::Gemini => Box::new(gemini::GeminiDecoder::default()),
        }
    }
}

/// Whether reasoning in this message may go to the request's model: only to the one that wrote it. Another
/// model rejects it, for good.
fn wrote_it(message: &Message, request: &ModelRequest) -> bool {
    message
        .origin
        .as_ref()
        .is_some_and(|origin| origin.provider == request.provider && origin.model == request.model)
}

/// A proof of reasoning as it is kept: marked with the family that made it, because a provider's id and a model's
/// name may come to stand for a server of another family, and a foreign proof is refused for good. Anthropic's
/// were the first and carry no mark.
fn marked(family: Family, proof: &str) -> String {
    format!("{}:{proof}", family.name())
}

/// The proof as the family sent it, when it is the family's.
fn proof_of(family: Family, kept: &str) -> Option<&str> {
    const MARKING: [Family; 3] = [Family::OpenAiChat, Family::OpenAiResponses, Family::Gemini];
    let unmarked = |family: &Family| kept.strip_prefix(family.name())?.strip_prefix(':');
    match family {
        Family::Anthropic => MARKING
            .iter()
            .all(|other| unmarked(other).is_none())
            .then_some(kept),
        family => unmarked(&family),
    }
}

/// Ids that hold refused characters, or are too long, become others that are as distinct and always the same.
fn call_id(id: &str, limit: usize) -> String {
    let clean = identifier(id, limit);
    if clean == id {
        return clean;
    }
    // FNV-1a: an id is nothing that anyone attacks.
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{}_{hash:016x}", identifier(id, limit.saturating_sub(17)))
}

/// Ids and names that other vendors, or a model's imagination, made may hold characters that are refused.
fn identifier(text: &str, limit: usize) -> String {
    let clean: String = text
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
                c
            } else {
                '_'
            }
        })
        .take(limit)
        .collect();
    if clean.is_empty() { "_".to_owned() } else { clean }
}

fn parse(data: &str) -> Result<serde_json::Value, Fault> {
    serde_json::from_str(data)
        .or_else(|error| serde_json::from_str(&without_lone_surrogates(data)).map_err(|_| error))
        .map_err(|error| {
            let words = format!("an event of the stream is damaged: {error}");
            Fault::new(ProviderErrorKind::StreamBroken, words)
        })
}

/// Servers that cut text between the two halves of a character write each half as an escape, which is no text on
/// its own. One lost character is better than a lost answer.
fn without_lone_surrogates(data: &str) -> String {
    let code = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut out = String::with_capacity(data.len());
    let mut rest = data;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let length = match (code(escape), escape.get(6..).and_then(code)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.push('\u{FFFD}');
                rest = &escape[6..];
                continue;
            }
            // The backslash and what it escapes, which may be a backslash.
            _ => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        out.push_str(&escape[..length]);
        rest = &escape[length..];
    }
    out + rest
}

/// A count that may be missing, null or, at some servers, a float.
fn count(value: &serde_json::Value) -> u64 {
    value
        .as_u64()
        .or_else(|| value.as_f64().map(|number| number.max(0.0) as u64))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_does_not_break_an_event() {
        for (data, text) in [
            (r#""a\ud83db""#, "a\u{FFFD}b"),
            (r#""\ude00""#, "\u{FFFD}"),
            (r#""\ud83d\ude00 \ud83d""#, "😀 \u{FFFD}"),
            (r#""\\ud83d \ud83d\n""#, "\\ud83d \u{FFFD}\n"),
        ] {
            assert_eq!(parse(data).unwrap(), text, "{data}");
        }
        assert!(parse(r#""\ud8"#).is_err());
    }
}
