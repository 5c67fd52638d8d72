//! The sample repository and the practice model of the keyless demo. Everything else about the demo is real: files,
//! commands, diff, accept.

use std::path::{Path, PathBuf};

use changeset::{ChangeSets, Expected};
use protocol::{ErrorCode, RuntimeError};
use store::{DataHome, Store};
use workspace::{Breadth, Workspace, git};

/// What is asked of the practice model.
pub const REQUEST: &str = "Run the tests and fix the first failure.";

const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("../demo/Cargo.toml.sample")),
    ("Cargo.lock", include_str!("../demo/Cargo.lock.sample")),
    (".gitignore", include_str!("../demo/gitignore.sample")),
    ("README.md", include_str!("../demo/README.md.sample")),
    ("src/lib.rs", include_str!("../demo/lib.rs.sample")),
];
const AUTHOR: git::Author<'_> = git::Author {
    name: "Vibe Coder demo",
    email: "demo@localhost",
};
const SCENARIO: &str = include_str!("../demo/scenario.yaml");

pub struct Sample {
    /// The repository, to be opened as a workspace.
    pub repository: PathBuf,
    /// The practice model's scenario.
    pub scenario: PathBuf,
    pub home: DataHome,
}

/// Makes a git repository with one failing test below `folder`, which must be empty. Its data folder lies beside it,
/// so that the demo leaves nothing elsewhere.
pub fn prepare(folder: &Path) -> Result<Sample, RuntimeError> {
    let occupied = folder.read_dir().map_err(|error| {
        RuntimeError::new(
            ErrorCode::WorkspaceUnreadable,
            format!("{} cannot be used for the demo.", folder.display()),
        )
        .because(error)
        .action("Name an empty folder that you can write to.")
    })?;
    if occupied.count() > 0 {
        return Err(RuntimeError::new(
            ErrorCode::PathExists,
            format!("{} is not empty.", folder.display()),
        )
        .action("Name an empty folder for the demo, or none to use a temporary one."));
    }
    let home = DataHome::at(folder.join("data"));
    // The same atomic writer that accepts changes makes the sample.
    let workspace = Workspace::open(folder, Breadth::Project)?;
    let (store, _) = Store::open(&home, workspace.root(), std::time::Duration::ZERO)?;
    let (changes, _) = ChangeSets::open(store, workspace.clone())?;
    for (path, text) in FILES {
        changes.save(
            &workspace.resolve(format!("till/{path}"))?,
            text.as_bytes(),
            &Expected::Absent,
        )?;
    }
    changes.save(
        &workspace.resolve("scenario.yaml")?,
        SCENARIO.as_bytes(),
        &Expected::Absent,
    )?;
    let repository = folder.join("till");
    let sample = Workspace::open(&repository, Breadth::Project)?;
    git::init(&sample)?;
    git::commit_all(&sample, AUTHOR, "A till with a failing test")?;
    Ok(Sample {
        repository,
        scenario: folder.join("scenario.yaml"),
        home,
    })
}
