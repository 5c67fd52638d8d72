//! Python: dotted modules below a root, which is where the outermost package lies.

use super::{
    ImportResolver,
    paths::{parent, within},
};
use crate::outline::Import;

pub(super) fn resolve(resolver: &ImportResolver, from: &str, import: &Import) -> Vec<u32> {
    let written = import.target.trim_start_matches('.');
    let dots = import.target.len() - written.len();
    let path: Vec<&str> = written.split('.').filter(|part| !part.is_empty()).collect();
    if dots > 0 {
        let mut folder = parent(from);
        for _ in 1..dots {
            if folder.is_empty() {
                return Vec::new();
            }
            folder = parent(folder);
        }
        return taken(resolver, folder, &path, &import.names);
    }
    let Some(root) = root(resolver, from, &path) else {
        return Vec::new();
    };
    taken(resolver, &root, &path, &import.names)
}

/// Each name is a module of its own, or something in the module it is taken from.
fn taken(resolver: &ImportResolver, root: &str, path: &[&str], names: &[String]) -> Vec<u32> {
    let whole = || {
        // `import a.b.c` may end in something that `a.b` makes available.
        (0..=path.len())
            .rev()
            .take(2)
            .find_map(|length| module(resolver, root, &path[..length]))
    };
    if names.is_empty() {
        return whole().into_iter().collect();
    }
    names
        .iter()
        .filter_map(|name| {
            let mut deeper = path.to_vec();
            deeper.push(name);
            module(resolver, root, &deeper).or_else(whole)
        })
        .collect()
}

fn module(resolver: &ImportResolver, root: &str, path: &[&str]) -> Option<u32> {
    let place = within(root, &path.join("/"));
    let file = |ending: &str| resolver.paths.file(&format!("{place}{ending}"));
    if path.is_empty() {
        return resolver.paths.file(&within(root, "__init__.py"));
    }
    file(".py")
        .or_else(|| file("/__init__.py"))
        .or_else(|| file(".pyi"))
}

/// The folder that a module path starts from. Python looks beside the script, then along its search path, of which
/// only the usual places are known.
fn root(resolver: &ImportResolver, from: &str, path: &[&str]) -> Option<String> {
    let first = path.first()?;
    let holds = |root: &str| {
        let place = within(root, first);
        resolver.paths.has_folder(&place) || resolver.paths.file(&format!("{place}.py")).is_some()
    };
    // A package's own folder is no root: inside it `import json` means the library's.
    let is_package = |folder: &str| resolver.paths.file(&within(folder, "__init__.py")).is_some();
    let around = super::paths::upwards(parent(from));
    for folder in around.filter(|folder| !is_package(folder)) {
        for root in [
            folder.to_owned(),
            within(folder, "src"),
            within(folder, "lib"),
            within(folder, "python"),
        ] {
            if holds(&root) && is_module(resolver, &root, path) {
                return Some(root);
            }
        }
    }
    // Elsewhere in the repository, where a package of that name stands once.
    let init = format!("{first}/__init__.py");
    let packages = resolver.paths.ending(&init);
    let outermost: Vec<u32> = packages
        .into_iter()
        .filter(|file| !is_package(parent(parent(resolver.paths.path(*file)))))
        .collect();
    let package = resolver.paths.nearest(&outermost, from)?;
    let root = parent(parent(resolver.paths.path(package)));
    is_module(resolver, root, path).then(|| root.to_owned())
}

/// Whether the path leads to a module, or to something in one.
fn is_module(resolver: &ImportResolver, root: &str, path: &[&str]) -> bool {
    let place = within(root, &path.join("/"));
    module(resolver, root, path).is_some()
        || resolver.paths.has_folder(&place)
        || (path.len() > 1 && module(resolver, root, &path[..path.len() - 1]).is_some())
}
