//! Tokens and money as the provider reported them.

use serde::{Deserialize, Serialize};

/// Token counts of one or more model requests. `input` counts everything the model read, cached or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    /// Part of `input` that was read from the provider's prompt cache.
    pub cache_read: u64,
    /// Part of `input` that was written to the provider's prompt cache.
    pub cache_write: u64,
    /// Part of `output` spent on reasoning, where the provider says so.
    pub reasoning: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.reasoning += other.reasoning;
    }
}

/// What was spent in a session or on a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct Spending {
    /// Read and written.
    pub tokens: u64,
    /// US dollars, of the requests whose price is known.
    pub dollars: f64,
    /// Requests whose price is not known.
    pub unpriced: u64,
}

impl Spending {
    /// Adds one request. `dollars` is absent where its price is not known.
    pub fn add(&mut self, usage: &Usage, dollars: Option<f64>) {
        self.tokens += usage.input + usage.output;
        self.dollars += dollars.unwrap_or(0.0);
        self.unpriced += u64::from(dollars.is_none());
    }
}
