//! Where servers that speak Chat Completions differ from one another: one table.

/// What a server wants and gives otherwise than the rest.
#[derive(Debug)]
pub(crate) struct Quirks {
    /// The preset it belongs to.
    pub(crate) id: &'static str,
    /// Ends of the host names it is known by.
    hosts: &'static [&'static str],
    pub(crate) output_limit: OutputLimit,
    pub(crate) reasoning: Reasoning,
}

/// The name of the output limit. OpenAI's own models refuse the old one, many servers do not know the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputLimit {
    MaxTokens,
    MaxCompletionTokens,
}

/// Under which name the model's own reasoning goes back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reasoning {
    /// The field is refused.
    Never,
    /// `reasoning_content`: reasoning models lose their thread within a turn without it.
    Content,
    /// `reasoning`
    Plain,
    /// `reasoning_details`: a list with signatures, sent back as it came; `reasoning` where none came.
    Details,
}

static ROWS: [Quirks; 11] = [
    row(
        "openai",
        &["api.openai.com", ".openai.azure.com"],
        OutputLimit::MaxCompletionTokens,
        Reasoning::Never,
    ),
    row(
        "deepseek",
        &["api.deepseek.com"],
        OutputLimit::MaxTokens,
        Reasoning::Content,
    ),
    row(
        "openrouter",
        &["openrouter.ai"],
        OutputLimit::MaxTokens,
        Reasoning::Details,
    ),
    row(
        "groq",
        &["api.groq.com"],
        OutputLimit::MaxCompletionTokens,
        Reasoning::Plain,
    ),
    row(
        "together",
        &["api.together.xyz", "api.together.ai"],
        OutputLimit::MaxTokens,
        Reasoning::Plain,
    ),
    row(
        "fireworks",
        &["api.fireworks.ai"],
        OutputLimit::MaxTokens,
        Reasoning::Content,
    ),
    row("ollama", &[], OutputLimit::MaxTokens, Reasoning::Plain),
    row("lmstudio", &[], OutputLimit::MaxTokens, Reasoning::Content),
    row("llamacpp", &[], OutputLimit::MaxTokens, Reasoning::Content),
    row("vllm", &[], OutputLimit::MaxTokens, Reasoning::Content),
    // Everything that is not known.
    row("compatible", &[], OutputLimit::MaxTokens, Reasoning::Content),
];

const fn row(
    id: &'static str,
    hosts: &'static [&'static str],
    output_limit: OutputLimit,
    reasoning: Reasoning,
) -> Quirks {
    Quirks {
        id,
        hosts,
        output_limit,
        reasoning,
    }
}

impl Quirks {
    /// The address says more than the name a user chose: `openai` with another base URL is another server.
    pub(crate) fn of(id: &str, base_url: &str) -> &'static Self {
        let host = reqwest::Url::parse(base_url)
            .ok()
            .and_then(|url| url.host_str().map(str::to_owned))
            .unwrap_or_default();
        let last = &ROWS[ROWS.len() - 1];
        ROWS.iter()
            .find(|row| row.hosts.iter().any(|end| host.ends_with(end)))
            .or_else(|| ROWS.iter().find(|row| row.hosts.is_empty() && row.id == id))
            .unwrap_or(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_known_by_its_address_and_a_local_one_by_its_name() {
        for (id, url, row) in [
            ("openai", "https://api.openai.com/v1", "openai"),
            ("openai", "http://localhost:8080/v1", "compatible"),
            ("mine", "https://openrouter.ai/api/v1", "openrouter"),
            ("ollama", "http://192.168.0.9:11434/v1", "ollama"),
            ("deepseek", "https://proxy.example/v1", "compatible"),
            ("x", "", "compatible"),
        ] {
            assert_eq!(Quirks::of(id, url).id, row, "{id} {url}");
        }
    }
}
