//! C#.

use tree_sitter::Node;

use super::{
    Import,
    SymbolKind::{
        Class, Constant, Enum, Field, Function, Interface, Method, Module, Property, Struct, Type, Variant,
    },
    rules::{
        Does::{Above, Define, Descend, Import as Imports, Look, Wrap},
        Found,
        Inside::{Closed, Open},
        Name, Row, Scope, Source, child_of_kind, line_of,
    },
};

pub(super) const ROWS: &[Row] = &[
    ("comment", Above),
    ("namespace_declaration", Define(Module, Name::Field("name"), Open)),
    ("class_declaration", Define(Class, Name::Field("name"), Open)),
    ("record_declaration", Define(Class, Name::Field("name"), Open)),
    ("struct_declaration", Define(Struct, Name::Field("name"), Open)),
    (
        "interface_declaration",
        Define(Interface, Name::Field("name"), Open),
    ),
    ("enum_declaration", Define(Enum, Name::Field("name"), Open)),
    ("enum_member_declaration_list", Descend),
    (
        "enum_member_declaration",
        Define(Variant, Name::Field("name"), Closed),
    ),
    ("delegate_declaration", Define(Type, Name::Field("name"), Closed)),
    ("declaration_list", Descend),
    ("block", Descend),
    ("method_declaration", Define(Method, Name::Field("name"), Closed)),
    (
        "constructor_declaration",
        Define(Method, Name::Field("name"), Closed),
    ),
    (
        "destructor_declaration",
        Define(Method, Name::Field("name"), Closed),
    ),
    ("operator_declaration", Look(operator)),
    ("conversion_operator_declaration", Look(conversion)),
    ("indexer_declaration", Look(indexer)),
    (
        "property_declaration",
        Define(Property, Name::Field("name"), Closed),
    ),
    ("event_declaration", Define(Property, Name::Field("name"), Closed)),
    ("event_field_declaration", Look(field)),
    ("field_declaration", Look(field)),
    ("global_statement", Wrap),
    (
        "local_function_statement",
        Define(Function, Name::Field("name"), Closed),
    ),
    ("preproc_if", Descend),
    ("preproc_elif", Descend),
    ("preproc_else", Descend),
    ("using_directive", Imports(using)),
];

fn field(source: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let name = child_of_kind(node, "variable_declaration")
        .and_then(|declaration| child_of_kind(declaration, "variable_declarator"))
        .and_then(|declarator| declarator.child_by_field_name("name"));
    let mut cursor = node.walk();
    let constant = node
        .children(&mut cursor)
        .any(|child| child.kind() == "modifier" && source.of(child) == "const");
    Found::named(if constant { Constant } else { Field }, name, Closed)
}

fn operator(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    Found::named(Method, node.child_by_field_name("operator"), Closed)
}

fn conversion(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    Found::named(Method, node.child_by_field_name("type"), Closed)
}

fn indexer(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    Found::named(Property, child_of_kind(node, "this"), Closed)
}

/// `using A.B;`, `using static A.B.C;` and the target of `using Short = A.B.C;`.
fn using(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    let last = u32::try_from(node.named_child_count())
        .unwrap_or_default()
        .checked_sub(1);
    let Some(path) = last.and_then(|last| node.named_child(last)) else {
        return;
    };
    if matches!(
        path.kind(),
        "qualified_name" | "identifier" | "alias_qualified_name"
    ) {
        imports.push(Import {
            target: source
                .of(path)
                .split_whitespace()
                .collect::<String>()
                .replace("global::", ""),
            names: Vec::new(),
            line: line_of(node),
        });
    }
}
