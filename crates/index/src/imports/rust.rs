//! Rust: modules are files, named by where they stand below the crate's root.

use super::{
    ImportResolver,
    paths::{name, parent, upwards, within},
};
use crate::outline::Import;

pub(super) fn resolve(resolver: &ImportResolver, from: &str, import: &Import) -> Vec<u32> {
    let target: Vec<&str> = import.target.split("::").collect();
    if import.names.is_empty() {
        return module(resolver, from, &target).into_iter().collect();
    }
    import
        .names
        .iter()
        .filter_map(|taken| {
            let mut path = target.clone();
            if taken != "*" && taken != "self" {
                path.push(taken);
            }
            module(resolver, from, &path)
        })
        .collect()
}

/// The file of a path's deepest module; what follows it is an item in that file.
fn module(resolver: &ImportResolver, from: &str, path: &[&str]) -> Option<u32> {
    let (first, rest) = path.split_first()?;
    match *first {
        "crate" => {
            let root = crate_root(resolver, from)?;
            below(resolver, parent(&root), rest).or_else(|| resolver.paths.file(&root))
        }
        "self" => below(resolver, &folder_of_module(from), rest),
        "super" => {
            let mut folder = folder_of_module(from);
            let mut rest = path;
            while let Some(("super", after)) = rest.split_first().map(|(first, after)| (*first, after)) {
                folder = parent(&folder).to_owned();
                rest = after;
            }
            below(resolver, &folder, rest).or_else(|| file_of_folder(resolver, &folder))
        }
        name => {
            // A module beside it comes before a crate of the same name.
            let own = below(resolver, &folder_of_module(from), &path[..1]);
            if own.is_some() {
                return below(resolver, &folder_of_module(from), path);
            }
            let known = resolver.manifests.crates.get(name)?;
            below(resolver, parent(&known.root), rest).or_else(|| resolver.paths.file(&known.root))
        }
    }
}

/// The deepest module file along `path`, none when even the first part is no module.
fn below(resolver: &ImportResolver, folder: &str, path: &[&str]) -> Option<u32> {
    (1..=path.len()).rev().find_map(|length| {
        let place = within(folder, &path[..length].join("/"));
        resolver
            .paths
            .file(&format!("{place}.rs"))
            .or_else(|| resolver.paths.file(&format!("{place}/mod.rs")))
    })
}

/// The file of the module whose submodules stand in a folder.
fn file_of_folder(resolver: &ImportResolver, folder: &str) -> Option<u32> {
    [
        format!("{folder}.rs"),
        within(folder, "mod.rs"),
        within(folder, "lib.rs"),
        within(folder, "main.rs"),
    ]
    .iter()
    .find_map(|path| resolver.paths.file(path))
}

/// Where a file's submodules stand.
fn folder_of_module(path: &str) -> String {
    let folder = parent(path);
    if is_root(path) || name(path) == "mod.rs" {
        return folder.to_owned();
    }
    path.strip_suffix(".rs").unwrap_or(path).to_owned()
}

/// A file that is a crate of its own or the root of one.
fn is_root(path: &str) -> bool {
    matches!(name(path), "lib.rs" | "main.rs" | "build.rs")
        || matches!(name(parent(path)), "tests" | "benches" | "examples" | "bin")
}

fn crate_root(resolver: &ImportResolver, from: &str) -> Option<String> {
    if is_root(from) {
        return Some(from.to_owned());
    }
    upwards(parent(from)).find_map(|folder| {
        ["lib.rs", "main.rs"]
            .into_iter()
            .map(|root| within(folder, root))
            .find(|root| resolver.paths.file(root).is_some())
            .or_else(|| {
                let known = resolver
                    .manifests
                    .crates
                    .values()
                    .find(|known| known.folder == folder)?;
                Some(known.root.clone())
            })
    })
}
