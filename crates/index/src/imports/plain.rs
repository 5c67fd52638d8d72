//! Languages that name files: C and C++ includes, Ruby, shell scripts, pages and style sheets.

use super::{
    ImportResolver,
    paths::{joined, name, parent, upwards, within},
};
use crate::outline::Import;

/// The first of these paths that exists.
fn first(resolver: &ImportResolver, candidates: impl IntoIterator<Item = Option<String>>) -> Option<u32> {
    candidates
        .into_iter()
        .flatten()
        .find_map(|path| resolver.paths.file(&path))
}

fn listed(file: Option<u32>) -> Vec<u32> {
    file.into_iter().collect()
}

/// Beside the file, in the usual folders, then wherever a file ends so and is clearly the nearest.
pub(super) fn resolve_include(resolver: &ImportResolver, from: &str, import: &Import) -> Vec<u32> {
    let target = import.target.as_str();
    let known = first(
        resolver,
        [
            joined(parent(from), target),
            joined("include", target),
            joined("src", target),
            joined("", target),
        ],
    );
    // `../` was meant from somewhere that is not known.
    let end = target.trim_start_matches("./").trim_start_matches("../");
    // A header that is made by `configure` lies there as what it is made from.
    let template = || resolver.paths.nearest_ending(&format!("{end}.in"), from);
    listed(
        known
            .or_else(|| resolver.paths.nearest_ending(end, from))
            .or_else(template),
    )
}

pub(super) fn resolve_ruby(resolver: &ImportResolver, from: &str, import: &Import) -> Vec<u32> {
    let target = import.target.trim_end_matches(".rb");
    let path = format!("{target}.rb");
    if target.starts_with('.') {
        return listed(first(resolver, [joined(parent(from), &path)]));
    }
    let known = first(
        resolver,
        [joined("lib", &path), joined("app", &path), joined("", &path)],
    );
    // `require 'set'` is the library's wherever a `set.rb` lies; a folder in the name makes it this repository's.
    // Tests have their own folder on the load path.
    let of_tests = || {
        let around = upwards(parent(from)).filter(|folder| matches!(name(folder), "test" | "spec"));
        first(resolver, around.map(|folder| joined(folder, &path)))
    };
    let elsewhere = || {
        let found = resolver.paths.ending(&within("lib", &path));
        resolver.paths.nearest(&found, from).or_else(|| {
            target
                .contains('/')
                .then(|| resolver.paths.nearest_ending(&path, from))
                .flatten()
        })
    };
    listed(known.or_else(of_tests).or_else(elsewhere))
}

pub(super) fn resolve_shell(resolver: &ImportResolver, from: &str, import: &Import) -> Vec<u32> {
    let target = import.target.as_str();
    let known = first(resolver, [joined(parent(from), target), joined("", target)]);
    listed(known.or_else(|| {
        resolver
            .paths
            .nearest_ending(target.trim_start_matches("./"), from)
    }))
}

pub(super) fn resolve_html(resolver: &ImportResolver, from: &str, import: &Import) -> Vec<u32> {
    let target = import.target.split(['?', '#']).next().unwrap_or_default();
    if target.contains("://") || target.starts_with("//") {
        return Vec::new();
    }
    if let Some(path) = target.strip_prefix('/') {
        return listed(first(
            resolver,
            [
                joined(parent(from), path),
                joined("public", path),
                joined("", path),
            ],
        ));
    }
    listed(first(resolver, [joined(parent(from), target)]))
}

/// SCSS leaves out the ending and the `_` of a part.
pub(super) fn resolve_css(resolver: &ImportResolver, from: &str, import: &Import) -> Vec<u32> {
    let target = import.target.trim_start_matches('~');
    let folder = parent(from);
    let part = within(parent(target), &format!("_{}", name(target)));
    listed(first(
        resolver,
        [target, &part].into_iter().flat_map(|path| {
            ["", ".css", ".scss", ".less", ".sass"]
                .into_iter()
                .map(move |ending| joined(folder, &format!("{path}{ending}")))
        }),
    ))
}
