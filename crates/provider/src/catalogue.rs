//! What is publicly known of models: context window, output limit, prices, abilities. An embedded snapshot of facts
//! with its date; what the user says, and then what a server says of its own models, counts more. Reads nothing.

use std::{collections::BTreeMap, sync::OnceLock};

use serde::{Deserialize, Serialize};

use crate::cost::Prices;

/// What is known of a model. Everything may be unknown, above all for models on the user's own machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelFacts {
    /// The most a request may hold, answer included, in tokens.
    pub context_window: Option<u64>,
    /// The longest answer, in tokens.
    pub max_output: Option<u64>,
    pub prices: Option<Prices>,
    pub images: Option<bool>,
    pub thinking: Option<bool>,
    /// The day on which the vendor ends it, as `2027-01-14`.
    pub until: Option<String>,
}

impl ModelFacts {
    /// These facts, and the others' where these say nothing.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            context_window: self.context_window.or(other.context_window),
            max_output: self.max_output.or(other.max_output),
            prices: self.prices.or(other.prices),
            images: self.images.or(other.images),
            thinking: self.thinking.or(other.thinking),
            until: self.until.or(other.until),
        }
    }
}

/// What the user knows better, in the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ModelEntry {
    /// In tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// In tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<bool>,
}

impl From<ModelEntry> for ModelFacts {
    fn from(entry: ModelEntry) -> Self {
        Self {
            context_window: entry.context_window,
            max_output: entry.max_output_tokens,
            images: entry.images,
            thinking: entry.thinking,
            ..Self::default()
        }
    }
}

/// A model that a server says it has.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveModel {
    pub id: String,
    pub facts: ModelFacts,
}

/// The snapshot's facts. Prices are a vendor's own: the same model elsewhere has none here.
pub fn facts(provider: &str, model: &str) -> ModelFacts {
    let snapshot = snapshot();
    if let Some(row) = snapshot
        .models
        .get(provider)
        .and_then(|models| find(models, model))
    {
        return row.facts();
    }
    // Gateways call a model `vendor/name`.
    let name = model.rsplit('/').next().unwrap_or(model);
    let elsewhere = ["anthropic", "openai", "gemini", "deepseek"]
        .iter()
        .find_map(|vendor| find(snapshot.models.get(*vendor)?, name));
    ModelFacts {
        prices: None,
        ..elsewhere.map(Row::facts).unwrap_or_default()
    }
}

/// The models of a built-in provider, in alphabetical order.
pub fn models(provider: &str) -> impl Iterator<Item = &'static str> {
    snapshot()
        .models
        .get(provider)
        .into_iter()
        .flat_map(|models| models.keys().map(String::as_str))
}

/// Where the facts come from and when they were taken.
pub fn source() -> (&'static str, &'static str) {
    (&snapshot().source, &snapshot().taken)
}

#[derive(Default, Deserialize)]
struct Snapshot {
    source: String,
    taken: String,
    models: BTreeMap<String, BTreeMap<String, Row>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    context: u64,
    output: Option<u64>,
    /// Input, output, cache read, cache write; the later ones may be missing.
    #[serde(default)]
    prices: Vec<Option<f64>>,
    #[serde(default)]
    can: Vec<Ability>,
    until: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Ability {
    Images,
    Thinking,
}

impl Row {
    fn facts(&self) -> ModelFacts {
        let price = |at: usize| self.prices.get(at).copied().flatten();
        ModelFacts {
            context_window: Some(self.context),
            max_output: self.output,
            prices: price(0).zip(price(1)).map(|(input, output)| Prices {
                input,
                output,
                cache_read: price(2),
                cache_write: price(3),
            }),
            images: Some(self.can.contains(&Ability::Images)),
            thinking: Some(self.can.contains(&Ability::Thinking)),
            until: self.until.clone(),
        }
    }
}

fn snapshot() -> &'static Snapshot {
    static SNAPSHOT: OnceLock<Snapshot> = OnceLock::new();
    // A test reads it; a snapshot that could not be read would only mean that nothing is known.
    SNAPSHOT.get_or_init(|| serde_json::from_str(include_str!("catalogue.json")).unwrap_or_default())
}

/// A name with a date, as `claude-x-20260101` or `gpt-x-2026-01-01`, is the model without it.
fn find<'a>(models: &'a BTreeMap<String, Row>, name: &str) -> Option<&'a Row> {
    models.get(name).or_else(|| models.get(without_date(name)?))
}

fn without_date(name: &str) -> Option<&str> {
    ["-00000000", "-0000-00-00"].iter().find_map(|shape| {
        let (base, end) = name.split_at_checked(name.len().checked_sub(shape.len())?)?;
        let fits = |(c, like): (char, char)| c == like || like == '0' && c.is_ascii_digit();
        end.chars().zip(shape.chars()).all(fits).then_some(base)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_snapshot_is_whole_and_says_where_it_comes_from() {
        let snapshot: Snapshot = serde_json::from_str(include_str!("catalogue.json")).unwrap();
        assert_eq!(snapshot.taken.len(), "2026-01-01".len());
        assert!(snapshot.source.contains("MIT"));
        for (vendor, models) in &snapshot.models {
            assert!(
                crate::presets::known(&Default::default()).contains(&vendor.as_str()),
                "{vendor}"
            );
            for (name, row) in models {
                assert!(row.context >= 1_000, "{vendor} {name}");
                let facts = row.facts();
                let sane = |price: f64| (0.0..1000.0).contains(&price);
                assert!(
                    facts
                        .prices
                        .is_none_or(|prices| sane(prices.input) && sane(prices.output)),
                    "{vendor} {name}"
                );
            }
        }
    }

    #[test]
    fn a_model_is_found_by_its_vendor_by_its_date_and_behind_a_gateway() {
        let sonnet = facts("anthropic", "claude-sonnet-5");
        assert_eq!(sonnet.context_window, Some(1_000_000));
        assert!(sonnet.prices.is_some() && sonnet.images == Some(true));
        assert_eq!(facts("anthropic", "claude-sonnet-5-20260301"), sonnet);
        let behind = facts("openrouter", "anthropic/claude-sonnet-5");
        assert_eq!((behind.context_window, behind.prices), (Some(1_000_000), None));
        for (provider, model) in [
            ("ollama", "qwen3:8b"),
            ("anthropic", "claude-9"),
            ("openai", "gpt-"),
            ("x", "2026-01-01-"),
        ] {
            assert_eq!(
                facts(provider, model),
                ModelFacts::default(),
                "{provider} {model}"
            );
        }
    }

    #[test]
    fn every_built_in_default_model_is_known() {
        let environment = |name: &str| name.ends_with("_API_KEY").then(|| "k".to_owned());
        for config in crate::presets::resolve_all(&Default::default(), &environment) {
            if !config.model.is_empty() && config.family != crate::Family::Scripted {
                assert!(
                    facts(&config.id, &config.model).context_window.is_some(),
                    "{}",
                    config.id
                );
            }
        }
    }
}
