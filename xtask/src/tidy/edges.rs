//! Which room may depend on which, and which external crate belongs to one room.

use std::collections::BTreeMap;

use super::Finding;
use super::tree::{Member, Tree};

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, member) in &tree.members {
        let Some(room) = tree.rooms.rooms.get(name) else {
            findings.push(Finding::new(
                &member.manifest,
                1,
                format!("`{name}` is not in rooms.toml"),
                "add it there with what it may use",
            ));
            continue;
        };
        for dependency in member
            .package
            .dependencies
            .iter()
            .filter(|d| tree.is_member(&d.name))
        {
            let used = &dependency.name;
            let dev_only = tree.rooms.rooms.get(used).is_some_and(|room| room.dev_only);
            let allowed = match dev_only {
                // A test tool may serve every room's tests, and no room's product code.
                true => dependency.is_dev() || room.may_use.contains(used),
                false => room.may_use.contains(used) || tree.rooms.everyone_may_use.contains(used),
            };
            if !allowed && used != name {
                let way_out = match dev_only {
                    true => "move it to [dev-dependencies]".to_owned(),
                    false => {
                        let usable: Vec<_> =
                            tree.rooms.everyone_may_use.iter().chain(&room.may_use).collect();
                        format!(
                            "it may use {}",
                            usable
                                .iter()
                                .map(|name| name.as_str())
                                .collect::<Vec<_>>()
                                .join(", ")
                        )
                    }
                };
                findings.push(Finding::new(
                    &member.manifest,
                    member.dependency_line(used),
                    format!("`{name}` may not depend on `{used}`"),
                    way_out,
                ));
            }
        }
    }
    for name in tree.rooms.rooms.keys().filter(|name| !tree.is_member(name)) {
        let line = tree.rooms_line(&format!("[rooms.{name}]"));
        findings.push(Finding::new(
            "rooms.toml",
            line,
            format!("no crate is called `{name}`"),
            "remove it",
        ));
    }
    findings.extend(check_longest_chain(tree));
    findings
}

fn check_longest_chain(tree: &Tree) -> Option<Finding> {
    let mut known = BTreeMap::new();
    let chain = tree
        .members
        .keys()
        .map(|name| longest_chain(tree, name, &mut known))
        .max_by_key(Vec::len)
        .unwrap_or_default();
    (chain.len() > tree.rooms.longest_chain).then(|| {
        Finding::new(
            "rooms.toml",
            tree.rooms_line("longest_chain"),
            format!("a chain of {} rooms: {}", chain.len(), chain.join(" → ")),
            format!(
                "{} is the longest allowed, so one of them must not need the next",
                tree.rooms.longest_chain
            ),
        )
    })
}

/// From `name` down. Cargo refuses cycles among the dependencies that are followed here.
fn longest_chain(tree: &Tree, name: &str, known: &mut BTreeMap<String, Vec<String>>) -> Vec<String> {
    if let Some(chain) = known.get(name) {
        return chain.clone();
    }
    let uses = tree.members[name].package.dependencies.iter();
    let below = uses
        .filter(|dependency| !dependency.is_dev() && tree.is_member(&dependency.name))
        .map(|dependency| longest_chain(tree, &dependency.name, known))
        .max_by_key(Vec::len)
        .unwrap_or_default();
    let chain: Vec<String> = std::iter::once(name.to_owned()).chain(below).collect();
    known.insert(name.to_owned(), chain.clone());
    chain
}

/// An external crate that rooms.toml lists is linked into the product only where it says; tests and
/// test tools are free.
pub fn check_external(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let dev_only = |name: &str| tree.rooms.rooms.get(name).is_some_and(|room| room.dev_only);
    for (name, member) in tree.members.iter().filter(|(name, _)| !dev_only(name)) {
        for dependency in member
            .package
            .dependencies
            .iter()
            .filter(|d| !d.is_dev() && !tree.is_member(&d.name))
        {
            if let Some((_, owners)) = owned(tree, &dependency.name)
                && !owners.contains(name)
            {
                findings.push(misplaced(name, member, &dependency.name, owners));
            }
        }
    }
    findings
}

fn owned<'a>(tree: &'a Tree, dependency: &str) -> Option<(&'a String, &'a Vec<String>)> {
    tree.rooms
        .dependencies
        .iter()
        .find(|(entry, _)| match entry.strip_suffix('*') {
            Some(prefix) => dependency.starts_with(prefix),
            None => dependency == entry.as_str(),
        })
}

fn misplaced(name: &str, member: &Member, dependency: &str, owners: &[String]) -> Finding {
    Finding::new(
        &member.manifest,
        member.dependency_line(dependency),
        format!("`{dependency}` belongs to {}, not to `{name}`", owners.join(", ")),
        "use what its owner offers",
    )
}
