//! Git: reading it is free, as long as no option makes it run or write something.

use super::CommandClass;
use super::paths::{Access, real};
use super::syntax::{Judge, Places};
use super::tables::{GIT_ASKS, GIT_OPTIONS, GIT_READS};
use super::words::Arg;

impl Judge<'_> {
    pub(super) fn git(&mut self, args: &[Arg], places: &Places) {
        let mut places = places.clone();
        let mut rest = args;
        loop {
            let Some((first, after)) = rest.split_first() else {
                return self.allow(CommandClass::ReadOnly, "read-only");
            };
            match first.as_str() {
                None => return self.ask("what git is to do is only known when it runs"),
                Some(
                    "--no-pager"
                    | "-P"
                    | "--no-optional-locks"
                    | "--literal-pathspecs"
                    | "--no-replace-objects",
                ) => {
                    rest = after;
                }
                Some("--version" | "--help" | "-v" | "-h") => {
                    return self.allow(CommandClass::ReadOnly, "read-only");
                }
                Some("-C") => {
                    let Some((folder, after)) = after.split_first() else {
                        return self.ask("git is called in a way that cannot be judged");
                    };
                    self.path(folder, &places, Access::Read);
                    let Some(text) = folder.as_str() else { return };
                    places.known = places.known.iter().map(|place| real(&place.join(text))).collect();
                    rest = after;
                }
                Some("-c" | "--config-env") => {
                    self.ask("`git -c` can make git run other programs");
                    rest = after.get(1..).unwrap_or_default();
                }
                Some(option) if option.starts_with('-') => {
                    self.ask(format!(
                        "`git {option}` can make git run other programs or use another repository"
                    ));
                    rest = after;
                }
                Some(command) => {
                    let command = command.to_owned();
                    return self.git_command(&command, after, &places);
                }
            }
        }
    }

    fn git_command(&mut self, command: &str, args: &[Arg], places: &Places) {
        let before = self.findings.len();
        let texts: Vec<&str> = args.iter().filter_map(Arg::as_str).collect();
        let words: Vec<&str> = texts
            .iter()
            .copied()
            .filter(|text| !text.starts_with('-'))
            .collect();
        let reads = match command {
            // These list when they are given nothing to change.
            "branch" => {
                (words.is_empty() || texts.iter().any(|text| lists_branches(text)))
                    && only_options(&texts, &["-a", "-r", "-v", "-vv", "-l", "-i", "-q"])
            }
            "tag" => {
                (words.is_empty() && only_options(&texts, &["-n"]))
                    || matches!(texts.as_slice(), ["-l" | "--list", pattern] if !pattern.starts_with('-'))
            }
            "remote" => matches!(texts.as_slice(), [] | ["-v" | "--verbose"] | ["get-url", _]),
            "stash" | "worktree" | "notes" => {
                words.first() == Some(&"list") || (command != "worktree" && words.first() == Some(&"show"))
            }
            "reflog" => words
                .first()
                .is_none_or(|word| *word == "show" || !["expire", "delete", "drop", "write"].contains(word)),
            "submodule" => words.first() == Some(&"status"),
            "bisect" => matches!(words.as_slice(), ["log"]),
            "symbolic-ref" => words.len() == 1 && only_options(&texts, &["-q"]),
            "config" => reads_setting(&texts),
            other => GIT_READS.contains(&other),
        };
        if !reads {
            self.changes_repository = true;
            let what = GIT_ASKS
                .iter()
                .find(|(name, _)| *name == command)
                .map(|(_, what)| *what);
            match what {
                Some(what) => self.ask(format!("`git {command}` {what}")),
                None => self.ask(format!("`git {command}` is not known to be read-only")),
            }
        }
        if reads {
            let programs: Vec<String> = (places.known.iter())
                .filter_map(|folder| super::repository::runs(command, folder))
                .collect();
            for what in programs {
                self.ask(format!(
                    "`git {command}` would run a program of this repository: {what}"
                ));
            }
            for text in &texts {
                if *text == "--" {
                    break;
                }
                self.git_option(command, text);
            }
            if args.iter().any(|arg| arg.text.is_none()) {
                self.ask("what git is to do is only known when it runs");
            }
            if args
                .iter()
                .take_while(|arg| !arg.is("--"))
                .any(|arg| arg.glob && arg.as_str().is_some_and(|text| text.starts_with(['*', '?', '['])))
            {
                self.ask("git may take a file's name for an option");
            }
        }
        self.git_paths(args, places);
        if self.findings.len() == before {
            self.allow(CommandClass::ReadOnly, "read-only");
        }
    }

    fn git_option(&mut self, command: &str, text: &str) {
        if let Some(long) = text.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or_default();
            let setting = command == "config" && name == "get";
            let lists = matches!(name, "list" | "no-contains" | "contains");
            if !GIT_OPTIONS.contains(&name) && !setting && !lists {
                self.ask(format!("`git {command} {text}` is not known to be read-only"));
            }
        } else if text.starts_with('-') && text.contains('O') && command == "grep" {
            self.ask("`git grep -O` runs another program");
        }
    }

    /// Revisions look like paths that do not exist, so all words can be judged as paths; what follows a colon is
    /// a path within a revision.
    fn git_paths(&mut self, args: &[Arg], places: &Places) {
        for arg in args {
            let Some(text) = arg.as_str() else { continue };
            if arg.is_option() {
                self.option_value(arg, text, places);
            } else if !super::commands::is_url(text) {
                let of_revision = text
                    .rsplit_once(':')
                    .map(|(_, path)| path)
                    .filter(|path| !path.is_empty());
                let path = of_revision.unwrap_or(text);
                // `main..topic` and `HEAD~2..` are ranges, not parents.
                if path.contains("..") && !path.split('/').any(|part| part == "..") {
                    continue;
                }
                self.path(
                    &Arg {
                        text: Some(path.to_owned()),
                        ..arg.clone()
                    },
                    places,
                    Access::Read,
                );
            }
        }
    }
}

fn only_options(texts: &[&str], short: &[&str]) -> bool {
    texts.iter().filter(|text| text.starts_with('-')).all(|text| {
        short.contains(text)
            || text.strip_prefix("--").is_some_and(|long| {
                let name = long.split('=').next().unwrap_or_default();
                GIT_OPTIONS.contains(&name) || name == "list"
            })
    })
}

/// Options with which `git branch PATTERN` lists, and makes no branch.
fn lists_branches(text: &str) -> bool {
    let name = text.split('=').next().unwrap_or_default();
    matches!(
        name,
        "-l" | "--list" | "--contains" | "--no-contains" | "--merged" | "--no-merged" | "--points-at"
    )
}

/// `git config --get user.name`: one setting, and none that may hold a credential.
fn reads_setting(texts: &[&str]) -> bool {
    let harmless = |key: &str| {
        let key = key.to_ascii_lowercase();
        [
            "user.", "core.", "branch.", "init.", "push.", "pull.", "merge.", "diff.",
        ]
        .iter()
        .any(|section| key.starts_with(section))
    };
    matches!(texts, ["--get" | "get", key] if harmless(key))
}
