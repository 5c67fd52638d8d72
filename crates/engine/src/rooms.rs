//! The rooms an engine works with, opened once and shared by its sessions and turns.

use std::sync::Arc;

use changeset::ChangeSets;
use prompt::TokenBudgetManager;
use protocol::{RuntimeError, Usage};
use store::{DataHome, Store, log::LogEvent};
use workspace::Workspace;

use crate::{
    calibration::Calibrations, commands::Commands, events::EventSink, isolation::Isolation,
    knowledge::Knowledge, login::LoginEnvironment, models::Models, paths::PathCache, rules::Rules,
    spending::DaySum, verification::Fingerprints,
};

/// The most tokens an answer may have, whatever its model could give: room for a whole file, and no more to pay for
/// than that when a model runs on.
const MAX_OUTPUT_TOKENS: u32 = 32_000;
/// Asked for where it is not known how long an answer may be. Every current coding model gives this.
const USUAL_OUTPUT_TOKENS: u64 = 8_192;
/// Assumed where the model's own window is not known; every current coding model has at least this.
const DEFAULT_CONTEXT_WINDOW: u64 = 128_000;

pub struct Rooms {
    pub store: Store,
    pub sink: EventSink,
    pub workspace: Workspace,
    /// The folder's own name, for prompts and titles.
    pub workspace_name: String,
    pub changes: ChangeSets,
    pub isolation: Isolation,
    pub fingerprints: Fingerprints,
    pub commands: Arc<Commands>,
    pub rules: Rules,
    pub models: Models,
    pub day_sum: DaySum,
    pub calibrations: Calibrations,
    pub home: DataHome,
    /// The environment this process started with, read once.
    pub environment: crate::Environment,
    /// What commands get of it.
    pub login: LoginEnvironment,
    pub paths: Arc<PathCache>,
    pub knowledge: Arc<Knowledge>,
}

impl Rooms {
    pub fn budget(&self, provider: &str, model: &str) -> TokenBudgetManager {
        let window = self.context_window(provider, model);
        TokenBudgetManager::new(window, u64::from(self.output_limit(provider, model)))
            .calibrated(self.calibrations.of(&self.store, provider, model))
    }

    /// The longest answer to ask for, in tokens: no more than the model can give, and than a quarter of what it can
    /// hold.
    pub fn output_limit(&self, provider: &str, model: &str) -> u32 {
        let facts = self.models.gateway().facts(provider, model);
        let limit = facts.max_output.unwrap_or(USUAL_OUTPUT_TOKENS);
        let share = self.context_window(provider, model) / 4;
        let limit = limit.min(share).clamp(1, u64::from(MAX_OUTPUT_TOKENS));
        u32::try_from(limit).unwrap_or(MAX_OUTPUT_TOKENS)
    }

    fn context_window(&self, provider: &str, model: &str) -> u64 {
        let facts = self.models.gateway().facts(provider, model);
        facts.context_window.unwrap_or(DEFAULT_CONTEXT_WINDOW)
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
