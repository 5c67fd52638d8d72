//! What servers say of their own models, each in its own way. Reads answers; sends nothing.

use serde_json::Value;

use crate::{
    catalogue::{LiveModel, ModelFacts},
    config::Family,
    cost::Prices,
};

/// Where the list is, below the base URL.
pub(crate) fn path(family: Family, base: &str) -> &'static str {
    match family {
        Family::Anthropic if base.ends_with("/v1") => "/models?limit=1000",
        Family::Anthropic => "/v1/models?limit=1000",
        Family::Gemini => "/models?pageSize=1000",
        Family::OpenAiChat | Family::OpenAiResponses | Family::Scripted => "/models",
    }
}

/// The root of Ollama's own interface, where the provider is Ollama: its list in OpenAI's form says nothing of how much a
/// model was loaded with, and what is longer is cut without a word.
pub(crate) fn ollama_root<'a>(id: &str, base: &'a str) -> Option<&'a str> {
    let root = base.trim_end_matches('/').strip_suffix("/v1")?;
    (id == "ollama" || root.ends_with(":11434")).then_some(root)
}

/// The models of Ollama's `/api/tags`, with the windows of those that `/api/ps` says are loaded.
pub(crate) fn ollama_models(tags: &Value, running: &Value) -> Option<Vec<LiveModel>> {
    let mut models = models(tags)?;
    let loaded = running["models"].as_array().into_iter().flatten();
    for row in loaded {
        let window = row["context_length"].as_u64();
        if let Some(model) = models.iter_mut().find(|model| row["name"] == model.id.as_str()) {
            model.facts.context_window = window;
        }
    }
    Some(models)
}

/// The models of an answer, nothing when it is no list of models.
pub(crate) fn models(answer: &Value) -> Option<Vec<LiveModel>> {
    // OpenAI and Anthropic say `data`, Google `models`, Together a bare list.
    let list = [&answer["data"], &answer["models"], answer]
        .into_iter()
        .find_map(Value::as_array)?;
    let mut models: Vec<LiveModel> = list.iter().filter_map(model).collect();
    models.sort_by(|left, right| left.id.cmp(&right.id));
    models.dedup_by(|left, right| left.id == right.id);
    Some(models)
}

fn model(item: &Value) -> Option<LiveModel> {
    let name = ["id", "name", "model"]
        .iter()
        .find_map(|key| item[*key].as_str())?;
    // Google lists models that only embed, for example.
    let methods = item["supportedGenerationMethods"].as_array();
    if methods.is_some_and(|methods| !methods.iter().any(|method| method == "generateContent")) {
        return None;
    }
    let first = |keys: &[&str]| {
        keys.iter()
            .find_map(|key| item.pointer(key).and_then(Value::as_u64))
    };
    let modalities = item
        .pointer("/architecture/input_modalities")
        .and_then(Value::as_array);
    Some(LiveModel {
        id: name.strip_prefix("models/").unwrap_or(name).to_owned(),
        facts: ModelFacts {
            context_window: first(&[
                "/loaded_context_length",
                "/max_model_len",
                "/meta/n_ctx",
                "/context_length",
                "/context_window",
                "/max_context_length",
                "/max_input_tokens",
                "/inputTokenLimit",
                "/meta/n_ctx_train",
            ]),
            max_output: first(&[
                "/top_provider/max_completion_tokens",
                "/max_completion_tokens",
                "/outputTokenLimit",
                "/max_tokens",
            ]),
            prices: prices(&item["pricing"]),
            images: modalities.map(|kinds| kinds.iter().any(|kind| kind == "image")),
            thinking: item["thinking"].as_bool(),
            until: None,
        },
    })
}

/// OpenRouter: dollars per token, as text. Other lists have other units and are not read.
fn prices(pricing: &Value) -> Option<Prices> {
    let price = |key: &str| {
        let per_token: f64 = pricing[key].as_str()?.parse().ok()?;
        (per_token >= 0.0).then_some(per_token * 1_000_000.0)
    };
    Some(Prices {
        input: price("prompt")?,
        output: price("completion")?,
        cache_read: price("input_cache_read"),
        cache_write: price("input_cache_write"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ollama_says_in_its_own_form_what_is_loaded() {
        let tags = json!({ "models": [{ "name": "qwen3:8b", "model": "qwen3:8b" }, { "name": "gemma:2b" }] });
        let running = json!({ "models": [{ "name": "qwen3:8b", "context_length": 4096, "size_vram": 1 }] });
        let windows: Vec<(String, Option<u64>)> = ollama_models(&tags, &running)
            .unwrap()
            .into_iter()
            .map(|model| (model.id, model.facts.context_window))
            .collect();
        assert_eq!(
            windows,
            [("gemma:2b".into(), None), ("qwen3:8b".into(), Some(4096))]
        );
        for (id, base, root) in [
            ("ollama", "http://box:80/v1", Some("http://box:80")),
            (
                "mine",
                "http://127.0.0.1:11434/v1/",
                Some("http://127.0.0.1:11434"),
            ),
            ("mine", "http://127.0.0.1:1234/v1", None),
        ] {
            assert_eq!(ollama_root(id, base), root);
        }
    }

    #[test]
    fn every_servers_list_is_read() {
        for (server, answer, expected) in [
            (
                "openai",
                json!({ "object": "list", "data": [{ "id": "gpt-5.5", "object": "model" }] }),
                ("gpt-5.5", None),
            ),
            (
                "anthropic",
                json!({ "data": [{ "id": "claude-x", "max_input_tokens": 200_000, "max_tokens": 64_000 }] }),
                ("claude-x", Some(200_000)),
            ),
            (
                "gemini",
                json!({ "models": [
                    { "name": "models/embed", "supportedGenerationMethods": ["embedContent"] },
                    { "name": "models/gemini-3.8-flash", "inputTokenLimit": 1_048_576, "supportedGenerationMethods": ["generateContent"] },
                ] }),
                ("gemini-3.8-flash", Some(1_048_576)),
            ),
            (
                "together",
                json!([{ "id": "a/b", "context_length": 4096 }]),
                ("a/b", Some(4096)),
            ),
            (
                "vllm",
                json!({ "data": [{ "id": "q", "max_model_len": 32_768 }] }),
                ("q", Some(32_768)),
            ),
            (
                "groq",
                json!({ "data": [{ "id": "q", "context_window": 131_072, "max_completion_tokens": 8 }] }),
                ("q", Some(131_072)),
            ),
            (
                "lmstudio",
                json!({ "data": [{ "id": "q", "max_context_length": 99, "loaded_context_length": 9 }] }),
                ("q", Some(9)),
            ),
            (
                "llama.cpp",
                json!({ "data": [{ "id": "q", "meta": { "n_ctx_train": 40_960 } }] }),
                ("q", Some(40_960)),
            ),
        ] {
            let models = models(&answer).unwrap();
            let got = (models[0].id.as_str(), models[0].facts.context_window);
            assert_eq!((models.len(), got), (1, expected), "{server}");
        }
        let router = json!({ "data": [{ "id": "v/m", "context_length": 5, "pricing": { "prompt": "0.000002", "completion": "0.00001" },
            "top_provider": { "max_completion_tokens": 7 }, "architecture": { "input_modalities": ["text", "image"] } }] });
        let facts = models(&router).unwrap().remove(0).facts;
        let prices = facts.prices.unwrap();
        assert!((prices.input - 2.0).abs() < 1e-9 && (prices.output - 10.0).abs() < 1e-9);
        assert_eq!((facts.max_output, facts.images), (Some(7), Some(true)));
        assert_eq!(models(&json!({ "error": "no" })), None);
    }
}
