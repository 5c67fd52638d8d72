//! `vibe-coder changes`: the user's decisions.

use protocol::{
    ChangeSet, ChangeSetId, RuntimeError, SessionId,
    changes::Selection,
    request::{
        ChangesDecideParams, ChangesListParams, ChangesRedoParams, ChangesRejectParams, ChangesResult,
        ChangesShowParams, ChangesUndoParams,
    },
};

use crate::{
    args::{Changes, ChangesVerb, Common, Decide},
    connect,
    exit::Exit,
    output, show,
};

pub async fn run(common: Common, arguments: Changes) -> Result<Exit, RuntimeError> {
    let client = connect::client(common).await?;
    match arguments.verb {
        ChangesVerb::List { json, session } => {
            let session_id = session.map(SessionId::from_text);
            let sets = client.call(ChangesListParams { session_id }).await?.change_sets;
            match json {
                true => sets.iter().for_each(output::json),
                false if sets.is_empty() => output::line("No changes yet."),
                false => sets
                    .iter()
                    .for_each(|set| output::line(show::change_set_line(set))),
            }
            Ok(Exit::Done)
        }
        ChangesVerb::Show { id, json } => {
            let shown = client
                .call(ChangesShowParams {
                    id: id.map(ChangeSetId::from_text),
                })
                .await?;
            match json {
                true => output::json(&shown),
                false => {
                    output::line(show::change_set_card(&shown.change_set));
                    output::text(shown.diff);
                }
            }
            Ok(Exit::Done)
        }
        ChangesVerb::Accept(decide) => {
            let (id, selection, json) = decision(decide);
            let result = client.call(ChangesDecideParams { id, selection }).await?;
            Ok(report(&result, json, "Wrote"))
        }
        ChangesVerb::Reject(decide) => {
            let (id, selection, json) = decision(decide);
            let result = client.call(ChangesRejectParams { id, selection }).await?;
            Ok(report(&result, json, "Wrote"))
        }
        ChangesVerb::Undo { id, dry_run, json } => {
            let result = client
                .call(ChangesUndoParams {
                    id: id.map(ChangeSetId::from_text),
                    dry_run,
                })
                .await?;
            let verb = if dry_run { "Would restore" } else { "Restored" };
            Ok(report(&result, json, verb))
        }
        ChangesVerb::Redo { id, json } => {
            let result = client
                .call(ChangesRedoParams {
                    id: id.map(ChangeSetId::from_text),
                })
                .await?;
            Ok(report(&result, json, "Wrote"))
        }
    }
}

fn decision(decide: Decide) -> (Option<ChangeSetId>, Selection, bool) {
    let selection = match (decide.file, decide.hunk) {
        (Some(path), Some(number)) => Selection::Hunk { path, number },
        (Some(path), None) => Selection::File { path },
        (None, _) => Selection::All,
    };
    (decide.id.map(ChangeSetId::from_text), selection, decide.json)
}

fn report(result: &ChangesResult, json: bool, verb: &str) -> Exit {
    if json {
        output::json(result);
    } else {
        for path in &result.files_written {
            output::line(format!("{verb} {path}"));
        }
        result.notes.iter().for_each(output::note);
        output::line(show::change_set_line(&result.change_set));
    }
    exit_for(&result.change_set)
}

fn exit_for(set: &ChangeSet) -> Exit {
    if set.status.is_open() {
        Exit::NeedsReview
    } else {
        Exit::Done
    }
}
