use std::{collections::HashSet, fs, io::Write, path::PathBuf};

use protocol::{ArtifactId, tool::ArtifactKind};
use store::{GcReport, StoreError};

use crate::support::*;

fn blob_files(store: &store::Store) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in fs::read_dir(store.data_folder().join("blobs")).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            files.push(file.unwrap().path());
        }
    }
    files
}

#[test]
fn blobs_are_kept_once_and_verified() {
    let place = Place::new();
    let store = place.open();
    for content in [&b""[..], b"text", &[0, 255, 10, 13], &vec![7; 300_000]] {
        let hash = store.put_blob(content).unwrap();
        assert_eq!(hash.0, blake3::hash(content).to_hex().as_str());
        assert_eq!(store.put_blob(content).unwrap(), hash);
        assert_eq!(store.blob(&hash).unwrap(), content);
    }
    assert_eq!(blob_files(&store).len(), 4);

    let hash = store.put_blob(b"text").unwrap();
    let file = blob_files(&store)
        .into_iter()
        .find(|path| path.ends_with(&hash.0))
        .unwrap();
    fs::write(&file, "tex_").unwrap();
    assert!(matches!(store.blob(&hash), Err(StoreError::BlobDamaged(damaged)) if damaged == hash));
    store.put_blob(b"text").unwrap();
    assert_eq!(store.blob(&hash).unwrap(), b"text");
    fs::remove_file(&file).unwrap();
    assert!(matches!(store.blob(&hash), Err(StoreError::BlobMissing(missing)) if missing == hash));
    for evil in ["../../settings.json", "", "/etc/passwd", "é"] {
        let evil = protocol::ContentHash(evil.to_owned());
        assert!(store.blob(&evil).is_err());
    }
}

/// U05: bounded, the oldest first, never what is in use.
#[test]
fn unused_blobs_go_oldest_first_until_the_budget_holds() {
    let place = Place::new();
    let store = place.open();
    let hashes: Vec<_> = (0..6_u8)
        .map(|number| {
            let hash = store.put_blob(&[number; 1000]).unwrap();
            let path = blob_files(&store)
                .into_iter()
                .find(|path| path.ends_with(&hash.0))
                .unwrap();
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(u64::from(number) + 1);
            fs::File::open(path).unwrap().set_modified(time).unwrap();
            hash
        })
        .collect();
    fs::write(store.data_folder().join("blobs").join("README"), "not a blob").unwrap();
    let live: HashSet<_> = [hashes[0].clone(), hashes[3].clone()].into();
    let kept = |expected: &[usize]| {
        let kept: Vec<_> = (0..6).filter(|&number| store.has_blob(&hashes[number])).collect();
        assert_eq!(kept, expected);
    };

    let report = store.collect_garbage(&live, 4500).unwrap();
    assert_eq!(
        report,
        GcReport {
            removed: 2,
            removed_bytes: 2000,
            kept: 4,
            kept_bytes: 4000
        }
    );
    kept(&[0, 3, 4, 5]);
    assert_eq!(store.collect_garbage(&live, 4000).unwrap().removed, 0);
    let report = store.collect_garbage(&live, 0).unwrap();
    assert_eq!((report.removed, report.kept_bytes), (2, 2000));
    kept(&[0, 3]);
    assert!(store.data_folder().join("blobs/README").exists());
}

#[test]
fn artifact_is_readable_while_written_and_ends_at_its_cap() {
    let place = Place::new();
    let store = place.open();
    let mut writer = store
        .create_capped_artifact(&session("a"), ArtifactKind::CommandLog, 10)
        .unwrap();
    let id = writer.id().clone();
    writer.write_all(b"hello ").unwrap();
    assert_eq!(store.read_artifact(&id, 1, 3).unwrap(), (b"ell".to_vec(), 6));
    assert_eq!(store.artifact(&id).unwrap().unwrap().size_bytes, 6);
    writer.write_all(b"world").unwrap();
    writer.write_all(b"more").unwrap();
    assert_eq!(writer.dropped_bytes(), 5);
    let finished = writer.finish().unwrap();
    let (text, size) = store.read_artifact(&id, 0, 1000).unwrap();
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "hello worl\n[Recording stopped: the limit of 10 bytes is reached.]\n"
    );
    assert_eq!(finished.size_bytes, size);
    assert_eq!(store.read_artifact(&id, 10_000, 5).unwrap(), (Vec::new(), size));
    assert_eq!(store.artifacts(&session("a")).unwrap(), [finished]);
    assert_eq!(store.artifacts(&session("b")).unwrap(), []);
    for unknown in ["art_none", "../store.db", ""] {
        let unknown = ArtifactId::from_text(unknown);
        let error = store.read_artifact(&unknown, 0, 1).unwrap_err();
        assert!(matches!(error, StoreError::ArtifactMissing(_)), "{error}");
    }
}

#[test]
fn scratch_folder_is_removed_with_what_it_holds() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let store = place.open();
    fs::write(place.root.join("user.txt"), "mine").unwrap();
    let scratch = store.scratch_dir().unwrap();
    let other = store.scratch_dir().unwrap();
    let path = scratch.path().to_owned();
    assert_ne!(path, other.path());
    let locked = path.join("locked");
    fs::create_dir(&locked).unwrap();
    fs::write(locked.join("file"), "x").unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    std::os::unix::fs::symlink(&place.root, path.join("link")).unwrap();
    drop(scratch);
    assert!(!path.exists());
    assert!(other.path().exists());
    assert_eq!(fs::read(place.root.join("user.txt")).unwrap(), b"mine");
}
