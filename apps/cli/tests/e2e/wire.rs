//! An engine that stays open for several turns and sessions, spoken to as a client does.

use std::time::{Duration, Instant};

use protocol::{EventBody, EventEnvelope, ItemKind, RuntimeError, event::TurnOutcome};
use serde_json::{Value, json};
use testkit::{ExecRun, Running};

use crate::support::Played;

/// Longest wait for anything that should come at once; generous, because the machine may be busy.
const LIMIT: Duration = Duration::from_secs(30);

/// The engine of a workspace on its standard input and output: several turns and sessions in one process.
pub struct Wire {
    pub running: Running,
    events: Vec<EventEnvelope>,
    requests: u64,
    provider: &'static str,
}

impl Wire {
    pub fn open(played: &Played) -> Self {
        let mut wire = Self {
            running: played.place.start(&["engine"]),
            events: Vec::new(),
            requests: 0,
            provider: played.provider,
        };
        wire.ask("events/subscribe", json!({ "fromSeq": 0 }));
        wire
    }

    /// A request that succeeds.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.try_ask(method, params)
            .unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    pub fn try_ask(&mut self, method: &str, params: Value) -> Result<Value, RuntimeError> {
        self.requests += 1;
        let id = self.requests;
        self.running
            .send_line(&json!({ "id": id, "method": method, "params": params }).to_string());
        loop {
            let frame = self.next();
            if frame["id"] != id {
                continue;
            }
            return match frame["ok"] == true {
                true => Ok(frame["data"].clone()),
                false => Err(serde_json::from_value(frame["error"].clone()).expect("an error")),
            };
        }
    }

    pub fn session(&mut self) -> String {
        let started = self.ask("session/start", json!({}));
        started["sessionId"].as_str().expect("an id").to_owned()
    }

    /// Begins a turn and does not wait for it.
    pub fn send(&mut self, session: &str, text: &str) {
        let params = json!({
            "sessionId": session, "text": text, "provider": self.provider, "approvals": "allow",
        });
        self.ask("turn/send", params);
    }

    /// Begins a turn of which questions are put to the user.
    pub fn send_asking(&mut self, session: &str, text: &str) {
        let params = json!({
            "sessionId": session, "text": text, "provider": self.provider, "approvals": "ask",
        });
        self.ask("turn/send", params);
    }

    /// Gives every question of a turn the same answer until the turn ends.
    pub fn answer_until_end(&mut self, session: &str, from: usize, answer: &Value) -> ExecRun {
        let mut answered = Vec::new();
        loop {
            let open = self.events[from..].iter().find_map(|event| match &event.body {
                EventBody::ItemStarted { item } => match &item.kind {
                    ItemKind::Approval(approval) if !answered.contains(&approval.approval_id) => {
                        Some(approval.approval_id.clone())
                    }
                    _ => None,
                },
                _ => None,
            });
            if let Some(id) = open {
                let mut params = answer.clone();
                params["approvalId"] = json!(id);
                self.ask("approval/answer", params);
                answered.push(id);
                continue;
            }
            let is_over = self.events[from..].iter().any(|event| {
                matches!(event.body, EventBody::TurnCompleted { .. })
                    && event.session_id.as_ref().is_some_and(|id| id.as_str() == session)
            });
            if is_over {
                return self.turn_end(session, from);
            }
            self.next();
        }
    }

    /// What the first event that has it says, of those so far and those to come.
    #[track_caller]
    pub fn until<T>(&mut self, limit: Duration, wanted: impl Fn(&EventEnvelope) -> Option<T>) -> T {
        let begun = Instant::now();
        let mut looked_at = 0;
        loop {
            if let Some(found) = self.events[looked_at..].iter().find_map(&wanted) {
                return found;
            }
            looked_at = self.events.len();
            assert!(begun.elapsed() < limit, "it did not come");
            self.next();
        }
    }

    /// A turn from its begin to its end.
    pub fn turn(&mut self, session: &str, text: &str) -> ExecRun {
        let from = self.events.len();
        self.send(session, text);
        self.turn_end(session, from)
    }

    /// Waits for the end of a turn that began after `from` events.
    #[track_caller]
    pub fn turn_end(&mut self, session: &str, from: usize) -> ExecRun {
        let begun = Instant::now();
        loop {
            let of_session =
                |event: &&EventEnvelope| event.session_id.as_ref().is_some_and(|id| id.as_str() == session);
            let ended = self.events[from..]
                .iter()
                .filter(of_session)
                .find_map(|event| match &event.body {
                    EventBody::TurnCompleted { outcome, .. } => Some(outcome.clone()),
                    _ => None,
                });
            if let Some(outcome) = ended {
                assert_eq!(outcome, TurnOutcome::Completed);
                let events = self.events[from..].iter().filter(of_session).cloned().collect();
                return ExecRun {
                    code: None,
                    events,
                    result: Value::Null,
                    stderr: String::new(),
                };
            }
            assert!(begun.elapsed() < LIMIT, "the turn did not end");
            self.next();
        }
    }

    /// How many events have come so far.
    pub fn events_so_far(&self) -> usize {
        self.events.len()
    }

    /// The session's newest change set.
    pub fn change_set(&mut self, session: &str) -> Value {
        let listed = self.ask("changes/list", json!({ "sessionId": session }));
        listed["changeSets"]
            .as_array()
            .expect("sets")
            .last()
            .expect("a set")
            .clone()
    }

    /// Accepts all that a session proposes.
    #[track_caller]
    pub fn accept(&mut self, session: &str) -> Value {
        let set = self.change_set(session);
        self.ask(
            "changes/accept",
            json!({ "id": set["id"], "selection": { "what": "all" } }),
        )
    }

    fn next(&mut self) -> Value {
        let line = self.running.wait_for("", LIMIT);
        // What was said is kept as events, not as text.
        self.running.seen.clear();
        let frame: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        if !frame["event"].is_null() {
            self.events
                .push(serde_json::from_value(frame["event"].clone()).expect("an event"));
        }
        frame
    }
}
