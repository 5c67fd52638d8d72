//! The operating system's keyring. It may not be there, and it may ask a person; nobody is waited for without end.

use std::{sync::mpsc, thread, time::Duration};

use keyring::v1::{Entry, Error};

const SERVICE: &str = "vibe-coder";
/// Long enough to type a password into the keyring's own window.
const LONGEST: Duration = Duration::from_secs(60);

pub(super) fn get(provider: &str) -> Result<Option<String>, String> {
    with_entry(provider, |entry| match entry.get_password() {
        Ok(key) => Ok(Some(key)),
        Err(Error::NoEntry) => Ok(None),
        Err(error) => Err(error.to_string()),
    })
}

/// Whether the keyring took the key and gives it back.
pub(super) fn put(provider: &str, key: &str) -> bool {
    let key = key.to_owned();
    with_entry(provider, move |entry| {
        entry.set_password(&key).map_err(|error| error.to_string())?;
        let kept = entry.get_password().map_err(|error| error.to_string())?;
        (kept == key)
            .then_some(())
            .ok_or_else(|| "it was changed".to_owned())
    })
    .is_ok()
}

pub(super) fn remove(provider: &str) {
    // A key that is gone already is gone.
    drop(with_entry(provider, |entry| {
        entry.delete_credential().map_err(|error| error.to_string())
    }));
}

/// On a thread of its own: the keyring's client waits in a way that an asynchronous caller must not.
fn with_entry<T: Send + 'static>(
    provider: &str,
    act: impl FnOnce(Entry) -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let provider = provider.to_owned();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let done = Entry::new(SERVICE, &provider)
            .map_err(|error| error.to_string())
            .and_then(act);
        // Nobody waits any more: the time was over.
        let _ = sender.send(done);
    });
    receiver
        .recv_timeout(LONGEST)
        .unwrap_or_else(|_| Err("it did not answer in time".to_owned()))
}
