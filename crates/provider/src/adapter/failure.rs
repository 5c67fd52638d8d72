//! What a provider's error means. Families and gateways word the same few causes differently; this is the one
//! place that reads them.

use std::time::Duration;

use serde_json::Value;

use crate::error::ProviderErrorKind as Kind;

/// A failure before it is known where it happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    pub(crate) message: String,
    /// A wait that is named in the error itself.
    pub(crate) retry_after: Option<Duration>,
}

impl Fault {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
        }
    }

    /// An error event inside a stream, or the error object of a body.
    pub(crate) fn from_error(error: &Value, status: Option<u16>) -> Self {
        let word = |key: &str| match &error[key] {
            Value::String(text) => text.to_lowercase(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let message = match error {
            Value::String(text) => text.clone(),
            _ => match &error["message"] {
                Value::String(text) => text.clone(),
                _ => error.to_string(),
            },
        };
        // Gateways put the upstream's status into the error object of a 200.
        let status = status
            .filter(|status| *status >= 300)
            .or_else(|| word("code").parse().ok());
        let labels = format!("{} {} {}", word("type"), word("code"), word("status"));
        let mut kind = classify(status, &labels, &message.to_lowercase());
        let retry_after = retry_info(&error["details"]);
        // Google words a limit per minute as a used-up quota; what tells them apart are the details.
        if kind == Kind::Quota && retry_after.is_some() && !error["details"].to_string().contains("PerDay") {
            kind = Kind::RateLimited;
        }
        Self {
            retry_after,
            ..Self::new(kind, message)
        }
    }
}

/// The wait in Google's error details: `{"@type": "…RetryInfo", "retryDelay": "34.5s"}`.
fn retry_info(details: &Value) -> Option<Duration> {
    let delay = |detail: &Value| {
        let seconds: f64 = detail["retryDelay"].as_str()?.strip_suffix('s')?.parse().ok()?;
        Duration::try_from_secs_f64(seconds).ok()
    };
    details.as_array()?.iter().find_map(delay)
}

/// Reads the body of an answer that is not a stream.
pub(crate) fn from_body(status: u16, body: &str) -> Fault {
    let Ok(json) = serde_json::from_str::<Value>(body) else {
        let kind = classify(Some(status), "", &body.to_lowercase());
        return Fault::new(
            kind,
            if looks_like_html(body) {
                html_title(body)
            } else {
                body.to_owned()
            },
        );
    };
    let object = json.get(0).unwrap_or(&json);
    match &object["error"] {
        Value::Null => Fault::from_error(object, Some(status)),
        error => Fault::from_error(error, Some(status)),
    }
}

fn classify(status: Option<u16>, labels: &str, message: &str) -> Kind {
    let labelled = |words: &[&str]| words.iter().any(|word| labels.contains(word));
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let status = status.unwrap_or(0);

    if labelled(&["insufficient_quota", "billing", "insufficient_balance"])
        || status == 402
        || says(&[
            "credit balance is too low",
            "exceeded your current quota",
            "insufficient balance",
        ])
    {
        return Kind::Quota;
    }
    if labelled(&["context_length", "request_too_large", "exceed_context_size"])
        || status == 413
        || (matches!(status, 0 | 400 | 422 | 500)
            && says(&[
                "prompt is too long",
                "maximum context length",
                "context length",
                "context window",
                "context size",
                "exceed context limit",
                "input is too long",
                "maximum number of tokens allowed",
            ]))
    {
        return Kind::ContextTooLong;
    }
    if labelled(&[
        "authentication",
        "invalid_api_key",
        "permission",
        "unauthenticated",
    ]) || matches!(status, 401 | 403)
        || says(&["api key not valid", "api key expired"])
    {
        return Kind::Auth;
    }
    if labelled(&["model_not_found"])
        || (matches!(status, 404 | 400)
            && says(&["model"])
            && says(&["not found", "does not exist", "not exist"]))
        || (status == 400 && says(&["invalid model name"]))
        || (labelled(&["not_found"]) && says(&["model"]))
    {
        return Kind::ModelUnknown;
    }
    if labelled(&["overloaded"]) || matches!(status, 503 | 529) || says(&["overloaded"]) {
        return Kind::Overloaded;
    }
    if labelled(&["rate_limit", "resource_exhausted", "too_many_requests"]) || status == 429 {
        return Kind::RateLimited;
    }
    if labelled(&["content_policy", "content_filter", "safety"])
        || says(&["content filtering policy", "prohibited content"])
    {
        return Kind::Refused;
    }
    match status {
        404 | 405 | 300..400 => Kind::NotAModel,
        407 => Kind::Proxy,
        408 | 409 | 500.. => Kind::Server,
        400 | 422 => Kind::InvalidRequest,
        _ if labelled(&["api_error", "server_error", "internal", "unavailable", "timeout"]) => Kind::Server,
        _ if labelled(&["invalid_request", "invalid_value", "invalid_prompt"]) => Kind::InvalidRequest,
        _ => Kind::Other,
    }
}

pub(crate) fn looks_like_html(body: &str) -> bool {
    let start = body.trim_start().get(..15).unwrap_or_default().to_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html")
}

/// A web page's title says more than its source.
fn html_title(body: &str) -> String {
    let title = body
        .split_once("<title>")
        .and_then(|(_, rest)| rest.split_once("</title>"));
    match title {
        Some((title, _)) => format!("a web page: “{}”", title.trim()),
        None => "a web page".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_recognised_however_they_are_worded() {
        for (status, body, kind) in [
            (
                401,
                r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
                Kind::Auth,
            ),
            (
                403,
                r#"{"error":{"type":"permission_error","message":"no"}}"#,
                Kind::Auth,
            ),
            (
                404,
                r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}}"#,
                Kind::ModelUnknown,
            ),
            (
                404,
                r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
                Kind::ModelUnknown,
            ),
            (404, r#"{"error":"model 'x' not found"}"#, Kind::ModelUnknown),
            // LiteLLM.
            (
                400,
                r#"{"error":{"message":"/chat/completions: Invalid model name passed in model=x. Call `/v1/models` to view available models","type":"None","code":"400"}}"#,
                Kind::ModelUnknown,
            ),
            (404, "404 page not found", Kind::NotAModel),
            (302, "", Kind::NotAModel),
            (
                429,
                r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#,
                Kind::RateLimited,
            ),
            (
                429,
                r#"{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"…"}}"#,
                Kind::Quota,
            ),
            (
                400,
                r#"{"error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
                Kind::Quota,
            ),
            (
                400,
                r#"{"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"m"}}"#,
                Kind::ContextTooLong,
            ),
            (
                400,
                r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 2 > 1"}}"#,
                Kind::ContextTooLong,
            ),
            (
                413,
                r#"{"error":{"type":"request_too_large","message":"m"}}"#,
                Kind::ContextTooLong,
            ),
            (
                400,
                r#"{"error":{"type":"invalid_request_error","message":"tools.0: bad schema"}}"#,
                Kind::InvalidRequest,
            ),
            (
                422,
                r#"{"detail":[{"msg":"field required"}]}"#,
                Kind::InvalidRequest,
            ),
            (
                400,
                r#"{"error":{"code":"content_policy_violation","message":"m"}}"#,
                Kind::Refused,
            ),
            (
                529,
                r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Kind::Overloaded,
            ),
            (503, "<html><title>503 busy</title>", Kind::Overloaded),
            (
                500,
                r#"{"error":{"type":"api_error","message":"Internal"}}"#,
                Kind::Server,
            ),
            (502, "Bad gateway", Kind::Server),
            (
                200,
                r#"{"error":{"code":429,"message":"upstream"}}"#,
                Kind::RateLimited,
            ),
            (
                200,
                r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Kind::Overloaded,
            ),
            (
                200,
                r#"{"error":{"type":"server_error","message":"oops"}}"#,
                Kind::Server,
            ),
            (418, "teapot", Kind::Other),
            (
                400,
                r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"API key not valid. Please pass a valid API key."}}"#,
                Kind::Auth,
            ),
            (
                400,
                r#"[{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}]"#,
                Kind::ContextTooLong,
            ),
            (
                404,
                r#"{"error":{"code":404,"status":"NOT_FOUND","message":"models/x is not found for API version v1beta"}}"#,
                Kind::ModelUnknown,
            ),
            (
                429,
                r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota","details":[{"retryDelay":"3.5s"}]}}"#,
                Kind::RateLimited,
            ),
            (
                429,
                r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota","details":[{"violations":[{"quotaId":"RequestsPerDay"}]},{"retryDelay":"3s"}]}}"#,
                Kind::Quota,
            ),
        ] {
            assert_eq!(from_body(status, body).kind, kind, "{status} {body}");
        }
    }

    #[test]
    fn a_web_page_is_told_by_its_title() {
        let fault = from_body(
            502,
            "<!DOCTYPE html><html><head><title> Bad gateway </title></head>",
        );
        assert_eq!(fault.message, "a web page: “Bad gateway”");
    }
}
