//! JSON, YAML and TOML: the keys of the two upper levels.

use tree_sitter::Node;

use super::{
    SymbolKind::{Key, Table},
    rules::{
        Does::{Above, Descend, Look},
        Found,
        Inside::{Closed, Open},
        Row, Scope, Source, child_of_kind,
    },
};

/// Levels of keys that are listed; what is deeper belongs to the key above it.
const KEY_LEVELS: u32 = 2;

pub(super) const JSON: &[Row] = &[("comment", Above), ("object", Descend), ("pair", Look(keyed))];

pub(super) const YAML: &[Row] = &[
    ("comment", Above),
    ("document", Descend),
    ("block_node", Descend),
    ("block_mapping", Descend),
    ("block_mapping_pair", Look(keyed)),
    ("flow_node", Descend),
    ("flow_mapping", Descend),
    ("flow_pair", Look(keyed)),
];

pub(super) const TOML: &[Row] = &[
    ("comment", Above),
    ("table", Look(table)),
    ("table_array_element", Look(table)),
    ("pair", Look(toml_pair)),
];

fn keyed(_: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    let inside = if scope.depth + 1 < KEY_LEVELS {
        Open
    } else {
        Closed
    };
    Found::named(Key, node.child_by_field_name("key"), inside)
}

fn toml_key(node: Node<'_>) -> Option<Node<'_>> {
    ["bare_key", "dotted_key", "quoted_key"]
        .into_iter()
        .find_map(|kind| child_of_kind(node, kind))
}

fn table(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    Found::named(Table, toml_key(node), Open)
}

fn toml_pair(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    Found::named(Key, toml_key(node), Closed)
}
