//! The screen in a real browser: the tests of e2e/ against the program and the scripted model server.
//!
//! Knows what they need and installs it where it may; what is tested is theirs.

use std::path::{Path, PathBuf};

use crate::{Failed, fail, programs, screen};

/// Names it, where it is not at one of the usual places.
const VARIABLE: &str = "VIBE_CODER_CHROMIUM";
const USUAL_PLACES: &[&str] = &[
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/usr/bin/google-chrome-stable",
];

/// `cargo xtask browser`: the browser tests alone. The arguments go to their runner: names of files, `-g WORDS`.
pub fn run(arguments: Vec<String>) -> Result<(), Failed> {
    let mut all = vec!["--".to_owned()];
    all.extend(arguments);
    tests("test", &all).map_err(fail)
}

/// All browser tests; their runner's summary ends what is printed.
pub fn test() -> Result<(), String> {
    tests("test", &[])
}

/// The budgets of the screen in a real browser, on the machine as it is.
pub fn measure() -> Result<(), String> {
    tests("bench", &[])
}

/// Runs a script of e2e/package.json on the program as it is now.
fn tests(script: &str, arguments: &[String]) -> Result<(), String> {
    let root = programs::root();
    let folder = root.join("e2e");
    screen::install(&folder, &root.join("target/screen/packages-e2e"))?;
    let chromium = chromium()?;
    screen::build()?;
    let mut build = programs::cargo();
    build
        .args([
            "build",
            "--locked",
            "--package",
            "vibe-coder",
            "--package",
            "testkit",
        ])
        .args(["--bin", "vibe-coder", "--example", "model_server"])
        .current_dir(&root);
    programs::stream(build)?;
    let mut run = programs::npm(&folder, &["run", "--silent", script]);
    run.args(arguments).env(VARIABLE, chromium);
    programs::stream(run)
}

/// The browser; installed from the system's packages where that is allowed.
fn chromium() -> Result<PathBuf, String> {
    if let Some(found) = find() {
        return Ok(found);
    }
    let way_out = format!(
        "Chromium is missing: install it (Debian: apt-get install chromium), or name the program in {VARIABLE}"
    );
    if !programs::is_root() || !Path::new("/usr/bin/apt-get").is_file() {
        return Err(way_out);
    }
    eprintln!("xtask: installing Chromium (apt-get install chromium)");
    let mut install = programs::program(Path::new("apt-get"));
    install
        .args([
            "install",
            "--yes",
            "--quiet",
            "--no-install-recommends",
            "chromium",
        ])
        .env("DEBIAN_FRONTEND", "noninteractive");
    programs::capture(install).map_err(|error| {
        let last = error.lines().last().unwrap_or_default().to_owned();
        format!("{way_out}; apt-get said: {last}")
    })?;
    find().ok_or(way_out)
}

fn find() -> Option<PathBuf> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    named
        .into_iter()
        .chain(USUAL_PLACES.iter().map(PathBuf::from))
        .find(|path| path.is_file())
}
