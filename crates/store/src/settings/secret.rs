//! Keeps secrets out of the settings file: by what a key is called, and by what a value looks like.

use serde_json::Value;

use crate::redact;

/// Endings of key names, without case and separators, under which people keep secrets.
const SECRET_ENDINGS: &[&str] = &[
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "token",
    "credential",
    "credentials",
    "authorization",
    "bearer",
];

/// A place that holds a secret, and the variable to use in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Suspect {
    pub key: String,
    pub variable: String,
    value: Value,
}

pub(super) fn suspects(settings: &Value) -> Vec<Suspect> {
    let mut found = Vec::new();
    search(settings, &mut Vec::new(), &mut found);
    found
}

fn search(value: &Value, path: &mut Vec<String>, found: &mut Vec<Suspect>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                path.push(name.clone());
                let by_name = has_secret_name(name) && !member.is_null() && !member.is_object();
                if by_name || redact::looks_secret(name) {
                    found.push(suspect(path, member));
                } else {
                    search(member, path, found);
                }
                path.pop();
            }
        }
        Value::Array(items) => {
            for item in items {
                search(item, path, found);
            }
        }
        Value::String(text) if redact::looks_secret(text) => found.push(suspect(path, value)),
        _ => {}
    }
}

fn has_secret_name(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .map(|c| c.to_ascii_lowercase())
        .collect();
    SECRET_ENDINGS.iter().any(|ending| plain.ends_with(ending))
}

fn suspect(path: &[String], value: &Value) -> Suspect {
    let provider = match path {
        [first, provider, ..] if first == "providers" => provider,
        _ => "PROVIDER",
    };
    let variable: String = provider
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect();
    // The name of the key may itself be the secret.
    let key = path
        .iter()
        .map(|part| {
            if redact::looks_secret(part) {
                redact::REDACTED
            } else {
                part
            }
        })
        .collect::<Vec<_>>()
        .join(".");
    Suspect {
        key,
        variable: format!("{variable}_API_KEY"),
        value: value.clone(),
    }
}
