//! What every member's Cargo.toml must say: the workspace's lints, and no features.

use super::Finding;
use super::tree::{Member, Tree, line_with};

pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.members
        .values()
        .flat_map(|member| [check_lints(member), check_features(member)])
        .flatten()
        .collect()
}

fn check_lints(member: &Member) -> Option<Finding> {
    let manifest: toml::Table = toml::from_str(&member.manifest_text).unwrap_or_default();
    let inherits = manifest
        .get("lints")
        .and_then(|lints| lints.get("workspace"))
        .and_then(|value| value.as_bool());
    (inherits != Some(true)).then(|| {
        Finding::new(
            &member.manifest,
            line_with(&member.manifest_text, |line| line.starts_with("[lints")),
            "the workspace's lints are not inherited",
            "write [lints] with workspace = true",
        )
    })
}

/// Features of our own crates would make several products of one source, of which the tests see one.
fn check_features(member: &Member) -> Option<Finding> {
    let feature = member.package.features.keys().next()?;
    Some(Finding::new(
        &member.manifest,
        line_with(&member.manifest_text, |line| {
            line.starts_with("[features]") || line.contains("optional = true")
        }),
        format!("Cargo feature `{feature}`"),
        "decide at run time by a flag of protocol::flags, or make a crate of its own",
    ))
}
