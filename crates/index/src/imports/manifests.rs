//! What manifests say about packages, aliases and roots. A manifest that cannot be read says nothing.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    Manifest,
    paths::{self, Paths, joined, parent, within},
};

/// Conditions inside conditions; more are not written.
const MAX_CONDITIONS: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Manifests {
    /// Name of a Rust crate, as code writes it, to its crate.
    pub(super) crates: HashMap<String, Crate>,
    /// Module path of a Go module and its folder, the longest path first.
    pub(super) go_modules: Vec<(String, String)>,
    /// Name of a JavaScript package to its folder and the file that stands for it.
    pub(super) packages: HashMap<String, Package>,
    /// Aliases of tsconfig.json and jsconfig.json by the folder they hold for.
    pub(super) aliases: HashMap<String, Aliases>,
    /// PHP namespace prefix, without the last `\`, and its folder; the longest prefix first.
    pub(super) namespaces: Vec<(String, String)>,
}

#[derive(Debug)]
pub(super) struct Crate {
    pub(super) folder: String,
    /// The path of its library's root file.
    pub(super) root: String,
}

#[derive(Debug)]
pub(super) struct Package {
    pub(super) folder: String,
    /// What is imported by which name: `.` or `./deeper`, with at most one `*` in each. Often a built file that the
    /// repository does not hold.
    pub(super) entries: Vec<(String, String)>,
}

#[derive(Debug, Default)]
pub(super) struct Aliases {
    pub(super) base: Option<String>,
    /// Pattern with at most one `*`, and what stands for it, relative to the root.
    pub(super) patterns: Vec<(String, Vec<String>)>,
}

impl Manifests {
    pub(super) fn read(paths: &Paths, manifests: &[Manifest]) -> Manifests {
        let mut all = Manifests::default();
        for manifest in manifests {
            let path = paths::written(&manifest.path);
            let folder = parent(&path);
            match paths::name(&path) {
                "Cargo.toml" => all.cargo(paths, folder, &manifest.text),
                "go.mod" => all.go(folder, &manifest.text),
                "package.json" => all.package(folder, &manifest.text),
                "composer.json" => all.composer(folder, &manifest.text),
                name if name == "jsconfig.json" || name.starts_with("tsconfig") => {
                    all.script_config(folder, &manifest.text);
                }
                _ => {}
            }
        }
        all.go_modules
            .sort_by(|one, other| other.0.len().cmp(&one.0.len()).then_with(|| one.cmp(other)));
        all.namespaces
            .sort_by(|one, other| other.0.len().cmp(&one.0.len()).then_with(|| one.cmp(other)));
        all
    }

    fn cargo(&mut self, paths: &Paths, folder: &str, text: &str) {
        let Some(package) = toml_value(text, "package", "name") else {
            return;
        };
        let name = toml_value(text, "lib", "name")
            .unwrap_or(package)
            .replace('-', "_");
        let root = match toml_value(text, "lib", "path") {
            Some(path) => joined(folder, path),
            None => ["src/lib.rs", "src/main.rs"]
                .into_iter()
                .map(|root| within(folder, root))
                .find(|root| paths.file(root).is_some()),
        };
        if let Some(root) = root {
            let folder = folder.to_owned();
            self.crates.insert(name, Crate { folder, root });
        }
    }

    fn go(&mut self, folder: &str, text: &str) {
        let module = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("module"))
            .filter(|rest| rest.starts_with([' ', '\t']))
            .find_map(|rest| rest.split_whitespace().next());
        if let Some(module) = module {
            self.go_modules
                .push((module.trim_matches('"').to_owned(), folder.to_owned()));
        }
    }

    fn package(&mut self, folder: &str, text: &str) {
        let Ok(json) = serde_json::from_str::<Value>(text) else {
            return;
        };
        // `"imports": { "#types/*": "./types/*.d.ts" }`: aliases of the package's own files.
        let own = json
            .get("imports")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        let own: Vec<(String, Vec<String>)> = own
            .filter_map(|(pattern, target)| {
                let target = target.as_str().and_then(|target| joined(folder, target))?;
                Some((pattern.clone(), vec![target]))
            })
            .collect();
        if !own.is_empty() {
            self.aliases
                .entry(folder.to_owned())
                .or_default()
                .patterns
                .extend(own);
        }
        let Some(name) = json.get("name").and_then(Value::as_str) else {
            return;
        };
        let mut entries: Vec<(String, String)> = ["source", "types", "module", "main"]
            .into_iter()
            .filter_map(|key| json.get(key).and_then(Value::as_str))
            .map(|target| (".".to_owned(), target.to_owned()))
            .collect();
        match json.get("exports") {
            Some(Value::Object(exports)) if exports.keys().any(|name| name.starts_with('.')) => {
                let targets = exports
                    .iter()
                    .filter_map(|(name, target)| Some((name.clone(), first_target(target)?)));
                entries.extend(targets);
            }
            Some(target) => entries.extend(first_target(target).map(|target| (".".to_owned(), target))),
            None => {}
        }
        self.packages.insert(
            name.to_owned(),
            Package {
                folder: folder.to_owned(),
                entries,
            },
        );
    }

    fn script_config(&mut self, folder: &str, text: &str) {
        let Ok(json) = serde_json::from_str::<Value>(&plain_json(text)) else {
            return;
        };
        let Some(options) = json.get("compilerOptions") else {
            return;
        };
        let base = options
            .get("baseUrl")
            .and_then(Value::as_str)
            .and_then(|base| joined(folder, base));
        let patterns = options
            .get("paths")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        let patterns = patterns
            .map(|(pattern, targets)| {
                let targets = targets.as_array().into_iter().flatten().filter_map(Value::as_str);
                let targets = targets.filter_map(|target| joined(base.as_deref().unwrap_or(folder), target));
                (pattern.clone(), targets.collect())
            })
            .collect::<Vec<(String, Vec<String>)>>();
        let known = self.aliases.entry(folder.to_owned()).or_default();
        known.base = known.base.take().or(base);
        known.patterns.extend(patterns);
    }

    fn composer(&mut self, folder: &str, text: &str) {
        let Ok(json) = serde_json::from_str::<Value>(text) else {
            return;
        };
        for section in ["autoload", "autoload-dev"] {
            let rules = json
                .get(section)
                .and_then(|section| section.get("psr-4"))
                .and_then(Value::as_object);
            for (prefix, target) in rules.into_iter().flatten() {
                let targets = match target {
                    Value::String(one) => vec![one.as_str()],
                    Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
                    _ => Vec::new(),
                };
                for target in targets {
                    if let Some(target) = joined(folder, target) {
                        self.namespaces
                            .push((prefix.trim_end_matches('\\').to_owned(), target));
                    }
                }
            }
        }
    }
}

/// The first file that conditional exports name: `{ "import": { "types": "./a.d.ts" }, "require": … }`.
fn first_target(target: &Value) -> Option<String> {
    let mut at = target;
    for _ in 0..MAX_CONDITIONS {
        match at {
            Value::String(path) => return Some(path.clone()),
            Value::Object(conditions) => at = conditions.values().find(|value| !value.is_null())?,
            Value::Array(several) => at = several.first()?,
            _ => return None,
        }
    }
    None
}

/// The string value of `key` directly in `[section]`.
fn toml_value<'text>(text: &'text str, section: &str, key: &str) -> Option<&'text str> {
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            inside = header.split(']').next().map(str::trim) == Some(section);
        } else if inside
            && let Some((name, value)) = line.split_once('=')
            && name.trim() == key
        {
            return value.split('"').nth(1);
        }
    }
    None
}

/// Settings for people have comments and commas before a closing bracket; JSON proper has neither.
fn plain_json(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.trim_start_matches('\u{feff}').chars().peekable();
    let mut in_string = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if in_string => {
                plain.push(letter);
                plain.extend(letters.next());
            }
            '"' => {
                in_string = !in_string;
                plain.push(letter);
            }
            '/' if !in_string && letters.peek() == Some(&'/') => {
                while letters.peek().is_some_and(|letter| *letter != '\n') {
                    letters.next();
                }
            }
            '/' if !in_string && letters.peek() == Some(&'*') => {
                let mut before = ' ';
                letters.next();
                for letter in letters.by_ref() {
                    if before == '*' && letter == '/' {
                        break;
                    }
                    before = letter;
                }
            }
            '}' | ']' if !in_string => {
                let end = plain.trim_end().len();
                if plain[..end].ends_with(',') {
                    plain.truncate(end - 1);
                }
                plain.push(letter);
            }
            letter => plain.push(letter),
        }
    }
    plain
}
