//! The agent's draft as a list of file changes against the disk: every operation keeps it the shortest list that
//! says the whole difference, with at most one entry for a path.
//!
//! Pure: it works on versions (hash and mode); it reads no disk and stores nothing. Entries that are already
//! decided stay in the list untouched until a new change to their path replaces them.

use std::path::Path;

use protocol::{FileStatus, Millis};

use crate::record::{Counts, Effect, FileRecord, Located, StoredPath, Version};

/// What a draft says about a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Drafted {
    Present(Version),
    Absent,
    /// Nothing: the disk decides.
    Untouched,
}

/// Who made a change, and when.
#[derive(Clone, Debug)]
pub(crate) struct Origin<'a> {
    pub at: Millis,
    pub command: Option<&'a str>,
}

pub(crate) struct Draft<'a> {
    pub files: &'a mut Vec<FileRecord>,
    pub origin: Origin<'a>,
}

pub(crate) fn look_up(files: &[FileRecord], path: &Path) -> Drafted {
    if let Some(to) = writer(files, path).and_then(|index| files[index].effect.to.as_ref()) {
        return Drafted::Present(to.version.clone());
    }
    if taker(files, path).is_some() {
        return Drafted::Absent;
    }
    Drafted::Untouched
}

/// The open entry whose new content is at `path`.
pub(crate) fn writer(files: &[FileRecord], path: &Path) -> Option<usize> {
    files
        .iter()
        .position(|file| file.is_open() && file.effect.to.as_ref().is_some_and(|to| to.path.as_ref() == path))
}

/// The open entry that starts from what the disk has at `path`.
pub(crate) fn taker(files: &[FileRecord], path: &Path) -> Option<usize> {
    files.iter().position(|file| {
        file.is_open()
            && file
                .effect
                .from
                .as_ref()
                .is_some_and(|from| from.path.as_ref() == path)
    })
}

impl Draft<'_> {
    /// Gives `path` a content. `disk` is what the disk has there; it counts only where the draft says nothing.
    pub fn write(&mut self, path: &StoredPath, version: Version, disk: Option<Version>) {
        let to = Some(Located {
            path: path.clone(),
            version,
        });
        if let Some(index) = writer(self.files, &path.0) {
            self.files[index].effect.to = to;
            self.touch(index);
        } else {
            let from = match taker(self.files, &path.0) {
                // Deleted and written again is a modification.
                Some(index) if self.files[index].effect.to.is_none() => {
                    self.files[index].effect.to = to;
                    self.touch(index);
                    return self.settle();
                }
                // Renamed away: what comes here is new.
                Some(_) => None,
                None => disk.map(|version| Located {
                    path: path.clone(),
                    version,
                }),
            };
            self.push(Effect { from, to });
        }
        self.settle();
    }

    /// Takes the content away from `path`. The caller has made sure that there is one.
    pub fn delete(&mut self, path: &StoredPath, disk: Option<Version>) {
        if let Some(index) = writer(self.files, &path.0) {
            self.files[index].effect.to = None;
            self.touch(index);
        } else if let Some(version) = disk {
            self.push(Effect {
                from: Some(Located {
                    path: path.clone(),
                    version,
                }),
                to: None,
            });
        }
        self.settle();
    }

    /// Moves a content; the caller has made sure that `from` has one and `to` has none.
    pub fn rename(&mut self, from: &StoredPath, to: &StoredPath, disk: Option<Version>) {
        if let Some(index) = writer(self.files, &from.0) {
            if let Some(located) = &mut self.files[index].effect.to {
                located.path = to.clone();
            }
            self.touch(index);
        } else if let Some(version) = disk {
            let at = |path: &StoredPath| {
                Some(Located {
                    path: path.clone(),
                    version: version.clone(),
                })
            };
            self.push(Effect {
                from: at(from),
                to: at(to),
            });
        }
        self.settle();
    }

    fn push(&mut self, effect: Effect) {
        self.files.push(FileRecord {
            effect,
            status: FileStatus::Pending,
            updated_at: self.origin.at,
            conflict: None,
            by_command: self.origin.command.map(str::to_owned),
            decided: Counts::default(),
        });
    }

    fn touch(&mut self, index: usize) {
        let file = &mut self.files[index];
        file.updated_at = self.origin.at;
        file.status = FileStatus::Pending;
        file.conflict = None;
        if let Some(command) = self.origin.command {
            file.by_command = Some(command.to_owned());
        }
    }

    /// Restores the list's promise after an operation.
    fn settle(&mut self) {
        self.files
            .retain(|file| !(file.is_open() && file.effect.changes_nothing()));
        // A path that is both deleted and written by another entry is a modification of that path; the other entry's
        // own origin, if it has one, is then deleted in turn.
        while let Some((deleted, written)) = self.collision() {
            let origin = self.files[written].effect.from.take();
            self.files[written].effect.from = std::mem::replace(&mut self.files[deleted].effect.from, origin);
            if self.files[deleted].effect.from.is_none() {
                self.files.remove(deleted);
            }
            self.files
                .retain(|file| !(file.is_open() && file.effect.changes_nothing()));
        }
        self.drop_decided_twins();
    }

    fn collision(&self) -> Option<(usize, usize)> {
        self.files.iter().enumerate().find_map(|(deleted, file)| {
            if !file.is_open() || file.effect.to.is_some() {
                return None;
            }
            let path = &file.effect.from.as_ref()?.path;
            Some((deleted, writer(self.files, &path.0)?))
        })
    }

    /// A path is listed once: what is pending replaces what was decided before.
    fn drop_decided_twins(&mut self) {
        let open: Vec<StoredPath> = self
            .files
            .iter()
            .filter(|file| file.is_open())
            .filter_map(|file| file.effect.path().cloned())
            .collect();
        self.files
            .retain(|file| file.is_open() || file.effect.path().is_some_and(|path| !open.contains(path)));
    }
}

#[cfg(test)]
mod tests {
    use protocol::ContentHash;

    use super::*;

    fn version(name: &str) -> Version {
        Version {
            hash: ContentHash(name.to_owned()),
            mode: 0o644,
        }
    }

    /// Runs a script on a disk that has files a, b and c with contents of their names.
    fn run(script: &str) -> String {
        let mut files = Vec::new();
        for step in script.split("; ").filter(|step| !step.is_empty()) {
            let words: Vec<&str> = step.split(' ').collect();
            let path = |name: &str| StoredPath(name.into());
            let disk = |name: &str| ["a", "b", "c"].contains(&name).then(|| version(name));
            let mut draft = Draft {
                files: &mut files,
                origin: Origin { at: 1, command: None },
            };
            match words[..] {
                ["write", name, content] => draft.write(&path(name), version(content), disk(name)),
                ["delete", name] => draft.delete(&path(name), disk(name)),
                ["rename", from, to] => draft.rename(&path(from), &path(to), disk(from)),
                _ => panic!("{step}"),
            }
        }
        let shown: Vec<String> = files
            .iter()
            .map(|file| {
                let end = |end: &Option<Located>| {
                    end.as_ref().map_or("-".to_owned(), |at| {
                        format!("{}={}", at.path.display(), at.version.hash)
                    })
                };
                format!("{} > {}", end(&file.effect.from), end(&file.effect.to))
            })
            .collect();
        shown.join(", ")
    }

    #[test]
    fn a_draft_is_the_shortest_list_that_says_the_difference() {
        let cases = [
            ("write a A", "a=a > a=A"),
            ("write a A; write a B", "a=a > a=B"),
            ("write a A; write a a", ""),
            ("write n N", "- > n=N"),
            ("write n N; delete n", ""),
            ("delete a", "a=a > -"),
            ("delete a; write a A", "a=a > a=A"),
            ("delete a; write a a", ""),
            ("write a A; delete a", "a=a > -"),
            ("rename a x", "a=a > x=a"),
            ("rename a x; write x X", "a=a > x=X"),
            ("write a A; rename a x", "a=a > x=A"),
            ("rename a x; rename x y", "a=a > y=a"),
            ("rename a x; rename x a", ""),
            ("rename a x; write x X; rename x a", "a=a > a=X"),
            ("rename a x; delete x", "a=a > -"),
            ("rename a x; write a N", "a=a > x=a, - > a=N"),
            ("rename a x; write a N; delete x", "a=a > a=N"),
            ("write n N; rename n m", "- > m=N"),
            // Onto a path the draft deleted: that path is modified, the origin deleted.
            ("delete b; rename a b", "a=a > -, b=b > b=a"),
            ("rename b c2; rename a b; delete c2", "b=b > b=a, a=a > -"),
            // A swap by way of a third name.
            ("rename a t; rename b a; rename t b", "a=a > b=a, b=b > a=b"),
        ];
        for (script, expected) in cases {
            let found = run(script);
            let sort = |text: &str| {
                let mut parts: Vec<String> = text.split(", ").map(str::to_owned).collect();
                parts.sort();
                parts
            };
            assert_eq!(sort(&found), sort(expected), "{script}");
        }
    }
}
