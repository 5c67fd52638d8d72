//! Keys of providers: in the operating system's keyring, else sealed in a file. Knows nothing of what they open.
//!
//! `credentials.json` says where each key is. A key that is not in the keyring is sealed there: with a passphrase
//! when one is given, else with a secret of this machine. The latter keeps a copied or backed-up data folder from
//! giving keys away; it cannot keep them from another program that runs as the same user, and says so.

mod ring;
mod seal;

use std::{
    collections::BTreeMap,
    fs, io,
    time::{Duration, SystemTime},
};

use protocol::{ErrorCode, RuntimeError};
use serde::{Deserialize, Serialize};

use self::seal::{Sealed, Sealer};
use crate::{
    DataHome, StoreError,
    files::{self, Sync},
    lock::{self, Acquired},
};

/// Names the passphrase of the sealed file, where the user wants one.
pub const PASSPHRASE_VARIABLE: &str = "VIBE_CODER_PASSPHRASE";

/// The keys of one data folder. Opening reads nothing.
pub struct Credentials {
    home: DataHome,
    keyring: Keyring,
    passphrase: Option<String>,
}

/// Whether the operating system's keyring is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyring {
    Use,
    Leave,
}

/// Where a key is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    Keyring,
    /// Sealed with a passphrase.
    Passphrase,
    /// Sealed with a secret of this machine.
    Machine,
}

impl Place {
    /// For a person who has just stored a key there.
    pub fn words(self) -> &'static str {
        match self {
            Place::Keyring => "in the system keyring",
            Place::Passphrase => "in an encrypted file, opened by your passphrase",
            Place::Machine => {
                "in a file encrypted for this machine: a copy of it is useless elsewhere, but any program that runs \
                 as you here can read it"
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the key of {provider} is sealed with a passphrase and none is given")]
    NoPassphrase { provider: String },
    #[error("the key of {provider} cannot be opened: {detail}")]
    CannotOpen { provider: String, detail: String },
    #[error("the keyring did not give the key of {provider}: {detail}")]
    Keyring { provider: String, detail: String },
}

impl From<CredentialError> for RuntimeError {
    fn from(error: CredentialError) -> Self {
        let again = |provider: &str| format!("Store it again with `vibe-coder providers login {provider}`.");
        match error {
            CredentialError::Store(error) => error.into(),
            CredentialError::NoPassphrase { provider } => RuntimeError::new(
                ErrorCode::ProviderNoKey,
                format!("The stored API key of {provider} is locked with your passphrase."),
            )
            .action(format!(
                "Set {PASSPHRASE_VARIABLE} and start again. {}",
                again(&provider)
            )),
            CredentialError::CannotOpen { provider, detail } => RuntimeError::new(
                ErrorCode::ProviderNoKey,
                format!("The stored API key of {provider} cannot be opened."),
            )
            .because(detail)
            .action(again(&provider)),
            CredentialError::Keyring { provider, detail } => RuntimeError::new(
                ErrorCode::ProviderNoKey,
                format!("The system keyring did not give the API key of {provider}."),
            )
            .because(detail)
            .action(format!(
                "Unlock the keyring and start again. {}",
                again(&provider)
            )),
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct File {
    keys: BTreeMap<String, Entry>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    place: Place,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sealed: Option<Sealed>,
}

const READ: &str = "read the stored keys";
const WRITE: &str = "store the key";
const LOCK_WAIT: Duration = Duration::from_secs(5);

impl Credentials {
    pub fn open(home: &DataHome, keyring: Keyring, passphrase: Option<String>) -> Self {
        Self {
            home: home.clone(),
            keyring,
            passphrase: passphrase.filter(|text| !text.is_empty()),
        }
    }

    /// When a key was last stored or forgotten; nothing when none ever was.
    pub fn written(&self) -> Option<SystemTime> {
        let path = self.home.root().join("credentials.json");
        fs::metadata(path.as_path())
            .and_then(|metadata| metadata.modified())
            .ok()
    }

    /// Where each provider's key is, without opening any.
    pub fn places(&self) -> Result<BTreeMap<String, Place>, CredentialError> {
        let file = self.read()?;
        Ok(file
            .keys
            .into_iter()
            .map(|(id, entry)| (id, entry.place))
            .collect())
    }

    /// The key of a provider, or nothing when none was stored. May wait for a person who unlocks the keyring.
    pub fn get(&self, provider: &str) -> Result<Option<String>, CredentialError> {
        let Some(entry) = self.read()?.keys.remove(provider) else {
            return Ok(None);
        };
        let cannot = |detail: String| CredentialError::CannotOpen {
            provider: provider.to_owned(),
            detail,
        };
        match (entry.place, entry.sealed) {
            (Place::Keyring, _) => ring::get(provider).map_err(|detail| CredentialError::Keyring {
                provider: provider.to_owned(),
                detail,
            }),
            (place, Some(sealed)) => {
                let sealer = self.sealer(place, provider)?;
                sealer.open(provider, &sealed).map(Some).map_err(cannot)
            }
            (_, None) => Err(cannot("its entry is incomplete".to_owned())),
        }
    }

    /// Stores a key in the best place there is, replacing an earlier one.
    pub fn put(&self, provider: &str, key: &str) -> Result<Place, CredentialError> {
        let entry = match self.keyring == Keyring::Use && ring::put(provider, key) {
            true => Entry {
                place: Place::Keyring,
                sealed: None,
            },
            false => {
                let place = match self.passphrase {
                    Some(_) => Place::Passphrase,
                    None => Place::Machine,
                };
                let sealed = self
                    .sealer(place, provider)?
                    .seal(provider, key)
                    .map_err(|detail| StoreError::Invariant { what: WRITE, detail })?;
                Entry {
                    place,
                    sealed: Some(sealed),
                }
            }
        };
        let place = entry.place;
        self.update(|file| {
            file.keys.insert(provider.to_owned(), entry);
        })?;
        Ok(place)
    }

    /// Forgets a key; says whether there was one.
    pub fn remove(&self, provider: &str) -> Result<bool, CredentialError> {
        let mut removed = None;
        self.update(|file| removed = file.keys.remove(provider))?;
        if removed
            .as_ref()
            .is_some_and(|entry| entry.place == Place::Keyring)
        {
            ring::remove(provider);
        }
        Ok(removed.is_some())
    }

    fn sealer(&self, place: Place, provider: &str) -> Result<Sealer, CredentialError> {
        match (place, &self.passphrase) {
            (Place::Passphrase, Some(passphrase)) => Ok(Sealer::Passphrase(passphrase.clone())),
            (Place::Passphrase, None) => Err(CredentialError::NoPassphrase {
                provider: provider.to_owned(),
            }),
            (Place::Machine | Place::Keyring, _) => Ok(Sealer::Machine(seal::machine_secret(&self.home)?)),
        }
    }

    fn read(&self) -> Result<File, StoreError> {
        let path = self.home.root().join("credentials.json");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(File::default()),
            Err(error) => return Err(StoreError::io(READ, path.as_path(), error)),
        };
        serde_json::from_str(&text).map_err(|error| StoreError::DamagedRecord {
            record: "list of keys (credentials.json)".to_owned(),
            reason: error.to_string(),
        })
    }

    fn update(&self, change: impl FnOnce(&mut File)) -> Result<(), StoreError> {
        let root = self.home.root();
        let target = root.join("credentials.json");
        let failed = |error| StoreError::io(WRITE, target.as_path(), error);
        files::create_folder(root).map_err(failed)?;
        let lock_file = root.join("credentials.lock");
        let _lock = match lock::acquire(&lock_file, LOCK_WAIT).map_err(failed)? {
            Acquired::Lock(lock) => lock,
            Acquired::Held(_) => {
                return Err(StoreError::Busy {
                    what: WRITE,
                    path: lock_file.to_path_buf(),
                });
            }
        };
        let mut file = self.read()?;
        change(&mut file);
        let text = serde_json::to_vec_pretty(&file).map_err(|error| StoreError::Invariant {
            what: WRITE,
            detail: error.to_string(),
        })?;
        let temporary = root.join(&format!("credentials.json.{}", std::process::id()));
        files::replace(&target, &temporary, &text, Sync::ContentsAndName).map_err(failed)
    }
}

#[cfg(test)]
mod tests;
