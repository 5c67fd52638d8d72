//! The agent's draft as reads see it. `changeset` builds it; nothing here writes.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// What the draft changes against the disk. Keys are real paths relative to the workspace root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlay {
    pub entries: BTreeMap<PathBuf, OverlayEntry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OverlayEntry {
    /// The whole proposed content and permission bits.
    Content {
        bytes: Arc<[u8]>,
        mode: u32,
    },
    /// The same where the content is large: it lies in a file of its own, which is read and never written.
    Stored {
        file: PathBuf,
        size: u64,
        mode: u32,
    },
    Deleted,
}

impl OverlayEntry {
    /// Whether the draft has a file here.
    pub fn is_content(&self) -> bool {
        !matches!(self, OverlayEntry::Deleted)
    }

    /// Bytes of the proposed content; absent where there is none.
    pub fn size(&self) -> Option<u64> {
        match self {
            OverlayEntry::Content { bytes, .. } => Some(bytes.len() as u64),
            OverlayEntry::Stored { size, .. } => Some(*size),
            OverlayEntry::Deleted => None,
        }
    }
}

impl Overlay {
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn get(&self, relative: &Path) -> Option<&OverlayEntry> {
        self.entries.get(relative)
    }

    /// Whether the draft puts a file somewhere below `relative`, so that it is a directory to a reader even if
    /// the disk does not have it yet.
    pub fn has_content_below(&self, relative: &Path) -> bool {
        self.below(relative).any(|(_, entry)| entry.is_content())
    }

    /// Entries strictly below `directory`, in path order.
    pub fn below<'a>(
        &'a self,
        directory: &'a Path,
    ) -> impl Iterator<Item = (&'a PathBuf, &'a OverlayEntry)> + 'a {
        // Paths compare by component, so everything below a directory follows it without a gap.
        self.entries
            .range::<Path, _>((std::ops::Bound::Excluded(directory), std::ops::Bound::Unbounded))
            .take_while(move |(path, _)| path.starts_with(directory))
    }
}
