//! Go: a package is a folder, its path begins with the module's.

use super::{
    ImportResolver, MAX_FILES,
    paths::{joined, name, parent},
};
use crate::outline::Import;

pub(super) fn resolve(resolver: &ImportResolver, from: &str, import: &Import) -> Vec<u32> {
    let target = import.target.as_str();
    if target.starts_with('.') {
        return joined(parent(from), target).map_or_else(Vec::new, |folder| package(resolver, &folder));
    }
    for (module, folder) in &resolver.manifests.go_modules {
        let rest = match target.strip_prefix(module.as_str()) {
            Some("") => "",
            Some(rest) => match rest.strip_prefix('/') {
                Some(rest) => rest,
                None => continue,
            },
            None => continue,
        };
        return joined(folder, rest).map_or_else(Vec::new, |folder| package(resolver, &folder));
    }
    // Without a go.mod, as in old layouts: the path's end, unless that could be anything.
    if resolver.manifests.go_modules.is_empty() && target.contains('.') {
        let tail: Vec<&str> = target.splitn(4, '/').collect();
        if let [_, _, _, rest] = tail[..]
            && let Some(folder) = resolver.paths.nearest_folder_ending(rest, from)
        {
            return package(resolver, folder);
        }
    }
    Vec::new()
}

/// The files of a package. Of a large one those that are named like it, for which one is meant is not said.
fn package(resolver: &ImportResolver, folder: &str) -> Vec<u32> {
    let is_source = |file: &&u32| {
        let path = resolver.paths.path(**file);
        path.ends_with(".go") && !path.ends_with("_test.go") && name(path) != "doc.go"
    };
    let files: Vec<u32> = resolver
        .paths
        .files_in(folder)
        .iter()
        .filter(is_source)
        .copied()
        .collect();
    if files.len() <= MAX_FILES {
        return files;
    }
    let main = format!("{}.go", name(folder));
    files
        .into_iter()
        .filter(|file| name(resolver.paths.path(*file)) == main)
        .collect()
}
