//! `vibe-coder engine`: the wire contract on standard input and output. Ends when its input ends.

use engine::wire;
use protocol::RuntimeError;

use crate::{args::Common, connect, exit::Exit};

pub async fn run(common: Common) -> Result<Exit, RuntimeError> {
    let engine = connect::open(common)?;
    wire::serve(engine, tokio::io::stdin(), tokio::io::stdout()).await?;
    Ok(Exit::Done)
}
