//! A person's decisions about a change set: accept and reject, all of it, a file or a hunk.
//!
//! Owns what a decision means for a record; planning is `plan`'s and writing is `apply`'s. Every decision is all or
//! nothing: on an error no file has changed.

use protocol::{
    ChangeSet, ChangeSetId, ChangeSetStatus, ContentHash, FileStatus, SnapshotId, changes::Selection,
};
use store::{Document, Durability};

use crate::{
    ChangeSets,
    apply::{self, Committed},
    content::Content,
    diff::Diff,
    disk::FileState,
    draft,
    error::{ApplyError, PathConflict},
    machine::{self, Input},
    plan::{self, Tree, Wording, Write},
    record::{
        Cause, Counts, Effect, FileRecord, Located, SNAPSHOT, SetRecord, Snapshot, StoredPath, Version,
    },
    set::{self, State},
    show, stage,
};

/// Plans that are made anew because a file changed between planning and writing, before giving up.
pub(crate) const ATTEMPTS: u32 = 5;

/// The outcome of a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    pub change_set: ChangeSet,
    /// Paths whose content or existence on disk this changed.
    pub files_written: Vec<String>,
    /// What else the user should know, in words.
    pub notes: Vec<String>,
}

/// What is chosen of one file.
struct Chosen {
    index: usize,
    effect: Effect,
    /// Whether this is all of the file's change.
    whole: bool,
}

impl ChangeSets {
    /// Writes the chosen part of a change set. What the user changed on disk meanwhile is merged; where that is not
    /// possible nothing is written, and the files are marked as conflicted.
    pub fn accept(&self, id: &ChangeSetId, selection: &Selection) -> Result<Applied, ApplyError> {
        let mut state = self.lock();
        let mut notes = self.recover_first(&mut state)?;
        let mut attempt = 0;
        loop {
            let mut record = self.reviewable(&mut state, id)?;
            self.resolve_conflicts(&mut state, &mut record)?;
            let chosen = self.choose(&mut state, &record, selection)?;
            check_complete(&record, &chosen)?;
            let effects: Vec<Effect> = chosen.iter().map(|chosen| chosen.effect.clone()).collect();
            match self.carry_out(&[effects], Wording::Proposed) {
                Ok((steps, writes)) => {
                    let snapshot_id = SnapshotId::mint();
                    for chosen in &chosen {
                        self.settle_accepted(&mut state, &mut record, chosen, &writes)?;
                    }
                    record
                        .files
                        .retain(|file| !(file.is_open() && file.effect.changes_nothing()));
                    record.snapshots.push(snapshot_id.clone());
                    record.updated_at = set::now();
                    let input = if record.open_files().next().is_some() {
                        Input::AcceptPart
                    } else {
                        Input::AcceptRest
                    };
                    record.status = machine::next(record.status, input)?;
                    if record
                        .open_files()
                        .any(|file| file.status == FileStatus::Conflicted)
                    {
                        record.status = machine::next(record.status, Input::Conflict)?;
                    }
                    let commit =
                        self.commit(&writes, &record, Cause::Accept, snapshot_id, steps, Vec::new())?;
                    match commit {
                        Committed::Yes { notes: written } => {
                            notes.extend(written);
                            set::remember(&mut state, record.clone());
                            return self.applied(&mut state, &record, &writes, notes);
                        }
                        Committed::Moved => {}
                    }
                }
                Err(ApplyError::Conflict { conflicts }) => {
                    self.mark_conflicts(&mut state, record, &conflicts)?;
                    return Err(ApplyError::Conflict { conflicts });
                }
                Err(error) => return Err(error),
            }
            attempt += 1;
            if attempt == ATTEMPTS {
                return Err(busy());
            }
        }
    }

    /// Takes the chosen part out of a change set. The workspace is not touched.
    pub fn reject(&self, id: &ChangeSetId, selection: &Selection) -> Result<Applied, ApplyError> {
        let mut applied = self.reject_selected(id, selection)?;
        // What was rejected stays rejected, whatever becomes of the times that builds go by.
        if let Err(error) = stage::after_review(self, &applied.change_set.session_id) {
            applied.notes.push(format!(
                "A build may take results of the rejected files for current ones: {error}"
            ));
        }
        Ok(applied)
    }

    fn reject_selected(&self, id: &ChangeSetId, selection: &Selection) -> Result<Applied, ApplyError> {
        let mut state = self.lock();
        let mut record = self.reviewable(&mut state, id)?;
        match selection {
            Selection::All => {
                for index in 0..record.files.len() {
                    if record.files[index].is_open() {
                        self.reject_whole(&mut state, &mut record.files[index])?;
                    }
                }
            }
            Selection::File { path } => {
                let index = open_file(&record, path)?;
                self.reject_whole(&mut state, &mut record.files[index])?;
            }
            Selection::Hunk { path, number } => {
                let index = open_file(&record, path)?;
                self.reject_hunk(&mut state, &mut record.files[index], *number)?;
            }
        }
        record
            .files
            .retain(|file| !(file.is_open() && file.effect.changes_nothing()));
        record.updated_at = set::now();
        let conflicted = record
            .open_files()
            .any(|file| file.status == FileStatus::Conflicted);
        if record.status == ChangeSetStatus::Conflicted && !conflicted {
            record.status = resolved(&record)?;
        }
        if record.status != ChangeSetStatus::Conflicted {
            let input = if record.open_files().next().is_some() {
                Input::RejectPart
            } else {
                Input::RejectRest
            };
            record.status = machine::next(record.status, input)?;
        }
        self.put(&mut state, record.clone(), Durability::Full)?;
        self.applied(&mut state, &record, &[], Vec::new())
    }

    /// The record, if it is up for review.
    fn reviewable(&self, state: &mut State, id: &ChangeSetId) -> Result<SetRecord, ApplyError> {
        let record = self.record(state, id)?;
        match record.status {
            ChangeSetStatus::PendingReview
            | ChangeSetStatus::PartiallyAccepted
            | ChangeSetStatus::Conflicted => Ok(record),
            ChangeSetStatus::Draft | ChangeSetStatus::Proposed => Err(ApplyError::BeingDrafted),
            status => Err(ApplyError::Decided { status }),
        }
    }

    /// Lets an accept through when the user has resolved every conflict on disk; otherwise names what is left.
    fn resolve_conflicts(&self, state: &mut State, record: &mut SetRecord) -> Result<(), ApplyError> {
        if record.status != ChangeSetStatus::Conflicted {
            return Ok(());
        }
        let mut conflicts = Vec::new();
        for index in 0..record.files.len() {
            if record.files[index].status != FileStatus::Conflicted {
                continue;
            }
            match self.rebased(state, &record.files, index)? {
                Ok(mut file) => {
                    file.status = FileStatus::Pending;
                    file.conflict = None;
                    record.files[index] = file;
                }
                Err(detail) => conflicts.push(PathConflict {
                    path: record.files[index]
                        .effect
                        .path()
                        .map(StoredPath::display)
                        .unwrap_or_default(),
                    detail,
                }),
            }
        }
        if !conflicts.is_empty() {
            return Err(ApplyError::Conflict { conflicts });
        }
        record
            .files
            .retain(|file| !(file.is_open() && file.effect.changes_nothing()));
        record.status = resolved(record)?;
        Ok(())
    }

    fn mark_conflicts(
        &self,
        state: &mut State,
        mut record: SetRecord,
        conflicts: &[PathConflict],
    ) -> Result<(), ApplyError> {
        for file in record.files.iter_mut().filter(|file| file.is_open()) {
            let path = file.effect.path().map(StoredPath::display).unwrap_or_default();
            if let Some(conflict) = conflicts.iter().find(|conflict| conflict.path == path) {
                file.status = FileStatus::Conflicted;
                file.conflict = Some(conflict.detail.clone());
            }
        }
        record.status = machine::next(record.status, Input::Conflict)?;
        self.put(state, record, Durability::Full)
    }

    fn choose(
        &self,
        state: &mut State,
        record: &SetRecord,
        selection: &Selection,
    ) -> Result<Vec<Chosen>, ApplyError> {
        let whole = |index: usize| Chosen {
            index,
            effect: record.files[index].effect.clone(),
            whole: true,
        };
        match selection {
            Selection::All => Ok((0..record.files.len())
                .filter(|index| record.files[*index].is_open())
                .map(whole)
                .collect()),
            Selection::File { path } => Ok(vec![whole(open_file(record, path)?)]),
            Selection::Hunk { path, number } => {
                let index = open_file(record, path)?;
                let file = &record.files[index];
                let (before, after) = show::ends(&file.effect, &mut |hash| self.shown_content(state, hash))?;
                let diff = self.numbered(&before, &after, *number)?;
                let (Some(from), Some(to)) = (&file.effect.from, &file.effect.to) else {
                    // Half a file cannot be created or deleted.
                    return Ok(vec![whole(index)]);
                };
                if diff.hunk_count() == 1 && from.version.mode == to.version.mode {
                    return Ok(vec![whole(index)]);
                }
                let bytes = diff.rebuild(|hunk| hunk == *number);
                let version = Version {
                    hash: self.keep(state, &bytes)?,
                    mode: from.version.mode,
                };
                let effect = Effect {
                    from: Some(from.clone()),
                    to: Some(Located {
                        path: to.path.clone(),
                        version,
                    }),
                };
                Ok(vec![Chosen {
                    index,
                    effect,
                    whole: false,
                }])
            }
        }
    }

    fn numbered<'a>(&self, before: &'a [u8], after: &'a [u8], number: u32) -> Result<Diff<'a>, ApplyError> {
        let missing = |what: String| ApplyError::NotPending { what };
        if show::is_opaque(before) || show::is_opaque(after) {
            return Err(missing(
                "hunks in a file that is not text; decide about the whole file".to_owned(),
            ));
        }
        let diff = Diff::of(before, after);
        if number == 0 || number > diff.hunk_count() {
            return Err(missing(format!(
                "hunk {number} in this file; it has {}",
                diff.hunk_count()
            )));
        }
        Ok(diff)
    }

    /// Plans steps on the disk as it is: what each really changes, and the writes that do it all.
    pub(crate) fn carry_out(
        &self,
        steps: &[Vec<Effect>],
        wording: Wording,
    ) -> Result<(Vec<Vec<Effect>>, Vec<Write>), ApplyError> {
        let contents = |hash: &ContentHash| Ok(set::stored_content(self.store(), hash)?);
        let mut tree = Tree::new(self.workspace().root(), &contents, wording);
        let mut actual = Vec::new();
        for step in steps {
            for effect in step {
                self.check_paths(effect)?;
            }
            actual.push(tree.apply(step)?);
        }
        Ok((actual, tree.writes()))
    }

    /// The paths of a record are resolved anew at the moment of use: a folder may have become a link since.
    fn check_paths(&self, effect: &Effect) -> Result<(), ApplyError> {
        for located in effect.from.iter().chain(&effect.to) {
            let path = self
                .workspace()
                .resolve(self.workspace().root().join(&located.path.0))?;
            if path.is_protected() {
                return Err(ApplyError::Protected { path: path.display() });
            }
            if path.relative() != located.path.0 {
                return Err(ApplyError::Conflict {
                    conflicts: vec![PathConflict {
                        path: located.path.display(),
                        detail: format!("it is a link to {} now", path.display()),
                    }],
                });
            }
        }
        Ok(())
    }

    pub(crate) fn commit(
        &self,
        writes: &[Write],
        record: &SetRecord,
        cause: Cause,
        id: SnapshotId,
        steps: Vec<Vec<Effect>>,
        replaced: Vec<SnapshotId>,
    ) -> Result<Committed, ApplyError> {
        let bytes = writes
            .iter()
            .flat_map(|write| [&write.before, &write.after])
            .flatten()
            .map(|state| state.content.size())
            .sum();
        apply::commit(
            self.store(),
            self.workspace().root(),
            writes,
            |created_directories| {
                let snapshot = Snapshot {
                    id: id.clone(),
                    change_set_id: record.id.clone(),
                    created_at: set::now(),
                    cause,
                    steps,
                    created_directories: created_directories.to_vec(),
                    bytes,
                    pruned: false,
                };
                let mut documents = vec![snapshot_document(&snapshot)?, set::document(record)?];
                documents.extend(replaced.iter().map(|id| Document {
                    kind: SNAPSHOT.to_owned(),
                    id: id.as_str().to_owned(),
                    session_id: None,
                    value: None,
                }));
                Ok(documents)
            },
        )
    }

    /// What an accept leaves of a file: nothing, or the hunks that were not chosen, against the new disk.
    fn settle_accepted(
        &self,
        state: &mut State,
        record: &mut SetRecord,
        chosen: &Chosen,
        writes: &[Write],
    ) -> Result<(), ApplyError> {
        let file = &mut record.files[chosen.index];
        let (before, after) = show::ends(&chosen.effect, &mut |hash| self.shown_content(state, hash))?;
        file.decided += show::counts(&before, &after);
        file.updated_at = set::now();
        if chosen.whole {
            file.status = FileStatus::Accepted;
            return Ok(());
        }
        let (Some(accepted), Some(proposed)) = (&chosen.effect.to, &file.effect.to) else {
            return Ok(());
        };
        let written = writes
            .iter()
            .find(|write| write.path == accepted.path)
            .and_then(|write| write.after.clone());
        // Without a write the disk already was as accepted.
        let disk = match written {
            Some(state) => state,
            None => FileState::new(after.clone(), accepted.version.mode),
        };
        self.keep_found(state, &accepted.path, &disk)?;
        let wanted = self.content(state, &proposed.version.hash)?;
        let mut to = proposed.clone();
        match plan::merge_contents(&Content::Bytes(after), &disk.content, &wanted, "proposed") {
            Ok(bytes) => to.version.hash = self.keep(state, &bytes)?,
            Err(detail) => {
                file.status = FileStatus::Conflicted;
                file.conflict = Some(detail);
            }
        }
        file.effect = Effect {
            from: Some(Located {
                path: accepted.path.clone(),
                version: disk.version,
            }),
            to: Some(to),
        };
        if file.effect.changes_nothing() {
            file.status = FileStatus::Accepted;
        }
        Ok(())
    }

    pub(crate) fn reject_whole(&self, state: &mut State, file: &mut FileRecord) -> Result<(), ApplyError> {
        let (before, after) = show::ends(&file.effect, &mut |hash| self.shown_content(state, hash))?;
        // A file of which hunks were accepted is accepted as far as it goes.
        if file.decided == Counts::default() {
            file.decided = show::counts(&before, &after);
            file.status = FileStatus::Rejected;
        } else {
            file.status = FileStatus::Accepted;
        }
        file.conflict = None;
        file.updated_at = set::now();
        Ok(())
    }

    fn reject_hunk(&self, state: &mut State, file: &mut FileRecord, number: u32) -> Result<(), ApplyError> {
        let (before, after) = show::ends(&file.effect, &mut |hash| self.shown_content(state, hash))?;
        let diff = self.numbered(&before, &after, number)?;
        let (Some(from), Some(to)) = (&file.effect.from, &file.effect.to) else {
            return self.reject_whole(state, file);
        };
        let hash = self.keep(state, &diff.rebuild(|hunk| hunk != number))?;
        let left = Located {
            path: to.path.clone(),
            version: Version {
                hash,
                mode: to.version.mode,
            },
        };
        if left == *from {
            return self.reject_whole(state, file);
        }
        file.effect.to = Some(left);
        file.updated_at = set::now();
        Ok(())
    }

    pub(crate) fn applied(
        &self,
        state: &mut State,
        record: &SetRecord,
        writes: &[Write],
        notes: Vec<String>,
    ) -> Result<Applied, ApplyError> {
        Ok(Applied {
            change_set: self.shown(state, record)?,
            files_written: writes.iter().map(|write| write.path.display()).collect(),
            notes,
        })
    }
}

pub(crate) fn snapshot_document(snapshot: &Snapshot) -> Result<Document, ApplyError> {
    Ok(Document {
        kind: SNAPSHOT.to_owned(),
        id: snapshot.id.as_str().to_owned(),
        session_id: None,
        value: Some(serde_json::to_value(snapshot).map_err(|error| ApplyError::Internal(error.to_string()))?),
    })
}

/// A file that is to come to a path another pending file still leaves needs that one decided with it.
fn check_complete(record: &SetRecord, chosen: &[Chosen]) -> Result<(), ApplyError> {
    for Chosen { index, effect, .. } in chosen {
        let Some(to) = &effect.to else { continue };
        let Some(other) = draft::taker(&record.files, &to.path.0) else {
            continue;
        };
        if other != *index && !chosen.iter().any(|chosen| chosen.index == other) {
            let path = |index: usize| record.files[index].effect.path().map(StoredPath::display);
            return Err(ApplyError::DependsOn {
                path: to.path.display(),
                other: path(other).unwrap_or_default(),
            });
        }
    }
    Ok(())
}

fn resolved(record: &SetRecord) -> Result<ChangeSetStatus, ApplyError> {
    let input = if record.snapshots.is_empty() {
        Input::Resolve
    } else {
        Input::ResolveRest
    };
    Ok(machine::next(record.status, input)?)
}

fn open_file(record: &SetRecord, path: &str) -> Result<usize, ApplyError> {
    let mut found = record
        .files
        .iter()
        .enumerate()
        .filter(|(_, file)| file.is_open() && file.effect.path().is_some_and(|at| at.display() == path));
    match (found.next(), found.next()) {
        (Some((index, _)), None) => Ok(index),
        (Some(_), Some(_)) => Err(ApplyError::NotPending {
            what: format!("single file {path}: two names look like that; decide about all of them"),
        }),
        (None, _) => Err(ApplyError::NotPending {
            what: format!("change of {path}"),
        }),
    }
}

pub(crate) fn busy() -> ApplyError {
    ApplyError::Io {
        path: "the workspace".to_owned(),
        reason: "another program keeps changing the same files".to_owned(),
    }
}
