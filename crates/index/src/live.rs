//! The index of one workspace: which segments are current, and how they follow the files.
//!
//! Owns the set of segments and what is dead in them. A refresh compares the files' stamps with those indexed and
//! reads only what differs; readers work on an [`Arc`] of the state and are never blocked. Where segments are kept
//! is the caller's [`Shelf`]: this crate writes nothing.

use std::{
    collections::HashMap,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::UNIX_EPOCH,
};

use workspace::{
    Overlay, Stop, Workspace,
    walk::{Skipped, WalkError, WalkOptions, WalkedKind},
};

use crate::{
    analyse::{self, MAX_TEXT_BYTES, Seen},
    segment::{Builder, Coverage, Document, FileEntry, Segment, Source, Stamp},
};

/// A builder is finished when it holds about this much, so that indexing needs bounded memory.
const MAX_BUILDER_BYTES: usize = 48 * 1024 * 1024;
/// Segments with fewer files than this are put together when there are many of them.
const SMALL_SEGMENT_FILES: usize = 2_000;
const MAX_SMALL_SEGMENTS: usize = 12;
/// Files beyond this many are found by name only.
pub const MAX_FILES: usize = 250_000;

/// Files of which nothing may be kept, beside those whose name says so: the user's list.
pub type KeptOut<'a> = &'a (dyn Fn(&Path) -> bool + Sync);

fn is_secret(path: &Path, kept_out: KeptOut<'_>) -> bool {
    workspace::may_hold_credentials(path) || kept_out(path)
}

/// Where saved segments are kept between runs. Names are short and plain.
pub trait Shelf: Send + Sync {
    fn names(&self) -> io::Result<Vec<String>>;
    fn open(&self, name: &str) -> io::Result<File>;
    /// Whole or not at all.
    fn save(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    fn remove(&self, name: &str) -> io::Result<()>;
}

/// What a refresh did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    pub files: usize,
    /// New or changed, so read again.
    pub read: usize,
    pub removed: usize,
    /// Ended early, so some files are as they were before.
    pub stopped: bool,
    /// Files over [`MAX_FILES`], of which only the name is known.
    pub beyond_limit: usize,
    /// The index could not be kept on disk; it works, but is built anew next time.
    pub not_saved: Option<String>,
}

#[derive(Clone)]
pub(crate) struct Slot {
    pub segment: Arc<Segment>,
    name: String,
    /// For each file of the segment: whether no later segment has it and it still exists.
    pub current: Vec<bool>,
}

impl Slot {
    fn current_files(&self) -> usize {
        self.current.iter().filter(|current| **current).count()
    }
}

/// The index at one moment.
#[derive(Clone, Default)]
pub struct Snapshot {
    pub(crate) slots: Vec<Slot>,
    /// Where the current entry of each file is.
    pub(crate) places: HashMap<PathBuf, Place>,
    /// What the last walk left out.
    pub skipped: Skipped,
    /// Raised with every change.
    pub version: u64,
}

/// A file in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    pub slot: u32,
    pub file: u32,
}

impl Snapshot {
    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Every file that is known, in no order.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.places.keys().map(PathBuf::as_path)
    }

    pub(crate) fn entry(&self, place: Place) -> Option<&FileEntry> {
        self.slots
            .get(place.slot as usize)?
            .segment
            .files
            .get(place.file as usize)
    }

    /// Files whose text is not in the index, with the reason, in path order.
    pub fn left_out(&self) -> Vec<(&Path, Coverage)> {
        let mut left_out: Vec<(&Path, Coverage)> = self
            .current()
            .filter(|(_, entry)| entry.coverage != Coverage::Indexed)
            .map(|(_, entry)| (entry.path.as_path(), entry.coverage))
            .collect();
        left_out.sort();
        left_out
    }

    pub(crate) fn current(&self) -> impl Iterator<Item = (Place, &FileEntry)> {
        self.slots.iter().enumerate().flat_map(|(at, slot)| {
            slot.segment
                .files
                .iter()
                .enumerate()
                .filter(|(file, _)| slot.current[*file])
                .map(move |(file, entry)| {
                    (
                        Place {
                            slot: at as u32,
                            file: file as u32,
                        },
                        entry,
                    )
                })
        })
    }

    fn add(&mut self, segment: Arc<Segment>, name: String) {
        let slot = self.slots.len() as u32;
        for (file, entry) in segment.files.iter().enumerate() {
            let place = Place {
                slot,
                file: file as u32,
            };
            if let Some(old) = self.places.insert(entry.path.clone(), place) {
                self.end(old);
            }
        }
        self.slots.push(Slot {
            current: vec![true; segment.files.len()],
            segment,
            name,
        });
    }

    fn end(&mut self, place: Place) {
        if let Some(current) = self
            .slots
            .get_mut(place.slot as usize)
            .and_then(|slot| slot.current.get_mut(place.file as usize))
        {
            *current = false;
        }
    }

    fn remove(&mut self, path: &Path) -> bool {
        let Some(place) = self.places.remove(path) else {
            return false;
        };
        self.end(place);
        true
    }

    /// Drops segments of which nothing is current, and returns their names.
    fn sweep(&mut self) -> Vec<String> {
        if self.slots.iter().all(|slot| slot.current_files() > 0) {
            return Vec::new();
        }
        let (kept, dead): (Vec<Slot>, Vec<Slot>) = std::mem::take(&mut self.slots)
            .into_iter()
            .partition(|slot| slot.current_files() > 0);
        self.slots = kept;
        self.places = places_of(&self.slots);
        dead.into_iter().map(|slot| slot.name).collect()
    }
}

fn places_of(slots: &[Slot]) -> HashMap<PathBuf, Place> {
    let mut places = HashMap::new();
    for (at, slot) in slots.iter().enumerate() {
        for (file, entry) in slot.segment.files.iter().enumerate() {
            if slot.current[file] {
                let place = Place {
                    slot: at as u32,
                    file: file as u32,
                };
                places.insert(entry.path.clone(), place);
            }
        }
    }
    places
}

/// The index of a workspace, shared by its readers and the one that refreshes it.
pub struct CodeIndex {
    shelf: Arc<dyn Shelf>,
    now: RwLock<Arc<Snapshot>>,
    /// Held while the index changes.
    writing: Mutex<NextName>,
}

struct NextName(u64);

impl NextName {
    fn take(&mut self) -> String {
        self.0 += 1;
        format!("segment-{:08}", self.0)
    }
}

impl CodeIndex {
    /// The index as it was saved. What is damaged is dropped and read again by the next refresh.
    pub fn open(shelf: Arc<dyn Shelf>) -> Self {
        let mut names = shelf.names().unwrap_or_default();
        names.retain(|name| name.starts_with("segment-"));
        names.sort();
        let last = names
            .last()
            .and_then(|name| name.strip_prefix("segment-")?.parse().ok())
            .unwrap_or(0);
        let mut snapshot = Snapshot::default();
        for name in names {
            let opened = shelf
                .open(&name)
                .ok()
                .and_then(|file| Segment::open(Source::File(file)).ok());
            match opened {
                Some(segment) => snapshot.add(Arc::new(segment), name),
                None => drop(shelf.remove(&name)),
            }
        }
        for name in snapshot.sweep() {
            drop(shelf.remove(&name));
        }
        Self {
            shelf,
            now: RwLock::new(Arc::new(snapshot)),
            writing: Mutex::new(NextName(last)),
        }
    }

    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.now.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Brings the index up to date with all files of the workspace.
    pub fn refresh(
        &self,
        workspace: &Workspace,
        kept_out: KeptOut<'_>,
        stop: Stop<'_>,
    ) -> Result<Refreshed, WalkError> {
        let mut names = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut walk = workspace::walk::walk(workspace, &WalkOptions::default(), stop)?;
        walk.files.retain(|file| file.kind == WalkedKind::File);
        let mut report = Refreshed {
            files: walk.files.len(),
            beyond_limit: walk.files.len().saturating_sub(MAX_FILES),
            ..Refreshed::default()
        };
        walk.files.truncate(MAX_FILES);
        let before = self.snapshot();
        let mut next = Snapshot::clone(&before);
        let mut todo = Vec::new();
        for file in &walk.files {
            let stamp = stamp(workspace, &file.path);
            let known = before
                .places
                .get(&file.path)
                .and_then(|place| before.entry(*place));
            match (stamp, known) {
                (Some(stamp), Some(known))
                    if known.stamp == stamp
                        && (known.coverage == Coverage::Secret) == is_secret(&file.path, kept_out) => {}
                (stamp, _) => todo.push((file.path.clone(), stamp.unwrap_or_default())),
            }
        }
        if !walk.stopped {
            let found: std::collections::HashSet<&Path> =
                walk.files.iter().map(|file| file.path.as_path()).collect();
            let gone: Vec<PathBuf> = before
                .places
                .keys()
                .filter(|path| !found.contains(path.as_path()))
                .cloned()
                .collect();
            for path in gone {
                report.removed += usize::from(next.remove(&path));
            }
            next.skipped = walk.skipped;
        }
        report.read = todo.len();
        let reading = Reading {
            workspace,
            kept_out,
            stop,
        };
        self.index(reading, &todo, &mut next, &mut names, &mut report);
        report.stopped = walk.stopped || stop();
        self.put_together(reading, &mut next, &mut names, &mut report);
        self.publish(next, report.read + report.removed > 0);
        Ok(report)
    }

    /// Brings the index up to date with a few files that are known to have changed, appeared or gone. A path that is
    /// ignored must not be given.
    pub fn update(
        &self,
        workspace: &Workspace,
        paths: &[PathBuf],
        kept_out: KeptOut<'_>,
        stop: Stop<'_>,
    ) -> Refreshed {
        let mut names = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.snapshot();
        let mut next = Snapshot::clone(&before);
        let mut report = Refreshed::default();
        let mut todo = Vec::new();
        for path in paths {
            match stamp(workspace, path) {
                Some(stamp) => {
                    let known = before.places.get(path).and_then(|place| before.entry(*place));
                    if known.is_none_or(|known| known.stamp != stamp) {
                        todo.push((path.clone(), stamp));
                    }
                }
                None => report.removed += usize::from(next.remove(path)),
            }
        }
        report.read = todo.len();
        let reading = Reading {
            workspace,
            kept_out,
            stop,
        };
        self.index(reading, &todo, &mut next, &mut names, &mut report);
        self.put_together(reading, &mut next, &mut names, &mut report);
        report.files = next.places.len();
        self.publish(next, report.read + report.removed > 0);
        report
    }

    fn publish(&self, mut next: Snapshot, changed: bool) {
        for name in next.sweep() {
            drop(self.shelf.remove(&name));
        }
        next.version += u64::from(changed);
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
    }

    /// Reads files on all processors and adds them as new segments.
    fn index(
        &self,
        reading: Reading<'_>,
        todo: &[(PathBuf, Stamp)],
        next: &mut Snapshot,
        names: &mut NextName,
        report: &mut Refreshed,
    ) {
        if todo.is_empty() {
            return;
        }
        let Reading {
            workspace,
            kept_out,
            stop,
        } = reading;
        let place = AtomicUsize::new(0);
        let finished: Mutex<Vec<Finished>> = Mutex::new(Vec::new());
        let names = Mutex::new(names);
        let finish = |builder: Builder| {
            let name = names.lock().unwrap_or_else(PoisonError::into_inner).take();
            let part = self.finish(builder, name);
            finished.lock().unwrap_or_else(PoisonError::into_inner).push(part);
        };
        let work = || {
            let mut builder = Builder::default();
            while let Some((path, stamp)) = todo.get(place.fetch_add(1, Ordering::Relaxed)) {
                if stop() {
                    break;
                }
                let (seen, hash) = look(workspace, path, *stamp, kept_out, stop);
                if stop() {
                    // What was seen may be cut short.
                    break;
                }
                builder.add(&Document {
                    path,
                    stamp: *stamp,
                    hash,
                    language: seen.language,
                    coverage: seen.coverage,
                    text: &seen.text,
                    outline: &seen.outline,
                });
                if builder.held_bytes() > MAX_BUILDER_BYTES {
                    finish(std::mem::take(&mut builder));
                }
            }
            if builder.file_count() > 0 {
                finish(builder);
            }
        };
        let threads = match todo.len() {
            0..16 => 1,
            _ => std::thread::available_parallelism().map_or(1, |count| count.get().min(8)),
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        let finished = finished.into_inner().unwrap_or_else(PoisonError::into_inner);
        for part in finished {
            if let Some(problem) = part.not_saved {
                report.not_saved = Some(problem);
            }
            match part.segment {
                Some(segment) => next.add(Arc::new(segment), part.name),
                None => report.not_saved = Some("a finished part could not be read back".to_owned()),
            }
        }
    }

    fn finish(&self, builder: Builder, name: String) -> Finished {
        let bytes = builder.finish();
        let saved = self
            .shelf
            .save(&name, &bytes)
            .and_then(|()| self.shelf.open(&name));
        let (source, not_saved) = match saved {
            Ok(file) => (Source::File(file), None),
            Err(error) => (Source::Memory(bytes.into()), Some(error.to_string())),
        };
        Finished {
            segment: Segment::open(source).ok(),
            name,
            not_saved,
        }
    }

    /// Many small segments make every search look in many places: their files are read once more into one.
    fn put_together(
        &self,
        reading: Reading<'_>,
        next: &mut Snapshot,
        names: &mut NextName,
        report: &mut Refreshed,
    ) {
        let small: Vec<&Slot> = next
            .slots
            .iter()
            .filter(|slot| slot.current_files() < SMALL_SEGMENT_FILES)
            .collect();
        if small.len() <= MAX_SMALL_SEGMENTS {
            return;
        }
        let todo: Vec<(PathBuf, Stamp)> = small
            .iter()
            .flat_map(|slot| {
                let files = slot.segment.files.iter().zip(&slot.current);
                files.filter(|(_, current)| **current)
            })
            .filter_map(|(entry, _)| Some((entry.path.clone(), stamp(reading.workspace, &entry.path)?)))
            .collect();
        self.index(reading, &todo, next, names, report);
    }
}

/// How files are read: where, what is kept out, and whether to go on.
#[derive(Clone, Copy)]
struct Reading<'a> {
    workspace: &'a Workspace,
    kept_out: KeptOut<'a>,
    stop: Stop<'a>,
}

struct Finished {
    segment: Option<Segment>,
    name: String,
    not_saved: Option<String>,
}

fn stamp(workspace: &Workspace, path: &Path) -> Option<Stamp> {
    let metadata = std::fs::symlink_metadata(workspace.root().join(path)).ok()?;
    if !metadata.is_file() {
        return None;
    }
    let modified = metadata
        .modified()
        .ok()?
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Some(Stamp {
        size: metadata.len(),
        modified: modified.as_nanos() as u64,
    })
}

/// The stamp is older than the content: a file that changes while it is read is read again at the next refresh.
fn look(
    workspace: &Workspace,
    path: &Path,
    stamp: Stamp,
    kept_out: KeptOut<'_>,
    stop: Stop<'_>,
) -> (Seen, [u8; 16]) {
    if is_secret(path, kept_out) {
        return (analyse::left_out(path, Coverage::Secret), [0; 16]);
    }
    if stamp.size > MAX_TEXT_BYTES {
        return (analyse::left_out(path, Coverage::TooLarge), [0; 16]);
    }
    let read = workspace
        .resolve(path)
        .ok()
        .and_then(|path| workspace::read_bytes(&path, &Overlay::default(), MAX_TEXT_BYTES * 2).ok());
    let Some(read) = read else {
        return (analyse::left_out(path, Coverage::Unreadable), [0; 16]);
    };
    let mut hash = [0; 16];
    hash.copy_from_slice(&blake3::hash(&read.bytes).as_bytes()[..16]);
    (analyse::look(path, &read.bytes, &|| stop()), hash)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make the files they read")]
mod tests;
