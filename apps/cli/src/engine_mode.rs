//! `vibe-coder engine`: the wire contract on standard input and output, or with `--listen` on a socket for any number
//! of clients. Either way it ends when its input ends, so that it never outlives who started it.

use engine::{
    listen::{self, Ready},
    wire,
};
use protocol::RuntimeError;
use serde::Serialize;
use tokio::{
    io::AsyncReadExt,
    signal::unix::{SignalKind, signal},
};

use crate::{
    args::{Common, EngineMode},
    connect,
    exit::Exit,
    output,
};

/// The one line that `--listen` prints.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum FirstLine<'a> {
    Ready(&'a Ready),
    Failed(&'a RuntimeError),
}

pub async fn run(common: Common, mode: EngineMode) -> Result<Exit, RuntimeError> {
    if mode.listen {
        return Ok(serve_all(common).await);
    }
    let engine = connect::open(common)?;
    wire::serve(engine, tokio::io::stdin(), tokio::io::stdout()).await?;
    Ok(Exit::Done)
}

async fn serve_all(common: Common) -> Exit {
    let mut told = false;
    let served = async {
        let end = end_of_life()?;
        let engine = connect::open(common)?;
        let ready = |ready: &Ready| {
            told = true;
            output::json(&FirstLine::Ready(ready));
        };
        listen::listen(engine, ready, end).await
    };
    match served.await {
        Ok(()) => Exit::Done,
        Err(error) => {
            if told {
                output::error(&error);
            } else {
                output::json(&FirstLine::Failed(&error));
            }
            Exit::Failed
        }
    }
}

/// Over when standard input ends, or when we are asked to end by a signal.
fn end_of_life() -> Result<impl Future<Output = ()>, RuntimeError> {
    let listen = |kind| signal(kind).map_err(RuntimeError::internal);
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let mut hangup = listen(SignalKind::hangup())?;
    Ok(async move {
        let input_ends = async {
            let mut input = tokio::io::stdin();
            let mut ignored = [0; 256];
            while input.read(&mut ignored).await.is_ok_and(|count| count > 0) {}
        };
        tokio::select! {
            () = input_ends => {}
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}
