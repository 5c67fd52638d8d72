//! The user's own saves, through the writer that accepts go through.

use protocol::ContentHash;
use workspace::WorkspacePath;

use crate::{
    ChangeSets,
    apply::{self, Committed},
    disk::{self, FileState},
    error::ApplyError,
    plan::Write,
    record::StoredPath,
};

/// What a save expects to find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No file; a new one is made.
    Absent,
    /// The content the text was loaded from.
    Content(ContentHash),
}

impl ChangeSets {
    /// Writes a file as the user wants it, through the same atomic writer: mode, owner and links stay. Returns the
    /// hash to expect at the next save.
    pub fn save(
        &self,
        path: &WorkspacePath,
        bytes: &[u8],
        expected: &Expected,
    ) -> Result<ContentHash, ApplyError> {
        let mut state = self.lock();
        self.recover_first(&mut state)?;
        if path.is_protected() {
            return Err(ApplyError::Protected { path: path.display() });
        }
        let moved = || ApplyError::Moved { path: path.display() };
        let stored = StoredPath(path.relative().to_owned());
        let before = disk::read(self.workspace().root(), &stored.0).map_err(|error| ApplyError::Io {
            path: path.display(),
            reason: error.to_string(),
        })?;
        let mode = match (expected, &before) {
            (Expected::Absent, None) => disk::new_file_mode(disk::Executable::No),
            (Expected::Content(hash), Some(found)) if *hash == found.version.hash => found.version.mode,
            _ => return Err(moved()),
        };
        let after = FileState::new(bytes, mode);
        let hash = after.version.hash.clone();
        if before.as_ref().map(|state| &state.version) == Some(&after.version) {
            return Ok(hash);
        }
        let write = Write {
            path: stored,
            before,
            after: Some(after),
        };
        match apply::commit(
            self.store(),
            self.workspace().root(),
            &[write],
            |_| Ok(Vec::new()),
        )? {
            Committed::Yes { .. } => Ok(hash),
            Committed::Moved => Err(moved()),
        }
    }
}
