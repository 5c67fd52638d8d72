//! What a command gets and what is said of it when it ends by itself.

use std::time::{Duration, Instant};

use process::display::Colour;
use process::runner::{CommandEvent, Leftover, Outcome, OutputStream, start};
use protocol::CommandState;

use crate::setting::{Setting, fixture, output_until, runs, unique_seconds};

#[tokio::test]
async fn events_come_in_order_and_end_once() {
    let setting = Setting::new();
    let mut command = setting.start("printf out; sleep 0.2; printf err >&2; exit 3");
    let mut events = Vec::new();
    while let Some(event) = command.next().await {
        events.push(event);
    }
    let CommandEvent::Started { pid, cwd } = &events[0] else {
        panic!("{events:?}")
    };
    assert_eq!((*pid, cwd), (command.pid(), &setting.root));
    let outputs: Vec<(OutputStream, &[u8])> = events
        .iter()
        .filter_map(|event| match event {
            CommandEvent::Output { stream, bytes } => Some((*stream, bytes.as_slice())),
            _ => None,
        })
        .collect();
    assert_eq!(
        outputs,
        [
            (OutputStream::Stdout, &b"out"[..]),
            (OutputStream::Stderr, b"err")
        ]
    );
    let Some(CommandEvent::Ended(end)) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(
        events
            .iter()
            .filter(|event| matches!(event, CommandEvent::Ended(_)))
            .count(),
        1
    );
    assert_eq!(
        (end.state, end.exit_code, end.signal),
        (CommandState::Failed, Some(3), None)
    );
    assert_eq!((end.outcome, &end.notes), (Outcome::Failed, &vec![]));
    assert!(end.duration >= Duration::from_millis(200));
    assert_eq!(setting.logged(), "outerr");
    assert_eq!(end.output.head, b"outerr");
}

/// C01: nobody can answer, so nothing waits.
#[tokio::test]
async fn nothing_waits_for_an_answer() {
    let setting = Setting::new();
    let repository = "git init -q && git config user.email a@b && git config user.name a && for i in $(seq 60); do git commit -q --allow-empty -m \"message $i\"; done";
    assert_eq!(setting.run(repository).await.exit_code, Some(0));
    let cases = [
        ("git log".to_owned(), Some(0), "message 1\n"),
        ("cat".to_owned(), Some(0), ""),
        ("python3 -c 'input()'".to_owned(), Some(1), "EOFError"),
        ("git rebase -i HEAD~2".to_owned(), Some(1), "editor"),
        ("git commit --allow-empty".to_owned(), Some(1), "editor"),
        (format!("sh {}", fixture("fake-sudo.sh")), Some(1), "no terminal"),
        ("read -r x; echo \"<$x>\"".to_owned(), Some(0), "<>"),
        (
            "tty; test -t 0 || test -t 1 || echo none".to_owned(),
            Some(0),
            "none",
        ),
    ];
    for (command, code, expected) in cases {
        let setting = setting.again();
        let started = Instant::now();
        let end = setting.run(&command).await;
        assert!(started.elapsed() < Duration::from_secs(10), "{command}");
        let output = setting.logged();
        assert_eq!(end.exit_code, code, "{command}: {output}");
        assert!(output.contains(expected), "{command}: {output}");
    }
}

/// C03: a background child does not keep the call open, is named, and is ended.
#[tokio::test]
async fn a_background_child_does_not_hold_the_call() {
    for template in [
        "sleep N & echo done",
        "(sleep N; echo late) & echo done",
        "nohup sleep N >/dev/null 2>&1 & echo done",
        "setsid sleep N & echo done",
        "(setsid sh -c 'sleep N' &) ; echo done",
        "env -i sleep N & echo done",
    ] {
        let setting = Setting::new();
        let seconds = unique_seconds();
        let command = template.replace('N', &seconds);
        let end = setting.run(&command).await;
        assert!(
            end.duration < Duration::from_secs(2),
            "{command}: {:?}",
            end.duration
        );
        assert_eq!(
            (end.state, end.exit_code),
            (CommandState::Succeeded, Some(0)),
            "{command}"
        );
        assert!(setting.logged().contains("done"), "{command}");
        assert!(
            end.still_running
                .iter()
                .any(|process| process.command.contains(&seconds)),
            "{command}: {end:?}"
        );
        assert!(
            end.notes
                .iter()
                .any(|note| note.contains(&seconds) && note.contains("stopped")),
            "{:?}",
            end.notes
        );
        assert!(!runs(&seconds), "{command}");
    }
}

/// C03: what is kept goes on, and its late output goes to the same log.
#[tokio::test]
async fn a_kept_child_writes_to_its_own_log() {
    let setting = Setting::new();
    let seconds = unique_seconds();
    let mut options = setting.options();
    options.leftover = Leftover::Keep;
    let command = start(
        setting.approved(&format!("(sleep 1; echo late; exec sleep {seconds}) & echo done")),
        options,
    )
    .unwrap();
    let end = command.ended().await.unwrap();
    assert!(
        end.duration < Duration::from_secs(1) && end.notes[0].contains("left running"),
        "{end:?}"
    );
    assert_eq!(setting.logged(), "done\n");
    let deadline = Instant::now() + Duration::from_secs(5);
    while !setting.logged().contains("late") {
        assert!(Instant::now() < deadline, "{}", setting.logged());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(String::from_utf8_lossy(&end.output.head), "done\n");
    // The test's own process ends now, and the guard with it ends the kept child.
}

/// C05.
#[tokio::test]
async fn a_progress_bar_is_one_line() {
    let setting = Setting::new();
    let end = setting.run(&format!("python3 {}", fixture("progress.py"))).await;
    let progress = format!("loading 1000/1000 {}", "#".repeat(20));
    assert_eq!(
        end.output.text(Colour::Drop),
        format!("{progress}\nfinished\nok\n")
    );
    let coloured = end.output.text(Colour::Keep);
    assert_eq!(
        (
            coloured.lines().count(),
            coloured.starts_with("\u{1b}[32mloading\u{1b}[0m ")
        ),
        (3, true),
        "{coloured}"
    );
    assert_eq!(setting.logged().matches('\r').count(), 1000);
}

/// C06: exit code, stages and what may be said.
#[tokio::test]
async fn success_is_not_claimed_when_a_part_failed() {
    type Stages = Option<&'static [i32]>;
    let cases: &[(&str, i32, Stages, Outcome)] = &[
        ("true", 0, Some(&[0]), Outcome::Passed),
        ("false", 1, Some(&[1]), Outcome::Failed),
        (
            "sh -c 'echo 2 failed; exit 1' | tail -1",
            0,
            Some(&[1, 0]),
            Outcome::PartFailed,
        ),
        ("false; echo done", 0, Some(&[0]), Outcome::PartFailed),
        ("false || true", 0, Some(&[0]), Outcome::PartFailed),
        ("sh -c 'exit 3' | cat", 0, Some(&[3, 0]), Outcome::PartFailed),
        ("yes | head -1", 0, Some(&[141, 0]), Outcome::Passed),
        ("grep x /dev/null | wc -l", 0, Some(&[1, 0]), Outcome::Passed),
        ("true | (exit 2) | cat", 0, Some(&[0, 2, 0]), Outcome::PartFailed),
        ("true && echo a && true", 0, Some(&[0]), Outcome::Passed),
        ("(false; true)", 0, Some(&[0]), Outcome::PartFailed),
        ("f() { false; true; }; f", 0, Some(&[0]), Outcome::PartFailed),
        (
            "if grep -q x /dev/null; then echo a; fi",
            0,
            Some(&[0]),
            Outcome::Passed,
        ),
        ("! grep -q x /dev/null", 0, Some(&[0]), Outcome::Passed),
        ("false; exit 0", 0, Some(&[0]), Outcome::PartFailed),
        ("false; exit 4", 4, Some(&[4]), Outcome::Failed),
        ("set -e; false; true", 1, Some(&[1]), Outcome::Failed),
        (
            "set -euo pipefail; false | true",
            1,
            Some(&[1, 0]),
            Outcome::Failed,
        ),
        (
            "set -euo pipefail; true | true && true",
            0,
            Some(&[0]),
            Outcome::Passed,
        ),
        ("set -x; true", 0, None, Outcome::Unknown),
        ("exec true", 0, None, Outcome::Unknown),
        ("trap 'echo bye' EXIT; true", 0, None, Outcome::Unknown),
        ("sh -c 'kill -9 $$'; true", 0, Some(&[0]), Outcome::PartFailed),
        (
            "mkdir a b && cd $_ && test \"$(basename $PWD)\" = b",
            0,
            Some(&[0]),
            Outcome::Passed,
        ),
        (
            "cat <<EOF | grep -c two\none\ntwo\nEOF",
            0,
            Some(&[0, 0]),
            Outcome::Passed,
        ),
        ("echo \"$(false)\"; true # a note", 0, Some(&[0]), Outcome::Passed),
        (
            "for i in 1 2 3; do test $i = 2; done; true",
            0,
            Some(&[0]),
            Outcome::Passed,
        ),
        (
            "for i in 1 2 3; do sh -c 'exit 9'; done; true",
            0,
            Some(&[0]),
            Outcome::PartFailed,
        ),
        ("true |& cat", 0, Some(&[0, 0]), Outcome::Passed),
    ];
    for (command, code, stages, outcome) in cases {
        let setting = Setting::new();
        let end = setting.run(command).await;
        let seen = (end.exit_code, end.stages.as_deref(), end.outcome);
        assert_eq!(
            seen,
            (Some(*code), *stages, *outcome),
            "{command}: {end:?} {}",
            setting.logged()
        );
    }
}

/// The reporting must not show in what a command prints or sees.
#[tokio::test]
async fn the_reporting_does_not_show() {
    let setting = Setting::new();
    setting.run("nosuchcommand_x; ls /no-such; echo $LINENO; env; ls -l /proc/self/fd | grep -c pipe; (exit 3)\necho $?; exit 0").await;
    let output = setting.logged();
    assert!(output.contains("line 1: nosuchcommand_x"), "{output}");
    assert!(
        !output.contains("__part") && !output.contains("PIPESTATUS"),
        "{output}"
    );
    assert!(output.ends_with("3\n"), "{output}");
}

#[tokio::test]
async fn a_signal_is_reported() {
    let setting = Setting::new();
    let end = setting.run("kill -SEGV $$").await;
    assert_eq!(
        (end.state, end.exit_code, end.signal),
        (CommandState::Failed, None, Some(11))
    );
}

/// C07.
#[tokio::test]
async fn each_command_says_where_it_ran() {
    let setting = Setting::new();
    setting.run("mkdir -p sub && ln -s sub link").await;
    let in_folder = |folder: &str| {
        let mut options = setting.options();
        options.cwd = setting.root.join(folder);
        start(setting.approved("pwd; cd /"), options).unwrap().ended()
    };
    let (root, sub) = (setting.root.clone(), setting.root.join("sub"));
    for (folder, expected, notes) in [
        (".", &root, 0),
        ("sub", &sub, 0),
        ("link", &sub, 0),
        ("sub", &sub, 0),
        ("gone", &root, 1),
    ] {
        let end = in_folder(folder).await.unwrap();
        assert_eq!(
            (&end.cwd, end.notes.len()),
            (expected, notes),
            "{folder}: {end:?}"
        );
        assert_eq!(
            String::from_utf8_lossy(&end.output.head),
            format!("{}\n", expected.display())
        );
    }
    let end = in_folder("gone").await.unwrap();
    assert!(
        end.notes[0].contains("gone") && end.notes[0].contains("ran in"),
        "{:?}",
        end.notes
    );

    let mut options = setting.options();
    options.cwd = "/no/such".into();
    options.root = "/no/such/either".into();
    assert!(start(setting.approved("pwd"), options).is_err());
}

/// C08.
#[tokio::test]
async fn the_environment_has_no_secrets_and_no_prompts() {
    let setting = Setting::new();
    let environment = process::CommandEnvironment::filtered(
        [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", "/home/someone"),
            ("OPENAI_API_KEY", "secret-1"),
            ("VIBE_CODER_TOKEN", "secret-2"),
            ("LD_PRELOAD", "secret-3.so"),
            ("NODE_OPTIONS", "secret-4"),
            ("BASH_ENV", "secret-5"),
        ]
        .map(|(name, value)| (name.into(), value.into())),
    );
    let mut options = setting.options();
    options.environment = environment.with("CHOSEN", "by the user");
    let end = start(setting.approved("env; printf x"), options)
        .unwrap()
        .ended()
        .await
        .unwrap();
    let output = setting.logged();
    assert!(!output.contains("secret"), "{output}");
    for line in [
        "HOME=/home/someone",
        "CHOSEN=by the user",
        "PAGER=cat",
        "GIT_TERMINAL_PROMPT=0",
        "TERM=dumb",
    ] {
        assert!(output.lines().any(|seen| seen == line), "{line} in {output}");
    }
    assert!(output.ends_with("\nx") && end.exit_code == Some(0));
}

/// C04: a flood stays bounded, ends on time, and keeps both ends.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_stays_bounded() {
    let setting = Setting::new();
    let mut options = setting.options();
    options.log = Box::new(std::io::sink());
    let end = start(setting.approved("seq 1 2000000"), options)
        .unwrap()
        .ended()
        .await
        .unwrap();
    assert!(end.output.head.starts_with(b"1\n2\n") && end.output.tail.ends_with(b"1999999\n2000000\n"));
    assert_eq!(end.output.total_bytes, 14_888_896);
    assert_eq!(end.output.omitted_bytes, 14_888_896 - 2 * 65536);
    assert!(end.output.text(Colour::Drop).contains("bytes left out"));
    assert!(end.output.text(Colour::Drop).len() < 140_000);

    let mut options = setting.options();
    options.log = Box::new(std::io::sink());
    options.time_limit = Some(Duration::from_secs(1));
    let started = Instant::now();
    let end = start(setting.approved("yes"), options)
        .unwrap()
        .ended()
        .await
        .unwrap();
    assert_eq!(end.state, CommandState::TimedOut);
    assert!(
        started.elapsed() < Duration::from_secs(4),
        "{:?}",
        started.elapsed()
    );
    assert!(memory_kilobytes() < 64 * 1024, "{} kB", memory_kilobytes());
}

fn memory_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The time limit does not depend on whether anybody takes the events.
#[tokio::test]
async fn a_consumer_that_lags_does_not_delay_the_limit() {
    let setting = Setting::new();
    let seconds = unique_seconds();
    let mut options = setting.options();
    options.time_limit = Some(Duration::from_millis(500));
    options.event_capacity = 2;
    let mut command = start(setting.approved(&format!("sleep {seconds} & yes")), options).unwrap();
    output_until(&mut command, "y").await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(!runs(&seconds));
    assert_eq!(command.ended().await.unwrap().state, CommandState::TimedOut);
}

#[tokio::test]
async fn a_log_that_cannot_be_written_is_said() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::from_raw_os_error(28))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let setting = Setting::new();
    let mut options = setting.options();
    options.log = Box::new(Full);
    let end = start(setting.approved("echo a; echo b"), options)
        .unwrap()
        .ended()
        .await
        .unwrap();
    assert_eq!(
        (end.exit_code, end.output.head.as_slice()),
        (Some(0), &b"a\nb\n"[..])
    );
    assert!(end.notes[0].contains("log is not complete"), "{:?}", end.notes);
}
