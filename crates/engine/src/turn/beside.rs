//! Work beside turns: a command that outlives the turn it was started in, or one the user runs.

use std::sync::Arc;

use protocol::{Mode, RuntimeError, TurnId, request::Approvals};

use super::{Turn, TurnRequest};
use crate::{rooms::Rooms, session::Session};

/// Whether the session's state follows what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Turn,
    /// The session may be at rest, or busy with something else.
    Beside,
}

impl Turn {
    /// The same work on its own: with its own end and its own cards, which the turn's end does not close.
    pub fn beside(&self) -> Arc<Self> {
        let mut beside = Self::new(
            self.rooms.clone(),
            self.session.clone(),
            self.id.clone(),
            &TurnRequest {
                text: self.request_line.clone(),
                mode: self.mode,
                provider: self.provider.clone(),
                model: self.model.clone(),
                fallbacks: Vec::new(),
                approvals: self.approvals,
                timeout: None,
            },
        );
        beside.standing = Standing::Beside;
        beside.cancel = self.rooms.commands.closing.child_token();
        Arc::new(beside)
    }

    /// Of what the user does without the assistant. They have said yes by doing it.
    pub fn of_user(rooms: Arc<Rooms>, session: Arc<Session>, what: &str) -> Arc<Self> {
        let cancel = rooms.commands.closing.child_token();
        let mut turn = Self::new(
            rooms,
            session,
            TurnId::mint(),
            &TurnRequest {
                text: what.to_owned(),
                mode: Mode::Agent,
                provider: String::new(),
                model: String::new(),
                fallbacks: Vec::new(),
                approvals: Approvals::Allow,
                timeout: None,
            },
        );
        turn.standing = Standing::Beside;
        turn.cancel = cancel;
        Arc::new(turn)
    }

    /// Puts up for review what was drafted beside turns. While one runs, its end does that.
    pub fn propose_beside(&self) -> Result<(), RuntimeError> {
        match self.session.running() {
            Some(_) => Ok(()),
            None => self.propose().map(drop),
        }
    }
}
