//! A file's content as drafts, plans and commits hand it on: the bytes, or where they are many, their number.

use std::sync::Arc;

/// See the variants. Which of them a content is depends on its size alone.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// At most [`crate::MAX_FILE_BYTES`].
    Bytes(Arc<[u8]>),
    /// More, which is not taken into memory: it is on disk, in the store, or both, under its version's hash.
    Stored { size: u64 },
}

impl Content {
    /// In bytes.
    pub fn size(&self) -> u64 {
        match self {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::Stored { size } => *size,
        }
    }

    /// Absent for what is too large to be worked on.
    pub fn bytes(&self) -> Option<&Arc<[u8]>> {
        match self {
            Content::Bytes(bytes) => Some(bytes),
            Content::Stored { .. } => None,
        }
    }
}
