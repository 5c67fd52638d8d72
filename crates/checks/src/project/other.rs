//! Everything that needs no more than a line or two: Go, the JVM's builders, .NET, PHP, Ruby, Elixir, and files of
//! recipes.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Check, Kind, Place, Reach, System, below, is_plain, join};

pub(super) fn checks(system: System, place: &Place<'_>) -> Vec<Check> {
    let focused = |command: &str| vec![Check::new(command, &place.folder, Reach::Focused, Kind::Test)];
    match system {
        System::Go => go(place),
        System::Maven => jvm(place, "pom.xml", "mvnw", "mvn", "test -pl {} -am"),
        System::Gradle => {
            let settings = ["settings.gradle", "settings.gradle.kts"]
                .into_iter()
                .find(|name| {
                    place.has(name)
                        || place
                            .above()
                            .any(|folder| place.tree.text(&join(folder, name)).is_some())
                })
                .unwrap_or("settings.gradle");
            jvm(place, settings, "gradlew", "gradle", "test -p {}")
        }
        System::Deno => focused("deno test"),
        System::Dotnet => focused("dotnet test"),
        System::Mix => focused("mix test"),
        System::Composer => composer(place).map_or_else(Vec::new, focused),
        System::Bundler => bundler(place).map_or_else(Vec::new, focused),
        System::Just => {
            let text = ["justfile", "Justfile", ".justfile"]
                .iter()
                .find_map(|name| place.text(name));
            recipe(text, &["test", "check"]).map_or_else(Vec::new, |name| focused(&format!("just {name}")))
        }
        System::Make => {
            let text = ["GNUmakefile", "makefile", "Makefile"]
                .iter()
                .find_map(|name| place.text(name));
            recipe(text, &["test", "tests", "check"])
                .map_or_else(Vec::new, |name| focused(&format!("make {name}")))
        }
        System::Cargo | System::Node | System::Python => Vec::new(),
    }
}

/// The packages of the changed files, then all.
fn go(place: &Place<'_>) -> Vec<Check> {
    let all = Check::new("go test ./...", &place.folder, Reach::Broad, Kind::Test);
    let folders: BTreeSet<&str> = place
        .changed
        .iter()
        .filter(|path| path.ends_with(".go"))
        .map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder))
        .collect();
    let named: Vec<String> = folders
        .iter()
        .filter(|folder| folder.is_empty() || is_plain(folder))
        .map(|folder| match folder.is_empty() {
            true => ".".to_owned(),
            false => format!("./{folder}"),
        })
        .collect();
    if named.is_empty() || named.len() < folders.len() {
        return vec![Check {
            reach: Reach::Focused,
            ..all
        }];
    }
    let focused = format!("go test {}", named.join(" "));
    vec![
        Check::new(focused, &place.folder, Reach::Focused, Kind::Test),
        all,
    ]
}

/// A module is tested from the folder that has the build's root, with the wrapper where there is one.
fn jvm(place: &Place<'_>, root_file: &str, wrapper: &str, program: &str, of_module: &str) -> Vec<Check> {
    let has_wrapper = |folder: &str| place.tree.names(folder).iter().any(|name| name == wrapper);
    let root = std::iter::once(place.folder.as_str())
        .chain(place.above())
        .filter(|folder| place.tree.text(&join(folder, root_file)).is_some() || has_wrapper(folder))
        .last()
        .unwrap_or(&place.folder);
    let program = match has_wrapper(root) {
        true => format!("./{wrapper}"),
        false => program.to_owned(),
    };
    let all = format!("{program} test");
    let module = below(&place.folder, root);
    if module.is_empty() || !is_plain(module) {
        return vec![Check::new(all, root, Reach::Focused, Kind::Test)];
    }
    let focused = format!("{program} {}", of_module.replace("{}", module));
    vec![
        Check::new(focused, root, Reach::Focused, Kind::Test),
        Check::new(all, root, Reach::Broad, Kind::Test),
    ]
}

fn composer(place: &Place<'_>) -> Option<&'static str> {
    let manifest: Value = serde_json::from_str(&place.text("composer.json")?).ok()?;
    if manifest
        .get("scripts")
        .and_then(|scripts| scripts.get("test"))
        .is_some()
    {
        return Some("composer test");
    }
    (place.has("phpunit.xml") || place.has("phpunit.xml.dist")).then_some("vendor/bin/phpunit")
}

fn bundler(place: &Place<'_>) -> Option<&'static str> {
    let gems = place.text("Gemfile").unwrap_or_default();
    if place.has(".rspec") || place.has("spec") || gems.contains("rspec") {
        return Some("bundle exec rspec");
    }
    (place.has("Rakefile") && place.has("test")).then_some("bundle exec rake test")
}

/// The first of these names that is a target or a recipe.
fn recipe<'a>(text: Option<String>, names: &[&'a str]) -> Option<&'a str> {
    let text = text?;
    names.iter().copied().find(|name| {
        text.lines().any(|line| {
            let Some(rest) = line.strip_prefix(name) else {
                return false;
            };
            // `test:` and `test args:`, not `tests:` and not `test := value`.
            rest.starts_with([':', ' '])
                && rest.contains(':')
                && !rest.contains(":=")
                && !rest.trim_start().starts_with('=')
        })
    })
}
