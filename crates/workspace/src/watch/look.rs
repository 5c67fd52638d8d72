//! Looking at a folder that has no watch: what is in it, and how that differs from the last time.

use std::{collections::BTreeMap, ffi::OsString, fs::Metadata, os::unix::fs::MetadataExt, path::Path};

/// Entries of a folder that are compared one by one; of a larger one only its own time is.
const MAX_COMPARED: usize = 5_000;

/// A folder at one moment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    folder: Option<(i64, i64)>,
    entries: BTreeMap<OsString, Stamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
    is_folder: bool,
}

/// How two looks differ.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    /// Names came or went.
    pub entries: bool,
    /// Names whose content changed, or that came or went.
    pub names: Vec<OsString>,
}

impl Look {
    pub fn at(folder: &Path) -> Self {
        let Ok(metadata) = folder.symlink_metadata() else {
            return Self::default();
        };
        let mut look = Self {
            folder: Some((metadata.mtime(), metadata.mtime_nsec())),
            entries: BTreeMap::new(),
        };
        let Ok(entries) = std::fs::read_dir(folder) else {
            return look;
        };
        for entry in entries.filter_map(Result::ok) {
            if look.entries.len() == MAX_COMPARED {
                look.entries.clear();
                break;
            }
            if let Ok(metadata) = entry.metadata() {
                look.entries.insert(entry.file_name(), Stamp::of(&metadata));
            }
        }
        look
    }

    pub fn difference(&self, later: &Look) -> Difference {
        let mut difference = Difference {
            entries: self.folder != later.folder,
            names: Vec::new(),
        };
        for (name, stamp) in &later.entries {
            match self.entries.get(name) {
                Some(before) if before == stamp => {}
                Some(before) => {
                    difference.entries |= before.is_folder != stamp.is_folder;
                    difference.names.push(name.clone());
                }
                None => {
                    difference.entries = true;
                    difference.names.push(name.clone());
                }
            }
        }
        for name in self.entries.keys() {
            if !later.entries.contains_key(name) {
                difference.entries = true;
                difference.names.push(name.clone());
            }
        }
        difference
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        let is_folder = metadata.is_dir();
        Self {
            inode: metadata.ino(),
            // What happens inside a folder is that folder's to tell.
            size: if is_folder { 0 } else { metadata.size() },
            changed: if is_folder {
                (0, 0)
            } else {
                (metadata.ctime(), metadata.ctime_nsec())
            },
            is_folder,
        }
    }
}
