//! Judges programs that only read, by the table's rules for their arguments.

use std::path::{Path, PathBuf};

use super::CommandClass;
use super::paths::{Access, is_secret_name, matches};
use super::syntax::{Judge, Places};
use super::tables::{READ_ONLY, Rule};
use super::words::{Arg, has_wildcard};

pub(super) fn rule(name: &str) -> Option<Rule> {
    READ_ONLY
        .iter()
        .find(|(program, _)| *program == name)
        .map(|(_, rule)| *rule)
}

impl Judge<'_> {
    pub(super) fn read_only(&mut self, name: &str, args: &[Arg], places: &Places, rule: Rule) {
        let before = self.findings.len();
        if matches!(name, "test" | "[") && args.iter().any(|arg| arg.is("-v") || arg.is("-R")) {
            self.ask("`test -v` may run commands");
        }
        match rule {
            Rule::Words => self.words(name, args),
            Rule::Paths => self.paths(name, args, places, 0),
            Rule::Pattern => self.paths(name, args, places, pattern_words(args)),
            Rule::Without(options) => {
                self.forbid(name, args, options);
                self.paths(name, args, places, 0);
            }
            Rule::PatternWithout(options) => {
                self.forbid(name, args, options);
                self.paths(name, args, places, pattern_words(args));
            }
            Rule::AtMost(most) => {
                if args.iter().filter(|arg| !arg.is_option()).count() > most
                    || args.iter().any(|arg| arg.text.is_none())
                {
                    self.ask(format!("`{name}` with these arguments writes to a file"));
                }
                self.paths(name, args, places, 0);
            }
        }
        if searches_hidden_files(name, args) {
            let roots: Vec<Arg> = args
                .iter()
                .filter(|arg| !arg.is_option())
                .skip(pattern_words(args))
                .cloned()
                .collect();
            let here = vec![Arg::literal(".")];
            self.hidden_credentials(if roots.is_empty() { &here } else { &roots }, places);
        }
        if self.findings.len() == before {
            self.allow(CommandClass::ReadOnly, "read-only");
        }
    }

    /// Arguments that are shown, not opened.
    fn words(&mut self, name: &str, args: &[Arg]) {
        for secret in args.iter().flat_map(|arg| &arg.secrets) {
            self.block(format!(
                "it shows the variable {secret}, which may hold a credential"
            ));
        }
        if name == "printf"
            && let [option, variable, ..] = args
            && option.is("-v")
            && let Some(variable) = variable.as_str()
        {
            if variable.contains('[') || super::tables::steers_programs(variable) {
                self.ask(format!("setting `{variable}` may run commands"));
            }
            self.set_variable(variable, super::words::Value::Unknown);
        }
    }

    /// All arguments but the first `patterns` words, and the values within options, may be paths.
    pub(super) fn paths(&mut self, name: &str, args: &[Arg], places: &Places, patterns: usize) {
        let mut words = 0;
        let mut options_ended = false;
        for arg in args {
            let Some(text) = arg.as_str() else {
                self.ask(format!(
                    "`{name}` depends on a value that is only known when it runs"
                ));
                continue;
            };
            if !options_ended && text == "--" {
                options_ended = true;
            } else if !options_ended && arg.is_option() {
                self.option_value(arg, text, places);
            } else {
                words += 1;
                if words > patterns {
                    self.path(arg, places, Access::Read);
                }
            }
        }
    }

    /// `--file=path`, `-fpath`: what follows the option's name, if it looks like a path.
    pub(super) fn option_value(&mut self, arg: &Arg, text: &str, places: &Places) {
        let value = match text.split_once('=') {
            Some((_, value)) => value,
            None if text.starts_with("--") => return,
            None => text.get(2..).unwrap_or_default(),
        };
        let looks_like_path =
            value.contains('/') || value.contains("..") || value.starts_with('~') || is_secret_name(value);
        if looks_like_path {
            self.path(
                &Arg {
                    text: Some(value.to_owned()),
                    ..arg.clone()
                },
                places,
                Access::Read,
            );
        }
    }

    /// Asks when one of `options` is among the arguments, also abbreviated or in a bundle of letters.
    pub(super) fn forbid(&mut self, name: &str, args: &[Arg], options: &[&str]) {
        for arg in args {
            match arg.as_str() {
                None => self.ask(format!(
                    "`{name}` depends on a value that is only known when it runs"
                )),
                Some(text) if arg.glob && has_wildcard(text.get(..1).unwrap_or_default()) => {
                    self.ask(format!("`{name}` may take a file's name for an option"));
                }
                Some(text) if is_one_of(text, options) => {
                    self.ask(format!("`{name} {text}` may write files or run programs"));
                }
                Some(_) => {}
            }
        }
    }

    /// Asks when a program that shows what is in files comes by one that may hold credentials.
    pub(super) fn hidden_credentials(&mut self, roots: &[Arg], places: &Places) {
        for place in &places.known.clone() {
            for root in roots.iter().filter_map(Arg::as_str) {
                if let Some(path) = self.credentials_below(&place.join(root)) {
                    self.ask(format!(
                        "it also reads {}, which may hold credentials",
                        path.display()
                    ));
                    return;
                }
            }
        }
    }

    /// The first such file below a folder, as far as a quick look tells. Folders of dependencies and build output
    /// are not looked into.
    fn credentials_below(&self, folder: &Path) -> Option<PathBuf> {
        const SKIPPED: [&str; 7] = [
            ".git",
            "node_modules",
            "target",
            ".venv",
            "venv",
            "vendor",
            "dist",
        ];
        const MAX_ENTRIES: usize = 5000;
        let mut folders = vec![folder.to_path_buf()];
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                seen += 1;
                if seen > MAX_ENTRIES {
                    return None;
                }
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_folder && !SKIPPED.iter().any(|skipped| entry.file_name() == *skipped) {
                    folders.push(entry.path());
                } else if !is_folder && self.holds_credentials(&entry.path()) {
                    return Some(entry.path());
                }
            }
        }
        None
    }
}

/// Programs among the read-only ones that show what is in files, not only facts about them.
pub(super) fn shows_content(name: &str) -> bool {
    const FACTS: [&str; 16] = [
        "ls",
        "dir",
        "wc",
        "stat",
        "du",
        "df",
        "file",
        "readlink",
        "realpath",
        "md5sum",
        "sha1sum",
        "sha256sum",
        "sha512sum",
        "b2sum",
        "cksum",
        "size",
    ];
    rule(name).is_some_and(|rule| rule != Rule::Words) && !FACTS.contains(&name)
}

/// Whether an argument is one of some options. A long one may be abbreviated and carry a value.
pub(super) fn is_one_of(text: &str, options: &[&str]) -> bool {
    if let Some(long) = text.strip_prefix("--") {
        let name = long.split('=').next().unwrap_or_default();
        return !name.is_empty()
            && options
                .iter()
                .filter_map(|option| option.strip_prefix("--"))
                .any(|option| option.starts_with(name));
    }
    let Some(letters) = text.strip_prefix('-') else {
        return false;
    };
    options.iter().any(|option| {
        option.strip_prefix('-').is_some_and(|name| {
            !name.starts_with('-') && (name == letters || (name.len() == 1 && letters.contains(name)))
        })
    })
}

/// How many of the first words are no paths: the pattern, unless `-e` or `-f` gave it.
fn pattern_words(args: &[Arg]) -> usize {
    let given = args.iter().any(|arg| {
        arg.as_str().is_some_and(|text| {
            let bundle = text.starts_with('-') && !text.starts_with("--") && text.contains(['e', 'f']);
            bundle
                || text.starts_with("--regexp")
                || text.starts_with("--file")
                || text.starts_with("--files")
        })
    });
    usize::from(!given)
}

fn searches_hidden_files(name: &str, args: &[Arg]) -> bool {
    let has = |options: &[&str]| {
        args.iter()
            .filter_map(Arg::as_str)
            .any(|text| is_one_of(text, options))
    };
    match name {
        "grep" | "egrep" | "fgrep" => {
            let excluded = args.iter().filter_map(Arg::as_str).any(|text| {
                text.strip_prefix("--exclude=")
                    .is_some_and(|pattern| matches(pattern, ".env"))
                    || text
                        .strip_prefix("--include=")
                        .is_some_and(|pattern| !matches(pattern, ".env"))
            });
            has(&["-r", "-R", "--recursive", "--dereference-recursive"]) && !excluded
        }
        "rg" => has(&["-u", "--hidden", "--unrestricted", "-."]),
        _ => false,
    }
}
