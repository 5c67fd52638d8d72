//! Commands that would wait for somebody.

use std::{
    io::{Read, Write},
    net::TcpListener,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    agent::{command, fixture_path},
    support::{FAMILIES, Played},
    told::last_results,
};

/// C01: pagers, editors, prompts and passwords end by themselves, with their error shown.
#[test]
fn c01_waiting_for_input_nobody_can_give() {
    let server = PrivateRepository::spawn();
    let clone = format!("git clone http://{}/private.git", server.address);
    // (command, exit code, part of what is shown)
    let cases: [(&str, Option<i32>, &str); 8] = [
        ("git log", Some(0), "commit 499"),
        ("cat", Some(0), ""),
        ("python3 -c 'input()'", Some(1), "EOFError"),
        ("git rebase -i HEAD~2", Some(1), "editor"),
        (&clone, Some(128), "fatal"),
        ("sh fake-sudo.sh", Some(1), "no terminal"),
        (
            "git -c user.name=a -c user.email=a@example.invalid commit --allow-empty",
            Some(1),
            "editor",
        ),
        ("read -r answer; echo \"got $answer\"", Some(0), "got"),
    ];
    let calls: Vec<Value> = cases.iter().map(|(text, ..)| command(text)).collect();
    let scenario = json!({ "steps": [{ "tools": calls }, { "text": "Done." }] }).to_string();
    for family in FAMILIES {
        let mut played = Played::new(family, &scenario);
        // The interpreter of the system, whatever version managers the machine has.
        played.place.set_variable("PATH", "/usr/local/bin:/usr/bin:/bin");
        let history = played.place.program(
            "sh",
            &[
                "-c",
                "git init -q -b main . && i=0 && while [ $i -lt 500 ]; do \
                 printf 'commit refs/heads/main\\ncommitter Test <test@example.invalid> %s +0000\\ndata <<E\\ncommit %s\\nE\\n' \
                 $((1700000000 + i)) $i; i=$((i + 1)); done | git fast-import --quiet",
            ],
        );
        assert!(
            history.status.success(),
            "{}",
            String::from_utf8_lossy(&history.stderr)
        );
        played.place.write(
            "fake-sudo.sh",
            std::fs::read(fixture_path("cmd/fake-sudo.sh")).unwrap(),
        );
        let began = Instant::now();
        let run = played.exec(&["--approvals", "allow", "Work."]).expect_code(0);
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        let commands = run.commands();
        assert_eq!(commands.len(), cases.len());
        for (card, (text, exit, part)) in commands.iter().zip(cases) {
            assert_eq!(card.exit_code, exit, "{text}: {card:?}");
            assert!(card.output.contains(part), "{text}: {}", card.output);
            let took = Duration::from_millis(card.duration_ms.unwrap());
            assert!(took < Duration::from_secs(5), "{text}: {took:?}");
        }
        let head = played.place.git(&["log", "-1", "--format=%s"]);
        assert_eq!(head, "commit 499\n", "the history is as it was");
        assert!(!played.place.exists(".git/rebase-merge"));
    }
}

/// C01: what needs an administrator is never run, whatever was approved, and says so.
#[test]
fn c01_administrator_commands_are_blocked() {
    for text in [
        "sudo id",
        "su -c id",
        "doas id",
        "echo x | sudo tee /etc/x",
        "pkexec id",
        "env sudo -n id",
    ] {
        let scenario = json!({ "steps": [{ "tools": [command(text)] }, { "text": "Done." }] }).to_string();
        let played = Played::new("anthropic", &scenario);
        let run = played.exec(&["--approvals", "allow", "Work."]).expect_code(0);
        let commands = run.commands();
        assert_eq!(
            commands[0].state.as_str(),
            "cancelled",
            "{text}: {:?}",
            commands[0]
        );
        let reason = &commands[0].policy_reason;
        assert!(
            reason.contains("as administrator") || reason.contains("as another user"),
            "{text}: {reason}"
        );
        assert_eq!(commands[0].exit_code, None);
        assert!(last_results(&played).contains(reason.as_str()), "{text}");
    }
}

/// A git server that wants to know who is asking.
struct PrivateRepository {
    address: std::net::SocketAddr,
}

impl PrivateRepository {
    fn spawn() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let Ok(mut connection) = connection else { return };
                let mut request = [0; 4096];
                let _ = connection.read(&mut request);
                let _ = connection.write_all(
                    b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"private\"\r\n\
                      Content-Length: 0\r\nConnection: close\r\n\r\n",
                );
            }
        });
        Self { address }
    }
}
