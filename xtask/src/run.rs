//! `cargo xtask run`: builds the product and becomes it.

use crate::{Failed, fail, programs};

/// The arguments go to `vibe-coder` as they are; without any it plays its demo.
pub fn run(arguments: Vec<String>) -> Result<(), Failed> {
    let mut command = programs::cargo();
    command
        .args(["run", "--quiet", "--locked", "--manifest-path"])
        .arg(programs::root().join("Cargo.toml"))
        .args(["--package", "vibe-coder", "--"]);
    match arguments.is_empty() {
        true => command.arg("demo"),
        false => command.args(arguments),
    };
    // The current folder stays the user's, so that relative paths in the arguments mean what they say.
    Err(fail(programs::become_program(command)))
}
