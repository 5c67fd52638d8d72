//! Serves any number of clients on a socket in the user's own folder, until told to end. A client that leaves cancels
//! nothing.

use std::{
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use protocol::{ContextId, EventEnvelope, RuntimeError};
use serde::Serialize;
use store::DataHome;
use tokio::{
    net::{UnixListener, UnixStream},
    sync::mpsc,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Client, Engine,
    wire::{self, Conversation, Ended},
};

/// How long clients may take to read what is left for them at the end.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What whoever started the engine needs to know to reach it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    pub socket: PathBuf,
    pub context_id: ContextId,
    pub version: String,
}

/// Listens, says that it does, and serves until `until` is over or a client asks for shutdown. Running turns are
/// cancelled then, and nothing they started is left.
///
/// # Errors
/// There is no place to listen at.
pub async fn listen(
    engine: Engine,
    ready: impl FnOnce(&Ready),
    until: impl Future<Output = ()>,
) -> Result<(), RuntimeError> {
    let rooms = engine.rooms();
    let runtime = rooms.environment.get("XDG_RUNTIME_DIR").map(Path::new);
    let endpoint = rooms.store.endpoint(runtime)?;
    let listener = UnixListener::bind(endpoint.socket()).map_err(RuntimeError::internal)?;
    endpoint.announce()?;
    ready(&Ready {
        socket: endpoint.socket().to_owned(),
        context_id: rooms.store.context_id().clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    });
    let owner = endpoint.socket().metadata().map_or(0, |socket| socket.uid());
    let closing = CancellationToken::new();
    let mut conversations = JoinSet::new();
    tokio::pin!(until);
    loop {
        tokio::select! {
            () = &mut until => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) if is_own(&stream, owner) => {
                    conversations.spawn(converse(engine.clone(), stream, closing.clone()));
                }
                Ok(_) => {}
                Err(error) => {
                    engine.log_failure("listen.accept", &RuntimeError::internal(&error));
                    // Out of descriptors, most likely: one must end before the next can begin.
                    if conversations.join_next().await.is_none() {
                        break;
                    }
                }
            },
            Some(ended) = conversations.join_next() => {
                if matches!(ended, Ok(Ended::OnRequest)) {
                    break;
                }
            }
        }
    }
    // First, so that clients still hear how their turns ended.
    engine.shutdown().await;
    closing.cancel();
    let last_words = async { while conversations.join_next().await.is_some() {} };
    if tokio::time::timeout(LAST_WORDS, last_words).await.is_err() {
        // A client that does not read cannot keep the engine from ending.
        conversations.abort_all();
    }
    Ok(())
}

async fn converse(engine: Engine, stream: UnixStream, closing: CancellationToken) -> Ended {
    let (input, output) = stream.into_split();
    let conversation = Conversation::Shared { closing };
    match wire::converse(engine.clone(), input, output, conversation).await {
        Ok(ended) => ended,
        Err(error) => {
            engine.log_failure("listen.converse", &error);
            Ended::ByClient
        }
    }
}

/// The folder keeps others out already; this holds where somebody opened it to them.
fn is_own(stream: &UnixStream, owner: u32) -> bool {
    stream
        .peer_cred()
        .is_ok_and(|peer| peer.uid() == owner || peer.uid() == 0)
}

/// Connects to the engine that has the workspace open and listens. `None` where there is none: a record of one that
/// has ended leads nowhere.
pub async fn attach(
    home: &DataHome,
    workspace: &Path,
) -> Result<Option<(Client, mpsc::Receiver<EventEnvelope>)>, RuntimeError> {
    let Ok(Some(socket)) = home.endpoint_of(workspace) else {
        return Ok(None);
    };
    match UnixStream::connect(&socket).await {
        Ok(stream) => {
            let (input, output) = stream.into_split();
            Ok(Some(Client::connect(input, output)))
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(RuntimeError::internal(error)),
        Err(_) => Ok(None),
    }
}
