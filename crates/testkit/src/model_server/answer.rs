//! What the server answers to a request: checks it as the real service would, then takes the script's next
//! answer.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use protocol::Usage;
use provider::scenario::{Ending, Player, ScriptedErrorKind, Step};
use serde_json::{Value, json};

use super::{
    Fault, RecordedRequest, Script, WireFamily, anthropic, gemini, openai,
    recording::{End, Recording},
    responses,
};

/// Unique ids, the same in every run.
#[derive(Default)]
pub(super) struct Ids(AtomicU64);

impl Ids {
    pub(super) fn next(&self, prefix: &str) -> String {
        format!("{prefix}{:04}", self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// What of the request an answer repeats.
pub(super) struct Turn {
    pub(super) model: String,
    pub(super) usage: Usage,
}

pub(super) struct Answerer {
    source: Mutex<Source>,
    fault: Option<Fault>,
    ids: Ids,
}

enum Source {
    Scenario(Player),
    /// In order; the last one answers every further request.
    Recordings {
        recordings: Vec<Recording>,
        next: usize,
    },
}

impl Answerer {
    pub(super) fn new(script: Script) -> Self {
        let fault = match &script {
            Script::Faulty(_, fault) => Some(*fault),
            Script::Scenario(_) | Script::Recordings(_) => None,
        };
        let source = match script {
            Script::Scenario(scenario) | Script::Faulty(scenario, _) => {
                Source::Scenario(Player::new(scenario))
            }
            Script::Recordings(recordings) => Source::Recordings { recordings, next: 0 },
        };
        Self {
            source: Mutex::new(source),
            fault,
            ids: Ids::default(),
        }
    }

    pub(super) fn answer(&self, request: &RecordedRequest) -> Recording {
        let answer = self.whole_answer(request);
        match self.fault {
            Some(fault) => fault.spoil(answer),
            None => answer,
        }
    }

    fn whole_answer(&self, request: &RecordedRequest) -> Recording {
        let Some(family) = request.family else {
            if let Some(list) = model_list(request) {
                return json_answer(200, list);
            }
            return Recording::new(404, "text/plain")
                .send("404 page not found")
                .end(End::Close);
        };
        let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
            return json_answer(
                400,
                error_body(family, "invalid_request_error", "the body is not JSON"),
            );
        };
        let model = match family {
            WireFamily::Gemini => gemini::model_of(&request.path).unwrap_or_default(),
            _ => body["model"].as_str().unwrap_or_default().to_owned(),
        };
        let refusal = match family {
            WireFamily::Anthropic => anthropic::refuse(&body),
            WireFamily::OpenAiChat => openai::refuse(&body),
            WireFamily::OpenAiResponses => responses::refuse(&body),
            WireFamily::Gemini => gemini::refuse(&body, &model),
        };
        if let Some(reason) = refusal {
            return json_answer(400, error_body(family, "invalid_request_error", &reason));
        }
        match &mut *self.source.lock().unwrap_or_else(PoisonError::into_inner) {
            Source::Recordings { recordings, next } => {
                let at = (*next).min(recordings.len().saturating_sub(1));
                *next += 1;
                recordings.get(at).cloned().unwrap_or_else(|| {
                    json_answer(
                        400,
                        error_body(family, "invalid_request_error", "there is no recorded answer"),
                    )
                })
            }
            Source::Scenario(player) => {
                let arrived = match family {
                    WireFamily::Anthropic => anthropic::arrived(&body),
                    WireFamily::OpenAiChat => openai::arrived(&body),
                    WireFamily::OpenAiResponses => responses::arrived(&body),
                    WireFamily::Gemini => gemini::arrived(&body),
                };
                match player.next(&arrived) {
                    Ok(step) => self.play(&step, family, model, request.body.len()),
                    Err(error) => {
                        json_answer(400, error_body(family, "scenario_exhausted", &error.to_string()))
                    }
                }
            }
        }
    }

    fn play(&self, step: &Step, family: WireFamily, model: String, body_length: usize) -> Recording {
        if let (Ending::Error(error), false) = (&step.ending, step.says_something()) {
            match error.kind {
                ScriptedErrorKind::Network => return Recording::new(200, "text/plain").end(End::Refuse),
                ScriptedErrorKind::StreamBroken => {
                    return Recording::new(200, "text/event-stream").end(End::Close);
                }
                ScriptedErrorKind::NotAModel => {
                    let page = "<!DOCTYPE html><html><head><title>Sign in</title></head><body></body></html>";
                    return Recording::new(200, "text/html").send(page).end(End::Close);
                }
                _ => {}
            }
            if let (WireFamily::Gemini, ScriptedErrorKind::Refused) = (family, error.kind) {
                return gemini::blocked();
            }
            let (status, body) = match family {
                WireFamily::Anthropic => anthropic::describe(error),
                WireFamily::OpenAiChat => openai::describe(error),
                WireFamily::OpenAiResponses => responses::describe(error),
                WireFamily::Gemini => gemini::describe(error),
            };
            let answer = json_answer(status, body);
            return match error.retry_after {
                Some(seconds) => answer.header("retry-after", seconds),
                None => answer,
            };
        }
        let turn = Turn {
            model,
            usage: step.usage.unwrap_or(Usage {
                input: body_length.div_ceil(4) as u64,
                output: step.sent_text().len().div_ceil(4) as u64,
                ..Usage::default()
            }),
        };
        match family {
            WireFamily::Anthropic => anthropic::answer(step, &turn, &self.ids),
            WireFamily::OpenAiChat => openai::answer(step, &turn, &self.ids),
            WireFamily::OpenAiResponses => responses::answer(step, &turn, &self.ids),
            WireFamily::Gemini => gemini::answer(step, &turn, &self.ids),
        }
    }
}

/// The models this server claims to have, in the form that the asked address has at the real services.
fn model_list(request: &RecordedRequest) -> Option<Value> {
    const MODELS: [&str; 2] = ["m", "other"];
    let path = request.path.split('?').next().unwrap_or_default();
    let list = |item: fn(&str) -> Value| MODELS.map(item).to_vec();
    match (request.method.as_str(), path, request.header("anthropic-version")) {
        ("GET", "/v1/models", Some(_)) => Some(json!({ "has_more": false, "data": list(|id| json!({
            "type": "model", "id": id, "display_name": id, "created_at": "2026-01-01T00:00:00Z",
            "max_input_tokens": 40_000, "max_tokens": 4_000,
        })) })),
        ("GET", "/v1/models", None) => Some(json!({ "object": "list", "data": list(|id| json!({
            "object": "model", "id": id, "created": 1_700_000_000, "owned_by": "test", "max_model_len": 40_000,
        })) })),
        // Ollama's own interface.
        ("GET", "/api/tags", _) => Some(json!({ "models": list(|id| json!({ "name": id, "model": id })) })),
        ("GET", "/api/ps", _) => {
            Some(json!({ "models": [{ "name": "m", "model": "m", "context_length": 4_096 }] }))
        }
        ("GET", "/v1beta/models", _) => Some(json!({ "models": list(|id| json!({
            "name": format!("models/{id}"), "displayName": id, "inputTokenLimit": 40_000, "outputTokenLimit": 4_000,
            "supportedGenerationMethods": ["generateContent"],
        })) })),
        _ => None,
    }
}

fn error_body(family: WireFamily, kind: &str, message: &str) -> Value {
    match family {
        WireFamily::Anthropic => anthropic::error_body(kind, message),
        WireFamily::OpenAiChat | WireFamily::OpenAiResponses => openai::error_body(kind, message),
        WireFamily::Gemini => gemini::error_body(400, "INVALID_ARGUMENT", message),
    }
}

fn json_answer(status: u16, body: Value) -> Recording {
    Recording::new(status, "application/json")
        .send(body.to_string())
        .end(End::Close)
}
