//! Python.

use tree_sitter::Node;

use super::{
    Import,
    SymbolKind::{Class, Field, Function, Type},
    rules::{
        Does::{Above, Define, Descend, Import as Imports, Look, Wrap},
        Found,
        Inside::{Closed, Open},
        Name, Row, Scope, Source, constant_or_variable, line_of,
    },
};

pub(super) const ROWS: &[Row] = &[
    ("comment", Above),
    ("decorator", Above),
    ("decorated_definition", Wrap),
    ("class_definition", Define(Class, Name::Field("name"), Open)),
    ("function_definition", Define(Function, Name::Field("name"), Open)),
    ("type_alias_statement", Look(alias)),
    ("expression_statement", Wrap),
    ("assignment", Look(assignment)),
    ("block", Descend),
    ("if_statement", Descend),
    ("elif_clause", Descend),
    ("else_clause", Descend),
    ("try_statement", Descend),
    ("except_clause", Descend),
    ("finally_clause", Descend),
    ("with_statement", Descend),
    ("import_statement", Imports(import)),
    ("import_from_statement", Imports(import_from)),
];

fn alias(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    Found::named(Type, node.child_by_field_name("left"), Closed)
}

/// Of assignments only those that a module or a class shows to others.
fn assignment(source: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    let Some(left) = node
        .child_by_field_name("left")
        .filter(|left| left.kind() == "identifier")
    else {
        return Found::Nothing;
    };
    if scope.is_top() {
        Found::named(constant_or_variable(source.of(left)), Some(left), Closed)
    } else if scope.is_in_type() {
        Found::named(Field, Some(left), Closed)
    } else {
        Found::Nothing
    }
}

fn import(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    let mut cursor = node.walk();
    for name in node.children_by_field_name("name", &mut cursor) {
        imports.push(Import {
            target: source.of(unaliased(name)).to_owned(),
            names: Vec::new(),
            line: line_of(name),
        });
    }
}

fn import_from(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    let Some(module) = node.child_by_field_name("module_name") else {
        return;
    };
    let mut cursor = node.walk();
    let mut names: Vec<String> = node
        .children_by_field_name("name", &mut cursor)
        .map(|name| source.of(unaliased(name)).to_owned())
        .collect();
    if names.is_empty() {
        names.push("*".to_owned());
    }
    imports.push(Import {
        target: source.of(module).split_whitespace().collect(),
        names,
        line: line_of(node),
    });
}

fn unaliased(node: Node<'_>) -> Node<'_> {
    match node.kind() {
        "aliased_import" => node.child_by_field_name("name").unwrap_or(node),
        _ => node,
    }
}
