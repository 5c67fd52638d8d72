//! What the end-to-end tests share.

use testkit::{ExecRun, Hermetic, ModelServer};

/// The two wire formats a scenario is played over.
pub const FAMILIES: [&str; 2] = ["anthropic", "openai"];

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
        Self {
            place,
            server,
            provider,
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
