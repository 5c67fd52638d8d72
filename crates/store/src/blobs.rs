//! Contents by their BLAKE3 hash: put once however often they occur, verified whenever they are read. Knows
//! nothing of which are in use; whoever refers to them says so when unused ones are to go.

use std::{
    collections::HashSet,
    fs, io,
    path::PathBuf,
    sync::PoisonError,
    time::{SystemTime, UNIX_EPOCH},
};

use protocol::ContentHash;

use crate::{
    Store, StoreError,
    files::{self, Sync},
    home::{self, DataPath},
};

/// What a collection of unused blobs did. Sizes are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GcReport {
    pub removed: u64,
    pub removed_bytes: u64,
    pub kept: u64,
    pub kept_bytes: u64,
}

const WRITE: &str = "store a file's content";
const READ: &str = "read a stored content";
const COLLECT: &str = "remove unused contents";

fn folder_in(workspace: &DataPath) -> DataPath {
    workspace.join("blobs")
}

fn hash_of(bytes: &[u8]) -> ContentHash {
    ContentHash(blake3::hash(bytes).to_hex().to_string())
}

impl Store {
    /// Stores `bytes` and returns their hash. When it returns, the content has survived a power cut.
    /// A content that is already there is not written again, unless what is there is damaged.
    pub fn put_blob(&self, bytes: &[u8]) -> Result<ContentHash, StoreError> {
        self.require_write_access(WRITE)?;
        let hash = hash_of(bytes);
        let _not_collecting = self
            .inner
            .blob_gate
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        if self.blob(&hash).is_ok() {
            return Ok(hash);
        }
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.inner.budget.reserve(WRITE, size, &self.inner.database)?;
        if let Err(source) = self.write_blob(&hash, bytes) {
            self.inner.budget.release(size, &self.inner.database)?;
            return Err(source);
        }
        Ok(hash)
    }

    fn write_blob(&self, hash: &ContentHash, bytes: &[u8]) -> Result<(), StoreError> {
        let target = self.blob_path(hash);
        let failed = |source| StoreError::io(WRITE, target.as_path(), source);
        let temporary = self.temporary_path("blob")?;
        match files::replace(&target, &temporary, bytes, Sync::ContentsAndName) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                files::create_folder(&self.blob_folder(hash)).map_err(failed)?;
                files::replace(&target, &temporary, bytes, Sync::ContentsAndName).map_err(failed)
            }
            other => other.map_err(failed),
        }
    }

    /// Stores what `source` holds from where it stands, however much, without taking it into memory. Holes stay holes.
    /// As durable as [`put_blob`](Self::put_blob).
    pub fn put_blob_from(&self, source: &mut fs::File) -> Result<(ContentHash, u64), StoreError> {
        self.require_write_access(WRITE)?;
        let temporary = self.temporary_path("blob")?;
        let failed = |source| StoreError::io(WRITE, temporary.as_path(), source);
        let _not_collecting = self
            .inner
            .blob_gate
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let expected = source.metadata().map_err(failed)?.len();
        self.inner.budget.reserve(WRITE, expected, &self.inner.database)?;
        let mut hasher = blake3::Hasher::new();
        let placed = files::create_new_file(&temporary)
            .and_then(|target| files::copy_hashed(source, &target, &mut hasher))
            .and_then(|size| {
                let hash = ContentHash(hasher.finalize().to_hex().to_string());
                files::create_folder(&self.blob_folder(&hash))?;
                let existed = self.has_blob(&hash);
                files::put_in_place(&temporary, &self.blob_path(&hash))?;
                Ok((hash, size, existed))
            });
        let (kept, result) = match placed {
            Ok((hash, size, existed)) => (if existed { 0 } else { size }, Ok((hash, size))),
            Err(source) => {
                // The first error is the one to tell; what remains is swept at the next open.
                drop(files::remove_file(&temporary));
                (0, Err(failed(source)))
            }
        };
        self.inner
            .budget
            .release(expected.saturating_sub(kept), &self.inner.database)?;
        result
    }

    /// Writes a content of any size to `target`, verified against its hash as it goes: on an error what was written is
    /// of no use.
    pub fn copy_blob(&self, hash: &ContentHash, target: &fs::File) -> Result<(), StoreError> {
        let path = self.blob_path(hash);
        let failed = |source| StoreError::io(READ, path.as_path(), source);
        let mut source = fs::File::open(path.as_path()).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => StoreError::BlobMissing(hash.clone()),
            _ => failed(source),
        })?;
        let mut hasher = blake3::Hasher::new();
        files::copy_hashed(&mut source, target, &mut hasher).map_err(failed)?;
        match hasher.finalize().to_hex().as_str() == hash.0 {
            true => Ok(()),
            false => Err(StoreError::BlobDamaged(hash.clone())),
        }
    }

    /// Bytes of a stored content.
    pub fn blob_size(&self, hash: &ContentHash) -> Result<u64, StoreError> {
        let path = self.blob_path(hash);
        match path.as_path().metadata() {
            Ok(metadata) => Ok(metadata.len()),
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                Err(StoreError::BlobMissing(hash.clone()))
            }
            Err(source) => Err(StoreError::io(READ, path.as_path(), source)),
        }
    }

    /// Where a content lies, to be read and never written.
    pub fn blob_file(&self, hash: &ContentHash) -> PathBuf {
        self.blob_path(hash).to_path_buf()
    }

    /// The content with this hash, verified against it.
    pub fn blob(&self, hash: &ContentHash) -> Result<Vec<u8>, StoreError> {
        let path = self.blob_path(hash);
        let bytes = fs::read(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => StoreError::BlobMissing(hash.clone()),
            _ => StoreError::io(READ, path.as_path(), source),
        })?;
        if hash_of(&bytes) != *hash {
            return Err(StoreError::BlobDamaged(hash.clone()));
        }
        Ok(bytes)
    }

    /// Whether a content of that hash is stored; it may still turn out to be damaged.
    pub fn has_blob(&self, hash: &ContentHash) -> bool {
        self.blob_path(hash).as_path().is_file()
    }

    /// Removes contents that are not in `live`, the oldest first, until what is left takes at most
    /// `budget_bytes`; live ones are never removed, even if they alone take more. With 0 all unused ones go.
    ///
    /// No content is put during the collection. The caller sees to it that none is put between the moment it
    /// lists the live ones and this call.
    pub fn collect_garbage(
        &self,
        live: &HashSet<ContentHash>,
        budget_bytes: u64,
    ) -> Result<GcReport, StoreError> {
        self.require_write_access(COLLECT)?;
        let _nobody_puts = self
            .inner
            .blob_gate
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let blobs = all(&self.inner.folder)?;
        let mut report = GcReport {
            kept: u64::try_from(blobs.len()).unwrap_or(u64::MAX),
            kept_bytes: blobs.iter().map(|blob| blob.size).sum(),
            ..GcReport::default()
        };
        let mut unused: Vec<_> = blobs
            .into_iter()
            .filter(|blob| !live.contains(&blob.hash))
            .collect();
        unused.sort_by_key(|blob| blob.written);
        let mut removal = Ok(());
        for blob in unused {
            if report.kept_bytes <= budget_bytes {
                break;
            }
            removal = files::remove_file(&blob.path)
                .map_err(|source| StoreError::io(COLLECT, blob.path.as_path(), source));
            if removal.is_err() {
                break;
            }
            report.removed += 1;
            report.removed_bytes += blob.size;
            report.kept -= 1;
            report.kept_bytes -= blob.size;
        }
        self.inner
            .budget
            .release(report.removed_bytes, &self.inner.database)?;
        removal.map(|()| report)
    }

    fn blob_folder(&self, hash: &ContentHash) -> DataPath {
        let prefix: String = hash.0.chars().take(2).collect();
        folder_in(&self.inner.folder).join(&prefix)
    }

    fn blob_path(&self, hash: &ContentHash) -> DataPath {
        self.blob_folder(hash).join(&hash.0)
    }
}

struct Blob {
    path: DataPath,
    hash: ContentHash,
    size: u64,
    written: SystemTime,
}

/// Every file that has a blob's name; others are not ours to judge.
fn all(workspace: &DataPath) -> Result<Vec<Blob>, StoreError> {
    let folder = folder_in(workspace);
    let list = || -> io::Result<Vec<Blob>> {
        let mut blobs = Vec::new();
        for folder in home::subfolders(&folder)? {
            for (path, metadata) in home::files_in(&folder)? {
                let name = path.as_path().file_name().and_then(|name| name.to_str());
                let Some(name) = name.filter(|name| blake3::Hash::from_hex(name).is_ok()) else {
                    continue;
                };
                blobs.push(Blob {
                    hash: ContentHash(name.to_owned()),
                    size: metadata.len(),
                    written: metadata.modified().unwrap_or(UNIX_EPOCH),
                    path,
                });
            }
        }
        Ok(blobs)
    };
    list().map_err(|source| StoreError::io("list the stored contents", folder.as_path(), source))
}

pub(crate) fn total_bytes(workspace: &DataPath) -> Result<u64, StoreError> {
    Ok(all(workspace)?.iter().map(|blob| blob.size).sum())
}
