//! The product's own log: one JSON object a line, for finding out what happened. Its events have no place for a
//! prompt, a file's content or a command's output, and every line goes through the redactor.

use std::{
    fs::File,
    io::Write,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use protocol::{
    ApprovalId, ArtifactId, ChangeSetId, CommandId, ContextState, ErrorCode, ProviderRequestId, SessionId,
    ToolCallId, ToolId, TurnId,
};
use serde::Serialize;

use crate::{
    DataHome, Redactor, files,
    home::DataPath,
    lock::{self, Acquired},
};

/// What is logged (§29.1): ids, codes, hashes, counts and durations in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum LogEvent {
    WorkspaceOpened {
        repairs: u64,
        duration_ms: u64,
    },
    SessionCreated {
        session: SessionId,
    },
    ProviderSelected {
        session: SessionId,
        turn: TurnId,
        provider: String,
        model: String,
    },
    ProviderRequestStarted {
        session: SessionId,
        request: ProviderRequestId,
        provider: String,
        model: String,
        prompt_hash: String,
        estimated_input: u64,
    },
    ProviderRequestCompleted {
        request: ProviderRequestId,
        input: u64,
        output: u64,
        duration_ms: u64,
    },
    ProviderRequestRetried {
        request: ProviderRequestId,
        code: ErrorCode,
        attempt: u32,
        delay_ms: u64,
    },
    ProviderRequestFailed {
        request: ProviderRequestId,
        code: ErrorCode,
        duration_ms: u64,
    },
    /// `tool` is absent when the model named none that exists.
    ToolCallStarted {
        session: SessionId,
        call: ToolCallId,
        tool: Option<ToolId>,
    },
    ToolCallCompleted {
        session: SessionId,
        call: ToolCallId,
        duration_ms: u64,
        artifacts: Vec<ArtifactId>,
    },
    ToolCallFailed {
        session: SessionId,
        call: ToolCallId,
        code: ErrorCode,
        duration_ms: u64,
    },
    ApprovalDecided {
        session: SessionId,
        approval: ApprovalId,
        allowed: bool,
    },
    CommandStarted {
        session: SessionId,
        command: CommandId,
    },
    /// Once for each command, not for each piece.
    CommandOutput {
        command: CommandId,
        bytes: u64,
        artifact: Option<ArtifactId>,
    },
    CommandCompleted {
        command: CommandId,
        exit_code: Option<i32>,
        duration_ms: u64,
    },
    CommandFailed {
        command: CommandId,
        code: ErrorCode,
        duration_ms: u64,
    },
    ChangeSetCreated {
        session: SessionId,
        change_set: ChangeSetId,
    },
    DiffAccepted {
        change_set: ChangeSetId,
        files: u64,
    },
    DiffRejected {
        change_set: ChangeSetId,
        files: u64,
    },
    ChangesUndone {
        change_set: ChangeSetId,
        files: u64,
    },
    VerificationStarted {
        session: SessionId,
        command: CommandId,
    },
    VerificationCompleted {
        command: CommandId,
        tree_hash: String,
        passed: bool,
        duration_ms: u64,
    },
    VerificationFailed {
        command: CommandId,
        code: ErrorCode,
    },
    TurnCompleted {
        session: SessionId,
        turn: TurnId,
        duration_ms: u64,
        input: u64,
        output: u64,
    },
    TurnFailed {
        session: SessionId,
        turn: TurnId,
        code: ErrorCode,
        duration_ms: u64,
    },
    Cancelled {
        session: SessionId,
        turn: TurnId,
    },
    Recovery {
        repairs: u64,
    },
    HostStarted {
        port: u16,
    },
    /// The host refused a request before it read anything. `what` is its method and path.
    RequestRefused {
        code: ErrorCode,
        what: String,
    },
    ContextStateChanged {
        context: String,
        from: ContextState,
        to: ContextState,
    },
    /// A failure with nobody to return it to, for example while the program ends.
    Unreported {
        place: String,
        code: ErrorCode,
    },
    /// A flag that cannot be switched on in this version was set, or a tool behind it was called.
    IslandActivationAttempted {
        flag: String,
    },
}

#[derive(Serialize)]
struct Line<'a> {
    at: protocol::Millis,
    pid: u32,
    #[serde(flatten)]
    event: &'a LogEvent,
}

/// The log file `logs/vibe-coder.jsonl`, written by all processes of a user. Logging never fails what is
/// logged: a line that cannot be written is dropped and counted.
pub struct Log {
    folder: DataPath,
    redactor: Redactor,
    file: Mutex<Option<File>>,
    rotate_bytes: u64,
    dropped: AtomicU64,
}

/// A file is put aside when it has this size; with the ones put aside the log takes at most four times this.
const ROTATE_BYTES: u64 = 2 * 1024 * 1024;
const OLDER_FILES: u32 = 3;
const NAME: &str = "vibe-coder.jsonl";

impl Log {
    /// Nothing is opened or created before the first line.
    pub fn new(home: &DataHome, redactor: Redactor) -> Log {
        Self::rotating(home, redactor, ROTATE_BYTES)
    }

    fn rotating(home: &DataHome, redactor: Redactor, rotate_bytes: u64) -> Log {
        Log {
            folder: home.root().join("logs"),
            redactor,
            file: Mutex::new(None),
            rotate_bytes,
            dropped: AtomicU64::new(0),
        }
    }

    pub fn record(&self, event: &LogEvent) {
        if self.try_record(event).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Lines that could not be written.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn try_record(&self, event: &LogEvent) -> std::io::Result<()> {
        let line = serde_json::to_string(&Line {
            at: crate::now_millis(),
            pid: std::process::id(),
            event,
        })?;
        let mut line = self.redactor.redact(&line).into_owned();
        line.push('\n');
        let mut slot = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match slot.take() {
            Some(file) if file.metadata()?.len() < self.rotate_bytes => file,
            // Full, or put aside by another process.
            Some(_) => {
                self.rotate()?;
                self.open()?
            }
            None => self.open()?,
        };
        // One write of a whole line to a file opened for appending: lines of several processes do not mix.
        (&file).write_all(line.as_bytes())?;
        *slot = Some(file);
        Ok(())
    }

    fn open(&self) -> std::io::Result<File> {
        let path = self.folder.join(NAME);
        files::open_append(&path).or_else(|_| {
            files::create_folder(&self.folder)?;
            files::open_append(&path)
        })
    }

    fn rotate(&self) -> std::io::Result<()> {
        let newest = self.folder.join(NAME);
        let lock = lock::acquire(&self.folder.join(".lock"), Duration::from_millis(200))?;
        let full = std::fs::metadata(&newest).is_ok_and(|metadata| metadata.len() >= self.rotate_bytes);
        if matches!(lock, Acquired::Held(_)) || !full {
            return Ok(());
        }
        let older = |number: u32| self.folder.join(&format!("vibe-coder.{number}.jsonl"));
        for number in (1..OLDER_FILES).rev() {
            if older(number).as_path().exists() {
                files::rename(&older(number), &older(number + 1))?;
            }
        }
        files::rename(&newest, &older(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(provider: &str) -> LogEvent {
        LogEvent::ProviderSelected {
            session: SessionId::from_text("ses_1"),
            turn: TurnId::from_text("trn_1"),
            provider: provider.to_owned(),
            model: "m".to_owned(),
        }
    }

    #[test]
    fn lines_are_redacted_json_and_rotation_loses_none() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataHome::at(folder.path().to_owned());
        let log = Log::rotating(&home, Redactor::new(["my-secret-key-1".to_owned()]), 2_000);
        log.record(&event("my-secret-key-1"));
        let text = std::fs::read_to_string(folder.path().join("logs").join(NAME)).unwrap();
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["event"], "providerSelected");
        assert_eq!(line["provider"], "[redacted]");

        let second = Log::rotating(&home, Redactor::default(), 2_000);
        for number in 0..20 {
            log.record(&event(&format!("p{number}")));
            second.record(&event(&format!("q{number}")));
        }
        let mut lines = Vec::new();
        for entry in std::fs::read_dir(folder.path().join("logs")).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.len() < 2_400, "{} has {} bytes", path.display(), text.len());
            for line in text.lines() {
                lines.push(serde_json::from_str::<serde_json::Value>(line).unwrap());
            }
        }
        assert_eq!(lines.len(), 41);
        assert_eq!((log.dropped(), second.dropped()), (0, 0));
    }

    #[test]
    fn unwritable_log_is_counted_and_fails_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataHome::at(folder.path().to_owned());
        drop(files::create_new(&home.root().join("logs")).unwrap());
        let log = Log::new(&home, Redactor::default());
        log.record(&event("p"));
        assert_eq!(log.dropped(), 1);
    }
}
