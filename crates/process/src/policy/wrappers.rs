//! Programs that run what they are given: judged by what that is.

use super::CommandClass;
use super::options::is_one_of;
use super::paths::{Access, real};
use super::syntax::{Judge, Places};
use super::tables;
use super::words::Arg;

impl Judge<'_> {
    /// Judges `name` as a wrapper. Returns false when it is none.
    pub(super) fn wrapper(&mut self, name: &str, args: &[Arg], places: &Places) -> bool {
        match name {
            "command" | "builtin" => {
                if args.first().is_some_and(|arg| arg.is("-v") || arg.is("-V")) {
                    self.allow(CommandClass::ReadOnly, "read-only");
                } else {
                    self.rest(skip_options(args, &[]), places);
                }
            }
            "exec" => self.rest(skip_options(args, &["-a"]), places),
            "time" => {
                let rest = skip_options(args, &["-o", "--output", "-f", "--format"]);
                let own = args.get(..args.len() - rest.len()).unwrap_or_default();
                if own
                    .iter()
                    .filter_map(Arg::as_str)
                    .any(|text| is_one_of(text, &["-o", "--output"]))
                {
                    self.ask("`time -o` writes to a file");
                }
                self.rest(rest, places);
            }
            "nohup" | "setsid" | "coproc" | "!" => self.rest(skip_options(args, &[]), places),
            "nice" => self.rest(skip_options(args, &["-n", "--adjustment"]), places),
            "ionice" => self.rest(skip_options(args, &["-c", "-n", "-p"]), places),
            "stdbuf" => self.rest(skip_options(args, &["-i", "-o", "-e"]), places),
            "timeout" => {
                let rest = skip_options(args, &["-k", "-s", "--kill-after", "--signal"]);
                self.rest(rest.get(1..).unwrap_or_default(), places);
            }
            "env" => self.env(args, places),
            "xargs" => self.xargs(args, places),
            "watch" | "strace" | "ltrace" | "script" | "flock" | "parallel" | "entr" | "unshare"
            | "chroot" | "ssh-agent" | "dbus-run-session" | "xvfb-run" => {
                self.ask(format!("`{name}` runs another program"));
                // Judged too: it may be one that is never run.
                let start = args.iter().position(|arg| !arg.is_option()).unwrap_or(args.len());
                self.rest(args.get(start..).unwrap_or_default(), places);
            }
            "eval" => {
                let words: Option<Vec<&str>> = args.iter().map(Arg::as_str).collect();
                match words {
                    Some(words) => {
                        self.script(&words.join(" "), places);
                        self.ask("`eval` runs text as a command");
                    }
                    None => self.ask("`eval` runs text that is only known when it runs"),
                }
            }
            "trap" => match args.first().map(|arg| (arg.as_str(), arg.is_option())) {
                Some((Some(text), false)) => {
                    let text = text.to_owned();
                    self.script(&text, places);
                    self.allow(CommandClass::ReadOnly, "read-only");
                }
                None | Some((Some("-" | "-l" | "-p"), _)) => self.allow(CommandClass::ReadOnly, "read-only"),
                Some(_) => self.ask("`trap` runs text that is only known when it runs"),
            },
            shell if tables::SHELLS.contains(&shell) => self.shell(shell, args, places),
            _ => return false,
        }
        true
    }

    /// What is left of a wrapper's arguments is a command of its own.
    fn rest(&mut self, words: &[Arg], places: &Places) {
        if words.is_empty() {
            self.allow(CommandClass::ReadOnly, "read-only");
        } else {
            self.simple(words, places);
        }
    }

    fn env(&mut self, args: &[Arg], places: &Places) {
        let mut rest = args;
        while let Some((first, after)) = rest.split_first() {
            match first.as_str() {
                None => return self.ask("which program it runs is only known when it runs"),
                Some("-i" | "-" | "--ignore-environment" | "-0" | "--null") => rest = after,
                Some("-u" | "--unset") => rest = after.get(1..).unwrap_or_default(),
                Some(text) if text.starts_with('-') => {
                    return self.ask(format!("`env {text}` is not followed"));
                }
                Some(text) => match text.split_once('=') {
                    Some((name, _)) => {
                        if tables::steers_programs(name) {
                            self.ask(format!("`{name}=` changes which programs run"));
                        }
                        rest = after;
                    }
                    None => {
                        self.simple(rest, places);
                        return;
                    }
                },
            }
        }
        self.ask("it prints all variables");
    }

    fn xargs(&mut self, args: &[Arg], places: &Places) {
        const WITH_VALUE: [&str; 12] = [
            "-n",
            "-P",
            "-L",
            "-I",
            "-d",
            "-E",
            "-s",
            "--max-args",
            "--max-procs",
            "--max-lines",
            "--replace",
            "--delimiter",
        ];
        for arg in args.iter().take_while(|arg| arg.is_option()) {
            if let Some(text) = arg.as_str()
                && is_one_of(text, &["-a", "--arg-file"])
            {
                self.ask("`xargs -a` reads its words from a file");
            }
        }
        let rest = skip_options(args, &WITH_VALUE);
        if rest.is_empty() {
            return self.allow(CommandClass::ReadOnly, "read-only");
        }
        let name = rest.first().and_then(Arg::as_str).unwrap_or_default();
        let options = args.get(..args.len() - rest.len()).unwrap_or_default();
        let placeholder = placeholder(options);
        let mut words: Vec<Arg> = rest
            .iter()
            .map(|arg| match (arg.as_str(), &placeholder) {
                (Some(text), Some(placeholder)) if text.contains(placeholder.as_str()) => Arg::default(),
                _ => arg.clone(),
            })
            .collect();
        // The words that it adds are not known. For a program without a harmful option they are file names that
        // the reader before it found; the first of them may still lead outside.
        let harmless = matches!(
            super::options::rule(name),
            Some(super::tables::Rule::Paths | super::tables::Rule::Pattern | super::tables::Rule::Words)
        );
        if !harmless {
            words.push(Arg::default());
        } else if super::options::shows_content(name) {
            self.hidden_credentials(&[Arg::literal(".")], places);
        }
        self.simple(&words, places);
    }

    fn shell(&mut self, name: &str, args: &[Arg], places: &Places) {
        let mut rest = args;
        while let Some((first, after)) = rest.split_first() {
            match first.as_str() {
                None => return self.ask(format!("what `{name}` runs is only known when it runs")),
                Some("-o" | "+o" | "-O" | "+O") => rest = after.get(1..).unwrap_or_default(),
                Some(text) if text.starts_with('-') && !text.starts_with("--") && text.contains('c') => {
                    return match after.iter().find(|arg| !arg.is_option()).map(Arg::as_str) {
                        Some(Some(script)) => {
                            if text.contains(['i', 'l']) {
                                self.ask(format!("`{name} {text}` runs start-up files"));
                            }
                            let script = script.to_owned();
                            self.isolated(|judge| {
                                // Not exported, so not seen there; what follows are its arguments.
                                judge.script(&script, places);
                            });
                        }
                        _ => self.ask(format!("what `{name}` runs is only known when it runs")),
                    };
                }
                Some("--version" | "--help") => return self.allow(CommandClass::ReadOnly, "read-only"),
                Some("-n") => {
                    // Only checks the script's syntax.
                    self.paths(name, after, places, 0);
                    return self.allow(CommandClass::ReadOnly, "read-only");
                }
                Some(text) if text.starts_with('-') => rest = after,
                Some(_) => {
                    self.path(first, places, Access::Read);
                    return self.ask(format!("`{name}` runs a script"));
                }
            }
        }
        self.ask(format!("`{name}` runs what it is given as input"));
    }

    /// `find`: its tests are free, its actions are judged by what they do.
    pub(super) fn find_files(&mut self, args: &[Arg], places: &Places) {
        const TESTS: &[&str] = &[
            "-name",
            "-iname",
            "-path",
            "-ipath",
            "-wholename",
            "-iwholename",
            "-regex",
            "-iregex",
            "-type",
            "-xtype",
            "-size",
            "-empty",
            "-newer",
            "-anewer",
            "-cnewer",
            "-newermt",
            "-mtime",
            "-mmin",
            "-atime",
            "-amin",
            "-ctime",
            "-cmin",
            "-maxdepth",
            "-mindepth",
            "-depth",
            "-d",
            "-perm",
            "-user",
            "-group",
            "-uid",
            "-gid",
            "-nouser",
            "-nogroup",
            "-links",
            "-inum",
            "-samefile",
            "-readable",
            "-writable",
            "-executable",
            "-not",
            "-a",
            "-and",
            "-o",
            "-or",
            "-print",
            "-print0",
            "-printf",
            "-ls",
            "-prune",
            "-quit",
            "-true",
            "-false",
            "-follow",
            "-mount",
            "-xdev",
            "-daystart",
            "-regextype",
            "-noleaf",
            "-lname",
            "-ilname",
            "-L",
            "-H",
            "-P",
            "-E",
            "-O0",
            "-O1",
            "-O2",
            "-O3",
            "-used",
            "-fstype",
            "-noignore_readdir_race",
        ];
        let before = self.findings.len();
        let is_expression = |arg: &Arg| {
            arg.as_str()
                .is_some_and(|text| text.starts_with(['-', '(', '!', ')']))
        };
        let options = args
            .iter()
            .take_while(|arg| matches!(arg.as_str(), Some("-L" | "-H" | "-P")))
            .count();
        let after = args.get(options..).unwrap_or_default();
        let starts: Vec<Arg> = after
            .iter()
            .take_while(|arg| !is_expression(arg))
            .cloned()
            .collect();
        for start in &starts {
            if start.glob
                && start
                    .as_str()
                    .is_some_and(|text| text.starts_with(['*', '?', '[']))
            {
                self.ask("`find` may take a file's name for an option");
            }
            self.path(start, places, Access::Read);
        }
        let mut index = starts.len();
        while let Some(arg) = after.get(index) {
            index += 1;
            match arg.as_str() {
                None => self.ask("`find` depends on a value that is only known when it runs"),
                Some("-delete") => {
                    self.found_deleted(&starts, places);
                    self.ask("`find -delete` deletes files");
                }
                Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                    let rest = after.get(index..).unwrap_or_default();
                    let length = rest
                        .iter()
                        .position(|arg| arg.is(";") || arg.is("+"))
                        .unwrap_or(rest.len());
                    let command: Vec<Arg> = rest.get(..length).unwrap_or_default().to_vec();
                    index += length + 1;
                    self.found_run(&command, &starts, places, excludes_credentials(after));
                }
                Some(text @ ("-fprint" | "-fprint0" | "-fprintf" | "-fls")) => {
                    self.ask(format!("`find {text}` writes to a file"));
                    index += 1;
                }
                Some("-samefile" | "-newer" | "-anewer" | "-cnewer") => {
                    if let Some(file) = after.get(index) {
                        self.path(file, places, Access::Read);
                    }
                    index += 1;
                }
                Some("(" | ")" | "!" | ",") => {}
                Some(text) if text.starts_with('-') && !TESTS.contains(&text) => {
                    let number = text.get(1..).is_some_and(|rest| {
                        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_alphanumeric())
                    });
                    let value_of_size = number
                        && text
                            .get(1..2)
                            .is_some_and(|c| c.chars().all(|c| c.is_ascii_digit()));
                    if !value_of_size {
                        self.ask(format!("`find {text}` is not known to be read-only"));
                    }
                }
                Some(_) => {}
            }
        }
        if self.findings.len() == before {
            self.allow(CommandClass::ReadOnly, "read-only");
        }
    }

    /// `{}` stands for anything below the starting points.
    fn found_run(&mut self, command: &[Arg], starts: &[Arg], places: &Places, filtered: bool) {
        let deletes = command
            .first()
            .and_then(Arg::as_str)
            .is_some_and(|name| name.ends_with("rm") || name == "shred");
        if deletes {
            self.found_deleted(starts, places);
            self.ask("`find -exec rm` deletes files");
            return;
        }
        let reads = command
            .first()
            .and_then(Arg::as_str)
            .and_then(super::options::rule)
            .is_some();
        let words: Vec<Arg> = command
            .iter()
            .map(|arg| match arg.as_str() {
                Some(text) if text.contains("{}") && !reads => Arg::default(),
                Some(text) if text.contains("{}") => Arg::literal("./found"),
                _ => arg.clone(),
            })
            .collect();
        if words.is_empty() {
            self.ask("`find -exec` runs a program that could not be told");
        } else {
            let name = words.first().and_then(Arg::as_str).unwrap_or_default();
            if super::options::shows_content(name) && !filtered {
                let here = [Arg::literal(".")];
                self.hidden_credentials(if starts.is_empty() { &here } else { starts }, places);
            }
            self.simple(&words, places);
        }
    }

    fn found_deleted(&mut self, starts: &[Arg], places: &Places) {
        let root = &self.context.workspace_root;
        // Below the workspace's root is inside it.
        let at_root = starts.iter().all(|start| {
            start
                .as_str()
                .is_some_and(|text| places.known.iter().all(|place| real(&place.join(text)) == *root))
        });
        if at_root && !places.unknown {
            return;
        }
        for start in starts {
            self.delete_target(start, true, places);
        }
    }
}

/// Whether a `find` only finds names that `.env` is not among.
fn excludes_credentials(args: &[Arg]) -> bool {
    args.windows(2).any(|pair| match pair {
        [test, pattern] if test.is("-name") || test.is("-iname") => pattern.as_str().is_some_and(|pattern| {
            !super::paths::matches(pattern, ".env") && !super::paths::is_secret_name(pattern)
        }),
        _ => false,
    }) && !args
        .iter()
        .any(|arg| arg.is("-o") || arg.is("-or") || arg.is("!") || arg.is("-not"))
}

/// What `xargs -I` replaces in the words of its command.
fn placeholder(options: &[Arg]) -> Option<String> {
    let texts: Vec<&str> = options.iter().filter_map(Arg::as_str).collect();
    texts.iter().enumerate().find_map(|(index, text)| {
        if *text == "-I" {
            return texts.get(index + 1).map(|next| (*next).to_owned());
        }
        let rest = text
            .strip_prefix("-I")
            .or_else(|| text.strip_prefix("--replace="))
            .filter(|rest| !rest.is_empty());
        let old = (text.starts_with("-i") || *text == "--replace").then_some("{}");
        rest.or(old).map(str::to_owned)
    })
}

/// What follows a wrapper's own options; `with_value` take the next word when they stand alone.
fn skip_options<'a>(args: &'a [Arg], with_value: &[&str]) -> &'a [Arg] {
    let mut rest = args;
    while let Some((first, after)) = rest.split_first() {
        match first.as_str() {
            Some("--") => return after,
            Some(text) if text.starts_with('-') && text.len() > 1 => {
                let takes_next = with_value.contains(&text);
                rest = if takes_next {
                    after.get(1..).unwrap_or_default()
                } else {
                    after
                };
            }
            _ => return rest,
        }
    }
    rest
}
