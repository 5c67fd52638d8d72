//! A person's standing rules about commands: kept in the store, listed, revoked, and handed to the policy where they
//! hold. What a rule means is the policy's.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use process::policy::{Effect, Pattern, Rule};
use protocol::{
    ErrorCode, Millis, RuleId, RuntimeError, SessionId,
    commands::{CommandRule, RuleEffect, RulePlace},
};
use serde::{Deserialize, Serialize};
use store::{Document, Durability, Store};

/// Document kind in the store; one for each rule.
const KIND: &str = "commandRule";

pub struct Rules {
    store: Store,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    rules: Vec<Kept>,
    /// By pattern, since the start.
    used: HashMap<String, u64>,
}

/// As it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    id: RuleId,
    pattern: String,
    effect: RuleEffect,
    place: RulePlace,
    #[serde(default)]
    session: Option<SessionId>,
    created_at: Millis,
    because: String,
}

/// A rule as somebody wants it.
pub struct NewRule {
    pub pattern: String,
    pub effect: RuleEffect,
    pub place: RulePlace,
    pub session: Option<SessionId>,
    pub because: String,
    pub now: Millis,
}

impl Rules {
    /// A rule that cannot be read is left out: commands it allowed ask again. One that forbade would be missed, so its
    /// loss is an error.
    pub fn open(store: &Store) -> Result<Self, RuntimeError> {
        let mut rules = Vec::new();
        for (id, value) in store.documents(KIND)? {
            match serde_json::from_value::<Kept>(value.clone()) {
                Ok(rule) => rules.push(rule),
                Err(_) if value["effect"] == "allow" => {}
                Err(error) => {
                    return Err(RuntimeError::new(
                        ErrorCode::StoreCorrupt,
                        format!("The rule {id} about commands cannot be read."),
                    )
                    .because(error)
                    .action("`vibe-coder doctor --salvage` saves what can be read."));
                }
            }
        }
        Ok(Self {
            store: store.clone(),
            known: Mutex::new(Known {
                rules,
                used: HashMap::new(),
            }),
        })
    }

    pub fn list(&self) -> Vec<CommandRule> {
        let known = self.known();
        known.rules.iter().map(|rule| known.shown(rule)).collect()
    }

    /// The same rule again is the one there is.
    pub fn add(&self, new: NewRule) -> Result<CommandRule, RuntimeError> {
        let pattern: Pattern = new.pattern.parse().map_err(|error| {
            RuntimeError::new(
                ErrorCode::RequestInvalid,
                format!("“{}” does not name commands: {error}.", new.pattern),
            )
            .action("Write the words of a command, with `*` for its arguments: npm install *")
        })?;
        let mut known = self.known();
        let pattern = pattern.to_string();
        let same = |rule: &&Kept| {
            (&rule.pattern, rule.effect, rule.place, &rule.session)
                == (&pattern, new.effect, new.place, &new.session)
        };
        if let Some(rule) = known.rules.iter().find(same) {
            return Ok(known.shown(rule));
        }
        let rule = Kept {
            id: RuleId::mint(),
            pattern,
            effect: new.effect,
            place: new.place,
            session: new.session,
            created_at: new.now,
            because: new.because,
        };
        self.put(&rule.id, Some(&rule))?;
        let shown = known.shown(&rule);
        known.rules.push(rule);
        Ok(shown)
    }

    pub fn revoke(&self, id: &RuleId) -> Result<(), RuntimeError> {
        let mut known = self.known();
        let Some(index) = known.rules.iter().position(|rule| rule.id == *id) else {
            return Err(RuntimeError::new(
                ErrorCode::RequestInvalid,
                format!("There is no rule {id} about commands."),
            )
            .action("`vibe-coder approvals list` shows the rules of this workspace."));
        };
        self.put(id, None)?;
        known.rules.remove(index);
        Ok(())
    }

    /// What holds for commands of a session, where nothing but a copy keeps them from the machine or in a sandbox.
    pub fn holding(&self, session: &SessionId, place: RulePlace) -> Vec<Rule> {
        let known = self.known();
        let holds = |rule: &&Kept| {
            let here = rule.session.as_ref().is_none_or(|of| of == session);
            // What forbids holds everywhere.
            let place =
                rule.effect != RuleEffect::Allow || rule.place == RulePlace::Anywhere || rule.place == place;
            here && place
        };
        let rules = known.rules.iter().filter(holds).filter_map(|rule| {
            Some(Rule {
                pattern: rule.pattern.parse().ok()?,
                effect: match rule.effect {
                    RuleEffect::Allow => Effect::Allow,
                    RuleEffect::Ask => Effect::Ask,
                    RuleEffect::Never => Effect::Never,
                },
            })
        });
        rules.collect()
    }

    /// Counts what rules have decided.
    pub fn used(&self, patterns: &[Pattern]) {
        let mut known = self.known();
        for pattern in patterns {
            *known.used.entry(pattern.to_string()).or_default() += 1;
        }
    }

    fn put(&self, id: &RuleId, rule: Option<&Kept>) -> Result<(), RuntimeError> {
        let document = Document {
            kind: KIND.to_owned(),
            id: id.as_str().to_owned(),
            session_id: rule.and_then(|rule| rule.session.clone()),
            value: rule
                .map(serde_json::to_value)
                .transpose()
                .map_err(RuntimeError::internal)?,
        };
        Ok(self.store.put_documents(&[document], Durability::Full)?)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn shown(&self, rule: &Kept) -> CommandRule {
        CommandRule {
            id: rule.id.clone(),
            pattern: rule.pattern.clone(),
            effect: rule.effect,
            place: rule.place,
            session_id: rule.session.clone(),
            created_at: rule.created_at,
            because: rule.because.clone(),
            used: self.used.get(&rule.pattern).copied().unwrap_or(0),
        }
    }
}
