//! Accepting a change set of many files, against `cp` of the same files on the same disk: half of them modified, half
//! created.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use changeset::ChangeSets;
use protocol::{ChangeSetId, SessionId, ToolCallId, changes::Selection};
use store::{DataHome, Store};
use workspace::{Breadth, Workspace};

use crate::{
    Options, product,
    table::{Samples, Table},
};

const FILES: usize = 100;

pub fn run(options: &Options) {
    let mut table = Table::new(&format!(
        "accept: {FILES} files, half modified, half created, {} runs",
        options.runs
    ));
    let figures = measure(options.runs, FILES);
    table.row("accept", "ms", &figures.accept_ms, "");
    table.row("cp of the same files", "ms", &figures.copy_ms, "");
    table.row(
        "cp and sync of the same files",
        "ms",
        &figures.durable_copy_ms,
        "",
    );
    let ratio = |to: &Samples| {
        let mut ratio = Samples::default();
        ratio.push(figures.accept_ms.median() / to.median());
        ratio
    };
    table.row("accept / cp", "×", &ratio(&figures.copy_ms), "");
    table.row("accept / cp and sync", "×", &ratio(&figures.durable_copy_ms), "");
    table.print();
}

#[derive(Default)]
pub struct Figures {
    pub accept_ms: Samples,
    pub copy_ms: Samples,
    pub durable_copy_ms: Samples,
}

pub fn measure(runs: usize, files: usize) -> Figures {
    let mut figures = Figures::default();
    for _ in 0..runs {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (sets, id) = proposed(folder.path(), files);
        let begun = Instant::now();
        let applied = sets.accept(&id, &Selection::All).expect("an accept");
        figures.accept_ms.push_ms(begun.elapsed());
        assert_eq!(applied.files_written.len(), files);

        let from = folder.path().join("ws/src");
        figures.copy_ms.push_ms(copy(&from, &folder.path().join("copy")));
        let to = folder.path().join("copy-durable");
        let copied = copy(&from, &to);
        let begun = Instant::now();
        let written = files_below(&to);
        let synced = Command::new("sync").arg("-d").args(&written).status();
        assert!(synced.expect("sync runs").success());
        figures.durable_copy_ms.push_ms(copied + begun.elapsed());
    }
    figures
}

/// A change set of `files` files that waits for review in a workspace below `folder`.
pub fn proposed(folder: &Path, files: usize) -> (ChangeSets, ChangeSetId) {
    let root = folder.join("ws");
    for number in (0..files).step_by(2) {
        let path = root.join(product::source_path(number));
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, product::source_text(number)).expect("a file");
    }
    let workspace = Workspace::open(&root, Breadth::Project).expect("a workspace");
    let home = DataHome::at(folder.join("data"));
    let (store, _) = Store::open(&home, workspace.root(), Duration::ZERO).expect("a store");
    let (sets, _) = ChangeSets::open(store, workspace.clone()).expect("change sets");
    let session = SessionId::mint();
    // One patch as one call: the drafting is not what is measured.
    let mut patch = String::new();
    for number in 0..files {
        let path = product::source_path(number);
        let text = product::source_text(number);
        if number % 2 == 0 {
            patch.push_str(&format!(
                "--- a/{path}\n+++ b/{path}\n@@ -3,1 +3,1 @@\n-pub const NUMBER: u32 = {number};\n+pub const NUMBER: u32 = {};\n",
                number + 1
            ));
        } else {
            let lines = text.lines().count();
            patch.push_str(&format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{lines} @@\n"));
            text.lines()
                .for_each(|line| patch.push_str(&format!("+{line}\n")));
        }
    }
    sets.patch(&session, &ToolCallId("call".to_owned()), &patch)
        .expect("a draft");
    let set = sets.propose(&session).expect("a proposal").expect("changes");
    (sets, set.id)
}

fn copy(from: &Path, to: &Path) -> Duration {
    let begun = Instant::now();
    let copied = Command::new("cp").arg("-r").arg(from).arg(to).status();
    assert!(copied.expect("cp runs").success());
    begun.elapsed()
}

fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    testkit::tree(folder)
        .into_iter()
        .filter(|(_, shape)| shape.starts_with("file"))
        .map(|(path, _)| folder.join(path))
        .collect()
}
