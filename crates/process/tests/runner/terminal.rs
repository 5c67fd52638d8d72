//! Commands with a terminal of their own, in a view and without one.

use std::time::Duration;

use process::runner::{CommandEvent, RunOptions, RunningCommand, Terminal, start};

use crate::staged::Views;

const ASK: &str =
    "[ -t 0 ] && [ -t 1 ] && stty size && printf 'name? ' > /dev/tty && read -r name && echo \"hello $name\"";

/// Reads until the text is there, or the end.
async fn until(running: &mut RunningCommand, text: &str) -> String {
    let mut seen = String::new();
    while !seen.contains(text) {
        match running.next().await {
            Some(CommandEvent::Output { bytes, .. }) => seen.push_str(&String::from_utf8_lossy(&bytes)),
            Some(CommandEvent::Ended(end)) => panic!("ended: {seen} {end:?}"),
            Some(CommandEvent::Started { .. }) => {}
            None => panic!("no end: {seen}"),
        }
    }
    seen
}

fn with_terminal(views: &Views, in_view: bool) -> RunOptions {
    let staged = views.staged();
    let mut options = views.options(&staged);
    options.terminal = Terminal::Own;
    if !in_view {
        options.staged = None;
    }
    options
}

#[tokio::test]
async fn somebody_can_answer_a_command_that_asks_on_its_terminal() {
    let views = Views::new();
    views.put("ask.sh", ASK);
    for in_view in [false, true] {
        let mut running = start(
            views.setting.approved("sh ask.sh"),
            with_terminal(&views, in_view),
        )
        .unwrap();
        let typist = running.typist().unwrap();
        let asked = until(&mut running, "name?").await;
        assert!(asked.contains("24 80"), "{asked}");
        typist.write(b"Ada\n").unwrap();
        let end = running.ended().await.unwrap();
        assert_eq!(end.exit_code, Some(0), "{end:?}");
        let output = String::from_utf8_lossy(&end.output.head).into_owned();
        assert!(output.contains("hello Ada"), "{in_view}: {output}");
    }
}

/// Stop and a time limit reach what holds on to its terminal and ignores to be asked.
#[tokio::test]
async fn what_holds_its_terminal_is_ended() {
    let views = Views::new();
    for in_view in [false, true] {
        views.put(
            "hold.sh",
            "trap '' TERM HUP INT; echo ready; while :; do read -r x < /dev/tty || sleep 1; done",
        );
        let mut options = with_terminal(&views, in_view);
        options.grace = Duration::from_millis(50);
        let mut running = start(views.setting.approved("sh hold.sh"), options).unwrap();
        until(&mut running, "ready").await;
        running.stop_handle().cancel();
        let end = running.ended().await.unwrap();
        assert_eq!(end.state, protocol::CommandState::Cancelled);
        assert!(end.still_running.is_empty(), "{:?}", end.still_running);
    }
}
