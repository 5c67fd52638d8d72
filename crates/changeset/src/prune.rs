//! Keeps what snapshots take on disk within a budget.
//!
//! Owns which contents are still needed; the store removes the rest. Contents of open sets and of a write under way
//! are never dropped.

use std::collections::HashSet;

use protocol::ContentHash;
use store::Durability;

use crate::{
    ChangeSets,
    error::ApplyError,
    record::{CHANGE_SET, JOURNAL, SNAPSHOT, SetRecord, Snapshot, USER_STEP},
    review::snapshot_document,
    user::{self, UserStepRecord},
};

/// Steps of the user in the tree that can be taken back; older ones go.
const KEPT_USER_STEPS: usize = 200;

impl ChangeSets {
    /// Drops the oldest snapshots until the rest takes at most `budget_bytes`, and removes contents nothing refers to
    /// any more. A dropped snapshot stays listed, and undoing it says that it is gone. Returns how many were dropped.
    pub fn prune(&self, budget_bytes: u64) -> Result<usize, ApplyError> {
        let state = self.lock();
        if !self.store().documents(JOURNAL)?.is_empty() {
            // A write that is still to be recovered needs its contents.
            return Ok(0);
        }
        let mut snapshots: Vec<Snapshot> = (self.store().documents(SNAPSHOT)?.into_iter())
            .filter_map(|(_, value)| serde_json::from_value(value).ok())
            .collect();
        snapshots.sort_by(|a, b| b.id.cmp(&a.id));
        let mut live: HashSet<ContentHash> = HashSet::new();
        let mut used = 0_u64;
        let mut dropped = Vec::new();
        for mut snapshot in snapshots {
            used = used.saturating_add(snapshot.bytes);
            if used <= budget_bytes {
                live.extend(snapshot.hashes().cloned());
            } else if !snapshot.pruned {
                snapshot.pruned = true;
                dropped.push(snapshot_document(&snapshot)?);
            }
        }
        let snapshots_dropped = dropped.len();
        let mut steps = self.store().documents(USER_STEP)?;
        // Ids sort by time.
        let old_steps = steps.len().saturating_sub(KEPT_USER_STEPS);
        dropped.extend(steps.drain(..old_steps).map(|(id, _)| user::removal(&id)));
        if dropped.is_empty() {
            return Ok(0);
        }
        for (id, value) in steps {
            let step: UserStepRecord = serde_json::from_value(value)
                .map_err(|error| ApplyError::Internal(format!("the step {id} cannot be read: {error}")))?;
            live.extend(step.hashes().cloned());
        }
        for (id, value) in self.store().documents(CHANGE_SET)? {
            // A record that cannot be read may need any content: then nothing is removed.
            let record: SetRecord = serde_json::from_value(value).map_err(|error| {
                ApplyError::Internal(format!("the record of {id} cannot be read: {error}"))
            })?;
            live.extend(record.open_files().flat_map(|file| file.effect.hashes()).cloned());
        }
        self.store().put_documents(&dropped, Durability::Full)?;
        self.store().collect_garbage(&live, 0)?;
        drop(state);
        Ok(snapshots_dropped)
    }
}
