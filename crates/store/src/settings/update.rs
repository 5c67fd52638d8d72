//! Changing the settings file: read, change and replace under a lock, so that no process loses another's change
//! and nobody ever reads half a file.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{Settings, as_value, key, parse, parse_settings, read_text, secret};
use crate::{
    DataHome, SettingsError, StoreError,
    files::{self, Sync},
    lock::{self, Acquired},
};

const WHAT: &str = "change the settings";
/// An update takes milliseconds; this many are hundreds in a row.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

impl DataHome {
    /// Changes the settings file as one step among all processes and returns the settings as they are now.
    /// Refused, with nothing changed, when the result could not be read as [`Settings`] or when it adds a
    /// secret. Names this program does not know stay as they are.
    pub fn update_settings(&self, change: impl FnOnce(&mut Value)) -> Result<Settings, SettingsError> {
        self.update("settings", |settings| {
            change(settings);
            Ok(())
        })
    }

    /// Sets one setting by its dotted name (see [`setting`](Self::setting)). A name that is no setting is refused.
    pub fn set_setting(&self, name: &str, value: Value) -> Result<Settings, SettingsError> {
        let path = key::parse(name)?;
        self.update(name, |settings| {
            key::place(settings, &path, value).map_err(|reason| key::refused(name, reason))?;
            let understood = serde_json::from_value::<Settings>(settings.clone())
                .map_err(|error| key::refused(name, error.to_string()))?;
            match key::find(&as_value(&understood)?, &path) {
                Some(_) => Ok(()),
                // A secret is refused as such, though its name is no setting either.
                None if !secret::suspects(settings).is_empty() => Ok(()),
                None => Err(key::refused(name, "there is no setting of this name")),
            }
        })
    }

    /// Removes one setting, so that its default applies again. One that is not set is fine.
    pub fn unset_setting(&self, name: &str) -> Result<Settings, SettingsError> {
        let path = key::parse(name)?;
        self.update(name, |settings| {
            key::remove(settings, &path);
            Ok(())
        })
    }

    fn update(
        &self,
        name: &str,
        change: impl FnOnce(&mut Value) -> Result<(), SettingsError>,
    ) -> Result<Settings, SettingsError> {
        self.create()?;
        let file = self.settings_file();
        let failed = |source| StoreError::io(WHAT, file.as_path(), source);
        let lock_path = self.root().join("settings.lock");
        let _lock = match lock::acquire(&lock_path, LONGEST_WAIT).map_err(failed)? {
            Acquired::Lock(lock) => lock,
            Acquired::Held(_) => {
                return Err(StoreError::Busy {
                    what: WHAT,
                    path: lock_path.to_path_buf(),
                }
                .into());
            }
        };
        let before: Value = match read_text(&file)? {
            None => Value::Object(Map::new()),
            Some(text) => {
                // As settings first: what is wrong in the file is told with its line.
                parse_settings(&file, &text)?;
                parse(&file, &text)?
            }
        };
        let mut after = before.clone();
        change(&mut after)?;
        refuse_new_secrets(&before, &after)?;
        let settings = serde_json::from_value::<Settings>(after.clone())
            .map_err(|error| key::refused(name, error.to_string()))?;
        if after != before {
            let mut text = serde_json::to_string_pretty(&after).map_err(|error| failed(error.into()))?;
            text.push('\n');
            let temporary = self.root().join("settings.json.tmp");
            // Left by a process that was killed here; the lock says that nobody is writing it.
            if temporary.as_path().exists() {
                files::remove_file(&temporary).map_err(failed)?;
            }
            files::replace(&file, &temporary, text.as_bytes(), Sync::Contents).map_err(failed)?;
        }
        Ok(settings)
    }
}

/// What the user already had in the file does not stand in the way of an unrelated change.
fn refuse_new_secrets(before: &Value, after: &Value) -> Result<(), SettingsError> {
    let known = secret::suspects(before);
    match secret::suspects(after)
        .into_iter()
        .find(|suspect| !known.contains(suspect))
    {
        None => Ok(()),
        Some(suspect) => Err(SettingsError::Secret {
            key: suspect.key,
            variable: suspect.variable,
        }),
    }
}
