//! The only module of xtask that starts programs: cargo and its components, git, npm, the product.
//! Knows where the repository is; knows nothing of what the programs are started for.

#![expect(
    clippy::disallowed_methods,
    reason = "a build tool starts cargo; no product code passes here"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The repository's root: where the workspace's Cargo.toml lies.
pub fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    package.parent().map(Path::to_path_buf).unwrap_or(package)
}

/// The cargo that started us, so that one toolchain does everything.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What cargo told *us* about the package xtask would make build scripts of other packages run again.
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if name_text.starts_with("CARGO_PKG_") || name_text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs to the end with our terminal; the error says how it ended.
pub fn stream(mut command: Command) -> Result<(), String> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|error| format!("{} does not start: {error}", program_name(&command)))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{} ended with {status}", program_name(&command))),
    }
}

/// Runs to the end and gives what it printed; the error carries its own words.
pub fn capture(mut command: Command) -> Result<Vec<u8>, String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{} does not start: {error}", program_name(&command)))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

/// Becomes the program, so that its exit code and its Ctrl-C are the user's own.
#[cfg(unix)]
pub fn become_program(mut command: Command) -> String {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    format!("{} does not start: {error}", program_name(&command))
}

#[cfg(not(unix))]
pub fn become_program(mut command: Command) -> String {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => format!("{} does not start: {error}", program_name(&command)),
    }
}

/// Whether cargo has this component or installed subcommand ("fmt", "clippy", "nextest").
pub fn has_subcommand(name: &str) -> bool {
    let mut command = cargo();
    command.args([name, "--version"]);
    capture(command).is_ok()
}

/// A program by its path, or by its name where the system finds it.
pub fn program(path: &Path) -> Command {
    Command::new(path)
}

/// Whether packages of the system may be installed.
pub fn is_root() -> bool {
    let mut command = Command::new("id");
    command.arg("-u");
    capture(command).is_ok_and(|id| id.trim_ascii() == b"0")
}

pub fn has_git() -> bool {
    let mut command = Command::new("git");
    command.arg("--version");
    capture(command).is_ok()
}

/// Whether Node and its package manager are there.
pub fn has_node() -> bool {
    ["node", "npm"].iter().all(|name| {
        let mut command = Command::new(name);
        command.arg("--version");
        capture(command).is_ok()
    })
}

pub fn npm(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(arguments).current_dir(folder);
    command
}

fn program_name(command: &Command) -> String {
    Path::new(command.get_program())
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
