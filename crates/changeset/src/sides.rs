//! The two whole texts of one file of a change set, for a reviewer's editor.

use protocol::{ChangeSetId, ErrorCode, RuntimeError};
use workspace::text::{self, Detected};

use crate::{ChangeSets, record::Located};

/// Larger texts are reviewed as hunks only.
const MAX_SIDE_BYTES: usize = 5 * 1024 * 1024;

/// A file before a change and as proposed, decoded; absent on the side where the file does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    pub before: Option<String>,
    pub after: Option<String>,
}

impl ChangeSets {
    /// # Errors
    /// An unknown set or path, and contents that are not text or larger than 5 MiB.
    pub fn sides(&self, id: &ChangeSetId, path: &str) -> Result<Sides, RuntimeError> {
        let mut state = self.lock();
        let record = self.record(&state, id)?;
        let effect = record
            .files
            .iter()
            .rev()
            .map(|file| &file.effect)
            .find(|effect| effect.path().is_some_and(|shown| shown.display() == path))
            .ok_or_else(|| {
                RuntimeError::new(
                    ErrorCode::PathNotFound,
                    format!("{path} is not among these changes."),
                )
                .action("Show the changes to see their files.")
            })?
            .clone();
        let mut side = |located: &Option<Located>| {
            let Some(located) = located else {
                return Ok(None);
            };
            let content = self.content(&mut state, &located.version.hash)?;
            let Some(bytes) = content.bytes().filter(|bytes| bytes.len() <= MAX_SIDE_BYTES) else {
                return Err(RuntimeError::new(
                    ErrorCode::FileTooLarge,
                    format!("{path} is too large to be shown side by side."),
                )
                .action("Review it as a diff."));
            };
            match text::detect(bytes) {
                Detected::Text { encoding, .. } => Ok(Some(text::decode(bytes, encoding))),
                Detected::Binary { reason } => Err(RuntimeError::new(
                    ErrorCode::FileBinary,
                    format!("{path} is {reason}, not text."),
                )
                .action("Accept or reject the file as a whole.")),
            }
        };
        Ok(Sides {
            before: side(&effect.from)?,
            after: side(&effect.to)?,
        })
    }
}
