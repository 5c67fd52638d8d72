//! What commands in a staged view must stand: cancelling trees that resist, a flood of output, and builds that stay
//! incremental.

use std::{
    fs,
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use changeset::Replacement;
use process::runner::{CommandEnd, CommandEvent, Terminal, start};
use protocol::{CommandState, ToolCallId};

use crate::{
    Options,
    stage::Place,
    table::{Samples, Table},
};

const CANCELS: usize = 200;
const FLOOD_BYTES: u64 = 1 << 30;
const MODULES: usize = 60;

/// Trees that do not want to end. Each prints `ready`.
const TREES: [(&str, &str); 4] = [
    (
        "ignores SIGTERM",
        "trap '' TERM HUP INT; echo ready; while :; do sleep 60; done",
    ),
    (
        "double fork into sessions of their own",
        "(setsid sh -c 'setsid sleep 600 & sleep 600' &); (setsid sleep 600 &); sleep 0.05; echo ready; sleep 600",
    ),
    (
        "many children",
        "for n in 1 2 3 4 5 6 7 8; do sleep 600 & done; echo ready; wait",
    ),
    (
        "holds its terminal",
        "trap '' TERM HUP INT; echo ready; while :; do read -r x || sleep 60; done",
    ),
];

pub fn run(options: &Options) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Place::new(folder.path(), 100);
    cancels(&runtime, &place);
    flood(&runtime, &place);
    drop((place, folder));
    builds(&runtime, options);
}

fn cancels(runtime: &tokio::runtime::Runtime, place: &Place) {
    let mut table = Table::new(&format!(
        "cancel: from the request to an empty process tree, {CANCELS} trees that resist"
    ));
    let mut all = Samples::default();
    for (name, script) in TREES {
        fs::write(place.sets.workspace().root().join("tree.sh"), script).expect("a script");
        let mut samples = Samples::default();
        for _ in 0..CANCELS / TREES.len() {
            let layers = place.layers();
            let mut options = place.options(Box::new(io::sink()));
            options.staged = Some(place.staged(&layers));
            if name.contains("terminal") {
                options.terminal = Terminal::Own;
            }
            let took = runtime.block_on(async {
                let mut running = start(place.approved("sh tree.sh"), options).expect("a start");
                let mut seen = Vec::new();
                while !seen.windows(5).any(|text| text == b"ready") {
                    match running.next().await {
                        Some(CommandEvent::Output { bytes, .. }) => seen.extend(bytes),
                        Some(CommandEvent::Started { .. }) => {}
                        other => panic!("it did not begin: {other:?}"),
                    }
                }
                let begun = Instant::now();
                running.stop_handle().cancel();
                let end = running.ended().await.expect("an end");
                assert_eq!(end.state, CommandState::Cancelled);
                assert!(end.still_running.is_empty(), "{:?}", end.still_running);
                begun.elapsed()
            });
            assert!(took < Duration::from_secs(2), "{name}: {took:?}");
            samples.push_ms(took);
            all.push_ms(took);
        }
        table.row(name, "ms", &samples, "never over 2 s");
    }
    table.row("all", "ms", &all, "< 100 ms");
    let mut most = Samples::default();
    most.push(all.quantile(1.0));
    table.row("the longest", "ms", &most, "< 2,000 ms");
    table.print();
}

/// Counts what it is given, as a log on disk would take it.
struct Counting(Arc<AtomicU64>);

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn flood(runtime: &tokio::runtime::Runtime, place: &Place) {
    let mut table = Table::new("flood: 1 GiB of output in a view");
    let logged = Arc::new(AtomicU64::new(0));
    let layers = place.layers();
    let mut options = place.options(Box::new(Counting(logged.clone())));
    options.staged = Some(place.staged(&layers));
    let before = most_memory_kib();
    let begun = Instant::now();
    let end: CommandEnd = runtime.block_on(async {
        let line = format!("head -c {FLOOD_BYTES} /dev/zero | tr '\\0' a");
        let running = start(place.approved(&line), options).expect("a start");
        running.ended().await.expect("an end")
    });
    assert_eq!(end.exit_code, Some(0), "{:?}", end.notes);
    assert_eq!(
        (logged.load(Ordering::Relaxed), end.output.total_bytes),
        (FLOOD_BYTES, FLOOD_BYTES)
    );
    let (mut time, mut memory) = (Samples::default(), Samples::default());
    time.push_ms(begun.elapsed());
    memory.push(most_memory_kib().saturating_sub(before) as f64 / 1024.0);
    table.row("time, every byte in the log", "ms", &time, "");
    table.row("memory it took more", "MiB", &memory, "< 64 MiB");
    table.print();
}

fn most_memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the kernel's word");
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1))
        .and_then(|number| number.parse().ok())
        .expect("a number")
}

fn builds(runtime: &tokio::runtime::Runtime, options: &Options) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Place::new(folder.path(), 0);
    let root = place.sets.workspace().root().to_owned();
    fs::create_dir_all(root.join("src")).expect("a folder");
    let manifest = "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    fs::write(root.join("Cargo.toml"), manifest).expect("a file");
    let mut library = String::new();
    for number in 0..MODULES {
        let functions: String = (0..40)
            .map(|line| {
                format!("pub fn step_{line}(value: u64) -> u64 {{ value.wrapping_mul({line}) ^ {number} }}\n")
            })
            .collect();
        fs::write(root.join(format!("src/part{number}.rs")), functions).expect("a file");
        library.push_str(&format!("pub mod part{number};\n"));
    }
    library.push_str("pub const ROUND: u32 = 0;\n");
    fs::write(root.join("src/lib.rs"), &library).expect("a file");
    let build = |in_view: bool| {
        let layers = in_view.then(|| place.layers());
        let mut options = place.options(Box::new(io::sink()));
        options.staged = layers.as_ref().map(|layers| place.staged(layers));
        let begun = Instant::now();
        let end = runtime.block_on(async {
            let running = start(place.approved("cargo build --offline"), options).expect("a start");
            running.ended().await.expect("an end")
        });
        assert_eq!(
            end.exit_code,
            Some(0),
            "{}",
            String::from_utf8_lossy(&end.output.tail)
        );
        begun.elapsed()
    };
    build(false);
    let (mut plain, mut view, mut ratio) = (Samples::default(), Samples::default(), Samples::default());
    let file = place.sets.workspace().resolve("src/lib.rs").expect("a path");
    let mut drafted = "ROUND: u32 = 0".to_owned();
    for round in 1..=options.runs.min(10) {
        // The user changes another line than the draft, so that the draft still fits.
        let text = fs::read_to_string(root.join("src/part0.rs")).expect("a file");
        fs::write(root.join("src/part0.rs"), format!("{text}// {round}\n")).expect("a file");
        let user = build(false);
        let next = format!("ROUND: u32 = {round}");
        let replacement = Replacement {
            old: drafted,
            new: next.clone(),
        };
        let call = ToolCallId("call".to_owned());
        place
            .sets
            .edit(&place.session, &call, &file, &[replacement])
            .expect("an edit");
        drafted = next;
        let agent = build(true);
        plain.push_ms(user);
        view.push_ms(agent);
        ratio.push(agent.as_secs_f64() / user.as_secs_f64());
    }
    let mut table = Table::new("build: cargo, one file of 61 changed");
    table.row("plainly", "ms", &plain, "");
    table.row("in a view, with the draft", "ms", &view, "");
    table.row("in a view against plainly", "×", &ratio, "about 1");
    table.print();
}
