//! Commands that no turn waits for: what an agent leaves running, as a server, and what the user runs. They go the same
//! way as any other, on a task of their own, and end with the engine at the latest.

use std::{sync::Arc, time::Duration};

use protocol::{
    CommandId, ErrorCode, RuntimeError, ToolCallId,
    commands::{CommandLifetime, RunningCommand},
};
use tokio::{sync::mpsc, time::Instant};

use super::{Asked, Progress, Step, run_to_end};
use crate::{
    commands::{Ended, Status},
    rooms::Rooms,
    session::Session,
    tools::{
        catalogue::CheckCommand,
        outcome::{Outcome, ToolOutcome},
    },
    turn::Turn,
};

/// How long a call that starts a background command looks at what it prints first.
const FIRST_LOOK: Duration = Duration::from_secs(4);
/// Output that is followed by so much silence is what it had to say for now.
const PAUSE: Duration = Duration::from_millis(700);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// A stopped command is gone within 2 s.
const STOPPED_BY: Duration = Duration::from_secs(4);

enum News {
    Step(CommandId, Step),
    Done(Box<ToolOutcome>),
}

/// Starts a command on its own task, and returns what happens to it.
fn launch(beside: Arc<Turn>, call: ToolCallId, asked: Asked) -> mpsc::UnboundedReceiver<News> {
    // At most three pieces of news are ever sent.
    let (tell, news) = mpsc::unbounded_channel();
    let commands = beside.rooms.commands.clone();
    commands.spawn(async move {
        let steps = tell.clone();
        let progress: Progress = Box::new(move |id, step| {
            // Nobody listens any more when the turn has gone on.
            let _ = steps.send(News::Step(id.clone(), step));
        });
        let done = run_to_end(&beside, &call, asked, progress).await;
        if let Err(error) = beside.propose_beside() {
            beside.rooms.log_failure("command.propose", &error);
        }
        let _ = tell.send(News::Done(Box::new(done.and_then(|done| done))));
    });
    news
}

/// Starts what an agent leaves running. Returns when it has said something and falls silent, or has ended.
pub async fn start(turn: &Turn, call: &ToolCallId, asked: Asked) -> ToolOutcome {
    let beside = turn.beside();
    let mut news = launch(beside.clone(), call.clone(), asked);
    let id = loop {
        tokio::select! {
            news = news.recv() => match news {
                Some(News::Step(id, Step::Started)) => break id,
                Some(News::Step(_, Step::Carded)) => {}
                Some(News::Done(outcome)) => return *outcome,
                None => return Err(RuntimeError::internal("a background command was lost")),
            },
            () = turn.cancel.cancelled() => {
                // It does not run yet: perhaps it waits for an OK that nobody will give.
                beside.cancel.cancel();
                return Err(RuntimeError::cancelled());
            }
        }
    };
    tokio::select! {
        news = news.recv() => match news {
            Some(News::Done(outcome)) => *outcome,
            _ => Err(RuntimeError::internal("a background command was lost")),
        },
        () = settled(turn, &id, FIRST_LOOK) => Ok(describe(turn, &id)),
        () = turn.cancel.cancelled() => Err(RuntimeError::cancelled()),
    }
}

/// Runs a command of the user's. Returns its id when it has a card.
pub async fn run_for_user(
    rooms: Arc<Rooms>,
    session: Arc<Session>,
    asked: Asked,
) -> Result<CommandId, RuntimeError> {
    let turn = Turn::of_user(rooms, session, &asked.command);
    let call = ToolCallId(format!("user_{}", turn.id));
    match launch(turn, call, asked).recv().await {
        Some(News::Step(id, _)) => Ok(id),
        Some(News::Done(outcome)) => match *outcome {
            Err(error) => Err(error),
            Ok(_) => Err(RuntimeError::internal("a command ended before it had a card")),
        },
        None => Err(RuntimeError::internal("a command was lost")),
    }
}

/// The check_command tool.
pub async fn check(turn: &Turn, arguments: CheckCommand) -> ToolOutcome {
    let id = match arguments.id.map(CommandId::from_text) {
        Some(id) => id,
        // Where there is one, it is the one that is meant.
        None if arguments.stop || arguments.wait_seconds.is_some() => match &background(turn)[..] {
            [only] => only.command_id.clone(),
            _ => return Ok(listing(turn)),
        },
        None => return Ok(listing(turn)),
    };
    if let Status::Unknown = turn.rooms.commands.status(&id) {
        return Err(RuntimeError::new(
            ErrorCode::ToolArguments,
            format!("There is no command {id} that runs or has just ended."),
        )
        .action("Call check_command without an id to list what runs."));
    }
    let wait = async {
        if arguments.stop {
            turn.rooms.commands.stop(&id);
            ended(turn, &id, STOPPED_BY).await;
        } else if let Some(seconds) = arguments.wait_seconds {
            let limit = Duration::from_secs(seconds.into()).min(LONGEST_WAIT);
            settled(turn, &id, limit).await;
        }
    };
    tokio::select! {
        () = wait => Ok(describe(turn, &id)),
        () = turn.cancel.cancelled() => Err(RuntimeError::cancelled()),
    }
}

/// Until it has printed something and then nothing for a moment, has ended, or the time is up.
async fn settled(turn: &Turn, id: &CommandId, limit: Duration) {
    let deadline = Instant::now() + limit;
    let Status::Running(_, mut printed) = turn.rooms.commands.status(id) else {
        return;
    };
    if *printed.borrow_and_update() == 0 && !heard(&mut printed, deadline).await {
        return;
    }
    while heard(&mut printed, deadline.min(Instant::now() + PAUSE)).await {}
}

/// Whether more was printed before the deadline.
async fn heard(printed: &mut tokio::sync::watch::Receiver<u64>, deadline: Instant) -> bool {
    matches!(
        tokio::time::timeout_at(deadline, printed.changed()).await,
        Ok(Ok(()))
    )
}

async fn ended(turn: &Turn, id: &CommandId, limit: Duration) {
    let deadline = Instant::now() + limit;
    if let Status::Running(_, mut printed) = turn.rooms.commands.status(id) {
        while heard(&mut printed, deadline).await {}
    }
}

fn describe(turn: &Turn, id: &CommandId) -> Outcome {
    let (status, output) = match turn.rooms.commands.status(id) {
        Status::Running(command, _) => (format!("{id} runs: {}", command.command), command.recent_output),
        Status::Ended(Ended { words, recent_output }) => (format!("{id} has ended: {words}"), recent_output),
        Status::Unknown => (format!("{id} has ended"), String::new()),
    };
    let printed = match output.trim() {
        "" => "It printed nothing so far.",
        output => output,
    };
    let sees = "It sees the files as they were when it started; start it anew to see later edits.";
    Outcome::new(format!("{status}\n{sees}\n\n{printed}"), status)
}

/// What the session has left running.
fn background(turn: &Turn) -> Vec<RunningCommand> {
    let mut running = turn.rooms.commands.running();
    running.retain(|command| {
        command.session_id == turn.session.id && command.lifetime == CommandLifetime::Background
    });
    running
}

fn listing(turn: &Turn) -> Outcome {
    let lines: Vec<String> = background(turn)
        .iter()
        .map(|command| format!("{}  {}", command.command_id, command.command))
        .collect();
    match lines.len() {
        0 => Outcome::new("No background command runs.", "none"),
        count => Outcome::new(lines.join("\n"), format!("{count} running")),
    }
}
