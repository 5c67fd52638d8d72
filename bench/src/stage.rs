//! What the staged view costs: a command that does nothing, run plainly and in a view with a draft of one file, in
//! workspaces of 100 and of 100,000 files.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use changeset::{ChangeSets, stage};
use process::{
    ApprovedCommand, CommandEnvironment,
    policy::{Grant, PolicyContext, judge},
    runner::{RunOptions, start},
    staged::{Repository, Sandbox, Staged, View},
};
use protocol::{SessionId, ToolCallId};
use store::{DataHome, Store};
use workspace::{Breadth, Workspace};

use crate::{
    Options,
    table::{Samples, Table},
};

const SIZES: [usize; 2] = [100, 100_000];
/// Once each before the first figure: caches, the guard of commands, the walk in the background.
const WARM_UP: usize = 3;

pub fn run(options: &Options) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut table = Table::new(&format!(
        "stage: `true`, plainly and in a staged view, {} runs each",
        options.runs
    ));
    let mut costs = Vec::new();
    for size in SIZES {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = Place::new(folder.path(), size);
        let mut samples: [Samples; 4] = Default::default();
        for round in 0..options.runs + WARM_UP {
            let times = runtime.block_on(place.measure());
            if round >= WARM_UP {
                samples
                    .iter_mut()
                    .zip(times)
                    .for_each(|(samples, time)| samples.push_ms(time));
            }
        }
        let [plain, view, setup, harvest] = samples;
        costs.push(setup.median());
        table.row(&format!("{size} files: plain"), "ms", &plain, "");
        table.row(&format!("{size} files: in a view, all in all"), "ms", &view, "");
        table.row(
            &format!("{size} files: more than plainly"),
            "ms",
            &setup,
            "< 10 ms, the same for both sizes",
        );
        table.row(&format!("{size} files: of that, harvest"), "ms", &harvest, "");
    }
    let mut ratio = Samples::default();
    if let [small, large] = costs[..] {
        ratio.push(large / small.max(0.01));
    }
    table.row("100,000 files against 100", "×", &ratio, "0.8–1.2");
    table.print();
}

/// A workspace with its change sets, and commands in it.
pub struct Place {
    pub sets: ChangeSets,
    pub session: SessionId,
    environment: CommandEnvironment,
}

impl Place {
    pub fn new(folder: &Path, files: usize) -> Self {
        let root = folder.join("ws");
        fs::create_dir_all(root.join(".git")).expect("a folder");
        fs::write(root.join(".gitignore"), "/target\n").expect("a file");
        fs::create_dir(root.join("target")).expect("a folder");
        for number in 0..files {
            let parent = root.join(format!("src/part{:04}", number / 50));
            if number % 50 == 0 {
                fs::create_dir_all(&parent).expect("a folder");
            }
            fs::write(
                parent.join(format!("file{:02}.rs", number % 50)),
                "pub const N: u32 = 1;\n",
            )
            .expect("a file");
        }
        let home = DataHome::at(folder.join("home"));
        let (store, _) = Store::open(&home, &root, Duration::from_secs(5)).expect("a store");
        let workspace = Workspace::open(&root, Breadth::Any).expect("a workspace");
        let (sets, _) = ChangeSets::open(store, workspace).expect("change sets");
        let session = SessionId::from_text("ses_bench");
        let drafted = sets.workspace().resolve("drafted.txt").expect("a path");
        sets.create(&session, &ToolCallId("call".to_owned()), &drafted, "drafted\n")
            .expect("a draft");
        Self {
            sets,
            session,
            environment: CommandEnvironment::inherited(),
        }
    }

    /// Plain run, run in a view with everything around it, the difference, and the harvest's part.
    async fn measure(&self) -> [Duration; 4] {
        let begun = Instant::now();
        self.command(None).await;
        let plain = begun.elapsed();
        let begun = Instant::now();
        let layers = self.layers();
        self.command(Some(self.staged(&layers))).await;
        let ran = Instant::now();
        stage::harvest_view(&self.sets, &layers, &self.session, "true").expect("a harvest");
        // The engine removes them in the background, too.
        let removal = std::thread::spawn(move || drop(layers));
        let (view, harvest) = (begun.elapsed(), ran.elapsed());
        removal.join().expect("the layers to be removed");
        [plain, view, view.saturating_sub(plain), harvest]
    }

    pub fn layers(&self) -> stage::StagedView {
        stage::prepare_view(&self.sets, &self.session).expect("layers")
    }

    pub fn staged(&self, layers: &stage::StagedView) -> Staged {
        Staged {
            view: View {
                root: layers.root().to_owned(),
                upper: layers.upper(),
                work: layers.work(),
                scratch: layers.scratch(),
                kept: layers.kept().to_vec(),
                repository: Repository::ReadOnly,
            },
            sandbox: Sandbox::for_environment(&self.environment),
        }
    }

    pub fn options(&self, log: Box<dyn std::io::Write + Send>) -> RunOptions {
        let root = self.sets.workspace().root();
        RunOptions::new(root, root, self.environment.clone(), log)
    }

    async fn command(&self, staged: Option<Staged>) {
        let mut options = self.options(Box::new(std::io::sink()));
        options.staged = staged;
        let end = start(self.approved("true"), options)
            .expect("a start")
            .ended()
            .await
            .expect("an end");
        assert_eq!(end.exit_code, Some(0), "{:?}", end.notes);
    }

    pub fn approved(&self, command: &str) -> ApprovedCommand {
        let root = self.sets.workspace().root();
        let verdict = judge(command, &PolicyContext::new(root, root));
        verdict
            .approve_by(Grant::by_person("a bench"))
            .expect("an approval")
    }
}
