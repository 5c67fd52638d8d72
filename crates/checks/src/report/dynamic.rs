//! pytest, unittest, rspec, minitest, phpunit.

use super::{
    Failure, Report,
    lines::{next_words, number_after, number_before, place},
};

pub fn pytest(lines: &[&str]) -> Report {
    let mut report = Report::default();
    let sum = lines.iter().rev().find(|line| {
        let inner = line.trim_matches(['=', ' ']);
        inner.contains(" in ")
            && ["passed", "failed", "error", "errors", "skipped"]
                .iter()
                .any(|word| number_before(inner, word).is_some())
            && inner
                .trim_end_matches(|character: char| character != 's')
                .ends_with('s')
    });
    let Some(sum) = sum else { return report };
    let count = |word| number_before(sum, word).unwrap_or(0);
    // "1 error" and "2 errors".
    let errors = count("error") + count("errors");
    for line in lines {
        let Some(rest) = line
            .strip_prefix("FAILED ")
            .or_else(|| line.strip_prefix("ERROR "))
        else {
            continue;
        };
        let (name, message) = rest.split_once(" - ").unwrap_or((rest, ""));
        let file = name.split("::").next().unwrap_or(name);
        let at = lines.iter().find_map(|line| {
            let (at, _) = line.split_once(": ")?;
            let (found, number) = place(at)?;
            (found == file).then_some(number)
        });
        report.fail(Failure {
            name: name.to_owned(),
            file: Some(file.to_owned()),
            // With several failures in one file which line is whose is not told here.
            line: at.filter(|_| {
                lines
                    .iter()
                    .filter(|line| line.starts_with("FAILED ") && line.contains(file))
                    .count()
                    == 1
            }),
            message: message.to_owned(),
        });
    }
    // `unittest` and others say "OK" elsewhere; only a line of pytest's own shape counts.
    if !sum.starts_with('=')
        && report.failures.is_empty()
        && !sum.starts_with(|first: char| first.is_ascii_digit())
    {
        return Report::default();
    }
    report.add(count("passed"), count("failed") + errors, count("skipped"));
    report
}

pub fn unittest(lines: &[&str]) -> Report {
    let mut report = Report::default();
    let ran = lines
        .iter()
        .rposition(|line| line.starts_with("Ran ") && line.contains(" test") && line.contains(" in "));
    let Some(ran) = ran else { return report };
    let total = number_after(lines[ran], "Ran ").unwrap_or(0);
    let end = next_words(lines, ran + 1);
    let count = |word| number_after(end, word).unwrap_or(0);
    let failed = count("failures=") + count("errors=");
    let skipped = count("skipped=");
    for (index, line) in lines.iter().enumerate() {
        let Some(name) = line
            .strip_prefix("FAIL: ")
            .or_else(|| line.strip_prefix("ERROR: "))
        else {
            continue;
        };
        let block: Vec<&str> = lines[index + 1..]
            .iter()
            .copied()
            .take_while(|line| !line.starts_with("=====") && !line.starts_with("Ran "))
            .collect();
        // The innermost place is the last, and the words come at the end.
        let at = block.iter().rev().find_map(|line| {
            let (file, rest) = line.trim_start().strip_prefix("File \"")?.split_once('"')?;
            Some((file.to_owned(), number_after(rest, "line ")?))
        });
        let message = block
            .iter()
            .rev()
            .map(|line| line.trim())
            .find(|line| !line.is_empty() && !line.starts_with("-----"))
            .unwrap_or_default();
        let (file, at) = at.map_or((None, None), |(file, at)| (Some(file), u32::try_from(at).ok()));
        report.fail(Failure {
            name: name.to_owned(),
            file,
            line: at,
            message: message.to_owned(),
        });
    }
    report.add(total.saturating_sub(failed + skipped), failed, skipped);
    report
}

pub fn rspec(lines: &[&str]) -> Report {
    let mut report = Report::default();
    let sum = lines.iter().rev().find(|line| {
        (line.contains(" examples, ") || line.contains(" example, ")) && line.contains(" failure")
    });
    let Some(sum) = sum else { return report };
    let one_or_more = |one, more| {
        number_before(sum, one)
            .or_else(|| number_before(sum, more))
            .unwrap_or(0)
    };
    let total = one_or_more("example", "examples");
    let failed = one_or_more("failure", "failures");
    let pending = number_before(sum, "pending").unwrap_or(0);
    for line in lines {
        let Some((at, name)) = line
            .strip_prefix("rspec ")
            .and_then(|rest| rest.split_once(" # "))
        else {
            continue;
        };
        let (file, at) = place(at).map_or((None, None), |(file, at)| (Some(file), Some(at)));
        report.fail(Failure {
            name: name.to_owned(),
            file,
            line: at,
            message: String::new(),
        });
    }
    report.add(total.saturating_sub(failed + pending), failed, pending);
    report
}

pub fn minitest(lines: &[&str]) -> Report {
    let mut report = Report::default();
    let sum = lines
        .iter()
        .rev()
        .find(|line| line.contains(" runs, ") && line.contains(" assertions, "));
    let Some(sum) = sum else { return report };
    let count = |word| number_before(sum, word).unwrap_or(0);
    let (failed, skipped) = (count("failures") + count("errors"), count("skips"));
    for (index, line) in lines.iter().enumerate() {
        // `ShopTest#test_price [test/shop_test.rb:9]:`
        let Some((name, at)) = line
            .trim()
            .strip_suffix("]:")
            .and_then(|line| line.split_once(" ["))
            .filter(|(name, _)| name.contains('#'))
        else {
            continue;
        };
        let (file, at) = place(at).map_or((None, None), |(file, at)| (Some(file), Some(at)));
        report.fail(Failure {
            name: name.to_owned(),
            file,
            line: at,
            message: next_words(lines, index + 1).to_owned(),
        });
    }
    report.add(count("runs").saturating_sub(failed + skipped), failed, skipped);
    report
}

pub fn phpunit(lines: &[&str]) -> Report {
    let mut report = Report::default();
    let good = lines
        .iter()
        .find(|line| line.starts_with("OK (") && line.contains(" assertion"));
    if let Some(line) = good {
        let passed = number_before(line, "tests")
            .or_else(|| number_before(line, "test"))
            .unwrap_or(0);
        report.add(passed, 0, 0);
        return report;
    }
    let sum = lines
        .iter()
        .find(|line| line.starts_with("Tests: ") && line.contains("Assertions: "));
    let Some(sum) = sum else { return report };
    let count = |word| number_after(sum, word).unwrap_or(0);
    let failed = count("Failures: ") + count("Errors: ");
    let skipped = count("Skipped: ") + count("Incomplete: ");
    for (index, line) in lines.iter().enumerate() {
        let Some((number, name)) = line.split_once(") ") else {
            continue;
        };
        if number.parse::<u32>().is_err() || !name.contains("::") {
            continue;
        }
        let at = lines[index + 1..]
            .iter()
            .take_while(|line| !line.contains(") "))
            .find_map(|line| place(line));
        let (file, at) = at.map_or((None, None), |(file, at)| (Some(file), Some(at)));
        report.fail(Failure {
            name: name.to_owned(),
            file,
            line: at,
            message: next_words(lines, index + 1).to_owned(),
        });
    }
    report.add(count("Tests: ").saturating_sub(failed + skipped), failed, skipped);
    report
}
