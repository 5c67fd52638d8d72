//! cargo test, nextest, go test.

use super::{
    Failure, Report,
    lines::{next_words, number_before, place},
};

pub fn cargo(lines: &[&str]) -> Report {
    let mut report = Report::default();
    for line in lines {
        if let Some(counts) = line.strip_prefix("test result: ") {
            let count = |word| number_before(counts, word).unwrap_or(0);
            report.add(count("passed"), count("failed"), count("ignored"));
        } else if let Some(name) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            // A documentation test carries its place in its name: `src/lib.rs - price (line 3)`.
            let place = name.split_once(" - ").and_then(|(file, rest)| {
                let line = rest.rsplit_once("(line ")?.1.trim_end_matches(')');
                Some((file.to_owned(), line.parse().ok()?))
            });
            let (file, line) = place.map_or((None, None), |(file, line)| (Some(file), Some(line)));
            report.fail(Failure {
                name: name.to_owned(),
                file,
                line,
                message: String::new(),
            });
        }
    }
    if report.failed.is_some_and(|failed| failed > 0) {
        panics(lines, &mut report, |known, name| known == name);
    }
    report
}

pub fn nextest(lines: &[&str]) -> Report {
    let mut report = Report::default();
    for line in lines {
        let line = line.trim();
        if line.starts_with("Summary [") {
            let count = |word| number_before(line, word).unwrap_or(0);
            report.add(
                count("passed"),
                count("failed") + count("timed out"),
                count("skipped"),
            );
        } else if let Some(rest) = line
            .strip_prefix("FAIL [")
            .or_else(|| line.strip_prefix("TIMEOUT ["))
            && let Some((_, name)) = rest.split_once("] ")
        {
            // `(1/2) crate::binary tests::name`
            let name = name.trim_start();
            let name = match name.strip_prefix('(').and_then(|rest| rest.split_once(") ")) {
                Some((_, name)) => name.trim_start(),
                None => name,
            };
            report.fail(Failure {
                name: name.to_owned(),
                ..Failure::default()
            });
        }
    }
    if !report.failures.is_empty() {
        panics(lines, &mut report, |known, name| {
            known.rsplit(' ').next() == Some(name)
        });
    }
    report
}

/// Gives failures the place and the words of their panics: `thread 'tests::a' (7) panicked at src/lib.rs:9:5:`.
fn panics(lines: &[&str], report: &mut Report, is: impl Fn(&str, &str) -> bool) {
    for (index, line) in lines.iter().enumerate() {
        let Some((name, rest)) = line
            .trim_start()
            .strip_prefix("thread '")
            .and_then(|rest| rest.split_once('\''))
        else {
            continue;
        };
        let Some((_, at)) = rest.split_once(" panicked at ") else {
            continue;
        };
        let Some(failure) = report.failures.iter_mut().find(|known| is(&known.name, name)) else {
            continue;
        };
        if let (Some((file, line)), None) = (place(at), &failure.file) {
            (failure.file, failure.line) = (Some(file), Some(line));
            let words: Vec<&str> = lines[index + 1..]
                .iter()
                .map(|line| line.trim())
                .take_while(|line| {
                    !line.is_empty() && !line.starts_with("note: ") && !line.starts_with("stack backtrace")
                })
                .take(4)
                .collect();
            failure.message = words.join("; ");
        }
    }
}

pub fn go(lines: &[&str]) -> Report {
    let mut report = Report::default();
    let (mut passed, mut packages) = (0, 0);
    for (index, line) in lines.iter().enumerate() {
        let inner = line.trim_start();
        if let Some(name) = inner.strip_prefix("--- FAIL: ") {
            let name = name.split(" (").next().unwrap_or(name);
            let depth = line.len() - inner.len();
            let said = lines[index + 1..]
                .iter()
                .take_while(|line| {
                    line.len() - line.trim_start().len() > depth && !line.trim_start().starts_with("--- ")
                })
                .find_map(|line| {
                    let (at, words) = line.trim().split_once(": ")?;
                    Some((place(at)?, words.to_owned()))
                });
            let (file, at, message) = match said {
                Some(((file, at), words)) => (Some(file), Some(at), words),
                None => (None, None, String::new()),
            };
            report.fail(Failure {
                name: name.to_owned(),
                file,
                line: at,
                message,
            });
        } else if inner.starts_with("--- PASS: ") {
            passed += 1;
        } else if line.starts_with("ok  \t") || line.starts_with("FAIL\t") {
            packages += 1;
        } else if let Some(package) = line.strip_prefix("# ")
            && let Some((at, words)) = next_words(lines, index + 1).split_once(": ")
            && let Some((file, at)) = place(at).filter(|(file, _)| file.ends_with(".go"))
        {
            report.fail(Failure {
                name: format!("{package} does not build"),
                file: Some(file),
                line: Some(at),
                message: words.to_owned(),
            });
            packages += 1;
        }
    }
    if packages > 0 {
        // A parent fails with its subtests: the innermost are the failures.
        let names: Vec<String> = report
            .failures
            .iter()
            .map(|failure| failure.name.clone())
            .collect();
        report.failures.retain(|failure| {
            let parent = format!("{}/", failure.name);
            !names.iter().any(|name| name.starts_with(&parent))
        });
        report.failed = Some(report.failures.len() as u64);
        // Without -v only failures are named.
        report.passed = (passed > 0).then_some(passed);
    } else {
        return Report::default();
    }
    report
}
