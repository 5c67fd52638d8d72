//! Recognises commands that build, test, lint or type-check the project. They run the project's code.

use super::commands::{folders, starts_with_words};
use super::options::is_one_of;
use super::syntax::{Judge, Places};
use super::tables::{CHECK_SCRIPTS, CHECKS, Check, NOT_CHECK_SCRIPTS, PYTHON_CHECK_MODULES};
use super::words::Arg;

pub(super) fn is_check(judge: &Judge<'_>, name: &str, args: &[Arg], places: &Places) -> bool {
    let Some(texts) = args.iter().map(Arg::as_str).collect::<Option<Vec<&str>>>() else {
        return false;
    };
    match name {
        "npm" | "pnpm" | "yarn" | "bun" => package_script(judge, name, &texts, places),
        "npx" | "bunx" => match texts.split_first() {
            Some((tool, rest)) => installed_tool(judge, tool, rest, places),
            None => false,
        },
        "python" | "python3" => match texts.as_slice() {
            ["-m", module, rest @ ..] => PYTHON_CHECK_MODULES.contains(module) || listed(module, rest),
            _ => false,
        },
        "bundle" => matches!(texts.as_slice(), ["exec", tool, rest @ ..] if listed(tool, rest)),
        "uv" | "poetry" | "pipenv" | "pdm" => {
            matches!(texts.as_slice(), ["run", tool, rest @ ..] if listed(tool, rest)
                || (matches!(*tool, "python" | "python3") && matches!(rest, ["-m", module, ..] if PYTHON_CHECK_MODULES.contains(module))))
        }
        "make" => make(&texts),
        _ => {
            let local = name
                .strip_prefix("node_modules/.bin/")
                .or_else(|| name.strip_prefix("./node_modules/.bin/"));
            listed(local.unwrap_or(name), &texts)
        }
    }
}

fn listed(name: &str, args: &[&str]) -> bool {
    CHECKS
        .iter()
        .filter(|check| check.program == name)
        .any(|check| fits(check, args))
}

fn fits(check: &Check, args: &[&str]) -> bool {
    let words: Vec<&str> = args
        .iter()
        .copied()
        .filter(|text| !text.starts_with('-'))
        .collect();
    // What follows `--` belongs to the tests themselves.
    let own: Vec<&str> = args.iter().copied().take_while(|text| *text != "--").collect();
    let exact = |option: &str, text: &str| text.split('=').next() == Some(option);
    starts_with_words(&words, check.words)
        && (check.needs.is_empty()
            || args
                .iter()
                .any(|text| check.needs.iter().any(|option| exact(option, text))))
        && !own
            .iter()
            .any(|text| check.without.iter().any(|option| exact(option, text)))
}

/// Every target must be a check; `VAR=value` could name any program.
fn make(args: &[&str]) -> bool {
    let Some(check) = CHECKS.iter().find(|check| check.program == "make") else {
        return false;
    };
    let targets = check.words.first().copied().unwrap_or_default();
    let mut value = false;
    for text in args {
        if value {
            value = false;
        } else if matches!(*text, "-j" | "-C" | "-l") {
            // A number may follow `-j`, a folder follows `-C`, which is judged as a path.
            value = *text != "-j";
        } else if text.starts_with('-') {
            let long_file = ["--file", "--makefile", "--eval"]
                .iter()
                .any(|option| text.starts_with(option));
            let short = !text.starts_with("--") && text.contains(['f', 'E']);
            if long_file || short {
                return false;
            }
        } else if !text.chars().all(|c| c.is_ascii_digit())
            && !targets.split('|').any(|target| target == *text)
        {
            return false;
        }
    }
    true
}

fn package_script(judge: &Judge<'_>, manager: &str, args: &[&str], places: &Places) -> bool {
    let quiet = |text: &&str| {
        matches!(
            *text,
            "--silent" | "-s" | "-q" | "--if-present" | "--no-color" | "-r" | "--recursive"
        )
    };
    let words: Vec<&str> = args.iter().copied().take_while(|text| *text != "--").collect();
    let mut words = words.iter().copied().filter(|text| !quiet(text));
    match (words.next(), manager) {
        (Some("test" | "t" | "tst"), _) => true,
        (Some("run" | "run-script"), _) => words.next().is_some_and(is_check_script),
        (Some("exec"), "pnpm" | "npm" | "yarn") => {
            let rest: Vec<&str> = words.collect();
            rest.split_first()
                .is_some_and(|(tool, rest)| installed_tool(judge, tool, rest, places))
        }
        (Some(script), "pnpm" | "yarn") if is_check_script(script) => true,
        (Some(tool), "pnpm" | "yarn") => {
            let rest: Vec<&str> = words.collect();
            installed_tool(judge, tool, &rest, places)
        }
        _ => false,
    }
}

pub(super) fn is_check_script(script: &str) -> bool {
    let names_more = script
        .split([':', '-', '_', '.'])
        .any(|part| NOT_CHECK_SCRIPTS.contains(&part));
    !names_more
        && CHECK_SCRIPTS.iter().any(|known| {
            script
                .strip_prefix(known)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '-', '_', '.']))
        })
}

/// A tool that is already in the project: a runner such as `npx` would download any other.
fn installed_tool(judge: &Judge<'_>, tool: &str, rest: &[&str], places: &Places) -> bool {
    let mut folders = folders(places);
    folders.push(judge.context.workspace_root.clone());
    let plain = tool
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    plain
        && !is_one_of(
            rest.first().copied().unwrap_or_default(),
            &["--yes", "-y", "--package", "-p", "--call"],
        )
        && listed(tool, rest)
        && folders
            .iter()
            .any(|folder| folder.join("node_modules/.bin").join(tool).exists())
}
