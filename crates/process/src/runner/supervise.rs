//! One task per running command: waits for its end, its limit or a stop, ends what is left of the tree, and
//! sends the one end event.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use protocol::CommandState;
use tokio::process::Child;
use tokio::sync::{mpsc, watch};

use super::guard::{Watched, program_mark};
use super::output::{Collected, ReaderControl, ReaderInput};
use super::shell::{Directory, Ends, Invocation, ReportPipe, RepositoryCode, Shell, Spawned};
use super::tree::{Process, Tree};
use super::{
    CommandEnd, CommandEvent, EndRequest, EndedPart, Leftover, Outcome, RunOptions, RunningCommand,
    SpawnError, StopHandle, Terminal, Typist, output, shell, terminal, tree,
};
use crate::machine::{CommandInput, next};
use crate::policy::{ApprovedCommand, CommandClass, tables};
use crate::staged::{Gate, StatusPipe};

/// How long after the shell's exit its children may take to end by themselves before they count as left over.
const SETTLE: Duration = Duration::from_millis(150);
/// What a cancelled command in a view has to end by itself: its files are a draft's, and nobody waits for it.
const CANCEL_GRACE: Duration = Duration::from_millis(40);

pub(super) fn start(command: ApprovedCommand, options: RunOptions) -> Result<RunningCommand, SpawnError> {
    let runtime = tokio::runtime::Handle::try_current().map_err(|_| SpawnError::NoRuntime)?;
    if command.text().contains('\0') {
        return Err(SpawnError::NulCharacter);
    }
    let directory = match &options.staged {
        // It may exist in the view only, where it is entered.
        Some(_) => Directory {
            path: options.cwd.clone(),
            note: None,
        },
        None => shell::directory(&options.cwd, &options.root).ok_or_else(|| SpawnError::Directory {
            cwd: options.cwd.display().to_string(),
            root: options.root.display().to_string(),
        })?,
    };
    let place = match &options.staged {
        Some(_) => tree::Place::View,
        None => tree::Place::Machine,
    };
    let shell = Shell::find();
    let report = ReportPipe::new()?;
    let reporting = report.script(shell, command.text());
    let (report, script) = match &reporting {
        Some(script) => (Some(report), script.as_str()),
        None => (None, command.text()),
    };
    let mut typist = None;
    let (stdout, stderr, ends) = match options.terminal {
        Terminal::None => {
            let (stdout, stdout_end) = io::pipe()?;
            let (stderr, stderr_end) = io::pipe()?;
            (stdout, stderr, Ends::Pipes(stdout_end, stderr_end))
        }
        Terminal::Own => {
            let pair = terminal::open()?;
            typist = Some(Typist::of(&pair.ours)?);
            let (stdout, stderr) = terminal::streams(pair.ours)?;
            (stdout, stderr, Ends::Terminal(pair.theirs))
        }
    };
    let mark = format!("{}-{}", program_mark(), uuid::Uuid::now_v7().simple());
    let started = Instant::now();
    let Spawned { child, mut view } = shell::spawn(Invocation {
        shell,
        script,
        report: report.as_ref(),
        cwd: &directory.path,
        staged: options.staged.as_ref(),
        environment: &options.environment,
        repository_code: match command.class() {
            CommandClass::ReadOnly => RepositoryCode::Off,
            CommandClass::ProjectCheck | CommandClass::Other => RepositoryCode::MayRun,
        },
        mark: &mark,
        ends,
    })?;
    let pid = child
        .id()
        .ok_or_else(|| io::Error::other("the shell ended before it could be seen"))?;
    let tree = Tree { leader: pid, mark };
    // From here on the tree dies with this value, also when a step below fails or the runtime is shut down.
    let unfinished = Unfinished::new(tree.clone(), Watched::group(pid));

    let (send, events) = mpsc::channel(options.event_capacity.max(2));
    let (request, requested) = watch::channel(None);
    let Directory { path: cwd, note } = directory;
    // The queue is new and has room, so this is the first event.
    let _ = send.try_send(CommandEvent::Started {
        pid,
        cwd: cwd.clone(),
    });
    let reader = output::read(ReaderInput {
        stdout,
        stderr,
        report: report.map(|pipe| pipe.read),
        log: options.log,
        keep: options.keep_output,
        events: send.clone(),
    })?;
    let gate = view.as_mut().and_then(|view| view.gate.take());
    let gate = gate.zip(options.staged.as_ref());
    let supervisor = Supervisor {
        gate: gate.map(|(ours, staged)| Gate::open(ours, staged.sandbox.hosts.clone())),
        child,
        view: view.map(StatusPipe::new).transpose()?,
        tree,
        unfinished,
        reader,
        requested,
        events: send,
        started,
        time_limit: options.time_limit,
        grace: options.grace,
        leftover: options.leftover,
        stage_commands: command.last_pipeline(),
        cwd: cwd.clone(),
        notes: note.into_iter().collect(),
    };
    runtime.spawn(supervisor.run());
    Ok(RunningCommand {
        pid,
        cwd,
        started,
        events,
        stop: StopHandle { request },
        typist,
        place,
    })
}

/// A tree whose end has not been seen. Dropped, it kills what it can find at once.
pub(crate) struct Unfinished {
    tree: Tree,
    watched: Option<Watched>,
}

impl Unfinished {
    pub(crate) fn new(tree: Tree, watched: Watched) -> Self {
        Self {
            tree,
            watched: Some(watched),
        }
    }

    pub(crate) fn finished(mut self) {
        self.watched = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if self.watched.take().is_some() {
            self.tree.kill_now();
        }
    }
}

struct Supervisor {
    /// The way to the allowed hosts, for as long as the command runs.
    gate: Option<Gate>,
    child: Child,
    /// For a command in a view, of which `child` is the helper: how the shell ended comes by this pipe.
    view: Option<StatusPipe>,
    tree: Tree,
    unfinished: Unfinished,
    reader: ReaderControl,
    requested: watch::Receiver<Option<EndRequest>>,
    events: mpsc::Sender<CommandEvent>,
    started: Instant,
    time_limit: Option<Duration>,
    grace: Duration,
    leftover: Leftover,
    stage_commands: Vec<Option<String>>,
    cwd: PathBuf,
    notes: Vec<String>,
}

enum Cause {
    Exited(io::Result<ExitStatus>),
    TimeLimit,
    Requested(EndRequest),
}

impl Supervisor {
    async fn run(mut self) {
        let cause = self.first_cause().await;
        let mut not_entered = None;
        let (status, input, collected, still_running) = match cause {
            Cause::Exited(status) => {
                let (collected, still_running) = self.after_exit().await;
                let status = match status {
                    Ok(status) => Some(status),
                    Err(error) => {
                        not_entered = self.view.is_some().then(|| error.to_string());
                        self.notes.push(format!("It did not run: {error}."));
                        None
                    }
                };
                let input = match status {
                    Some(status) if status.success() => CommandInput::ExitedZero,
                    _ => CommandInput::ExitedNonZero,
                };
                (status, input, collected, still_running)
            }
            Cause::TimeLimit => {
                let limit = self.time_limit.unwrap_or_default();
                self.notes.push(format!(
                    "Stopped after its time limit of {} s.",
                    limit.as_secs_f32()
                ));
                let (status, collected, survivors) = self.end_tree(self.grace).await;
                (status, CommandInput::TimeLimit, collected, survivors)
            }
            Cause::Requested(request) => {
                let grace = match (request, &self.view) {
                    (EndRequest::Cancel, Some(_)) => self.grace.min(CANCEL_GRACE),
                    _ => self.grace,
                };
                let (status, collected, survivors) = self.end_tree(grace).await;
                let input = match request {
                    EndRequest::Stop => CommandInput::TreeGone,
                    EndRequest::Cancel => CommandInput::Cancel,
                };
                (status, input, collected, survivors)
            }
        };
        self.notes.extend(self.gate.as_ref().and_then(Gate::refusals));
        let before = match input {
            CommandInput::TreeGone => CommandState::Stopping,
            _ => CommandState::Running,
        };
        // Every pair above is in the machine's table.
        let state = next(before, input).unwrap_or(CommandState::Failed);
        let end = end(Ending {
            state,
            status,
            duration: self.started.elapsed(),
            cwd: self.cwd,
            collected,
            still_running,
            not_entered,
            stage_commands: self.stage_commands,
            notes: self.notes,
        });
        self.unfinished.finished();
        // The receiver may be gone: then nobody wants the end.
        let _ = self.events.send(CommandEvent::Ended(Box::new(end))).await;
    }

    async fn first_cause(&mut self) -> Cause {
        let limit = async {
            match self.time_limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        let requested = async {
            match self.requested.wait_for(Option::is_some).await {
                Ok(request) => request.unwrap_or(EndRequest::Cancel),
                Err(_) => EndRequest::Cancel,
            }
        };
        tokio::select! {
            // A request that comes with the exit is a request: the person pressed Stop.
            biased;
            request = requested => Cause::Requested(request),
            () = limit => Cause::TimeLimit,
            status = exited(&mut self.child, self.view.as_mut(), &mut self.notes) => Cause::Exited(status),
        }
    }

    /// The shell is gone; its children may not be.
    async fn after_exit(&mut self) -> (Option<Collected>, Vec<Process>) {
        let closed = tokio::time::timeout(SETTLE, self.reader.closed())
            .await
            .ok()
            .flatten();
        let mut left = self.members().await;
        if !left.is_empty() {
            tokio::time::sleep(SETTLE).await;
            left = self.members().await;
        }
        let fate = match self.leftover {
            Leftover::Kill if !left.is_empty() => {
                let survivors = self.kill(self.grace).await;
                if survivors.is_empty() {
                    "It was stopped."
                } else {
                    "It could not be stopped."
                }
            }
            _ => "It was left running.",
        };
        for process in &left {
            self.notes.push(format!(
                "Still running when the command had ended: {} (process {}). {fate}",
                process.command, process.pid
            ));
        }
        let collected = match (closed, self.leftover) {
            (Some(collected), _) => Some(collected),
            (None, Leftover::Keep) if !left.is_empty() => self.reader.detach().await,
            (None, _) => self.reader.finish().await,
        };
        (collected, left)
    }

    async fn members(&self) -> Vec<Process> {
        let tree = self.tree.clone();
        let in_view = self.view.is_some();
        tokio::task::spawn_blocking(move || match in_view {
            true => tree.members_in_view(),
            false => tree.members(),
        })
        .await
        .unwrap_or_default()
    }

    async fn kill(&self, grace: Duration) -> Vec<Process> {
        match &self.view {
            Some(_) => self.tree.end_view(grace).await,
            None => self.tree.kill(grace).await,
        }
    }

    async fn end_tree(&mut self, grace: Duration) -> (Option<ExitStatus>, Option<Collected>, Vec<Process>) {
        let survivors = self.kill(grace).await;
        for process in &survivors {
            self.notes.push(format!(
                "{} (process {}) could not be stopped.",
                process.command, process.pid
            ));
        }
        let ended = exited(&mut self.child, self.view.as_mut(), &mut self.notes);
        let reaped = tokio::time::timeout(Duration::from_millis(200), ended).await;
        let collected = self.reader.finish().await;
        (reaped.ok().and_then(Result::ok), collected, survivors)
    }
}

/// The shell's own end. In a view it is reported; a helper that ends without a report was killed with everything.
async fn exited(
    child: &mut Child,
    view: Option<&mut StatusPipe>,
    notes: &mut Vec<String>,
) -> io::Result<ExitStatus> {
    if let Some(view) = view
        && let Some(status) = view.ended(notes).await?
    {
        return Ok(status);
    }
    child.wait().await
}

struct Ending {
    state: CommandState,
    status: Option<ExitStatus>,
    duration: Duration,
    cwd: PathBuf,
    collected: Option<Collected>,
    still_running: Vec<Process>,
    not_entered: Option<String>,
    stage_commands: Vec<Option<String>>,
    notes: Vec<String>,
}

fn end(ending: Ending) -> CommandEnd {
    let Ending {
        state,
        status,
        duration,
        cwd,
        collected,
        still_running,
        not_entered,
        stage_commands,
        mut notes,
    } = ending;
    let exit_code = status.and_then(|status| status.code());
    let (output, parts) = match collected {
        Some(collected) => {
            if let Some(error) = collected.log_error {
                notes.push(format!("The log is not complete: {error}."));
            }
            (collected.output, collected.parts)
        }
        None => {
            notes.push("The output could not be read.".to_owned());
            Default::default()
        }
    };
    // When the shell ended with another status than its last pipeline has (`exit 3`, `! grep`), it chose it itself.
    let stages = parts.last.map(|last| match exit_code {
        Some(code) if !last.contains(&code) => vec![code],
        _ => last,
    });
    let outcome = outcome(state, stages.as_deref(), &stage_commands, &parts.failed_before);
    CommandEnd {
        state,
        exit_code,
        signal: status.and_then(|status| status.signal()),
        duration,
        cwd,
        stages,
        failed_before: parts.failed_before,
        outcome,
        output,
        still_running,
        not_entered,
        notes,
    }
}

fn outcome(
    state: CommandState,
    stages: Option<&[i32]>,
    commands: &[Option<String>],
    failed_before: &[EndedPart],
) -> Outcome {
    if state != CommandState::Succeeded {
        return Outcome::Failed;
    }
    let Some(stages) = stages else {
        return Outcome::Unknown;
    };
    let earlier_stages = stages.split_last().map_or(&[][..], |(_, earlier)| earlier);
    let mut failures = earlier_stages.iter().enumerate().filter(|(index, status)| {
        !is_harmless(
            **status,
            commands
                .get(*index)
                .and_then(Option::as_deref)
                .filter(|_| commands.len() == stages.len()),
        )
    });
    let earlier_part = failed_before.iter().any(|part| match part.statuses.as_slice() {
        [status] => *status == CLOSED_PIPE || !is_harmless(*status, part.command.as_deref()),
        [earlier @ .., last] => *last != 0 || earlier.iter().any(|status| !is_harmless(*status, None)),
        [] => false,
    });
    if failures.next().is_some() || earlier_part {
        Outcome::PartFailed
    } else {
        Outcome::Passed
    }
}

/// What a shell says of a program that wrote into a pipe whose reader had enough.
const CLOSED_PIPE: i32 = 128 + 13;

/// Whether a status is no failure: 0, a reader that had enough, or a "no" of a program that answers with 1.
fn is_harmless(status: i32, command: Option<&str>) -> bool {
    let answers = || {
        command
            .and_then(|command| command.split_whitespace().next())
            .is_some_and(|name| tables::ANSWERS_WITH_ONE.contains(&name))
    };
    status == 0 || status == CLOSED_PIPE || (status == 1 && answers())
}
