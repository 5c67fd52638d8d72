//! What a request cost, from the provider's own counts.

use protocol::Usage;
use serde::{Deserialize, Serialize};

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    #[serde(rename = "inputPerMillion")]
    pub input: f64,
    #[serde(rename = "outputPerMillion")]
    pub output: f64,
    /// The input price when absent.
    #[serde(
        rename = "cacheReadPerMillion",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_read: Option<f64>,
    /// The input price when absent.
    #[serde(
        rename = "cacheWritePerMillion",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_write: Option<f64>,
}

/// The cost in US dollars.
pub fn cost(usage: &Usage, prices: &Prices) -> f64 {
    let fresh = usage
        .input
        .saturating_sub(usage.cache_read)
        .saturating_sub(usage.cache_write);
    let micro_dollars = fresh as f64 * prices.input
        + usage.cache_read as f64 * prices.cache_read.unwrap_or(prices.input)
        + usage.cache_write as f64 * prices.cache_write.unwrap_or(prices.input)
        + usage.output as f64 * prices.output;
    micro_dollars / 1_000_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_are_charged_at_their_own_price() {
        let prices = Prices {
            input: 3.0,
            output: 15.0,
            cache_read: Some(0.3),
            cache_write: Some(3.75),
        };
        let usage = Usage {
            input: 1_000_000,
            output: 100_000,
            cache_read: 600_000,
            cache_write: 200_000,
            reasoning: 50_000,
        };
        assert!((cost(&usage, &prices) - (0.6 + 0.18 + 0.75 + 1.5)).abs() < 1e-9);
        let flat = Prices {
            cache_read: None,
            cache_write: None,
            ..prices
        };
        assert!((cost(&usage, &flat) - 4.5).abs() < 1e-9);
    }
}
