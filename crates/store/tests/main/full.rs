use std::{
    collections::HashSet,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use protocol::{ErrorCode, FilesChanged, RuntimeError, tool::ArtifactKind};
use store::{DataHome, Durability, OpenOptions, Store, StoreError};

use crate::support::*;

/// Puts events and blobs until there is no room, then checks that all of it is readable, that nothing of a failed
/// write stayed, and that writing works again once there is room.
fn fill_read_and_go_on(store: &Store, make_room: impl FnOnce(&Store)) {
    let text = "x".repeat(20_000);
    let mut blobs = Vec::new();
    for number in 0_u32.. {
        match store.put_blob(format!("{number}{text}").as_bytes()) {
            Ok(hash) => blobs.push(hash),
            Err(error) => {
                assert_full(error);
                break;
            }
        }
        if number % 3 == 0 {
            append(store, user(&text));
        }
    }
    let mut appended = store.last_seq().unwrap();
    let error = loop {
        match store.append(
            vec![event("a", 1, note(&text)), event("a", 1, user(&text))],
            Durability::Normal,
        ) {
            Ok(events) => appended = events.last().unwrap().seq,
            Err(error) => break error,
        }
    };
    assert_full(error);
    assert_eq!(store.last_seq().unwrap(), appended);
    assert_eq!(sequence(store), (1..=appended).collect::<Vec<_>>());
    for hash in &blobs {
        assert!(store.blob(hash).is_ok());
    }
    // A log of a command that runs meanwhile: either it cannot be begun, or its writing fails; it never lies.
    if let Ok(mut artifact) = store.create_artifact(&session("a"), ArtifactKind::CommandLog) {
        assert!(artifact.write_all(&vec![b'x'; 4_000_000]).is_err());
        drop(artifact.finish());
    }
    make_room(store);
    assert_eq!(append(store, user("after")), appended + 1);
    store.put_blob(b"after").unwrap();
    assert_eq!(sequence(store).len() as u64, appended + 1);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

fn assert_full(error: StoreError) {
    let told = RuntimeError::from(error);
    assert_eq!(told.code, ErrorCode::StoreFull, "{told}");
    assert_eq!(told.files_changed, FilesChanged::None);
    assert!(
        told.user_action
            .is_some_and(|action| action.contains("not changed"))
    );
}

#[test]
fn limit_of_the_settings_holds_and_room_lifts_it() {
    let place = Place::new();
    let options = OpenOptions {
        limit_bytes: Some(1_500_000),
        ..OpenOptions::default()
    };
    let (store, _) = Store::open_with(&place.home, &place.root, options).unwrap();
    fill_read_and_go_on(&store, |store| {
        let size: u64 = size_of(store.data_folder());
        assert!(size < 1_600_000, "{size}");
        store.collect_garbage(&HashSet::new(), 0).unwrap();
    });
    let mut artifact = store
        .create_artifact(&session("a"), ArtifactKind::CommandLog)
        .unwrap();
    let error = artifact.write_all(&vec![b'x'; 4_000_000]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::QuotaExceeded);
    artifact.write_all(b"small").unwrap();
    assert_eq!(artifact.finish().unwrap().size_bytes, 5);
    drop(store);

    // What is there counts from the start; without a limit there is room.
    let full = OpenOptions {
        limit_bytes: Some(100_000),
        ..OpenOptions::default()
    };
    let (store, _) = Store::open_with(&place.home, &place.root, full).unwrap();
    assert_full(store.put_blob(&[1; 1000]).unwrap_err());
    drop(store);
    place
        .home
        .set_setting("store.limitBytes", 100_000.into())
        .unwrap();
    let (store, _) = Store::open(&place.home, &place.root, Duration::ZERO).unwrap();
    assert_full(store.put_blob(&[1; 1000]).unwrap_err());
    drop(store);
    place.home.unset_setting("store.limitBytes").unwrap();
    place.open().put_blob(&[1; 1000]).unwrap();
}

/// The log that SQLite keeps beside the database is bounded by itself and not part of the limit.
fn size_of(folder: &Path) -> u64 {
    let mut size = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        if metadata.is_dir() {
            size += size_of(&entry.path());
        } else if !entry.file_name().to_string_lossy().starts_with("store.db-") {
            size += metadata.len();
        }
    }
    size
}

/// Child, on a file system of 3 MiB.
pub fn fill(arguments: &[PathBuf]) {
    let ballast = arguments[0].join("ballast");
    std::fs::write(&ballast, vec![0; 1_000_000]).unwrap();
    let (store, _) = open(&DataHome::at(arguments[0].join("home")), &arguments[1]);
    fill_read_and_go_on(&store, |_| std::fs::remove_file(&ballast).unwrap());
    let home = DataHome::at(arguments[0].join("home"));
    let mut rest = std::fs::File::create(arguments[0].join("rest")).unwrap();
    while rest.write_all(&[0; 512]).is_ok() {}
    let before = home.set_setting("defaultModel", "x".repeat(20_000).into());
    assert_eq!(RuntimeError::from(before.unwrap_err()).code, ErrorCode::StoreFull);
    assert_eq!(home.settings().unwrap(), store::Settings::default());
    say("done");
}

/// A really full disk, where this machine lets a user mount one.
#[test]
fn full_disk_loses_nothing_and_is_told() {
    let place = Place::new();
    let disk = place.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount = "mount -t tmpfs -o size=3m tmpfs \"$0\" && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", mount]).arg(&disk);
    let possible = Command::new("unshare")
        .args(["-rm", "sh", "-c", mount])
        .arg(&disk)
        .arg("true")
        .status();
    if !possible.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    command
        .arg(std::env::current_exe().unwrap())
        .args(["support::child", "--exact", "--nocapture"]);
    let mut other = Other::spawn(&mut command, "fill", &[&disk, &place.root]);
    assert_eq!(other.said().as_deref(), Some("done"));
    other.end();
}
