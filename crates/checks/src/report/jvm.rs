//! Maven, Gradle, .NET.

use super::{
    Failure, Report,
    lines::{number_after, number_before, place},
};

pub fn surefire(lines: &[&str]) -> Report {
    let mut report = Report::default();
    for line in lines {
        let words = line
            .strip_prefix("[ERROR] ")
            .or_else(|| line.strip_prefix("[INFO] "));
        let words = words
            .or_else(|| line.strip_prefix("[WARNING] "))
            .unwrap_or(line)
            .trim_start();
        // One with a time is of a class; the sum has none.
        if words.starts_with("Tests run: ") && !words.contains("Time elapsed") {
            let count = |word| number_after(words, word).unwrap_or(0);
            let (failed, skipped) = (count("Failures: ") + count("Errors: "), count("Skipped: "));
            report.add(
                count("Tests run: ").saturating_sub(failed + skipped),
                failed,
                skipped,
            );
        } else if let Some(error) = line.strip_prefix("[ERROR] ") {
            of_class(error.trim_start(), &mut report);
        }
    }
    report
}

/// `ShopTest.costsOne:12 expected: <1> but was: <2>`, or of a compiler `/ws/src/A.java:[10,5] words`.
fn of_class(error: &str, report: &mut Report) {
    if let Some((file, rest)) = error.split_once(":[")
        && file.ends_with(".java")
        && let Some((numbers, words)) = rest.split_once("] ")
    {
        report.fail(Failure {
            name: words.to_owned(),
            file: Some(file.to_owned()),
            line: numbers.split(',').next().and_then(|number| number.parse().ok()),
            message: String::new(),
        });
        return;
    }
    let (at, message) = error.split_once(' ').unwrap_or((error, ""));
    let Some((name, line)) = at
        .rsplit_once(':')
        .and_then(|(name, line)| Some((name, line.parse::<u32>().ok()?)))
    else {
        return;
    };
    let Some((class, _)) = name.split_once('.') else {
        return;
    };
    if name.contains('/') {
        return;
    }
    report.fail(Failure {
        name: name.to_owned(),
        file: Some(format!("{class}.java")),
        line: Some(line),
        message: message.to_owned(),
    });
}

pub fn gradle(lines: &[&str]) -> Report {
    let mut report = Report::default();
    for (index, line) in lines.iter().enumerate() {
        if let Some(name) = line.strip_suffix(" FAILED").filter(|name| name.contains(" > ")) {
            let block: Vec<&str> = lines[index + 1..]
                .iter()
                .map(|line| line.trim())
                .take_while(|line| !line.is_empty())
                .collect();
            // `org.opentest4j.AssertionFailedError: … at ShopTest.java:12`
            let at = block.iter().find_map(|line| place(line.rsplit_once("at ")?.1));
            let (file, at) = at.map_or((None, None), |(file, at)| (Some(file), Some(at)));
            report.fail(Failure {
                name: name.to_owned(),
                file,
                line: at,
                message: block.first().copied().unwrap_or_default().to_owned(),
            });
        } else if line.contains(" tests completed, ") || line.contains(" test completed, ") {
            let total = number_before(line, "tests")
                .or_else(|| number_before(line, "test"))
                .unwrap_or(0);
            let (failed, skipped) = (
                number_before(line, "failed").unwrap_or(0),
                number_before(line, "skipped").unwrap_or(0),
            );
            report.add(total.saturating_sub(failed + skipped), failed, skipped);
        }
    }
    report
}

pub fn dotnet(lines: &[&str]) -> Report {
    let mut report = Report::default();
    for (index, line) in lines.iter().enumerate() {
        if line.contains("Failed: ") && line.contains("Passed: ") && line.contains("Total: ") {
            let count = |word| number_after(line, word).unwrap_or(0);
            // "Failed!  - Failed: 1": the second is the number.
            let failed = line
                .rfind("Failed: ")
                .map_or(0, |at| number_after(&line[at..], "Failed: ").unwrap_or(0));
            report.add(count("Passed: "), failed, count("Skipped: "));
        } else if let Some((name, time)) = line
            .trim_start()
            .strip_prefix("Failed ")
            .and_then(|rest| rest.rsplit_once(" ["))
            && time.ends_with(']')
        {
            let block = || lines[index + 1..].iter().map(|line| line.trim()).take(20);
            let at = block().find_map(|line| {
                let (file, number) = line.rsplit_once(" in ")?.1.rsplit_once(":line ")?;
                Some((file.to_owned(), number.trim().parse().ok()?))
            });
            let message = block()
                .skip_while(|line| !line.starts_with("Error Message:"))
                .nth(1)
                .unwrap_or_default();
            let (file, at) = at.map_or((None, None), |(file, at)| (Some(file), Some(at)));
            report.fail(Failure {
                name: name.to_owned(),
                file,
                line: at,
                message: message.to_owned(),
            });
        }
    }
    report
}
