//! What must not grow with what was done before: the same work in a short and a long session, a small and a large
//! change set, a small and a large workspace.

use std::time::{Duration, Instant};

use engine::Timeline;
use protocol::{
    EventBody, ItemId, ItemKind, ItemStatus, Mode, SessionId, SessionState, TimelineItem, TurnId, Usage,
    event::TurnOutcome,
};
use store::{DataHome, Durability, NewEvent, SessionRow, Store};
use testkit::Hermetic;
use workspace::Workspace;

use crate::{
    Options, accept,
    exec::{self, Start},
    table::{Samples, Table},
};

const SHORT: usize = 50;
const LONG: usize = 5_000;

pub fn run(options: &Options) {
    session_length(options);
    log_length(options);
    change_set_size();
    workspace_size(options);
}

fn session_length(options: &Options) {
    let mut table = Table::new(&format!(
        "growth: one `exec --session` turn, {} runs",
        options.runs
    ));
    for (events, make) in [
        (SHORT, short_session as fn(&Hermetic) -> String),
        (LONG, long_session),
    ] {
        let figures = exec::measure(options.runs, 200, &Start::Resumed(make));
        row(&mut table, &format!("{events} events"), &figures);
    }
    table.print();
}

fn workspace_size(options: &Options) {
    let mut table = Table::new(&format!("growth: one `exec` turn, {} runs", options.runs));
    for files in [100, 50_000] {
        let figures = exec::measure(options.runs, files, &Start::Fresh);
        row(&mut table, &format!("{files} files"), &figures);
    }
    table.print();
}

fn row(table: &mut Table, what: &str, figures: &exec::Figures) {
    table.row(
        &format!("{what}: start to first request"),
        "ms",
        &figures.start_ms,
        "",
    );
    table.row(
        &format!("{what}: CPU of the engine"),
        "ms",
        &figures.own_cpu_ms,
        "",
    );
    table.row(&format!("{what}: memory (PSS)"), "MB", &figures.pss_mb, "");
}

fn change_set_size() {
    let mut table = Table::new("growth: accept");
    for (files, runs) in [(1, 9), (100, 5), (1_000, 3)] {
        let figures = accept::measure(runs, files);
        table.row(&format!("{files} files"), "ms", &figures.accept_ms, "");
    }
    table.print();
}

/// Appending to and folding a log of each length.
fn log_length(options: &Options) {
    let mut table = Table::new(&format!("growth: the event log, {} runs", options.runs));
    for count in [SHORT, LONG] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let workspace = folder.path().join("ws");
        std::fs::create_dir(&workspace).expect("a folder");
        let store = open(&folder.path().join("data"), &workspace);
        let session = fill(&store, count);
        let mut append = Samples::default();
        let mut fold = Samples::default();
        for _ in 0..options.runs {
            let events = turn_events(&session).take(10).collect::<Vec<_>>();
            let begun = Instant::now();
            for event in events {
                store.append(vec![event], Durability::Normal).expect("an append");
            }
            append.push(begun.elapsed().as_secs_f64() * 1e6 / 10.0);
            let page = store.session_events(&session).expect("events");
            let begun = Instant::now();
            let timeline = Timeline::of(&page.events);
            fold.push(begun.elapsed().as_secs_f64() * 1e6 / page.events.len() as f64);
            assert!(!timeline.items().is_empty());
        }
        table.row(&format!("{count} events: append one"), "µs", &append, "");
        table.row(&format!("{count} events: fold, per event"), "µs", &fold, "");
    }
    table.print();
}

fn short_session(place: &Hermetic) -> String {
    session(place, SHORT)
}

fn long_session(place: &Hermetic) -> String {
    session(place, LONG)
}

/// Only events: the messages a model is sent grow a request whatever the log costs.
fn session(place: &Hermetic, events: usize) -> String {
    let workspace = Workspace::open(&place.workspace(), workspace::Breadth::Any).expect("a workspace");
    let store = open(&place.data(), workspace.root());
    fill(&store, events).to_string()
}

fn open(data: &std::path::Path, workspace: &std::path::Path) -> Store {
    let home = DataHome::at(data.to_owned());
    Store::open(&home, workspace, Duration::ZERO).expect("a store").0
}

/// A session of whole turns with about `count` events.
fn fill(store: &Store, count: usize) -> SessionId {
    let id = SessionId::mint();
    store
        .put_session(&SessionRow {
            id: id.clone(),
            title: "A long conversation".to_owned(),
            created_at: 1,
            updated_at: 1,
            state: SessionState::Complete,
            settings: serde_json::json!({}),
        })
        .expect("a session");
    let mut events = Vec::new();
    while events.len() < count {
        events.extend(turn_events(&id));
    }
    store.append(events, Durability::Normal).expect("events");
    id
}

/// A question, ten items of work with their beginnings, an answer, and the turn's end: 24 events.
fn turn_events(session: &SessionId) -> impl Iterator<Item = NewEvent> {
    let turn_id = TurnId::mint();
    let item = |status, kind| TimelineItem {
        id: ItemId::mint(),
        session_id: session.clone(),
        correlation_id: turn_id.clone(),
        created_at: 1,
        updated_at: None,
        status,
        visible: true,
        kind,
    };
    let message = |text: &str| ItemKind::AssistantMessage {
        text: text.to_owned(),
        provider: "anthropic".to_owned(),
        model: "sample".to_owned(),
    };
    let mut bodies = vec![
        EventBody::TurnStarted {
            turn_id: turn_id.clone(),
            mode: Mode::Agent,
            provider: "anthropic".to_owned(),
            model: "sample".to_owned(),
        },
        EventBody::ItemCompleted {
            item: item(
                ItemStatus::Succeeded,
                ItemKind::UserMessage {
                    text: "Go on with the next part of the plan.".to_owned(),
                    mode: Mode::Agent,
                },
            ),
        },
    ];
    for _ in 0..10 {
        let started = item(ItemStatus::Running, message(""));
        let mut completed = started.clone();
        completed.status = ItemStatus::Succeeded;
        completed.kind = message(&"The part was read and the next step is clear. ".repeat(8));
        bodies.push(EventBody::ItemStarted { item: started });
        bodies.push(EventBody::ItemCompleted { item: completed });
    }
    bodies.push(EventBody::SessionStateChanged {
        from: SessionState::Executing,
        to: SessionState::Complete,
        reason: None,
    });
    bodies.push(EventBody::TurnCompleted {
        turn_id,
        outcome: TurnOutcome::Completed,
        usage: Usage::default(),
        cost: None,
        duration_ms: 1,
    });
    let session = session.clone();
    bodies.into_iter().map(move |body| NewEvent {
        session_id: Some(session.clone()),
        at: 1,
        body,
    })
}
