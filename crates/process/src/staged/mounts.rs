//! Builds the view: what is mounted where, and in which order.
//!
//! First everything that is to stay reachable is picked up from the machine's tree as mounts that hang nowhere yet.
//! Then the whole tree becomes read-only. Then what was picked up is attached, outer places before inner ones:
//! private `/tmp`, `/run`, `/dev` and `/proc`, what stays readable in them, caches, what is hidden, and last the
//! workspace with its real folders.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::mount::{MountAttrFlags, MountPropagationFlags, mount_change};

use super::layers::{
    self, attach, copy_of, make_file, make_folder, make_folders, place, place_below, read_only_copy_of,
};
use super::spec::{Raw, Spec};
use super::{Repository, is_below, sys};

/// What could not be done, and why.
#[derive(Debug, thiserror::Error)]
#[error("{step}: {reason}")]
pub(super) struct Trouble {
    step: String,
    reason: String,
}

impl Trouble {
    pub(super) fn at<E: Display>(step: impl Into<String>) -> impl FnOnce(E) -> Self {
        let step = step.into();
        move |reason| Self {
            step,
            reason: reason.to_string(),
        }
    }
}

/// Replaced by empty ones of the command's own.
const PRIVATE: [&str; 4] = ["/tmp", "/var/tmp", "/run", "/dev"];
/// In `/run`, and needed to find names and programs.
const KEPT_IN_RUN: [&str; 3] = [
    "/run/systemd/resolve",
    "/run/current-system",
    "/run/opengl-driver",
];
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const RUN_BYTES: u64 = 4 << 20;
const SHARED_MEMORY_BYTES: u64 = 1 << 30;

/// Returns what the reader of the command's end should know.
pub(super) fn build(spec: &Spec) -> Result<Vec<String>, Trouble> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(Trouble::at("separating the mounts"))?;
    let scratch = place(&spec.scratch.0).map_err(Trouble::at("the scratch folder"))?;
    let workspace = Workspace::pick_up(spec)?;
    let machine = Machine::pick_up(spec, &scratch)?;

    let top = place(Path::new("/")).map_err(Trouble::at("the root folder"))?;
    let read_only = MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOSUID;
    sys::restrict_mounts(&top, read_only).map_err(Trouble::at("making the machine read-only"))?;

    machine.attach()?;
    workspace.attach(spec)
}

/// What is seen of the machine beside the workspace.
struct Machine {
    temporary: OwnedFd,
    devices: Vec<(&'static str, OwnedFd)>,
    readable: Vec<(PathBuf, OwnedFd)>,
    caches: Vec<(PathBuf, OwnedFd)>,
    hidden: Vec<PathBuf>,
    writable: Vec<(PathBuf, OwnedFd)>,
    closed: Vec<(PathBuf, OwnedFd)>,
}

impl Machine {
    fn pick_up(spec: &Spec, scratch: &OwnedFd) -> Result<Self, Trouble> {
        let failed = |what: &str| Trouble::at(what.to_owned());
        make_folder(scratch, "tmp", 0o700).map_err(failed("the private /tmp"))?;
        let temporary = place_below(scratch, Path::new("tmp"))
            .and_then(|folder| {
                let opened =
                    rustix::fs::openat(&folder, ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
                rustix::fs::fchmod(&opened, Mode::from_raw_mode(0o1777))?;
                copy_of(&folder)
            })
            .map_err(failed("the private /tmp"))?;
        let devices = DEVICES.iter().filter_map(|name| {
            let device = place(&Path::new("/dev").join(name)).and_then(copy_of).ok()?;
            Some((*name, device))
        });
        let devices = devices.collect();

        let writable_paths = real(&spec.writable);
        let mut writable = Vec::new();
        for path in &writable_paths {
            let copy = place(path).and_then(copy_of).map_err(failed("a writable path"))?;
            writable.push((path.clone(), copy));
        }
        let mut closed = Vec::new();
        for path in real(&spec.closed) {
            let copy = place(&path)
                .and_then(read_only_copy_of)
                .map_err(failed("a closed path"))?;
            closed.push((path, copy));
        }
        let kept = real(&spec.readable);
        let mut readable: Vec<(PathBuf, OwnedFd)> = Vec::new();
        let resolver = KEPT_IN_RUN.iter().map(PathBuf::from);
        for path in kept.iter().cloned().chain(resolver) {
            let would_be_gone = PRIVATE.iter().any(|folder| is_below(&path, Path::new(folder)));
            let comes_along = readable.iter().any(|(known, _)| path.starts_with(known));
            if would_be_gone
                && !comes_along
                && let Ok(copy) = place(&path).and_then(read_only_copy_of)
            {
                readable.push((path, copy));
            }
        }
        let hidden: Vec<PathBuf> = real(&spec.hidden)
            .into_iter()
            .filter(|path| !kept.contains(path) && !writable_paths.contains(path))
            .filter(|path| !spec.root.0.starts_with(path) && !path.starts_with(&spec.root.0))
            .collect();
        let usable = real(&spec.caches).into_iter().filter(|path| {
            path.is_dir() && !path.starts_with(&spec.root.0) && !spec.root.0.starts_with(path)
        });
        let mut caches: Vec<(PathBuf, OwnedFd)> = Vec::new();
        for (number, path) in usable.enumerate() {
            // Where no overlay can be had, the cache is read-only.
            if !caches.iter().any(|(known, _)| path.starts_with(known))
                && let Ok(cache) = cache(scratch, number, &path)
            {
                caches.push((path, cache));
            }
        }
        Ok(Self {
            temporary,
            devices,
            readable,
            caches,
            hidden,
            writable,
            closed,
        })
    }

    fn attach(self) -> Result<(), Trouble> {
        self.private_places()?;
        for (path, mount) in self.readable.iter().chain(&self.caches) {
            attach_at(mount, path)?;
        }
        let nothing = layers::memory(64 << 10, "0555").map_err(Trouble::at("hidden places"))?;
        sys::restrict_mounts(&nothing, MountAttrFlags::MOUNT_ATTR_RDONLY)
            .map_err(Trouble::at("hidden places"))?;
        let no_file = place(Path::new("/dev/null")).map_err(Trouble::at("hidden files"))?;
        for path in &self.hidden {
            // It may be hidden with a folder above it already.
            let Ok(target) = place(path) else { continue };
            let empty = match is_folder(&target) {
                true => copy_of(&nothing),
                false => copy_of(&no_file),
            };
            empty
                .and_then(|empty| attach(&empty, &target))
                .map_err(Trouble::at(format!("hiding {}", path.display())))?;
        }
        for (path, mount) in self.writable.iter().chain(&self.closed) {
            attach_at(mount, path)?;
        }
        Ok(())
    }

    fn private_places(&self) -> Result<(), Trouble> {
        let failed = |what: &str| Trouble::at(format!("the private {what}"));
        let attach_over = |mount: &OwnedFd, path: &str| attach(mount, place(Path::new(path))?);
        attach_over(&self.temporary, "/tmp").map_err(failed("/tmp"))?;
        // Some systems have none, or a link to /tmp.
        if let Ok(other) = copy_of(&self.temporary) {
            let _ = attach_over(&other, "/var/tmp");
        }
        let run = layers::memory(RUN_BYTES, "0755").map_err(failed("/run"))?;
        make_folder(&run, "user", 0o755).map_err(failed("/run"))?;
        let own = format!("user/{}", rustix::process::getuid().as_raw());
        make_folder(&run, own, 0o700).map_err(failed("/run"))?;
        // Not every container has one.
        let _ = attach_over(&run, "/run");

        let devices = layers::memory(1 << 20, "0755").map_err(failed("/dev"))?;
        for folder in ["pts", "shm"] {
            make_folder(&devices, folder, 0o755).map_err(failed("/dev"))?;
        }
        for (name, _) in &self.devices {
            make_file(&devices, name).map_err(failed("/dev"))?;
        }
        for (name, target) in [
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
            ("ptmx", "pts/ptmx"),
        ] {
            rustix::fs::symlinkat(target, &devices, name)
                .map_err(std::io::Error::from)
                .map_err(failed("/dev"))?;
        }
        attach_over(&devices, "/dev").map_err(failed("/dev"))?;
        for (name, device) in &self.devices {
            attach(
                device,
                place(&Path::new("/dev").join(name)).map_err(failed("/dev"))?,
            )
            .map_err(failed("/dev"))?;
        }
        // Programs do without terminals more easily than without anything else here.
        if let Ok(terminals) = layers::terminals() {
            attach_over(&terminals, "/dev/pts").map_err(failed("/dev/pts"))?;
        }
        let shared = layers::memory(SHARED_MEMORY_BYTES, "1777").map_err(failed("/dev/shm"))?;
        attach_over(&shared, "/dev/shm").map_err(failed("/dev/shm"))?;
        let processes = layers::processes().map_err(failed("/proc"))?;
        attach_over(&processes, "/proc").map_err(failed("/proc"))
    }
}

/// The workspace as the command finds it.
struct Workspace {
    overlay: OwnedFd,
    /// Relative, outer ones first.
    real_parts: Vec<(PathBuf, OwnedFd)>,
    /// Relative. If one cannot be put in place, the view must not be used.
    repository: Vec<(PathBuf, OwnedFd)>,
}

impl Workspace {
    fn pick_up(spec: &Spec) -> Result<Self, Trouble> {
        let root = place(&spec.root.0).map_err(Trouble::at("the workspace"))?;
        let upper = place(&spec.upper.0).map_err(Trouble::at("the upper layer"))?;
        let work = place(&spec.work.0).map_err(Trouble::at("the upper layer"))?;
        let overlay = layers::overlay(&root, &upper, &work).map_err(Trouble::at("the overlay"))?;
        let sorted: BTreeSet<&Path> = spec.kept.iter().map(|path| path.0.as_path()).collect();
        let real_parts = sorted.into_iter().filter_map(|path| {
            // Gone, or a link.
            let folder = place_below(&root, path).ok().filter(is_folder)?;
            Some((path.to_owned(), copy_of(&folder).ok()?))
        });
        let real_parts = real_parts.collect();
        let mut repository = Vec::new();
        let git = Path::new(".git");
        if let Ok(folder) = place_below(&root, git)
            && is_folder(&folder)
        {
            let failed = |error| Trouble::at("the repository")(error);
            match spec.repository {
                Repository::ReadOnly => {
                    repository.push((git.to_owned(), read_only_copy_of(&folder).map_err(failed)?));
                }
                Repository::Writable => {
                    repository.push((git.to_owned(), copy_of(&folder).map_err(failed)?));
                    for part in ["hooks", "config"] {
                        if let Ok(part_place) = place_below(&folder, Path::new(part)) {
                            let copy = read_only_copy_of(&part_place).map_err(failed)?;
                            repository.push((git.join(part), copy));
                        }
                    }
                }
            }
        }
        Ok(Self {
            overlay,
            real_parts,
            repository,
        })
    }

    fn attach(self, spec: &Spec) -> Result<Vec<String>, Trouble> {
        attach_at(&self.overlay, &spec.root.0)?;
        let root = place(&spec.root.0).map_err(Trouble::at("the view"))?;
        for (path, mount) in &self.real_parts {
            // Where the draft has something else there, the draft is what counts.
            if let Ok(target) = place_below(&root, path) {
                attach(mount, &target).map_err(Trouble::at(format!("the real {}", path.display())))?;
            }
        }
        for (path, mount) in &self.repository {
            place_below(&root, path)
                .and_then(|target| attach(mount, &target))
                .map_err(Trouble::at("the repository"))?;
        }
        hide_within(&root, spec)?;
        Ok(Vec::new())
    }
}

/// What the user keeps from commands within the workspace is empty there.
fn hide_within(root: &OwnedFd, spec: &Spec) -> Result<(), Trouble> {
    let inside = real(&spec.hidden)
        .into_iter()
        .filter_map(|path| path.strip_prefix(&spec.root.0).map(Path::to_owned).ok())
        .filter(|path| !path.as_os_str().is_empty());
    for path in inside {
        let Ok(target) = place_below(root, &path) else {
            continue;
        };
        let empty = match is_folder(&target) {
            true => layers::memory(64 << 10, "0555").and_then(|nothing| {
                sys::restrict_mounts(&nothing, MountAttrFlags::MOUNT_ATTR_RDONLY)?;
                Ok(nothing)
            }),
            false => place(Path::new("/dev/null")).and_then(copy_of),
        };
        empty
            .and_then(|empty| attach(&empty, &target))
            .map_err(Trouble::at(format!("hiding {}", path.display())))?;
    }
    Ok(())
}

/// A cache whose changes are thrown away.
fn cache(scratch: &OwnedFd, number: usize, path: &Path) -> std::io::Result<OwnedFd> {
    let (upper, work) = (format!("cache-{number}"), format!("cache-{number}-work"));
    make_folder(scratch, &upper, 0o755)?;
    make_folder(scratch, &work, 0o755)?;
    layers::overlay(
        place(path)?,
        place_below(scratch, Path::new(&upper))?,
        place_below(scratch, Path::new(&work))?,
    )
}

/// Attaches a mount at a path, which is made where a private place lacks it.
fn attach_at(mount: &OwnedFd, path: &Path) -> Result<(), Trouble> {
    let failed = |step: &str| Trouble::at(format!("{step} {}", path.display()));
    if path.symlink_metadata().is_err() {
        if let Some(parent) = path.parent() {
            make_folders(parent).map_err(failed("a place for"))?;
        }
        match is_folder(mount) {
            true => make_folder(CWD, path, 0o755),
            false => make_file(CWD, path),
        }
        .map_err(failed("a place for"))?;
    }
    let target = place(path).map_err(failed("finding"))?;
    attach(mount, &target).map_err(failed("mounting"))
}

/// Paths as they really are, through links; those that exist, once each, outer ones first.
fn real(paths: &[Raw]) -> Vec<PathBuf> {
    let found: BTreeSet<PathBuf> = paths
        .iter()
        .filter_map(|path| path.0.canonicalize().ok())
        .collect();
    found.into_iter().filter(|path| path.parent().is_some()).collect()
}

fn is_folder(place: &OwnedFd) -> bool {
    rustix::fs::fstat(place.as_fd())
        .is_ok_and(|status| FileType::from_raw_mode(status.st_mode) == FileType::Directory)
}
