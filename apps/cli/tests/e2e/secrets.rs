//! Keys stay in the environment of the app: not in its data, its events, or the commands it runs.

use serde_json::json;
use testkit::ExecRun;

use crate::{
    agent::{command, read},
    database::everything_written,
    support::{FAMILIES, Played},
};

const KEYS: [(&str, &str); 2] = [
    ("ANTHROPIC_API_KEY", "sk-ant-planted-8c1f02e7a94b"),
    ("OPENAI_API_KEY", "sk-planted-77aa12b3c4d5e6f7"),
];

#[test]
fn provider_keys_stay_where_they_are() {
    for family in FAMILIES {
        let (_, key) = KEYS[usize::from(family == "openai")];
        let scenario = json!({ "steps": [
            { "tools": [
                command("env"),
                command("printenv"),
                // Naming one is refused; finding it through a program of its own shows that it is not there.
                command("echo \"key=$ANTHROPIC_API_KEY$OPENAI_API_KEY.\""),
                command("/usr/bin/python3 -c 'import os; print(len([k for k in os.environ if \"API_KEY\" in k]), \"keys\")'"),
                // Even what a person approves against better knowledge is not kept.
                command("tr '\\0' '\\n' < /proc/$PPID/environ"),
                read("leaked.txt"),
            ] },
            // In pieces that cut the key anywhere.
            { "text": format!("Your key is {key}, isn't it?"), "chunk": 5, "delay_ms": 20 },
            { "error": { "kind": "auth", "message": format!("Incorrect API key provided: {key}") } },
        ] })
        .to_string();
        let mut played = Played::new(family, &scenario);
        for (name, value) in KEYS {
            played.place.set_variable(name, value);
        }
        played
            .place
            .write("leaked.txt", format!("the key {key} was pasted here\n"));
        let output = played.place.vibe(&[
            "exec",
            "--json",
            "--approvals",
            "allow",
            "--provider",
            family,
            "Show me everything.",
        ]);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let session = {
            let text = String::from_utf8_lossy(&output.stdout);
            let result: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
            result["session"].as_str().unwrap().to_owned()
        };
        let human = played
            .place
            .vibe(&["exec", "--session", &session, "--provider", family, "Again."]);
        assert_eq!(human.status.code(), Some(1));
        let shown = played.place.vibe(&["sessions", "export", &session]);
        let doctor = played.place.vibe(&["doctor"]);
        let planted = |bytes: &[u8], secret: &str| {
            bytes
                .windows(secret.len())
                .any(|window| window == secret.as_bytes())
        };
        for (_, secret) in KEYS {
            for (name, output) in [
                ("exec", &output),
                ("again", &human),
                ("export", &shown),
                ("doctor", &doctor),
            ] {
                assert!(
                    !planted(&output.stdout, secret),
                    "{family}: {name} prints {secret}"
                );
                assert!(!planted(&output.stderr, secret), "{family}: {name} says {secret}");
            }
            for (path, bytes) in everything_written(&played.place) {
                assert!(
                    !planted(&bytes, secret),
                    "{family}: {} holds {secret}",
                    path.display()
                );
            }
        }
        // Deltas put together again, as a screen shows them.
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut streamed = String::new();
        for line in stdout.lines() {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            streamed.push_str(event["body"]["delta"]["text"].as_str().unwrap_or_default());
        }
        for (_, secret) in KEYS {
            assert!(!streamed.contains(secret), "{family}: streamed in pieces");
        }
        assert!(
            stdout.contains("0 keys"),
            "the commands' environment has none of them"
        );
        let run = ExecRun::from_output(output);
        for card in &run.commands()[..2] {
            assert!(card.output.contains("HOME="), "{}: is usable", card.command);
            assert!(
                !card.output.contains("VIBE_CODER"),
                "{}: has nothing of ours",
                card.command
            );
        }
    }
}
