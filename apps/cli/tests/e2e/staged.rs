//! Commands in the staged view, through the product: what they change is reviewed, what is rejected leaves no trace,
//! and caches stay warm.

use std::{fs, os::unix::fs::PermissionsExt, process::Command};

use serde_json::Value;
use testkit::{ExecRun, Hermetic, ModelServer};

use crate::{
    agent::{command, edit, turns},
    support::{Played, json_lines},
    user::{accept, changes, shown, undo},
};

const VIEW: &str = "staged view, ";

fn played(calls: &[&[Value]]) -> Played {
    Played::new("anthropic", &turns(calls))
}

fn work(played: &Played) -> ExecRun {
    played.exec(&["--approvals", "allow", "Work."])
}

fn by_command(run: &ExecRun) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for set in run.result["changeSets"].as_array().unwrap() {
        for file in set["files"].as_array().unwrap() {
            let text = |name: &str| file[name].as_str().unwrap_or_default().to_owned();
            found.push((text("path"), text("changeType"), text("byCommand")));
        }
    }
    found.sort();
    found
}

/// With no draft at all, a command still does not reach the user's files; what it did can be accepted and undone.
#[test]
fn the_first_command_of_a_session_is_reviewed_too() {
    let line = "sed -i s/one/two/ a.txt; echo made > made.txt; rm gone.txt; chmod +x run.sh";
    let played = played(&[&[command(line)]]);
    let place = &played.place;
    for (path, text) in [("a.txt", "one\n"), ("gone.txt", "gone\n"), ("run.sh", "true\n")] {
        place.write(path, text);
    }
    place.commit_all();
    let before = place.tree();
    let run = work(&played).expect_code(3);
    assert_eq!(place.tree(), before);
    let card = run.commands()[0];
    assert!(card.isolation.starts_with(VIEW), "{}", card.isolation);
    assert_eq!(card.exit_code, Some(0), "{}", card.output);
    let expected = [
        ("a.txt", "modify"),
        ("gone.txt", "delete"),
        ("made.txt", "create"),
        ("run.sh", "modify"),
    ];
    assert_eq!(
        by_command(&run),
        expected.map(|(path, kind)| (path.to_owned(), kind.to_owned(), line.to_owned()))
    );
    accept(place);
    assert_eq!(place.read_text("a.txt"), "two\n");
    assert!(!place.exists("gone.txt") && place.exists("made.txt"));
    assert_ne!(place.tree(), before);
    undo(place);
    assert_eq!(place.tree(), before);
}

const CRATE: [(&str, &str); 4] = [
    (
        "Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    ),
    (
        "Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n",
    ),
    (".gitignore", "/target\n"),
    (
        "src/lib.rs",
        "pub fn price() -> u32 {\n    1\n}\n\n#[test]\nfn costs_one() {\n    assert_eq!(price(), 1);\n}\n",
    ),
];

/// Edit, test, repair, test, reject: the tree is byte-identical, the cache is warm, and the user's own build does not
/// take results of the rejected files for current ones.
#[test]
fn a_rejected_change_leaves_the_tree_as_it_was_and_the_cache_warm() {
    let test = "cargo test --offline";
    let played = played(&[
        &[command(test)],
        &[edit("src/lib.rs", "    1\n", "    2\n"), command(test)],
        &[
            edit("src/lib.rs", "    2\n", "    1 + 0\n"),
            command(test),
            command(test),
        ],
    ])
    .without_checks();
    let place = &played.place;
    CRATE.iter().for_each(|(path, text)| place.write(path, text));
    place.commit_all();
    let own = |arguments: &[&str]| {
        let output = place.program("cargo", arguments);
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
    };
    assert!(own(&["test", "--offline"]).contains("1 passed"));
    let tree = || {
        let mut tree = place.tree();
        tree.retain(|path, _| !path.starts_with("target"));
        tree
    };
    let before = tree();
    let session = work(&played).expect_code(0);
    let first = session.commands()[0].output.clone();
    assert!(
        first.contains("1 passed") && !first.contains("Compiling"),
        "the view is cold: {first}"
    );
    let session = session.session();
    let again = |code| {
        let arguments = ["--approvals", "allow", "--session", &session, "Work."];
        played.exec(&arguments).expect_code(code)
    };
    let broken = again(3);
    assert_eq!(
        broken.commands()[0].exit_code,
        Some(101),
        "{}",
        broken.commands()[0].output
    );
    let repaired = again(3);
    let outputs: Vec<_> = repaired
        .commands()
        .iter()
        .map(|card| card.output.clone())
        .collect();
    assert!(
        outputs[0].contains("Compiling") && outputs[0].contains("1 passed"),
        "{outputs:?}"
    );
    assert!(
        !outputs[1].contains("Compiling") && outputs[1].contains("1 passed"),
        "{outputs:?}"
    );
    assert_eq!(tree(), before);
    changes(place, &["reject"], 0);
    assert_eq!(tree(), before);
    // The draft is not what the user's own build uses.
    let theirs = own(&["test", "--offline"]);
    assert!(
        theirs.contains("Compiling shop") && theirs.contains("1 passed"),
        "{theirs}"
    );
}

/// Formatters and generators, and a command that fails: what they did is proposed with their name on it.
#[test]
fn formatters_generators_and_failing_commands_are_reviewed() {
    let generate = "for n in 1 2 3; do echo \"pub const N$n: u32 = $n;\" > src/gen_$n.rs; done; exit 3";
    let played = played(&[&[command("cargo fmt"), command(generate)]]).without_checks();
    let place = &played.place;
    CRATE.iter().for_each(|(path, text)| place.write(path, text));
    place.write("src/lib.rs", "pub fn   price( )->u32{1}\n");
    place.commit_all();
    let before = place.tree();
    let run = work(&played).expect_code(3);
    assert_eq!(place.tree(), before);
    let states: Vec<_> = run.commands().iter().map(|card| card.exit_code).collect();
    assert_eq!(states, [Some(0), Some(3)]);
    let found: Vec<_> = by_command(&run)
        .into_iter()
        .map(|(path, _, command)| (path, command))
        .collect();
    let expected = [
        ("src/gen_1.rs", generate),
        ("src/gen_2.rs", generate),
        ("src/gen_3.rs", generate),
        ("src/lib.rs", "cargo fmt"),
    ];
    assert_eq!(
        found,
        expected.map(|(path, command)| (path.to_owned(), command.to_owned()))
    );
    assert_eq!(shown(place).0.id.as_str(), run.change_set());
}

/// C07: a folder a command made is not there for the next, and the cards say where they ran.
#[test]
fn c07_each_command_starts_where_it_says() {
    let played = played(&[&[
        command("cd sub; pwd"),
        command("pwd"),
        command("mkdir -p t && cd t && pwd"),
        command("rm -rf ../t; pwd"),
        command("pwd"),
    ]]);
    let place = &played.place;
    place.write("sub/a.txt", "a\n");
    let root = place.workspace().canonicalize().unwrap().display().to_string();
    let run = work(&played);
    let outputs: Vec<String> = run
        .commands()
        .iter()
        .map(|card| card.output.trim().to_owned())
        .collect();
    assert_eq!(
        outputs[..3],
        [format!("{root}/sub"), root.clone(), format!("{root}/t")]
    );
    assert_eq!(outputs[4], root);
    assert!(run.commands().iter().all(|card| card.cwd == "."));
}

/// Git can be read in a view; writing its folder takes a person's yes, and then a commit works.
#[test]
fn git_writes_only_when_they_were_allowed() {
    let played = played(&[&[
        command("git status --short; echo x > .git/description"),
        command("git commit -q --allow-empty -m agent && git log --oneline | head -1"),
    ]]);
    let place = &played.place;
    place.write("a.txt", "a\n");
    place.commit_all();
    // A command does not get the variables that tests have.
    place.git(&["config", "user.name", "Test"]);
    place.git(&["config", "user.email", "test@example.invalid"]);
    let run = work(&played);
    let cards = run.commands();
    assert!(
        cards[0].output.contains("Read-only file system"),
        "{}",
        cards[0].output
    );
    assert!(
        cards[1].isolation.ends_with("may write .git"),
        "{}",
        cards[1].isolation
    );
    assert!(cards[1].output.contains("agent"), "{}", cards[1].output);
    assert!(place.git(&["log", "--oneline"]).contains("agent"));
}

/// Where no view can be had, commands run in a copy, also without a draft, and those that run the project's code ask.
#[test]
fn without_a_view_commands_run_in_a_copy_and_ask() {
    let played = played(&[&[command("echo x > a.txt"), command("cargo test --offline")]]);
    let place = &played.place;
    place.write("a.txt", "a\n");
    place.vibe(&["settings", "set", "sandbox.view", "off"]);
    let before = place.tree();
    let run = work(&played).expect_code(3);
    assert_eq!(place.tree(), before);
    for card in run.commands() {
        assert!(card.isolation.contains("copy of the workspace") && card.isolation.contains("no sandbox"));
    }
    let asked = run.events.iter().filter(|event| {
        serde_json::to_string(event)
            .unwrap()
            .contains("\"type\":\"approval\"")
    });
    assert!(asked.count() >= 2);
    let (_, checks) = json_lines(place, &["doctor", "--json"]);
    let commands = checks.iter().find(|check| check["name"] == "commands").unwrap();
    assert_eq!(commands["status"], "limited");
}

/// The normal case: somebody who is not root. Only root can try that.
#[test]
fn an_ordinary_user_has_the_view_too() {
    let who = Command::new("id").arg("-u").output().unwrap();
    if who.stdout != b"0\n" {
        return;
    }
    let server = ModelServer::spawn(&*turns(&[&[
        command("id -u; sed -i s/one/two/ a.txt; sh try.sh"),
        edit("a.txt", "two", "three"),
        command("cat a.txt"),
    ]]));
    let mut place = Hermetic::new(env!("CARGO_BIN_EXE_vibe-coder"));
    place.set_variable("ANTHROPIC_BASE_URL", server.anthropic_base_url());
    place.set_variable("ANTHROPIC_API_KEY", "sk-ant-test-0123456789");
    place.write("a.txt", "one\n");
    place.write("try.sh", "echo x > ../outside\ntouch ~/.bashrc\n");
    let program = place.outside().join("vibe-coder");
    fs::copy(env!("CARGO_BIN_EXE_vibe-coder"), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let owned = Command::new("chown")
        .arg("-R")
        .arg("65534:65534")
        .arg(place.outside())
        .status();
    assert!(owned.unwrap().success());
    let program = program.display().to_string();
    let output = place.program(
        "setpriv",
        &[
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--inh-caps=-all",
            &program,
            "exec",
            "--json",
            "--provider",
            "anthropic",
            "--approvals",
            "allow",
            "Work.",
        ],
    );
    let run = ExecRun::from_output(output);
    let cards = run.commands();
    assert_eq!(run.code, Some(3), "{cards:?}");
    assert!(cards[0].isolation.starts_with(VIEW), "{}", cards[0].isolation);
    assert!(cards[0].output.starts_with("65534\n"), "{}", cards[0].output);
    assert!(
        cards[0].output.contains("Read-only file system"),
        "{}",
        cards[0].output
    );
    assert_eq!(cards[1].output.trim(), "three");
    assert_eq!(place.read_text("a.txt"), "one\n");
    assert!(!place.outside().join("outside").exists());
    // So that what the run made can be removed by whoever made the place.
    assert!(
        Command::new("chmod")
            .args(["-R", "u+rwX"])
            .arg(place.outside())
            .status()
            .unwrap()
            .success()
    );
}
