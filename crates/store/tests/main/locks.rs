use std::{path::PathBuf, time::Duration};

use protocol::{ErrorCode, RuntimeError};
use store::{DataHome, OpenError, Store, StoreError};

use crate::support::*;

/// Child: opens the workspace, says so, and holds it until its input is closed.
pub fn hold(arguments: &[PathBuf]) {
    let (store, _) = open(&DataHome::at(arguments[0].clone()), &arguments[1]);
    append(&store, created("held"));
    say("open");
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
}

#[test]
fn second_process_is_refused_by_name_or_waits_and_may_always_read() {
    let place = Place::new();
    let mut other = Other::start("hold", &[place.home.path(), &place.root]);
    assert_eq!(other.said().as_deref(), Some("open"));

    let refused = Store::open(&place.home, &place.root, Duration::from_millis(30)).unwrap_err();
    let OpenError::InUse { pid, .. } = &refused else {
        panic!("{refused}");
    };
    assert_eq!(*pid, Some(other.process.id()));
    let told = RuntimeError::from(refused);
    assert_eq!((told.code, told.retryable), (ErrorCode::StoreLocked, true));
    assert!(
        told.message.contains(&format!("process {}", other.process.id())),
        "{told}"
    );

    let reader = Store::open_read_only(&place.home, &place.root).unwrap();
    assert_eq!(sequence(&reader), [1]);
    let refused = reader.append(vec![event("a", 1, note("x"))], store::Durability::Normal);
    assert!(matches!(refused, Err(StoreError::ReadOnly { .. })));
    assert!(matches!(reader.put_blob(b"x"), Err(StoreError::ReadOnly { .. })));
    assert!(reader.scratch_dir().is_err());

    let waiting = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| Store::open(&place.home, &place.root, Duration::from_secs(20)));
        other.end();
        waiting.join().unwrap()
    });
    let (store, _) = waiting.unwrap();
    assert_eq!(append(&store, note("mine")), 2);
    assert_eq!(reader.last_seq().unwrap(), 2);
}

#[test]
fn killed_holder_leaves_no_lock() {
    let place = Place::new();
    let mut other = Other::start("hold", &[place.home.path(), &place.root]);
    assert_eq!(other.said().as_deref(), Some("open"));
    other.kill();
    assert_eq!(sequence(&place.open()), [1]);
}

#[test]
fn first_openings_at_the_same_time_share_one_folder() {
    let place = Place::new();
    let threads: Vec<_> = (0..6)
        .map(|_| {
            let (home, root) = (place.home.clone(), place.root.clone());
            std::thread::spawn(move || {
                let (store, _) = Store::open(&home, &root, Duration::from_secs(30)).unwrap();
                append(&store, note("x"));
                store.context_id().clone()
            })
        })
        .collect();
    let contexts: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(contexts.iter().all(|context| *context == contexts[0]));
    assert_eq!(sequence(&place.open()), (1..=6).collect::<Vec<_>>());
    assert_eq!(place.home.workspaces().unwrap().len(), 1);
}
