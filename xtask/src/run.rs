//! `cargo xtask run`: builds the screen and the product, and becomes the product.

use crate::{Failed, fail, programs, screen};

/// Commands of the product that show nothing in a window.
const WITHOUT_SCREEN: &[&str] = &[
    "exec",
    "changes",
    "sessions",
    "settings",
    "providers",
    "doctor",
    "demo",
    "engine",
    "help",
    "--help",
    "-h",
    "--version",
    "-V",
];

/// The arguments go to `vibe-coder` as they are; without any it opens a window on its practice repository.
pub fn run(mut arguments: Vec<String>) -> Result<(), Failed> {
    if arguments.first().is_some_and(|first| first == "--") {
        arguments.remove(0);
    }
    let shows_nothing = arguments
        .iter()
        .any(|argument| WITHOUT_SCREEN.contains(&argument.as_str()));
    if !shows_nothing {
        screen::build().map_err(fail)?;
    }
    let mut command = programs::cargo();
    command
        .args(["run", "--quiet", "--locked", "--manifest-path"])
        .arg(programs::root().join("Cargo.toml"))
        .args(["--package", "vibe-coder", "--"]);
    match arguments.is_empty() {
        true => command.arg("--sample"),
        false => command.args(arguments),
    };
    // The current folder stays the user's, so that relative paths in the arguments mean what they say.
    Err(fail(programs::become_program(command)))
}
