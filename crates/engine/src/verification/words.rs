//! What is said of results, to people and to the model. A claim is made only from results that hold.

use std::time::Duration;

use checks::Report;
use protocol::checks::{CheckFailure, CheckKind, VerificationItem, Verified, VerifiedState};

/// Failing tests that a sentence names.
const NAMED: usize = 3;

/// "12 passed", "1 of 12 failed", "exit 101".
pub fn summary(report: Option<&Report>, exit_code: Option<i32>, end: &str, passed: bool) -> String {
    let count = |count: Option<u64>| count.unwrap_or(0);
    let Some(report) = report else {
        return match passed {
            true => "passed".to_owned(),
            false => end.to_owned(),
        };
    };
    let (good, bad, skipped) = (count(report.passed), count(report.failed), count(report.skipped));
    let skipped = match skipped {
        0 => String::new(),
        skipped => format!(", {skipped} skipped"),
    };
    match (passed, bad, report.passed) {
        (true, 0, Some(0)) => format!("no test ran{skipped}"),
        (true, 0, Some(_)) => format!("{good} passed{skipped}"),
        (true, ..) => "passed".to_owned(),
        (false, 0, _) if report.failures.is_empty() => end.to_owned(),
        (false, 0, _) => match report.failures.len() {
            1 => "does not build: 1 error".to_owned(),
            errors => format!("does not build: {errors} errors"),
        },
        (false, bad, Some(_)) => format!("{bad} of {} failed{skipped}", good + bad),
        (false, bad, None) => format!("{bad} failed{skipped}, exit {}", exit_code.unwrap_or(-1)),
    }
}

pub fn in_folder(result: &VerificationItem) -> String {
    match result.cwd.as_str() {
        "" | "." => format!("`{}`", result.command),
        folder => format!("`{}` in {folder}", result.command),
    }
}

/// All that was chosen passed on the files as they are.
pub fn passed(results: &[VerificationItem]) -> Verified {
    let list: Vec<String> = results
        .iter()
        .map(|result| format!("{} ({})", in_folder(result), result.summary))
        .collect();
    let ran_tests = results
        .iter()
        .any(|result| result.kind == CheckKind::Tests && result.passed != Some(0));
    let text = match ran_tests {
        true => format!("Tests pass on these files: {}.", list.join(", ")),
        false => format!("{} passes on these files; no test ran.", list.join(", ")),
    };
    Verified {
        state: VerifiedState::Passed,
        text,
    }
}

/// One check failed.
pub fn failed(result: &VerificationItem) -> Verified {
    Verified {
        state: VerifiedState::Failed,
        text: format!(
            "Checks fail: {}: {}{}.",
            in_folder(result),
            result.summary,
            names(&result.failures),
        ),
    }
}

/// The same at a turn's end, where nothing more is done about it by itself.
pub fn left_failing(result: &VerificationItem, repairs: u32) -> Verified {
    let tried = match repairs {
        0 => String::new(),
        1 => " One repair did not mend it.".to_owned(),
        repairs => format!(" {repairs} repairs did not mend it."),
    };
    let Verified { state, text } = failed(result);
    Verified {
        state,
        text: format!(
            "{text}{tried} Send “continue” to have it repaired further, say what to do differently, or review the changes as \
             they are."
        ),
    }
}

pub fn not_verified(because: &str) -> Verified {
    Verified {
        state: VerifiedState::NotVerified,
        text: format!("Not verified: {because}"),
    }
}

/// ": tests::a (src/lib.rs:9), tests::b and 4 more".
pub fn names(failures: &[CheckFailure]) -> String {
    if failures.is_empty() {
        return String::new();
    }
    let mut names: Vec<String> = failures.iter().take(NAMED).map(name).collect();
    if failures.len() > NAMED {
        names.push(format!("{} more", failures.len() - NAMED));
    }
    format!(": {}", names.join(", "))
}

/// "tests::a (src/lib.rs:9)".
pub fn name(failure: &CheckFailure) -> String {
    match (&failure.file, failure.line) {
        (Some(file), Some(line)) => format!("{} ({file}:{line})", failure.name),
        (Some(file), None) => format!("{} ({file})", failure.name),
        _ => failure.name.clone(),
    }
}

/// What the model reads of a run.
pub fn for_model(result: &VerificationItem, took: Duration) -> String {
    let verdict = match (result.exit_code, &result.stale) {
        (_, Some(stale)) => format!("says nothing about the files as they are now: {stale}"),
        (Some(0), None) => "passed on the files as they are now".to_owned(),
        _ => "failed".to_owned(),
    };
    let mut text = format!(
        "{} {verdict}: {} ({:.1} s)",
        in_folder(result),
        result.summary,
        took.as_secs_f64()
    );
    for failure in &result.failures {
        text.push_str(&format!("\n- {}", name(failure)));
        if !failure.message.is_empty() {
            text.push_str(&format!(": {}", failure.message));
        }
    }
    text
}
