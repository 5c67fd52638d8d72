//! Builds the screen (apps/ui) for the program to carry, when its sources changed since it was last built, and checks
//! it.
//!
//! Knows what the build reads and makes; knows nothing of who shows it.

#![expect(
    clippy::disallowed_methods,
    reason = "notes of a build tool, below target/; no product code passes here"
)]

use std::{
    collections::hash_map::DefaultHasher,
    ffi::OsStr,
    fs,
    hash::{Hash, Hasher},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use crate::programs;

/// What the build writes, or what only developers of the screen use.
const NOT_SOURCES: &[&str] = &[
    "node_modules",
    "dist",
    "shots",
    "test-results",
    "playwright-report",
];

/// Makes sure that `apps/ui/dist` is the screen as it is now; the error says in one line what is missing.
pub fn build() -> Result<(), String> {
    let folder = programs::root().join("apps/ui");
    let stamps = programs::root().join("target/screen");
    let sources = Stamp::of(&folder, &stamps.join("sources"));
    if sources.is_known() && folder.join("dist/index.html").is_file() {
        return Ok(());
    }
    install(&folder, &stamps.join("packages"))?;
    eprintln!("xtask: building the screen (vite build)");
    programs::stream(programs::npm(
        &folder,
        &["run", "--silent", "build", "--", "--logLevel=warn"],
    ))?;
    // The build empties the folder, and this file is the repository's.
    fs::write(folder.join("dist/.gitkeep"), "").map_err(|error| error.to_string())?;
    sources.keep()
}

/// Types, lint and unit tests of the screen.
pub fn check() -> Result<(), String> {
    let folder = programs::root().join("apps/ui");
    install(&folder, &programs::root().join("target/screen/packages"))?;
    programs::stream(programs::npm(&folder, &["run", "--silent", "check"]))
}

/// The packages that a folder's lock file names, when it changed since they were last installed; `stamp` is the note
/// of that.
pub fn install(folder: &Path, stamp: &Path) -> Result<(), String> {
    if !programs::has_node() {
        return Err(
            "Node is missing: install Node 20.19 or newer with npm from https://nodejs.org or your system's \
             packages, then run this again"
                .to_owned(),
        );
    }
    let packages = Stamp::of(&folder.join("package-lock.json"), stamp);
    if !packages.is_known() || !folder.join("node_modules").is_dir() {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        eprintln!("xtask: installing the packages of {name} (npm ci)");
        programs::stream(programs::npm(
            folder,
            &["ci", "--no-audit", "--no-fund", "--loglevel=error"],
        ))?;
        packages.keep()?;
    }
    Ok(())
}

/// A digest of what files are like, beside the one that was kept when they were last used.
struct Stamp {
    now: String,
    file: PathBuf,
}

impl Stamp {
    /// Names, sizes and times: whatever writes a file changes one of them.
    fn of(path: &Path, file: &Path) -> Self {
        let mut hasher = DefaultHasher::new();
        add(path, &mut hasher);
        Self {
            now: format!("{:016x}", hasher.finish()),
            file: file.to_owned(),
        }
    }

    fn is_known(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|kept| kept == self.now)
    }

    fn keep(&self) -> Result<(), String> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&self.file, &self.now))
            .map_err(|error| format!("{} cannot be written: {error}", self.file.display()))
    }
}

fn add(path: &Path, hasher: &mut DefaultHasher) {
    let Ok(metadata) = path.symlink_metadata() else {
        return;
    };
    path.hash(hasher);
    if metadata.is_dir() {
        let mut inside: Vec<PathBuf> = fs::read_dir(path)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                !NOT_SOURCES
                    .iter()
                    .any(|name| path.file_name() == Some(OsStr::new(name)))
            })
            .collect();
        inside.sort();
        inside.iter().for_each(|path| add(path, hasher));
        return;
    }
    metadata.len().hash(hasher);
    let changed = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    changed.hash(hasher);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_added_or_removed_source_is_seen_and_what_the_build_makes_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let ui = folder.path().join("ui");
        for name in ["src", "dist", "node_modules"] {
            fs::create_dir_all(ui.join(name)).unwrap();
        }
        fs::write(ui.join("src/a.ts"), "1").unwrap();
        let stamp = || Stamp::of(&ui, &folder.path().join("stamps/ui"));
        assert!(!stamp().is_known());
        stamp().keep().unwrap();
        fs::write(ui.join("dist/index.html"), "made").unwrap();
        fs::write(ui.join("node_modules/x"), "installed").unwrap();
        assert!(stamp().is_known());
        for change in ["src/a.ts", "src/b.ts"] {
            fs::write(ui.join(change), "changed").unwrap();
            assert!(!stamp().is_known(), "{change}");
            stamp().keep().unwrap();
        }
        fs::remove_file(ui.join("src/b.ts")).unwrap();
        assert!(!stamp().is_known());
    }
}
