//! JSON Schema in the dialects that are not JSON Schema.

use serde_json::{Map, Value, json};

/// How deep references are followed; a schema that refers to itself ends there as "any value".
const DEPTH: usize = 12;

/// The subset of OpenAPI that Gemini takes. Nothing for an object without properties at the top: a tool without
/// arguments has no parameters there. Constraints that have no place are dropped: arguments are checked here anyway.
pub(super) fn for_gemini(schema: &Value) -> Option<Value> {
    let converted = convert(schema, schema, 0);
    let is_empty = converted["properties"].as_object().is_none_or(Map::is_empty);
    (converted["type"] != "object" || !is_empty).then_some(converted)
}

fn convert(schema: &Value, root: &Value, depth: usize) -> Value {
    let Some(members) = schema.as_object() else {
        // `true` and `false`, and nonsense.
        return any();
    };
    if depth > DEPTH {
        return any();
    }
    if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
        let target = reference
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer));
        let mut converted = target.map_or_else(any, |target| convert(target, root, depth + 1));
        if let Some(text) = members.get("description") {
            converted["description"] = text.clone();
        }
        return converted;
    }
    let mut out = Map::new();
    for key in [
        "description",
        "title",
        "default",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "pattern",
    ] {
        if let Some(value) = members.get(key).filter(|value| !value.is_null()) {
            out.insert(key.to_owned(), value.clone());
        }
    }
    if members.get("nullable") == Some(&json!(true)) {
        out.insert("nullable".to_owned(), json!(true));
    }
    put_type(members.get("type"), &mut out);
    put_choices(members, root, depth, &mut out);
    put_enumeration(members, &mut out);
    if let Some(properties) = members.get("properties").and_then(Value::as_object) {
        let properties = properties
            .iter()
            .map(|(name, schema)| (name.clone(), convert(schema, root, depth + 1)))
            .collect::<Map<_, _>>();
        if let Some(required) = members.get("required").and_then(Value::as_array) {
            let known: Vec<&Value> = required
                .iter()
                .filter(|name| name.as_str().is_some_and(|name| properties.contains_key(name)))
                .collect();
            if !known.is_empty() {
                out.insert("required".to_owned(), json!(known));
            }
        }
        out.entry("type").or_insert_with(|| json!("object"));
        if !properties.is_empty() {
            out.insert("properties".to_owned(), Value::Object(properties));
        }
    }
    if out.get("type") == Some(&json!("array")) || members.contains_key("items") {
        out.entry("type").or_insert_with(|| json!("array"));
        let items = members
            .get("items")
            .map_or_else(any, |items| convert(items, root, depth + 1));
        out.insert("items".to_owned(), items);
    }
    // Formats are refused unless they are one of these few.
    if let Some(format) = members.get("format").and_then(Value::as_str) {
        let known: &[&str] = match out.get("type").and_then(Value::as_str) {
            Some("string") => &["enum", "date-time"],
            Some("integer") => &["int32", "int64"],
            Some("number") => &["float", "double"],
            _ => &[],
        };
        if known.contains(&format) {
            out.insert("format".to_owned(), json!(format));
        }
    }
    if !out.contains_key("type") && !out.contains_key("anyOf") {
        out.insert("type".to_owned(), json!("string"));
    }
    Value::Object(out)
}

/// There is no "any"; a string can say anything.
fn any() -> Value {
    json!({ "type": "string" })
}

/// A list of types becomes the one that is not null, or a choice.
fn put_type(kind: Option<&Value>, out: &mut Map<String, Value>) {
    match kind {
        Some(Value::String(name)) if name != "null" => {
            out.insert("type".to_owned(), json!(name));
        }
        Some(Value::Array(names)) => {
            let others: Vec<&Value> = names.iter().filter(|name| **name != "null").collect();
            if others.len() < names.len() {
                out.insert("nullable".to_owned(), json!(true));
            }
            match others.as_slice() {
                [] => {}
                [one] => {
                    out.insert("type".to_owned(), (*one).clone());
                }
                several => {
                    let choices: Vec<Value> = several.iter().map(|name| json!({ "type": name })).collect();
                    out.insert("anyOf".to_owned(), choices.into());
                }
            }
        }
        _ => {}
    }
}

fn put_choices(members: &Map<String, Value>, root: &Value, depth: usize, out: &mut Map<String, Value>) {
    for key in ["anyOf", "oneOf", "allOf"] {
        let Some(choices) = members.get(key).and_then(Value::as_array) else {
            continue;
        };
        let is_null = |choice: &&Value| {
            choice["type"] == "null" || choice["const"].is_null() && choice.get("const").is_some()
        };
        let (nulls, others): (Vec<&Value>, Vec<&Value>) = choices.iter().partition(is_null);
        if !nulls.is_empty() {
            out.insert("nullable".to_owned(), json!(true));
        }
        let mut converted: Vec<Value> = others
            .into_iter()
            .map(|choice| convert(choice, root, depth + 1))
            .collect();
        if converted.len() == 1 || key == "allOf" {
            // One choice, or parts of one whole: their members are the schema's own.
            for part in converted {
                if let Value::Object(part) = part {
                    for (name, value) in part {
                        match (out.get_mut(&name), value) {
                            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
                            (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
                            (Some(_), _) => {}
                            (None, value) => {
                                out.insert(name, value);
                            }
                        }
                    }
                }
            }
        } else if !converted.is_empty() {
            let known = out.remove("anyOf");
            if let Some(Value::Array(known)) = known {
                converted.extend(known);
            }
            out.insert("anyOf".to_owned(), converted.into());
        }
    }
}

/// Only strings can be listed.
fn put_enumeration(members: &Map<String, Value>, out: &mut Map<String, Value>) {
    let values: Vec<&Value> = match (
        members.get("enum").and_then(Value::as_array),
        members.get("const"),
    ) {
        (Some(values), _) => values.iter().collect(),
        (None, Some(value)) => vec![value],
        (None, None) => return,
    };
    let texts: Vec<&str> = values.iter().filter_map(|value| value.as_str()).collect();
    let nulls = values.iter().filter(|value| value.is_null()).count();
    if nulls > 0 {
        out.insert("nullable".to_owned(), json!(true));
    }
    if !texts.is_empty() && texts.len() + nulls == values.len() {
        out.insert("type".to_owned(), json!("string"));
        let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        if !texts.is_empty() {
            out.insert("enum".to_owned(), json!(texts));
        }
    } else if let Some(first) = values.iter().find(|value| !value.is_null()) {
        let kind = match first {
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            _ => "string",
        };
        out.entry("type").or_insert_with(|| json!(kind));
        let words: Vec<String> = values.iter().map(ToString::to_string).collect();
        let hint = format!("One of {}.", words.join(", "));
        let text = match out.get("description").and_then(Value::as_str) {
            Some(text) => format!("{text} {hint}"),
            None => hint,
        };
        out.insert("description".to_owned(), text.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gemini_refuses_is_said_in_its_own_way() {
        for (what, schema, expected) in [
            (
                "no arguments",
                json!({ "type": "object", "properties": {}, "additionalProperties": false }),
                None,
            ),
            (
                "optional numbers with a format of ours",
                json!({ "$schema": "x", "type": "object", "additionalProperties": false, "required": ["a", "gone"],
                    "properties": { "a": { "type": ["integer", "null"], "format": "uint32", "minimum": 0 } } }),
                Some(json!({ "type": "object", "required": ["a"],
                    "properties": { "a": { "type": "integer", "nullable": true, "minimum": 0 } } })),
            ),
            (
                "references, constants and choices",
                json!({ "type": "object", "$defs": { "E": { "oneOf": [{ "const": "x" }, { "const": "y" }] } },
                    "properties": { "e": { "$ref": "#/$defs/E", "description": "d" },
                        "n": { "anyOf": [{ "$ref": "#/$defs/E" }, { "type": "null" }] } } }),
                Some(json!({ "type": "object", "properties": {
                    "e": { "description": "d", "anyOf": [{ "type": "string", "enum": ["x"] }, { "type": "string", "enum": ["y"] }] },
                    "n": { "nullable": true, "anyOf": [{ "type": "string", "enum": ["x"] }, { "type": "string", "enum": ["y"] }] },
                } })),
            ),
            (
                "lists of anything, and numbers to choose from",
                json!({ "type": "object", "properties": { "l": { "type": "array" }, "k": { "enum": [1, 2], "description": "K." }, "any": true } }),
                Some(json!({ "type": "object", "properties": {
                    "l": { "type": "array", "items": { "type": "string" } },
                    "k": { "type": "integer", "description": "K. One of 1, 2." },
                    "any": { "type": "string" },
                } })),
            ),
        ] {
            assert_eq!(for_gemini(&schema), expected, "{what}");
        }
        let endless = json!({ "type": "object", "properties": { "child": { "$ref": "#" } } });
        assert!(for_gemini(&endless).unwrap().to_string().len() < 2000);
    }
}
