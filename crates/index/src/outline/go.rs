//! Go.

use tree_sitter::Node;

use super::{
    Import,
    SymbolKind::{Constant, Field, Function, Interface, Method, Struct, Type, Variable},
    rules::{
        Does::{Above, Define, Descend, Import as Imports, Look, Wrap},
        Found,
        Inside::{Closed, Open},
        Name, Row, Scope, Source, line_of,
    },
};

pub(super) const ROWS: &[Row] = &[
    ("comment", Above),
    (
        "function_declaration",
        Define(Function, Name::Field("name"), Closed),
    ),
    ("method_declaration", Define(Method, Name::Field("name"), Closed)),
    ("type_declaration", Wrap),
    ("type_spec", Look(type_spec)),
    ("type_alias", Define(Type, Name::Field("name"), Closed)),
    ("struct_type", Descend),
    ("field_declaration_list", Descend),
    ("field_declaration", Look(field)),
    ("interface_type", Descend),
    ("method_elem", Define(Method, Name::Field("name"), Closed)),
    ("const_declaration", Wrap),
    ("const_spec", Look(constant)),
    ("var_declaration", Wrap),
    ("var_spec_list", Descend),
    ("var_spec", Look(variable)),
    ("block", Descend),
    ("statement_list", Descend),
    ("import_declaration", Descend),
    ("import_spec_list", Descend),
    ("import_spec", Imports(import)),
];

fn type_spec(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let kind = match node.child_by_field_name("type").map(|of| of.kind()) {
        Some("struct_type") => Struct,
        Some("interface_type") => Interface,
        _ => Type,
    };
    Found::named(kind, node.child_by_field_name("name"), Open)
}

fn constant(_: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    if scope.is_in_function() {
        return Found::Nothing;
    }
    Found::named(Constant, node.child_by_field_name("name"), Closed)
}

fn variable(_: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    if scope.is_in_function() {
        return Found::Nothing;
    }
    Found::named(Variable, node.child_by_field_name("name"), Closed)
}

/// An embedded type has no name of its own.
fn field(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    Found::named(Field, node.child_by_field_name("name"), Closed)
}

fn import(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    if let Some(path) = node.child_by_field_name("path") {
        imports.push(Import {
            target: source.unquoted(path).to_owned(),
            names: Vec::new(),
            line: line_of(node),
        });
    }
}
