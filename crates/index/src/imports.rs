//! Which files of a repository an import means, judged by the set of its paths alone.
//!
//! Reads no file: manifests that name packages or roots are handed in as text. Every step is a look-up, so that a
//! repository of any size costs the same for each import. Where several files could be meant and nothing decides,
//! the answer is none of them.

mod dotted;
mod go;
mod manifests;
mod paths;
mod plain;
mod python;
mod rust;
mod script;

use std::path::{Path, PathBuf};

use crate::{language::Language, outline::Import};
use manifests::Manifests;
use paths::Paths;

/// Files that one import may mean; beyond that it says nothing about any of them.
const MAX_FILES: usize = 8;

/// A file that names packages, path aliases or source roots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Relative to the workspace root.
    pub path: PathBuf,
    pub text: String,
}

impl Manifest {
    /// Whether a file is one that [`ImportResolver::new`] wants to know: Cargo.toml, go.mod, package.json,
    /// tsconfig.json and its kin, jsconfig.json, composer.json. None lies in a folder of installed packages.
    pub fn is_wanted(path: &Path) -> bool {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return false;
        };
        let is_config = name.starts_with("tsconfig") && name.ends_with(".json");
        let known = [
            "Cargo.toml",
            "go.mod",
            "package.json",
            "jsconfig.json",
            "composer.json",
        ]
        .contains(&name);
        (is_config || known) && !path.iter().any(|part| part == "node_modules" || part == "vendor")
    }
}

/// Resolves imports in one set of paths.
#[derive(Debug, Default)]
pub struct ImportResolver {
    paths: Paths,
    manifests: Manifests,
}

impl ImportResolver {
    /// `paths` are relative to the workspace root; results are positions in it.
    pub fn new<'path>(
        paths: impl IntoIterator<Item = &'path Path>,
        manifests: &[Manifest],
    ) -> ImportResolver {
        let paths = Paths::new(paths);
        let manifests = Manifests::read(&paths, manifests);
        ImportResolver { paths, manifests }
    }

    /// The files that an import in `from` means, at most eight, never `from` itself. Empty for what lies outside the
    /// repository and for what cannot be told.
    pub fn resolve(&self, from: &Path, language: Language, import: &Import) -> Vec<u32> {
        let from = paths::written(from);
        let mut found = match language {
            Language::Rust => rust::resolve(self, &from, import),
            Language::TypeScript | Language::Tsx | Language::JavaScript => {
                script::resolve(self, &from, import)
            }
            Language::Python => python::resolve(self, &from, import),
            Language::Go => go::resolve(self, &from, import),
            Language::Java | Language::Kotlin | Language::Scala => {
                dotted::resolve_jvm(self, &from, language, import)
            }
            Language::CSharp => dotted::resolve_csharp(self, &from, import),
            Language::Php => dotted::resolve_php(self, &from, import),
            Language::C | Language::Cpp => plain::resolve_include(self, &from, import),
            Language::Ruby => plain::resolve_ruby(self, &from, import),
            Language::Bash => plain::resolve_shell(self, &from, import),
            Language::Html => {
                let linked = plain::resolve_html(self, &from, import);
                // The scripts of a page or component import as scripts do.
                if linked.is_empty() {
                    script::resolve(self, &from, import)
                } else {
                    linked
                }
            }
            Language::Css => plain::resolve_css(self, &from, import),
            // Swift imports modules, not files; the rest has no imports.
            Language::Swift
            | Language::Sql
            | Language::Json
            | Language::Yaml
            | Language::Toml
            | Language::Markdown
            | Language::Other => Vec::new(),
        };
        let own = self.paths.file(&from);
        let mut seen = Vec::with_capacity(found.len());
        found.retain(|file| {
            let new = Some(*file) != own && !seen.contains(file);
            seen.push(*file);
            new
        });
        if found.len() > MAX_FILES {
            found.clear();
        }
        found
    }
}

#[cfg(test)]
mod tests;
