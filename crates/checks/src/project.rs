//! Which commands check a change: for each changed file the project nearest to it, narrow before wide.

mod node;
mod other;
mod python;
mod rust;

pub use crate::command::Kind;

/// Packages that are checked one by one; with more, the wide check alone says more in less time.
const MOST_PACKAGES: usize = 3;
/// Folders below the root that are looked at when nothing says where to look.
const MOST_FOLDERS: usize = 40;

/// The folders and manifests of a workspace as whoever asks can read them. Paths are relative, with `/` between their
/// parts; the root is empty.
pub trait Tree {
    /// Names of files and folders in a folder; none where there is no such folder.
    fn names(&self, folder: &str) -> Vec<String>;
    /// Text of a small file; `None` where there is none or it is no text.
    fn text(&self, path: &str) -> Option<String>;
}

/// How much of the project a check covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// The package, or the files, that changed.
    Focused,
    /// Everything that belongs together with it.
    Broad,
}

/// One command that checks the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub command: String,
    /// Where it runs; empty for the root.
    pub folder: String,
    pub reach: Reach,
    pub kind: Kind,
}

impl Check {
    pub(crate) fn new(command: impl Into<String>, folder: &str, reach: Reach, kind: Kind) -> Self {
        Self {
            command: command.into(),
            folder: folder.to_owned(),
            reach,
            kind,
        }
    }
}

/// A way of building and testing that a folder shows by its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    Cargo,
    Node,
    Deno,
    Python,
    Go,
    Maven,
    Gradle,
    Dotnet,
    Composer,
    Bundler,
    Mix,
    Just,
    Make,
}

impl System {
    const ALL: [System; 13] = [
        System::Cargo,
        System::Go,
        System::Node,
        System::Deno,
        System::Python,
        System::Maven,
        System::Gradle,
        System::Dotnet,
        System::Composer,
        System::Bundler,
        System::Mix,
        System::Just,
        System::Make,
    ];

    fn is_shown_by(self, names: &[String]) -> bool {
        let has = |name: &str| names.iter().any(|known| known == name);
        let ends = |ending: &str| names.iter().any(|known| known.ends_with(ending));
        match self {
            System::Cargo => has("Cargo.toml"),
            System::Node => has("package.json"),
            System::Deno => has("deno.json") || has("deno.jsonc"),
            System::Python => [
                "pyproject.toml",
                "setup.py",
                "setup.cfg",
                "tox.ini",
                "pytest.ini",
                "noxfile.py",
                "requirements.txt",
            ]
            .iter()
            .any(|name| has(name)),
            System::Go => has("go.mod") || has("go.work"),
            System::Maven => has("pom.xml"),
            System::Gradle => has("build.gradle") || has("build.gradle.kts"),
            System::Dotnet => ends(".sln") || ends(".slnx") || ends(".csproj") || ends(".fsproj"),
            System::Composer => has("composer.json"),
            System::Bundler => has("Gemfile"),
            System::Mix => has("mix.exs"),
            System::Just => has("justfile") || has("Justfile") || has(".justfile"),
            System::Make => has("Makefile") || has("makefile") || has("GNUmakefile"),
        }
    }

    /// Whether files with this ending are what it builds.
    fn owns(self, ending: &str) -> bool {
        let endings: &[&str] = match self {
            System::Cargo => &["rs"],
            System::Node => &[
                "js", "mjs", "cjs", "ts", "mts", "cts", "tsx", "jsx", "vue", "svelte", "css", "scss", "html",
            ],
            System::Deno => &["js", "ts", "tsx", "jsx"],
            System::Python => &["py", "pyi", "pyx"],
            System::Go => &["go"],
            System::Maven | System::Gradle => &["java", "kt", "kts", "scala", "groovy"],
            System::Dotnet => &["cs", "fs", "vb", "razor", "cshtml"],
            System::Composer => &["php"],
            System::Bundler => &["rb", "erb", "rake"],
            System::Mix => &["ex", "exs", "heex"],
            System::Just | System::Make => &[],
        };
        endings.contains(&ending)
    }

    fn checks(self, place: &Place<'_>) -> Vec<Check> {
        match self {
            System::Cargo => rust::checks(place),
            System::Node => node::checks(place),
            System::Python => python::checks(place),
            System::Deno
            | System::Go
            | System::Maven
            | System::Gradle
            | System::Dotnet
            | System::Composer
            | System::Bundler
            | System::Mix
            | System::Just
            | System::Make => other::checks(self, place),
        }
    }
}

/// A folder that is to be checked, and the changed files that led to it.
pub(crate) struct Place<'a> {
    pub tree: &'a dyn Tree,
    pub folder: String,
    pub names: Vec<String>,
    /// Relative to the folder.
    pub changed: Vec<String>,
}

impl Place<'_> {
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.tree.text(&join(&self.folder, name))
    }

    /// The folders above it, the nearest first.
    pub fn above(&self) -> impl Iterator<Item = &str> {
        std::iter::successors(parent(&self.folder), |folder| parent(folder))
    }
}

/// The checks for a change of these files, narrow before wide; for the whole workspace where none is named. Empty where no
/// way to check is known.
pub fn choose(tree: &dyn Tree, changed: &[String]) -> Vec<Check> {
    let mut places: Vec<(System, Place<'_>)> = Vec::new();
    if changed.is_empty() {
        for folder in folders_to_look_in(tree) {
            let names = tree.names(&folder);
            for system in systems(&names, None) {
                places.push((system, place(tree, folder.clone())));
            }
            if places.is_empty() && names.iter().any(|name| python::is_test_file(name)) {
                places.push((System::Python, place(tree, folder.clone())));
            }
            if !places.is_empty() && folder.is_empty() {
                break;
            }
        }
    }
    for path in changed {
        let Some((system, folder)) = nearest(tree, path) else {
            continue;
        };
        let inner = path
            .strip_prefix(&folder)
            .unwrap_or(path)
            .trim_start_matches('/')
            .to_owned();
        match places
            .iter_mut()
            .find(|(known, place)| *known == system && place.folder == folder)
        {
            Some((_, place)) => place.changed.push(inner),
            None => {
                let mut found = place(tree, folder);
                found.changed.push(inner);
                places.push((system, found));
            }
        }
    }
    let found: Vec<Vec<Check>> = places
        .iter()
        .map(|(system, place)| system.checks(place))
        .collect();
    let many = found.len() > MOST_PACKAGES;
    let mut checks: Vec<Check> = Vec::new();
    for reach in [Reach::Focused, Reach::Broad] {
        for of_place in &found {
            let has_broad = of_place.iter().any(|check| check.reach == Reach::Broad);
            for check in of_place.iter().filter(|check| check.reach == reach) {
                let left_to_broad = many && reach == Reach::Focused && has_broad;
                let known = checks
                    .iter()
                    .any(|other| other.command == check.command && other.folder == check.folder);
                if !left_to_broad && !known {
                    checks.push(check.clone());
                }
            }
        }
    }
    checks
}

/// The nearest folder above a file whose project builds such files, else the nearest that can be checked at all.
fn nearest(tree: &dyn Tree, path: &str) -> Option<(System, String)> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name
        .rsplit_once('.')
        .map(|(_, ending)| ending)
        .unwrap_or_default();
    let folders: Vec<(String, Vec<String>)> = std::iter::successors(parent(path), |folder| parent(folder))
        .map(|folder| (folder.to_owned(), tree.names(folder)))
        .collect();
    let pick = |ending: Option<&str>| {
        folders.iter().find_map(|(folder, names)| {
            systems(names, ending)
                .into_iter()
                .find(|system| !system.checks(&place(tree, folder.clone())).is_empty())
                .map(|system| (system, folder.clone()))
        })
    };
    // Tests without a project file are tests still; the folder that has others in it is the top.
    let loose = || {
        let tests = |names: &[String]| names.iter().any(|name| python::is_test_file(name));
        let found = folders
            .iter()
            .rfind(|(_, names)| System::Python.owns(ending) && tests(names));
        found.map(|(folder, _)| (System::Python, folder.clone()))
    };
    pick(Some(ending)).or_else(loose).or_else(|| pick(None))
}

/// What a folder's files show, those that build files of an ending only, where one is given.
fn systems(names: &[String], ending: Option<&str>) -> Vec<System> {
    let mut found: Vec<System> = System::ALL
        .into_iter()
        .filter(|system| system.is_shown_by(names) && ending.is_none_or(|ending| system.owns(ending)))
        .collect();
    // A makefile beside a project of its own kind only wraps that.
    if found.len() > 1 {
        found.retain(|system| !matches!(system, System::Make | System::Just));
    }
    found
}

fn folders_to_look_in(tree: &dyn Tree) -> Vec<String> {
    let mut folders = vec![String::new()];
    let mut inner: Vec<String> = tree
        .names("")
        .into_iter()
        .filter(|name| !name.starts_with('.') && name != "node_modules" && name != "target")
        .filter(|name| !tree.names(name).is_empty())
        .collect();
    inner.sort();
    inner.truncate(MOST_FOLDERS);
    folders.extend(inner);
    folders
}

fn place(tree: &dyn Tree, folder: String) -> Place<'_> {
    Place {
        names: tree.names(&folder),
        tree,
        folder,
        changed: Vec::new(),
    }
}

fn parent(path: &str) -> Option<&str> {
    if path.is_empty() {
        return None;
    }
    Some(path.rsplit_once('/').map_or("", |(folder, _)| folder))
}

pub(crate) fn join(folder: &str, name: &str) -> String {
    match folder.is_empty() {
        true => name.to_owned(),
        false => format!("{folder}/{name}"),
    }
}

/// The path of `inner` as seen from `outer`, a folder above it.
pub(crate) fn below<'a>(inner: &'a str, outer: &str) -> &'a str {
    inner.strip_prefix(outer).unwrap_or(inner).trim_start_matches('/')
}

/// A word of a command line: names that are not plain are left to nobody's guess.
pub(crate) fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with('-')
        && word
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "._-/@".contains(character))
}

#[cfg(test)]
mod tests;
