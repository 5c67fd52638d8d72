//! What is kept of a step of the user, so that it can be taken back. Shapes only.

use protocol::{ContentHash, Millis};
use serde::{Deserialize, Serialize};

use crate::record::{Located, StoredPath};

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserStepRecord {
    pub created_at: Millis,
    pub inverse: Inverse,
}

/// What takes a step back.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "camelCase")]
pub(crate) enum Inverse {
    Rename {
        from: StoredPath,
        to: StoredPath,
        /// Made for the step, outermost first; they go again when they are empty.
        folders: Vec<StoredPath>,
    },
    Remove {
        files: Vec<Located>,
        folders: Vec<StoredPath>,
        links: Vec<StoredLink>,
    },
    Restore(Restorable),
}

/// A deleted tree: contents are blobs by their hash. Outer folders come first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Restorable {
    pub files: Vec<Located>,
    pub folders: Vec<StoredFolder>,
    pub links: Vec<StoredLink>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredFolder {
    pub path: StoredPath,
    pub mode: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredLink {
    pub path: StoredPath,
    /// The text of the link, whose bytes are kept as those of a path.
    pub target: StoredPath,
}

impl UserStepRecord {
    /// The contents that taking the step back needs.
    pub fn hashes(&self) -> impl Iterator<Item = &ContentHash> {
        let files: &[Located] = match &self.inverse {
            Inverse::Restore(restorable) => &restorable.files,
            Inverse::Remove { files, .. } => files,
            Inverse::Rename { .. } => &[],
        };
        files.iter().map(|file| &file.version.hash)
    }
}
