//! `vibe-coder verify`: the project's checks, and what may be said from them.

use protocol::{
    ErrorCode, EventBody, ItemKind, RuntimeError, SessionId,
    checks::{CheckReach, VerifiedState, VerifyRunParams},
    request::{EventsSubscribeParams, HelloParams, ShutdownParams},
};

use crate::{
    args::{Common, Verify},
    connect::{self, Connection, Ownership},
    exit::Exit,
    output, show,
};

pub async fn run(common: Common, arguments: Verify) -> Result<Exit, RuntimeError> {
    let Connection {
        client,
        mut events,
        ownership,
    } = connect::connect(common).await?;
    let from_seq = client.call(HelloParams {}).await?.last_seq;
    client.call(EventsSubscribeParams { from_seq }).await?;
    let params = VerifyRunParams {
        session_id: arguments.session.map(SessionId::from_text),
        reach: match arguments.focused {
            true => CheckReach::Focused,
            false => CheckReach::Broad,
        },
    };
    let mut answer = std::pin::pin!(client.call(params));
    let done = loop {
        tokio::select! {
            done = &mut answer => break done?,
            event = events.recv() => {
                let Some(event) = event else {
                    return Err(RuntimeError::new(ErrorCode::Interrupted, "The engine ended during a check.")
                        .action("Run `vibe-coder verify` again."));
                };
                if !arguments.json
                    && let EventBody::ItemCompleted { item } = &event.body
                    && let ItemKind::Command(_) = &item.kind
                {
                    output::note(show::item(item));
                }
            }
        }
    };
    if ownership == Ownership::Ours {
        client.call(ShutdownParams {}).await?;
    }
    match arguments.json {
        true => output::json(&done),
        false => {
            for result in &done.results {
                output::line(show::check(result));
            }
            output::line(&done.verified.text);
        }
    }
    Ok(match done.verified.state {
        VerifiedState::Passed => Exit::Done,
        VerifiedState::Failed | VerifiedState::NotVerified => Exit::Failed,
    })
}
