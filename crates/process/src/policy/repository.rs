//! What a repository's own settings would make a reading git command run: an external diff, a text converter, a filter.
//! Whoever cloned it did not choose them (P04, P06), so such a command asks first.
//!
//! Settings of the user and of the system are the user's own choice and not looked at.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// More of a settings file is not read; one that is longer asks.
const MAX_CONFIG: u64 = 1024 * 1024;

/// Commands that read names and ids, never contents.
const READ_NO_CONTENT: &[&str] = &[
    "branch",
    "check-ignore",
    "config",
    "count-objects",
    "describe",
    "for-each-ref",
    "ls-files",
    "ls-tree",
    "merge-base",
    "name-rev",
    "reflog",
    "remote",
    "rev-list",
    "rev-parse",
    "show-ref",
    "symbolic-ref",
    "tag",
    "var",
    "version",
    "worktree",
];

/// The setting by which a git command that only reads would run a program of the repository's in `folder`, in words.
pub(super) fn runs(command: &str, folder: &Path) -> Option<String> {
    if READ_NO_CONTENT.contains(&command) {
        return None;
    }
    config_files(folder).into_iter().find_map(|file| {
        let mut text = Vec::new();
        let read = File::open(file).and_then(|file| file.take(MAX_CONFIG + 1).read_to_end(&mut text));
        match read {
            // None there, as often for `config.worktree`.
            Err(_) => None,
            Ok(length) if length as u64 > MAX_CONFIG => {
                Some("its settings are too long to be read".to_owned())
            }
            Ok(_) => program_named(&String::from_utf8_lossy(&text)),
        }
    })
}

/// The settings of the repository that `folder` is in.
fn config_files(folder: &Path) -> Vec<PathBuf> {
    let Some(git) = folder
        .ancestors()
        .map(|parent| parent.join(".git"))
        .find(|git| git.symlink_metadata().is_ok())
    else {
        return Vec::new();
    };
    // A worktree or submodule has a file that names the folder.
    let own = match std::fs::read_to_string(&git) {
        Ok(text) => match text.trim().strip_prefix("gitdir:") {
            Some(path) => git.parent().unwrap_or(folder).join(path.trim()),
            None => git,
        },
        Err(_) => git,
    };
    let common = match std::fs::read_to_string(own.join("commondir")) {
        Ok(path) => own.join(path.trim()),
        Err(_) => own.clone(),
    };
    vec![common.join("config"), own.join("config.worktree")]
}

fn program_named(config: &str) -> Option<String> {
    let mut section = String::new();
    for line in config.lines().map(str::trim) {
        let mut line = line;
        if let Some(rest) = line.strip_prefix('[') {
            let Some((name, rest)) = rest.rsplit_once(']') else {
                return Some("its settings cannot be read".to_owned());
            };
            section = name
                .split(|letter: char| letter.is_whitespace() || letter == '.' || letter == '"')
                .next()
                .unwrap_or_default()
                .to_ascii_lowercase();
            line = rest.trim();
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
        let runs = match (section.as_str(), key.as_str()) {
            ("diff", "external" | "command" | "textconv")
            | ("filter", "clean" | "smudge" | "process")
            | ("merge", "driver")
            | ("gpg", "program") => !value.is_empty() && !is_git_lfs(value),
            // What it names is not looked at, so it could say anything.
            ("include" | "includeif", "path") => true,
            _ => false,
        };
        if runs {
            let shown: String = value.chars().take(60).collect();
            return Some(format!("its setting {section}.{key} names `{shown}`"));
        }
    }
    None
}

/// The one filter that many repositories have, which is the user's own program.
fn is_git_lfs(value: &str) -> bool {
    matches!(
        value.trim_matches('"'),
        "git-lfs clean -- %f" | "git-lfs smudge -- %f" | "git-lfs filter-process"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_name_programs_are_found_however_they_are_written() {
        for (config, expected) in [
            ("[core]\n\tbare = false\n[remote \"o\"]\n\turl = x\n", false),
            ("[diff]\n\texternal = touch x\n", true),
            ("[DIFF] External=touch x\n", true),
            ("[diff \"a b\"]\n  textconv = \"x\"\n", true),
            ("[filter \"z\"]\n\tclean = cat\n", true),
            ("[filter.z]\nprocess = p\n", true),
            ("[filter \"z\"]\n\tclean =\n", false),
            (
                "[filter \"lfs\"]\n\tprocess = git-lfs filter-process\n\trequired = true\n",
                false,
            ),
            ("[merge \"u\"]\n driver = x %A\n", true),
            ("[include]\n\tpath = ../evil\n", true),
            ("[includeIf \"gitdir:~/\"]\n\tpath = x\n", true),
            ("[diff]\n\trenames = true\n", false),
            ("[broken\n", true),
        ] {
            assert_eq!(program_named(config).is_some(), expected, "{config}");
        }
    }
}
