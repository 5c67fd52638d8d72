//! `vibe-coder context`: what the model would be shown of the repository, and why.

use std::path::Path;

use protocol::{
    ErrorCode, RuntimeError, TurnId,
    request::{
        ContextExplainParams, ContextExplainResult, ContextFile, ContextMark, ContextMarkParams,
        ContextMarksParams, ContextPackParams, ContextRankParams,
    },
};

use crate::{
    args::{Common, Context, ContextVerb, RequestText},
    connect,
    exit::Exit,
    output,
};

/// Omitted files that are named unless all are asked for.
const OMITTED_SHOWN: usize = 12;
/// Parts of a score that are named.
const PARTS_SHOWN: usize = 4;

pub async fn run(common: Common, arguments: Context) -> Result<Exit, RuntimeError> {
    let client = connect::client(common).await?;
    match arguments.verb {
        ContextVerb::Explain {
            request,
            json,
            max_tokens,
            active,
        } => {
            let explained = client
                .call(ContextExplainParams {
                    request: text_of(request)?,
                    active_file: active,
                    open_files: Vec::new(),
                    max_tokens,
                })
                .await?;
            match json {
                true => output::json(&explained),
                false => print(&explained),
            }
        }
        ContextVerb::Rank { request, json, limit } => {
            let ranked = client
                .call(ContextRankParams {
                    request: text_of(request)?,
                    limit,
                    max_tokens: None,
                })
                .await?;
            match json {
                true => output::json(&ranked.files),
                false => ranked.files.iter().for_each(|file| output::line(&file.path)),
            }
        }
        ContextVerb::Shown { turn, json } => {
            let pack = client
                .call(ContextPackParams {
                    turn_id: TurnId::from_text(turn),
                })
                .await?;
            match json {
                true => output::json(&pack),
                false => {
                    pack.shown.iter().for_each(|source| {
                        output::line(format!(
                            "{} (~{} tokens; {})",
                            source.label, source.estimated_tokens, source.reason
                        ));
                        output::line(&source.text);
                    });
                    pack.omitted.iter().for_each(|source| {
                        output::line(format!("not shown: {} ({})", source.label, source.reason));
                    });
                }
            }
        }
        ContextVerb::Pin { path } => mark(&client, path, ContextMark::Pinned).await?,
        ContextVerb::Exclude { path } => mark(&client, path, ContextMark::Excluded).await?,
        ContextVerb::Unmark { path } => mark(&client, path, ContextMark::None).await?,
        ContextVerb::Marks { json } => {
            let marks = client.call(ContextMarksParams {}).await?;
            match json {
                true => output::json(&marks),
                false if marks.pinned.is_empty() && marks.excluded.is_empty() => {
                    output::line("No file is pinned or excluded.");
                }
                false => {
                    marks
                        .pinned
                        .iter()
                        .for_each(|path| output::line(format!("pinned    {path}")));
                    marks
                        .excluded
                        .iter()
                        .for_each(|path| output::line(format!("excluded  {path}")));
                }
            }
        }
    }
    Ok(Exit::Done)
}

async fn mark(client: &engine::Client, path: String, mark: ContextMark) -> Result<(), RuntimeError> {
    client.call(ContextMarkParams { path, mark }).await?;
    Ok(())
}

fn text_of(request: RequestText) -> Result<String, RuntimeError> {
    match (request.request, request.file) {
        (Some(text), _) => Ok(text),
        (None, Some(file)) => read(&file),
        (None, None) => Err(
            RuntimeError::new(ErrorCode::RequestInvalid, "There is no request.")
                .action("Write it in quotes, or give a file with --file."),
        ),
    }
}

fn read(file: &Path) -> Result<String, RuntimeError> {
    std::fs::read_to_string(file).map_err(|error| {
        RuntimeError::new(
            ErrorCode::FileIo,
            format!("{} could not be read.", file.display()),
        )
        .because(error)
        .action("Check the path; the file must be UTF-8 text.")
    })
}

fn print(explained: &ContextExplainResult) {
    output::line(format!(
        "Would be shown: {} files, about {} of {} tokens",
        explained.included.len(),
        explained.estimated_tokens,
        explained.max_tokens
    ));
    explained.included.iter().for_each(file);
    if !explained.tests.is_empty() {
        output::line("\nTests that fit, shown apart:");
        explained.tests.iter().take(OMITTED_SHOWN).for_each(short);
    }
    if !explained.omitted.is_empty() {
        output::line("\nNot shown:");
        explained.omitted.iter().take(OMITTED_SHOWN).for_each(short);
        let more = explained.omitted.len().saturating_sub(OMITTED_SHOWN);
        if more > 0 {
            output::line(format!("  … and {more} more (--json names them)"));
        }
    }
    let state = match explained.index.complete {
        true => "",
        false => ", still being made",
    };
    output::line(format!("\nIndex: {} files{state}", explained.index.files));
    explained
        .index
        .left_out
        .iter()
        .for_each(|sentence| output::line(format!("  {sentence}")));
}

fn file(file: &ContextFile) {
    let ranges: Vec<String> = file
        .ranges
        .iter()
        .map(|(first, last)| format!("{first}-{last}"))
        .collect();
    output::line(format!(
        "  {:5.2}  {}:{}  ~{} tokens",
        file.score,
        file.path,
        ranges.join(","),
        file.estimated_tokens
    ));
    output::line(format!("         {}", file.reason));
    let parts: Vec<String> = file
        .parts
        .iter()
        .take(PARTS_SHOWN)
        .map(|part| format!("{} {:+.2}", part.factor, part.score))
        .collect();
    output::line(format!("         {}", parts.join("  ")));
}

fn short(file: &ContextFile) {
    output::line(format!("  {:5.2}  {}  ({})", file.score, file.path, file.reason));
}
