//! A command's card on the timeline: from queued to its one final state, with its output as it comes.

use std::time::{Duration, Instant};

use process::{
    display::{Colour, Screen},
    machine::{self, CommandInput},
    runner::CommandEnd,
};
use protocol::{
    ArtifactRef, CommandId, CommandState, ErrorCode, EventBody, ItemDelta, ItemKind, ItemStatus,
    RuntimeError, TimelineItem, ToolCallId, commands::CommandTerminal, timeline::CommandItem,
};
use store::{Durability, log::LogEvent, redact::RedactedStream};

use super::{Asked, By, place::Place};
use crate::turn::Turn;

/// Bytes of output that are sent as they come. After that a piece a tick is enough: the card at the end has both
/// ends, the log everything.
const LIVE_LIMIT: usize = 64 * 1024;
const TICK: Duration = Duration::from_millis(100);
/// Output is sent at most this often, or when this much waits.
const FLUSH_EVERY: Duration = Duration::from_millis(16);
const FLUSH_AT: usize = 4 * 1024;

pub struct Card<'a> {
    turn: &'a Turn,
    item: TimelineItem,
    command: CommandItem,
    screen: Screen,
    waiting: String,
    redacted: RedactedStream,
    sent: usize,
    last_sent: Instant,
}

impl<'a> Card<'a> {
    pub fn open(turn: &'a Turn, call: &ToolCallId, asked: &Asked) -> Result<Self, RuntimeError> {
        let command = CommandItem {
            command_id: CommandId::mint(),
            tool_call_id: call.clone(),
            command: asked.command.clone(),
            cwd: ".".to_owned(),
            state: CommandState::Queued,
            policy_reason: String::new(),
            isolation: String::new(),
            lifetime: asked.lifetime,
            terminal: asked.terminal,
            by_user: asked.by == By::User,
            exit_code: None,
            signal: None,
            duration_ms: None,
            output: String::new(),
            omitted_bytes: 0,
            log: None,
            notes: Vec::new(),
        };
        let item = turn.start_item(ItemKind::Command(command.clone()))?;
        Ok(Self {
            turn,
            item,
            command,
            screen: Screen::new(Colour::Keep),
            waiting: String::new(),
            redacted: turn.rooms.sink.redacted_stream(),
            sent: 0,
            last_sent: Instant::now(),
        })
    }

    pub fn id(&self) -> &CommandId {
        &self.command.command_id
    }

    pub fn shown(&self) -> &CommandItem {
        &self.command
    }

    pub fn has_ended(&self) -> bool {
        self.command.state.is_terminal()
    }

    pub fn place(&mut self, place: &Place) {
        self.command.cwd.clone_from(&place.shown_cwd);
        self.command.isolation.clone_from(&place.isolation);
    }

    pub fn awaiting_approval(&mut self) -> Result<(), RuntimeError> {
        self.step(CommandInput::AskApproval)
    }

    /// The card is shown again in full: what it says of place and policy is known now.
    pub fn approved(&mut self, reason: &str) -> Result<(), RuntimeError> {
        self.command.policy_reason = reason.to_owned();
        self.command.state = machine::next(self.command.state, CommandInput::Approve)?;
        self.item.kind = ItemKind::Command(self.command.clone());
        self.turn.emit(
            EventBody::ItemStarted {
                item: self.item.clone(),
            },
            Durability::Normal,
        )
    }

    pub fn running(&mut self) -> Result<(), RuntimeError> {
        let (session, command) = (self.turn.session.id.clone(), self.command.command_id.clone());
        self.turn.log(&LogEvent::CommandStarted { session, command });
        self.step(CommandInput::Spawned)
    }

    pub fn stopping(&mut self) -> Result<(), RuntimeError> {
        // The end may be on its way already; then there is nothing left to stop.
        match machine::next(self.command.state, CommandInput::Stop) {
            Ok(_) => self.send_state(CommandState::Stopping),
            Err(_) => Ok(()),
        }
    }

    fn step(&mut self, input: CommandInput) -> Result<(), RuntimeError> {
        self.command.state = machine::next(self.command.state, input)?;
        self.send_state(self.command.state)
    }

    fn send_state(&self, state: CommandState) -> Result<(), RuntimeError> {
        self.delta(ItemDelta::Command { state })
    }

    fn delta(&self, delta: ItemDelta) -> Result<(), RuntimeError> {
        self.turn.emit(
            EventBody::ItemDelta {
                item_id: self.item.id.clone(),
                delta,
            },
            Durability::Normal,
        )
    }

    /// Returns what a reader of it sees anew.
    pub fn output(&mut self, bytes: &[u8]) -> Result<String, RuntimeError> {
        // Of a flood nobody sees more than the newest piece; the card at the end and the log are made from all of it.
        let floods = self.sent >= LIVE_LIMIT && bytes.len() > 2 * FLUSH_AT;
        let seen = match floods {
            true => bytes.get(bytes.len() - FLUSH_AT..).unwrap_or(bytes),
            false => bytes,
        };
        self.screen.push(seen);
        let new = self.redacted.push(&self.screen.take_lines());
        self.waiting.push_str(&new);
        let much = self.sent < LIVE_LIMIT && self.waiting.len() >= FLUSH_AT;
        self.forget_flood();
        match self.flush_due() {
            Some(due) if much || due <= Instant::now() => self.flush()?,
            _ => {}
        }
        Ok(new)
    }

    /// The line that the command has not ended: a question, where it asks one.
    pub fn unfinished_line(&self) -> String {
        self.screen.current_line()
    }

    /// Says on the running card that the command seems to wait for an answer (C01).
    pub fn seems_to_wait(&mut self, quiet: Duration) -> Result<(), RuntimeError> {
        let line = self.unfinished_line();
        let asks = match line.trim() {
            "" => String::new(),
            line => format!(" Its last words: “{line}”."),
        };
        let way_out = match self.command.terminal {
            CommandTerminal::None => {
                "It has no input, so nobody can answer it: stop it if you do not expect this."
            }
            CommandTerminal::Own => "It may wait for an answer.",
        };
        let note = format!(
            "Seems to wait: silent and idle for {} s.{asks} {way_out}",
            quiet.as_secs()
        );
        if self.command.notes.contains(&note) {
            return Ok(());
        }
        self.command
            .notes
            .retain(|note| !note.starts_with("Seems to wait"));
        self.command.notes.push(note);
        self.delta(ItemDelta::Notes {
            notes: self.command.notes.clone(),
        })
    }

    /// When the output that waits is to be sent. A command that then falls silent does not push it out by itself.
    pub fn flush_due(&self) -> Option<Instant> {
        let pause = if self.sent < LIVE_LIMIT { FLUSH_EVERY } else { TICK };
        (!self.waiting.is_empty()).then(|| self.last_sent + pause)
    }

    pub fn flush(&mut self) -> Result<(), RuntimeError> {
        let text = std::mem::take(&mut self.waiting);
        self.sent += text.len();
        self.last_sent = Instant::now();
        self.delta(ItemDelta::Output { text })
    }

    /// While output floods, only the newest piece of what waits is worth sending.
    fn forget_flood(&mut self) {
        if self.waiting.len() > 2 * FLUSH_AT {
            let mut cut = self.waiting.len() - FLUSH_AT;
            while !self.waiting.is_char_boundary(cut) {
                cut += 1;
            }
            self.waiting.drain(..cut);
        }
    }

    pub fn ended(&mut self, end: &CommandEnd, notes: Vec<String>, log: Option<ArtifactRef>) {
        let command = &mut self.command;
        command.state = end.state;
        command.exit_code = end.exit_code;
        command.signal = end.signal;
        command.duration_ms = Some(u64::try_from(end.duration.as_millis()).unwrap_or(u64::MAX));
        command.output = end.output.text(Colour::Keep);
        command.omitted_bytes = end.output.omitted_bytes;
        command.log = log;
        command.notes = notes;
        let (id, duration_ms) = (
            command.command_id.clone(),
            command.duration_ms.unwrap_or_default(),
        );
        let artifact = command.log.as_ref().map(|log| log.id.clone());
        self.turn.log(&LogEvent::CommandOutput {
            command: id.clone(),
            bytes: end.output.total_bytes,
            artifact,
        });
        self.turn.log(&LogEvent::CommandCompleted {
            command: id,
            exit_code: end.exit_code,
            duration_ms,
        });
    }

    /// For a command that never started, or whose run could not be followed.
    pub fn refuse(&mut self, error: &RuntimeError) -> Result<(), RuntimeError> {
        let input = match (self.command.state, error.code) {
            (_, ErrorCode::Cancelled) => CommandInput::Cancel,
            (CommandState::Queued | CommandState::AwaitingApproval, _) => CommandInput::Refuse,
            (CommandState::Starting, _) => CommandInput::SpawnFailed,
            _ => CommandInput::Cancel,
        };
        self.command.state = machine::next(self.command.state, input)?;
        self.command.policy_reason.clone_from(&error.message);
        self.command.notes.extend(error.detail.clone());
        let command = self.command.command_id.clone();
        self.turn.log(&LogEvent::CommandFailed {
            command,
            code: error.code,
            duration_ms: 0,
        });
        Ok(())
    }

    pub fn close(mut self) -> Result<(), RuntimeError> {
        let status = match self.command.state {
            CommandState::Succeeded => ItemStatus::Succeeded,
            CommandState::Cancelled if self.turn.cancel.is_cancelled() => ItemStatus::Cancelled,
            _ => ItemStatus::Failed,
        };
        self.item.kind = ItemKind::Command(self.command);
        self.turn.complete_item(self.item, status, Durability::Normal)
    }
}
