//! JavaScript and TypeScript: relative paths, aliases of tsconfig.json, and packages of the same repository.

use super::{
    ImportResolver,
    paths::{joined, parent, upwards, within},
};
use crate::outline::Import;

/// What may be left out at the end of a path, as bundlers try it.
const ENDINGS: [&str; 13] = [
    ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs", ".vue", ".svelte", ".json", ".css",
];
const INDEXES: [&str; 7] = [
    "index.ts",
    "index.tsx",
    "index.d.ts",
    "index.js",
    "index.jsx",
    "index.mjs",
    "index.vue",
];

pub(super) fn resolve(resolver: &ImportResolver, from: &str, import: &Import) -> Vec<u32> {
    // A bundler's question after the path: `./icon.svg?raw`.
    let target = import.target.split('?').next().unwrap_or_default();
    one(resolver, from, target).into_iter().collect()
}

fn one(resolver: &ImportResolver, from: &str, target: &str) -> Option<u32> {
    let folder = parent(from);
    if target == "." || target == ".." || target.starts_with("./") || target.starts_with("../") {
        return at(resolver, &joined(folder, target)?);
    }
    aliased(resolver, folder, target)
        .or_else(|| packaged(resolver, target))
        .or_else(|| customary(resolver, folder, target))
}

/// The file that a path without its ending means.
fn at(resolver: &ImportResolver, path: &str) -> Option<u32> {
    let paths = &resolver.paths;
    if let Some(file) = paths.file(path) {
        return Some(file);
    }
    // TypeScript imports itself by the name of what it is built to.
    for (built, sources) in [
        (".js", [".ts", ".tsx"]),
        (".mjs", [".mts", ".ts"]),
        (".cjs", [".cts", ".ts"]),
        (".jsx", [".tsx", ".ts"]),
    ] {
        if let Some(stem) = path.strip_suffix(built)
            && let Some(file) = sources
                .iter()
                .find_map(|ending| paths.file(&format!("{stem}{ending}")))
        {
            return Some(file);
        }
    }
    ENDINGS
        .iter()
        .find_map(|ending| paths.file(&format!("{path}{ending}")))
        .or_else(|| INDEXES.iter().find_map(|index| paths.file(&within(path, index))))
}

fn aliased(resolver: &ImportResolver, folder: &str, target: &str) -> Option<u32> {
    for around in upwards(folder) {
        let Some(aliases) = resolver.manifests.aliases.get(around) else {
            continue;
        };
        for (pattern, places) in &aliases.patterns {
            let Some(rest) = matched(pattern, target) else {
                continue;
            };
            let found = places
                .iter()
                .find_map(|place| at(resolver, &place.replacen('*', rest, 1)));
            if found.is_some() {
                return found;
            }
        }
        let base = aliases.base.as_deref().and_then(|base| joined(base, target));
        if let Some(found) = base.and_then(|path| at(resolver, &path)) {
            return Some(found);
        }
    }
    None
}

/// What a pattern's `*` stands for in a path; empty for a pattern without one.
fn matched<'target>(pattern: &str, target: &'target str) -> Option<&'target str> {
    match pattern.split_once('*') {
        Some((before, after)) => target.strip_prefix(before)?.strip_suffix(after),
        None => (pattern == target).then_some(""),
    }
}

/// `@scope/name/deeper` of a package that lies in the repository.
fn packaged(resolver: &ImportResolver, target: &str) -> Option<u32> {
    let parts = if target.starts_with('@') { 2 } else { 1 };
    let end = target
        .match_indices('/')
        .nth(parts - 1)
        .map_or(target.len(), |(at, _)| at);
    let package = resolver.manifests.packages.get(&target[..end])?;
    let folder = package.folder.as_str();
    let deeper = target[end..].trim_start_matches('/');
    let name = if deeper.is_empty() {
        ".".to_owned()
    } else {
        format!("./{deeper}")
    };
    let named = package.entries.iter().find_map(|(pattern, entry)| {
        let rest = matched(pattern, &name)?;
        entry_file(resolver, folder, &entry.replacen('*', rest, 1))
    });
    let places = if deeper.is_empty() {
        ["src/index", "src/main", "index", "lib/index"].map(str::to_owned)
    } else {
        ["", "src", "lib", "source"].map(|around| within(around, deeper))
    };
    named.or_else(|| {
        places
            .iter()
            .find_map(|place| at(resolver, &within(folder, place)))
    })
}

/// `dist/node/index.js` is mostly built from `src/node/index.ts`.
fn entry_file(resolver: &ImportResolver, folder: &str, entry: &str) -> Option<u32> {
    if let Some(file) = resolver.paths.file(&joined(folder, entry)?) {
        return Some(file);
    }
    let (built, rest) = entry.trim_start_matches("./").split_once('/')?;
    if !matches!(built, "dist" | "lib" | "build" | "out") {
        return None;
    }
    let source = within(&within(folder, "src"), rest);
    at(resolver, source.trim_end_matches(".d.ts"))
}

/// `@/store` and `~/store` mean the sources of the package, by custom rather than by a file that says so.
fn customary(resolver: &ImportResolver, folder: &str, target: &str) -> Option<u32> {
    let rest = target.strip_prefix("@/").or_else(|| target.strip_prefix("~/"))?;
    upwards(folder)
        .filter(|around| resolver.paths.file(&within(around, "package.json")).is_some())
        .find_map(|around| {
            ["src", "", "app"]
                .into_iter()
                .find_map(|below| at(resolver, &within(&within(around, below), rest)))
        })
}
