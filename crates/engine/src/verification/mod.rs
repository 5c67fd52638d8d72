//! Verification (§28.3): which checks a change needs, running them, and what may be said from their results. A result
//! is bound to the exact files it was seen on; when those change it is shown as stale, and nothing is claimed from it.
//!
//! Owns no way of running anything: a check goes the way of every command, with its policy, card and harvest.

mod evidence;
mod fingerprint;
pub mod project;
mod repair;
mod words;

use std::time::Duration;

use checks::Check;
use process::{
    display::Colour,
    runner::{CommandEnd, Outcome as Ending},
};
use protocol::{
    ArtifactRef, ErrorCode, ItemKind, ItemStatus, RuntimeError, SessionId, ToolCallId,
    checks::{CheckFailure, CheckKind, CheckReach, VerificationItem, Verified, VerifiedState},
    commands::{CommandLifetime, CommandTerminal},
    timeline::CommandItem,
};
use store::{Durability, log::LogEvent};
use workspace::never;

pub use self::{
    fingerprint::Fingerprints,
    repair::{Next, Repairs, after_answer},
};
use self::{fingerprint::TreeName, project::Shown};
use crate::{
    rooms::Rooms,
    tools::command::{self, Asked, By, Purpose},
    turn::Turn,
};

/// The end of a log that is read for results.
const LARGEST_OUTPUT: u64 = 4 * 1024 * 1024;

/// The name of the files as they are, of which every kept result is told. Blocks.
pub fn tree_now(rooms: &Rooms, session: &SessionId) -> Result<TreeName, RuntimeError> {
    let overlay = rooms.changes.overlay(session)?;
    let tree = rooms.fingerprints.of(&rooms.workspace, &overlay, &never)?;
    evidence::compare(rooms, session, &tree)?;
    Ok(tree)
}

/// The same from an asynchronous place.
pub async fn look(turn: &Turn) -> Result<TreeName, RuntimeError> {
    let (rooms, session) = (turn.rooms.clone(), turn.session.id.clone());
    tokio::task::spawn_blocking(move || tree_now(&rooms, &session))
        .await
        .map_err(RuntimeError::internal)?
}

/// Files or drafts changed: results that no longer hold are told. What goes wrong costs only that; it is looked at again
/// before anything is claimed. Blocks.
pub fn refresh(rooms: &Rooms, session: &SessionId) {
    let known = evidence::of_session(rooms, session).is_ok_and(|known| !known.is_empty());
    if known && let Err(error) = tree_now(rooms, session) {
        rooms.log_failure("verification.refresh", &error);
    }
}

/// A check that has ended.
pub struct Seen<'a> {
    /// The files it began on.
    pub before: TreeName,
    pub purpose: &'a Purpose,
    pub command: &'a CommandItem,
    pub end: &'a CommandEnd,
    pub log: &'a ArtifactRef,
}

/// Makes a result of a check's end, bound to the files it ran on, and keeps it.
pub async fn seen(turn: &Turn, check: Seen<'_>) -> Result<(), RuntimeError> {
    let passed = check.end.outcome == Ending::Passed;
    let was_ended = turn.cancel.is_cancelled() || check.end.not_entered.is_some();
    if was_ended {
        return Ok(());
    }
    let output = whole_output(turn, &check)?;
    let report = checks::read(&turn.rooms.sink.redactor().redact_values(&output));
    let after = look(turn).await?;
    let duration_ms = u64::try_from(check.end.duration.as_millis()).unwrap_or(u64::MAX);
    let result = VerificationItem {
        command: check.command.command.clone(),
        cwd: check.command.cwd.clone(),
        kind: kind(checks::kind_of(&check.command.command)),
        exit_code: check.end.exit_code,
        summary: words::summary(
            report.as_ref(),
            check.end.exit_code,
            &end_in_words(check.end),
            passed,
        ),
        reason: match check.purpose {
            Purpose::Work => "The assistant ran it.".to_owned(),
            Purpose::Check { reason } => reason.clone(),
        },
        passed: report.as_ref().and_then(|report| report.passed),
        failed: report.as_ref().and_then(|report| report.failed),
        skipped: report.as_ref().and_then(|report| report.skipped),
        failures: failures(turn, report, &check.command.cwd)?,
        command_id: Some(check.command.command_id.clone()),
        finished_at: Some(turn.rooms.sink.now()),
        duration_ms: Some(duration_ms),
        stale: (after.hash != check.before.hash).then(|| "Files changed while it ran.".to_owned()),
        tree_hash: check.before.hash,
    };
    turn.log(&LogEvent::VerificationCompleted {
        command: check.command.command_id.clone(),
        tree_hash: result.tree_hash.clone(),
        passed,
        duration_ms,
    });
    let status = match passed {
        true => ItemStatus::Succeeded,
        false => ItemStatus::Failed,
    };
    let item = turn.start_item(ItemKind::Verification(result))?;
    let kept = protocol::TimelineItem {
        status,
        ..item.clone()
    };
    turn.complete_item(item, status, Durability::Normal)?;
    evidence::keep(&turn.rooms, &kept)
}

/// The card keeps both ends of an output; results may stand between them.
fn whole_output(turn: &Turn, check: &Seen<'_>) -> Result<String, RuntimeError> {
    if check.end.output.omitted_bytes == 0 {
        return Ok(check.end.output.text(Colour::Drop));
    }
    let skipped = check.log.size_bytes.saturating_sub(LARGEST_OUTPUT);
    let (bytes, _) = turn
        .rooms
        .store
        .read_artifact(&check.log.id, skipped, LARGEST_OUTPUT)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn failures(
    turn: &Turn,
    report: Option<checks::Report>,
    folder: &str,
) -> Result<Vec<CheckFailure>, RuntimeError> {
    let overlay = turn.rooms.changes.overlay(&turn.session.id)?;
    let shown = Shown {
        workspace: &turn.rooms.workspace,
        overlay: &overlay,
    };
    let failures = report.map(|report| report.failures).unwrap_or_default();
    Ok(failures
        .into_iter()
        .map(|failure| CheckFailure {
            name: failure.name,
            file: failure.file.map(|file| shown.place(&file, folder)),
            line: failure.line,
            message: failure.message,
        })
        .collect())
}

fn kind(kind: checks::Kind) -> CheckKind {
    match kind {
        checks::Kind::Test => CheckKind::Tests,
        checks::Kind::Types => CheckKind::Types,
        checks::Kind::Lint => CheckKind::Lint,
    }
}

fn end_in_words(end: &CommandEnd) -> String {
    match (end.exit_code, end.signal) {
        _ if end.state == protocol::CommandState::TimedOut => {
            format!(
                "ended at its time limit after {:.0} s",
                end.duration.as_secs_f64()
            )
        }
        (Some(0), _) => "exit 0, but a part of it failed or is not known".to_owned(),
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended without a status".to_owned(),
    }
}

/// What running the chosen checks came to.
pub enum Conclusion {
    Passed(Vec<VerificationItem>),
    Failed(Box<VerificationItem>, Vec<VerificationItem>),
    Unknown {
        because: String,
        results: Vec<VerificationItem>,
    },
}

impl Conclusion {
    pub fn into_words(self) -> (Verified, Vec<VerificationItem>) {
        match self {
            Conclusion::Passed(results) => (words::passed(&results), results),
            Conclusion::Failed(failed, mut results) => {
                let verified = words::failed(&failed);
                results.push(*failed);
                (verified, results)
            }
            Conclusion::Unknown { because, results } => (words::not_verified(&because), results),
        }
    }
}

/// What is run, who wants it, and why.
pub struct Wanted {
    pub changed: Vec<String>,
    pub reach: CheckReach,
    pub by: By,
    pub reason: String,
    pub seconds: u32,
}

/// Runs the checks of a change, narrow before wide, up to the first that fails. A result that holds already is taken
/// instead of running its check again.
pub async fn run(turn: &Turn, wanted: &Wanted) -> Result<Conclusion, RuntimeError> {
    let chosen = choose(turn, wanted).await?;
    let mut results = Vec::new();
    if chosen.is_empty() {
        return Ok(match holding(turn, None).await? {
            Some((result, true)) => Conclusion::Passed(vec![result]),
            _ => Conclusion::Unknown {
                because: "no way to check this project is known. Tell the assistant which command does, or run it yourself."
                    .to_owned(),
                results,
            },
        });
    }
    for check in &chosen {
        match result_of(turn, check, wanted).await? {
            Ok((result, true)) => results.push(result),
            Ok((result, false)) if result.stale.is_some() => {
                let stale = result.stale.clone().unwrap_or_default();
                let because = format!("{}: {stale} Run it again.", words::in_folder(&result));
                results.push(result);
                return Ok(Conclusion::Unknown { because, results });
            }
            Ok((result, false)) => return Ok(Conclusion::Failed(Box::new(result), results)),
            Err(because) => return Ok(Conclusion::Unknown { because, results }),
        }
    }
    Ok(Conclusion::Passed(results))
}

/// The paths that a session proposes to change.
pub fn changed_of(rooms: &Rooms, session: &SessionId) -> Result<Vec<String>, RuntimeError> {
    let set = rooms.changes.open_set(session)?;
    Ok(set.map(|set| project::changed_paths(&set)).unwrap_or_default())
}

async fn choose(turn: &Turn, wanted: &Wanted) -> Result<Vec<Check>, RuntimeError> {
    let (rooms, session) = (turn.rooms.clone(), turn.session.id.clone());
    let (changed, reach) = (wanted.changed.clone(), wanted.reach);
    tokio::task::spawn_blocking(move || {
        let overlay = rooms.changes.overlay(&session)?;
        let shown = Shown {
            workspace: &rooms.workspace,
            overlay: &overlay,
        };
        let mut chosen = shown.checks(&changed);
        let has_focused = chosen.iter().any(|check| check.reach == checks::Reach::Focused);
        if reach == CheckReach::Focused && has_focused {
            chosen.retain(|check| check.reach == checks::Reach::Focused);
        }
        Ok(chosen)
    })
    .await
    .map_err(RuntimeError::internal)?
}

/// The newest result that holds: of one check, or of any that tests. With it, whether it passed.
async fn holding(
    turn: &Turn,
    check: Option<&Check>,
) -> Result<Option<(VerificationItem, bool)>, RuntimeError> {
    if evidence::of_session(&turn.rooms, &turn.session.id)?.is_empty() {
        return Ok(None);
    }
    // Of every result it is told here whether it holds.
    look(turn).await?;
    let known = evidence::of_session(&turn.rooms, &turn.session.id)?;
    let found = known.into_iter().rev().find_map(|evidence| {
        let result = evidence.result()?;
        let wanted = match check {
            Some(check) => is_of(result, check),
            None => result.kind == CheckKind::Tests,
        };
        (wanted && result.stale.is_none()).then(|| (result.clone(), evidence.passed()))
    });
    Ok(found)
}

fn is_of(result: &VerificationItem, check: &Check) -> bool {
    let folder = |folder: &str| folder.trim_matches('.').trim_start_matches('/').to_owned();
    checks::is_same_check(&result.command, &check.command) && folder(&result.cwd) == folder(&check.folder)
}

/// A result with whether it passed; in words, why there is none.
type Ran = Result<(VerificationItem, bool), String>;

async fn result_of(turn: &Turn, check: &Check, wanted: &Wanted) -> Result<Ran, RuntimeError> {
    if let Some((known, passed)) = holding(turn, Some(check)).await? {
        // A person who asks again may have mended something that is no file, as a server that was down.
        if passed || wanted.by == By::Model {
            return Ok(Ok((known, passed)));
        }
    }
    // A check that writes files, as a first build its lock file, has run on other files than there are now: once more.
    for _ in 0..2 {
        let asked = Asked {
            command: check.command.clone(),
            cwd: (!check.folder.is_empty()).then(|| check.folder.clone()),
            timeout_seconds: Some(wanted.seconds),
            lifetime: CommandLifetime::Awaited,
            terminal: CommandTerminal::None,
            by: wanted.by,
            purpose: Purpose::Check {
                reason: wanted.reason.clone(),
            },
        };
        let call = ToolCallId(format!("check_{}", protocol::CommandId::mint()));
        if let Err(error) = command::run_check(turn, &call, asked).await? {
            if error.code == ErrorCode::Cancelled || turn.cancel.is_cancelled() {
                return Err(RuntimeError::cancelled());
            }
            let mut because = format!("`{}` was not run: {}", check.command, error.message);
            if let Some(detail) = error.detail {
                because.push_str(&format!(" {detail}"));
            }
            return Ok(Err(because));
        }
        if let Some(result) = holding(turn, Some(check)).await? {
            return Ok(Ok(result));
        }
    }
    let known = evidence::of_session(&turn.rooms, &turn.session.id)?;
    let stale = known
        .into_iter()
        .rev()
        .filter_map(|evidence| evidence.result().cloned())
        .find(|result| is_of(result, check));
    Ok(match stale {
        Some(result) => Ok((result, false)),
        None => Err(format!("`{}` ended without a result.", check.command)),
    })
}

/// The run_checks tool.
pub async fn for_model(turn: &Turn, reach: CheckReach) -> Result<crate::tools::Outcome, RuntimeError> {
    let changed = changed_of(&turn.rooms, &turn.session.id)?;
    let wanted = Wanted {
        changed,
        reach,
        by: By::Model,
        reason: "The assistant asked for the project's checks.".to_owned(),
        seconds: turn.rooms.home.settings()?.checks.seconds,
    };
    let (verified, results) = run(turn, &wanted).await?.into_words();
    let mut content = String::new();
    for result in &results {
        let took = Duration::from_millis(result.duration_ms.unwrap_or_default());
        content.push_str(&words::for_model(result, took));
        content.push('\n');
    }
    if verified.state == VerifiedState::NotVerified {
        content.push_str(&verified.text);
    }
    Ok(crate::tools::Outcome::new(content, verified.text))
}
