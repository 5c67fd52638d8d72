//! Swift.

use tree_sitter::Node;

use super::{
    Import,
    SymbolKind::{
        Class, Constant, Enum, Field, Function, Implementation, Interface, Macro, Method, Property, Struct,
        Type, Variable, Variant,
    },
    rules::{
        Does::{Above, Define, Descend, Import as Imports, Look},
        Found,
        Inside::{Closed, Open},
        Name, Row, Scope, Source, child_of_kind, line_of,
    },
};

pub(super) const ROWS: &[Row] = &[
    ("comment", Above),
    ("multiline_comment", Above),
    ("class_declaration", Look(type_declaration)),
    (
        "protocol_declaration",
        Define(Interface, Name::Field("name"), Open),
    ),
    ("class_body", Descend),
    ("enum_class_body", Descend),
    ("protocol_body", Descend),
    ("enum_entry", Define(Variant, Name::Field("name"), Closed)),
    (
        "function_declaration",
        Define(Function, Name::Field("name"), Closed),
    ),
    (
        "protocol_function_declaration",
        Define(Method, Name::Field("name"), Closed),
    ),
    ("init_declaration", Define(Method, Name::Field("name"), Closed)),
    (
        "deinit_declaration",
        Define(Method, Name::Child("deinit"), Closed),
    ),
    (
        "subscript_declaration",
        Define(Method, Name::Child("subscript"), Closed),
    ),
    ("property_declaration", Look(property)),
    ("protocol_property_declaration", Look(property)),
    ("typealias_declaration", Define(Type, Name::Field("name"), Closed)),
    (
        "associatedtype_declaration",
        Define(Type, Name::Field("name"), Closed),
    ),
    (
        "macro_declaration",
        Define(Macro, Name::Child("simple_identifier"), Closed),
    ),
    ("import_declaration", Imports(import)),
];

fn type_declaration(source: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let kind = match node
        .child_by_field_name("declaration_kind")
        .map(|kind| source.of(kind))
    {
        Some("struct") => Struct,
        Some("enum") => Enum,
        Some("extension") => Implementation,
        _ => Class,
    };
    Found::named(kind, node.child_by_field_name("name"), Open)
}

fn property(source: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    let name = node
        .child_by_field_name("name")
        .and_then(|pattern| pattern.child_by_field_name("bound_identifier"));
    let binding = child_of_kind(node, "value_binding_pattern").map(|binding| source.of(binding));
    let kind =
        if node.child_by_field_name("computed_value").is_some() || node.kind() != "property_declaration" {
            Property
        } else if scope.is_in_type() {
            Field
        } else if binding == Some("let") {
            Constant
        } else {
            Variable
        };
    Found::named(kind, name, Closed)
}

/// `import Foundation`, `import struct Store.Entry`.
fn import(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    if let Some(path) = child_of_kind(node, "identifier") {
        imports.push(Import {
            target: source.of(path).to_owned(),
            names: Vec::new(),
            line: line_of(node),
        });
    }
}
