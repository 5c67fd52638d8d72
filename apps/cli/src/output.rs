//! The only place that prints. A reader that closed its end early ends the output, not the work.

use std::io::{Write, stderr, stdout};

use protocol::{ErrorCode, FilesChanged, RuntimeError};
use serde::Serialize;

use crate::exit::Exit;

/// Prints a line of the answer.
pub fn line(text: impl AsRef<str>) {
    let _ = writeln!(stdout().lock(), "{}", text.as_ref());
}

/// Prints part of a line, at once: streaming text.
pub fn text(text: impl AsRef<str>) {
    let mut out = stdout().lock();
    let _ = out.write_all(text.as_ref().as_bytes());
    let _ = out.flush();
}

/// Prints a JSON value as one line.
pub fn json(value: &impl Serialize) {
    let mut out = stdout().lock();
    if serde_json::to_writer(&mut out, value).is_ok() {
        let _ = out.write_all(b"\n");
    }
}

/// Says something about the run that is not its answer.
pub fn note(text: impl AsRef<str>) {
    let _ = writeln!(stderr().lock(), "{}", text.as_ref());
}

/// Prints an error with its answers to §27: what, why, what to do, files, retry.
pub fn error(error: &RuntimeError) {
    let mut lines = vec![format!("error: {} [{}]", error.message, error.code)];
    lines.extend(error.detail.as_ref().map(|detail| format!("  why: {detail}")));
    lines.extend(
        error
            .user_action
            .as_ref()
            .map(|action| format!("  what to do: {action}")),
    );
    lines.push(match &error.files_changed {
        FilesChanged::None => "  files changed: none".to_owned(),
        FilesChanged::Some(paths) => format!("  files changed: {}", paths.join(", ")),
        FilesChanged::Unknown => "  files changed: not known".to_owned(),
    });
    lines.push(format!(
        "  retry: {}",
        if error.retryable {
            "yes"
        } else {
            "not without a change"
        }
    ));
    note(lines.join("\n"));
}

/// The end of a run that could not do what it was asked.
pub fn fatal(failure: &RuntimeError) -> Exit {
    error(failure);
    match failure.code {
        ErrorCode::UsageInvalid => Exit::Usage,
        ErrorCode::Cancelled => Exit::Cancelled,
        _ => Exit::Failed,
    }
}
