//! Deletions: what they would really remove, before anyone is asked.

use std::path::{Path, PathBuf};

use super::options::is_one_of;
use super::paths::real;
use super::syntax::{Judge, Places};
use super::words::{Arg, has_wildcard};

impl Judge<'_> {
    /// `rm` and its kind.
    pub(super) fn delete(&mut self, name: &str, args: &[Arg], places: &Places) {
        let recursive = name != "rmdir"
            && name != "unlink"
            && args
                .iter()
                .take_while(|arg| !arg.is("--"))
                .filter_map(Arg::as_str)
                .any(|text| is_one_of(text, &["-r", "-R", "--recursive"]));
        let mut targets = Vec::new();
        let mut options_ended = false;
        for arg in args {
            if !options_ended && arg.is("--") {
                options_ended = true;
            } else if options_ended || arg.text.is_none() || !arg.is_option() {
                targets.push(arg);
            }
        }
        for target in targets {
            self.delete_target(target, recursive, places);
        }
        self.ask(format!("`{name}` deletes files"));
    }

    /// One thing to be deleted. Deleting a tree outside the workspace is blocked; a single file asks.
    pub(super) fn delete_target(&mut self, target: &Arg, recursive: bool, places: &Places) {
        if recursive && !target.unset.is_empty() {
            let names: Vec<String> = target.unset.iter().map(|name| format!("${name}")).collect();
            self.block(format!(
                "{} has no value, so it would delete something else than meant",
                names.join(" and ")
            ));
        }
        let Some(text) = target.as_str() else {
            self.ask("what it deletes is only known when it runs");
            return;
        };
        if places.unknown && !Path::new(text).is_absolute() {
            self.ask("the folder it deletes in is only known when it runs");
        }
        for place in places.known.clone() {
            let path = deleted(&place, text, target.glob);
            let shown = path.display();
            let root = &self.context.workspace_root;
            let holds_workspace = root.starts_with(&path);
            let children_only = target.glob;
            if recursive && (!self.is_inside(&path) || holds_workspace) && !(children_only && path == *root) {
                let what = if Some(&path) == self.context.home.as_ref() {
                    "your home folder".to_owned()
                } else if path == Path::new("/") {
                    "the whole file system".to_owned()
                } else if path == *root {
                    "the whole workspace".to_owned()
                } else {
                    format!("outside the workspace: {shown}")
                };
                self.block(format!("it deletes {what}"));
            } else if !self.is_inside(&path) {
                self.ask(format!("it deletes outside the workspace: {shown}"));
            } else if children_only && path == *root {
                self.ask("it deletes files in the workspace's root by a wildcard");
            } else if recursive {
                self.ask(format!("it deletes the folder {shown}"));
            }
        }
    }
}

/// What a deletion would remove: a link itself, not what it leads to, unless a slash follows it. Of a wildcard,
/// the folder that it looks in.
fn deleted(place: &Path, text: &str, glob: bool) -> PathBuf {
    if glob {
        let fixed: Vec<&str> = text.split('/').take_while(|part| !has_wildcard(part)).collect();
        let folder = fixed.join("/");
        let folder = if folder.is_empty() && text.starts_with('/') {
            "/".to_owned()
        } else {
            folder
        };
        // `a*/../..` may lead anywhere above.
        if text.split('/').skip(fixed.len()).any(|part| part == "..") {
            return PathBuf::from("/");
        }
        return real(&place.join(folder));
    }
    let path = place.join(text);
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if !text.ends_with(['/', '.']) => real(parent).join(name),
        _ => real(&path),
    }
}
