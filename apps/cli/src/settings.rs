//! `vibe-coder settings`: read and change the settings file. Needs no workspace.

use protocol::{ErrorCode, RuntimeError};
use serde_json::Value;
use store::DataHome;

use crate::{
    args::{Settings, SettingsVerb},
    exit::Exit,
    output,
};

pub fn run(arguments: Settings) -> Result<Exit, RuntimeError> {
    let home = DataHome::locate()?;
    match arguments.verb {
        SettingsVerb::Get { key } => {
            let value = home.setting(key.as_deref().unwrap_or(""))?;
            let value = value.ok_or_else(|| {
                RuntimeError::new(ErrorCode::SettingsInvalid, "This setting is not set.")
                    .action("`vibe-coder settings get` prints all that are.")
            })?;
            output::line(serde_json::to_string_pretty(&value).map_err(RuntimeError::internal)?);
        }
        SettingsVerb::Set { key, value } => {
            // What is not JSON is taken as text, so that words need no quotes.
            let value = serde_json::from_str(&value).unwrap_or(Value::String(value));
            home.set_setting(&key, value)?;
        }
    }
    Ok(Exit::Done)
}
