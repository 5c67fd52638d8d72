//! Where a path in a command leads: through links, parents and wildcards, and what kind of place that is.

use std::path::{Component, Path, PathBuf};

use super::syntax::{Judge, Places};
use super::words::{Arg, Word, has_wildcard};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// A path with its links followed as far as it exists. `..` is taken after the links, as the kernel does.
pub(super) fn real(path: &Path) -> PathBuf {
    let mut real = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                real.pop();
            }
            Component::CurDir => {}
            other => {
                real.push(other);
                if let Ok(followed) = real.canonicalize() {
                    real = followed;
                } else if let Ok(target) = std::fs::read_link(&real) {
                    // A link to nothing: a write through it would make its target.
                    real.pop();
                    real = lexical(&real.join(target));
                }
            }
        }
    }
    real
}

fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

impl Judge<'_> {
    pub(super) fn is_inside(&self, path: &Path) -> bool {
        path.starts_with(&self.context.workspace_root)
            || self
                .context
                .linked_roots
                .iter()
                .any(|root| path.starts_with(root))
    }

    /// Judges a path argument of a command. Returns whether something was found against it.
    pub(super) fn path(&mut self, arg: &Arg, places: &Places, access: Access) -> bool {
        let Some(text) = arg.as_str() else {
            self.ask("it depends on a value that is only known when it runs");
            return true;
        };
        if text.is_empty() {
            return false;
        }
        let before = self.findings.len();
        if places.unknown && !Path::new(text).is_absolute() {
            self.ask("the folder it runs in is only known when it runs");
        }
        if !arg.glob && is_harmless_device(Path::new(text)) {
            return false;
        }
        for place in places.known.clone() {
            let paths = if arg.glob {
                expand(&place, text)
            } else {
                vec![place.join(text)]
            };
            for path in paths {
                self.real_path(&real(&path), access);
            }
        }
        self.findings.len() > before
    }

    fn real_path(&mut self, path: &Path, access: Access) {
        if is_harmless_device(path) {
            return;
        }
        if self.holds_credentials(path) {
            match access {
                Access::Read => self.block(format!("{} may hold credentials", path.display())),
                Access::Write => self.ask(format!("{} may hold credentials", path.display())),
            }
        }
        if access == Access::Write && self.starts_by_itself(path) {
            self.block(format!("{} is run without being asked later on", path.display()));
        } else if access == Access::Write && path.starts_with("/dev") {
            self.block(format!("it writes to the device {}", path.display()));
        } else if access == Access::Write && is_repository_metadata(path) {
            self.ask(format!("it changes git's own files: {}", path.display()));
        }
        if !self.is_inside(path) {
            self.ask(format!("it reaches outside the workspace: {}", path.display()));
        }
    }

    /// `> file` and its like.
    pub(super) fn redirect_target(&mut self, operator: &str, word: &Word, places: &Places) {
        for arg in word.clone().into_args() {
            let text = arg.as_str().unwrap_or_default().to_owned();
            // `2>&1`: a number or `-` after `&` names a descriptor.
            let descriptor = operator.contains('&')
                && (text == "-"
                    || (!text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '-')));
            if descriptor {
                continue;
            }
            if text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/") {
                self.ask("it uses the network");
                continue;
            }
            if operator == "<" || operator == "<&" {
                self.path(&arg, places, Access::Read);
                continue;
            }
            let harmless = !text.is_empty() && is_harmless_device(Path::new(&text));
            if !harmless && !self.path(&arg, places, Access::Write) {
                self.ask(format!(
                    "it writes to a file: {}",
                    if text.is_empty() { "?" } else { &text }
                ));
            }
        }
    }

    /// Files that hold keys, passwords or tokens, or usually do.
    pub(super) fn holds_credentials(&self, path: &Path) -> bool {
        use super::tables::{
            CREDENTIAL_FILES, CREDENTIAL_PLACES_IN_HOME, CREDENTIAL_SYSTEM_FILES, PRACTICE_PLACE_IN_HOME,
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if is_secret_name(&name) || CREDENTIAL_FILES.contains(&name.as_ref()) {
            return true;
        }
        if CREDENTIAL_SYSTEM_FILES.iter().any(|file| path.starts_with(file)) {
            return true;
        }
        if path.starts_with("/proc") && name == "environ" {
            return true;
        }
        self.homes().iter().any(|home| {
            CREDENTIAL_PLACES_IN_HOME
                .iter()
                .any(|place| path.starts_with(home.join(place)))
                && !path.starts_with(home.join(PRACTICE_PLACE_IN_HOME))
        })
    }

    /// Files that a shell, a login or the system runs later by itself.
    fn starts_by_itself(&self, path: &Path) -> bool {
        use super::tables::{STARTUP_PLACES_IN_HOME, STARTUP_SYSTEM_PLACES};
        STARTUP_SYSTEM_PLACES.iter().any(|place| path.starts_with(place))
            || self.homes().iter().any(|home| {
                STARTUP_PLACES_IN_HOME
                    .iter()
                    .any(|place| path.starts_with(home.join(place)))
            })
    }

    fn homes(&self) -> Vec<PathBuf> {
        self.context
            .home
            .iter()
            .cloned()
            .chain([PathBuf::from("/root")])
            .collect()
    }
}

/// `.env` and its variants, but not the examples that are meant to be read.
/// Whether a file of that name usually holds keys or passwords, wherever it lies.
pub fn names_credentials(name: &str) -> bool {
    is_secret_name(name) || super::tables::CREDENTIAL_FILES.contains(&name)
}

pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let variant = name.strip_prefix(".env").is_some_and(|rest| {
        rest.is_empty()
            || (rest.starts_with(['.', '-', '_'])
                && !["example", "sample", "template", "dist", "defaults", "schema"]
                    .iter()
                    .any(|word| rest.contains(word)))
    });
    variant || (name.ends_with(".env") && name.len() > 4)
}

fn is_harmless_device(path: &Path) -> bool {
    const DEVICES: [&str; 7] = [
        "/dev/null",
        "/dev/stdin",
        "/dev/stdout",
        "/dev/stderr",
        "/dev/zero",
        "/dev/urandom",
        "/dev/random",
    ];
    let descriptor = |text: &str| {
        text.strip_prefix("/dev/fd/")
            .is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
    };
    path.to_str()
        .is_some_and(|text| DEVICES.contains(&text) || descriptor(text))
}

fn is_repository_metadata(path: &Path) -> bool {
    path.components().any(|component| component.as_os_str() == ".git")
}

/// Most paths that one wildcard is followed to; beyond that only the folder before it is judged.
const MAX_EXPANSION: usize = 500;

/// The paths a wildcard stands for, and always the place that it starts from.
fn expand(place: &Path, pattern: &str) -> Vec<PathBuf> {
    let start = if pattern.starts_with('/') {
        PathBuf::from("/")
    } else {
        place.to_path_buf()
    };
    let mut found = vec![start];
    let mut prefix_done = false;
    let mut all = Vec::new();
    for part in pattern.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if !has_wildcard(part) {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        if !prefix_done {
            all.extend(found.clone());
            prefix_done = true;
        }
        let mut next = Vec::new();
        for folder in &found {
            let Ok(entries) = std::fs::read_dir(folder) else {
                continue;
            };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let hidden = name.starts_with('.') && !part.starts_with('.');
                if !hidden && matches(part, &name) && next.len() < MAX_EXPANSION {
                    next.push(folder.join(name.as_ref()));
                }
            }
        }
        if next.is_empty() {
            // Nothing there yet; something may be when it runs.
            next.extend(found.iter().map(|folder| folder.join(part)));
        }
        found = next;
    }
    all.extend(found);
    all
}

/// Shell wildcards within one name. A bracket expression matches any character: rather too much than too little.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    // Positions in the pattern that the name read so far can have led to.
    let mut at = vec![0_usize];
    let skip_stars = |mut positions: Vec<usize>| {
        let mut index = 0;
        while let Some(position) = positions.get(index).copied() {
            if pattern.get(position) == Some(&'*') && !positions.contains(&(position + 1)) {
                positions.push(position + 1);
            }
            index += 1;
        }
        positions
    };
    at = skip_stars(at);
    for character in name {
        let mut next = Vec::new();
        for position in at {
            match pattern.get(position) {
                Some('*') => next.push(position),
                Some('?') => next.push(position + 1),
                Some('[') => {
                    let rest = pattern.get(position + 1..).unwrap_or_default();
                    let close = rest.iter().skip(1).position(|c| *c == ']').map(|index| index + 1);
                    next.push(close.map_or(position + 1, |close| position + close + 2));
                }
                Some(literal) if *literal == character => next.push(position + 1),
                _ => {}
            }
        }
        next.sort_unstable();
        next.dedup();
        at = skip_stars(next);
    }
    at.contains(&pattern.len())
}
