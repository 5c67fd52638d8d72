//! Dotted names of settings: parsing them, and finding and placing values by them.

use serde_json::{Map, Value};

use crate::{Settings, SettingsError};

/// `a.b."c.d"` as its parts. Empty parts and open quotes are refused.
pub(super) fn parse(name: &str) -> Result<Vec<String>, SettingsError> {
    let mut parts = Vec::new();
    let mut rest = name;
    loop {
        let (part, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted
                .split_once('"')
                .ok_or_else(|| refused(name, "a quote is not closed"))?,
            None => {
                let end = rest.find('.').unwrap_or(rest.len());
                rest.split_at(end)
            }
        };
        if part.is_empty() {
            return Err(refused(name, "a part of the name is empty"));
        }
        parts.push(part.to_owned());
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(parts),
            None => return Err(refused(name, "a quote must end at a dot")),
        }
    }
}

pub(super) fn refused(name: &str, reason: impl Into<String>) -> SettingsError {
    SettingsError::Rejected {
        key: name.to_owned(),
        reason: reason.into(),
    }
}

pub(super) fn find<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, part| value.get(part))
}

/// Puts `new` at `path` and makes the objects on the way. Anything else on the way is left alone and refused.
pub(super) fn place(root: &mut Value, path: &[String], new: Value) -> Result<(), String> {
    let Some((last, parents)) = path.split_last() else {
        return Err("the name is empty".to_owned());
    };
    let mut object = as_object(root, "the settings")?;
    for part in parents {
        object = as_object(object.entry(part.clone()).or_insert(Value::Null), part)?;
    }
    object.insert(last.clone(), new);
    Ok(())
}

fn as_object<'a>(value: &'a mut Value, name: &str) -> Result<&'a mut Map<String, Value>, String> {
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    value
        .as_object_mut()
        .ok_or_else(|| format!("“{name}” holds a single value, not settings by name"))
}

/// Puts the members of `over` into `base`, level by level: names that only one of them has are kept.
pub(super) fn overlay(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (name, value) in over {
                overlay(base.entry(name).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over,
    }
}

/// Takes away what is at `path`, if anything is.
pub(super) fn remove(root: &mut Value, path: &[String]) {
    let Some((last, parents)) = path.split_last() else {
        return;
    };
    let parent = parents
        .iter()
        .try_fold(root, |value, part| value.get_mut(part))
        .and_then(Value::as_object_mut);
    if let Some(parent) = parent {
        parent.remove(last);
    }
}

/// The one value without which `settings` could be read; `None` when there is more than one mistake.
pub(super) fn culprit(settings: &Value) -> Option<Vec<String>> {
    let mut leaves = Vec::new();
    collect_leaves(settings, &mut Vec::new(), &mut leaves);
    leaves.into_iter().find(|leaf| {
        let mut without = settings.clone();
        remove(&mut without, leaf);
        serde_json::from_value::<Settings>(without).is_ok()
    })
}

fn collect_leaves(value: &Value, path: &mut Vec<String>, leaves: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                path.push(name.clone());
                collect_leaves(member, path, leaves);
                path.pop();
            }
        }
        _ => leaves.push(path.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_dots_outside_quotes() {
        for (name, parts) in [
            ("a", Some(vec!["a"])),
            ("a.b.c", Some(vec!["a", "b", "c"])),
            ("p.\"gpt-4.1\".x", Some(vec!["p", "gpt-4.1", "x"])),
            ("", None),
            ("a..b", None),
            ("a.", None),
            (".a", None),
            ("\"a", None),
            ("\"a\"b", None),
        ] {
            let parsed = parse(name).ok();
            assert_eq!(
                parsed,
                parts.map(|parts| parts.into_iter().map(str::to_owned).collect()),
                "{name}"
            );
        }
    }
}
