//! Packages with scripts: npm, pnpm, yarn, bun.

use serde_json::Value;

use super::{Check, Kind, Place, Reach, is_plain, join};

/// Scripts that say whether the types are right, the usual name first.
const TYPES: &[&str] = &["typecheck", "type-check", "check-types", "types", "tsc"];
const LINTS: &[&str] = &["lint"];

pub(super) fn checks(place: &Place<'_>) -> Vec<Check> {
    let Some(package) = package(place.text("package.json")) else {
        return Vec::new();
    };
    let manager = manager(place, &package);
    let mut checks = Vec::new();
    let test = script(&package, "test").filter(|script| !says_there_are_none(script));
    if let Some(script) = test {
        let files = tests_to_name(place, script);
        if !files.is_empty() {
            let pass = if manager == "npm" { " --" } else { "" };
            let command = format!("{}{pass} {}", run(manager, "test"), files.join(" "));
            checks.push(Check::new(command, &place.folder, Reach::Focused, Kind::Test));
        } else {
            checks.push(Check::new(
                run(manager, "test"),
                &place.folder,
                Reach::Focused,
                Kind::Test,
            ));
        }
    }
    let types = TYPES.iter().find(|name| script(&package, name).is_some());
    if let Some(name) = types {
        checks.push(Check::new(
            run(manager, name),
            &place.folder,
            Reach::Focused,
            Kind::Types,
        ));
    }
    if test.is_none() && types.is_none() && script(&package, "build").is_some() {
        checks.push(Check::new(
            run(manager, "build"),
            &place.folder,
            Reach::Focused,
            Kind::Types,
        ));
    }
    if test.is_some() {
        checks.push(Check::new(
            run(manager, "test"),
            &place.folder,
            Reach::Broad,
            Kind::Test,
        ));
    }
    if let Some(name) = LINTS.iter().find(|name| script(&package, name).is_some()) {
        checks.push(Check::new(
            run(manager, name),
            &place.folder,
            Reach::Broad,
            Kind::Lint,
        ));
    }
    checks.extend(root_check(place));
    checks
}

/// The test script of the workspace that the package belongs to.
fn root_check(place: &Place<'_>) -> Option<Check> {
    place.above().find_map(|folder| {
        let root = package(place.tree.text(&join(folder, "package.json")))?;
        let is_root = root.get("workspaces").is_some()
            || place.tree.text(&join(folder, "pnpm-workspace.yaml")).is_some();
        let script = script(&root, "test").filter(|script| !says_there_are_none(script));
        (is_root && script.is_some()).then(|| {
            Check::new(
                run(manager(place, &root), "test"),
                folder,
                Reach::Broad,
                Kind::Test,
            )
        })
    })
}

fn package(text: Option<String>) -> Option<Value> {
    serde_json::from_str(text?.trim_start_matches('\u{feff}')).ok()
}

fn script<'a>(package: &'a Value, name: &str) -> Option<&'a str> {
    package.get("scripts")?.get(name)?.as_str()
}

/// What `npm init` writes.
fn says_there_are_none(script: &str) -> bool {
    script.contains("no test specified") || script.trim().is_empty()
}

/// Changed test files, where the runner takes their names. The rest of the tests comes with the wide check.
fn tests_to_name<'a>(place: &'a Place<'_>, script: &str) -> Vec<&'a str> {
    let first = script.split_whitespace().next().unwrap_or_default();
    let takes_names = matches!(first, "jest" | "vitest");
    // A change of anything else may break any test.
    let all_are_tests = place.changed.iter().all(|path| is_test(path) && is_plain(path));
    match takes_names && all_are_tests {
        true => place.changed.iter().map(String::as_str).collect(),
        false => Vec::new(),
    }
}

fn is_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.contains(".test.") || name.contains(".spec.")
}

fn run(manager: &str, script: &str) -> String {
    match (manager, script) {
        ("bun", script) => format!("bun run {script}"),
        (manager, "test") => format!("{manager} test"),
        (manager, script) => format!("{manager} run {script}"),
    }
}

/// By the lock file of the package or of what it belongs to, else by what the package names.
fn manager(place: &Place<'_>, package: &Value) -> &'static str {
    const LOCKS: &[(&str, &str)] = &[
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
        ("package-lock.json", "npm"),
    ];
    for folder in std::iter::once(place.folder.as_str()).chain(place.above()) {
        let names = place.tree.names(folder);
        if let Some((_, manager)) = LOCKS
            .iter()
            .find(|(lock, _)| names.iter().any(|name| name == lock))
        {
            return manager;
        }
    }
    let named = package
        .get("packageManager")
        .and_then(Value::as_str)
        .unwrap_or_default();
    ["pnpm", "yarn", "bun"]
        .into_iter()
        .find(|manager| named.starts_with(manager))
        .unwrap_or("npm")
}
