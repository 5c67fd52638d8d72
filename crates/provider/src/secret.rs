//! Keys in memory, and keeping them out of every text we show or log.

/// A credential. It has no `Display` and no serialisation, and `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The credential itself, for the one header that carries it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

const REPLACEMENT: &str = "[redacted]";

/// How vendors begin their keys. Providers echo a wrong key in their error text, sometimes not the one we sent.
const KEY_PREFIXES: [&str; 6] = ["sk-", "sk_", "xai-", "gsk_", "AIza", "Bearer "];

/// Removes the known secrets and everything shaped like a vendor's key.
pub(crate) fn redact(text: &str, known: &[Secret]) -> String {
    let mut clean = text.to_owned();
    for secret in known.iter().filter(|secret| secret.0.len() >= 4) {
        clean = clean.replace(&secret.0, REPLACEMENT);
    }
    for prefix in KEY_PREFIXES {
        clean = redact_after(&clean, prefix);
    }
    clean
}

fn redact_after(text: &str, prefix: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(prefix) {
        let starts_word = !rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let token = &rest[at + prefix.len()..];
        let end = token
            .find(|c: char| !(c.is_ascii_alphanumeric() || "-_*.…".contains(c)))
            .unwrap_or(token.len());
        out.push_str(&rest[..at]);
        if starts_word && end >= 6 {
            out.push_str(REPLACEMENT);
        } else {
            out.push_str(&rest[at..at + prefix.len() + end]);
        }
        rest = &token[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_do_not_survive_in_error_texts() {
        let known = [Secret::new("my-local-key")];
        for (text, clean) in [
            ("bad key my-local-key.", "bad key [redacted]."),
            (
                "Incorrect API key provided: sk-proj-abc***xyz9. See",
                "Incorrect API key provided: [redacted] See",
            ),
            ("Authorization: Bearer abcdef123456", "Authorization: [redacted]"),
            ("two sk-aaaaaaaa and sk-bbbbbbbb", "two [redacted] and [redacted]"),
            ("risk-averse desk-top", "risk-averse desk-top"),
            ("an sk-x is short", "an sk-x is short"),
        ] {
            assert_eq!(redact(text, &known), clean);
        }
        assert_eq!(format!("{:?}", known[0]), "Secret(…)");
    }
}
