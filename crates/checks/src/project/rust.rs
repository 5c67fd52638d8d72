//! Cargo packages and workspaces.

use super::{Check, Kind, Place, Reach, join};

pub(super) fn checks(place: &Place<'_>) -> Vec<Check> {
    let Some(manifest) = place.text("Cargo.toml") else {
        return Vec::new();
    };
    let test = match uses_nextest(place) {
        true => "cargo nextest run",
        false => "cargo test",
    };
    let mut checks = Vec::new();
    let is_package = has_table(&manifest, "package");
    if is_package {
        checks.push(Check::new(test, &place.folder, Reach::Focused, Kind::Test));
    }
    let workspace = match has_table(&manifest, "workspace") {
        true => Some(place.folder.clone()),
        false => place.above().find_map(|folder| {
            let text = place.tree.text(&join(folder, "Cargo.toml"))?;
            has_table(&text, "workspace").then(|| folder.to_owned())
        }),
    };
    if let Some(root) = workspace {
        checks.push(Check::new(
            format!("{test} --workspace"),
            &root,
            Reach::Broad,
            Kind::Test,
        ));
    }
    checks
}

fn uses_nextest(place: &Place<'_>) -> bool {
    std::iter::once(place.folder.as_str())
        .chain(place.above())
        .any(|folder| place.tree.text(&join(folder, ".config/nextest.toml")).is_some())
}

fn has_table(manifest: &str, table: &str) -> bool {
    manifest.lines().map(str::trim).any(|line| {
        line.strip_prefix('[')
            .and_then(|line| line.strip_prefix(table))
            .is_some_and(|rest| rest.starts_with([']', '.']))
    })
}
