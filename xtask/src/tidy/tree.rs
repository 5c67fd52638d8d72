//! Loads once what the rules look at: rooms.toml, cargo's metadata, the members' manifests and sources.
//! Judges nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::relative;
use super::rooms::Rooms;
use super::sources::Source;
use crate::programs;

pub struct Tree {
    pub root: PathBuf,
    pub rooms: Rooms,
    /// The text of rooms.toml, to name a line of it.
    pub rooms_text: String,
    pub members: BTreeMap<String, Member>,
    /// Packages that are not ours.
    pub external: Vec<Package>,
    pub sources: Vec<Source>,
}

pub struct Member {
    /// The member's folder, ending in `/`.
    pub folder: String,
    pub manifest: String,
    pub manifest_text: String,
    pub package: Package,
}

#[derive(Clone, Deserialize)]
pub struct Package {
    id: String,
    pub name: String,
    pub version: String,
    pub license: Option<String>,
    pub manifest_path: PathBuf,
    pub dependencies: Vec<Dependency>,
    pub features: BTreeMap<String, Vec<String>>,
}

#[derive(Clone, Deserialize)]
pub struct Dependency {
    pub name: String,
    /// None is a normal dependency; else "dev" or "build".
    pub kind: Option<String>,
}

impl Dependency {
    pub fn is_dev(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: BTreeSet<String>,
}

impl Tree {
    /// The error is one message for the user.
    pub fn load(root: &Path) -> Result<Tree, String> {
        // Cargo names real paths.
        let root = &root
            .canonicalize()
            .map_err(|error| format!("{}: {error}", root.display()))?;
        let rooms_text = read(&root.join("rooms.toml"))?;
        let rooms: Rooms = toml::from_str(&rooms_text).map_err(|error| format!("rooms.toml: {error}"))?;

        let metadata = metadata(root)?;
        let mut members = BTreeMap::new();
        let mut external = Vec::new();
        let mut sources = Vec::new();
        for package in metadata.packages {
            if !metadata.workspace_members.contains(&package.id) {
                external.push(package);
                continue;
            }
            let folder = package.manifest_path.parent().unwrap_or(root).to_path_buf();
            let dev_only = rooms.rooms.get(&package.name).is_some_and(|room| room.dev_only);
            for file in rust_files(&folder)? {
                sources.push(Source::parse(
                    relative(root, &file),
                    read(&file)?,
                    &package.name,
                    dev_only,
                ));
            }
            members.insert(
                package.name.clone(),
                Member {
                    folder: format!("{}/", relative(root, &folder)),
                    manifest: relative(root, &package.manifest_path),
                    manifest_text: read(&package.manifest_path)?,
                    package,
                },
            );
        }
        Ok(Tree {
            root: root.clone(),
            rooms,
            rooms_text,
            members,
            external,
            sources,
        })
    }

    pub fn is_member(&self, package: &str) -> bool {
        self.members.contains_key(package)
    }

    /// Where rooms.toml says `text`.
    pub fn rooms_line(&self, text: &str) -> usize {
        line_with(&self.rooms_text, |line| line.contains(text))
    }
}

impl Member {
    /// Where the manifest names the dependency.
    pub fn dependency_line(&self, name: &str) -> usize {
        line_with(&self.manifest_text, |line| {
            line.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
        })
    }
}

/// The first line (from 1) for which the question is true; 1 when there is none.
pub fn line_with(text: &str, is_it: impl Fn(&str) -> bool) -> usize {
    text.lines().position(is_it).map_or(1, |index| index + 1)
}

fn metadata(root: &Path) -> Result<Metadata, String> {
    let mut command = programs::cargo();
    command
        .args(["metadata", "--format-version", "1"])
        .current_dir(root);
    let json = programs::capture(command)?;
    serde_json::from_slice(&json).map_err(|error| format!("cargo metadata cannot be read: {error}"))
}

/// Fixtures are inputs of tests, not our code.
fn rust_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries {
            let path = entry
                .map_err(|error| format!("{}: {error}", folder.display()))?
                .path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() && !matches!(&*name, "target" | "fixtures") && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(".rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

pub fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
