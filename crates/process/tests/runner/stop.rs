//! Ending a command from outside: nothing of its tree is left (C02).

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use process::runner::start;
use protocol::CommandState;

use crate::setting::{Setting, fixture, output_until, runs, unique_seconds};

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Stop,
    Cancel,
    Limit,
    Drop,
}

async fn ends_within_two_seconds(command: &str, how: How, seconds: &str) {
    let setting = Setting::new();
    let mut options = setting.options();
    if how == How::Limit {
        options.time_limit = Some(Duration::from_millis(700));
    }
    let mut running = start(setting.approved(command), options).unwrap();
    output_until(&mut running, "ready").await;
    assert!(runs(seconds), "{command}");
    let asked = Instant::now();
    match how {
        How::Stop => running.stop_handle().stop(),
        How::Cancel => running.stop_handle().cancel(),
        How::Limit => {}
        How::Drop => {
            drop(running);
            while runs(seconds) {
                assert!(asked.elapsed() < Duration::from_secs(3), "{command}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            return;
        }
    }
    let end = running.ended().await.unwrap();
    let limit = if how == How::Limit { 3000 } else { 2000 };
    assert!(
        asked.elapsed() < Duration::from_millis(limit),
        "{how:?} {command}: {:?}",
        asked.elapsed()
    );
    let state = match how {
        How::Stop => CommandState::Stopped,
        How::Cancel => CommandState::Cancelled,
        How::Limit | How::Drop => CommandState::TimedOut,
    };
    assert_eq!(end.state, state, "{command}");
    assert!(!runs(seconds), "{how:?} {command}");
    assert!(end.still_running.is_empty(), "{end:?}");
}

const TREES: [&str; 9] = [
    "echo ready; sleep N",
    "sleep N | cat & echo ready; wait",
    "trap '' TERM; echo ready; while :; do sleep N; done",
    "sh -c 'trap \"\" TERM INT HUP; echo ready; while :; do sleep N; done'",
    "setsid sh -c 'trap \"\" TERM; sleep N; sleep N' & echo ready; wait",
    "(setsid sleep N &) ; sleep 0.1; echo ready; sleep 60",
    "(setsid sh -c 'trap \"\" TERM; (setsid sleep N &); sleep N' &) ; sleep 0.3; echo ready; sleep 60",
    "env -i sh -c 'sleep N' & echo ready; wait",
    "sh -c 'kill -STOP $$; sleep N' & sleep N & echo ready; wait",
];

#[tokio::test(flavor = "multi_thread")]
async fn no_tree_survives_a_stop() {
    for tree in TREES {
        let seconds = unique_seconds();
        ends_within_two_seconds(&tree.replace('N', &seconds), How::Stop, &seconds).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_tree_survives_a_cancel_a_limit_or_being_dropped() {
    for how in [How::Cancel, How::Limit, How::Drop] {
        for tree in [TREES[1], TREES[6]] {
            let seconds = unique_seconds();
            ends_within_two_seconds(&tree.replace('N', &seconds), how, &seconds).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrapper_with_a_listening_server_is_ended_and_its_port_free() {
    let setting = Setting::new();
    let tag = format!("kf-orphan-{}", std::process::id());
    let mut running = setting.start(&format!("sh {} {tag}", fixture("orphans.sh")));
    let output = output_until(&mut running, "\n").await;
    let port: u16 = output.trim().trim_start_matches("port ").parse().unwrap();
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    running.stop_handle().stop();
    running.stop_handle().stop();
    let end = running.ended().await.unwrap();
    assert_eq!(end.state, CommandState::Stopped);
    assert!(!runs(&tag));
    assert!(std::net::TcpListener::bind(("127.0.0.1", port)).is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_can_be_stopped() {
    let setting = Setting::new();
    let mut options = setting.options();
    options.log = Box::new(std::io::sink());
    let mut running = start(setting.approved("yes"), options).unwrap();
    output_until(&mut running, "y\n").await;
    let asked = Instant::now();
    running.stop_handle().stop();
    assert_eq!(running.ended().await.unwrap().state, CommandState::Stopped);
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
}

#[tokio::test]
async fn stopping_what_has_ended_changes_nothing() {
    let setting = Setting::new();
    let running = setting.start("true");
    let stop = running.stop_handle();
    let end = running.ended().await.unwrap();
    stop.stop();
    stop.cancel();
    assert_eq!(end.state, CommandState::Succeeded);
}

/// The runtime goes away while a command runs: so does the command.
#[test]
fn no_tree_survives_its_runtime() {
    let seconds = unique_seconds();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let setting = Setting::new();
    let mut running = {
        let _inside = runtime.enter();
        setting.start(&format!("setsid sleep {seconds} & echo ready; wait"))
    };
    runtime.block_on(output_until(&mut running, "ready"));
    drop(runtime);
    let started = Instant::now();
    while runs(&seconds) {
        assert!(started.elapsed() < Duration::from_secs(3));
        std::thread::yield_now();
    }
}

const VICTIM: &str = "VICTIM_SECONDS";

/// Runs only as the child of the test below: starts commands and waits to be killed.
#[tokio::test]
async fn victim() {
    let Ok(seconds) = std::env::var(VICTIM) else {
        return;
    };
    let setting = Setting::new();
    let mut running = setting.start(&format!(
        "trap '' TERM; (setsid sleep {seconds} &); sleep {seconds} & echo ready; wait"
    ));
    output_until(&mut running, "ready").await;
    println!("victim is ready");
    std::future::pending::<()>().await;
}

/// The whole program is killed: its commands end too, also those in sessions of their own.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a test plays the program that is killed"
)]
fn no_tree_survives_the_program() {
    let seconds = unique_seconds();
    let mut program = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["stop::victim", "--exact", "--nocapture"])
        .env(VICTIM, &seconds)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(program.stdout.take().unwrap()).lines();
    assert!(
        lines
            .map_while(Result::ok)
            .any(|line| line.contains("victim is ready"))
    );
    assert!(runs(&seconds));
    program.kill().unwrap();
    program.wait().unwrap();
    let started = Instant::now();
    while runs(&seconds) {
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "a command outlived its program"
        );
        std::thread::yield_now();
    }
}
