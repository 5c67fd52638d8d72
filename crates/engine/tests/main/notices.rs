//! What clients are told without asking, and that one client's leaving is no other's loss.

use std::{fs, time::Duration};

use engine::wire::Conversation;
use protocol::request::{FilesWatchParams, Notice};
use tokio_util::sync::CancellationToken;

use crate::support::{Lined, Place};

fn watch(folders: &[&str]) -> FilesWatchParams {
    FilesWatchParams {
        folders: folders.iter().map(|folder| (*folder).to_owned()).collect(),
    }
}

fn shared(place: &Place) -> Lined {
    let closing = CancellationToken::new();
    Lined::new(&place.engine, Conversation::Shared { closing })
}

fn files(notice: &Notice) -> bool {
    matches!(notice, Notice::FilesChanged { .. })
}

#[tokio::test]
async fn every_client_is_told_of_the_folders_any_of_them_shows() {
    let place = Place::new(|root| {
        fs::create_dir_all(root.join("a")).unwrap();
        fs::create_dir_all(root.join("b")).unwrap();
    });
    place.git(&["init", "-q"]);
    let (mut one, mut two) = (shared(&place), shared(&place));
    one.send(watch(&["a", "missing", "../outside", ".git"])).await;
    two.send(watch(&["", "b"])).await;
    // Until the watches are set.
    while one.notice_within(Duration::from_millis(700)).await.is_some() {}
    while two.notice_within(Duration::from_millis(100)).await.is_some() {}

    fs::write(place.root().join("a/new"), "").unwrap();
    for client in [&mut one, &mut two] {
        let notice = client.notice(files).await.expect("a notice");
        assert_eq!(
            notice,
            Notice::FilesChanged {
                folders: vec!["a".to_owned()],
                files: vec!["a/new".to_owned()],
            }
        );
    }
    // What one showed is released when it goes; the other is still told of its own.
    drop(one);
    tokio::time::sleep(Duration::from_millis(500)).await;
    fs::write(place.root().join("a/unseen"), "").unwrap();
    fs::write(place.root().join("b/seen"), "").unwrap();
    let notice = two.notice(files).await.expect("a notice");
    assert_eq!(
        notice,
        Notice::FilesChanged {
            folders: vec!["b".to_owned()],
            files: vec!["b/seen".to_owned()],
        }
    );
    fs::write(place.root().join("c"), "").unwrap();
    place.git(&["add", "c"]);
    assert!(two.notice(|notice| *notice == Notice::GitChanged).await.is_some());
}
