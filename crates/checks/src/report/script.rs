//! Runners of JavaScript and TypeScript: jest, vitest, mocha, node's own.

use super::{
    Failure, Report,
    lines::{next_words, number_before, place},
};

pub fn jest(lines: &[&str]) -> Report {
    let mut report = Report::default();
    let Some(sum) = lines
        .iter()
        .rev()
        .find(|line| line.starts_with("Tests: ") && line.contains(" total"))
    else {
        return report;
    };
    let count = |word| number_before(sum, word).unwrap_or(0);
    report.add(count("passed"), count("failed"), count("skipped") + count("todo"));
    let mut file = None;
    for (index, line) in lines.iter().enumerate() {
        if let Some(name) = line.strip_prefix("FAIL ") {
            file = name.split_whitespace().next().map(str::to_owned);
        } else if let Some(name) = line.trim_start().strip_prefix("● ") {
            if name.starts_with("Console") {
                continue;
            }
            let at = stack_place(&lines[index + 1..], "● ");
            let (file, at) = match at {
                Some((file, at)) => (Some(file), Some(at)),
                None => (file.clone(), None),
            };
            report.fail(Failure {
                name: name.trim().to_owned(),
                file,
                line: at,
                message: next_words(lines, index + 1).to_owned(),
            });
        }
    }
    report
}

pub fn vitest(lines: &[&str]) -> Report {
    let mut report = Report::default();
    let sum = lines
        .iter()
        .rev()
        .find(|line| line.trim_start().starts_with("Tests  ") && line.trim_end().ends_with(')'));
    let Some(sum) = sum else { return report };
    let count = |word| number_before(sum, word).unwrap_or(0);
    report.add(count("passed"), count("failed"), count("skipped") + count("todo"));
    for (index, line) in lines.iter().enumerate() {
        let Some(rest) = line.trim_start().strip_prefix("FAIL  ") else {
            continue;
        };
        let (file, name) = rest.split_once(" > ").unwrap_or((rest, rest));
        let at = lines[index + 1..]
            .iter()
            .take_while(|line| !line.trim_start().starts_with("FAIL  "))
            .find_map(|line| place(line.trim_start().strip_prefix("❯ ")?.rsplit(' ').next()?));
        report.fail(Failure {
            name: name.trim().to_owned(),
            line: at.as_ref().map(|(_, at)| *at),
            file: Some(at.map_or_else(|| file.trim().to_owned(), |(file, _)| file)),
            message: next_words(lines, index + 1).to_owned(),
        });
    }
    report
}

pub fn mocha(lines: &[&str]) -> Report {
    let mut report = Report::default();
    let alone = |word: &str| {
        lines.iter().find_map(|line| {
            let line = line.trim();
            let rest = line.split_once(' ')?.1;
            (rest == word || rest.starts_with(&format!("{word} ("))).then(|| number_before(line, word))?
        })
    };
    let Some(passed) = alone("passing") else {
        return report;
    };
    report.add(
        passed,
        alone("failing").unwrap_or(0),
        alone("pending").unwrap_or(0),
    );
    let failing = lines
        .iter()
        .position(|line| line.trim().ends_with(" failing"))
        .unwrap_or(lines.len());
    for (index, line) in lines.iter().enumerate().skip(failing) {
        let Some((number, first)) = line.trim().split_once(") ") else {
            continue;
        };
        if number.parse::<u32>().is_err() {
            continue;
        }
        // The suites and then the test, each on a line of its own, until one ends with a colon.
        let mut name = first.to_owned();
        let mut at = index + 1;
        while !name.ends_with(':') && at < lines.len() && at < index + 8 {
            name = format!("{name} {}", lines[at].trim());
            at += 1;
        }
        let place = stack_place(&lines[at.min(lines.len())..], ") ");
        let (file, number) = place.map_or((None, None), |(file, at)| (Some(file), Some(at)));
        report.fail(Failure {
            name: name.trim_end_matches(':').to_owned(),
            file,
            line: number,
            message: next_words(lines, at).to_owned(),
        });
    }
    report
}

/// `node --test`: for people (`ℹ pass 3`, `✖ name (1.2ms)`) or as TAP (`# pass 3`, `not ok 1 - name`).
pub fn node(lines: &[&str]) -> Report {
    let mut report = Report::default();
    let count = |word: &str| {
        lines.iter().rev().find_map(|line| {
            let rest = line.strip_prefix("ℹ ").or_else(|| line.strip_prefix("# "))?;
            rest.strip_prefix(word)?.trim().parse::<u64>().ok()
        })
    };
    let (Some(passed), Some(failed)) = (count("pass "), count("fail ")) else {
        return report;
    };
    report.add(
        passed,
        failed,
        count("skipped ").unwrap_or(0) + count("todo ").unwrap_or(0),
    );
    let mut at = None;
    for (index, line) in lines.iter().enumerate() {
        let inner = line.trim_start();
        if let Some(found) = inner.strip_prefix("test at ") {
            at = place(found);
        } else if let Some(name) = inner
            .strip_prefix("not ok ")
            .and_then(|rest| rest.split_once(" - "))
        {
            let place = lines[index + 1..]
                .iter()
                .take_while(|line| {
                    !line.trim_start().starts_with("not ok ") && !line.trim_start().starts_with("ok ")
                })
                .find_map(|line| place(line.trim().strip_prefix("location: ")?.trim_matches('\'')));
            fail(&mut report, name.1, place, "");
        } else if let Some(name) = inner.strip_prefix("✖ ").filter(|name| *name != "failing tests:") {
            let name = match name.rsplit_once(" (") {
                Some((name, time)) if time.ends_with("ms)") => name,
                _ => name,
            };
            // The list at the end has places and words; the one while it runs only names.
            match at.take() {
                Some(place) => fail(&mut report, name, Some(place), next_words(lines, index + 1)),
                None => fail(&mut report, name, None, ""),
            }
        }
    }
    report
}

fn fail(report: &mut Report, name: &str, place: Option<(String, u32)>, message: &str) {
    let (file, line) = place.map_or((None, None), |(file, line)| (Some(file), Some(line)));
    report.fail(Failure {
        name: name.to_owned(),
        file,
        line,
        message: message.to_owned(),
    });
}

/// The first place in a stack that is not a library's. The block ends where a line begins the next failure.
fn stack_place(lines: &[&str], next: &str) -> Option<(String, u32)> {
    lines
        .iter()
        .map(|line| line.trim_start())
        .take_while(|line| !begins(line, next))
        .filter_map(|line| line.strip_prefix("at "))
        .filter(|line| !line.contains("node_modules") && !line.contains("node:"))
        .find_map(|line| {
            let at = line.rsplit_once('(').map_or(line, |(_, at)| at);
            place(at)
        })
}

/// Whether it is a mark, or a number and a mark: "● ", "2) ".
fn begins(line: &str, mark: &str) -> bool {
    line.trim_start_matches(|character: char| character.is_ascii_digit())
        .starts_with(mark)
}
