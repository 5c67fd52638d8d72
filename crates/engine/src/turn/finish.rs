//! The end of a turn, whatever ended it: cards are closed, the draft is proposed, the run is summed up, and the session
//! comes to rest. The turn's last event is `turnCompleted`.

use protocol::{
    ChangeSet, CommandState, ErrorCode, EventBody, ItemKind, ItemStatus, RuntimeError,
    checks::{Verified, VerifiedState},
    event::TurnOutcome,
    timeline::SummaryItem,
};
use store::{Durability, log::LogEvent};

use super::{Turn, lock};
use crate::session::SessionInput;

impl Turn {
    pub(super) fn finish(&self, outcome: Result<(), RuntimeError>) -> Result<(), RuntimeError> {
        self.close_open_items(&outcome)?;
        let (outcome, waiting) = match (outcome, self.propose()) {
            (outcome, Ok(waiting)) => (outcome, waiting),
            (Ok(()), Err(error)) => (Err(error), None),
            (Err(first), Err(_)) => (Err(first), None),
        };
        let (result, input) = match outcome {
            Ok(()) if waiting.is_some() => (TurnOutcome::Completed, SessionInput::ReviewNeeded),
            Ok(()) => (TurnOutcome::Completed, SessionInput::Finished),
            Err(error) if error.code == ErrorCode::Cancelled => {
                (TurnOutcome::Cancelled, SessionInput::CancelDone)
            }
            Err(error) => {
                let item = ItemKind::Error { error: error.clone() };
                self.add_item(item, ItemStatus::Failed, Durability::Normal)?;
                (TurnOutcome::Failed { error }, SessionInput::Fail)
            }
        };
        let duration_ms = self.rooms.sink.now().saturating_sub(self.started_at);
        let usage = self.usage();
        let verified = lock(&self.verified).take().or_else(|| {
            let worked_on = waiting
                .as_ref()
                .is_some_and(|set| set.updated_at >= self.started_at);
            (worked_on && !matches!(result, TurnOutcome::Completed)).then(|| Verified {
                state: VerifiedState::NotVerified,
                text: "Not verified: the turn ended before its changes were checked.".to_owned(),
            })
        });
        let cost = *lock(&self.cost);
        let summary = SummaryItem {
            files_changed: waiting
                .map(|set| set.files.into_iter().map(|file| file.path).collect())
                .unwrap_or_default(),
            commands_run: self.commands_run.load(std::sync::atomic::Ordering::Relaxed),
            usage,
            cost,
            duration_ms,
            verified,
            notes: std::mem::take(&mut lock(&self.notes)),
        };
        self.add_item(
            ItemKind::Summary(summary),
            ItemStatus::Succeeded,
            Durability::Normal,
        )?;
        self.session.settle(input)?;
        self.log_end(&result, duration_ms);
        let turn_id = self.id.clone();
        let end = EventBody::TurnCompleted {
            turn_id,
            outcome: result,
            usage,
            cost,
            duration_ms,
        };
        self.emit(end, Durability::Full)
    }

    /// Puts the draft up for review. Returns what waits, drafted in this turn or before it; only the former gets a
    /// card.
    pub(super) fn propose(&self) -> Result<Option<ChangeSet>, RuntimeError> {
        let changes = &self.rooms.changes;
        let Some(mut set) = changes.propose(&self.session.id)? else {
            return Ok(None);
        };
        if set.updated_at < self.started_at {
            return Ok(Some(set));
        }
        if set.reason.is_empty() {
            let reason = format!("Asked for: {}", self.request_line);
            set = changes.describe(&set.id, &set.title, &reason)?;
            let (session, change_set) = (self.session.id.clone(), set.id.clone());
            self.rooms
                .sink
                .log(&LogEvent::ChangeSetCreated { session, change_set });
        }
        self.emit(
            EventBody::ChangeSetUpdated {
                change_set: set.clone(),
            },
            Durability::Full,
        )?;
        let card = ItemKind::ChangeSet {
            change_set_id: set.id.clone(),
            title: set.title.clone(),
        };
        self.add_item(card, ItemStatus::Succeeded, Durability::Normal)?;
        Ok(Some(set))
    }

    /// No card spins after its turn has ended.
    fn close_open_items(&self, outcome: &Result<(), RuntimeError>) -> Result<(), RuntimeError> {
        let cancelled = matches!(outcome, Err(error) if error.code == ErrorCode::Cancelled);
        let status = if cancelled {
            ItemStatus::Cancelled
        } else {
            ItemStatus::Failed
        };
        // Taken out first: a lock in the loop's head is held through the loop, and completing an item takes it again.
        let open = std::mem::take(&mut *lock(&self.open_items));
        for (_, mut item) in open {
            if let ItemKind::Command(command) = &mut item.kind {
                command.state = CommandState::Cancelled;
                command
                    .notes
                    .push("It did not stop in time; its effects are not known.".to_owned());
            }
            self.complete_item(item, status, Durability::Normal)?;
        }
        Ok(())
    }

    fn log_end(&self, result: &TurnOutcome, duration_ms: u64) {
        let (session, turn) = (self.session.id.clone(), self.id.clone());
        let usage = self.usage();
        self.log(&match result {
            TurnOutcome::Completed => LogEvent::TurnCompleted {
                session,
                turn,
                duration_ms,
                input: usage.input,
                output: usage.output,
            },
            TurnOutcome::Failed { error } => LogEvent::TurnFailed {
                session,
                turn,
                code: error.code,
                duration_ms,
            },
            TurnOutcome::Cancelled | TurnOutcome::Interrupted => LogEvent::Cancelled { session, turn },
        });
    }
}
