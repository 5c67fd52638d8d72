//! Exit codes, the same for every verb.

use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, and nothing waits for review.
    Done = 0,
    Failed = 1,
    /// What was typed is not understood.
    Usage = 2,
    /// Changes wait for review.
    NeedsReview = 3,
    Cancelled = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// Help and version are answers, not mistakes.
pub fn for_usage(error: &clap::Error) -> ExitCode {
    // Nothing can be done about a closed output here.
    let _ = error.print();
    if error.use_stderr() {
        Exit::Usage.into()
    } else {
        Exit::Done.into()
    }
}
