//! Keeps a draft a difference against the disk as it is: what the user changed meanwhile becomes its new base.
//!
//! Apart is merged; what overlaps is said in words and left to the caller. The disk is only read.

use protocol::FileStatus;

use crate::{
    ChangeSets, disk, draft,
    error::ApplyError,
    plan,
    record::{Effect, FileRecord, Located, SetRecord},
    set::State,
};

impl ChangeSets {
    /// Brings every pending file up to the disk; what does not fit any more is marked as conflicted.
    pub(crate) fn rebase_all(&self, state: &mut State, record: &mut SetRecord) -> Result<(), ApplyError> {
        for index in 0..record.files.len() {
            if record.files[index].status != FileStatus::Pending {
                continue;
            }
            match self.rebased(state, &record.files, index)? {
                Ok(file) => record.files[index] = file,
                Err(detail) => {
                    record.files[index].status = FileStatus::Conflicted;
                    record.files[index].conflict = Some(detail);
                }
            }
        }
        record
            .files
            .retain(|file| !(file.is_open() && file.effect.changes_nothing()));
        Ok(())
    }

    /// The file's change against the disk as it is now; the inner error says why there is none, naming both sides.
    pub(crate) fn rebased(
        &self,
        state: &mut State,
        files: &[FileRecord],
        index: usize,
    ) -> Result<Result<FileRecord, String>, ApplyError> {
        let root = self.workspace().root();
        let read = |at: &Located| {
            disk::look(root, &at.path.0).map_err(|error| ApplyError::Io {
                path: at.path.display(),
                reason: error.to_string(),
            })
        };
        let mut file = files[index].clone();
        let Effect { from, to } = &mut file.effect;
        // What a creation or a rename comes to on disk. Under a path that another entry frees it is that entry's.
        if let Some(target) = to
            && from.as_ref().is_none_or(|from| from.path != target.path)
            && draft::taker(files, &target.path.0).is_none()
            && let Some(found) = read(target)?
        {
            if from.is_some() || found.version.hash != target.version.hash {
                return Ok(Err("another file of that name was made on disk".to_owned()));
            }
            // The user made the same file: nothing is left to do.
            *from = to.clone();
            return Ok(Ok(file));
        }
        let Some(origin) = from else {
            return Ok(Ok(file));
        };
        let Some(found) = read(origin)? else {
            return Ok(match to {
                None => {
                    *from = None;
                    Ok(file)
                }
                Some(_) => Err("it was deleted on disk".to_owned()),
            });
        };
        if found.version == origin.version {
            return Ok(Ok(file));
        }
        let Some(to) = to else {
            return Ok(Err(
                "it was changed on disk, and deleting it would lose that".to_owned()
            ));
        };
        if found.version.hash != origin.version.hash {
            let base = self.content(state, &origin.version.hash)?;
            let after = self.content(state, &to.version.hash)?;
            match plan::merge_contents(&base, &found.content, &after, "proposed") {
                Ok(bytes) => to.version.hash = self.keep(state, &bytes)?,
                Err(detail) => return Ok(Err(detail)),
            }
        }
        if to.version.mode == origin.version.mode {
            to.version.mode = found.version.mode;
        }
        self.keep_found(state, &origin.path, &found)?;
        origin.version = found.version;
        Ok(Ok(file))
    }
}
