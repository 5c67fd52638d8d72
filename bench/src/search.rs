//! Content search in the cargo registry's sources, against `rg` (or `grep -r`) with the same pattern, both warm.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use workspace::{
    Breadth, Overlay, Workspace, never,
    search::{self, ContentQuery, SearchLimits, Syntax},
};

use crate::{
    Options,
    table::{Samples, Table},
};

/// Patterns of three kinds: a literal, a word with a wildcard, an alternation without a common literal.
const PATTERNS: &[&str] = &[
    "unsafe_op_in_unsafe_fn",
    r"fn \w+_unchecked\(",
    r"(Connection|Handshake)Refused|Timed\w*Out",
];

pub fn run(options: &Options) {
    let Some(root) = sources() else {
        println!("\nsearch: left out, because there is no cargo registry on this machine");
        return;
    };
    let workspace = Workspace::open(&root, Breadth::Any).expect("the registry");
    let other = if runs("rg") { "rg" } else { "grep" };
    let mut table = Table::new(&format!(
        "search: the sources of the cargo registry against {other}, warm, {} runs",
        options.runs
    ));
    for pattern in PATTERNS {
        let mut ours = Samples::default();
        let mut theirs = Samples::default();
        let mut ratio = Samples::default();
        // Once each to warm the page cache.
        let (found, _) = search_ours(&workspace, pattern);
        let (expected, _) = search_other(other, &root, pattern);
        for _ in 0..options.runs {
            let (_, our_ms) = search_ours(&workspace, pattern);
            let (_, other_ms) = search_other(other, &root, pattern);
            ours.push(our_ms);
            theirs.push(other_ms);
            ratio.push(our_ms / other_ms);
        }
        table.row(&format!("{pattern}: ours ({found} lines)"), "ms", &ours, "");
        table.row(
            &format!("{pattern}: {other} ({expected} lines)"),
            "ms",
            &theirs,
            "",
        );
        table.row("ratio", "×", &ratio, "");
    }
    table.print();
}

/// The largest folder below the registry's `src`.
pub fn sources() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    let folders = home.join("registry/src").read_dir().ok()?;
    folders
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .max_by_key(|path| path.read_dir().map_or(0, Iterator::count))
}

fn search_ours(workspace: &Workspace, pattern: &str) -> (usize, f64) {
    let query = ContentQuery {
        pattern: pattern.to_owned(),
        syntax: Syntax::Regex,
        limits: SearchLimits {
            max_hits: 100_000,
            max_hits_per_file: 100_000,
            ..SearchLimits::default()
        },
        ..ContentQuery::default()
    };
    let begun = Instant::now();
    let found = search::content(workspace, &Overlay::default(), &query, &never).expect("a search");
    let elapsed = begun.elapsed().as_secs_f64() * 1_000.0;
    assert_eq!(found.ended_early, None);
    (found.hits.len(), elapsed)
}

fn search_other(program: &str, root: &Path, pattern: &str) -> (usize, f64) {
    let mut command = Command::new(program);
    match program {
        // As ours: .gitignore counts without a repository, hidden files are searched.
        "rg" => command.args(["-n", "--no-require-git", "--hidden", "-e", pattern]),
        _ => command.args(["-rnIE", "-e", pattern]),
    };
    let begun = Instant::now();
    let output = command.arg(root).output().expect("the program runs");
    let elapsed = begun.elapsed().as_secs_f64() * 1_000.0;
    (output.stdout.split(|byte| *byte == b'\n').count() - 1, elapsed)
}

fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}
