//! Checks through the product: the tests of real projects run for real, fail on a planted fault and pass when it is
//! mended; nothing is claimed but from a result that holds.

use protocol::{
    EventBody, ItemKind, ItemStatus, SessionState,
    checks::{VerificationItem, Verified, VerifiedState},
};
use serde_json::{Value, json};
use testkit::ExecRun;

use crate::{
    agent::{call, command, edit},
    support::Played,
    told::{last_results, spoken},
    user::accept,
    wire::Wire,
};

/// A small package: its files, the fault in it, and what its checks say.
struct Project {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// Path, the faulty line and the right one.
    fault: (&'static str, &'static str, &'static str),
    check: &'static str,
    /// Of the failing test.
    failure: (&'static str, &'static str, u32),
    passed: u64,
}

const CARGO: Project = Project {
    name: "a cargo package",
    files: &[
        (
            "Cargo.toml",
            "[package]\nname = \"till\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        (".gitignore", "/target\n"),
        (
            "src/lib.rs",
            "pub fn total(prices: &[u32]) -> u32 {\n    prices.iter().skip(1).sum()\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn nothing_costs_nothing() {\n        assert_eq!(total(&[]), 0);\n    }\n\n    #[test]\n    fn all_count() {\n        assert_eq!(total(&[1, 2]), 3);\n    }\n}\n",
        ),
    ],
    fault: ("src/lib.rs", "prices.iter().skip(1).sum()", "prices.iter().sum()"),
    check: "cargo test",
    failure: ("tests::all_count", "src/lib.rs", 16),
    passed: 2,
};

const NODE: Project = Project {
    name: "a node package",
    files: &[
        (
            "package.json",
            r#"{"name":"till","version":"1.0.0","type":"module","scripts":{"test":"node --test"}}"#,
        ),
        (
            "src/total.js",
            "export function total(prices) {\n  return prices.reduce((sum, price) => sum + price, 1);\n}\n",
        ),
        (
            "test/total.test.js",
            "import { test } from \"node:test\";\nimport assert from \"node:assert\";\nimport { total } from \"../src/total.js\";\n\ntest(\"is a number\", () => assert.equal(typeof total([]), \"number\"));\n\ntest(\"all count\", () => {\n  assert.strictEqual(total([1, 2]), 3);\n});\n",
        ),
    ],
    fault: ("src/total.js", "price, 1)", "price, 0)"),
    check: "npm test",
    failure: ("all count", "test/total.test.js", 7),
    passed: 2,
};

const PYTHON: Project = Project {
    name: "a python package",
    files: &[
        (
            "pyproject.toml",
            "[project]\nname = \"till\"\nversion = \"0.1\"\n",
        ),
        (".gitignore", "__pycache__/\n"),
        ("till.py", "def total(prices):\n    return sum(prices[:-1])\n"),
        ("tests/__init__.py", ""),
        (
            "tests/test_till.py",
            "import unittest\n\nfrom till import total\n\n\nclass Till(unittest.TestCase):\n    def test_nothing(self):\n        self.assertEqual(total([]), 0)\n\n    def test_all_count(self):\n        self.assertEqual(total([1, 2]), 3)\n",
        ),
    ],
    fault: ("till.py", "sum(prices[:-1])", "sum(prices)"),
    check: "python3 -m unittest discover -s tests -t .",
    failure: (
        "test_all_count (tests.test_till.Till.test_all_count)",
        "tests/test_till.py",
        11,
    ),
    passed: 2,
};

/// A model that says what is left of a script, one answer after the other.
fn played(steps: &[Value]) -> Played {
    Played::new("anthropic", &json!({ "steps": steps }).to_string())
}

fn says(text: &str) -> Value {
    json!({ "text": text })
}

fn does(calls: &[Value]) -> Value {
    json!({ "tools": calls })
}

impl Project {
    fn write(&self, played: &Played) {
        for (path, text) in self.files {
            played.place.write(path, text);
        }
        played.place.commit_all();
    }

    fn mend(&self) -> Value {
        edit(self.fault.0, self.fault.1, self.fault.2)
    }

    /// An edit that mends nothing.
    fn fumble(&self, word: &str) -> Value {
        call(
            "create_file",
            json!({ "path": format!("{word}.{}", self.ending()), "content": "\n" }),
        )
    }

    fn ending(&self) -> &str {
        self.fault.0.rsplit('.').next().unwrap_or_default()
    }
}

fn work(played: &Played) -> ExecRun {
    played.exec(&["--approvals", "deny", "Mend the till."])
}

fn results(run: &ExecRun) -> Vec<(ItemStatus, &VerificationItem)> {
    run.items()
        .filter_map(|item| match &item.kind {
            ItemKind::Verification(result) => Some((item.status, result)),
            _ => None,
        })
        .collect()
}

#[track_caller]
fn verified(run: &ExecRun) -> Verified {
    let found = run.items().find_map(|item| match &item.kind {
        ItemKind::Summary(summary) => Some(summary.verified.clone()),
        _ => None,
    });
    found.expect("a summary").expect("a line about the changes")
}

/// The agent sees the failing test, mends the fault, and the engine itself finds that the tests pass.
#[track_caller]
fn is_mended(project: &Project) {
    let played = played(&[
        does(&[call("run_checks", json!({}))]),
        does(&[project.mend()]),
        says("Mended."),
    ]);
    project.write(&played);
    let run = work(&played).expect_code(3);
    let results = results(&run);
    let states: Vec<_> = results
        .iter()
        .map(|(status, result)| (*status, result.command.as_str()))
        .collect();
    let name = project.name;
    assert!(results.len() >= 2, "{name}: {states:?}");
    // A first build may write a lock file; then it runs once more before anything is said.
    let (status, failed) = results[results.len() - 2];
    assert_eq!(
        (status, failed.command.as_str()),
        (ItemStatus::Failed, project.check),
        "{name}: {states:?}"
    );
    let failure = failed
        .failures
        .first()
        .unwrap_or_else(|| panic!("{name}: no failure in {failed:?}"));
    let (test, file, line) = project.failure;
    assert_eq!(
        (failure.name.as_str(), failure.file.as_deref(), failure.line),
        (test, Some(file), Some(line)),
        "{name}"
    );
    let (status, good) = results[results.len() - 1];
    assert_eq!(status, ItemStatus::Succeeded, "{name}: {good:?}");
    assert_eq!(
        (good.exit_code, good.passed, good.failed),
        (Some(0), Some(project.passed), Some(0)),
        "{name}"
    );
    assert_eq!(good.stale, None, "{name}");
    assert_ne!(good.tree_hash, failed.tree_hash, "{name}");
    let line = verified(&run);
    assert_eq!(line.state, VerifiedState::Passed, "{name}: {}", line.text);
    assert!(
        line.text.starts_with("Tests pass on these files"),
        "{name}: {}",
        line.text
    );
    // The model was told the test and its place.
    let told = spoken_results(&played);
    assert!(
        told.contains(test)
            && told.contains(&format!("{file}:{line_number}", line_number = project.failure.2)),
        "{name}: {told}"
    );
}

fn spoken_results(played: &Played) -> String {
    last_results(played)
}

#[test]
fn a_planted_fault_in_a_cargo_package_is_found_and_mended() {
    is_mended(&CARGO);
}

#[test]
fn a_planted_fault_in_a_node_package_is_found_and_mended() {
    is_mended(&NODE);
}

#[test]
fn a_planted_fault_in_a_python_package_is_found_and_mended() {
    is_mended(&PYTHON);
}

/// The model claims success over failing tests: it gets the failure twice, with its reason shown, and then the turn ends
/// with what is true.
#[test]
fn a_failure_is_given_back_twice_and_then_told_as_it_is() {
    let claim = "All tests pass now.";
    let played = played(&[
        does(&[PYTHON.fumble("one")]),
        says(claim),
        does(&[PYTHON.fumble("two")]),
        says(claim),
        does(&[PYTHON.fumble("three")]),
        says(claim),
    ]);
    PYTHON.write(&played);
    let run = work(&played).expect_code(3);
    let line = verified(&run);
    assert_eq!(line.state, VerifiedState::Failed, "{}", line.text);
    assert!(
        line.text.contains("1 of 2 failed") && line.text.contains("2 repairs did not mend it"),
        "{}",
        line.text
    );
    assert!(line.text.contains("Send “continue”"), "{}", line.text);
    let repairs: Vec<String> = run
        .items()
        .filter_map(|item| match &item.kind {
            ItemKind::Plan { steps } => Some(format!("{:?} {}", item.status, steps[0].text)),
            _ => None,
        })
        .collect();
    assert_eq!(repairs.len(), 2, "{repairs:?}");
    for (number, repair) in repairs.iter().enumerate() {
        assert!(
            repair.starts_with(&format!("Failed Repair {} of 2: ", number + 1)),
            "{repair}"
        );
        assert!(
            repair.contains("test_all_count") && repair.contains("tests/test_till.py:11"),
            "{repair}"
        );
    }
    let repairing = run
        .events
        .iter()
        .filter(|event| {
            matches!(
                event.body,
                EventBody::SessionStateChanged {
                    to: SessionState::Repairing,
                    ..
                }
            )
        })
        .count();
    assert_eq!(repairing, 2);
    let request = played.server.requests().last().expect("a request").clone();
    let said: Vec<String> = spoken(&request).into_iter().map(|(_, text)| text).collect();
    let asked = said
        .iter()
        .filter(|text| text.contains("This is not a message of the user"))
        .count();
    assert_eq!(asked, 2, "{said:?}");
}

/// Mended at the second try: the repair's card says so, and the claim is made from the last result.
#[test]
fn a_repair_that_works_ends_with_passing_tests() {
    let played = played(&[
        does(&[PYTHON.fumble("one")]),
        says("Done."),
        does(&[PYTHON.mend()]),
        says("Mended."),
    ]);
    PYTHON.write(&played);
    let run = work(&played).expect_code(3);
    assert_eq!(
        verified(&run).state,
        VerifiedState::Passed,
        "{}",
        verified(&run).text
    );
    let reasons: Vec<&str> = results(&run)
        .iter()
        .map(|(_, result)| result.reason.as_str())
        .collect();
    assert_eq!(reasons, ["This turn changed files.", "After repair 1 of 2."]);
}

/// Who changes nothing after a failure is not asked again.
#[test]
fn a_model_that_gives_up_is_believed() {
    let played = played(&[
        does(&[PYTHON.fumble("one")]),
        says("Done."),
        says("It failed before my change, too."),
    ]);
    PYTHON.write(&played);
    let run = work(&played).expect_code(3);
    assert_eq!(verified(&run).state, VerifiedState::Failed);
    assert_eq!(results(&run).len(), 1);
    assert_eq!(played.server.requests().len(), 3);
}

/// What cannot be known is told with its reason.
#[test]
fn without_a_result_nothing_is_claimed() {
    // No project.
    let unknown = played(&[
        does(&[call("create_file", json!({ "path": "a.txt", "content": "x\n" }))]),
        says("Tests pass."),
    ]);
    let line = verified(&work(&unknown).expect_code(3));
    assert_eq!(line.state, VerifiedState::NotVerified);
    assert!(
        line.text.contains("no way to check this project is known"),
        "{}",
        line.text
    );
    // A mode that runs nothing.
    let edits = played(&[does(&[PYTHON.mend()]), says("Tests pass.")]);
    PYTHON.write(&edits);
    let line = verified(&edits.exec(&["--mode", "edit", "Mend the till."]).expect_code(3));
    assert_eq!(line.state, VerifiedState::NotVerified);
    assert!(line.text.contains("Edit mode runs no checks"), "{}", line.text);
    // Switched off.
    let off = played(&[does(&[PYTHON.mend()]), says("Tests pass.")]);
    PYTHON.write(&off);
    assert!(
        off.place
            .vibe(&["settings", "set", "checks.automatic", "off"])
            .status
            .success()
    );
    let run = work(&off).expect_code(3);
    assert_eq!(verified(&run).state, VerifiedState::NotVerified);
    assert!(run.commands().is_empty());
    // A check that needs a person, and nobody is there.
    let asks = played(&[
        does(&[call("create_file", json!({ "path": "a.c", "content": "x\n" }))]),
        says("Tests pass."),
    ]);
    asks.place.write("justfile", "test:\n  true\n");
    let line = verified(&work(&asks).expect_code(3));
    assert_eq!(line.state, VerifiedState::NotVerified);
    assert!(line.text.contains("`just test` was not run"), "{}", line.text);
}

/// The tests' own status counts, not that of what their output was piped into (C06).
#[test]
fn c06_a_pipe_does_not_make_failing_tests_pass() {
    let played = played(&[
        does(&[command(
            "python3 -m unittest discover -s tests -t . 2>&1 | tail -3",
        )]),
        says("Tests pass."),
    ]);
    PYTHON.write(&played);
    let run = work(&played).expect_code(0);
    for (status, result) in results(&run) {
        assert_eq!(status, ItemStatus::Failed, "{result:?}");
    }
}

/// A result holds for its files alone: the user's edit ends it, taking the edit back or accepting the change does not.
#[test]
fn a_result_is_stale_when_files_change_and_holds_again_when_they_are_back() {
    let played = played(&[does(&[PYTHON.mend()]), says("Mended.")]);
    PYTHON.write(&played);
    let run = work(&played).expect_code(3);
    let session = run.session();
    let held = |played: &Played| -> Option<String> {
        let output = played.place.vibe(&["verify", "--json", "--session", &session]);
        let done: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(output.status.code(), Some(0), "{done}");
        let result = &done["results"][0];
        Some(result["finishedAt"].to_string())
    };
    let first = held(&played);
    accept(&played.place);
    // The accepted files are the checked ones, so nothing runs again.
    assert_eq!(held(&played), first);
    let own = played.place.read_text("till.py");
    played.place.write("till.py", format!("{own}\n# mine\n"));
    let again = held(&played);
    assert_ne!(again, first);
}

/// In an open window the card itself turns when the user's editor writes, and back when that is taken back.
#[test]
fn a_card_turns_stale_and_back_while_a_window_is_open() {
    let played = played(&[does(&[PYTHON.mend()]), says("Mended.")]);
    PYTHON.write(&played);
    let mut wire = Wire::open(&played);
    let session = wire.session();
    wire.turn(&session, "Mend the till.");
    wire.ask("files/watch", json!({ "folders": ["."] }));
    let limit = std::time::Duration::from_secs(30);
    let told = |event: &protocol::EventEnvelope| match &event.body {
        EventBody::ItemCompleted { item } => match &item.kind {
            ItemKind::Verification(result) => Some((event.seq, result.stale.clone())),
            _ => None,
        },
        _ => None,
    };
    played.place.write("mine.txt", "x");
    let (at, stale) = wire.until(limit, |event| told(event).filter(|(_, stale)| stale.is_some()));
    assert_eq!(stale.as_deref(), Some("mine.txt changed since."));
    std::fs::remove_file(played.place.workspace().join("mine.txt")).unwrap();
    let (_, stale) = wire.until(limit, |event| told(event).filter(|(seq, _)| *seq > at));
    assert_eq!(stale, None);
    // Without the proposal the files are others, too.
    let (at, set) = (wire.events_so_far() as u64, wire.change_set(&session));
    wire.ask(
        "changes/reject",
        json!({ "id": set["id"], "selection": { "what": "all" } }),
    );
    let (_, stale) = wire.until(limit, |event| {
        told(event).filter(|(seq, stale)| *seq > at && stale.is_some())
    });
    assert_eq!(stale.as_deref(), Some("The files are others now."));
}

/// The command line runs the checks of what is proposed, and says how they ended.
#[test]
fn verify_checks_a_proposal_and_a_clean_folder() {
    let played = played(&[does(&[PYTHON.mend()]), says("Mended.")]);
    PYTHON.write(&played);
    let before = played.place.vibe(&["verify"]);
    let text = String::from_utf8_lossy(&before.stdout).into_owned();
    assert_eq!(before.status.code(), Some(1), "{text}");
    assert!(
        text.contains("tests/test_till.py:11") && text.contains("Checks fail"),
        "{text}"
    );
    work(&played).expect_code(3);
    let after = played.place.vibe(&["verify"]);
    let text = String::from_utf8_lossy(&after.stdout).into_owned();
    assert_eq!(after.status.code(), Some(0), "{text}");
    assert!(
        text.contains("Tests pass on these files") && text.contains("2 passed"),
        "{text}"
    );
}

/// A model that makes the same call for ever, and one whose every edit fails: both turns end in a sentence that says why,
/// long before the limit of requests, and leave the choice to the user.
#[test]
fn a_turn_that_does_not_get_on_ends_in_plain_words() {
    let always = |tool: Value| json!({ "steps": [{ "tools": [tool], "repeat": "always" }] }).to_string();
    let same = Played::new("anthropic", &always(crate::agent::read("a.txt")));
    same.place.write("a.txt", "one\n");
    let run = work(&same).expect_code(1);
    let error = &run.result["error"];
    assert_eq!(error["code"], "session.limit", "{error}");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("learned nothing new: read_file"),
        "{error}"
    );
    assert!(
        error["userAction"].as_str().unwrap().contains("continue"),
        "{error}"
    );
    assert!(same.server.requests().len() < 12);
    assert!(last_results(&same).contains("Do something else"));
    let fails = Played::new("anthropic", &always(edit("a.txt", "no such text", "x")));
    fails.place.write("a.txt", "one\n");
    let run = work(&fails).expect_code(1);
    assert_eq!(run.result["error"]["code"], "session.limit", "{}", run.result);
    assert_eq!(fails.place.read_text("a.txt"), "one\n");
    assert!(fails.server.requests().len() < 12);
}

/// The limits of a turn are settings; each is named in the sentence that ends the turn.
#[test]
fn a_turn_ends_at_its_limit_of_requests() {
    let played = Played::new(
        "anthropic",
        &json!({ "steps": [{ "tools": [command("date +%s%N | tr 0-9 a-j")], "repeat": "always" }] })
            .to_string(),
    );
    let set = played.place.vibe(&["settings", "set", "turn.requests", "3"]);
    assert!(set.status.success());
    let run = work(&played).expect_code(1);
    let error = &run.result["error"];
    assert!(
        error["message"].as_str().unwrap().contains("3 model requests"),
        "{error}"
    );
    assert!(
        error["userAction"].as_str().unwrap().contains("turn.requests"),
        "{error}"
    );
    assert_eq!(played.server.requests().len(), 3);
}

/// In a workspace of packages the one that changed is checked first, and then the others, which the change may break.
#[test]
fn a_change_that_breaks_a_neighbour_is_found_by_the_wide_check() {
    let played = played(&[
        does(&[edit("crates/price/src/lib.rs", "    1\n", "    2\n")]),
        says("Tests pass."),
    ]);
    let package = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}")
    };
    let place = &played.place;
    place.write(
        "Cargo.toml",
        "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"2\"\n",
    );
    place.write(".gitignore", "/target\n");
    place.write("crates/price/Cargo.toml", package("price", ""));
    place.write("crates/price/src/lib.rs", "pub fn price() -> u32 {\n    1\n}\n");
    place.write(
        "crates/till/Cargo.toml",
        package("till", "[dependencies]\nprice = { path = \"../price\" }\n"),
    );
    place.write(
        "crates/till/src/lib.rs",
        "#[test]\nfn costs_one() {\n    assert_eq!(price::price(), 1);\n}\n",
    );
    place.commit_all();
    assert!(
        place
            .vibe(&["settings", "set", "checks.repairs", "0"])
            .status
            .success()
    );
    let run = work(&played).expect_code(3);
    let mut seen: Vec<(ItemStatus, &str, &str)> = results(&run)
        .iter()
        .map(|(status, result)| (*status, result.cwd.as_str(), result.command.as_str()))
        .collect();
    // The first run writes the lock file, so it may come twice.
    seen.dedup();
    assert_eq!(
        seen,
        [
            (ItemStatus::Succeeded, "crates/price", "cargo test"),
            (ItemStatus::Failed, ".", "cargo test --workspace")
        ]
    );
    let line = verified(&run);
    assert_eq!(line.state, VerifiedState::Failed, "{}", line.text);
    assert!(
        line.text.contains("costs_one (crates/till/src/lib.rs:3)"),
        "{}",
        line.text
    );
    assert_eq!(played.server.requests().len(), 2);
}
