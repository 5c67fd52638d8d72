//! A repository's modules as its manifests name them. Reads only the few lines it needs of each; a manifest that cannot
//! be read is a module without a name.

use std::path::Path;

use workspace::{Overlay, Workspace, display_path};

const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "CMakeLists.txt",
    "Makefile",
];
/// Manifests deeper than this belong to fixtures and vendored code more often than not.
const DEEPEST: usize = 4;
const MOST: usize = 60;
const LARGEST: u64 = 256 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    pub manifest: String,
    /// “.” for the root.
    folder: String,
    name: Option<String>,
    description: Option<String>,
    pub build: Option<String>,
}

impl Module {
    pub fn is_at_root(&self) -> bool {
        self.folder == "."
    }

    pub fn line(&self) -> String {
        let mut line = self.folder.clone();
        if let Some(name) = &self.name {
            line.push_str(&format!(": {name}"));
        }
        if let Some(description) = &self.description {
            line.push_str(&format!(", {description}"));
        }
        line
    }
}

/// The shallowest first.
pub fn modules<'a>(workspace: &Workspace, paths: impl Iterator<Item = &'a Path>) -> Vec<Module> {
    let mut found: Vec<&Path> = paths
        .filter(|path| {
            let is_manifest = path.file_name().and_then(|name| name.to_str());
            is_manifest.is_some_and(|name| MANIFESTS.contains(&name)) && path.components().count() <= DEEPEST
        })
        .collect();
    found.sort_by_key(|path| (path.components().count(), path.to_path_buf()));
    found.truncate(MOST);
    found.into_iter().map(|path| module(workspace, path)).collect()
}

fn module(workspace: &Workspace, path: &Path) -> Module {
    let text = workspace
        .resolve(path)
        .ok()
        .and_then(|path| workspace::read_bytes(&path, &Overlay::default(), LARGEST).ok())
        .map(|file| String::from_utf8_lossy(&file.bytes).into_owned())
        .unwrap_or_default();
    let kind = path.file_name().unwrap_or_default().to_string_lossy();
    let (name, description) = match &*kind {
        "package.json" => (json_field(&text, "name"), json_field(&text, "description")),
        "Cargo.toml" | "pyproject.toml" => (toml_field(&text, "name"), toml_field(&text, "description")),
        "go.mod" => (
            text.lines()
                .find_map(|line| Some(line.strip_prefix("module ")?.trim().to_owned())),
            None,
        ),
        _ => (None, None),
    };
    let build = match &*kind {
        "package.json" => serde_json::from_str::<serde_json::Value>(&text)
            .is_ok_and(|manifest| manifest["scripts"]["build"].is_string())
            .then_some("npm run build"),
        "Cargo.toml" => Some("cargo build"),
        "go.mod" => Some("go build ./..."),
        "pom.xml" => Some("mvn package"),
        "build.gradle" | "build.gradle.kts" => Some("./gradlew build"),
        "CMakeLists.txt" => Some("cmake -B build && cmake --build build"),
        "Makefile" => Some("make"),
        _ => None,
    };
    Module {
        manifest: display_path(path),
        folder: path.parent().map(display_path).unwrap_or_default(),
        name: name.map(short),
        description: description.map(short),
        build: build.map(str::to_owned),
    }
}

fn json_field(text: &str, key: &str) -> Option<String> {
    let manifest: serde_json::Value = serde_json::from_str(text).ok()?;
    Some(manifest.get(key)?.as_str()?.to_owned())
}

/// Of the section that describes the module itself.
fn toml_field(text: &str, key: &str) -> Option<String> {
    let mut is_inside = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_inside = matches!(line, "[package]" | "[project]" | "[tool.poetry]");
        } else if is_inside
            && let Some((name, value)) = line.split_once('=')
            && name.trim() == key
        {
            return Some(value.trim().trim_matches(['"', '\'']).to_owned());
        }
    }
    None
}

fn short(text: String) -> String {
    const MOST: usize = 120;
    let line = text.replace(['\n', '\r'], " ");
    match line.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}
