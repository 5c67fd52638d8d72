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
