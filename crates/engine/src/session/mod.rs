//! Live sessions: their state, the running turn, what the model has seen of files, and open questions to the
//! user. Every change of state goes through the machine and becomes an event.

pub mod machine;
pub mod recovery;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

pub use machine::SessionInput;
use protocol::{
    ApprovalId, ContentHash, ErrorCode, EventBody, RuntimeError, SessionId, SessionState,
    commands::AnswerScope, timeline::ApprovalDecision,
};
use store::{Durability, SessionRow, Store};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::{events::EventSink, turn::history::ReadMark};

pub struct Session {
    pub id: SessionId,
    store: Store,
    sink: EventSink,
    row: Mutex<SessionRow>,
    turn: Mutex<Option<RunningTurn>>,
    /// The version of each file that the model last saw whole or in part. Judged by content, not by time (E09).
    seen: Mutex<HashMap<String, ContentHash>>,
    /// What the model has before it of files.
    shown: Mutex<Vec<ReadMark>>,
    questions: Mutex<HashMap<ApprovalId, oneshot::Sender<Answer>>>,
}

/// A person's answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub decision: ApprovalDecision,
    pub scope: AnswerScope,
}

#[derive(Clone)]
pub struct RunningTurn {
    pub cancel: CancellationToken,
    /// Turns true when the turn's last event is out.
    pub done: watch::Receiver<bool>,
}

impl Session {
    pub fn new(row: SessionRow, store: Store, sink: EventSink) -> Arc<Self> {
        Arc::new(Self {
            id: row.id.clone(),
            store,
            sink,
            row: Mutex::new(row),
            turn: Mutex::default(),
            seen: Mutex::default(),
            shown: Mutex::default(),
            questions: Mutex::default(),
        })
    }

    pub fn row(&self) -> SessionRow {
        lock(&self.row).clone()
    }

    pub fn state(&self) -> SessionState {
        lock(&self.row).state
    }

    /// Moves on, records it, and only then returns. An illegal move is a bug of ours and changes nothing.
    pub fn transition(
        &self,
        input: SessionInput,
        reason: Option<String>,
    ) -> Result<SessionState, RuntimeError> {
        let mut row = lock(&self.row);
        let from = row.state;
        let to = machine::next(from, input).map_err(|error| {
            RuntimeError::new(ErrorCode::IllegalTransition, "The session cannot do this now.")
                .because(error)
                .action("Wait for the running turn to end, or cancel it.")
        })?;
        let body = EventBody::SessionStateChanged { from, to, reason };
        self.sink.emit(Some(&self.id), body, Durability::Normal)?;
        row.state = to;
        row.updated_at = self.sink.now();
        self.store.put_session(&row)?;
        Ok(to)
    }

    /// Takes a step that a tool makes visible ("applying changes") unless the turn is being cancelled: then the
    /// session already says so.
    pub fn step(&self, input: SessionInput) -> Result<(), RuntimeError> {
        if self.state() == SessionState::Cancelling {
            return Ok(());
        }
        match self.transition(input, None) {
            Err(_) if self.state() == SessionState::Cancelling => Ok(()),
            moved => moved.map(drop),
        }
    }

    /// The turn's end, from whatever state it was in when it ended.
    pub fn settle(&self, input: SessionInput) -> Result<(), RuntimeError> {
        let state = self.state();
        let input = match (input, state) {
            // The user cancelled, but the turn came to its end first: what they were told stays true.
            (SessionInput::Finished | SessionInput::ReviewNeeded, SessionState::Cancelling) => {
                SessionInput::CancelDone
            }
            (SessionInput::CancelDone, state) if state != SessionState::Cancelling => {
                self.transition(SessionInput::Cancel, None)?;
                SessionInput::CancelDone
            }
            (input, _) => input,
        };
        self.transition(input, None).map(drop)
    }

    /// For the case that the log can no longer be written: at least this process knows that the turn is over.
    pub fn force_failed(&self) {
        lock(&self.row).state = SessionState::Failed;
    }

    /// Keeps a value with the session, below its settings.
    pub fn keep(&self, key: &str, value: serde_json::Value) -> Result<(), RuntimeError> {
        let mut row = lock(&self.row);
        row.settings[key] = value;
        Ok(self.store.put_session(&row)?)
    }

    pub fn set_title(&self, title: &str) -> Result<(), RuntimeError> {
        let mut row = lock(&self.row);
        let body = EventBody::SessionRenamed {
            title: title.to_owned(),
        };
        self.sink.emit(Some(&self.id), body, Durability::Normal)?;
        row.title = title.to_owned();
        Ok(self.store.put_session(&row)?)
    }

    /// Claims the session for one turn.
    pub fn begin_turn(&self, turn: RunningTurn) -> Result<(), RuntimeError> {
        let mut slot = lock(&self.turn);
        if slot.is_some() {
            return Err(RuntimeError::new(
                ErrorCode::SessionBusy,
                "This session is already working on a message.",
            )
            .action("Wait for it to end, or cancel it."));
        }
        let input = SessionInput::Send;
        if self.transition(input, None)? == SessionState::Retrying {
            self.transition(SessionInput::ContextReady, None)?;
        }
        lock(&self.row).settings["interrupted"] = false.into();
        *slot = Some(turn);
        Ok(())
    }

    pub fn end_turn(&self) {
        *lock(&self.turn) = None;
        lock(&self.questions).clear();
    }

    pub fn running(&self) -> Option<RunningTurn> {
        lock(&self.turn).clone()
    }

    /// Asks the running turn to end. Returns it, or nothing when there is none.
    pub fn cancel(&self) -> Result<Option<RunningTurn>, RuntimeError> {
        let Some(turn) = self.running() else {
            return Ok(None);
        };
        if !turn.cancel.is_cancelled() {
            if self.state().is_active() && self.state() != SessionState::Cancelling {
                self.transition(SessionInput::Cancel, None)?;
            }
            turn.cancel.cancel();
        }
        Ok(Some(turn))
    }

    pub fn saw(&self, path: &str, hash: ContentHash) {
        lock(&self.seen).insert(path.to_owned(), hash);
    }

    pub fn last_seen(&self, path: &str) -> Option<ContentHash> {
        lock(&self.seen).get(path).cloned()
    }

    pub fn show(&self, reads: Vec<ReadMark>) {
        *lock(&self.shown) = reads;
    }

    /// Whether these lines of this version stand in the conversation. Told once: who asks again has a reason and gets
    /// them.
    pub fn stands_already(&self, path: &str, hash: &ContentHash, first_line: u64, last_line: u64) -> bool {
        let mut shown = lock(&self.shown);
        let found = shown.iter().position(|read| {
            read.path == path
                && read.content_hash == *hash
                && read.first_line <= first_line
                && read.last_line >= last_line
        });
        found.map(|at| shown.swap_remove(at)).is_some()
    }

    /// After an edit the model knows the new version only if it knew the old one.
    pub fn saw_edit(&self, path: &str, before: Option<&ContentHash>, after: Option<&ContentHash>) {
        let mut seen = lock(&self.seen);
        if before.is_none() || seen.get(path) == before {
            match after {
                Some(after) => seen.insert(path.to_owned(), after.clone()),
                None => seen.remove(path),
            };
        }
    }

    /// Registers a question; the receiver gets the answer, or an error when the turn ends first.
    pub fn ask(&self, id: ApprovalId) -> oneshot::Receiver<Answer> {
        let (sender, receiver) = oneshot::channel();
        lock(&self.questions).insert(id, sender);
        receiver
    }

    /// Whether a question with this id was waiting.
    pub fn answer(&self, id: &ApprovalId, answer: Answer) -> bool {
        match lock(&self.questions).remove(id) {
            Some(sender) => sender.send(answer).is_ok(),
            None => false,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
