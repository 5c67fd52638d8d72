//! The vendors' own Python clients against the model server of `testkit`: proof that our double speaks the real
//! formats. Only where Python can make a virtual environment and the clients can be installed.

use std::path::{Path, PathBuf};

use crate::programs;

/// What became of it.
pub enum Outcome {
    Agreed,
    /// Why there was nothing to run it with.
    Skipped(String),
}

pub fn run() -> Result<Outcome, String> {
    let root = programs::root();
    let folder = root.join("target/sdk/venv");
    let requirements = root.join("crates/testkit/sdk/requirements.txt");
    if let Err(reason) = install(&folder, &requirements) {
        return Ok(Outcome::Skipped(reason));
    }
    let mut build = programs::cargo();
    build
        .args(["build", "--locked", "-p", "testkit", "--example", "model_server"])
        .current_dir(&root);
    programs::stream(build)?;
    let mut check = programs::program(&python(&folder));
    check
        .arg(root.join("crates/testkit/sdk/check.py"))
        .arg(target(&root).join("debug/examples/model_server"));
    programs::stream(check).map(|()| Outcome::Agreed)
}

/// Makes the environment once; later runs find what is asked for already there.
fn install(folder: &Path, requirements: &Path) -> Result<(), String> {
    let words = |what: &str, error: String| {
        let last = error.lines().last().unwrap_or_default().to_owned();
        format!("{what}: {last}")
    };
    if !python(folder).is_file() {
        let mut make = programs::program(Path::new("python3"));
        make.args(["-m", "venv"]).arg(folder);
        programs::capture(make).map_err(|error| words("python3 cannot make a virtual environment", error))?;
    }
    let mut install = programs::program(&python(folder));
    install
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "-r",
        ])
        .arg(requirements);
    programs::capture(install)
        .map(drop)
        .map_err(|error| words("the clients cannot be installed", error))
}

fn python(folder: &Path) -> PathBuf {
    folder.join("bin/python")
}

fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}
