//! The user's decisions about proposed changes. What a decision does to files happens in `changeset`; here it is
//! announced and the session moves on.

mod beyond_undo;

use changeset::Applied;
use protocol::{
    ChangeSet, ChangeSetId, ChangeSetStatus, ErrorCode, EventBody, RuntimeError, SessionState,
    request::{
        ChangesDecideParams, ChangesFileParams, ChangesFileResult, ChangesListParams, ChangesListResult,
        ChangesRedoParams, ChangesRejectParams, ChangesResult, ChangesShowParams, ChangesShowResult,
        ChangesUndoParams,
    },
};
use store::{Durability, log::LogEvent};

use crate::{Engine, session::SessionInput};

pub fn list(engine: &Engine, params: &ChangesListParams) -> Result<ChangesListResult, RuntimeError> {
    Ok(ChangesListResult {
        change_sets: engine.rooms().changes.list(params.session_id.as_ref())?,
    })
}

pub fn show(engine: &Engine, params: &ChangesShowParams) -> Result<ChangesShowResult, RuntimeError> {
    let id = wanted(engine, params.id.as_ref())?;
    let changes = &engine.rooms().changes;
    Ok(ChangesShowResult {
        change_set: changes.get(&id)?,
        diff: changes.diff(&id)?,
    })
}

pub fn accept(engine: &Engine, params: &ChangesDecideParams) -> Result<ChangesResult, RuntimeError> {
    let id = wanted(engine, params.id.as_ref())?;
    let accepted = engine.rooms().changes.accept(&id, &params.selection);
    if accepted.is_err() {
        // A conflict is a new state of the set, which everyone must learn.
        announce(engine, &engine.rooms().changes.get(&id)?)?;
    }
    let accepted = accepted?;
    log(
        engine,
        LogEvent::DiffAccepted {
            change_set: id,
            files: written(&accepted),
        },
    );
    report(engine, accepted)
}

pub fn reject(engine: &Engine, params: &ChangesRejectParams) -> Result<ChangesResult, RuntimeError> {
    let id = wanted(engine, params.id.as_ref())?;
    let rejected = engine.rooms().changes.reject(&id, &params.selection)?;
    log(
        engine,
        LogEvent::DiffRejected {
            change_set: id,
            files: rejected.change_set.files.len() as u64,
        },
    );
    report(engine, rejected)
}

pub fn undo(engine: &Engine, params: &ChangesUndoParams) -> Result<ChangesResult, RuntimeError> {
    let (changes, id) = (&engine.rooms().changes, params.id.as_ref());
    if params.dry_run {
        return Ok(result_of(with_limits(engine, changes.preview_undo(id)?)));
    }
    let undone = with_limits(engine, changes.undo(id)?);
    let change_set = undone.change_set.id.clone();
    log(
        engine,
        LogEvent::ChangesUndone {
            change_set,
            files: written(&undone),
        },
    );
    report(engine, undone)
}

/// Adds what an undo cannot take back. What was done counts as done, even if that cannot be found out.
fn with_limits(engine: &Engine, mut undone: Applied) -> Applied {
    match beyond_undo::note(engine, &undone.change_set) {
        Ok(note) => undone.notes.extend(note),
        Err(error) => engine.log_failure("changes.undo.note", &error),
    }
    undone
}

pub fn redo(engine: &Engine, params: &ChangesRedoParams) -> Result<ChangesResult, RuntimeError> {
    let redone = engine.rooms().changes.redo(params.id.as_ref())?;
    report(engine, redone)
}

fn log(engine: &Engine, event: LogEvent) {
    engine.rooms().sink.log(&event);
}

fn written(applied: &Applied) -> u64 {
    applied.files_written.len() as u64
}

pub fn file(engine: &Engine, params: &ChangesFileParams) -> Result<ChangesFileResult, RuntimeError> {
    let sides = engine.rooms().changes.sides(&params.id, &params.path)?;
    Ok(ChangesFileResult {
        before: sides.before,
        after: sides.after,
    })
}

/// The set that is named, or the newest one that waits for a decision.
fn wanted(engine: &Engine, id: Option<&ChangeSetId>) -> Result<ChangeSetId, RuntimeError> {
    if let Some(id) = id {
        return Ok(id.clone());
    }
    let sets = engine.rooms().changes.list(None)?;
    let newest = sets.into_iter().rfind(|set| set.status.is_open());
    newest.map(|set| set.id).ok_or_else(|| {
        RuntimeError::new(ErrorCode::ChangesNotFound, "No changes wait for review.")
            .action("`vibe-coder changes list` shows earlier ones; name one by its id.")
    })
}

fn report(engine: &Engine, applied: Applied) -> Result<ChangesResult, RuntimeError> {
    announce(engine, &applied.change_set)?;
    Ok(result_of(applied))
}

fn result_of(applied: Applied) -> ChangesResult {
    ChangesResult {
        change_set: applied.change_set,
        files_written: applied.files_written,
        notes: applied.notes,
    }
}

fn announce(engine: &Engine, set: &ChangeSet) -> Result<(), RuntimeError> {
    let sink = &engine.rooms().sink;
    sink.emit(
        Some(&set.session_id),
        EventBody::ChangeSetUpdated {
            change_set: set.clone(),
        },
        Durability::Full,
    )?;
    let session = engine.session(&set.session_id)?;
    engine.results_may_be_stale();
    if session.state() != SessionState::AwaitingDiffReview {
        return Ok(());
    }
    let decided = match set.status {
        ChangeSetStatus::Accepted => SessionInput::AllAccepted,
        ChangeSetStatus::Rejected => SessionInput::AllRejected,
        _ => return Ok(()),
    };
    session.transition(decided, None)?;
    session.transition(SessionInput::Settled, None).map(drop)
}
