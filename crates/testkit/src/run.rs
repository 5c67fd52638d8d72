//! A run of the product as a test sees it: its events, its result line, its exit code.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, Output},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use protocol::{
    EventBody, EventEnvelope, ItemKind, TimelineItem,
    timeline::{CommandItem, ToolCallItem},
};
use serde_json::Value;

/// `exec --json`, finished.
#[derive(Debug)]
pub struct ExecRun {
    pub code: Option<i32>,
    pub events: Vec<EventEnvelope>,
    /// The last line.
    pub result: Value,
    pub stderr: String,
}

impl ExecRun {
    pub fn from_output(output: Output) -> Self {
        let stdout = String::from_utf8(output.stdout).expect("UTF-8");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let mut events = Vec::new();
        let mut result = Value::Null;
        for line in stdout.lines() {
            assert!(result.is_null(), "a line after the result: {line}");
            let value: Value =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}\n{stderr}"));
            if value["type"] == "result" {
                result = value;
            } else {
                events.push(serde_json::from_value(value).unwrap_or_else(|error| panic!("{error}: {line}")));
            }
        }
        Self {
            code: output.status.code(),
            events,
            result,
            stderr,
        }
    }

    /// Asserts the exit code, showing what was said otherwise.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stderr:\n{}\nresult: {}",
            self.stderr,
            self.result
        );
        self
    }

    pub fn session(&self) -> String {
        self.result["session"].as_str().unwrap_or_default().to_owned()
    }

    /// The id of the run's only change set.
    #[track_caller]
    pub fn change_set(&self) -> String {
        let sets = self.result["changeSets"].as_array().expect("change sets");
        assert_eq!(sets.len(), 1, "{}", self.result);
        sets[0]["id"].as_str().expect("an id").to_owned()
    }

    /// Items in their final form, in the order they started: reads of one round end in any order.
    pub fn items(&self) -> impl Iterator<Item = &TimelineItem> {
        let mut items: Vec<&TimelineItem> = Vec::new();
        for event in &self.events {
            let (EventBody::ItemStarted { item } | EventBody::ItemCompleted { item }) = &event.body else {
                continue;
            };
            match items.iter_mut().find(|known| known.id == item.id) {
                Some(known) => *known = item,
                None => items.push(item),
            }
        }
        items.into_iter()
    }

    pub fn tool_calls(&self) -> Vec<&ToolCallItem> {
        self.items()
            .filter_map(|item| match &item.kind {
                ItemKind::ToolCall(call) => Some(call),
                _ => None,
            })
            .collect()
    }

    pub fn commands(&self) -> Vec<&CommandItem> {
        self.items()
            .filter_map(|item| match &item.kind {
                ItemKind::Command(command) => Some(command),
                _ => None,
            })
            .collect()
    }

    /// The assistant's words of the whole run.
    pub fn answer(&self) -> String {
        self.items()
            .filter_map(|item| match &item.kind {
                ItemKind::AssistantMessage { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Names of the event types, in order.
    pub fn event_types(&self) -> Vec<String> {
        self.events
            .iter()
            .map(|event| {
                let value = serde_json::to_value(&event.body).expect("an event");
                value["type"].as_str().expect("a type").to_owned()
            })
            .collect()
    }
}

/// The product while it runs. Killed when dropped.
pub struct Running {
    pub child: Child,
    pub stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Every line of standard output so far.
    pub seen: Vec<String>,
}

impl Running {
    pub(crate) fn new(mut child: Child) -> Self {
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("a piped output");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self {
            child,
            stdin,
            lines,
            seen: Vec::new(),
        }
    }

    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a process id")
    }

    /// Waits for a line that contains `text`.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str, limit: Duration) -> String {
        let end = Instant::now() + limit;
        loop {
            match self
                .lines
                .recv_timeout(end.saturating_duration_since(Instant::now()))
            {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if line.contains(text) {
                        return line;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    panic!("“{text}” did not come; so far:\n{}", self.seen.join("\n"))
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!(
                        "the output ended without “{text}”:\n{}\n{}",
                        self.seen.join("\n"),
                        self.stderr()
                    )
                }
            }
        }
    }

    pub fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("an open input");
        writeln!(stdin, "{line}")
            .and_then(|()| stdin.flush())
            .expect("the product reads its input");
    }

    /// Sends a signal by its name, for example `INT`.
    pub fn signal(&self, name: &str) {
        let status = std::process::Command::new("kill")
            .args([&format!("-{name}"), &self.pid().to_string()])
            .status();
        assert!(status.expect("kill runs").success());
    }

    /// Waits for the end and collects what was printed.
    pub fn finish(mut self, limit: Duration) -> ExecRun {
        drop(self.stdin.take());
        let end = Instant::now() + limit;
        while let Ok(line) = self
            .lines
            .recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            self.seen.push(line);
        }
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            assert!(
                Instant::now() < end,
                "did not end within {limit:?}:\n{}",
                self.seen.join("\n")
            );
            std::thread::sleep(Duration::from_millis(5));
        };
        let stdout = std::mem::take(&mut self.seen)
            .into_iter()
            .map(|line| line + "\n")
            .collect::<String>();
        ExecRun::from_output(Output {
            status,
            stdout: stdout.into_bytes(),
            stderr: self.stderr().into_bytes(),
        })
    }

    fn stderr(&mut self) -> String {
        let _ = self.child.kill();
        let mut text = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            let _ = stderr.read_to_string(&mut text);
        }
        text
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
