//! The project's checks on a person's request.

use protocol::{
    RuntimeError, SessionId,
    checks::{VerifyRunParams, VerifyRunResult},
    request::SessionStartParams,
};

use super::sessions;
use crate::{
    Engine,
    tools::command::By,
    turn::Turn,
    verification::{self, Wanted},
};

/// Returns when the last check has ended. With a proposal it is what is checked, else the whole workspace.
pub async fn run(engine: &Engine, params: VerifyRunParams) -> Result<VerifyRunResult, RuntimeError> {
    let session_id = match params.session_id {
        Some(id) => id,
        None => newest_open(engine)?,
    };
    let session = engine.session(&session_id)?;
    let rooms = engine.shared_rooms();
    let changed = verification::changed_of(&rooms, &session_id)?;
    let seconds = rooms.home.settings()?.checks.seconds;
    let turn = Turn::of_user(rooms, session, "Run the project's checks.");
    let wanted = Wanted {
        changed,
        reach: params.reach,
        by: By::User,
        reason: "You asked for it.".to_owned(),
        seconds,
    };
    let conclusion = verification::run(&turn, &wanted).await;
    // What a check wrote is reviewed as what any command wrote.
    turn.propose_beside()?;
    let (verified, results) = conclusion?.into_words();
    Ok(VerifyRunResult {
        session_id,
        verified,
        results,
    })
}

/// What a session is called that only checks.
const CHECKS: &str = "Checks";

/// The session of the newest changes that wait for review, else one that only checks.
fn newest_open(engine: &Engine) -> Result<SessionId, RuntimeError> {
    let sets = engine.rooms().changes.list(None)?;
    match sets.into_iter().rfind(|set| set.status.is_open()) {
        Some(set) => Ok(set.session_id),
        None => {
            let known = engine.rooms().store.sessions()?;
            match known.into_iter().find(|row| row.title == CHECKS) {
                Some(row) => Ok(row.id),
                None => {
                    let title = Some(CHECKS.to_owned());
                    Ok(sessions::start(engine, SessionStartParams { title })?.session_id)
                }
            }
        }
    }
}
