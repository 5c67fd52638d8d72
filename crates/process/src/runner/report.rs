//! How each part of a command ended, not only the last one (C06).
//!
//! A shell's exit status is that of its last pipeline's last stage: `tests | tail` is 0 whatever the tests did.
//! Under bash two traps write the other statuses to a pipe of ours: before each command those of the pipeline
//! before it, if one was not 0; at the end those of the last pipeline. The command line itself is passed
//! unchanged. What cannot be known (another shell, `exec`, the command's own traps) is reported as unknown.

use std::io::{self, PipeReader, Read};

/// A pipeline that is over: the exit status of each stage, left to right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedPart {
    pub statuses: Vec<i32>,
    /// Its last simple command, shortened, where it could be told.
    pub command: Option<String>,
}

/// What the shell reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PartStatuses {
    /// Pipelines before the last in which a stage did not end with 0; the first fifty.
    pub(super) failed_before: Vec<EndedPart>,
    /// The last pipeline. `None` when the shell did not come to its own end.
    pub(super) last: Option<Vec<i32>>,
}

/// Most earlier failures that are kept.
const MAX_FAILURES: usize = 50;

/// Stands in the reporting and in no command of anybody's: by it a shell of ours is told from what it runs.
pub(super) const OWN_NAME: &str = "__part_statuses";

/// The text to put before a command, on its first line so that line numbers in messages stay right.
/// `None` when the command sets traps or traces itself and would be disturbed.
pub(super) fn prelude(command: &str, descriptor: i32) -> Option<String> {
    if is_disturbed(command) {
        return None;
    }
    // `$_` is saved and given back, since a command may use it. The debug trap also runs before the exit trap's
    // command and leaves there the statuses of the last pipeline, which the exit trap itself would see no more.
    let debug = format!(
        r#"__part_statuses="${{PIPESTATUS[*]}}" __part_argument="$_"; [[ $__part_statuses == *[1-9]* ]] && printf "part %s|%.60s\n" "$__part_statuses" "${{__part_command-}}" >&{descriptor} 2>/dev/null; __part_command=${{BASH_COMMAND%%$'\n'*}}; : "$__part_argument""#
    );
    let exit = format!(r#"printf "last %s|\n" "$__part_statuses" >&{descriptor} 2>/dev/null"#);
    Some(format!(
        "set -T; trap {} EXIT; trap {} DEBUG; ",
        quoted(&exit),
        quoted(&debug)
    ))
}

/// Whether a command uses what the reporting uses, or would show it: `set -x` prints every command, also a trap's.
fn is_disturbed(command: &str) -> bool {
    const WORDS: [&str; 9] = [
        "trap",
        "PIPESTATUS",
        "BASH_",
        "shopt",
        "xtrace",
        "verbose",
        "functrace",
        "noexec",
        "onecmd",
    ];
    let words: Vec<&str> = command.split_whitespace().collect();
    let sets = words.windows(2).any(|pair| match pair {
        [set, options] => {
            set.ends_with("set")
                && options.starts_with(['-', '+'])
                && options.contains(['x', 'v', 'T', 't', 'n'])
        }
        _ => false,
    });
    sets || WORDS.iter().any(|word| command.contains(word))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Reads the report without blocking and in bounded memory.
pub(super) struct ReportReader {
    pipe: Option<PipeReader>,
    line: Vec<u8>,
    statuses: PartStatuses,
    /// Reported last; it may turn out to be the last pipeline itself.
    pending: Option<EndedPart>,
}

impl ReportReader {
    pub(super) fn new(pipe: PipeReader) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Self {
            pipe: Some(pipe),
            line: Vec::new(),
            statuses: PartStatuses::default(),
            pending: None,
        })
    }

    pub(super) fn pipe(&self) -> Option<&PipeReader> {
        self.pipe.as_ref()
    }

    /// What was reported, whole once the shell has ended.
    pub(super) fn take_statuses(&mut self) -> PartStatuses {
        self.settle(None);
        std::mem::take(&mut self.statuses)
    }

    /// Decides about the part reported last: an earlier failure, unless it is the last pipeline.
    fn settle(&mut self, last: Option<&[i32]>) {
        let Some(part) = self
            .pending
            .take()
            .filter(|part| last != Some(part.statuses.as_slice()))
        else {
            return;
        };
        let failures = &mut self.statuses.failed_before;
        // Each stage of the next pipeline reports the one before it.
        if failures.len() < MAX_FAILURES
            && failures
                .last()
                .is_none_or(|known| known.statuses != part.statuses)
        {
            failures.push(part);
        }
    }

    pub(super) fn read_available(&mut self) {
        let mut chunk = [0; 4096];
        // A loop of failing commands may write faster than this reads; then the next round goes on.
        for _ in 0..64 {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(&mut chunk) {
                Ok(0) => self.pipe = None,
                Ok(read) => chunk.iter().take(read).for_each(|byte| self.take(*byte)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.pipe = None,
            }
        }
    }

    fn take(&mut self, byte: u8) {
        if byte != b'\n' {
            if self.line.len() < 1024 {
                self.line.push(byte);
            }
            return;
        }
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        let Some((kind, rest)) = text.split_once(' ') else {
            return;
        };
        let Some((numbers, command)) = rest.split_once('|') else {
            return;
        };
        let statuses: Vec<i32> = numbers
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|number| number.parse().ok())
            .collect();
        match kind {
            "last" if !statuses.is_empty() => {
                self.settle(Some(&statuses));
                self.statuses.last = Some(statuses);
            }
            "part" => {
                self.settle(None);
                self.pending = Some(EndedPart {
                    statuses,
                    command: (!command.is_empty()).then(|| command.to_owned()),
                });
            }
            _ => {}
        }
    }
}
