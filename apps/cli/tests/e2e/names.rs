//! Names and git: what other tools print quoted, and locks that other tools need.

use std::{
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    agent::{call, edit, fixture_path, read, rename},
    support::{FAMILIES, Played, json_lines},
    told::tool_results,
};

const NAMES: [&str; 15] = [
    "plain.txt",
    "with space.txt",
    "caf\u{e9}.txt",
    "\u{6587}\u{6863}.txt",
    "it's.txt",
    "double\"quote.txt",
    "-dash.txt",
    "arrow -> not.txt",
    "back\\slash.txt",
    "semi;colon.txt",
    "$HOME.txt",
    "#hash.txt",
    "star*.txt",
    "new\nline.txt",
    "tab\there.txt",
];

/// W01: fifteen awkward names through every tool, an accept and an undo. Staging is the user's own git; mentions
/// come with a window.
#[test]
fn w01_unusual_file_names() {
    let each = |make: &dyn Fn(&str) -> Value| NAMES.iter().map(|name| make(name)).collect::<Vec<_>>();
    let whole = [
        call("list_directory", json!({})),
        call("git_status", json!({})),
        call("search_content", json!({ "pattern": "^2$" })),
    ];
    let scenario = json!({ "steps": [
        { "tools": whole },
        { "tools": each(&read) },
        { "tools": each(&|name| call("git_diff", json!({ "path": name }))) },
        { "tools": each(&|name| call("search_files", json!({ "query": name.replace(['\n', '\t', '*'], " ") }))) },
        { "tools": each(&|name| call("search_content", json!({ "pattern": "1", "path": name }))) },
        { "tools": each(&|name| edit(name, "2", "two")) },
        { "tools": each(&|name| rename(name, &format!("moved/{name}"))) },
        { "tools": each(&|name| read(&format!("moved/{name}"))) },
        { "text": "Done." },
    ] })
    .to_string();
    for family in FAMILIES {
        let mut played = Played::new(family, &scenario);
        played.place.set_variable("PATH", "/usr/local/bin:/usr/bin:/bin");
        let place = &played.place;
        let made = place.program(
            "sh",
            &[fixture_path("names/make-names.sh").to_str().unwrap(), "."],
        );
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let before = place.tree();
        let run = played.exec(&["Work."]).expect_code(3);
        for card in run.tool_calls() {
            assert_eq!(
                card.error, None,
                "{} {:?}: {}",
                card.name, card.arguments, card.summary
            );
        }
        let results = tool_results(played.server.requests().last().unwrap());
        let text = |at: usize| results[at].1.as_str();
        for (number, name) in NAMES.iter().enumerate() {
            let shown = on_one_line(name);
            for (whole, tool) in ["list_directory", "git_status", "search_content"]
                .iter()
                .enumerate()
            {
                assert!(text(whole).contains(&shown), "{tool} {name:?}: {}", text(whole));
            }
            for (row, part) in [
                (0, format!("{shown}: ")),
                (1, "+2".to_owned()),
                (2, shown.clone()),
                (3, shown.clone()),
                (4, format!("Edited {name}")),
                (5, format!("moved/{name}")),
                (6, "two".to_owned()),
            ] {
                let at = whole.len() + row * NAMES.len() + number;
                assert!(text(at).contains(&part), "{name:?} row {row}: {}", text(at));
            }
        }
        assert_eq!(place.tree(), before);
        let (_, sets) = json_lines(place, &["changes", "list", "--json"]);
        let mut paths: Vec<String> = sets[0]["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["path"].as_str().unwrap().to_owned())
            .collect();
        let mut expected: Vec<String> = NAMES.iter().map(|name| format!("moved/{name}")).collect();
        paths.sort();
        expected.sort();
        assert_eq!(paths, expected, "{family}: the real names");

        // One by its name, then the rest.
        let one = place.vibe(&["changes", "accept", "--file", "moved/-dash.txt"]);
        assert_eq!(
            one.status.code(),
            Some(3),
            "{}",
            String::from_utf8_lossy(&one.stderr)
        );
        assert_eq!(place.read_text("moved/-dash.txt"), "1\ntwo\n");
        let rest = place.vibe(&["changes", "accept"]);
        assert_eq!(
            rest.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&rest.stderr)
        );
        for name in NAMES {
            assert_eq!(place.read_text(&format!("moved/{name}")), "1\ntwo\n", "{name:?}");
            assert!(!place.exists(name), "{name:?}");
        }
        let undone = place.vibe(&["changes", "undo"]);
        assert_eq!(
            undone.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&undone.stderr)
        );
        assert_eq!(place.tree(), before, "{family}");
    }
}

/// A name as it stands in a list of one name a line.
fn on_one_line(name: &str) -> String {
    match name.contains(char::is_control) {
        true => Value::from(name).to_string(),
        false => name.to_owned(),
    }
}

/// How long the loops of W02 run.
const LOOPING: Duration = Duration::from_secs(4);

/// W02: the user commits and touches files all the time while git is looked at, and the app is killed at random.
#[test]
fn w02_background_git_takes_the_lock() {
    let looks: Vec<Value> = (0..20)
        .flat_map(|_| [call("git_status", json!({})), call("git_diff", json!({}))])
        .collect();
    let scenario = json!({ "steps": [{ "tools": looks, "repeat": "always" }] }).to_string();
    let played = Played::new("anthropic", &scenario);
    let place = &played.place;
    for number in 0..200 {
        place.write(&format!("src/file-{number}.txt"), format!("{number}\n"));
    }
    place.commit_all();
    let over = AtomicBool::new(false);
    let (commits, kills) = std::thread::scope(|scope| {
        let committing = scope.spawn(|| {
            let mut commits = 0;
            while !over.load(Ordering::Relaxed) {
                place.write("counter.txt", format!("{commits}\n"));
                // Each fails this test when it fails.
                place.git(&["add", "counter.txt"]);
                place.git(&["commit", "-q", "-m", "by the user"]);
                commits += 1;
            }
            commits
        });
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let touched = place.program("sh", &["-c", "touch src/*"]);
                assert!(touched.status.success());
            }
        });
        let began = Instant::now();
        let mut kills = 0_u64;
        while began.elapsed() < LOOPING && !committing.is_finished() {
            let running = place.start(&["exec", "--json", "--provider", "anthropic", "Look."]);
            std::thread::sleep(Duration::from_millis(50 + kills * 37 % 200));
            running.signal("KILL");
            drop(running);
            kills += 1;
        }
        over.store(true, Ordering::Relaxed);
        (committing.join().unwrap(), kills)
    });
    assert!(commits > 5 && kills > 5, "{commits} commits, {kills} kills");
    let left = place.program("sh", &["-c", "find .git -name '*.lock'"]);
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
    let status = place
        .command(&["doctor"])
        .stdout(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(status.status.code(), Some(0));
    assert_eq!(
        place.git(&["rev-list", "--count", "HEAD"]).trim(),
        (commits + 1).to_string()
    );
}
