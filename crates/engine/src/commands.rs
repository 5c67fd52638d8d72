//! The commands that run: what can be seen of each, how it is stopped and typed to; and the tasks of those that no turn
//! waits for, which end with the engine at the latest.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use process::runner::Typist;
use protocol::{CommandId, ErrorCode, RuntimeError, commands::RunningCommand};
use tokio::{
    sync::{oneshot, watch},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

/// Bytes of its newest output that are kept of each.
const RECENT_BYTES: usize = 16 * 1024;
/// How many that have ended can still be asked about.
const ENDED: usize = 20;

#[derive(Default)]
pub struct Commands {
    known: Mutex<Known>,
    beside: Mutex<JoinSet<()>>,
    /// Cancelled when the engine ends.
    pub closing: CancellationToken,
}

#[derive(Default)]
struct Known {
    running: BTreeMap<CommandId, Entry>,
    ended: VecDeque<(CommandId, Ended)>,
}

struct Entry {
    shown: RunningCommand,
    stop: Option<oneshot::Sender<()>>,
    typist: Option<Typist>,
    /// Counts what it printed.
    printed: watch::Sender<u64>,
}

/// How one came to its end.
#[derive(Clone, Debug)]
pub struct Ended {
    /// "exit 0".
    pub words: String,
    pub recent_output: String,
}

/// What somebody who asks about a command is told.
pub enum Status {
    Running(Box<RunningCommand>, watch::Receiver<u64>),
    Ended(Ended),
    Unknown,
}

/// A command's place in the list. It is taken off when this is dropped.
pub struct Listed {
    id: CommandId,
    commands: Arc<Commands>,
    words: String,
}

impl Commands {
    /// The receiver is told when somebody wants it stopped.
    pub fn list(
        self: &Arc<Self>,
        shown: RunningCommand,
        typist: Option<Typist>,
    ) -> (Listed, oneshot::Receiver<()>) {
        let (stop, asked) = oneshot::channel();
        let id = shown.command_id.clone();
        let entry = Entry {
            shown,
            stop: Some(stop),
            typist,
            printed: watch::Sender::new(0),
        };
        self.known().running.insert(id.clone(), entry);
        let listed = Listed {
            id,
            commands: self.clone(),
            words: "it was ended".to_owned(),
        };
        (listed, asked)
    }

    pub fn running(&self) -> Vec<RunningCommand> {
        let known = self.known();
        known.running.values().map(|entry| entry.shown.clone()).collect()
    }

    pub fn status(&self, id: &CommandId) -> Status {
        let known = self.known();
        if let Some(entry) = known.running.get(id) {
            return Status::Running(Box::new(entry.shown.clone()), entry.printed.subscribe());
        }
        match known.ended.iter().find(|(ended, _)| ended == id) {
            Some((_, ended)) => Status::Ended(ended.clone()),
            None => Status::Unknown,
        }
    }

    /// Whether a command with this id was running.
    pub fn stop(&self, id: &CommandId) -> bool {
        let stop = self
            .known()
            .running
            .get_mut(id)
            .and_then(|entry| entry.stop.take());
        stop.is_some_and(|stop| stop.send(()).is_ok())
    }

    pub fn type_in(&self, id: &CommandId, text: &str) -> Result<(), RuntimeError> {
        let refused = |message: &str| {
            RuntimeError::new(ErrorCode::RequestInvalid, message)
                .action("Run it again with a terminal of its own to answer it.")
        };
        let typist = match self.known().running.get(id) {
            None => return Err(refused("This command is not running.")),
            Some(entry) => entry.typist.clone(),
        };
        typist
            .ok_or_else(|| refused("This command has no terminal."))?
            .write(text.as_bytes())
            .map_err(|error| refused("The command takes no input any more.").because(error))
    }

    /// For the task of a command that no turn waits for.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        while beside.try_join_next().is_some() {}
        beside.spawn(task);
    }

    /// Ends all that no turn waits for, and returns when they have ended.
    pub async fn close(&self) {
        self.closing.cancel();
        let mut beside = std::mem::take(&mut *self.beside.lock().unwrap_or_else(PoisonError::into_inner));
        while beside.join_next().await.is_some() {}
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listed {
    pub fn printed(&self, text: &str) {
        if text.is_empty() {
            return;
        }
        if let Some(entry) = self.commands.known().running.get_mut(&self.id) {
            let recent = &mut entry.shown.recent_output;
            recent.push_str(text);
            if recent.len() > RECENT_BYTES {
                let mut cut = recent.len() - RECENT_BYTES;
                while !recent.is_char_boundary(cut) {
                    cut += 1;
                }
                recent.drain(..cut);
            }
            entry.printed.send_modify(|count| *count += 1);
        }
    }

    pub fn ended(mut self, words: String) {
        self.words = words;
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut known = self.commands.known();
        let Some(entry) = known.running.remove(&self.id) else {
            return;
        };
        if known.ended.len() == ENDED {
            known.ended.pop_front();
        }
        let ended = Ended {
            words: std::mem::take(&mut self.words),
            recent_output: entry.shown.recent_output,
        };
        known.ended.push_back((self.id.clone(), ended));
        // Dropping the sender wakes whoever waits for its output.
    }
}
