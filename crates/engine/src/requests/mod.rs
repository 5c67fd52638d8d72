//! What each request of the wire contract does. Grouped as the contract is; every function validates, works, and
//! returns a typed result or a typed error.

mod changes;
mod commands;
mod context;
mod files;
mod git;
mod sessions;
mod settings;
mod turns;
mod ui;
mod verify;

use protocol::{
    RuntimeError,
    request::{ArtifactReadParams, ArtifactReadResult, Done, HelloResult, Request},
};
use serde::Serialize;
use serde_json::Value;

use crate::{Engine, memory, providers};

/// The most of an artifact that one request returns.
const MAX_ARTIFACT_READ: u64 = 1024 * 1024;

pub async fn handle(engine: &Engine, request: Request) -> Result<Value, RuntimeError> {
    match request {
        Request::Hello(_) => value(hello(engine)?),
        Request::SessionStart(params) => value(sessions::start(engine, params)?),
        Request::SessionList(_) => value(sessions::list(engine)?),
        Request::SessionShow(params) => value(sessions::show(engine, &params.session_id)?),
        Request::SessionResume(params) => value(sessions::resume(engine, &params.session_id)?),
        Request::SessionSearch(params) => value(sessions::search(engine, &params)?),
        Request::SessionExport(params) => value(sessions::export(engine, &params.session_id)?),
        Request::TurnSend(params) => value(turns::send(engine, params)?),
        Request::TurnCancel(params) => value(turns::cancel(engine, &params.session_id).await?),
        Request::ApprovalAnswer(params) => value(turns::answer(engine, &params)?),
        Request::ChangesList(params) => {
            value(blocking(engine, move |engine| changes::list(engine, &params)).await?)
        }
        Request::ChangesShow(params) => {
            value(blocking(engine, move |engine| changes::show(engine, &params)).await?)
        }
        Request::ChangesAccept(params) => {
            value(blocking(engine, move |engine| changes::accept(engine, &params)).await?)
        }
        Request::ChangesReject(params) => {
            value(blocking(engine, move |engine| changes::reject(engine, &params)).await?)
        }
        Request::ChangesUndo(params) => {
            value(blocking(engine, move |engine| changes::undo(engine, &params)).await?)
        }
        Request::ChangesRedo(params) => {
            value(blocking(engine, move |engine| changes::redo(engine, &params)).await?)
        }
        Request::ArtifactRead(params) => {
            value(blocking(engine, move |engine| artifact(engine, &params)).await?)
        }
        Request::ChangesFile(params) => {
            value(blocking(engine, move |engine| changes::file(engine, &params)).await?)
        }
        Request::ContextExplain(params) => {
            value(blocking(engine, move |engine| context::explain(engine, &params)).await?)
        }
        Request::ContextRank(params) => {
            value(blocking(engine, move |engine| context::rank(engine, &params)).await?)
        }
        Request::ContextPack(params) => {
            value(blocking(engine, move |engine| context::pack(engine, &params)).await?)
        }
        Request::ContextMark(params) => {
            value(blocking(engine, move |engine| context::mark(engine, &params)).await?)
        }
        Request::ContextMarks(_) => value(blocking(engine, context::marks).await?),
        Request::CommandStop(params) => value(commands::stop(engine, &params)?),
        Request::CommandRun(params) => value(commands::run(engine, params).await?),
        Request::VerifyRun(params) => value(verify::run(engine, params).await?),
        Request::CommandList(_) => value(commands::list(engine)),
        Request::CommandInput(params) => {
            value(blocking(engine, move |engine| commands::input(engine, &params)).await?)
        }
        Request::ApprovalsList(_) => value(commands::rules(engine)),
        Request::ApprovalsAdd(params) => {
            value(blocking(engine, move |engine| commands::add_rule(engine, params)).await?)
        }
        Request::ApprovalsRevoke(params) => {
            value(blocking(engine, move |engine| commands::revoke_rule(engine, &params)).await?)
        }
        Request::SessionRename(params) => value(sessions::rename(engine, &params)?),
        Request::SessionRestore(params) => value(sessions::restore(engine, &params)?),
        Request::FilesList(params) => {
            value(blocking(engine, move |engine| files::list(engine, &params)).await?)
        }
        Request::FilesRead(params) => {
            value(blocking(engine, move |engine| files::read(engine, &params)).await?)
        }
        Request::FilesSave(params) => {
            value(blocking(engine, move |engine| files::save(engine, &params)).await?)
        }
        Request::FilesChange(params) => {
            value(blocking(engine, move |engine| files::change(engine, &params)).await?)
        }
        Request::FilesUndo(params) => {
            value(blocking(engine, move |engine| files::undo(engine, &params)).await?)
        }
        Request::FilesFind(params) => {
            value(blocking(engine, move |engine| files::find(engine, &params)).await?)
        }
        Request::FilesSearch(params) => {
            value(blocking(engine, move |engine| files::search(engine, &params)).await?)
        }
        Request::GitStatus(_) => value(blocking(engine, git::status).await?),
        Request::GitShow(params) => value(blocking(engine, move |engine| git::show(engine, &params)).await?),
        Request::MemoryShow(params) => {
            // One that does not exist is an error, not a session of which nothing is known.
            params
                .session_id
                .as_ref()
                .map(|id| engine.session(id))
                .transpose()?;
            value(blocking(engine, move |engine| memory::show(engine.shared_rooms(), &params)).await?)
        }
        Request::MemoryClear(_) => value(memory::clear(engine.rooms())?),
        Request::SettingsGet(params) => {
            value(blocking(engine, move |engine| settings::get(engine, &params)).await?)
        }
        Request::SettingsSet(params) => {
            value(blocking(engine, move |engine| settings::set(engine, params)).await?)
        }
        Request::ProvidersList(_) => value(providers::list_of(&engine.rooms().models).await?),
        Request::ProvidersHealth(_) => {
            value(blocking(engine, |engine| engine.rooms().models.health()).await?)
        }
        Request::UiLoad(params) => value(blocking(engine, move |engine| ui::load(engine, &params)).await?),
        Request::UiSave(params) => value(blocking(engine, move |engine| ui::save(engine, params)).await?),
        // These belong to the connection; over any other door there is nothing to do.
        Request::EventsSubscribe(_) | Request::FilesWatch(_) | Request::Shutdown(_) => value(Done {}),
    }
}

fn value(result: impl Serialize) -> Result<Value, RuntimeError> {
    serde_json::to_value(result).map_err(RuntimeError::internal)
}

/// For work that waits on the disk.
async fn blocking<T: Send + 'static>(
    engine: &Engine,
    work: impl FnOnce(&Engine) -> Result<T, RuntimeError> + Send + 'static,
) -> Result<T, RuntimeError> {
    let engine = engine.clone();
    tokio::task::spawn_blocking(move || work(&engine))
        .await
        .map_err(RuntimeError::internal)?
}

fn hello(engine: &Engine) -> Result<HelloResult, RuntimeError> {
    let rooms = engine.rooms();
    Ok(HelloResult {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        context_id: rooms.store.context_id().clone(),
        workspace: rooms.workspace.root().display().to_string(),
        last_seq: rooms.sink.last_seq()?,
        recovered: engine.recovered().to_vec(),
    })
}

fn artifact(engine: &Engine, params: &ArtifactReadParams) -> Result<ArtifactReadResult, RuntimeError> {
    let max = params
        .max_bytes
        .unwrap_or(MAX_ARTIFACT_READ)
        .min(MAX_ARTIFACT_READ);
    let (bytes, size) = engine
        .rooms()
        .store
        .read_artifact(&params.id, params.offset, max)?;
    Ok(ArtifactReadResult {
        text: String::from_utf8_lossy(&bytes).into_owned(),
        size,
        next_offset: params.offset + bytes.len() as u64,
    })
}
