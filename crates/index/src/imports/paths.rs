//! The paths of a repository, to be found by the whole, by their end, or by their folder.

use std::{collections::HashMap, path::Path};

/// Files or folders that end alike and are compared one by one; with more of them an ending says too little.
const MAX_ALIKE: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Paths {
    written: Vec<String>,
    by_path: HashMap<String, u32>,
    by_tail: HashMap<String, Vec<u32>>,
    folders: HashMap<String, Folder>,
    folder_names: Vec<String>,
    folders_by_tail: HashMap<String, Vec<u32>>,
}

#[derive(Debug, Default)]
struct Folder {
    files: Vec<u32>,
}

/// A path with `/` between its parts.
pub(super) fn written(path: &Path) -> String {
    let mut text = String::new();
    for part in path.iter() {
        if !text.is_empty() {
            text.push('/');
        }
        text.push_str(&part.to_string_lossy());
    }
    text
}

/// The folder of a path; empty for the root.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(super) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

pub(super) fn within(folder: &str, rest: &str) -> String {
    match (folder.is_empty(), rest.is_empty()) {
        (true, _) => rest.to_owned(),
        (_, true) => folder.to_owned(),
        _ => format!("{folder}/{rest}"),
    }
}

/// `rest` seen from `folder`, with `.` and `..` worked out; `None` when it leaves the root.
pub(super) fn joined(folder: &str, rest: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// A folder and all around it, the innermost first, the root (empty) last.
pub(super) fn upwards(folder: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(folder);
    std::iter::from_fn(move || {
        let now = next?;
        next = (!now.is_empty()).then(|| parent(now));
        Some(now)
    })
}

/// The last two parts, or the only one.
fn tail(path: &str) -> &str {
    let Some(last) = path.rfind('/') else {
        return path;
    };
    path[..last].rfind('/').map_or(path, |before| &path[before + 1..])
}

/// Parts that two folders begin with together.
fn shared(one: &str, other: &str) -> usize {
    one.split('/')
        .zip(other.split('/'))
        .take_while(|(one, other)| one == other)
        .count()
}

impl Paths {
    pub(super) fn new<'path>(paths: impl IntoIterator<Item = &'path Path>) -> Paths {
        let mut all = Paths::default();
        for (index, path) in paths.into_iter().enumerate() {
            let Ok(index) = u32::try_from(index) else {
                break;
            };
            let path = written(path);
            all.note_tails(index, &path);
            all.note_folder(index, parent(&path));
            all.by_path.insert(path.clone(), index);
            all.written.push(path);
        }
        all
    }

    fn note_tails(&mut self, index: u32, path: &str) {
        let short = name(path);
        self.by_tail.entry(short.to_owned()).or_default().push(index);
        let long = tail(path);
        if long.len() != short.len() {
            self.by_tail.entry(long.to_owned()).or_default().push(index);
        }
    }

    /// Notes the file, and the folder with all around it when it is new.
    fn note_folder(&mut self, file: u32, folder: &str) {
        for around in upwards(folder) {
            if self.folders.contains_key(around) {
                break;
            }
            self.folders.insert(around.to_owned(), Folder::default());
            let index = u32::try_from(self.folder_names.len()).unwrap_or(u32::MAX);
            let (short, long) = (name(around), tail(around));
            self.folders_by_tail
                .entry(short.to_owned())
                .or_default()
                .push(index);
            if long.len() != short.len() {
                self.folders_by_tail
                    .entry(long.to_owned())
                    .or_default()
                    .push(index);
            }
            self.folder_names.push(around.to_owned());
        }
        if let Some(known) = self.folders.get_mut(folder) {
            known.files.push(file);
        }
    }

    pub(super) fn file(&self, path: &str) -> Option<u32> {
        self.by_path.get(path).copied()
    }

    pub(super) fn path(&self, file: u32) -> &str {
        self.written.get(file as usize).map_or("", String::as_str)
    }

    pub(super) fn has_folder(&self, folder: &str) -> bool {
        self.folders.contains_key(folder)
    }

    /// The files directly in a folder.
    pub(super) fn files_in(&self, folder: &str) -> &[u32] {
        self.folders.get(folder).map_or(&[], |folder| &folder.files)
    }

    /// The files of which this is the path or its end.
    pub(super) fn ending(&self, suffix: &str) -> Vec<u32> {
        let alike = self.by_tail.get(tail(suffix)).map_or(&[][..], Vec::as_slice);
        if alike.len() > MAX_ALIKE {
            return self.file(suffix).into_iter().collect();
        }
        alike
            .iter()
            .copied()
            .filter(|file| ends_with(self.path(*file), suffix))
            .collect()
    }

    /// The one file that ends so, or of several the one that is clearly nearest to `from`.
    pub(super) fn nearest_ending(&self, suffix: &str, from: &str) -> Option<u32> {
        self.nearest(&self.ending(suffix), from)
    }

    pub(super) fn only_ending(&self, suffix: &str) -> Option<u32> {
        match self.ending(suffix)[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The file that shares most folders with `from`, unless two share as many.
    pub(super) fn nearest(&self, files: &[u32], from: &str) -> Option<u32> {
        let near = |file: &u32| shared(parent(self.path(*file)), parent(from));
        nearest_of(files, near).copied()
    }

    /// As [`Paths::nearest_ending`], for folders.
    pub(super) fn nearest_folder_ending(&self, suffix: &str, from: &str) -> Option<&str> {
        let alike = self
            .folders_by_tail
            .get(tail(suffix))
            .map_or(&[][..], Vec::as_slice);
        if alike.len() > MAX_ALIKE {
            return self
                .folders
                .get_key_value(suffix)
                .map(|(folder, _)| folder.as_str());
        }
        let folders: Vec<&str> = alike
            .iter()
            .filter_map(|index| self.folder_names.get(*index as usize))
            .map(String::as_str)
            .filter(|folder| ends_with(folder, suffix))
            .collect();
        nearest_of(&folders, |folder| shared(folder, parent(from))).copied()
    }
}

fn nearest_of<T>(all: &[T], near: impl Fn(&T) -> usize) -> Option<&T> {
    let best = all.iter().map(&near).max()?;
    let mut nearest = all.iter().filter(|one| near(one) == best);
    let first = nearest.next();
    match nearest.next() {
        Some(_) => None,
        None => first,
    }
}

fn ends_with(path: &str, suffix: &str) -> bool {
    path.strip_suffix(suffix)
        .is_some_and(|before| before.is_empty() || before.ends_with('/'))
}
