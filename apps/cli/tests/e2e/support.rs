//! What the end-to-end tests share.

use testkit::{ExecRun, Hermetic, ModelServer};

/// The two wire formats a scenario is played over.
pub const FAMILIES: [&str; 2] = ["anthropic", "openai"];

/// All wire formats, for what must hold byte for byte.
pub const ALL_FAMILIES: [&str; 4] = ["anthropic", "openai", "responses", "gemini"];

/// What a line with a piece of a command's output has in it; the words of the output stand in the command, too.
pub const OUTPUT: &str = r#""delta":{"kind":"output""#;

pub fn hermetic() -> Hermetic {
    Hermetic::new(env!("CARGO_BIN_EXE_vibe-coder"))
}

/// A place whose `provider` is a model server that plays the scenario.
pub struct Played {
    pub place: Hermetic,
    pub server: ModelServer,
    pub provider: &'static str,
}

impl Played {
    pub fn new(provider: &'static str, scenario: &str) -> Self {
        let server = ModelServer::spawn(scenario);
        let mut place = hermetic();
        place.set_variable("ANTHROPIC_BASE_URL", server.anthropic_base_url());
        place.set_variable("OPENAI_BASE_URL", server.openai_base_url());
        place.set_variable("ANTHROPIC_API_KEY", "sk-ant-test-0123456789");
        place.set_variable("OPENAI_API_KEY", "sk-test-0123456789");
        place.set_variable("GEMINI_BASE_URL", server.gemini_base_url());
        place.set_variable("GEMINI_API_KEY", "gemini-test-0123456789");
        if provider == "responses" {
            let entry = serde_json::json!({
                "family": "openai-responses", "baseUrl": server.openai_base_url(),
                "apiKeyEnv": "OPENAI_API_KEY", "model": "gpt-5.5",
            });
            let set = place.vibe(&["settings", "set", "providers.responses", &entry.to_string()]);
            assert!(set.status.success(), "{}", String::from_utf8_lossy(&set.stderr));
        }
        Self {
            place,
            server,
            provider,
        }
    }

    /// For a script that ends with failing tests on purpose, or counts the commands that it runs itself.
    pub fn without_checks(self) -> Self {
        let set = self.place.vibe(&["settings", "set", "checks.automatic", "off"]);
        assert!(set.status.success(), "{}", String::from_utf8_lossy(&set.stderr));
        self
    }

    /// Waits until the server has a request.
    pub fn wait_for_request(&self, limit: std::time::Duration) {
        let end = std::time::Instant::now() + limit;
        while self.server.requests().is_empty() {
            assert!(std::time::Instant::now() < end, "no request came");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// Answers from here on come from another server.
    pub fn play(&mut self, server: ModelServer) {
        self.place
            .set_variable("ANTHROPIC_BASE_URL", server.anthropic_base_url());
        self.place
            .set_variable("OPENAI_BASE_URL", server.openai_base_url());
        self.server = server;
    }

    pub fn exec(&self, arguments: &[&str]) -> ExecRun {
        let mut all = vec!["--provider", self.provider];
        all.extend_from_slice(arguments);
        self.place.exec(&all)
    }
}

/// Runs a verb that prints one JSON value a line.
pub fn json_lines(place: &Hermetic, arguments: &[&str]) -> (Option<i32>, Vec<serde_json::Value>) {
    let output = place.vibe(arguments);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let values = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    (output.status.code(), values)
}

/// Processes whose command line or environment carries a tag.
pub fn processes_with(tag: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc") {
        let Ok(pid) = entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .parse::<u32>()
        else {
            continue;
        };
        if pid == std::process::id() {
            continue;
        }
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&command).contains(tag) {
            found.push(pid);
        }
    }
    found
}
