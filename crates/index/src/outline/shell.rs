//! Shell scripts.

use tree_sitter::Node;

use super::{
    Import,
    SymbolKind::Function,
    rules::{
        Does::{Above, Define, Descend, Import as Imports, Look, Wrap},
        Found,
        Inside::Closed,
        Name, Row, Scope, Source, constant_or_variable, line_of,
    },
};

pub(super) const ROWS: &[Row] = &[
    ("comment", Above),
    (
        "function_definition",
        Define(Function, Name::Field("name"), Closed),
    ),
    ("declaration_command", Wrap),
    ("variable_assignment", Look(assignment)),
    ("if_statement", Descend),
    ("elif_clause", Descend),
    ("else_clause", Descend),
    ("command", Imports(sourced)),
];

fn assignment(source: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let name = node
        .child_by_field_name("name")
        .filter(|name| name.kind() == "variable_name");
    let kind = constant_or_variable(name.map(|name| source.of(name)).unwrap_or_default());
    Found::named(kind, name, Closed)
}

/// `source lib.sh`, `. "$here/lib.sh"`: what a variable holds is not known, the rest of the path is.
fn sourced(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    let name = node.child_by_field_name("name").map(|name| source.of(name));
    if !matches!(name, Some("source" | ".")) {
        return;
    }
    let Some(argument) = node.child_by_field_name("argument") else {
        return;
    };
    let written = source.of(argument);
    let path = match written.rfind(['$', ')', '}']) {
        Some(variable) => written[variable..].split_once('/').map_or("", |(_, rest)| rest),
        None => written,
    };
    let path = path.trim_matches(['"', '\'']);
    if !path.is_empty() {
        imports.push(Import {
            target: path.to_owned(),
            names: Vec::new(),
            line: line_of(node),
        });
    }
}
