//! The rooms an engine works with, opened once and shared by its sessions and turns.

use std::sync::Arc;

use changeset::ChangeSets;
use prompt::TokenBudgetManager;
use protocol::{RuntimeError, Usage};
use store::{DataHome, Store, log::LogEvent};
use workspace::Workspace;

use crate::{events::EventSink, models::Models, paths::PathCache};

/// Tokens an answer may have. Within what every current model of the supported families allows.
pub const MAX_OUTPUT_TOKENS: u32 = 8_192;
/// Assumed where the model's own window is not known; every current coding model has at least this.
const DEFAULT_CONTEXT_WINDOW: u64 = 128_000;

pub struct Rooms {
    pub store: Store,
    pub sink: EventSink,
    pub workspace: Workspace,
    /// The folder's own name, for prompts and titles.
    pub workspace_name: String,
    pub changes: ChangeSets,
    pub models: Models,
    pub home: DataHome,
    /// The environment this process started with, read once.
    pub environment: crate::Environment,
    pub paths: Arc<PathCache>,
}

impl Rooms {
    pub fn budget(&self) -> TokenBudgetManager {
        TokenBudgetManager::new(DEFAULT_CONTEXT_WINDOW, u64::from(MAX_OUTPUT_TOKENS))
    }

    /// Absent where the price is not known: no figure is better than a wrong one.
    pub fn cost(&self, provider: &str, model: &str, usage: &Usage) -> Option<f64> {
        let gateway = self.models.gateway();
        let prices = gateway.facts(provider, model).prices?;
        Some(provider::cost(usage, &prices))
    }

    /// Records a failure that has no one to be returned to.
    pub fn log_failure(&self, what: &str, error: &RuntimeError) {
        self.sink.log(&LogEvent::Unreported {
            place: what.to_owned(),
            code: error.code,
        });
    }
}
