//! One owner per side effect: a process is started, a file written, the process ended only in the files that
//! rooms.toml names. Clippy finds the calls; this rule says where its lint may be lifted, and for which call.

use std::collections::BTreeSet;

use super::Finding;
use super::rooms::{Owner, covers};
use super::sources::Source;
use super::tree::{Tree, line_with, read};

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.sources.iter().filter(|source| !source.is_test) {
        findings.extend(check_lifts(tree, source));
        for owner in &tree.rooms.owners {
            for call in owner.calls.iter().chain(&owner.system_calls) {
                findings.extend(check_call(tree, source, owner, call));
            }
        }
    }
    findings.extend(check_entries(tree));
    findings.extend(check_clippy(tree));
    findings
}

/// The lint against owned calls may be lifted in owner files only, and never by a wider lint.
fn check_lifts(tree: &Tree, source: &Source) -> Vec<Finding> {
    let lints: [&[&str]; 3] = [
        &["clippy", "::", "disallowed_methods"],
        &["clippy", "::", "all"],
        &["clippy", "::", "style"],
    ];
    let owned = tree.rooms.owners.iter().any(|owner| owner.has(&source.file));
    lints
        .into_iter()
        .filter(|lint| !owned || lint[2] != "disallowed_methods")
        .flat_map(|lint| source.find(lint).map(move |index| (lint[2], index)))
        .map(|(lint, index)| {
            Finding::new(
                &source.file,
                source.tokens[index].line,
                format!("clippy::{lint} is lifted outside the owner files"),
                "call the owner, or name this file as one in rooms.toml",
            )
        })
        .collect()
}

/// Lifting the lint for one side effect does not permit another.
fn check_call(tree: &Tree, source: &Source, owner: &Owner, call: &str) -> Vec<Finding> {
    let permits = |owner: &Owner| {
        owner
            .calls
            .iter()
            .chain(&owner.system_calls)
            .any(|permitted| permitted == call)
            && owner.has(&source.file)
    };
    if tree.rooms.owners.iter().any(permits) {
        return Vec::new();
    }
    let written = as_written(call);
    source
        .find(&written)
        .map(|index| {
            Finding::new(
                &source.file,
                source.tokens[index].line,
                format!("{} outside the owner of: {}", written.concat(), owner.of),
                match owner.files.is_empty() {
                    true => "nobody may".to_owned(),
                    false => format!("its owners are {}", owner.files.join(", ")),
                },
            )
        })
        .collect()
}

/// `std::fs::File::create` is written `File::create` where it is used; a system call by its name alone.
fn as_written(call: &str) -> Vec<&str> {
    let parts: Vec<&str> = call.split("::").collect();
    match parts.as_slice() {
        [.., before, last] => vec![before, "::", last],
        _ => vec![call],
    }
}

fn check_entries(tree: &Tree) -> Vec<Finding> {
    let entries = tree.rooms.owners.iter().flat_map(|owner| &owner.files);
    entries
        .filter(|entry| !tree.sources.iter().any(|source| covers(entry, &source.file)))
        .map(|entry| {
            let line = tree.rooms_line(&format!("\"{entry}\""));
            Finding::new(
                "rooms.toml",
                line,
                format!("owner {entry} does not exist"),
                "remove or correct it",
            )
        })
        .collect()
}

/// Both lists name the same calls, or one of them lies.
fn check_clippy(tree: &Tree) -> Vec<Finding> {
    let text = read(&tree.root.join("clippy.toml")).unwrap_or_default();
    let clippy: toml::Table = toml::from_str(&text).unwrap_or_default();
    let banned: BTreeSet<&str> = clippy
        .get("disallowed-methods")
        .and_then(|list| list.as_array())
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.get("path").unwrap_or(entry).as_str())
        .collect();
    let owned: BTreeSet<&str> = tree
        .rooms
        .owners
        .iter()
        .flat_map(|owner| &owner.calls)
        .map(String::as_str)
        .collect();
    let unowned = banned.difference(&owned).map(|call| {
        let line = line_with(&text, |line| line.contains(&format!("\"{call}\"")));
        Finding::new(
            "clippy.toml",
            line,
            format!("{call} has no owner"),
            "add it to an owner's calls in rooms.toml",
        )
    });
    let unbanned = owned.difference(&banned).map(|call| {
        let line = tree.rooms_line(&format!("\"{call}\""));
        Finding::new(
            "rooms.toml",
            line,
            format!("clippy does not ban {call}"),
            "add it to clippy.toml",
        )
    });
    unowned.chain(unbanned).collect()
}
