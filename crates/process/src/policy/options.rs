//! Judges programs that only read, by the table's rules for their arguments.

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
            self.hidden_credentials(args, places);
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

    /// A search through hidden files prints what it finds in `.env` as well.
    fn hidden_credentials(&mut self, args: &[Arg], places: &Places) {
        let roots: Vec<&str> = args
            .iter()
            .filter(|arg| !arg.is_option())
            .skip(pattern_words(args))
            .filter_map(Arg::as_str)
            .collect();
        let roots = if roots.is_empty() { vec!["."] } else { roots };
        for place in &places.known.clone() {
            for root in &roots {
                let Ok(entries) = std::fs::read_dir(place.join(root)) else {
                    continue;
                };
                let secret = entries
                    .flatten()
                    .map(|entry| entry.path())
                    .find(|path| self.holds_credentials(path));
                if let Some(path) = secret {
                    self.ask(format!(
                        "it also searches {}, which may hold credentials",
                        path.display()
                    ));
                    return;
                }
            }
        }
    }
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
