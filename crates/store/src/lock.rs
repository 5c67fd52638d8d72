//! Locks between processes: an operating-system lock on a file, so that a killed holder releases it at once.
//! The lock file is never deleted; deleting it would let two processes hold "the" lock.

use std::{
    fs::{File, TryLockError},
    io::{self, Read, Seek, Write},
    time::{Duration, Instant},
};

use protocol::Millis;
use serde::{Deserialize, Serialize};

use crate::{files, home::DataPath};

/// Held until dropped.
#[derive(Debug)]
pub(crate) struct FileLock {
    file: File,
}

/// Who holds a lock, as the holder wrote it down.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Holder {
    pub pid: Option<u32>,
    pub started_at: Option<Millis>,
}

pub(crate) enum Acquired {
    Lock(FileLock),
    /// The wait is over and another process still has it.
    Held(Holder),
}

const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// Takes the lock, trying again until `wait` has passed; once when it is zero.
pub(crate) fn acquire(path: &DataPath, wait: Duration) -> io::Result<Acquired> {
    let mut file = files::open_or_create(path)?;
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Acquired::Lock(FileLock { file })),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        let waited = started.elapsed();
        if waited >= wait {
            return Ok(Acquired::Held(read_holder(&mut file)));
        }
        pause_for(pause.min(wait - waited));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a lock held by another process announces its release to nobody, and waiting must be bounded"
)]
fn pause_for(duration: Duration) {
    std::thread::sleep(duration);
}

impl FileLock {
    /// Writes down who holds the lock, for the message that a refused process shows.
    pub(crate) fn sign(&mut self) -> io::Result<()> {
        let holder = Holder {
            pid: Some(std::process::id()),
            started_at: Some(crate::now_millis()),
        };
        let text = serde_json::to_string(&holder)?;
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(text.as_bytes())
    }
}

fn read_holder(file: &mut File) -> Holder {
    let mut text = String::new();
    file.rewind()
        .and_then(|()| file.read_to_string(&mut text))
        .ok()
        .and_then(|_| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}
