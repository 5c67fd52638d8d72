//! Artifacts: append-only files beside the event log, each with a row that says whose it is. They can be read
//! while they are written.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
};

use protocol::{ArtifactId, ArtifactRef, SessionId, tool::ArtifactKind};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::{
    Durability, Store, StoreError,
    events::{signed, unsigned},
    files, home,
    home::DataPath,
};

/// The most that an artifact holds unless its creator says otherwise: 1 GiB.
pub const ARTIFACT_CAP_BYTES: u64 = 1 << 30;

const WRITE: &str = "write a log file";
const READ: &str = "read a log file";

fn folder_in(workspace: &DataPath) -> DataPath {
    workspace.join("artifacts")
}

/// Takes an artifact's bytes. Beyond the cap it accepts and drops them, so that what is recorded goes on; the
/// file then ends with a line that says so, and [`dropped_bytes`](Self::dropped_bytes) counts them.
#[derive(Debug)]
pub struct ArtifactWriter {
    store: Store,
    id: ArtifactId,
    kind: ArtifactKind,
    file: File,
    cap_bytes: u64,
    written: u64,
    dropped: u64,
    finished: bool,
}

impl Store {
    /// A new artifact of at most [`ARTIFACT_CAP_BYTES`].
    pub fn create_artifact(
        &self,
        session: &SessionId,
        kind: ArtifactKind,
    ) -> Result<ArtifactWriter, StoreError> {
        self.create_capped_artifact(session, kind, ARTIFACT_CAP_BYTES)
    }

    /// A new artifact that stops recording after `cap_bytes`.
    pub fn create_capped_artifact(
        &self,
        session: &SessionId,
        kind: ArtifactKind,
        cap_bytes: u64,
    ) -> Result<ArtifactWriter, StoreError> {
        let id = ArtifactId::mint();
        self.write(WRITE, Durability::Normal, |transaction| {
            transaction
                .prepare_cached(
                    "INSERT INTO artifacts (id, session, kind, created_at, size) VALUES (?1, ?2, ?3, ?4, NULL)",
                )?
                .execute((id.as_str(), session.as_str(), name_of(kind), signed(crate::now_millis())))
        })?;
        let folder = folder_in(&self.inner.folder);
        let path = folder.join(id.as_str());
        let file = files::create_new(&path)
            .or_else(|_| {
                files::create_folder(&folder)?;
                files::create_new(&path)
            })
            .map_err(|source| StoreError::io(WRITE, path.as_path(), source))?;
        Ok(ArtifactWriter {
            store: self.clone(),
            id,
            kind,
            file,
            cap_bytes,
            written: 0,
            dropped: 0,
            finished: false,
        })
    }

    /// At most `max` bytes from `offset`, and the size of the whole. Past the end there are no bytes.
    pub fn read_artifact(
        &self,
        id: &ArtifactId,
        offset: u64,
        max: u64,
    ) -> Result<(Vec<u8>, u64), StoreError> {
        // The row decides: an id from outside must not become part of a path unseen.
        if self.artifact(id)?.is_none() {
            return Err(StoreError::ArtifactMissing(id.clone()));
        }
        let path = folder_in(&self.inner.folder).join(id.as_str());
        let read = || -> io::Result<(Vec<u8>, u64)> {
            let mut file = File::open(&path)?;
            let size = file.metadata()?.len();
            file.seek(SeekFrom::Start(offset))?;
            let mut bytes = Vec::new();
            file.take(max.min(size.saturating_sub(offset)))
                .read_to_end(&mut bytes)?;
            Ok((bytes, size))
        };
        read().map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => StoreError::ArtifactMissing(id.clone()),
            _ => StoreError::io(READ, path.as_path(), source),
        })
    }

    pub fn artifact(&self, id: &ArtifactId) -> Result<Option<ArtifactRef>, StoreError> {
        let row = self.read(READ, |connection| {
            connection
                .prepare_cached("SELECT id, kind, size FROM artifacts WHERE id = ?1")?
                .query_row([id.as_str()], from_row)
                .optional()
        })?;
        Ok(row.flatten().map(|artifact| self.with_size(artifact)))
    }

    /// The artifacts of a session in the order they were made.
    pub fn artifacts(&self, session: &SessionId) -> Result<Vec<ArtifactRef>, StoreError> {
        let rows = self.read(READ, |connection| {
            connection
                .prepare_cached("SELECT id, kind, size FROM artifacts WHERE session = ?1 ORDER BY number")?
                .query_map([session.as_str()], from_row)?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        Ok(rows
            .into_iter()
            .flatten()
            .map(|artifact| self.with_size(artifact))
            .collect())
    }

    /// One that is still being written has the size it has now.
    fn with_size(&self, (mut artifact, size): (ArtifactRef, Option<i64>)) -> ArtifactRef {
        artifact.size_bytes = size.map_or_else(
            || size_on_disk(&self.inner.folder, artifact.id.as_str()),
            unsigned,
        );
        artifact
    }
}

impl ArtifactWriter {
    pub fn id(&self) -> &ArtifactId {
        &self.id
    }

    /// Bytes that came after the cap was reached and are not in the file.
    pub fn dropped_bytes(&self) -> u64 {
        self.dropped
    }

    /// Closes the artifact. It keeps what was written even if an earlier write failed.
    pub fn finish(mut self) -> Result<ArtifactRef, StoreError> {
        self.finished = true;
        self.record_size()?;
        Ok(ArtifactRef {
            id: self.id.clone(),
            kind: self.kind,
            size_bytes: self.written,
        })
    }

    fn record_size(&self) -> Result<(), StoreError> {
        self.store.write(WRITE, Durability::Normal, |transaction| {
            transaction
                .prepare_cached("UPDATE artifacts SET size = ?2 WHERE id = ?1")?
                .execute((self.id.as_str(), signed(self.written)))
        })?;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let inner = &self.store.inner;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        inner
            .budget
            .reserve(WRITE, size, &inner.database)
            .map_err(|error| io::Error::new(io::ErrorKind::QuotaExceeded, error))?;
        let before = self.written;
        let mut rest = bytes;
        let mut outcome = Ok(());
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(0) => outcome = Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.written += u64::try_from(count).unwrap_or(0);
                    rest = &rest[count..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => outcome = Err(error),
            }
            if outcome.is_err() {
                break;
            }
        }
        let unwritten = size - (self.written - before);
        if unwritten > 0 {
            drop(inner.budget.release(unwritten, &inner.database));
        }
        outcome
    }
}

impl Write for ArtifactWriter {
    /// Always takes all of `bytes`, or fails when the disk or the workspace's limit is full.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = usize::try_from(self.cap_bytes.saturating_sub(self.written)).unwrap_or(usize::MAX);
        let (kept, over) = bytes.split_at(bytes.len().min(room));
        if self.dropped == 0 {
            self.put(kept)?;
            if !over.is_empty() {
                let notice = format!(
                    "\n[Recording stopped: the limit of {} bytes is reached.]\n",
                    self.cap_bytes
                );
                self.put(notice.as_bytes())?;
            }
            self.dropped = u64::try_from(over.len()).unwrap_or(u64::MAX);
        } else {
            self.dropped = self
                .dropped
                .saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for ArtifactWriter {
    fn drop(&mut self) {
        if !self.finished {
            // At worst the size is found when the workspace is opened next.
            drop(self.record_size());
        }
    }
}

fn name_of(kind: ArtifactKind) -> String {
    serde_json::to_value(kind)
        .ok()
        .and_then(|name| name.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// `None` for a kind that this program does not know.
fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<(ArtifactRef, Option<i64>)>> {
    let kind = row.get_ref(1)?.as_str().unwrap_or_default();
    let Ok(kind) = serde_json::from_value::<ArtifactKind>(kind.into()) else {
        return Ok(None);
    };
    let artifact = ArtifactRef {
        id: ArtifactId::from_text(row.get::<_, String>(0)?),
        kind,
        size_bytes: 0,
    };
    Ok(Some((artifact, row.get(2)?)))
}

fn size_on_disk(workspace: &DataPath, id: &str) -> u64 {
    fs::metadata(folder_in(workspace).join(id)).map_or(0, |metadata| metadata.len())
}

/// Gives artifacts whose writer crashed the size that they have on disk.
pub(crate) fn close_interrupted(connection: &Connection, workspace: &DataPath) -> rusqlite::Result<()> {
    let open = connection
        .prepare("SELECT id FROM artifacts WHERE size IS NULL")?
        .query_map([], |row| row.get::<_, String>(0))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    for id in open {
        connection.execute(
            "UPDATE artifacts SET size = ?2 WHERE id = ?1",
            (&id, signed(size_on_disk(workspace, &id))),
        )?;
    }
    Ok(())
}

pub(crate) fn total_bytes(workspace: &DataPath) -> Result<u64, StoreError> {
    let folder = folder_in(workspace);
    home::files_in(&folder)
        .map(|files| files.iter().map(|(_, metadata)| metadata.len()).sum())
        .map_err(|source| StoreError::io("measure the artifacts", folder.as_path(), source))
}
