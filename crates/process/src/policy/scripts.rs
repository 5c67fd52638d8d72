//! Small languages inside arguments: `sed`, `awk`, `jq`, and `tar`'s letters.

use super::CommandClass;
use super::paths::Access;
use super::syntax::{Judge, Places};
use super::words::Arg;

impl Judge<'_> {
    pub(super) fn sed(&mut self, args: &[Arg], places: &Places) {
        let before = self.findings.len();
        let mut scripts: Vec<&Arg> = Vec::new();
        let mut files: Vec<&Arg> = Vec::new();
        let mut access = Access::Read;
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.as_str() {
                None => self.ask("`sed` depends on a value that is only known when it runs"),
                Some("-e" | "--expression") => scripts.extend(rest.next()),
                Some(
                    "--quiet" | "--silent" | "--regexp-extended" | "--separate" | "--null-data"
                    | "--unbuffered" | "--posix",
                ) => {}
                Some("--") => files.extend(rest.by_ref()),
                Some(text) if text.starts_with("-i") || text.starts_with("--in-place") => {
                    access = Access::Write;
                    self.ask("`sed -i` changes files");
                }
                Some(text) if text.starts_with('-') && text.len() > 1 => {
                    if text.starts_with("--") || !text.chars().skip(1).all(|c| "nErsuz".contains(c)) {
                        self.ask(format!("`sed {text}` may write files or run programs"));
                    }
                }
                Some(_) => files.push(arg),
            }
        }
        if scripts.is_empty() && !files.is_empty() {
            scripts.push(files.remove(0));
        }
        for script in scripts {
            if !script.as_str().is_some_and(is_reading_sed_script) {
                self.ask("`sed` with this script may write files or run programs");
            }
        }
        for file in files {
            self.path(file, places, access);
        }
        if self.findings.len() == before {
            self.allow(CommandClass::ReadOnly, "read-only");
        }
    }

    pub(super) fn awk(&mut self, args: &[Arg], places: &Places) {
        let before = self.findings.len();
        let mut rest = args.iter();
        let mut program = None;
        while let Some(arg) = rest.next() {
            match arg.as_str() {
                None => self.ask("`awk` depends on a value that is only known when it runs"),
                Some("-F" | "-v") => {
                    rest.next();
                }
                Some(text) if text.starts_with("-F") => {}
                Some(text) if text.starts_with('-') && program.is_none() => {
                    self.ask(format!("`awk {text}` may run programs"));
                }
                Some(text) if program.is_none() => {
                    program = Some(text);
                    // Output to files and programs, other programs' output, and code from elsewhere.
                    let harmful = ["system", "getline", "@", "ENVIRON", "ARGV", "close", "fflush"];
                    // Without `print`, `>` compares and `|` is part of `||`.
                    let redirects = text.contains("print") && text.contains(['>', '|']);
                    if redirects || harmful.iter().any(|word| text.contains(word)) {
                        self.ask("`awk` with this program may write files or run programs");
                    }
                }
                Some(_) => {
                    self.path(arg, places, Access::Read);
                }
            }
        }
        if self.findings.len() == before {
            self.allow(CommandClass::ReadOnly, "read-only");
        }
    }

    pub(super) fn jq(&mut self, args: &[Arg], places: &Places) {
        let before = self.findings.len();
        if args
            .iter()
            .filter_map(Arg::as_str)
            .any(|text| text.contains("env") || text.contains("$ENV") || text.contains("$__prog"))
        {
            self.ask("`jq` may show variables");
        }
        // The filter is no path, but an option may come between, so that only what looks like a path is judged.
        for arg in args {
            match arg.as_str() {
                Some(text)
                    if text.starts_with('.')
                        && !text.contains('/')
                        && !super::paths::is_secret_name(text) => {}
                Some(text) if arg.is_option() => self.option_value(arg, text, places),
                _ => {
                    self.path(arg, places, Access::Read);
                }
            }
        }
        if self.findings.len() == before {
            self.allow(CommandClass::ReadOnly, "read-only");
        }
    }

    /// Listing an archive reads; everything else writes.
    pub(super) fn tar(&mut self, args: &[Arg], places: &Places) {
        let letters = args.first().and_then(Arg::as_str).unwrap_or_default();
        let bundle = letters.trim_start_matches('-');
        let lists = letters == "--list"
            || (!letters.starts_with("--")
                && bundle.contains('t')
                && bundle.chars().all(|c| "tvfzjJ".contains(c)));
        let others_plain = args
            .iter()
            .skip(1)
            .all(|arg| !arg.is_option() || arg.is("-f") || arg.is("-v"));
        for arg in args.iter().skip(1).filter(|arg| !arg.is_option()) {
            self.path(arg, places, Access::Read);
        }
        if lists && others_plain {
            self.allow(CommandClass::ReadOnly, "read-only");
        } else {
            self.ask("`tar` with these arguments changes files or runs programs");
        }
    }
}

/// Whether a sed script only selects and edits lines of its output: addresses with `p d q = l n N D P h H g G x`, `{ }`,
/// and `s`, `y` whose flags neither execute nor write.
fn is_reading_sed_script(script: &str) -> bool {
    let characters: Vec<char> = script.chars().collect();
    let mut at = 0;
    let peek = |at: usize| characters.get(at).copied();
    // The position after a delimited text that starts behind `at`'s delimiter.
    let delimited = |mut at: usize, delimiter: char| -> Option<usize> {
        let mut in_class = false;
        loop {
            match peek(at)? {
                '\\' => at += 1,
                '\n' => return None,
                '[' => in_class = true,
                ']' => in_class = false,
                // Inside a class the delimiter ends the text for some versions and not for others.
                c if c == delimiter => return (!in_class).then_some(at + 1),
                _ => {}
            }
            at += 1;
        }
    };
    while let Some(character) = peek(at) {
        match character {
            ' ' | '\t' | '\n' | ';' | '{' | '}' | ',' | '!' | '$' | '+' | '~' => at += 1,
            c if c.is_ascii_digit() => at += 1,
            '/' => match delimited(at + 1, '/') {
                Some(after) => {
                    at = after;
                    while peek(at).is_some_and(|c| c == 'I' || c == 'M') {
                        at += 1;
                    }
                }
                None => return false,
            },
            'p' | 'd' | 'q' | 'Q' | '=' | 'l' | 'n' | 'N' | 'D' | 'P' | 'h' | 'H' | 'g' | 'G' | 'x' => {
                at += 1;
                while peek(at).is_some_and(|c| c == ' ' || c.is_ascii_digit()) {
                    at += 1;
                }
                // What else follows a command on its line would be its argument.
                if peek(at).is_some_and(|c| !matches!(c, ';' | '\n' | '}')) {
                    return false;
                }
            }
            's' | 'y' => {
                let Some(delimiter) = peek(at + 1)
                    .filter(|c| !c.is_alphanumeric() && !matches!(c, '\\' | '\n' | ' ' | '[' | ']'))
                else {
                    return false;
                };
                let Some(middle) = delimited(at + 2, delimiter) else {
                    return false;
                };
                let Some(after) = delimited(middle, delimiter) else {
                    return false;
                };
                at = after;
                while let Some(flag) = peek(at).filter(|c| c.is_alphanumeric()) {
                    if !matches!(flag, 'g' | 'p' | 'i' | 'I' | 'm' | 'M') && !flag.is_ascii_digit() {
                        return false;
                    }
                    at += 1;
                }
            }
            _ => return false,
        }
    }
    true
}
