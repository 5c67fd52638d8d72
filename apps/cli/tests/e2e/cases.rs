//! Known failures of commands and of trust, through the product; each test is named after its case. C01, C07 and W02 are
//! with what they are about (`commands`, `background`, `staged`, `names`).

use std::{
    fs,
    time::{Duration, Instant},
};

use protocol::{CommandState, ItemKind, timeline::CommandItem};
use serde_json::{Value, json};

use crate::{
    agent::{call, command, create, edit, fixture, fixture_path, turns},
    support::{Played, processes_with},
    told::last_results,
    user::changes,
    wire::Wire,
};

const LIMIT: Duration = Duration::from_secs(30);

fn played(calls: &[&[Value]]) -> Played {
    Played::new("anthropic", &turns(calls))
}

fn gone(tag: &str) {
    let begun = Instant::now();
    while !processes_with(tag).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(2), "{tag} survives");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A wrapper with grandchildren and a listening server: gone after Stop, a cancelled turn, and the end of the engine.
#[test]
fn c02_processes_survive_stop() {
    let line = |tag: &str| format!("sh orphans.sh {tag}");
    let tags = ["kf-stop", "kf-cancel", "kf-end"];
    let calls: Vec<Vec<Value>> = tags.iter().map(|tag| vec![command(&line(tag))]).collect();
    let calls: Vec<&[Value]> = calls.iter().map(Vec::as_slice).collect();
    let played = played(&calls);
    played.place.write("orphans.sh", fixture("cmd/orphans.sh"));
    let mut wire = Wire::open(&played);
    let session = wire.session();
    for tag in tags {
        let from = wire.events_so_far();
        wire.send(&session, "Work.");
        let begun = Instant::now();
        let running = loop {
            let listed = wire.ask("command/list", json!({}))["commands"].clone();
            let output = listed[0]["recentOutput"].as_str().unwrap_or_default().to_owned();
            if output.contains("port ") {
                break listed[0].clone();
            }
            assert!(begun.elapsed() < LIMIT, "{tag} did not start");
            std::thread::sleep(Duration::from_millis(20));
        };
        assert!(!processes_with(tag).is_empty());
        match tag {
            "kf-stop" => {
                wire.ask("command/stop", json!({ "commandId": running["commandId"] }));
                gone(tag);
                let run = wire.turn_end(&session, from);
                assert_eq!(run.commands().len(), 1, "one end");
                assert_eq!(run.commands()[0].state, CommandState::Stopped);
            }
            "kf-cancel" => {
                wire.ask("turn/cancel", json!({ "sessionId": session }));
                gone(tag);
                // Its end is on the way; the next turn's end must not be taken for it.
                wire.until(LIMIT, |event| match &event.body {
                    protocol::EventBody::TurnCompleted { outcome, .. } => {
                        (*outcome == protocol::event::TurnOutcome::Cancelled).then_some(())
                    }
                    _ => None,
                });
                // Takes the answer that the cancelled turn did not ask for any more.
                wire.turn(&session, "Go on.");
            }
            _ => {
                wire.ask("engine/shutdown", json!({}));
                gone(tag);
            }
        }
    }
}

/// A child that holds the output does not hold the call; the card names it and says what became of it.
#[test]
fn c03_a_background_child_keeps_the_call_open() {
    let lines = [
        "sleep 60 & echo done",
        "(sleep 60; echo late) & echo done",
        "nohup sleep 60 >/dev/null 2>&1 & echo $!",
    ];
    let played = played(&[&lines.map(command)]);
    let run = played.exec(&["--approvals", "allow", "Work."]);
    for card in run.commands() {
        assert!(card.duration_ms.unwrap() < 5_000, "{card:?}");
        assert_eq!(card.exit_code, Some(0), "{card:?}");
        let notes = card.notes.join("\n");
        assert!(
            notes.contains("Still running when the command had ended: sleep 60"),
            "{notes}"
        );
        assert!(
            notes.contains("It was stopped.") && !notes.contains("trap"),
            "{notes}"
        );
        assert!(!card.output.contains("late"));
    }
}

/// A flood: memory stays flat, the log has every byte, the card both ends, and what follows still works.
#[test]
fn c04_output_flood() {
    // The whole of it, 1 GiB, is a bench.
    const BYTES: u64 = 40_000_000;
    let flood = format!("head -c {BYTES} /dev/zero | tr '\\0' a");
    let played = played(&[&[command(&flood), command("seq 1 200000")]]);
    let mut wire = Wire::open(&played);
    let session = wire.session();
    let resident = |wire: &Wire| {
        let status = fs::read_to_string(format!("/proc/{}/status", wire.running.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let before = resident(&wire);
    let run = wire.turn(&session, "Work.");
    let grown = resident(&wire).saturating_sub(before);
    assert!(grown < 64 * 1024, "{grown} KiB more");
    let cards = run.commands();
    let log = cards[0].log.as_ref().unwrap();
    assert_eq!(log.size_bytes, BYTES);
    assert!(
        cards[0].omitted_bytes > BYTES - 300_000,
        "{}",
        cards[0].omitted_bytes
    );
    assert!(cards[1].output.starts_with("1\n2\n") && cards[1].output.trim_end().ends_with("\n200000"));
    assert!(last_results(&played).len() < 60_000);
}

/// Progress bars are one line to card and model; the log keeps the raw bytes.
#[test]
fn c05_progress_bars_and_colour_codes() {
    let played = played(&[&[command("python3 progress.py")]]);
    played.place.write("progress.py", fixture("cmd/progress.py"));
    let mut wire = Wire::open(&played);
    let session = wire.session();
    let run = wire.turn(&session, "Work.");
    let card = run.commands()[0];
    let lines: Vec<&str> = card.output.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines[0].contains("1000/1000") && lines[1..] == ["finished", "ok"],
        "{lines:?}"
    );
    let told = last_results(&played);
    assert!(
        !told.contains('\x1b') && told.matches("loading").count() == 1,
        "{told}"
    );
    let log = card.log.as_ref().unwrap();
    let read = wire.ask("artifact/read", json!({ "id": log.id, "maxBytes": 100_000 }));
    assert_eq!(read["text"].as_str().unwrap().matches('\r').count(), 1_000);
}

/// Nothing is called a success whose parts failed, and a pipe that had enough is no failure.
#[test]
fn c06_success_that_is_not() {
    let cases = [
        ("sh -c 'echo 2 failed; exit 1' | tail -1", true),
        ("false; echo done", true),
        ("sh -c 'exit 3' | cat", true),
        ("yes | head -1", false),
        ("grep x /dev/null | wc -l", false),
    ];
    let calls: Vec<Value> = cases.iter().map(|(line, _)| command(line)).collect();
    let played = played(&[&calls]);
    played.exec(&["--approvals", "allow", "Work."]).expect_code(0);
    let requests = played.server.requests();
    let told = crate::told::tool_results(requests.last().unwrap());
    for ((line, failed), (_, text)) in cases.iter().zip(told) {
        assert_eq!(text.contains("this is no success"), *failed, "{line}: {text}");
    }
}

/// Started as from a desktop icon: commands find what the login shell finds, start-up files may print and ask, and
/// nothing of ours leaks. Files that never end cost their time limit once, and the card says so.
#[test]
fn c08_shell_path_and_environment() {
    let calls = [
        command("command -v tool-from-rc; printf x"),
        command("env"),
        command("PS1=$'\\n> ' bash -c 'echo prompt'"),
    ];
    let mut played = played(&[&calls, &calls[..1], &calls[..1]]);
    played.place.set_variable("PATH", "/usr/bin:/bin");
    played.place.set_variable("SHELL", "/bin/bash");
    played
        .place
        .set_variable("MY_SERVICE_TOKEN", "tok-0123456789abcdef");
    let home = played.place.home();
    let tools = home.join("tools-from-rc");
    fs::create_dir_all(&tools).unwrap();
    fs::write(tools.join("tool-from-rc"), "#!/bin/sh\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(tools.join("tool-from-rc"), executable).unwrap();
    let profile = home.join(".bash_profile");
    fs::write(
        &profile,
        "echo welcome back\n[ -t 0 ] && read -r _answer\nexport PATH=\"$HOME/tools-from-rc:$PATH\"\nPS1=$'\\n\\e[35m>>>\\e[0m '\n",
    )
    .unwrap();
    let run = played.exec(&["--approvals", "allow", "Work."]);
    let outputs: Vec<String> = run.commands().iter().map(|card| card.output.clone()).collect();
    assert_eq!(outputs[0], format!("{}/tool-from-rc\nx", tools.display()));
    assert!(
        !outputs[1].contains("sk-ant") && !outputs[1].contains("tok-0123"),
        "{}",
        outputs[1]
    );
    assert!(!outputs[1].contains("VIBE_CODER_HOME"), "{}", outputs[1]);
    assert_eq!(outputs[2].trim(), "prompt");

    fs::write(&profile, "sleep 600\n").unwrap();
    let run = played.exec(&["--approvals", "allow", "Work."]);
    let card = run.commands()[0];
    assert!(
        card.notes
            .iter()
            .any(|note| note.contains("login shell's environment")),
        "{card:?}"
    );
    assert!(card.output.ends_with('x'), "{card:?}");
    // Started from a shell, there is nothing to ask.
    played.place.set_variable("SHLVL", "1");
    let run = played.exec(&["--approvals", "allow", "Work."]);
    assert!(run.commands()[0].notes.is_empty(), "{:?}", run.commands()[0]);
}

/// Lines that hide something behind a harmless beginning, and arguments that run or write: none runs by itself.
#[test]
fn p01_p02_what_must_ask_does_not_run_by_itself() {
    let text = String::from_utf8(fixture("policy/must-ask.txt")).unwrap();
    let lines: Vec<String> = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.replace("\\n", "\n"))
        .collect();
    let calls: Vec<Value> = lines.iter().map(|line| command(line)).collect();
    let played = played(&[&calls]);
    let place = &played.place;
    place.write("file.txt", "a\n");
    place.write("build/out", "x\n");
    place.write("x.tmp", "x\n");
    place.commit_all();
    let before = place.tree();
    let run = played.exec(&["Work."]).expect_code(0);
    let cards = run.commands();
    assert_eq!(cards.len(), lines.len());
    for card in cards {
        assert_eq!(card.exit_code, None, "{}: {card:?}", card.command);
        assert!(!card.policy_reason.is_empty(), "{}", card.command);
    }
    assert_eq!(place.tree(), before);
}

/// A repository whose own settings run programs: looking at it, and letting an agent look, runs none of them, and what
/// an agent would have run says why it asks.
#[test]
fn p04_p06_opening_a_repository_runs_its_code() {
    let reads = [
        "git status",
        "git diff",
        "git log -p -1",
        "ls -a",
        "git rev-parse HEAD",
    ];
    let calls: Vec<Value> = reads
        .iter()
        .map(|line| command(line))
        .chain([
            call("git_status", json!({})),
            call("git_diff", json!({})),
            create(".git/hooks/pre-commit", "#!/bin/sh\ntouch MARK-made\n"),
            edit(".git/config", "[core]", "[core]\n\tpager = touch MARK-pager"),
        ])
        .collect();
    let mut played = played(&[&calls]);
    played.provider = "anthropic";
    let place = &played.place;
    let root = place.workspace();
    fs::remove_dir(&root).unwrap();
    let script = fixture_path("trust/make-hostile-repo.sh");
    let made = std::process::Command::new("sh")
        .arg(script)
        .arg(&root)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let marks = || -> Vec<String> {
        let entries = fs::read_dir(&root).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("MARK")).collect()
    };
    assert!(marks().is_empty());
    let config = fs::read(root.join(".git/config")).unwrap();
    let mut wire = Wire::open(&played);
    for (method, params) in [
        ("files/list", json!({ "path": "." })),
        ("git/status", json!({})),
        ("files/read", json!({ "path": "README.md" })),
        ("files/find", json!({ "query": "read" })),
    ] {
        let _ = wire.try_ask(method, params);
    }
    let session = wire.session();
    let from = wire.events_so_far();
    wire.ask(
        "turn/send",
        json!({ "sessionId": session, "text": "Look.", "provider": "anthropic", "approvals": "deny" }),
    );
    let run = wire.turn_end(&session, from);
    assert_eq!(marks(), Vec::<String>::new());
    assert_eq!(fs::read(root.join(".git/config")).unwrap(), config);
    assert!(!root.join(".git/hooks/pre-commit").exists());
    let reasons: Vec<&str> = run
        .commands()
        .iter()
        .map(|card| &card.policy_reason[..])
        .collect();
    for reason in &reasons[..3] {
        assert!(
            reason.contains("would run a program of this repository"),
            "{reasons:?}"
        );
    }
    assert_eq!(reasons[3..], ["read-only", "read-only"]);
    let refused = run
        .tool_calls()
        .into_iter()
        .filter(|call| call.error.is_some())
        .count();
    assert_eq!(refused, 2, "the repository's own files are never edited");
}

/// In a read-only mode writes and commands are refused where they are carried out, whatever was approved.
#[test]
fn p07_modes_that_only_ask_the_model_nicely() {
    for mode in ["ask", "edit"] {
        let calls = [
            command("echo x > f"),
            command("touch g"),
            create("made.txt", "x\n"),
        ];
        let played = played(&[&calls]);
        played.place.write("a.txt", "a\n");
        let before = played.place.tree();
        let run = played.exec(&["--mode", mode, "--approvals", "allow", "What is this?"]);
        assert_eq!(played.place.tree(), before, "{mode}");
        for card in run.commands() {
            assert_eq!(card.exit_code, None, "{mode}: {card:?}");
            assert!(
                card.policy_reason.contains("in this mode"),
                "{mode}: {}",
                card.policy_reason
            );
        }
        let told = last_results(&played);
        assert!(
            told.contains("Only read-only commands run in this mode"),
            "{told}"
        );
        if mode == "ask" {
            assert_eq!(run.result["changeSets"], json!([]));
        }
    }
}

/// Work that is not committed is not lost: a discard asks, and one that was allowed is a proposal like any other.
#[test]
fn p09_discarding_work() {
    let discards = [
        "git checkout -- .",
        "git clean -fdx",
        "git restore .",
        "rm -rf build notes.txt",
        "D=; rm -rf \"$D/\"*",
    ];
    let calls: Vec<Value> = discards.iter().map(|line| command(line)).collect();
    let played = played(&[&calls, &calls]);
    let place = &played.place;
    place.write(".gitignore", "build/\n*.log\n");
    place.write("a.txt", "committed\n");
    place.commit_all();
    place.write("a.txt", "not committed\n");
    place.write("notes.txt", "untracked\n");
    let before = place.tree();
    let asked = played.exec(&["Work."]);
    for card in asked.commands() {
        assert_eq!(card.exit_code, None, "{card:?}");
    }
    assert_eq!(place.tree(), before);
    let allowed = played.exec(&["--approvals", "allow", "Work."]).expect_code(3);
    let cards: Vec<&CommandItem> = allowed.commands();
    assert_eq!(cards[0].exit_code, Some(0), "{:?}", cards[0]);
    // A variable that is empty would have meant everything: nobody's word lets that run.
    assert_eq!(cards[4].exit_code, None, "{:?}", cards[4]);
    let files = |tree: std::collections::BTreeMap<std::path::PathBuf, String>| {
        let mut tree = tree;
        tree.retain(|path, _| !path.starts_with(".git"));
        tree
    };
    assert_eq!(
        files(place.tree()),
        files(before.clone()),
        "what would be lost is listed for review first"
    );
    let listed: Vec<&Value> = allowed.result["changeSets"][0]["files"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    let paths: Vec<&str> = listed.iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert!(
        paths.contains(&"a.txt") && paths.contains(&"notes.txt"),
        "{paths:?}"
    );
    changes(place, &["reject"], 0);
    assert_eq!(files(place.tree()), files(before));
}

/// An npm project: edit, test, repair, test, reject. Byte-identical afterwards, with what was installed and cached kept.
#[test]
fn an_npm_project_is_left_as_it_was_and_its_cache_kept() {
    let test = "npm test --offline";
    let played = played(&[
        &[edit("lib.js", "a + b", "a - b"), command(test)],
        &[edit("lib.js", "a - b", "b + a"), command(test)],
    ])
    .without_checks();
    let place = &played.place;
    place.write(
        "package.json",
        r#"{ "name": "sum", "version": "1.0.0", "scripts": { "test": "node test.js" } }"#,
    );
    place.write(".gitignore", "node_modules/\n");
    place.write("lib.js", "module.exports = (a, b) => a + b;\n");
    place.write("node_modules/counter/index.js", "module.exports = 'installed';\n");
    place.write(
        "test.js",
        "const fs = require('fs'), cache = 'node_modules/.cache/runs';\n\
         fs.mkdirSync('node_modules/.cache', { recursive: true });\n\
         const before = fs.existsSync(cache) ? Number(fs.readFileSync(cache)) : 0;\n\
         fs.writeFileSync(cache, String(before + 1));\n\
         console.log(require('counter'), 'run', before + 1);\n\
         if (require('./lib.js')(2, 3) !== 5) { console.error('wrong sum'); process.exit(1); }\n\
         console.log('sum ok');\n",
    );
    place.commit_all();
    let tree = || {
        let mut tree = place.tree();
        tree.retain(|path, _| !path.starts_with("node_modules/.cache"));
        tree
    };
    let before = tree();
    let first = played.exec(&["--approvals", "allow", "Work."]).expect_code(3);
    let card = first.commands()[0].clone();
    assert_eq!(card.exit_code, Some(1), "{}", card.output);
    assert!(
        card.output.contains("installed run 1") && card.output.contains("wrong sum"),
        "{}",
        card.output
    );
    let session = first.session();
    let second = played
        .exec(&["--approvals", "allow", "--session", &session, "Work."])
        .expect_code(3);
    let card = second.commands()[0].clone();
    assert!(
        card.output.contains("run 2") && card.output.contains("sum ok"),
        "{}",
        card.output
    );
    changes(place, &["reject"], 0);
    assert_eq!(tree(), before);
    assert_eq!(place.read_text("node_modules/.cache/runs"), "2");
    let asked = [&first, &second]
        .iter()
        .flat_map(|run| run.items())
        .filter(|item| matches!(item.kind, ItemKind::Approval(_)))
        .count();
    assert_eq!(asked, 0, "the view makes tests harmless, so nothing asks");
}

/// A worktree's repository lies elsewhere: reading it works, writing it takes a yes and leaves hooks closed, and a `.git`
/// that names a folder which knows nothing of it opens nothing.
#[test]
fn git_works_in_a_worktree_and_a_made_up_link_opens_nothing() {
    let commit = "git -c core.hooksPath=/dev/null commit -q --allow-empty -m agent; \
                  touch \"$(git rev-parse --git-common-dir)/hooks/post-commit\"; git log --format=%s -1";
    let played = played(&[
        &[
            command("git status --short && git log --format=%s -1"),
            command(commit),
        ],
        &[command(
            "git commit -q --allow-empty -m x; touch ../home/private/made",
        )],
    ]);
    let place = &played.place;
    let main = place.outside().join("main");
    fs::create_dir(&main).unwrap();
    fs::remove_dir(place.workspace()).unwrap();
    let git = |folder: &std::path::Path, arguments: &[&str]| {
        let output = std::process::Command::new("git")
            .args(arguments)
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    };
    git(&main, &["init", "-q", "-b", "main", "."]);
    git(&main, &["config", "user.name", "Test"]);
    git(&main, &["config", "user.email", "test@example.invalid"]);
    git(&main, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&main, &["worktree", "add", "-q", "../ws"]);
    let run = played.exec(&["--approvals", "allow", "Work."]);
    let cards = run.commands();
    assert_eq!(cards[0].output.trim(), "first", "{:?}", cards[0]);
    assert!(cards[1].output.contains("agent\n"), "{}", cards[1].output);
    assert!(
        cards[1].output.contains("Read-only file system"),
        "{}",
        cards[1].output
    );
    assert!(!main.join(".git/hooks/post-commit").exists());

    let private = place.home().join("private");
    for folder in ["objects", "refs"] {
        fs::create_dir_all(private.join(folder)).unwrap();
    }
    fs::write(private.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(
        place.workspace().join(".git"),
        format!("gitdir: {}\n", private.display()),
    )
    .unwrap();
    let run = played.exec(&["--approvals", "allow", "Work."]);
    assert!(!private.join("made").exists(), "{:?}", run.commands()[0]);
}

/// A file on the user's list does not reach the model by any route, and each block is told as one.
#[test]
fn p05_secret_files() {
    const KEY: &str = "not-a-real-key-0000";
    let calls = [
        call("read_file", json!({ "path": ".env" })),
        call("search_content", json!({ "pattern": "API_KEY" })),
        call("search_content", json!({ "pattern": "API_KEY", "path": ".env" })),
        call("git_diff", json!({})),
        command("cat .env; cat linked; head -c 100 < .env"),
        command("git diff --no-index /dev/null .env"),
        command("env; cat secrets/key.txt; python3 -c \"print(open('.env').read())\""),
    ];
    let played = played(&[&calls]);
    let place = &played.place;
    place.write(".env", format!("PATH_HELPER=1\nAPI_KEY={KEY}\n"));
    place.write("secrets/key.txt", format!("{KEY}\n"));
    place.write("app.js", "const key = process.env.API_KEY;\n");
    place.link("linked", ".env");
    place.commit_all();
    place.write(".env", format!("PATH_HELPER=2\nAPI_KEY={KEY}\n"));
    place.write("app.js", "const key = process.env.API_KEY ?? '';\n");
    let set = place.vibe(&["settings", "set", "sandbox.secretPaths", r#"[".env", "secrets"]"#]);
    assert!(set.status.success(), "{set:?}");
    let before = place.tree();
    let run = played.exec(&["--approvals", "allow", "Work."]);
    assert_eq!(place.tree(), before);
    for request in played.server.requests() {
        let body = request.json().to_string();
        assert!(!body.contains(KEY), "{body}");
    }
    let events = serde_json::to_string(&run.events).unwrap();
    assert!(!events.contains(KEY), "{events}");
    let told = last_results(&played);
    assert_eq!(
        told.matches("list of secret files and is not read").count(),
        2,
        "{told}"
    );
    assert!(told.contains("app.js"), "what is not secret is found: {told}");
}
