//! Compilers and linters: rustc, tsc, eslint.

use super::{
    Failure, Report,
    lines::{is_file, place},
};

pub fn rustc(lines: &[&str]) -> Report {
    let mut report = Report::default();
    for (index, line) in lines.iter().enumerate() {
        let is_error = line.starts_with("error[") || line.starts_with("error: ");
        if !is_error {
            continue;
        }
        let at = lines[index + 1..]
            .iter()
            .take(3)
            .find_map(|line| line.trim_start().strip_prefix("--> "));
        // Without a place it is the sum of what was said before.
        let Some((file, at)) = at.and_then(place) else {
            continue;
        };
        report.fail(Failure {
            name: (*line).to_owned(),
            file: Some(file),
            line: Some(at),
            message: String::new(),
        });
    }
    report
}

/// `src/a.ts(3,5): error TS2322: …`, or with colours on `src/a.ts:3:5 - error TS2322: …`.
pub fn tsc(lines: &[&str]) -> Report {
    let mut report = Report::default();
    for line in lines {
        let Some(at) = line.find("error TS") else {
            continue;
        };
        let (before, words) = line.split_at(at);
        let before = before.trim_end_matches([' ', ':', '-']);
        let found = match before.rsplit_once('(') {
            Some((file, numbers)) => numbers
                .split(',')
                .next()
                .and_then(|number| number.parse().ok())
                .map(|number: u32| (file.to_owned(), number)),
            None => place(before),
        };
        let Some((file, number)) = found else { continue };
        report.fail(Failure {
            name: words.trim_start_matches("error ").to_owned(),
            file: Some(file),
            line: Some(number),
            message: String::new(),
        });
    }
    if !report.failures.is_empty() {
        report.failed = Some(report.failures.len() as u64);
    }
    report
}

/// A file's path, and below it `  3:5  error  words  rule`.
pub fn eslint(lines: &[&str]) -> Report {
    if !lines
        .iter()
        .any(|line| line.starts_with('✖') && line.contains("problem"))
    {
        return Report::default();
    }
    let mut report = Report::default();
    let mut file = None;
    for line in lines {
        if is_file(line) {
            file = Some((*line).to_owned());
            continue;
        }
        let mut words = line.split_whitespace();
        let (Some(at), Some("error")) = (words.next(), words.next()) else {
            continue;
        };
        let number = at.split(':').next().and_then(|number| number.parse().ok());
        if let (Some(file), Some(number)) = (&file, number) {
            report.fail(Failure {
                name: words.collect::<Vec<_>>().join(" "),
                file: Some(file.clone()),
                line: Some(number),
                message: String::new(),
            });
        }
    }
    report.failed = Some(report.failures.len() as u64);
    report
}
