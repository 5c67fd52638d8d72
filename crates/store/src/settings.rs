//! The user's settings: `settings.json` in the data folder, one file for all workspaces and processes. Loads the
//! feature flags. Knows what a setting is called and its type, not what it does; never holds a secret.

mod key;
mod sandbox;
mod secret;
mod update;

use std::{collections::BTreeMap, fs, io};

use protocol::{Mode, flags::RuntimeFeatureFlags};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::sandbox::{SandboxLimits, SandboxNetwork, SandboxSettings, StagedView, WorkspaceSandbox};
use crate::{DataHome, SettingsError, StoreError, home::DataPath};

/// Everything that can be set, with its default where the file says nothing. Names this program does not know
/// are ignored here and kept in the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// By the id that `--provider` takes. The shape of an entry is the provider gateway's own.
    pub providers: BTreeMap<String, Value>,
    pub default_provider: Option<String>,
    pub default_model: Option<String>,
    pub default_mode: Mode,
    pub store: StoreSettings,
    pub sandbox: SandboxSettings,
    pub flags: RuntimeFeatureFlags,
    /// Who is asked, in this order, where a provider cannot answer: `provider` or `provider/model`.
    pub fallbacks: Vec<String>,
    pub spending: SpendingSettings,
    pub checks: CheckSettings,
    pub turn: TurnSettings,
}

/// What is done about the changes of an agent's turn at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckSettings {
    pub automatic: AutomaticChecks,
    /// How often a failure is given back to the model before the user is asked.
    pub repairs: u32,
    /// The longest that one check may take.
    pub seconds: u32,
}

impl Default for CheckSettings {
    fn default() -> Self {
        Self {
            automatic: AutomaticChecks::Broad,
            repairs: 2,
            seconds: 600,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AutomaticChecks {
    Off,
    /// Only what is nearest to the changed files.
    Focused,
    /// That first, then everything that belongs together with it.
    #[default]
    Broad,
}

/// What one turn may take before the user is asked. Unlimited where nothing is said, but for the requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TurnSettings {
    /// Model requests; 100 where nothing is said.
    pub requests: Option<u32>,
    pub seconds: Option<u64>,
    /// Read and written, as the provider counts them.
    pub tokens: Option<u64>,
    pub dollars: Option<f64>,
}

/// What a session and a day may cost. Unlimited where nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SpendingSettings {
    /// No request is sent that could pass this many US dollars.
    pub session_dollars: Option<f64>,
    /// No request is sent that could pass this many tokens, read and written.
    pub session_tokens: Option<u64>,
    /// The user is told once when the session has cost this much.
    pub warn_dollars: Option<f64>,
    pub warn_tokens: Option<u64>,
    /// No request is sent that could bring the day (UTC) past this many US dollars, over all workspaces.
    pub day_dollars: Option<f64>,
    /// The user is told once in a session when the day has cost this much.
    pub warn_day_dollars: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StoreSettings {
    /// The most that one workspace's data may take, in bytes; unlimited when absent.
    pub limit_bytes: Option<u64>,
}

const READ: &str = "read the settings";

impl DataHome {
    /// The settings, or the defaults when there is no file.
    pub fn settings(&self) -> Result<Settings, SettingsError> {
        let file = self.settings_file();
        match read_text(&file)? {
            None => Ok(Settings::default()),
            Some(text) => parse_settings(&file, &text),
        }
    }

    /// The value of a setting by its dotted name, as `providers.openai.baseUrl`; its default where the file
    /// says nothing; `None` when it is not set and has no default, or there is no such setting. A part of a
    /// name that contains a dot is quoted: `providers.openai.prices."gpt-4.1"`. The empty name is all of them.
    pub fn setting(&self, name: &str) -> Result<Option<Value>, SettingsError> {
        let file = self.settings_file();
        let mut settings = as_value(&self.settings()?)?;
        if let Some(text) = read_text(&file)? {
            key::overlay(&mut settings, parse(&file, &text)?);
        }
        if name.is_empty() {
            return Ok(Some(settings));
        }
        let found = key::find(&settings, &key::parse(name)?);
        Ok(found.filter(|value| !value.is_null()).cloned())
    }

    pub(crate) fn settings_file(&self) -> DataPath {
        self.root().join("settings.json")
    }
}

fn read_text(file: &DataPath) -> Result<Option<String>, StoreError> {
    match fs::read_to_string(file) {
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::io(READ, file.as_path(), source)),
    }
}

fn parse_settings(file: &DataPath, text: &str) -> Result<Settings, SettingsError> {
    let value: Value = parse(file, text)?;
    if !value.is_object() {
        return Err(SettingsError::Invalid {
            path: file.to_path_buf(),
            line: 1,
            column: 1,
            reason: "settings are written as { \"name\": value }".to_owned(),
        });
    }
    parse(file, text).map_err(|error| {
        // It is JSON, so the mistake is one of type, and serde_json tells where the object around it ends.
        let (
            SettingsError::Invalid {
                path, line, reason, ..
            },
            Some(name),
        ) = (&error, key::culprit(&value))
        else {
            return error;
        };
        let quoted = format!("\"{}\"", name.last().map_or("", String::as_str));
        let found = text
            .lines()
            .take(*line)
            .enumerate()
            .filter_map(|(index, text)| Some((index, text.find(&quoted)?)));
        match found.last() {
            None => error,
            Some((line, column)) => SettingsError::Invalid {
                path: path.clone(),
                line: line + 1,
                column: column + 1,
                reason: format!("{}: {reason}", name.join(".")),
            },
        }
    })
}

/// Byte-order marks are what some editors add; they are not the user's mistake.
fn parse<T: serde::de::DeserializeOwned>(file: &DataPath, text: &str) -> Result<T, SettingsError> {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| SettingsError::Invalid {
        path: file.to_path_buf(),
        line: error.line().max(1),
        column: error.column().max(1),
        reason: without_position(&error),
    })
}

/// serde_json's words without " at line 3 column 4", which is told apart.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

fn as_value(settings: &Settings) -> Result<Value, StoreError> {
    serde_json::to_value(settings).map_err(|error| StoreError::Invariant {
        what: READ,
        detail: error.to_string(),
    })
}
