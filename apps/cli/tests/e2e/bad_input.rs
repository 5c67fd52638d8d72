//! Bad input of every kind: what is told, how a script sees it, and that nothing of the user's changes.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Output,
};

use serde_json::json;
use testkit::{ExecRun, Hermetic};

use crate::{
    agent::create,
    database,
    support::{hermetic, json_lines},
    told::{expect_failure, expect_refusal},
};

const ANSWERS: &str = "steps: [{ text: Done., repeat: always }]";

/// A place with a file and a scenario for the practice model.
fn place(scenario: &str) -> Hermetic {
    let place = hermetic();
    place.write("kept.txt", "kept\n");
    let file = place.outside().join("scenario.yaml");
    fs::write(&file, scenario).unwrap();
    place.with_variable("VIBE_CODER_SCENARIO", file)
}

/// Runs that cannot begin, or fail at their first step: with `--json` and without, the same code and a way out.
#[test]
fn what_cannot_be_done_is_told_with_a_way_out() {
    type Prepare = fn(&mut Hermetic);
    let nothing: Prepare = |_| {};
    // (name, scenario, preparation, arguments, code)
    let cases: [(&str, &str, Prepare, &[&str], &str); 15] = [
        (
            "no workspace",
            ANSWERS,
            nothing,
            &["--workspace", "missing", "Hi."],
            "workspace.notFound",
        ),
        (
            "a workspace that is a file",
            ANSWERS,
            nothing,
            &["--workspace", "kept.txt", "Hi."],
            "workspace.notADirectory",
        ),
        (
            "the whole disk",
            ANSWERS,
            nothing,
            &["--workspace", "/", "Hi."],
            "workspace.tooWide",
        ),
        (
            "unknown provider",
            ANSWERS,
            nothing,
            &["--provider", "nobody", "Hi."],
            "provider.unknown",
        ),
        (
            "no key",
            ANSWERS,
            nothing,
            &["--provider", "anthropic", "Hi."],
            "provider.noKey",
        ),
        (
            "a key that is empty",
            ANSWERS,
            |place| place.set_variable("OPENAI_API_KEY", ""),
            &["--provider", "openai", "Hi."],
            "provider.noKey",
        ),
        (
            "no scenario",
            "",
            |place| {
                place.set_variable("VIBE_CODER_SCENARIO", "/nowhere/scenario.yaml");
            },
            &["Hi."],
            "scenario.invalid",
        ),
        (
            "a scenario that is no YAML",
            "steps: [",
            nothing,
            &["Hi."],
            "scenario.invalid",
        ),
        (
            "a scenario with a misspelt key",
            "steps: [{ txt: Done. }]",
            nothing,
            &["Hi."],
            "scenario.invalid",
        ),
        (
            "an exhausted scenario",
            "steps: [{ when: { user: nothing like it }, text: Done. }]",
            nothing,
            &["Hi."],
            "scenario.exhausted",
        ),
        (
            "settings that are no JSON",
            ANSWERS,
            |place| settings(place, "{ \"providers\": ["),
            &["Hi."],
            "settings.invalid",
        ),
        (
            "settings of the wrong type",
            ANSWERS,
            |place| settings(place, "{ \"store\": { \"limitBytes\": \"much\" } }"),
            &["Hi."],
            "settings.invalid",
        ),
        (
            "a provider entry with a mistake",
            ANSWERS,
            |place| {
                settings(
                    place,
                    "{ \"providers\": { \"mine\": { \"famly\": \"openai-chat\" } } }",
                )
            },
            &["Hi."],
            "settings.invalid",
        ),
        (
            "unknown session",
            ANSWERS,
            nothing,
            &["--session", "ses_nothing", "Hi."],
            "session.notFound",
        ),
        (
            "a model server that is not there",
            ANSWERS,
            |place| {
                place.set_variable("OPENAI_API_KEY", "sk-test-0123456789");
                place.set_variable("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
                settings(place, "{ \"providers\": { \"openai\": { \"maxRetries\": 0 } } }");
            },
            &["--provider", "openai", "Hi."],
            "provider.network",
        ),
    ];
    for (name, scenario, prepare, arguments, code) in cases {
        let mut place = place(scenario);
        prepare(&mut place);
        let before = place.tree();
        let stored = fs::read(place.data().join("settings.json")).ok();
        let run = place.exec(arguments);
        println!("{name}: {}", run.result["error"]["message"]);
        expect_failure(&run, 1, code);
        assert_eq!(run.result["type"], "result", "{name}");

        let mut human = vec!["exec"];
        human.extend_from_slice(arguments);
        expect_refusal(&place.vibe(&human), 1, code);
        assert_eq!(place.tree(), before, "{name}");
        assert_eq!(
            fs::read(place.data().join("settings.json")).ok(),
            stored,
            "{name}"
        );
    }
}

fn settings(place: &Hermetic, text: &str) {
    fs::write(place.data().join("settings.json"), text).unwrap();
}

/// What was typed is not understood: 2, whatever it is.
#[test]
fn mistakes_in_what_is_typed_are_usage_errors() {
    let cases: [&[&str]; 11] = [
        &["exce", "Hi."],
        &["exec"],
        &["exec", "--mode", "root", "Hi."],
        &["exec", "--timeout", "soon", "Hi."],
        &["exec", "--approvals", "maybe", "Hi."],
        &["exec", "Hi.", "and more"],
        &["exec", ""],
        &["exec", "  \n"],
        &["changes", "accept", "--hunk", "1"],
        &["changes", "accept", "--file", "a.txt", "--hunk", "0"],
        &["sessions", "show"],
    ];
    for arguments in cases {
        let place = place(ANSWERS);
        let before = place.tree();
        let output = place.vibe(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(
            stderr.contains("--help") || stderr.contains("what to do"),
            "{arguments:?}: {stderr}"
        );
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert_eq!(place.tree(), before);
        assert!(
            !place.data().join("workspaces").exists(),
            "{arguments:?}: nothing is begun"
        );
    }
}

/// Verbs that name what is not there.
#[test]
fn verbs_about_unknown_things_are_refused() {
    for (arguments, code) in [
        (&["sessions", "show", "ses_nothing"][..], "session.notFound"),
        (&["sessions", "resume", "ses_nothing"], "session.notFound"),
        (&["sessions", "export", "ses_nothing"], "session.notFound"),
        (&["sessions", "search", " "], "request.invalid"),
        (&["changes", "show", "chg_nothing"], "changes.notFound"),
        (&["changes", "accept", "chg_nothing"], "changes.notFound"),
        (&["changes", "accept"], "changes.notFound"),
        (&["changes", "reject"], "changes.notFound"),
        (&["changes", "undo"], "changes.nothingToUndo"),
        (&["changes", "redo"], "changes.nothingToUndo"),
        (&["settings", "get", "no.such"], "settings.invalid"),
        (
            &["settings", "set", "store.limitBytes", "much"],
            "settings.invalid",
        ),
        (
            &[
                "settings",
                "set",
                "providers.openai.apiKey",
                "sk-0123456789abcdefghij",
            ],
            "settings.invalid",
        ),
    ] {
        let place = place(ANSWERS);
        let before = place.tree();
        expect_refusal(&place.vibe(arguments), 1, code);
        assert_eq!(place.tree(), before, "{arguments:?}");
    }
}

/// A folder that this user may not read, and a data folder that this user may not write. The super-user may do
/// everything, so for it the product runs as `nobody`.
#[test]
fn unreadable_folders_are_told() {
    let place = place(ANSWERS);
    let closed = place.outside().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::write(closed.join("a.txt"), "a\n").unwrap();
    // Everything on the way is open, so that exactly one thing is not.
    let mode = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&place.outside(), 0o755);
    mode(&place.data(), 0o777);
    mode(&place.workspace(), 0o755);
    mode(&closed, 0o000);
    let binary = copy_of_binary(&place);
    let run = |arguments: &[&str]| -> Output { as_ordinary_user(&place, &binary, arguments) };

    let output = run(&["exec", "--workspace", closed.to_str().unwrap(), "Hi."]);
    expect_refusal(&output, 1, "workspace.unreadable");
    let output = run(&["exec", "Hi."]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );

    mode(&place.data(), 0o555);
    let elsewhere = place.outside().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    mode(&place.data().join("workspaces"), 0o555);
    let output = run(&["exec", "--workspace", elsewhere.to_str().unwrap(), "Hi."]);
    expect_refusal(&output, 1, "store.io");
    mode(&place.data(), 0o777);
    mode(&closed, 0o755);
    assert_eq!(fs::read_to_string(closed.join("a.txt")).unwrap(), "a\n");
}

/// The build folder may be closed to others.
fn copy_of_binary(place: &Hermetic) -> PathBuf {
    let binary = place.outside().join("vibe-coder");
    fs::copy(env!("CARGO_BIN_EXE_vibe-coder"), &binary).unwrap();
    binary
}

fn as_ordinary_user(place: &Hermetic, binary: &Path, arguments: &[&str]) -> Output {
    let binary = binary.to_str().unwrap();
    let is_super_user = String::from_utf8_lossy(&place.program("id", &["-u"]).stdout).trim() == "0";
    if !is_super_user {
        return place.program(binary, arguments);
    }
    let mut all = vec!["--reuid=65534", "--regid=65534", "--clear-groups", "--", binary];
    all.extend_from_slice(arguments);
    place.program("setpriv", &all)
}

/// The limit is reached in the middle of a turn: it fails at once, with everything before it kept.
#[test]
fn store_that_is_full_ends_the_turn_and_loses_nothing() {
    // (what fills it, whether the last words still fit)
    for (name, answer) in [
        (
            "a long answer",
            json!({ "text": "x".repeat(3_000_000), "chunk": 4096 }),
        ),
        (
            "a long draft",
            json!({ "tools": [create("long.txt", &"many words\n".repeat(300_000))] }),
        ),
        (
            "many small steps",
            json!({ "text": "y".repeat(200), "tools": [create("a.txt", &"z".repeat(200_000))] }),
        ),
    ] {
        let scenario = json!({ "steps": [
            { "when": { "user": "First" }, "text": "The first answer." },
            { "when": { "user": "Fill" }, "repeat": "always",
              "text": answer["text"], "tools": answer["tools"], "chunk": 4096 },
            { "when": { "user": "Small" }, "text": "The last answer." },
        ] });
        let scenario = scenario
            .to_string()
            .replace("\"tools\":null,", "")
            .replace("\"text\":null,", "");
        let place = place(&scenario);
        let first = place.exec(&["First."]).expect_code(0);
        let before = place.tree();
        let limit = set_limit(&place, 600_000);
        let run = finished(&place, &["--session", &first.session(), "Fill it."]);
        expect_failure(&run, 1, "store.full");
        let way_out = run.result["error"]["userAction"].as_str().unwrap();
        assert!(way_out.contains("store.limitBytes"), "{name}: {way_out}");
        assert_eq!(place.tree(), before, "{name}");

        // What was there is there, and with room the session goes on.
        let (code, shown) = json_lines(&place, &["sessions", "show", "--json", &first.session()]);
        assert_eq!(code, Some(0), "{name}");
        let text = shown[0]["timeline"].to_string();
        assert!(
            text.contains("The first answer.") && text.contains("Fill it."),
            "{name}"
        );
        // Without the write-ahead log, which is bounded by itself.
        database::settle(&place);
        let used = size(&database::data_folder(&place));
        assert!(
            used <= limit + 64 * 1024,
            "{name}: {used} bytes for a limit of {limit}"
        );
        let raised = place.vibe(&["settings", "set", "store.limitBytes", "50000000"]);
        assert_eq!(raised.status.code(), Some(0));
        let run = finished(&place, &["--session", &first.session(), "Small."]);
        assert!(
            run.code == Some(0) || run.code == Some(3),
            "{name}: {} {}",
            run.stderr,
            run.result
        );
        assert_eq!(run.answer(), "The last answer.");
    }
}

/// A run that must end by itself, and soon: a full store must not hang it.
fn finished(place: &Hermetic, arguments: &[&str]) -> ExecRun {
    let mut all = vec!["exec", "--json"];
    all.extend_from_slice(arguments);
    place.start(&all).finish(std::time::Duration::from_secs(20))
}

fn set_limit(place: &Hermetic, room: u64) -> u64 {
    let limit = size(&database::data_folder(place)) + room;
    let output = place.vibe(&["settings", "set", "store.limitBytes", &limit.to_string()]);
    assert_eq!(output.status.code(), Some(0));
    limit
}

fn size(folder: &Path) -> u64 {
    let mut total = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        total += match path.is_dir() {
            true => size(&path),
            false => path.metadata().unwrap().len(),
        };
    }
    total
}

/// A corrupt database: told with its name, examined by `doctor`, saved by `doctor --salvage`, never deleted.
#[test]
fn corrupt_database_is_told_examined_and_salvaged() {
    type Damage = fn(&mut Vec<u8>);
    let cases: [(&str, Damage, bool); 3] = [
        ("its head is gone", |bytes| bytes[..100].fill(b'#'), true),
        (
            "nothing but noise",
            |bytes| {
                let noise = (0..bytes.len()).map(|at| (at * 31 % 251) as u8);
                *bytes = noise.collect();
            },
            false,
        ),
        ("it is another file", |bytes| *bytes = b"hello\n".to_vec(), false),
    ];
    for (name, damage, can_be_saved) in cases {
        let place = place(ANSWERS);
        let session = place.exec(&["A question."]).expect_code(0).session();
        let file = database::file(&place);
        database::settle(&place);
        let mut bytes = fs::read(&file).unwrap();
        damage(&mut bytes);
        fs::write(&file, &bytes).unwrap();
        let before = place.tree();

        let run = place.exec(&["Hi."]);
        expect_failure(&run, 1, "store.corrupt");
        let message = run.result["error"]["message"].as_str().unwrap();
        assert!(message.contains("store.db"), "{name}: {message}");
        expect_refusal(&place.vibe(&["sessions", "list"]), 1, "store.corrupt");
        expect_refusal(&place.vibe(&["changes", "list"]), 1, "store.corrupt");
        assert_eq!(
            fs::read(&file).unwrap(),
            bytes,
            "{name}: it is left as it was found"
        );

        let doctor = place.vibe(&["doctor"]);
        let text = String::from_utf8_lossy(&doctor.stdout).into_owned();
        assert_eq!(doctor.status.code(), Some(1), "{name}: {text}");
        assert!(
            text.contains("✕ data") && text.contains("--salvage"),
            "{name}: {text}"
        );
        let (code, checks) = json_lines(&place, &["doctor", "--json"]);
        assert_eq!(code, Some(1));
        let data = checks.iter().find(|check| check["name"] == "data").unwrap();
        assert_eq!(data["status"], "failed", "{name}");

        let salvaged = place.vibe(&["doctor", "--salvage"]);
        let text = String::from_utf8_lossy(&salvaged.stdout).into_owned();
        assert_eq!(
            salvaged.status.code(),
            Some(0),
            "{name}: {text}{}",
            String::from_utf8_lossy(&salvaged.stderr)
        );
        assert!(text.contains("is kept as"), "{name}: {text}");
        let kept = fs::read_dir(database::data_folder(&place))
            .unwrap()
            .filter_map(|entry| fs::read(entry.unwrap().path()).ok())
            .any(|content| content == bytes);
        assert!(kept, "{name}: the damaged file is not deleted");
        let (code, sessions) = json_lines(&place, &["sessions", "list", "--json"]);
        assert_eq!(code, Some(0), "{name}");
        assert_eq!(
            sessions.iter().any(|found| found["id"] == session.as_str()),
            can_be_saved,
            "{name}"
        );
        place.exec(&["Hi again."]).expect_code(0);
        assert_eq!(place.vibe(&["doctor"]).status.code(), Some(0), "{name}");
        assert_eq!(place.tree(), before, "{name}");
    }
}

/// `doctor` says what is wrong with settings and workspace instead of failing on them.
#[test]
fn doctor_examines_what_others_fail_on() {
    let place = place(ANSWERS);
    assert_eq!(place.vibe(&["doctor"]).status.code(), Some(0));
    settings(&place, "{ \"providers\": [");
    let output = place.vibe(&["doctor", "--workspace", "missing"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text.contains("✕ settings") && text.contains("✕ workspace"),
        "{text}"
    );
    assert!(text.contains("line 1"), "{text}");
}
