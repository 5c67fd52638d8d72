//! Sealing a key: XChaCha20-Poly1305 under a key from a passphrase (Argon2id) or from this machine's secret.

use std::{fs, io, io::Write};

use argon2::Argon2;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305,
    aead::{Aead, Payload},
};
use serde::{Deserialize, Serialize};

use crate::{DataHome, StoreError, files};

/// All in base64.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Sealed {
    salt: String,
    nonce: String,
    text: String,
}

pub(super) enum Sealer {
    Passphrase(String),
    Machine(Vec<u8>),
}

const KEY_LENGTH: usize = 32;
const NONCE_LENGTH: usize = 24;
const SALT_LENGTH: usize = 16;

impl Sealer {
    /// The provider's id is bound to the seal, so that one entry cannot stand for another.
    pub(super) fn seal(&self, provider: &str, secret: &str) -> Result<Sealed, String> {
        let salt: [u8; SALT_LENGTH] = random()?;
        let nonce: [u8; NONCE_LENGTH] = random()?;
        let payload = Payload {
            msg: secret.as_bytes(),
            aad: provider.as_bytes(),
        };
        let text = self
            .cipher(&salt)?
            .encrypt(&nonce.into(), payload)
            .map_err(|_| "it could not be encrypted".to_owned())?;
        Ok(Sealed {
            salt: STANDARD.encode(salt),
            nonce: STANDARD.encode(nonce),
            text: STANDARD.encode(text),
        })
    }

    pub(super) fn open(&self, provider: &str, sealed: &Sealed) -> Result<String, String> {
        let damaged = || "its entry is damaged".to_owned();
        let bytes = |text: &str| STANDARD.decode(text).map_err(|_| damaged());
        let nonce: [u8; NONCE_LENGTH] = bytes(&sealed.nonce)?.try_into().map_err(|_| damaged())?;
        let text = bytes(&sealed.text)?;
        let payload = Payload {
            msg: &text,
            aad: provider.as_bytes(),
        };
        let wrong = match self {
            Sealer::Passphrase(_) => "the passphrase is another one, or the entry is damaged",
            Sealer::Machine(_) => "it was sealed on another machine, or the entry is damaged",
        };
        let secret = self
            .cipher(&bytes(&sealed.salt)?)?
            .decrypt(&nonce.into(), payload)
            .map_err(|_| wrong.to_owned())?;
        String::from_utf8(secret).map_err(|_| damaged())
    }

    fn cipher(&self, salt: &[u8]) -> Result<XChaCha20Poly1305, String> {
        let mut key = [0; KEY_LENGTH];
        match self {
            Sealer::Passphrase(passphrase) => Argon2::default()
                .hash_password_into(passphrase.as_bytes(), salt, &mut key)
                .map_err(|error| error.to_string())?,
            Sealer::Machine(secret) => {
                let mut hasher =
                    blake3::Hasher::new_derive_key("vibe-coder 2026-11 credentials of a machine");
                hasher.update(salt);
                hasher.update(secret);
                key.copy_from_slice(hasher.finalize().as_bytes());
            }
        }
        Ok(XChaCha20Poly1305::new(&key.into()))
    }
}

fn random<const LENGTH: usize>() -> Result<[u8; LENGTH], String> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

const WHAT: &str = "use this machine's secret for stored keys";

/// A random secret in the data folder together with the machine's own id, so that neither alone opens anything.
pub(super) fn machine_secret(home: &DataHome) -> Result<Vec<u8>, StoreError> {
    let path = home.root().join("credentials.key");
    let failed = |error: io::Error| StoreError::io(WHAT, path.as_path(), error);
    let mut secret = match fs::read(&path) {
        Ok(secret) => secret,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let fresh: [u8; KEY_LENGTH] =
                random().map_err(|detail| StoreError::Invariant { what: WHAT, detail })?;
            files::create_folder(home.root()).map_err(failed)?;
            match files::create_new(&path) {
                Ok(mut file) => {
                    file.write_all(&fresh)
                        .and_then(|()| file.sync_data())
                        .map_err(failed)?;
                    fresh.to_vec()
                }
                // Another process was first.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    fs::read(&path).map_err(failed)?
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Err(error) => return Err(failed(error)),
    };
    for file in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
        if let Ok(id) = fs::read(file) {
            secret.extend_from_slice(&id);
            break;
        }
    }
    Ok(secret)
}
