//! The folders that are watched or looked at, and which of the two each is.

use std::{
    collections::{BTreeMap, BTreeSet},
    os::{fd::AsFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
};

use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::{
    look::Look,
    pending::{Pending, STATE_FILES},
};
use crate::{Workspace, git::StateFolders, walk::rules_for};

/// Why not everything is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The system's limit, or our own share of it.
    TooMany,
    Other(String),
}

impl Failure {
    pub fn of(error: &notify::Error) -> Self {
        match &error.kind {
            ErrorKind::MaxFilesWatch => Failure::TooMany,
            // The limit of watching programs, which the system tells as too many open files.
            ErrorKind::Io(error) if error.raw_os_error() == Some(24) => Failure::TooMany,
            _ => Failure::Other(error.to_string()),
        }
    }

    pub fn in_words(&self) -> String {
        match self {
            Failure::TooMany => "The system's limit for watched folders is reached, so some folders are looked at \
                                 once a second instead. To raise it: sysctl fs.inotify.max_user_watches=524288"
                .to_owned(),
            Failure::Other(reason) => {
                format!("Folders cannot be watched ({reason}), so they are looked at once a second instead.")
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Relative to the root.
    Shown(PathBuf),
    /// Absolute, of the repository's state.
    Git(PathBuf),
}

struct Target {
    absolute: PathBuf,
    /// Device and inode, to notice a folder that was replaced by another of its name.
    identity: (u64, u64),
    by: By,
}

enum By {
    Watch,
    Looking(Look),
}

pub(super) struct Targets {
    root: PathBuf,
    max_watches: usize,
    wanted: BTreeSet<PathBuf>,
    targets: BTreeMap<Place, Target>,
    replaced: BTreeSet<PathBuf>,
}

impl Targets {
    pub fn new(workspace: &Workspace, max_watches: usize) -> Self {
        Self {
            root: workspace.root().to_owned(),
            max_watches,
            wanted: BTreeSet::new(),
            targets: BTreeMap::new(),
            replaced: BTreeSet::new(),
        }
    }

    /// The folders a client asked for, whether they exist or not.
    pub fn wanted(&self) -> &BTreeSet<PathBuf> {
        &self.wanted
    }

    pub fn shown(&self) -> impl Iterator<Item = &PathBuf> {
        self.targets.keys().filter_map(|place| match place {
            Place::Shown(relative) => Some(relative),
            Place::Git(_) => None,
        })
    }

    pub fn any_without_watch(&self) -> bool {
        self.targets
            .values()
            .any(|target| matches!(target.by, By::Looking(_)))
    }

    /// Whether a change of these folders' entries may concern a folder that is wanted.
    pub fn touched(&self, folders: &BTreeSet<PathBuf>) -> bool {
        self.wanted
            .iter()
            .any(|wanted| wanted.ancestors().skip(1).any(|above| folders.contains(above)))
    }

    /// Folders that are not what they were when they were last arranged.
    pub fn take_replaced(&mut self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut self.replaced)
    }

    /// Watches what should be watched and nothing else. Returns why some of it is only looked at.
    pub fn arrange(
        &mut self,
        workspace: &Workspace,
        mut system: Option<&mut RecommendedWatcher>,
        wanted: &BTreeSet<PathBuf>,
        git: Option<&StateFolders>,
    ) -> Option<Failure> {
        self.wanted.clone_from(wanted);
        // Git's own folders hold thousands of files that are nobody's to show.
        let is_git = |folder: &Path| folder.components().any(|part| part.as_os_str() == ".git");
        let shown = wanted.iter().filter(|folder| !is_git(folder));
        let mut places: BTreeSet<Place> = shown.cloned().map(Place::Shown).collect();
        places.insert(Place::Shown(PathBuf::new()));
        places.extend(git_folders(git).into_iter().map(Place::Git));

        let gone: Vec<Place> = self
            .targets
            .iter()
            .filter(|(place, target)| {
                !places.contains(place) || identity(&target.absolute) != Some(target.identity)
            })
            .map(|(place, _)| place.clone())
            .collect();
        for place in gone {
            if let (Some(target), Place::Shown(relative)) = (self.targets.get(&place), &place)
                && places.contains(&place)
            {
                debug_assert!(target.absolute.starts_with(&self.root));
                self.replaced.insert(relative.clone());
            }
            self.release(&place, system.as_deref_mut());
        }
        let mut failure = None;
        for place in places {
            if let Some(Target { by: By::Watch, .. }) = self.targets.get(&place) {
                continue;
            }
            let absolute = match &place {
                Place::Shown(relative) if relative.as_os_str().is_empty() => self.root.clone(),
                Place::Shown(relative) => self.root.join(relative),
                Place::Git(absolute) => absolute.clone(),
            };
            let Some(identity) = identity(&absolute) else {
                continue;
            };
            let known = self.targets.contains_key(&place);
            let ignored = match &place {
                Place::Shown(relative) => is_ignored(workspace, relative),
                Place::Git(_) => false,
            };
            let watched = match system.as_deref_mut() {
                _ if ignored => Err(None),
                None => Err(None),
                Some(_) if self.watches() >= self.max_watches => Err(Some(Failure::TooMany)),
                Some(system) => system
                    .watch(&absolute, RecursiveMode::NonRecursive)
                    .map_err(|error| match error.kind {
                        // It went a moment ago.
                        ErrorKind::PathNotFound => None,
                        _ => Some(Failure::of(&error)),
                    }),
            };
            let by = match watched {
                Ok(()) => By::Watch,
                Err(why) => {
                    failure = failure.or(why);
                    if known {
                        continue;
                    }
                    By::Looking(Look::at(&absolute))
                }
            };
            self.targets.insert(
                place,
                Target {
                    absolute,
                    identity,
                    by,
                },
            );
        }
        failure
    }

    fn release(&mut self, place: &Place, system: Option<&mut RecommendedWatcher>) {
        if let Some(target) = self.targets.remove(place)
            && matches!(target.by, By::Watch)
            && let Some(system) = system
        {
            // The system has dropped it already where the folder is gone.
            let _ = system.unwatch(&target.absolute);
        }
    }

    fn watches(&self) -> usize {
        self.targets
            .values()
            .filter(|target| matches!(target.by, By::Watch))
            .count()
    }

    /// Looks at every folder that has no watch.
    pub fn look(&mut self, pending: &mut Pending) {
        for (place, target) in &mut self.targets {
            let By::Looking(before) = &mut target.by else {
                continue;
            };
            let now = Look::at(&target.absolute);
            let difference = before.difference(&now);
            *before = now;
            match place {
                Place::Shown(relative) => {
                    if difference.entries {
                        pending.folders.insert(relative.clone());
                    }
                    let names = difference.names.iter().filter(|name| *name != ".git");
                    names.for_each(|name| pending.add_file(relative.join(name)));
                }
                Place::Git(_) => {
                    pending.git |= difference.names.iter().any(|name| {
                        let in_top =
                            !target.absolute.ends_with("logs") && !target.absolute.ends_with("heads");
                        let is_state = STATE_FILES.iter().any(|known| name == known);
                        is_state || (!in_top && !name.as_encoded_bytes().ends_with(b".lock"))
                    });
                }
            }
        }
    }
}

/// The few folders of a git directory that tell a checkout, a commit, a staging or a fetch. Never its objects.
fn git_folders(git: Option<&StateFolders>) -> Vec<PathBuf> {
    let Some(git) = git else {
        return Vec::new();
    };
    let mut folders = vec![
        git.own.clone(),
        git.common.join("refs/heads"),
        git.own.join("logs"),
    ];
    if git.common != git.own {
        folders.push(git.common.clone());
    }
    folders
}

fn identity(folder: &Path) -> Option<(u64, u64)> {
    let metadata = folder.symlink_metadata().ok()?;
    metadata.is_dir().then(|| (metadata.dev(), metadata.ino()))
}

fn is_ignored(workspace: &Workspace, relative: &Path) -> bool {
    let Ok(root) = workspace.open_root() else {
        return false;
    };
    rules_for(workspace, root.as_fd(), relative).is_ok_and(|(_, ignored)| ignored.is_some())
}
