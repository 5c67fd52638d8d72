//! `vibe-coder memory`: what is remembered of the repository and of a session, shown and forgotten.

use protocol::{
    RuntimeError, SessionId,
    memory::{MemoryClearParams, MemoryEntry, MemoryShowParams},
};

use crate::{
    args::{Common, Memory, MemoryVerb},
    connect,
    exit::Exit,
    output,
};

pub async fn run(common: Common, arguments: Memory) -> Result<Exit, RuntimeError> {
    let client = connect::client(common).await?;
    match arguments.verb {
        MemoryVerb::Show { session, json } => {
            let session_id = session.map(SessionId::from_text);
            let memory = client.call(MemoryShowParams { session_id }).await?;
            if json {
                output::json(&memory);
                return Ok(Exit::Done);
            }
            if memory.repository.is_empty() && memory.session.is_empty() {
                output::line("Nothing is remembered.");
            }
            memory
                .repository
                .iter()
                .chain(&memory.session)
                .for_each(|entry| output::line(words(entry)));
            output::line(match memory.long_term {
                true => "Long-term memory: on.",
                false => "Long-term memory: off. Nothing is remembered beyond this workspace.",
            });
        }
        MemoryVerb::Clear { json } => {
            let cleared = client.call(MemoryClearParams {}).await?;
            match json {
                true => output::json(&cleared),
                false => output::line(format!(
                    "Forgot {} entries about the repository. They are found anew when a session begins.",
                    cleared.forgotten
                )),
            }
        }
    }
    Ok(Exit::Done)
}

fn words(entry: &MemoryEntry) -> String {
    format!("{} (from {})\n{}", entry.name, entry.because, entry.text)
}
