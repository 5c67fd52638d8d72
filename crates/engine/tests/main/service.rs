//! The rest of what a window asks: git, settings, providers, its own state, and a hand on what runs.

use std::fs;

use protocol::{
    CommandState, ErrorCode, EventBody, ItemDelta, ItemKind, Mode,
    request::{
        Approvals, ChangesFileParams, ChangesListParams, CommandStopParams, EventsSubscribeParams, GitLetter,
        GitShowParams, GitStatusParams, Notice, ProvidersListParams, SessionListParams, SessionRenameParams,
        SessionStartParams, SettingsGetParams, SettingsSetParams, TurnSendParams, UiLoadParams, UiSaveParams,
    },
};
use serde_json::{Value, json};

use crate::support::{Lined, Place};
use engine::wire::Conversation;

#[tokio::test]
async fn git_is_told_by_letters_and_by_the_committed_text() {
    let place = Place::new(|_| {});
    let status = place.call(GitStatusParams {}).await;
    assert!(!status.repository && status.entries.is_empty());
    let show = |path: &str| GitShowParams {
        path: path.to_owned(),
    };
    let root = place.root();
    fs::write(root.join("a.txt"), "committed é\n").unwrap();
    assert_eq!(place.call(show("a.txt")).await.text, None);
    place.git(&["init", "-q", "-b", "main"]);
    assert_eq!(
        place.call(show("a.txt")).await.text,
        None,
        "before the first commit"
    );
    fs::create_dir(root.join("sub dir")).unwrap();
    fs::write(root.join("sub dir/ü -x.txt"), "deep\n").unwrap();
    fs::write(root.join("bin"), b"\0\x01").unwrap();
    fs::write(root.join("gone"), "old\n").unwrap();
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "first"]);

    fs::write(root.join("a.txt"), "staged\n").unwrap();
    place.git(&["add", "a.txt"]);
    fs::write(root.join("a.txt"), "and changed again\n").unwrap();
    fs::remove_file(root.join("gone")).unwrap();
    fs::write(root.join("new"), "").unwrap();
    let status = place.call(GitStatusParams {}).await;
    let entries: Vec<_> = status
        .entries
        .iter()
        .map(|entry| (entry.path.as_str(), entry.letter, entry.staged))
        .collect();
    assert_eq!(status.branch.as_deref(), Some("main"));
    assert_eq!(
        entries,
        [
            ("a.txt", GitLetter::Modified, true),
            ("a.txt", GitLetter::Modified, false),
            ("gone", GitLetter::Deleted, false),
            ("new", GitLetter::Untracked, false),
        ]
    );
    for (path, text) in [
        ("a.txt", Some("committed é\n")),
        ("sub dir/ü -x.txt", Some("deep\n")),
        ("gone", Some("old\n")),
        ("new", None),
        ("bin", None),
        ("sub dir", None),
        (".", None),
    ] {
        assert_eq!(place.call(show(path)).await.text.as_deref(), text, "{path}");
    }
    assert_eq!(place.code(show("../x")).await, ErrorCode::PathOutside);
}

#[tokio::test]
async fn a_setting_holds_at_once_and_one_that_would_break_the_next_start_is_not_kept() {
    let place = Place::new(|_| {});
    let mut other = Lined::new(&place.engine, Conversation::Only);
    let get = |key: &str| SettingsGetParams {
        key: Some(key.to_owned()),
    };
    let set = |key: &str, value: Value| SettingsSetParams {
        key: key.to_owned(),
        value,
    };
    let named = |providers: &[protocol::request::ProviderSummary], id: &str| {
        providers.iter().find(|provider| provider.id == id).cloned()
    };
    let providers = place.call(ProvidersListParams {}).await.providers;
    let anthropic = named(&providers, "anthropic").unwrap();
    assert!(!anthropic.ready && anthropic.problem.unwrap().contains("ANTHROPIC_API_KEY"));
    let scripted = named(&providers, "scripted").unwrap();
    assert!(scripted.ready && scripted.is_default);

    place
        .call(set(
            "providers.mine",
            json!({ "family": "openai-chat", "baseUrl": "http://127.0.0.1:9/v1", "model": "m" }),
        ))
        .await;
    place.call(set("defaultProvider", json!("mine"))).await;
    assert_eq!(place.call(get("defaultProvider")).await.value, json!("mine"));
    let notice = other.notice(|notice| *notice == Notice::SettingsChanged).await;
    assert!(notice.is_some());
    let providers = place.call(ProvidersListParams {}).await.providers;
    let mine = named(&providers, "mine").unwrap();
    assert!(mine.ready && mine.is_default && mine.models == ["m"], "{mine:?}");

    let before = place.call(SettingsGetParams { key: None }).await.value;
    for (key, value) in [
        ("providers.mine.family", json!("telepathy")),
        ("providers.other", json!({ "nonsense": 1 })),
        ("defaultMode", json!("wild")),
        ("nosuchsetting", json!(1)),
    ] {
        assert_eq!(
            place.code(set(key, value)).await,
            ErrorCode::SettingsInvalid,
            "{key}"
        );
        assert_eq!(
            place.call(SettingsGetParams { key: None }).await.value,
            before,
            "{key}"
        );
    }
    place.call(set("defaultProvider", Value::Null)).await;
    assert_eq!(place.call(get("defaultProvider")).await.value, Value::Null);
}

#[tokio::test]
async fn what_a_window_wants_back_survives_the_engine() {
    let place = Place::new(|_| {});
    let save = |key: &str, value: Value| UiSaveParams {
        key: key.to_owned(),
        value,
    };
    let load = || UiLoadParams {
        prefix: "draft/".to_owned(),
    };
    place.call(save("draft/b", json!("unsent\n你好"))).await;
    place.call(save("draft/a", json!({ "text": "x", "at": 3 }))).await;
    place.call(save("draft/gone", json!(1))).await;
    place.call(save("draft/gone", Value::Null)).await;
    place.call(save("layout", json!([1, 2]))).await;
    let large = json!("x".repeat(8 * 1024 * 1024));
    assert_eq!(
        place.code(save("draft/large", large)).await,
        ErrorCode::RequestInvalid
    );
    let key = "k".repeat(513);
    assert_eq!(place.code(save(&key, json!(1))).await, ErrorCode::RequestInvalid);

    let Place {
        folder,
        engine,
        client,
        ..
    } = place;
    drop(client);
    engine.shutdown().await;
    drop(engine);
    let engine = crate::support::open_when_free(folder.path()).await;
    let (client, _events) = engine::Client::in_process(engine);
    let entries = client.call(load()).await.unwrap().entries;
    let entries: Vec<_> = entries
        .into_iter()
        .map(|entry| (entry.key, entry.value, entry.updated_at > 0))
        .collect();
    assert_eq!(
        entries,
        [
            ("draft/a".to_owned(), json!({ "text": "x", "at": 3 }), true),
            ("draft/b".to_owned(), json!("unsent\n你好"), true),
        ]
    );
}

const WORKING: &str = "
steps:
  - tools:
      - name: edit_file
        arguments: { path: a.txt, old: one, new: two }
      - name: create_file
        arguments: { path: b.txt, content: \"new\\n\" }
      - name: delete_file
        arguments: { path: c.txt }
      - name: run_command
        arguments: { command: \"sleep 300 & sleep 300\" }
  - text: Done.
";

#[tokio::test]
async fn one_command_is_stopped_and_its_turn_goes_on_to_changes_that_are_shown_side_by_side() {
    let mut place = Place::with_scenario(WORKING, |root| {
        fs::write(root.join("a.txt"), "one\r\n").unwrap();
        fs::write(root.join("c.txt"), "gone\n").unwrap();
    });
    let session_id = place.call(SessionStartParams { title: None }).await.session_id;
    place.call(EventsSubscribeParams { from_seq: 0 }).await;
    place
        .call(TurnSendParams {
            session_id: session_id.clone(),
            text: "Work".to_owned(),
            mode: Mode::Agent,
            provider: Some("scripted".to_owned()),
            model: None,
            approvals: Approvals::Allow,
            timeout_ms: None,
        })
        .await;
    let mut command = None;
    let mut states = Vec::new();
    let mut title = None;
    while let Some(event) = place.events.recv().await {
        match event.body {
            EventBody::SessionRenamed { title: new } => title = Some(new),
            EventBody::ItemStarted { item } => {
                if let ItemKind::Command(started) = item.kind {
                    command = Some(started.command_id);
                }
            }
            EventBody::ItemDelta {
                delta: ItemDelta::Command { state },
                ..
            } => {
                states.push(state);
                if state == CommandState::Running {
                    let command_id = command.clone().unwrap();
                    place.call(CommandStopParams { command_id }).await;
                }
            }
            EventBody::ItemCompleted { item } => {
                if let ItemKind::Command(ended) = item.kind {
                    states.push(ended.state);
                }
            }
            EventBody::TurnCompleted { outcome, .. } => {
                assert_eq!(outcome, protocol::event::TurnOutcome::Completed);
                break;
            }
            _ => {}
        }
    }
    assert_eq!(title.as_deref(), Some("Work"));
    let ending = &states[states.len() - 2..];
    assert_eq!(
        ending,
        [CommandState::Stopping, CommandState::Stopped],
        "{states:?}"
    );
    // It has ended, so there is nothing to stop.
    let again = CommandStopParams {
        command_id: command.unwrap(),
    };
    assert_eq!(place.code(again).await, ErrorCode::RequestInvalid);

    let sets = place
        .call(ChangesListParams { session_id: None })
        .await
        .change_sets;
    let file = |path: &str| ChangesFileParams {
        id: sets[0].id.clone(),
        path: path.to_owned(),
    };
    for (path, before, after) in [
        ("a.txt", Some("one\r\n"), Some("two\r\n")),
        ("b.txt", None, Some("new\n")),
        ("c.txt", Some("gone\n"), None),
    ] {
        let sides = place.call(file(path)).await;
        assert_eq!(
            (sides.before.as_deref(), sides.after.as_deref()),
            (before, after),
            "{path}"
        );
    }
    assert_eq!(place.code(file("other")).await, ErrorCode::PathNotFound);

    let rename = |title: &str| SessionRenameParams {
        session_id: session_id.clone(),
        title: title.to_owned(),
    };
    place.call(rename("  A better name ")).await;
    assert_eq!(place.code(rename("  ")).await, ErrorCode::RequestInvalid);
    let sessions = place.call(SessionListParams {}).await.sessions;
    assert_eq!(sessions[0].title, "A better name");
}
