//! Undo and redo: the reverse of what a decision wrote, planned on the disk as it is now.
//!
//! Owns which snapshots a set has and which are reversed; it touches only paths they name, and never runs git.

use protocol::{ChangeSetId, ChangeSetStatus, SnapshotId};

use crate::{
    ChangeSets,
    apply::Committed,
    disk,
    error::ApplyError,
    machine::{self, Input},
    plan::{Wording, Write},
    record::{Cause, Effect, SNAPSHOT, SetRecord, Snapshot},
    review::{ATTEMPTS, Applied, busy},
    set,
};

/// An undo as the disk is now.
struct Reversal {
    snapshots: Vec<Snapshot>,
    steps: Vec<Vec<Effect>>,
    writes: Vec<Write>,
}

impl ChangeSets {
    /// Takes back everything that was accepted of a change set and has not been undone; of the newest such set when
    /// `id` is absent. What the user changed since is kept; where the two overlap nothing is written.
    pub fn undo(&self, id: Option<&ChangeSetId>) -> Result<Applied, ApplyError> {
        let mut state = self.lock();
        let mut notes = self.recover_first(&mut state)?;
        let id = self.set_to_undo(id)?;
        for _ in 0..ATTEMPTS {
            let mut record = self.record(&state, &id)?;
            let Reversal {
                snapshots,
                steps,
                writes,
            } = self.reversal(&record)?;
            let undo = SnapshotId::mint();
            let replaced = std::mem::take(&mut record.snapshots);
            record.undone_by = Some(undo.clone());
            record.status = machine::next(record.status, Input::Undo)?;
            record.updated_at = set::now();
            match self.commit(&writes, &record, Cause::Undo, undo, steps, replaced)? {
                Committed::Yes { notes: written } => {
                    notes.extend(written);
                    set::remember(&mut state, record.clone());
                    for folder in snapshots
                        .iter()
                        .flat_map(|snapshot| snapshot.created_directories.iter().rev())
                    {
                        disk::remove_empty_folder(self.workspace().root(), &folder.0);
                    }
                    return self.applied(&mut state, &record, &writes, notes);
                }
                Committed::Moved => {}
            }
        }
        Err(busy())
    }

    /// What [`undo`](Self::undo) would do now: the paths it would write. Nothing is written, and where an undo would
    /// be refused so is this.
    pub fn preview_undo(&self, id: Option<&ChangeSetId>) -> Result<Applied, ApplyError> {
        let mut state = self.lock();
        let notes = self.recover_first(&mut state)?;
        let record = self.record(&state, &self.set_to_undo(id)?)?;
        let writes = self.reversal(&record)?.writes;
        self.applied(&mut state, &record, &writes, notes)
    }

    fn set_to_undo(&self, id: Option<&ChangeSetId>) -> Result<ChangeSetId, ApplyError> {
        match id {
            Some(id) => Ok(id.clone()),
            None => self
                .newest_snapshot(|cause| cause != Cause::Undo)?
                .ok_or(ApplyError::NothingTo { what: "undo" }),
        }
    }

    fn reversal(&self, record: &SetRecord) -> Result<Reversal, ApplyError> {
        if matches!(record.status, ChangeSetStatus::Draft | ChangeSetStatus::Proposed) {
            return Err(ApplyError::BeingDrafted);
        }
        if record.snapshots.is_empty() {
            return Err(ApplyError::NothingTo { what: "undo" });
        }
        let snapshots = self.snapshots(&record.snapshots)?;
        let steps: Vec<Vec<Effect>> = (snapshots.iter().rev())
            .flat_map(Snapshot::reversed_steps)
            .collect();
        let (steps, writes) = self.carry_out(&steps, Wording::BeforeTheChange)?;
        Ok(Reversal {
            snapshots,
            steps,
            writes,
        })
    }

    /// Does again what an undo took back; the newest undo when `id` is absent.
    pub fn redo(&self, id: Option<&ChangeSetId>) -> Result<Applied, ApplyError> {
        let mut state = self.lock();
        let mut notes = self.recover_first(&mut state)?;
        let nothing = || ApplyError::NothingTo { what: "redo" };
        let id = match id {
            Some(id) => id.clone(),
            None => self
                .newest_snapshot(|cause| cause == Cause::Undo)?
                .ok_or_else(nothing)?,
        };
        for _ in 0..ATTEMPTS {
            let mut record = self.record(&state, &id)?;
            let undo = record.undone_by.take().ok_or_else(nothing)?;
            let snapshots = self.snapshots(std::slice::from_ref(&undo))?;
            let steps: Vec<Vec<Effect>> = snapshots.iter().flat_map(Snapshot::reversed_steps).collect();
            let (steps, writes) = self.carry_out(&steps, Wording::Proposed)?;
            let redo = SnapshotId::mint();
            record.snapshots = vec![redo.clone()];
            record.updated_at = set::now();
            if record.open_files().next().is_some() && state.open.contains_key(&record.session_id) {
                // A session has one open change set, and meanwhile it has another.
                for index in 0..record.files.len() {
                    if record.files[index].is_open() {
                        self.reject_whole(&mut state, &mut record.files[index])?;
                    }
                }
                notes.push(
                    "What was still pending of it was left out: newer changes are pending now.".to_owned(),
                );
            }
            let input = if record.open_files().next().is_some() {
                Input::RedoPart
            } else {
                Input::Redo
            };
            record.status = machine::next(record.status, input)?;
            match self.commit(&writes, &record, Cause::Redo, redo, steps, vec![undo])? {
                Committed::Yes { notes: written } => {
                    notes.extend(written);
                    set::remember(&mut state, record.clone());
                    return self.applied(&mut state, &record, &writes, notes);
                }
                Committed::Moved => {}
            }
        }
        Err(busy())
    }

    fn snapshots(&self, ids: &[SnapshotId]) -> Result<Vec<Snapshot>, ApplyError> {
        let mut snapshots = Vec::with_capacity(ids.len());
        for id in ids {
            let value = self
                .store()
                .document(SNAPSHOT, id.as_str())?
                .ok_or(ApplyError::Pruned)?;
            let snapshot: Snapshot = serde_json::from_value(value)
                .map_err(|error| ApplyError::Internal(format!("snapshot {id} cannot be read: {error}")))?;
            if snapshot.pruned {
                return Err(ApplyError::Pruned);
            }
            snapshots.push(snapshot);
        }
        Ok(snapshots)
    }

    /// The set that the newest snapshot of a kind belongs to.
    fn newest_snapshot(&self, wanted: impl Fn(Cause) -> bool) -> Result<Option<ChangeSetId>, ApplyError> {
        let newest = (self.store().documents(SNAPSHOT)?.into_iter())
            .filter_map(|(_, value)| serde_json::from_value::<Snapshot>(value).ok())
            .filter(|snapshot| wanted(snapshot.cause))
            .max_by(|a, b| a.id.cmp(&b.id));
        Ok(newest.map(|snapshot| snapshot.change_set_id))
    }
}
