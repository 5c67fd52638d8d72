//! PHP.

use tree_sitter::Node;

use super::{
    Import,
    SymbolKind::{Class, Constant, Enum, Function, Interface, Method, Module, Property, Trait, Variant},
    rules::{
        Does::{Above, Define, Descend, Import as Imports, Look},
        Found,
        Inside::{Closed, Open},
        Name, Row, Scope, Source, child_of_kind, line_of,
    },
};

pub(super) const ROWS: &[Row] = &[
    ("comment", Above),
    ("namespace_definition", Look(namespace)),
    ("class_declaration", Define(Class, Name::Field("name"), Open)),
    (
        "interface_declaration",
        Define(Interface, Name::Field("name"), Open),
    ),
    ("trait_declaration", Define(Trait, Name::Field("name"), Open)),
    ("enum_declaration", Define(Enum, Name::Field("name"), Open)),
    ("declaration_list", Descend),
    ("enum_declaration_list", Descend),
    ("enum_case", Define(Variant, Name::Field("name"), Closed)),
    (
        "function_definition",
        Define(Function, Name::Field("name"), Closed),
    ),
    ("method_declaration", Define(Method, Name::Field("name"), Closed)),
    ("property_declaration", Look(property)),
    ("const_declaration", Look(constant)),
    ("if_statement", Descend),
    ("compound_statement", Descend),
    ("expression_statement", Descend),
    ("include_expression", Imports(include)),
    ("include_once_expression", Imports(include)),
    ("require_expression", Imports(include)),
    ("require_once_expression", Imports(include)),
    ("namespace_use_declaration", Imports(uses)),
];

/// Without braces it names the rest of the file and holds nothing.
fn namespace(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    match node.child_by_field_name("body") {
        Some(_) => match node.child_by_field_name("name") {
            Some(name) => Found::named(Module, Some(name), Open),
            None => Found::Descend,
        },
        None => Found::Nothing,
    }
}

fn property(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let name =
        child_of_kind(node, "property_element").and_then(|element| child_of_kind(element, "variable_name"));
    Found::named(
        Property,
        name.and_then(|name| child_of_kind(name, "name")),
        Closed,
    )
}

fn constant(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let name = child_of_kind(node, "const_element").and_then(|element| child_of_kind(element, "name"));
    Found::named(Constant, name, Closed)
}

/// `require __DIR__ . '/../lib.php'`: only the part that is written out says where.
fn include(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    let text = source.of(node);
    let Some(start) = text.find(['\'', '"']) else {
        return;
    };
    let quote = &text[start..=start];
    let path = text[start + 1..].split(quote).next().unwrap_or_default();
    if path.is_empty() || path.contains('$') {
        return;
    }
    imports.push(Import {
        target: format!("./{}", path.trim_start_matches("./").trim_start_matches('/')),
        names: Vec::new(),
        line: line_of(node),
    });
}

/// `use A\B;`, `use A\{B, C as D};`, `use function A\f;`.
fn uses(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    let line = line_of(node);
    let path = |clause: Node<'_>| {
        let path = child_of_kind(clause, "qualified_name").or_else(|| child_of_kind(clause, "name"));
        path.map(|path| source.of(path).trim_start_matches('\\').to_owned())
    };
    if let Some(group) = node.child_by_field_name("body") {
        let prefix = child_of_kind(node, "namespace_name").map(|prefix| source.of(prefix));
        let prefix = prefix.unwrap_or_default().trim_matches('\\');
        let mut cursor = group.walk();
        for clause in group.named_children(&mut cursor) {
            let name = path(clause)
                .or_else(|| child_of_kind(clause, "namespace_name").map(|name| source.of(name).to_owned()));
            if let Some(name) = name {
                imports.push(Import {
                    target: format!("{prefix}\\{name}"),
                    names: Vec::new(),
                    line,
                });
            }
        }
        return;
    }
    let mut cursor = node.walk();
    for clause in node
        .named_children(&mut cursor)
        .filter(|child| child.kind() == "namespace_use_clause")
    {
        if let Some(target) = path(clause) {
            imports.push(Import {
                target,
                names: Vec::new(),
                line,
            });
        }
    }
}
