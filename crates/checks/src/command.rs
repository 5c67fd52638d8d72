//! What a command line of a check says about itself.

/// What a passing check shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Test,
    /// It compiles, or its types are right.
    Types,
    Lint,
}

/// Words by which a command tests; a word counts whole or before a `:`, as in `test:unit`.
const TESTS: &[&str] = &[
    "test",
    "tests",
    "t",
    "nextest",
    "pytest",
    "unittest",
    "tox",
    "nox",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "rspec",
    "phpunit",
    "ctest",
    "spec",
    "verify",
    "unit",
    "check-all",
];
const LINTS: &[&str] = &[
    "lint",
    "eslint",
    "clippy",
    "ruff",
    "fmt",
    "prettier",
    "stylelint",
    "rubocop",
    "golangci-lint",
    "flake8",
    "pylint",
];

/// Of a command that is known to check the project.
pub fn kind_of(command: &str) -> Kind {
    let words = words(command);
    let has = |known: &[&str]| {
        words.iter().any(|word| {
            let name = word.rsplit('/').next().unwrap_or(word);
            let name = name.split(':').next().unwrap_or(name);
            known.contains(&name)
        })
    };
    match (has(TESTS), has(LINTS)) {
        (true, _) if !words.contains(&"--no-run") => Kind::Test,
        (_, true) => Kind::Lint,
        _ => Kind::Types,
    }
}

/// Whether two command lines run the same check: they may differ in how much is printed and whether the network is used.
pub fn is_same_check(one: &str, other: &str) -> bool {
    words(one) == words(other)
}

/// The words that matter.
fn words(command: &str) -> Vec<&str> {
    const SAME: &[&str] = &[
        "--offline",
        "--locked",
        "--frozen",
        "-q",
        "--quiet",
        "-v",
        "--verbose",
        "-vv",
        "--silent",
        "-s",
        "--no-color",
        "2>&1",
        "--nocapture",
        "--color=never",
        "--color=always",
        "--no-fail-fast",
    ];
    let mut words: Vec<&str> = command
        .split_whitespace()
        .filter(|word| !SAME.contains(word))
        .collect();
    // A `--` after which nothing is left.
    if words.last() == Some(&"--") {
        words.pop();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_says_what_it_shows() {
        for (command, kind) in [
            ("cargo test -p shop", Kind::Test),
            ("cargo test --no-run", Kind::Types),
            ("cargo check", Kind::Types),
            ("cargo clippy --all-targets", Kind::Lint),
            ("npm run test:unit", Kind::Test),
            ("npm run build", Kind::Types),
            ("npx eslint .", Kind::Lint),
            ("node_modules/.bin/jest", Kind::Test),
            ("python3 -m unittest", Kind::Test),
            ("make test", Kind::Test),
        ] {
            assert_eq!(kind_of(command), kind, "{command}");
        }
    }

    #[test]
    fn what_is_printed_makes_no_other_check_and_what_is_tested_does() {
        assert!(is_same_check(
            "cargo test",
            "cargo test --offline -q -- --nocapture 2>&1"
        ));
        assert!(!is_same_check("cargo test", "cargo test one_name"));
        assert!(!is_same_check("cargo test", "cargo test; true"));
    }
}
