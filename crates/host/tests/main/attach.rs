//! One host for one user.

use host::{HostConfig, Started, Target};

use crate::support::{Place, empty_folder};

#[test]
fn a_later_launch_finds_the_first_and_asks_it_for_a_window() {
    let mut place = Place::new();
    let workspace = empty_folder();
    let later = || HostConfig::new(place.home(), "/no/such/vibe-coder".into());
    let Started::Elsewhere(running) = place.runtime.block_on(host::start(later())).unwrap() else {
        panic!("two hosts");
    };
    assert_eq!(running.pid(), std::process::id());
    let target = Target::Folder {
        path: workspace.path().to_owned(),
        breadth: host::Breadth::Project,
    };
    let url = place.runtime.block_on(running.open(target)).unwrap();
    let path = url
        .strip_prefix(&format!("http://{}", place.authority()))
        .unwrap();
    let opened = place.get(path, &[]);
    assert_eq!(opened.status, 303);
    let contexts = place.host().registry().summaries();
    assert_eq!(contexts.len(), 1);
    assert_eq!(contexts[0].path, workspace.path().to_string_lossy());
    assert_eq!(
        opened.header("location"),
        Some(format!("/?context={}", contexts[0].context).as_str())
    );
    let gone = Target::Folder {
        path: "/no/such/folder".into(),
        breadth: host::Breadth::Project,
    };
    let error = place.runtime.block_on(running.open(gone)).unwrap_err();
    assert_eq!(error.code, protocol::ErrorCode::WorkspaceNotFound);

    place.end();
    assert!(place.home().host_record().is_none());
    // What a killed host leaves behind keeps nobody from becoming the host.
    let stale = "{\"pid\":1,\"port\":1,\"token\":\"x\",\"startedAt\":0}";
    std::fs::write(place.data().join("host.json"), stale).unwrap();
    let again = place.runtime.block_on(host::start(HostConfig::new(
        place.home(),
        "/no/such/vibe-coder".into(),
    )));
    let Ok(Started::Here(again)) = again else {
        panic!("no host after the first ended");
    };
    assert_eq!(place.record().port, again.port());
    let _inside = place.runtime.enter();
    drop(again);
}

#[test]
fn a_port_in_use_is_said_in_words() {
    let place = Place::new();
    let other = empty_folder();
    let mut config = HostConfig::new(store::DataHome::at(other.path().join("data")), "/x".into());
    config.port = place.port();
    let Err(error) = place.runtime.block_on(host::start(config)) else {
        panic!("two servers on one port");
    };
    assert_eq!(error.code, protocol::ErrorCode::HostBusy);
    assert!(error.message.contains(&place.port().to_string()) && error.user_action.is_some());
}
