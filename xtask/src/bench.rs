//! `cargo xtask bench`: builds the product and the benches in release, then runs the benches. The screen (`ui`) is
//! measured in a browser, as its tests are run.

use crate::{Failed, browser, fail, programs};

/// The arguments go to the bench program as they are: names of benches, `--runs N`.
pub fn run(arguments: Vec<String>) -> Result<(), Failed> {
    if arguments == ["ui"] {
        return browser::measure().map_err(fail);
    }
    // One build of both, so that the benches find the product beside themselves.
    let mut build = programs::cargo();
    build.current_dir(programs::root()).args([
        "build",
        "--release",
        "--locked",
        "--package",
        "vibe-coder",
        "--package",
        "bench",
    ]);
    programs::stream(build).map_err(fail)?;
    let mut bench = programs::cargo();
    bench
        .current_dir(programs::root())
        .args([
            "run",
            "--release",
            "--quiet",
            "--locked",
            "--package",
            "vibe-coder",
            "--package",
            "bench",
        ])
        .args(["--bin", "bench", "--"])
        .args(arguments);
    programs::stream(bench).map_err(fail)
}
