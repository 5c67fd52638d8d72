//! Every external package has a licence that deny.toml allows. cargo-deny reads the same file where it is
//! installed; this is the part of it that must hold on every machine.

use serde::Deserialize;
use spdx::{Expression, Licensee, ParseMode};

use super::Finding;
use super::tree::{Package, Tree, line_with, read};

#[derive(Deserialize)]
struct Deny {
    licenses: Licences,
}

#[derive(Deserialize)]
struct Licences {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

/// More licences for one package.
#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate", alias = "name")]
    package: String,
    allow: Vec<String>,
}

pub fn check(tree: &Tree) -> Vec<Finding> {
    let (text, deny) = match read(&tree.root.join("deny.toml")).and_then(|text| {
        let deny: Deny = toml::from_str(&text).map_err(|error| error.message().to_owned())?;
        Ok((text, deny))
    }) {
        Ok(loaded) => loaded,
        Err(reason) => {
            return vec![Finding::new(
                "deny.toml",
                1,
                reason,
                "see cargo-deny's description of it",
            )];
        }
    };
    let line = line_with(&text, |line| line.starts_with("allow = ["));
    let mut packages: Vec<&Package> = tree.external.iter().collect();
    packages.sort_by(|one, other| one.name.cmp(&other.name));
    packages
        .into_iter()
        .filter_map(|package| {
            let reason = refusal(package, &deny.licenses)?;
            Some(Finding::new(
                "deny.toml",
                line,
                format!("{} {}: {reason}", package.name, package.version),
                "use another crate, or allow it here after reading the licence",
            ))
        })
        .collect()
}

/// Why the package may not be used, if so.
fn refusal(package: &Package, licences: &Licences) -> Option<String> {
    let Some(licence) = &package.license else {
        return Some("states no licence".to_owned());
    };
    // Lax: crates.io still has the old `MIT/Apache-2.0`.
    let expression = match Expression::parse_mode(licence, ParseMode::LAX) {
        Ok(expression) => expression,
        Err(error) => return Some(format!("licence “{licence}” cannot be read: {}", error.reason)),
    };
    let exceptions = licences
        .exceptions
        .iter()
        .filter(|exception| exception.package == package.name);
    let allowed: Vec<Licensee> = licences
        .allow
        .iter()
        .chain(exceptions.flat_map(|exception| &exception.allow))
        .filter_map(|name| Licensee::parse(name).ok())
        .collect();
    let fits = expression.evaluate(|wanted| allowed.iter().any(|licensee| licensee.satisfies(wanted)));
    (!fits).then(|| format!("licence “{licence}” is not allowed"))
}
