//! `cargo xtask tidy`: the rules that no compiler checks. `rooms.toml` says what they are about, `RULES` which
//! there are; each rule is one pure function from the loaded tree to findings.

mod ceilings;
mod closed;
mod edges;
mod globals;
mod hygiene;
mod licences;
mod manifests;
mod owners;
mod rooms;
mod sources;
#[cfg(test)]
mod tests;
mod tree;

use std::path::Path;

use crate::{Failed, fail, programs};
use tree::Tree;

type Rule = fn(&Tree) -> Vec<Finding>;

const RULES: &[(&str, Rule)] = &[
    ("edges", edges::check),
    ("dependency-owners", edges::check_external),
    ("manifests", manifests::check),
    ("owners", owners::check),
    ("ceilings", ceilings::check),
    ("globals", globals::check),
    ("closed", closed::check),
    ("hygiene", hygiene::check),
    ("licences", licences::check),
];

/// One broken rule: where, what, and the way out.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Relative to the repository's root, `/` between parts.
    file: String,
    /// From 1.
    line: usize,
    message: String,
    way_out: String,
}

impl Finding {
    fn new(
        file: impl Into<String>,
        line: usize,
        message: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Self {
        Self {
            file: file.into(),
            line,
            message: message.into(),
            way_out: way_out.into(),
        }
    }
}

pub fn run(arguments: Vec<String>) -> Result<(), Failed> {
    let verbose = match arguments.as_slice() {
        [] => false,
        [flag] if flag == "--verbose" => true,
        _ => return Err(fail("tidy takes only --verbose")),
    };
    let tree = Tree::load(&programs::root()).map_err(fail)?;
    if verbose {
        for line in ceilings::overview(&tree) {
            println!("   {line}");
        }
    }
    let findings = check(&tree);
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("   tidy: {} files, nothing found", tree.sources.len());
            Ok(())
        }
        1 => Err(fail("tidy: one finding")),
        count => Err(fail(format!("tidy: {count} findings"))),
    }
}

/// Every rule's findings as printed, sorted by place.
fn check(tree: &Tree) -> Vec<String> {
    let mut findings: Vec<(Finding, &str)> = RULES
        .iter()
        .flat_map(|(name, rule)| rule(tree).into_iter().map(move |finding| (finding, *name)))
        .collect();
    findings.sort();
    findings.dedup();
    findings
        .into_iter()
        .map(
            |(
                Finding {
                    file,
                    line,
                    message,
                    way_out,
                },
                rule,
            )| { format!("{file}:{line}: [{rule}] {message}; {way_out}") },
        )
        .collect()
}

/// Relative to `root` with `/` between parts, for messages and for comparing with rooms.toml.
fn relative(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}
