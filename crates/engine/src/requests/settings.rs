//! Settings of the user, which all workspaces share.

use protocol::{
    RuntimeError,
    request::{Notice, SettingsGetParams, SettingsSetParams, SettingsValue},
};
use serde_json::Value;

use crate::Engine;

pub fn get(engine: &Engine, params: &SettingsGetParams) -> Result<SettingsValue, RuntimeError> {
    let key = params.key.as_deref().unwrap_or_default();
    let value = engine.rooms().home.setting(key)?;
    Ok(SettingsValue {
        value: value.unwrap_or_default(),
    })
}

/// Kept only if the providers can still be understood: a mistake there would lock the user out at the next start.
pub fn set(engine: &Engine, params: SettingsSetParams) -> Result<SettingsValue, RuntimeError> {
    let rooms = engine.rooms();
    let (home, key) = (&rooms.home, params.key.as_str());
    let before = home.setting(key)?;
    put(engine, key, params.value)?;
    if let Err(error) = rooms.models.check_settings() {
        put(engine, key, before.unwrap_or_default())?;
        return Err(error);
    }
    engine.notices().send(Notice::SettingsChanged);
    get(
        engine,
        &SettingsGetParams {
            key: Some(params.key),
        },
    )
}

fn put(engine: &Engine, key: &str, value: Value) -> Result<(), RuntimeError> {
    let home = &engine.rooms().home;
    match value {
        Value::Null => home.unset_setting(key)?,
        value => home.set_setting(key, value)?,
    };
    Ok(())
}
