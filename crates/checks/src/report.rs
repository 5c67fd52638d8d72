//! What a runner's output says: how many passed and failed, and which, with their places.
//!
//! Only what the output states is reported; whether a check passed is its exit status alone.

mod builds;
mod dynamic;
mod jvm;
mod lines;
mod native;
mod script;

/// Failures that are kept; all are counted.
const MOST_FAILURES: usize = 50;
/// Characters of a failure's message.
const MESSAGE: usize = 300;

/// One test, or one place in the code, that a check complains about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The test's name, or what a compiler says.
    pub name: String,
    /// As the runner wrote it.
    pub file: Option<String>,
    pub line: Option<u32>,
    pub message: String,
}

/// What a whole output says. A count is absent where the runner does not tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub passed: Option<u64>,
    pub failed: Option<u64>,
    pub skipped: Option<u64>,
    pub failures: Vec<Failure>,
}

impl Report {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, passed: u64, failed: u64, skipped: u64) {
        *self.passed.get_or_insert(0) += passed;
        *self.failed.get_or_insert(0) += failed;
        *self.skipped.get_or_insert(0) += skipped;
    }

    /// A failure is told once, however often the output comes back to it; later words fill in what was missing.
    fn fail(&mut self, failure: Failure) {
        let known = self.failures.iter_mut().find(|known| {
            let places_differ = known.file.is_some()
                && failure.file.is_some()
                && (&known.file, known.line) != (&failure.file, failure.line);
            known.name == failure.name && !places_differ
        });
        match known {
            Some(known) => {
                if known.file.is_none() {
                    (known.file, known.line) = (failure.file, failure.line);
                }
                if known.message.is_empty() {
                    known.message = failure.message;
                }
            }
            None => self.failures.push(failure),
        }
    }

    fn join(&mut self, other: Report) {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0) + other.unwrap_or(0)),
        };
        self.passed = sum(self.passed, other.passed);
        self.failed = sum(self.failed, other.failed);
        self.skipped = sum(self.skipped, other.skipped);
        other.failures.into_iter().for_each(|failure| self.fail(failure));
    }
}

type Reader = fn(&[&str]) -> Report;

/// Each takes only what it knows for its own runner's words.
const READERS: &[Reader] = &[
    native::cargo,
    native::nextest,
    native::go,
    builds::rustc,
    builds::tsc,
    builds::eslint,
    dynamic::pytest,
    dynamic::unittest,
    dynamic::rspec,
    dynamic::minitest,
    dynamic::phpunit,
    script::jest,
    script::vitest,
    script::mocha,
    script::node,
    jvm::surefire,
    jvm::gradle,
    jvm::dotnet,
];

/// Reads the output of a check. `None` where no runner that is known has written it.
pub fn read(output: &str) -> Option<Report> {
    let plain = lines::without_escapes(output);
    let all: Vec<&str> = plain.lines().map(|line| line.trim_end_matches('\r')).collect();
    let mut report = Report::default();
    for reader in READERS {
        report.join(reader(&all));
    }
    if report.is_empty() {
        return None;
    }
    for failure in &mut report.failures {
        if let Some((cut, _)) = failure.message.char_indices().nth(MESSAGE) {
            failure.message.truncate(cut);
            failure.message.push('…');
        }
    }
    report.failures.truncate(MOST_FAILURES);
    Some(report)
}

#[cfg(test)]
mod tests;
