//! The code index of a large repository made of real sources: made anew against `ctags -R`, opened again, one file
//! changed, a request ranked, a path found by a few letters.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Instant,
};

use index::{CodeIndex, Past, PathIndex, Request};
use workspace::{Breadth, Overlay, Workspace, never};

use crate::{
    Options,
    product::{self, Run},
    search,
    table::{Samples, Table},
};

const FILES: usize = 50_000;
/// Larger files of the registry are generated tables.
const MAX_FILE_BYTES: u64 = 200_000;
const CODE: &[&str] = &[
    "rs", "c", "h", "cpp", "hpp", "py", "js", "ts", "go", "java", "rb", "toml", "md", "json", "sh",
];
const REQUEST: &str = "Connection reuse fails when the TLS handshake times out\n\nThe pool keeps the broken connection and `poll_ready` never wakes.";

pub fn run(options: &Options) {
    let Some(sources) = search::sources() else {
        println!("\nindex: left out, because there is no cargo registry on this machine");
        return;
    };
    let server = testkit::ModelServer::spawn("steps: [{ text: Done. }]");
    let place = product::place(&server);
    let files = repository(&sources, &place.workspace());
    let workspace = Workspace::open(&place.workspace(), Breadth::Any).expect("the repository");
    let runs = options.runs.clamp(1, 3);
    let mut table = Table::new(&format!("index: {files} real source files"));

    let (mut cold, mut cpu, mut memory, mut tags, mut tags_cpu, mut ratio) = Default::default();
    for _ in 0..runs {
        cold_run(&place, &mut cold, &mut cpu, &mut memory);
        ctags_run(&place.workspace(), &mut tags, &mut tags_cpu);
        ratio_of(&cold, &tags, &mut ratio);
    }
    table.row("made anew (rank on an empty data folder), wall", "ms", &cold, "");
    table.row("its CPU", "ms", &cpu, "");
    table.row("its most memory", "MB", &memory, "< 400");
    if tags.median() > 0.0 {
        table.row("ctags -R, wall", "ms", &tags, "");
        table.row("its CPU", "ms", &tags_cpu, "");
        table.row("ours to ctags, wall", "×", &ratio, "< 1");
    }

    let shelf_folder = tempfile::tempdir().expect("a folder");
    let shelf = Arc::new(Folder(shelf_folder.path().to_owned()));
    CodeIndex::open(shelf.clone())
        .refresh(&workspace, &nothing, &never)
        .expect("a refresh");
    let bytes: u64 = fs::read_dir(shelf_folder.path())
        .expect("the shelf")
        .map(|entry| entry.expect("an entry").metadata().expect("metadata").len())
        .sum();
    let (mut open, mut look, mut update, mut rank, mut fuzzy) = Default::default();
    let request = Request::parse(REQUEST);
    let past = Past::default();
    let paths = PathIndex::of_workspace(&workspace, &Overlay::default(), &never).expect("paths");
    for number in 0..options.runs {
        let index = timed(&mut open, || CodeIndex::open(shelf.clone()));
        timed(&mut look, || {
            index.refresh(&workspace, &nothing, &never).expect("a refresh")
        });
        let changed = PathBuf::from("changed.rs");
        fs::write(
            workspace.root().join(&changed),
            format!("pub fn changed_{number}() {{}}\n"),
        )
        .expect("a change");
        timed(&mut update, || {
            index.update(&workspace, std::slice::from_ref(&changed), &nothing, &never)
        });
        let snapshot = index.snapshot();
        timed(&mut rank, || index::retrieve(&snapshot, &past, &request, 80));
        timed(&mut fuzzy, || paths.find("httpconpool", 50));
    }
    let mut size = Samples::default();
    size.push(bytes as f64 / 1024.0 / 1024.0);
    table.row("on disk", "MB", &size, "");
    table.row("opened again", "ms", &open, "< 300");
    table.row("nothing changed: looked at all files", "ms", &look, "");
    table.row("one changed file", "ms", &update, "< 50");
    table.row("candidates for a request", "ms", &rank, "< 150");
    table.row("a path by a few letters", "ms", &fuzzy, "< 10");
    table.print();
}

fn nothing(_: &Path) -> bool {
    false
}

fn timed<T>(samples: &mut Samples, work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let result = work();
    samples.push_ms(begun.elapsed());
    result
}

fn cold_run(place: &testkit::Hermetic, wall: &mut Samples, cpu: &mut Samples, memory: &mut Samples) {
    let _ = fs::remove_dir_all(place.data());
    fs::create_dir_all(place.data()).expect("a data folder");
    let run = Run::start(place, &["context", "rank", "--json", REQUEST]);
    let mut most: f64 = 0.0;
    while run.is_running() {
        most = most.max(run.memory().1);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let cost = run.finish(0);
    wall.push_ms(cost.wall);
    cpu.push_ms(cost.own_cpu);
    memory.push(most);
}

fn ctags_run(root: &Path, wall: &mut Samples, cpu: &mut Samples) {
    let before = product::children_cpu();
    let begun = Instant::now();
    let status = Command::new("ctags")
        .args(["-R", "-f", "/dev/null", "."])
        .current_dir(root)
        .status();
    if status.is_ok_and(|status| status.success()) {
        wall.push_ms(begun.elapsed());
        cpu.push_ms(product::children_cpu() - before);
    } else {
        // Not on this machine: the row is left out.
        wall.push(0.0);
    }
}

fn ratio_of(ours: &Samples, theirs: &Samples, ratio: &mut Samples) {
    if theirs.median() > 0.0 {
        ratio.push(ours.median() / theirs.median());
    }
}

/// Copies sources into the repository, round after round, until there are enough.
fn repository(sources: &Path, root: &Path) -> usize {
    let walk = workspace::walk::walk(
        &Workspace::open(sources, Breadth::Any).expect("the registry"),
        &workspace::walk::WalkOptions::default(),
        &never,
    )
    .expect("the registry's files");
    let code: Vec<PathBuf> = walk
        .files
        .into_iter()
        .map(|file| file.path)
        .filter(|path| {
            let known = path.extension().and_then(|extension| extension.to_str());
            known.is_some_and(|extension| CODE.contains(&extension))
                && fs::metadata(sources.join(path)).is_ok_and(|metadata| metadata.len() <= MAX_FILE_BYTES)
        })
        .collect();
    let mut made = 0;
    for round in 0.. {
        for path in &code {
            if made == FILES || code.is_empty() {
                return made;
            }
            let target = root.join(format!("round{round}")).join(path);
            fs::create_dir_all(target.parent().expect("a folder")).expect("a new folder");
            let text = fs::read(sources.join(path)).expect("a source");
            let mut file = fs::File::create(&target).expect("a new file");
            file.write_all(&text).expect("a copy");
            // No two files are the same.
            file.write_all(format!("\n// {made}\n").as_bytes())
                .expect("a copy");
            made += 1;
        }
    }
    made
}

struct Folder(PathBuf);

impl index::Shelf for Folder {
    fn names(&self) -> std::io::Result<Vec<String>> {
        fs::read_dir(&self.0)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect()
    }

    fn open(&self, name: &str) -> std::io::Result<fs::File> {
        fs::File::open(self.0.join(name))
    }

    fn save(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        fs::write(self.0.join(name), bytes)
    }

    fn remove(&self, name: &str) -> std::io::Result<()> {
        fs::remove_file(self.0.join(name))
    }
}
