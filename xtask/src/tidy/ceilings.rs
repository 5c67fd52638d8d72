//! How long a file and a room may get.

use super::Finding;
use super::tree::Tree;

pub fn check(tree: &Tree) -> Vec<Finding> {
    let ceiling = tree.rooms.file.ceiling;
    let files = tree
        .sources
        .iter()
        .filter(|source| source.lines > ceiling)
        .map(|source| {
            Finding::new(
                &source.file,
                ceiling + 1,
                format!("{} lines, {ceiling} is the ceiling for a file", source.lines),
                "split it where its header says “and”",
            )
        });
    let rooms = tree.rooms.rooms.iter().filter_map(|(name, room)| {
        let lines = room_lines(tree, name);
        (lines > room.lines).then(|| {
            Finding::new(
                "rooms.toml",
                tree.rooms_line(&format!("[rooms.{name}]")),
                format!(
                    "`{name}` has {lines} lines outside tests, {} is its ceiling",
                    room.lines
                ),
                "make it smaller, or raise the ceiling in a change that says why",
            )
        })
    });
    files.chain(rooms).collect()
}

/// For `--verbose`: rooms against their ceilings, and the files longer than a file wants to be.
pub fn overview(tree: &Tree) -> Vec<String> {
    let rooms = tree.rooms.rooms.iter().map(|(name, room)| {
        format!(
            "{name}: {} of {} lines outside tests",
            room_lines(tree, name),
            room.lines
        )
    });
    let want = tree.rooms.file.want;
    let files = tree
        .sources
        .iter()
        .filter(|source| source.lines > want)
        .map(|source| format!("{}: {} lines, wants {want}", source.file, source.lines));
    rooms.chain(files).collect()
}

fn room_lines(tree: &Tree, room: &str) -> usize {
    // A room that is all test code is measured whole.
    let dev_only = tree.rooms.rooms.get(room).is_some_and(|room| room.dev_only);
    let own = tree.sources.iter().filter(|source| source.package == room);
    own.map(|source| {
        if dev_only {
            source.lines
        } else {
            source.product_lines
        }
    })
    .sum()
}
