//! What a client wants back after a crash. Opaque to the engine: a key, a value, and when it was saved.

use protocol::{
    ErrorCode, RuntimeError,
    request::{Done, UiEntry, UiLoadParams, UiLoadResult, UiSaveParams},
};
use serde_json::json;
use store::{Document, Durability};

use crate::Engine;

const KIND: &str = "ui";
const MAX_KEY: usize = 512;
/// Of one value as JSON: an unsaved buffer of the largest file that can be edited, with room for escapes.
const MAX_VALUE: usize = 8 * 1024 * 1024;

pub fn load(engine: &Engine, params: &UiLoadParams) -> Result<UiLoadResult, RuntimeError> {
    let entries = engine
        .rooms()
        .store
        .documents(KIND)?
        .into_iter()
        .filter(|(key, _)| key.starts_with(&params.prefix))
        .map(|(key, mut document)| UiEntry {
            key,
            updated_at: document["updatedAt"].as_u64().unwrap_or_default(),
            value: document["value"].take(),
        })
        .collect();
    Ok(UiLoadResult { entries })
}

/// Survives the end of this process at once; a power cut may cost the last moments.
pub fn save(engine: &Engine, params: UiSaveParams) -> Result<Done, RuntimeError> {
    let too_large = |what: &str| {
        Err(
            RuntimeError::new(ErrorCode::RequestInvalid, format!("Not kept: {what}."))
                .action("Save the text to a file to keep it."),
        )
    };
    if params.key.is_empty() || params.key.len() > MAX_KEY {
        return too_large("the key is empty or longer than 512 bytes");
    }
    let value = match params.value {
        serde_json::Value::Null => None,
        value if value.to_string().len() > MAX_VALUE => return too_large("the value is larger than 8 MiB"),
        value => Some(json!({ "value": value, "updatedAt": engine.rooms().sink.now() })),
    };
    let document = Document {
        kind: KIND.to_owned(),
        id: params.key,
        session_id: None,
        value,
    };
    engine
        .rooms()
        .store
        .put_documents(&[document], Durability::Normal)?;
    Ok(Done {})
}
