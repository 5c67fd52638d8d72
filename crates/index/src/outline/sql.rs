//! SQL: what a script creates.

use tree_sitter::Node;

use super::{
    SymbolKind::{self, Field, Function, Key, Module, Table, Type},
    rules::{
        Does::{Above, Define, Descend, Look, Wrap},
        Found,
        Inside::{Closed, Open},
        Name, Row, Scope, Source, child_of_kind,
    },
};

pub(super) const ROWS: &[Row] = &[
    ("comment", Above),
    ("marginalia", Above),
    ("statement", Wrap),
    ("transaction", Descend),
    ("block", Descend),
    ("create_table", Look(table)),
    ("create_view", Look(table)),
    ("create_materialized_view", Look(table)),
    ("column_definitions", Descend),
    ("column_definition", Define(Field, Name::Field("name"), Closed)),
    ("create_function", Look(function)),
    ("create_trigger", Look(function)),
    ("create_type", Look(type_definition)),
    ("create_schema", Define(Module, Name::Child("identifier"), Closed)),
    ("create_sequence", Look(key)),
    ("create_index", Look(key)),
];

/// The name is the first thing that is referred to, without its schema.
fn created(node: Node<'_>, kind: SymbolKind) -> Found {
    let name = child_of_kind(node, "object_reference")
        .map(|reference| reference.child_by_field_name("name").unwrap_or(reference))
        .or_else(|| child_of_kind(node, "identifier"));
    Found::named(kind, name, Open)
}

fn table(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    created(node, Table)
}

fn function(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    match created(node, Function) {
        Found::Definition { kind, name, .. } => Found::Definition {
            kind,
            name,
            inside: Closed,
        },
        other => other,
    }
}

fn type_definition(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    created(node, Type)
}

fn key(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    Found::named(Key, child_of_kind(node, "identifier"), Closed)
}
