//! `cargo xtask test`: everything that must hold before a change is taken, cheapest first.
//!
//! The test runner comes last and nothing is printed after it, so that its summary ends the output.

use std::time::Instant;

use crate::{Failed, browser, fail, programs, screen, sdk, tidy};

pub fn run(arguments: Vec<String>) -> Result<(), Failed> {
    if let Some(argument) = arguments.first() {
        return Err(fail(format!(
            "test takes no arguments, not “{argument}”. For one crate: cargo nextest run -p NAME."
        )));
    }
    require_tools()?;

    step("1/7 format", || cargo(&["fmt", "--all", "--check"]))?;
    step("2/7 tidy", || match tidy::run(Vec::new()) {
        Ok(()) => Ok(()),
        Err(Failed) => Err("see the findings above".to_owned()),
    })?;
    step("3/7 screen: types, lint, unit tests", screen::check)?;
    step("4/7 clippy", || {
        cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ])
    })?;
    step("5/7 official model clients", || {
        if let sdk::Outcome::Skipped(reason) = sdk::run()? {
            println!("   skipped: {reason}");
        }
        Ok(())
    })?;
    step("6/7 browser", browser::test)?;
    tests()
}

/// One line for each thing that is missing, before anything is built.
fn require_tools() -> Result<(), Failed> {
    let missing: Vec<&str> = [
        (
            programs::has_git(),
            "git is missing: install it from your system's packages",
        ),
        (
            programs::has_subcommand("fmt"),
            "rustfmt is missing: rustup component add rustfmt",
        ),
        (
            programs::has_subcommand("clippy"),
            "clippy is missing: rustup component add clippy",
        ),
    ]
    .into_iter()
    .filter_map(|(present, message)| (!present).then_some(message))
    .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(fail(missing.join("\nxtask: "))),
    }
}

fn step(name: &str, work: impl FnOnce() -> Result<(), String>) -> Result<(), Failed> {
    println!("== {name}");
    let start = Instant::now();
    let result = work();
    let seconds = start.elapsed().as_secs_f32();
    match result {
        Ok(()) => {
            println!("   ok, {seconds:.1} s");
            Ok(())
        }
        Err(reason) => Err(fail(format!(
            "step “{name}” failed after {seconds:.1} s: {reason}"
        ))),
    }
}

/// All tests, also after the first failing one: one run tells everything.
fn tests() -> Result<(), Failed> {
    let arguments: &[&str] = match programs::has_subcommand("nextest") {
        true => &["nextest", "run", "--workspace", "--locked", "--no-fail-fast"],
        false => &["test", "--workspace", "--locked", "--no-fail-fast"],
    };
    println!("== 7/7 tests (cargo {})", arguments[0]);
    // The runner has said what failed; its summary stays the last thing on the terminal.
    cargo(arguments).map_err(|_| Failed)
}

fn cargo(arguments: &[&str]) -> Result<(), String> {
    let mut command = programs::cargo();
    command.args(arguments).current_dir(programs::root());
    programs::stream(command)
}
