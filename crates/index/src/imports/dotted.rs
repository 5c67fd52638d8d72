//! Languages whose names follow folders: Java, Kotlin, Scala, C#, PHP.

use super::{
    ImportResolver, MAX_FILES,
    paths::{joined, parent, within},
};
use crate::{language::Language, outline::Import};

/// Parts of a name that may be members or nested types, not folders or files.
const MAX_MEMBERS: usize = 2;
/// Packages that never lie in a repository that imports them under these names.
const JVM_LIBRARIES: [&str; 9] = [
    "java.",
    "javax.",
    "jakarta.",
    "kotlin.",
    "kotlinx.",
    "android.",
    "androidx.",
    "scala.",
    "org.junit.",
];

pub(super) fn resolve_jvm(
    resolver: &ImportResolver,
    from: &str,
    language: Language,
    import: &Import,
) -> Vec<u32> {
    let endings: [&str; 3] = match language {
        Language::Kotlin => [".kt", ".java", ".scala"],
        Language::Scala => [".scala", ".java", ".kt"],
        _ => [".java", ".kt", ".scala"],
    };
    let target: Vec<&str> = import.target.split('.').collect();
    if import.names.is_empty() {
        return class(resolver, from, &endings, &target).into_iter().collect();
    }
    let mut found = Vec::new();
    for taken in &import.names {
        if taken == "*" {
            // `import a.b.C._` takes the members of a class, `a.b.*` the classes of a package.
            let one = class(resolver, from, &endings, &target);
            found.extend(one);
            if one.is_none() {
                found.extend(package(resolver, from, &endings, &target));
            }
            continue;
        }
        let mut path = target.clone();
        path.push(taken);
        found.extend(class(resolver, from, &endings, &path));
    }
    found
}

fn class(resolver: &ImportResolver, from: &str, endings: &[&str], path: &[&str]) -> Option<u32> {
    let shortest = path.len().saturating_sub(MAX_MEMBERS).max(2);
    let whole = (shortest..=path.len()).rev().find_map(|length| {
        let place = path[..length].join("/");
        endings
            .iter()
            .find_map(|ending| resolver.paths.nearest_ending(&format!("{place}{ending}"), from))
    });
    if whole.is_some() {
        return whole;
    }
    // Kotlin and Scala leave out the folders that all packages share.
    let dotted = path.join(".");
    if JVM_LIBRARIES.iter().any(|library| dotted.starts_with(library)) {
        return None;
    }
    (1..path.len().saturating_sub(1)).find_map(|skipped| {
        let place = path[skipped..].join("/");
        endings
            .iter()
            .find_map(|ending| resolver.paths.only_ending(&format!("{place}{ending}")))
    })
}

fn package(resolver: &ImportResolver, from: &str, endings: &[&str], path: &[&str]) -> Vec<u32> {
    if path.len() < 2 {
        return Vec::new();
    }
    match resolver.paths.nearest_folder_ending(&path.join("/"), from) {
        Some(folder) => sources(resolver, folder, endings),
        None => Vec::new(),
    }
}

/// The sources of a folder, when they are few enough to mean something.
fn sources(resolver: &ImportResolver, folder: &str, endings: &[&str]) -> Vec<u32> {
    let is_source = |file: &&u32| {
        endings
            .iter()
            .any(|ending| resolver.paths.path(**file).ends_with(ending))
    };
    let files: Vec<u32> = resolver
        .paths
        .files_in(folder)
        .iter()
        .filter(is_source)
        .copied()
        .collect();
    if files.len() <= MAX_FILES {
        files
    } else {
        Vec::new()
    }
}

/// A namespace is a folder by custom: `App.Store.Models` lies in `App.Store/Models` or `App/Store/Models`, and the
/// first parts are often left out.
pub(super) fn resolve_csharp(resolver: &ImportResolver, from: &str, import: &Import) -> Vec<u32> {
    let path: Vec<&str> = import.target.split('.').collect();
    if matches!(path.first(), Some(&("System" | "Microsoft"))) {
        return Vec::new();
    }
    for joined_parts in (1..=path.len()).rev() {
        let (project, folders) = path.split_at(joined_parts);
        let place = within(&project.join("."), &folders.join("/"));
        if let Some(folder) = resolver.paths.nearest_folder_ending(&place, from) {
            return sources(resolver, folder, &[".cs"]);
        }
        // `using static App.Store.Text` and `using Short = App.Store.Text` name a class.
        if let Some(file) = resolver.paths.nearest_ending(&format!("{place}.cs"), from)
            && !folders.is_empty()
        {
            return vec![file];
        }
    }
    let tail = (1..path.len()).find_map(|skipped| {
        let place = path[skipped..].join("/");
        (path.len() - skipped >= 2)
            .then(|| resolver.paths.nearest_folder_ending(&place, from))
            .flatten()
    });
    tail.map_or_else(Vec::new, |folder| sources(resolver, folder, &[".cs"]))
}

pub(super) fn resolve_php(resolver: &ImportResolver, from: &str, import: &Import) -> Vec<u32> {
    let target = import.target.as_str();
    if let Some(path) = target.strip_prefix("./") {
        let beside = joined(parent(from), path).and_then(|path| resolver.paths.file(&path));
        return beside
            .or_else(|| joined("", path).and_then(|path| resolver.paths.file(&path)))
            .into_iter()
            .collect();
    }
    for (prefix, folder) in &resolver.manifests.namespaces {
        let rest = match prefix.as_str() {
            "" => Some(target),
            prefix => target
                .strip_prefix(prefix)
                .and_then(|rest| rest.strip_prefix('\\')),
        };
        let Some(rest) = rest else {
            continue;
        };
        let path = format!("{}.php", within(folder, &rest.replace('\\', "/")));
        if let Some(file) = resolver.paths.file(&path) {
            return vec![file];
        }
    }
    let path: Vec<&str> = target.split('\\').collect();
    (0..path.len().saturating_sub(1))
        .find_map(|skipped| {
            resolver
                .paths
                .only_ending(&format!("{}.php", path[skipped..].join("/")))
        })
        .into_iter()
        .collect()
}
