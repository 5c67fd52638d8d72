//! `vibe-coder sessions`: earlier work.

use protocol::{
    RuntimeError, SessionId,
    request::{
        SessionExportParams, SessionListParams, SessionResumeParams, SessionSearchParams, SessionShowParams,
        SessionShowResult,
    },
};

use crate::{
    args::{Common, Sessions, SessionsVerb},
    connect,
    exit::Exit,
    output, show,
};

pub async fn run(common: Common, arguments: Sessions) -> Result<Exit, RuntimeError> {
    let client = connect::client(common).await?;
    match arguments.verb {
        SessionsVerb::List { json } => {
            let sessions = client.call(SessionListParams {}).await?.sessions;
            match json {
                true => sessions.iter().for_each(output::json),
                false if sessions.is_empty() => output::line("No sessions yet."),
                false => sessions
                    .iter()
                    .for_each(|session| output::line(show::session_line(session))),
            }
        }
        SessionsVerb::Show { id, json } => {
            print(
                &client
                    .call(SessionShowParams {
                        session_id: SessionId::from_text(id),
                    })
                    .await?,
                json,
            );
        }
        SessionsVerb::Resume { id, json } => {
            let resumed = client
                .call(SessionResumeParams {
                    session_id: SessionId::from_text(&id),
                })
                .await?;
            print(&resumed, json);
            if !json {
                output::note(format!("Go on with: vibe-coder exec --session {id} \"…\""));
            }
        }
        SessionsVerb::Export { id } => {
            let exported = client
                .call(SessionExportParams {
                    session_id: SessionId::from_text(id),
                })
                .await?;
            exported.records.iter().for_each(output::json);
        }
        SessionsVerb::Search { query, json, limit } => {
            let hits = client.call(SessionSearchParams { query, limit }).await?.hits;
            match json {
                true => hits.iter().for_each(output::json),
                false if hits.is_empty() => output::line("Nothing found."),
                false => hits.iter().for_each(|hit| {
                    output::line(format!("{}  {}  {}", hit.session_id, hit.title, hit.snippet))
                }),
            }
        }
    }
    Ok(Exit::Done)
}

fn print(shown: &SessionShowResult, json: bool) {
    if json {
        output::json(shown);
        return;
    }
    output::line(show::session_line(&shown.session));
    shown.notes.iter().for_each(output::note);
    for item in shown.timeline.iter().filter(|item| item.visible) {
        output::line(show::item(item));
    }
    for set in &shown.change_sets {
        output::line(show::change_set_card(set));
    }
}
