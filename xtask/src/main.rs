//! The developer's commands: `cargo xtask <verb>`. `VERBS` is the whole list; help is printed from it.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a terminal program talks on its terminal"
)]

mod bench;
mod browser;
mod programs;
mod run;
mod screen;
mod sdk;
mod test;
mod tidy;

use std::process::ExitCode;

/// One command. It has already told the user what went wrong when it returns `Err`.
struct Verb {
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    run: fn(Vec<String>) -> Result<(), Failed>,
}

/// A verb did not do its work; the reason is on the terminal.
struct Failed;

const VERBS: &[Verb] = &[
    Verb {
        name: "run",
        arguments: "[ARGUMENTS…]",
        help: "Build Vibe Coder with its screen and run it; without arguments, on a practice repository",
        run: run::run,
    },
    Verb {
        name: "test",
        arguments: "",
        help: "Format, tidy, clippy, browser tests and all others, up to the first failure",
        run: test::run,
    },
    Verb {
        name: "browser",
        arguments: "[NAME…] [-g WORDS]",
        help: "The browser tests alone; pictures of the main states go to target/screens",
        run: browser::run,
    },
    Verb {
        name: "bench",
        arguments: "[--runs N] [NAME…]",
        help: "Build in release and measure: exec, turn, accept, search, growth; without names, all these. `ui`: the screen",
        run: bench::run,
    },
    Verb {
        name: "tidy",
        arguments: "[--verbose]",
        help: "Check the rules of rooms.toml and deny.toml",
        run: tidy::run,
    },
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    if matches!(name.as_str(), "" | "help" | "--help" | "-h") {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    match VERBS.iter().find(|verb| verb.name == name) {
        Some(verb) => match (verb.run)(arguments.collect()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(Failed) => ExitCode::FAILURE,
        },
        None => {
            eprint!("“{name}” is not a command of xtask.\n\n{}", help());
            ExitCode::from(2)
        }
    }
}

fn help() -> String {
    let mut text = String::from("cargo xtask <verb>\n\n");
    for verb in VERBS {
        let usage = format!("{} {}", verb.name, verb.arguments);
        text.push_str(&format!("  {usage:<20} {}\n", verb.help));
    }
    text
}

/// Says what went wrong on stderr and gives the value to return.
fn fail(message: impl std::fmt::Display) -> Failed {
    eprintln!("xtask: {message}");
    Failed
}
