//! What one walking thread does: reads directories, hands on the folders in them, and visits files in batches.

use std::{
    ffi::OsStr,
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
    sync::Arc,
};

use super::{
    Flow, Found, Skipped, WalkedKind,
    crew::{Crew, Item},
};
use crate::{
    SkipReason, Stop,
    beneath::{self, NodeKind},
    rules::Rules,
};

/// Files of one directory that are one piece of work.
const BATCH: usize = 128;

/// Names of entries in one allocation, because a repository has a hundred thousand of them.
#[derive(Default)]
pub(super) struct Names {
    bytes: Vec<u8>,
    ends: Vec<(usize, NodeKind)>,
}

impl Names {
    pub(super) fn push(&mut self, name: &[u8], kind: NodeKind) {
        self.bytes.extend_from_slice(name);
        self.ends.push((self.bytes.len(), kind));
    }

    fn iter(&self) -> impl Iterator<Item = (&OsStr, NodeKind)> {
        let mut start = 0;
        self.ends.iter().map(move |(end, kind)| {
            let name = OsStr::from_bytes(&self.bytes[start..*end]);
            start = *end;
            (name, *kind)
        })
    }
}

pub(super) struct Worker<'a, S> {
    pub root: &'a OwnedFd,
    pub crew: &'a Crew,
    pub stop: Stop<'a>,
    pub state: S,
    pub skipped: Skipped,
}

impl<S> Worker<'_, S> {
    pub(super) fn process(&mut self, item: Item, on_file: &impl Fn(&mut S, &Found<'_>) -> Flow) -> Flow {
        match item {
            Item::Files {
                relative,
                directory,
                names,
            } => self.files(&relative, &directory, &names, on_file),
            Item::Directory {
                relative,
                rules,
                entered,
            } => match self.directory(&relative, &rules, entered) {
                Ok(batches) => {
                    let mut batches = batches.into_iter();
                    let first = batches.next();
                    self.crew.add(batches);
                    match first {
                        Some(Item::Files { directory, names, .. }) => {
                            self.files(&relative, &directory, &names, on_file)
                        }
                        _ => Flow::Continue,
                    }
                }
                Err(_) => {
                    self.skipped.add(&relative, true, SkipReason::Unreadable);
                    Flow::Continue
                }
            },
        }
    }

    /// Reads one directory: hands on the directories in it and returns the files in batches.
    fn directory(&mut self, relative: &Path, rules: &Rules, entered: bool) -> io::Result<Vec<Item>> {
        let directory = Arc::new(beneath::open_directory(self.root, relative)?);
        let rules = match entered {
            true => rules.clone(),
            false => rules.enter(relative, directory.as_fd()),
        };
        let mut path = relative.to_path_buf();
        let mut batches = Vec::new();
        let mut names = Names::default();
        let mut folders = Vec::new();
        for entry in rustix::fs::Dir::read_from(&*directory)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b".." | b".git") {
                continue;
            }
            let name = OsStr::from_bytes(name);
            let kind = match entry.file_type() {
                // Some file systems do not say.
                rustix::fs::FileType::Unknown => match beneath::stat(&*directory, Path::new(name)) {
                    Ok(stat) => NodeKind::of(&stat),
                    Err(_) => continue,
                },
                known => NodeKind::from_type(known),
            };
            path.push(name);
            match (rules.skips(&path, kind == NodeKind::Directory), kind) {
                (Some(reason), _) => self.skipped.add(&path, kind == NodeKind::Directory, reason),
                (None, NodeKind::Special) => self.skipped.add(&path, false, SkipReason::Special),
                (None, NodeKind::Directory) => folders.push(Item::Directory {
                    relative: path.as_path().into(),
                    rules: rules.clone(),
                    entered: false,
                }),
                (None, NodeKind::File | NodeKind::Link) => {
                    names.push(name.as_bytes(), kind);
                    if names.ends.len() == BATCH {
                        batches.push(Item::Files {
                            relative: relative.into(),
                            directory: directory.clone(),
                            names: std::mem::take(&mut names),
                        });
                    }
                }
            }
            path.pop();
        }
        if !names.ends.is_empty() {
            batches.push(Item::Files {
                relative: relative.into(),
                directory: directory.clone(),
                names,
            });
        }
        // Folders lie below the files on the stack, so that few directories are held open at a time.
        self.crew.add(folders.into_iter());
        Ok(batches)
    }

    fn files(
        &mut self,
        relative: &Path,
        directory: &OwnedFd,
        names: &Names,
        on_file: &impl Fn(&mut S, &Found<'_>) -> Flow,
    ) -> Flow {
        let mut path = relative.to_path_buf();
        for (name, kind) in names.iter() {
            let kind = match kind {
                NodeKind::File => WalkedKind::File,
                NodeKind::Link => WalkedKind::Link,
                NodeKind::Directory | NodeKind::Special => {
                    self.skipped.add(&path.join(name), false, SkipReason::Special);
                    continue;
                }
            };
            if (self.stop)() {
                return Flow::End;
            }
            path.push(name);
            let found = Found {
                relative: &path,
                kind,
                directory: directory.as_fd(),
                name,
            };
            if on_file(&mut self.state, &found) == Flow::End {
                return Flow::End;
            }
            path.pop();
        }
        Flow::Continue
    }
}
