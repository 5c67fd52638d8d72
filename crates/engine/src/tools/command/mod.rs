//! The run_command tool: where a command runs, whether it may, its card while it runs, and what the model is told.

mod approval;
mod beside;
mod card;
mod place;
mod repository;

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};

use process::{
    display::Colour,
    policy::{self, CommandClass, Grant, PolicyContext},
    runner::{self, CommandEnd, CommandEvent, Outcome as Ending, RunOptions, Terminal},
};
use protocol::{
    ArtifactRef, CommandId, ErrorCode, RuntimeError, ToolCallId,
    commands::{CommandLifetime, CommandTerminal, RunningCommand},
    tool::ArtifactKind,
};
use serde_json::json;
use store::{ArtifactWriter, redact::RedactedBytes};

use self::{card::Card, place::Place};
use super::{
    catalogue::RunCommand,
    outcome::{Outcome, ToolOutcome},
};
use crate::{
    login::Resolved,
    session::SessionInput,
    turn::{Turn, beside::Standing},
    verification,
};

const DEFAULT_LIMIT: Duration = Duration::from_secs(120);
const LONGEST_LIMIT: Duration = Duration::from_secs(1_800);
/// Characters of output that the model is given: more of the end, where failures are.
const MODEL_HEAD: usize = 4_000;
const MODEL_TAIL: usize = 12_000;

pub use beside::{check, run_for_user};

/// How long a command prints nothing and does nothing before its card says that it seems to wait.
const QUIET: Duration = Duration::from_secs(10);

/// A command as somebody wants it run.
pub struct Asked {
    pub command: String,
    pub cwd: Option<String>,
    pub timeout_seconds: Option<u32>,
    pub lifetime: CommandLifetime,
    pub terminal: CommandTerminal,
    pub by: By,
    pub purpose: Purpose,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    Work,
    /// To find out whether the files are right. Its end is kept as a result.
    Check {
        reason: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Model,
    /// Who runs a command has said yes to it.
    User,
}

impl From<RunCommand> for Asked {
    fn from(arguments: RunCommand) -> Self {
        Self {
            command: arguments.command,
            cwd: arguments.cwd,
            timeout_seconds: arguments.timeout_seconds,
            lifetime: match arguments.background {
                true => CommandLifetime::Background,
                false => CommandLifetime::Awaited,
            },
            terminal: match arguments.terminal {
                true => CommandTerminal::Own,
                false => CommandTerminal::None,
            },
            by: By::Model,
            purpose: Purpose::Work,
        }
    }
}

/// Told when a command has its card, and then when it runs.
type Progress = Box<dyn FnMut(&CommandId, Step) + Send>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Carded,
    Started,
}

/// An `Err` of the outer kind means that the card itself could not be recorded.
pub async fn run(turn: &Turn, call: &ToolCallId, arguments: RunCommand) -> Result<ToolOutcome, RuntimeError> {
    let asked = Asked::from(arguments);
    match asked.lifetime {
        CommandLifetime::Awaited => run_to_end(turn, call, asked, Box::new(|_, _| {})).await,
        CommandLifetime::Background => Ok(beside::start(turn, call, asked).await),
    }
}

/// Runs a check that the engine chose.
pub async fn run_check(turn: &Turn, call: &ToolCallId, asked: Asked) -> Result<ToolOutcome, RuntimeError> {
    run_to_end(turn, call, asked, Box::new(|_, _| {})).await
}

async fn run_to_end(
    turn: &Turn,
    call: &ToolCallId,
    asked: Asked,
    mut progress: Progress,
) -> Result<ToolOutcome, RuntimeError> {
    let mut card = Card::open(turn, call, &asked)?;
    progress(card.id(), Step::Carded);
    let done = attempt(turn, call, asked, &mut card, progress).await;
    match &done {
        Ok(_) => {}
        Err(error) if !card.has_ended() => card.refuse(error)?,
        Err(_) => {}
    }
    card.close()?;
    Ok(done)
}

async fn attempt(
    turn: &Turn,
    call: &ToolCallId,
    asked: Asked,
    card: &mut Card<'_>,
    progress: Progress,
) -> ToolOutcome {
    let login = turn.rooms.login.clone();
    let Resolved { environment, note } = tokio::task::spawn_blocking(move || login.resolved())
        .await
        .map_err(RuntimeError::internal)?;
    let mut place = Place::find(turn, asked.cwd.as_deref(), &environment).await?;
    place.notes.extend(note);
    let judge = |place: &Place| {
        // The repository's code runs unasked only where it can do no harm.
        let checks = match place.is_unprotected() {
            true => policy::Checks::Ask,
            false => policy::Checks::Allow,
        };
        let mut context = PolicyContext::new(&place.root, &place.cwd)
            .reach(turn.mode)
            .checks(checks)
            .environment(&environment);
        for root in &place.linked_roots {
            context = context.linked_root(root);
        }
        let rules = turn.rooms.rules.holding(&turn.session.id, place.rule_place());
        policy::judge(&asked.command, &context).under(&rules)
    };
    let verdict = judge(&place);
    approval::refuse_hopeless(&verdict)?;
    // A copy costs time, so it is made only for a command that may still run. There, paths mean other places.
    let verdict = match place.is_unprotected() && !approval::is_denied(turn, &verdict) {
        true => {
            place.copy(turn).await?;
            judge(&place)
        }
        false => verdict,
    };
    if verdict.changes_repository() && !place.is_unprotected() {
        place.isolation.push_str(", and may write .git");
    }
    card.place(&place);
    let class = verdict.class();
    turn.rooms.rules.used(verdict.decided_by());
    let rule_place = place.rule_place();
    let approved = match asked.by {
        By::User => verdict.approve_by(Grant::by_person("you ran it"))?,
        By::Model => approval::decide(turn, call, verdict, rule_place, card).await?,
    };
    card.approved(approved.reason())?;

    let writer = turn
        .rooms
        .store
        .create_artifact(&turn.session.id, ArtifactKind::CommandLog)?;
    let redacted = turn.rooms.sink.redactor().byte_stream();
    let log = SharedLog(Arc::new(Mutex::new(Some(OpenLog { writer, redacted }))));
    let limit = match (asked.lifetime, asked.by, &asked.purpose) {
        (CommandLifetime::Background, ..) | (_, By::User, Purpose::Work) => None,
        (CommandLifetime::Awaited, ..) => Some(
            asked
                .timeout_seconds
                .map_or(DEFAULT_LIMIT, |seconds| Duration::from_secs(seconds.into()))
                .clamp(
                    Duration::from_secs(1),
                    place.longest.unwrap_or(LONGEST_LIMIT).max(Duration::from_secs(1)),
                ),
        ),
    };
    let mut options = RunOptions::new(&place.cwd, &place.root, environment, Box::new(log.clone()));
    options.time_limit = limit;
    options.terminal = match asked.terminal {
        CommandTerminal::None => Terminal::None,
        CommandTerminal::Own => Terminal::Own,
    };
    options.staged = place.view(turn, &approved).await?;

    let is_check = asked.lifetime == CommandLifetime::Awaited
        && (class == CommandClass::ProjectCheck || asked.purpose != Purpose::Work);
    let watched = match is_check {
        true => Some(verification::look(turn).await?),
        false => None,
    };
    let shows_check = is_check && turn.standing == Standing::Turn;
    if shows_check {
        turn.session.step(SessionInput::CheckStarted)?;
    }
    turn.commands_run.fetch_add(1, Ordering::Relaxed);
    let ended = follow(turn, runner::start(approved, options), card, progress).await;
    if shows_check {
        turn.session.step(SessionInput::CheckDone)?;
    }
    let end = ended?;
    let mut notes = place.notes.clone();
    notes.extend(end.notes.iter().cloned());
    let (log, dropped) = log.finish()?;
    if dropped > 0 {
        notes.push(format!(
            "The log stopped at its size limit; {dropped} more bytes were not recorded."
        ));
    }
    notes.extend(place.harvest(turn, &asked.command, &end).await?);
    card.ended(&end, notes.clone(), Some(log.clone()));
    if let Some(before) = watched {
        let check = verification::Seen {
            before,
            purpose: &asked.purpose,
            command: card.shown(),
            end: &end,
            log: &log,
        };
        verification::seen(turn, check).await?;
    }
    if turn.cancel.is_cancelled() {
        return Err(RuntimeError::cancelled());
    }
    Ok(report(&end, &notes, &place, log))
}

/// Passes events on to the card until the command has ended; a cancelled turn ends it.
async fn follow(
    turn: &Turn,
    started: Result<runner::RunningCommand, runner::SpawnError>,
    card: &mut Card<'_>,
    mut progress: Progress,
) -> Result<CommandEnd, RuntimeError> {
    let mut running = started?;
    let stop = running.stop_handle();
    let typist = running.typist();
    let (listed, mut asked_to_stop) = turn.rooms.commands.list(shown(turn, card), typist);
    let may_wait = card.shown().lifetime == CommandLifetime::Awaited;
    let mut last_output = Instant::now();
    let mut idle_at = None;
    let mut cancelled = false;
    let mut stoppable = true;
    loop {
        let due = card.flush_due();
        let flush = async {
            match due {
                Some(due) => tokio::time::sleep_until(due.into()).await,
                None => std::future::pending().await,
            }
        };
        // Looked at twice: what does something in between does not wait.
        let look = last_output + if idle_at.is_none() { QUIET / 2 } else { QUIET };
        tokio::select! {
            () = flush => card.flush()?,
            () = tokio::time::sleep_until(look.into()), if may_wait && look > Instant::now() => {
                let work = running.work_done();
                match idle_at.replace(work) {
                    Some(before) if before == work => card.seems_to_wait(QUIET)?,
                    _ => {}
                }
            }
            event = running.next() => match event {
                Some(CommandEvent::Started { .. }) => {
                    card.running()?;
                    progress(card.id(), Step::Started);
                }
                Some(CommandEvent::Output { bytes, .. }) => {
                    (last_output, idle_at) = (Instant::now(), None);
                    listed.printed(&card.output(&bytes)?);
                }
                Some(CommandEvent::Ended(end)) => {
                    listed.printed(&card.unfinished_line());
                    listed.ended(end_in_words(&end));
                    turn.rooms.paths.forget();
                    return Ok(*end);
                }
                None => return Err(RuntimeError::internal("a command ended without saying how")),
            },
            () = turn.cancel.cancelled(), if !cancelled => {
                cancelled = true;
                card.stopping()?;
                stop.cancel();
            }
            asked = &mut asked_to_stop, if stoppable => {
                stoppable = false;
                // Otherwise the session let go of it, which asks for nothing.
                if asked.is_ok() {
                    card.stopping()?;
                    stop.stop();
                }
            }
        }
    }
}

/// What the model reads. The exit status is said in words that claim no more than was observed (C06).
fn report(end: &CommandEnd, notes: &[String], place: &Place, log: ArtifactRef) -> Outcome {
    let seconds = end.duration.as_secs_f64();
    let status = match (end.exit_code, end.signal, end.outcome) {
        _ if end.state == protocol::CommandState::TimedOut => {
            format!("Ended at its time limit after {seconds:.0} s; it and everything it started was killed.")
        }
        _ if end.state == protocol::CommandState::Stopped => {
            format!("The user stopped it after {seconds:.0} s.")
        }
        (Some(0), _, Ending::PartFailed) => {
            "Exit 0, but a part of it failed, so this is no success.".to_owned()
        }
        (Some(0), _, Ending::Unknown) => "Exit 0; how its parts ended is not known.".to_owned(),
        (Some(code), ..) => format!("Exit {code}."),
        (None, Some(signal), _) => format!("Ended by signal {signal}."),
        (None, None, _) => "Ended without an exit status.".to_owned(),
    };
    let mut content = format!(
        "{status} ({seconds:.1} s, in {}, {})\n",
        place.shown_cwd, place.isolation
    );
    for part in &end.failed_before {
        let name = part.command.as_deref().unwrap_or("a part of it");
        content.push_str(&format!("{name} ended with {:?}.\n", part.statuses));
    }
    if let Some(stages) = end.stages.as_ref().filter(|stages| stages.len() > 1) {
        content.push_str(&format!("Status of each pipeline stage: {stages:?}.\n"));
    }
    notes
        .iter()
        .for_each(|note| content.push_str(&format!("{note}\n")));
    let output = end.output.text(Colour::Drop);
    if output.trim().is_empty() {
        content.push_str("It printed nothing.");
    } else {
        content.push_str(&excerpt(&output));
    }
    let mut outcome = Outcome::new(content, end_in_words(end)).with_data(json!({
        "exitCode": end.exit_code,
        "signal": end.signal,
        "state": end.state,
        "stages": end.stages,
    }));
    outcome.artifacts.push(log);
    outcome
}

/// A command as the list of those that run shows it.
fn shown(turn: &Turn, card: &Card<'_>) -> RunningCommand {
    let command = card.shown();
    RunningCommand {
        command_id: command.command_id.clone(),
        session_id: turn.session.id.clone(),
        command: command.command.clone(),
        cwd: command.cwd.clone(),
        started_at: turn.rooms.sink.now(),
        lifetime: command.lifetime,
        terminal: command.terminal,
        recent_output: String::new(),
    }
}

fn end_in_words(end: &CommandEnd) -> String {
    match (end.exit_code, end.signal) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => end.state.to_string(),
    }
}

/// Head and tail of a long output, cut at lines, with the size of what is between.
fn excerpt(output: &str) -> String {
    if output.len() <= MODEL_HEAD + MODEL_TAIL {
        return output.to_owned();
    }
    let head_end = line_break_before(output, MODEL_HEAD);
    let tail_start = line_break_before(output, output.len() - MODEL_TAIL);
    let between = tail_start.saturating_sub(head_end);
    format!(
        "{}… {between} bytes left out …\n{}",
        &output[..head_end],
        &output[tail_start..]
    )
}

/// The last place at or before `at` where a line begins; a character boundary when the line is that long.
fn line_break_before(text: &str, at: usize) -> usize {
    let mut boundary = at;
    while !text.is_char_boundary(boundary) {
        boundary -= 1;
    }
    match text[..boundary].rfind('\n') {
        Some(newline) if boundary - newline < 2_000 => newline + 1,
        _ => boundary,
    }
}

/// The artifact, shared with the runner that writes to it.
#[derive(Clone)]
struct SharedLog(Arc<Mutex<Option<OpenLog>>>);

struct OpenLog {
    writer: ArtifactWriter,
    /// A command may print what it found of our environment.
    redacted: RedactedBytes,
}

impl SharedLog {
    /// The artifact and how many bytes its cap kept out.
    fn finish(self) -> Result<(ArtifactRef, u64), RuntimeError> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let OpenLog {
            mut writer,
            mut redacted,
        } = log.ok_or_else(|| RuntimeError::internal("a command log was closed twice"))?;
        // As with every write here, a full disk costs the log and not the command.
        let _ = writer.write_all(&redacted.finish());
        let dropped = writer.dropped_bytes();
        Ok((writer.finish()?, dropped))
    }
}

impl Write for SharedLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(log) => {
                let kept = log.redacted.push(bytes);
                log.writer.write_all(&kept).map(|()| bytes.len())
            }
            // Late output of a process that is being ended has no card any more.
            None => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(log) => log.writer.flush(),
            None => Ok(()),
        }
    }
}

/// The time a wrong folder is told in words.
pub(super) fn not_a_folder(path: &str) -> RuntimeError {
    RuntimeError::new(
        ErrorCode::PathNotADirectory,
        format!("{path} is a file, not a folder."),
    )
    .action("Name a folder to run in, or leave it out for the workspace root.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_output_keeps_both_ends_and_says_what_is_missing() {
        let output: String = (0..5_000).map(|number| format!("line {number}\n")).collect();
        let shown = excerpt(&output);
        assert!(shown.starts_with("line 0\n"));
        assert!(shown.ends_with("line 4999\n"));
        assert!(shown.len() < MODEL_HEAD + MODEL_TAIL + 100);
        assert!(shown.contains("bytes left out …\nline "));
        // One line without an end is cut too, between characters.
        assert!(excerpt(&"你".repeat(20_000)).len() < MODEL_HEAD + MODEL_TAIL + 100);
    }
}
