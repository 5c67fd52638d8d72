//! No state that outlives its owner: what changes lives in a value that someone holds.

use super::Finding;
use super::sources::Source;
use super::tree::Tree;

/// Types with which a `static` can change after the start. A `OnceLock` or `LazyLock` of constant data is a constant
/// that is computed at its first use.
const CHANGEABLE: &[&str] = &[
    "Cell",
    "RefCell",
    "UnsafeCell",
    "SyncUnsafeCell",
    "Mutex",
    "RwLock",
    "DashMap",
    "ArcSwap",
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let sources = tree.sources.iter().filter(|source| !source.is_test);
    let mut findings: Vec<Finding> = sources.flat_map(|source| check_source(tree, source)).collect();
    for global in &tree.rooms.globals {
        let exists = tree.sources.iter().any(|source| {
            source.file == global.file && source.find(&["static", &global.name]).next().is_some()
        });
        if !exists {
            let line = tree.rooms_line(&format!("\"{}\"", global.name));
            let message = format!("no static {} in {}", global.name, global.file);
            findings.push(Finding::new("rooms.toml", line, message, "remove the entry"));
        }
    }
    findings
}

fn check_source(tree: &Tree, source: &Source) -> Vec<Finding> {
    let statics = source.find(&["static"]).filter_map(|index| {
        let name = source.text(index + 1);
        let why = match name {
            "mut" => "a mutable static".to_owned(),
            _ => format!(
                "static {name} can change through {}",
                changeable_in_type(source, index)?
            ),
        };
        let allowed = tree
            .rooms
            .globals
            .iter()
            .any(|global| global.file == source.file && global.name == name);
        (!allowed).then_some((index, why))
    });
    let macros = ["lazy_static", "thread_local"].into_iter().flat_map(|name| {
        let places: Vec<usize> = source.find(&[name, "!"]).collect();
        places
            .into_iter()
            .map(move |index| (index, format!("{name}! makes global state")))
    });
    statics
        .chain(macros)
        .map(|(index, why)| {
            Finding::new(
                &source.file,
                source.tokens[index].line,
                why,
                "put it in a value that its user holds (a LazyLock of constant data is fine)",
            )
        })
        .collect()
}

/// The first changeable type named between `static NAME` and its `=`.
fn changeable_in_type(source: &Source, index: usize) -> Option<&str> {
    source.tokens[index..]
        .iter()
        .map(|token| token.text.as_str())
        .take_while(|text| !matches!(*text, "=" | ";"))
        .find(|text| CHANGEABLE.contains(text) || text.starts_with("Atomic"))
}
