//! Judges one simple command: a program's name with its arguments.

use std::path::PathBuf;

use super::options::{is_one_of, rule};
use super::paths::{Access, real};
use super::syntax::{Flow, Judge, Places};
use super::words::{Arg, Value};
use super::{CommandClass, checks, tables};

impl Judge<'_> {
    /// `words` is the name and the arguments, as far as they are known.
    pub(super) fn simple(&mut self, words: &[Arg], places: &Places) -> Flow {
        let stay = Flow::stay(places);
        let Some((first, args)) = words.split_first() else {
            return stay;
        };
        let name = match first.as_str() {
            Some(name) if !name.is_empty() && !first.glob => name.to_owned(),
            _ => {
                self.ask("which program it runs is only known when it runs");
                return stay;
            }
        };
        if self.functions.contains(&name) {
            // Its body was judged where it was defined.
            return Flow {
                success: Places {
                    unknown: true,
                    ..places.clone()
                },
                any: Places {
                    unknown: true,
                    ..places.clone()
                },
            };
        }
        let name = program(&name);
        let outer = self.part.replace(self.parts.len());
        self.parts.push(known_words(&name, args, places));
        let flow = self.known_program(&name, args, places);
        self.part = outer;
        flow
    }

    fn known_program(&mut self, name: &str, args: &[Arg], places: &Places) -> Flow {
        let stay = Flow::stay(places);
        if let Some(flow) = self.builtin(name, args, places) {
            return flow;
        }
        if self.wrapper(name, args, places) {
            return stay;
        }
        let before = self.findings.len();
        self.never(name, args, places);
        if self.findings.len() == before {
            self.program(name, args, places);
        }
        stay
    }

    /// What changes the shell itself.
    fn builtin(&mut self, name: &str, args: &[Arg], places: &Places) -> Option<Flow> {
        match name {
            "cd" => return Some(self.change_folder(args, places)),
            "pushd" | "popd" => {
                self.ask(format!(
                    "`{name}` changes the folder in a way that is not followed"
                ));
                return Some(Flow::stay(&Places {
                    unknown: true,
                    ..places.clone()
                }));
            }
            "read" | "mapfile" | "readarray" | "getopts" | "let" => {
                for arg in args.iter().filter(|arg| !arg.is_option()) {
                    let Some(text) = arg.as_str() else {
                        self.ask("which variable it sets is only known when it runs");
                        continue;
                    };
                    let variable: String = text
                        .chars()
                        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                        .collect();
                    if tables::steers_programs(&variable) {
                        self.ask(format!("setting `{variable}` changes which programs run"));
                    }
                    self.set_variable(&variable, Value::Unknown);
                }
                // `-C` runs a callback; an array index may substitute a command.
                if args
                    .iter()
                    .filter_map(Arg::as_str)
                    .any(|text| is_one_of(text, &["-C"]) || text.contains('['))
                {
                    self.ask(format!("`{name}` may run commands"));
                }
                self.allow(CommandClass::ReadOnly, "read-only");
            }
            "set" => {
                if args.is_empty() {
                    self.ask("it prints all variables");
                }
                for arg in args {
                    if arg
                        .as_str()
                        .is_none_or(|text| !text.starts_with(['-', '+']) && !text.ends_with("pipefail"))
                    {
                        // Positional parameters are treated as unknown anyway.
                        break;
                    }
                }
                self.allow(CommandClass::ReadOnly, "read-only");
            }
            "shopt" | "umask" | "ulimit" | "hash" | "times" | "unalias" => {
                self.allow(CommandClass::ReadOnly, "read-only");
            }
            "alias" | "enable" | "bind" | "complete" | "fc" | "history" | "disown" | "suspend" | "caller" => {
                self.ask(format!("`{name}` changes or shows the shell's own state"));
            }
            "source" | "." => {
                if let Some(file) = args.first() {
                    self.path(file, places, Access::Read);
                }
                self.ask(format!("`{name}` runs a script"));
                return Some(Flow::stay(&Places {
                    unknown: true,
                    ..places.clone()
                }));
            }
            _ => return None,
        }
        Some(Flow::stay(places))
    }

    fn change_folder(&mut self, args: &[Arg], places: &Places) -> Flow {
        let unknown = Places {
            unknown: true,
            ..Places::default()
        };
        let words: Vec<&Arg> = args
            .iter()
            .filter(|arg| !matches!(arg.as_str(), Some("-L" | "-P" | "-e" | "-@" | "--")))
            .collect();
        let text = match words.as_slice() {
            [] => self
                .context
                .home
                .as_ref()
                .map(|home| home.to_string_lossy().into_owned()),
            // An unset variable leaves `cd` alone.
            [word] if word.is("") && !word.unset.is_empty() => self
                .context
                .home
                .as_ref()
                .map(|home| home.to_string_lossy().into_owned()),
            [word] => word
                .as_str()
                .filter(|text| *text != "-" && !word.glob)
                .map(str::to_owned),
            _ => None,
        };
        let Some(text) = text else {
            self.ask("the folder it goes to is only known when it runs");
            return Flow {
                success: unknown.clone(),
                any: unknown,
            };
        };
        let mut success = Places {
            unknown: places.unknown && !text.starts_with('/'),
            ..Places::default()
        };
        for place in &places.known {
            let folder = real(&place.join(&text));
            if !self.is_inside(&folder) {
                self.ask(format!("it goes outside the workspace: {}", folder.display()));
            }
            success.known.insert(folder);
        }
        self.allow(CommandClass::ReadOnly, "read-only");
        let mut any = places.clone();
        any.known.extend(success.known.iter().cloned());
        any.unknown |= success.unknown;
        Flow {
            success: success.bounded(),
            any: any.bounded(),
        }
    }

    /// What is blocked for its name, or its first words.
    fn never(&mut self, name: &str, args: &[Arg], places: &Places) {
        if let Some((_, what)) = tables::BLOCKED.iter().find(|(blocked, _)| *blocked == name) {
            self.block(format!("`{name}` {what}"));
        }
        if name.starts_with("mkfs") || name.starts_with("newfs") {
            self.block(format!("`{name}` formats a disk"));
        }
        let words: Vec<&str> = args
            .iter()
            .filter(|arg| !arg.is_option())
            .filter_map(Arg::as_str)
            .collect();
        for (program, wanted, what) in tables::BLOCKED_WORDS {
            if *program == name && starts_with_words(&words, wanted) {
                self.block(format!(
                    "`{name} {}` {what}",
                    words
                        .iter()
                        .take(wanted.len())
                        .copied()
                        .collect::<Vec<_>>()
                        .join(" ")
                ));
            }
        }
        let options = || args.iter().filter_map(Arg::as_str);
        match name {
            "crontab" if args.is_empty() || !options().all(|text| text == "-l") => {
                self.block("`crontab` installs a job that runs later");
            }
            "gpg" | "gpg2" if options().any(|text| text.contains("export-secret")) => {
                self.block("it shows private keys");
            }
            "chmod" if words.first().is_some_and(|mode| sets_other_rights(mode)) => {
                self.block("it lets a program run with another user's rights");
            }
            "dd" => {
                for text in options() {
                    if let Some(target) = text.strip_prefix("of=") {
                        self.path(&Arg::literal(target), places, Access::Write);
                    } else if let Some(source) = text.strip_prefix("if=") {
                        self.path(&Arg::literal(source), places, Access::Read);
                    }
                }
                self.ask("`dd` writes data to a file");
            }
            "kill" if words.contains(&"-1") || options().any(|text| text == "-1") && words.is_empty() => {
                self.block("it ends every program of this user");
            }
            "printenv" => self.show_variables(&words, args.iter().any(|arg| arg.text.is_none())),
            _ => {}
        }
    }

    fn show_variables(&mut self, words: &[&str], unknown: bool) {
        let secret = words.iter().find(|word| crate::environment::names_secret(word));
        match secret {
            Some(secret) => self.block(format!(
                "it shows the variable {secret}, which may hold a credential"
            )),
            None if words.is_empty() || unknown => self.ask("it prints all variables"),
            None => self.allow(CommandClass::ReadOnly, "read-only"),
        }
    }

    /// A program that is not blocked by name.
    fn program(&mut self, name: &str, args: &[Arg], places: &Places) {
        match name {
            "rm" | "rmdir" | "unlink" | "shred" | "trash" | "srm" | "wipe" => {
                return self.delete(name, args, places);
            }
            "find" => return self.find_files(args, places),
            "git" => return self.git(args, places),
            "sed" | "gsed" => return self.sed(args, places),
            "awk" | "gawk" | "mawk" | "nawk" => return self.awk(args, places),
            "jq" => return self.jq(args, places),
            "tar" | "bsdtar" => return self.tar(args, places),
            "ps" => return self.processes(args),
            "hostname" if args.is_empty() => return self.allow(CommandClass::ReadOnly, "read-only"),
            _ => {}
        }
        if asks_version(name, args) {
            return self.allow(CommandClass::ReadOnly, "read-only");
        }
        if let Some(rule) = rule(name) {
            return self.read_only(name, args, places, rule);
        }
        let first = args.first().and_then(Arg::as_str).unwrap_or_default();
        let reads =
            |(program, words): &(&str, &str)| *program == name && words.split('|').any(|word| word == first);
        if tables::READING_WORDS.iter().any(reads) {
            return self.read_only(name, args, places, tables::Rule::Paths);
        }
        if checks::is_check(self, name, args, places) {
            let before = self.findings.len();
            self.paths(name, args, places, 0);
            if self.findings.len() == before {
                self.allow(CommandClass::ProjectCheck, "build or test of this project");
            }
            return;
        }
        let words: Vec<&str> = args
            .iter()
            .filter(|arg| !arg.is_option())
            .filter_map(Arg::as_str)
            .collect();
        // What it is asked for may be worth a block, whatever else is asked about.
        let copies = matches!(name, "cp" | "ln" | "install");
        let target = args.iter().rposition(|arg| !arg.is_option());
        for (index, arg) in args.iter().enumerate().filter(|(_, arg)| arg.text.is_some()) {
            let writes = tables::WRITERS.contains(&name) && (!copies || Some(index) == target);
            let access = if writes { Access::Write } else { Access::Read };
            match arg.as_str() {
                Some(text) if arg.is_option() => self.option_value(arg, text, places),
                Some(text) if is_url(text) => {}
                // Readers among them show what they are given; others are asked about.
                _ => {
                    self.path(arg, places, access);
                }
            }
        }
        let installs = tables::PACKAGE_COMMANDS.iter().any(|(program, first)| {
            *program == name
                && (first.is_empty()
                    || first
                        .split('|')
                        .any(|word| words.first().copied().unwrap_or_default() == word))
        });
        let publishes = words
            .first()
            .is_some_and(|word| ["publish", "login", "logout", "whoami", "owner", "yank"].contains(word))
            && ["npm", "pnpm", "yarn", "bun", "cargo", "gem", "poetry", "uv"].contains(&name);
        if publishes {
            self.ask(format!(
                "`{name} {}` uses the network",
                words.first().copied().unwrap_or_default()
            ));
        } else if installs {
            self.ask(format!("`{name}` installs or changes packages"));
        } else if tables::NETWORK.contains(&name) {
            self.ask(format!("`{name}` uses the network"));
        } else if tables::WRITERS.contains(&name) {
            self.ask(format!("`{name}` changes files"));
        } else if tables::SHELLS.contains(&name) {
            self.ask(format!("`{name}` runs a script"));
        } else if tables::INTERPRETERS.contains(&name) || name.contains('/') {
            self.ask(format!("`{name}` runs code"));
        } else if ["kill", "pkill", "killall"].contains(&name) {
            self.ask(format!("`{name}` ends other programs"));
        } else {
            self.ask(format!("`{name}` is not known to be read-only"));
        }
    }

    fn processes(&mut self, args: &[Arg]) {
        // In the old syntax, without a dash, `e` shows every program's variables.
        let shows_variables = args.iter().any(|arg| {
            arg.as_str()
                .is_none_or(|text| !text.starts_with('-') && text.contains('e'))
        });
        if shows_variables {
            self.ask("it may show other programs' variables");
        } else {
            self.allow(CommandClass::ReadOnly, "read-only");
        }
    }
}

/// A command's words, if they are known and so is the one folder it runs in: the same words elsewhere do another thing.
fn known_words(name: &str, args: &[Arg], places: &Places) -> Option<Vec<String>> {
    if places.unknown || places.known.len() != 1 {
        return None;
    }
    let mut words = vec![name.to_owned()];
    for arg in args {
        if arg.glob || !arg.unset.is_empty() || !arg.secrets.is_empty() {
            return None;
        }
        words.push(arg.text.clone()?);
    }
    Some(words)
}

/// The table's name of a program: known folders before it are dropped, others are kept.
fn program(name: &str) -> String {
    const FOLDERS: [&str; 6] = [
        "/bin/",
        "/usr/bin/",
        "/usr/local/bin/",
        "/sbin/",
        "/usr/sbin/",
        "/usr/local/sbin/",
    ];
    FOLDERS
        .iter()
        .find_map(|folder| name.strip_prefix(folder))
        .filter(|rest| !rest.contains('/'))
        .unwrap_or(name)
        .to_owned()
}

/// Whether the first words are the wanted ones; `|` separates alternatives.
pub(super) fn starts_with_words(words: &[&str], wanted: &[&str]) -> bool {
    wanted.iter().enumerate().all(|(index, alternatives)| {
        words
            .get(index)
            .is_some_and(|word| alternatives.split('|').any(|alternative| alternative == *word))
    })
}

fn asks_version(name: &str, args: &[Arg]) -> bool {
    let [only] = args else { return false };
    let short = (only.is("-V") && matches!(name, "python" | "python3" | "cargo" | "rustc" | "pip" | "pip3"))
        || (only.is("-v") && matches!(name, "node" | "npm" | "npx" | "pnpm" | "yarn" | "bun"))
        || (only.is("-version") && matches!(name, "java" | "javac"));
    let version = short
        || only.is("--version")
        || (only.is("version") && matches!(name, "go" | "docker" | "kubectl" | "deno"));
    version && tables::TELL_VERSION.contains(&name)
}

/// `u+s`, `4755`: the set-user-id and set-group-id bits.
fn sets_other_rights(mode: &str) -> bool {
    let octal = mode.len() >= 4 && mode.chars().all(|c| c.is_digit(8));
    if octal {
        let special = mode
            .chars()
            .rev()
            .nth(3)
            .and_then(|digit| digit.to_digit(8))
            .unwrap_or(0);
        return special & 0o6 != 0;
    }
    mode.split(',').any(|clause| {
        clause
            .split_once(['+', '='])
            .is_some_and(|(_, rights)| rights.contains('s'))
    })
}

pub(super) fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        scheme != "file"
            && !scheme.is_empty()
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || c == '+')
    })
}

/// The folders of a set of places, for messages and joins.
pub(super) fn folders(places: &Places) -> Vec<PathBuf> {
    places.known.iter().cloned().collect()
}
