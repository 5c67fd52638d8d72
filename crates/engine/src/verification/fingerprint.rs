//! Names the exact files of a workspace with a draft over them. Two trees with the same name have the same contents, so
//! a result that was seen on one holds for the other, also after the draft was accepted.
//!
//! What the repository ignores is left out: builds write there all the time.

use std::{
    collections::{BTreeMap, HashMap},
    io,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use protocol::RuntimeError;
use workspace::{
    Overlay, OverlayEntry, Stop, Workspace, display_path,
    read::content_hash,
    walk::{WalkOptions, walk},
};

/// Larger files are told by size and time of change alone.
const LARGEST_READ: u64 = 64 * 1024 * 1024;
/// A file that changed so shortly ago may change again without its time showing it.
const TOO_FRESH_NANOS: i128 = 100_000_000;

/// Contents by path, read again only where a file's stamp changed.
#[derive(Default)]
pub struct Fingerprints(Mutex<HashMap<PathBuf, Known>>);

struct Known {
    stamp: Stamp,
    hash: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    size: u64,
    inode: u64,
    modified: i128,
    changed: i128,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeName {
    pub hash: String,
    /// Files whose content on disk differs from when this was last asked.
    pub changed_on_disk: Vec<String>,
}

impl Fingerprints {
    /// Blocks while changed files are read.
    pub fn of(
        &self,
        workspace: &Workspace,
        overlay: &Overlay,
        stop: Stop<'_>,
    ) -> Result<TreeName, RuntimeError> {
        let found = walk(workspace, &WalkOptions::default(), stop)?;
        if found.stopped {
            return Err(RuntimeError::cancelled());
        }
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known: HashMap<PathBuf, Known> = HashMap::with_capacity(found.files.len());
        let mut changed_on_disk = Vec::new();
        let is_first = cache.is_empty();
        let mut entries: BTreeMap<PathBuf, String> = BTreeMap::new();
        for file in found.files {
            let path = workspace.root().join(&file.path);
            // Gone since it was listed: then it is not part of the tree.
            let Ok(metadata) = path.symlink_metadata() else {
                continue;
            };
            let stamp = Stamp::of(&metadata);
            let before = cache.remove(&file.path);
            let hash = match &before {
                Some(before) if before.stamp == stamp => before.hash.clone(),
                _ => {
                    let Ok(hash) = hash_of(&path, &metadata) else {
                        continue;
                    };
                    hash
                }
            };
            let differs = match before {
                Some(before) => before.hash != hash,
                None => !is_first,
            };
            if differs {
                changed_on_disk.push(display_path(&file.path));
            }
            if !overlay.entries.contains_key(&file.path) {
                entries.insert(file.path.clone(), named(&hash, metadata.mode()));
            }
            let stamp = if stamp.is_settled() { stamp } else { Stamp::NEVER };
            known.insert(file.path, Known { stamp, hash });
        }
        changed_on_disk.extend(cache.keys().map(|gone| display_path(gone)));
        *cache = known;
        drop(cache);
        for (path, entry) in &overlay.entries {
            let (hash, mode) = match entry {
                OverlayEntry::Deleted => continue,
                OverlayEntry::Content { bytes, mode } => (content_hash(bytes).0, *mode),
                OverlayEntry::Stored { file, mode, .. } => {
                    let metadata = file.symlink_metadata().map_err(RuntimeError::internal)?;
                    (hash_of(file, &metadata).map_err(RuntimeError::internal)?, *mode)
                }
            };
            entries.insert(path.clone(), named(&hash, mode));
        }
        let mut list = Vec::new();
        for (path, named) in &entries {
            list.extend_from_slice(path.as_os_str().as_bytes());
            list.push(0);
            list.extend_from_slice(named.as_bytes());
            list.push(b'\n');
        }
        Ok(TreeName {
            hash: content_hash(&list).0,
            changed_on_disk,
        })
    }
}

impl Stamp {
    const NEVER: Stamp = Stamp {
        size: u64::MAX,
        inode: 0,
        modified: -1,
        changed: -1,
    };

    fn of(metadata: &std::fs::Metadata) -> Self {
        let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        Self {
            size: metadata.size(),
            inode: metadata.ino(),
            modified: nanos(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanos(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i128::try_from(now.as_nanos()).unwrap_or(i128::MAX);
        now - self.changed.max(self.modified) > TOO_FRESH_NANOS
    }
}

/// A content together with whether it may be run, the one permission that a repository keeps.
fn named(hash: &str, mode: u32) -> String {
    let runs = if mode & 0o111 == 0 { '-' } else { 'x' };
    format!("{runs}{hash}")
}

fn hash_of(path: &Path, metadata: &std::fs::Metadata) -> io::Result<String> {
    if metadata.is_symlink() {
        let target = std::fs::read_link(path)?;
        return Ok(format!("link {}", content_hash(target.as_os_str().as_bytes()).0));
    }
    if metadata.size() > LARGEST_READ {
        return Ok(format!(
            "large {} {} {}",
            metadata.size(),
            metadata.mtime(),
            metadata.mtime_nsec()
        ));
    }
    Ok(content_hash(&std::fs::read(path)?).0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests play the user, who writes files")]

    use std::{fs, sync::Arc};

    use workspace::{Breadth, never};

    use super::*;

    fn draft(path: &str, text: &str) -> Overlay {
        let mut overlay = Overlay::default();
        let entry = OverlayEntry::Content {
            bytes: Arc::from(text.as_bytes()),
            mode: 0o644,
        };
        overlay.entries.insert(path.into(), entry);
        overlay
    }

    #[test]
    fn a_tree_is_named_by_its_contents_and_by_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| fs::write(folder.path().join(path), text).unwrap();
        write("a.txt", "one");
        write(".gitignore", "out/\n");
        fs::create_dir_all(folder.path().join(".git")).unwrap();
        let workspace = Workspace::open(folder.path(), Breadth::Project).unwrap();
        let prints = Fingerprints::default();
        let name = |overlay: &Overlay| prints.of(&workspace, overlay, &never).unwrap();
        let nothing = Overlay::default();
        let first = name(&nothing).hash;
        // The same content written again, and what is ignored, change nothing.
        write("a.txt", "one");
        fs::create_dir(folder.path().join("out")).unwrap();
        write("out/b", "built");
        assert_eq!(name(&nothing).hash, first);
        // A draft does, and accepting it does not.
        let drafted = name(&draft("a.txt", "two")).hash;
        assert_ne!(drafted, first);
        write("a.txt", "two");
        let accepted = name(&nothing);
        assert_eq!(
            (accepted.hash, accepted.changed_on_disk),
            (drafted, vec!["a.txt".to_owned()])
        );
        write("a.txt", "one");
        assert_eq!(name(&nothing).hash, first);
        // A new file, a mode and a deletion are changes, too.
        write("c.txt", "");
        let with_file = name(&nothing).hash;
        assert_ne!(with_file, first);
        let mut overlay = Overlay::default();
        overlay.entries.insert("c.txt".into(), OverlayEntry::Deleted);
        assert_eq!(name(&overlay).hash, first);
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder.path().join("c.txt"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_ne!(name(&nothing).hash, with_file);
    }
}
