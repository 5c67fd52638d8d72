//! Turns: send, cancel, and the user's answers to questions of a running turn.

use std::{sync::Arc, time::Duration};

use protocol::{
    ErrorCode, RuntimeError, SessionId, TurnId,
    request::{ApprovalAnswerParams, Done, TurnAccepted, TurnSendParams},
};
use tokio::sync::watch;

use super::sessions::UNTITLED;
use crate::{
    Engine,
    session::{Answer, RunningTurn},
    turn::{Turn, TurnRequest},
};

/// Characters of the first message that become the session's title.
const TITLE_LENGTH: usize = 60;

/// Checks everything that can be known now, then starts the turn and returns at once.
pub fn send(engine: &Engine, params: TurnSendParams) -> Result<TurnAccepted, RuntimeError> {
    if params.text.trim().is_empty() {
        return Err(
            RuntimeError::new(ErrorCode::RequestInvalid, "The message is empty.")
                .action("Say what you want to know or have done."),
        );
    }
    let session = engine.session(&params.session_id)?;
    let chosen = engine.rooms().models.choose(params.provider, params.model)?;
    // Once here, so that no title, no message and no record of it has a key that was pasted by mistake.
    let text = engine.rooms().sink.redactor().redact_values(&params.text);
    let request = TurnRequest {
        text: text.into_owned(),
        mode: params.mode,
        provider: chosen.provider,
        model: chosen.model,
        fallbacks: chosen.fallbacks,
        approvals: params.approvals,
        timeout: params.timeout_ms.map(Duration::from_millis),
    };
    let turn = Arc::new(Turn::new(
        engine.shared_rooms(),
        session.clone(),
        TurnId::mint(),
        &request,
    ));
    let (done, done_receiver) = watch::channel(false);
    let running = RunningTurn {
        cancel: turn.cancel.clone(),
        done: done_receiver,
    };
    if session.row().title == UNTITLED {
        session.set_title(&title_of(&request.text))?;
    }
    // From here on nothing may fail before the turn is under way: it holds the session.
    session.begin_turn(running)?;
    let turn_id = turn.id.clone();
    let its_engine = engine.clone();
    engine.spawn_turn(async move {
        turn.run(request).await;
        session.end_turn();
        its_engine.results_may_be_stale();
        // Nobody may be waiting.
        let _ = done.send(true);
    });
    Ok(TurnAccepted { turn_id })
}

fn title_of(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(TITLE_LENGTH) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line.to_owned(),
    }
}

/// Returns when the turn has ended; with none running there is nothing to do, which is fine.
pub async fn cancel(engine: &Engine, id: &SessionId) -> Result<Done, RuntimeError> {
    if let Some(mut turn) = engine.session(id)?.cancel()? {
        // The sender is dropped only after the turn has ended.
        let _ = turn.done.wait_for(|done| *done).await;
    }
    Ok(Done {})
}

pub fn answer(engine: &Engine, params: &ApprovalAnswerParams) -> Result<Done, RuntimeError> {
    let answer = Answer {
        decision: params.decision,
        scope: params.scope,
    };
    match engine
        .live_sessions()
        .iter()
        .any(|session| session.answer(&params.approval_id, answer))
    {
        true => Ok(Done {}),
        false => Err(
            RuntimeError::new(ErrorCode::RequestInvalid, "This question is no longer open.")
                .action("It was answered before, or its turn has ended."),
        ),
    }
}
