//! Java, Kotlin and Scala.

use tree_sitter::Node;

use super::{
    Import,
    SymbolKind::{
        self, Class, Constant, Enum, Field, Function, Interface, Method, Module, Property, Trait, Type,
        Variable, Variant,
    },
    rules::{
        Does::{Above, Define, Descend, Import as Imports, Look},
        Found,
        Inside::{Closed, Open},
        Name, Row, Scope, Source, child_of_kind, has_child, line_of,
    },
};

pub(super) const JAVA: &[Row] = &[
    ("line_comment", Above),
    ("block_comment", Above),
    ("class_declaration", Define(Class, Name::Field("name"), Open)),
    ("record_declaration", Define(Class, Name::Field("name"), Open)),
    (
        "interface_declaration",
        Define(Interface, Name::Field("name"), Open),
    ),
    (
        "annotation_type_declaration",
        Define(Interface, Name::Field("name"), Open),
    ),
    ("enum_declaration", Define(Enum, Name::Field("name"), Open)),
    ("module_declaration", Define(Module, Name::Field("name"), Closed)),
    ("class_body", Descend),
    ("interface_body", Descend),
    ("enum_body", Descend),
    ("enum_body_declarations", Descend),
    ("block", Descend),
    ("constructor_body", Descend),
    ("annotation_type_body", Descend),
    ("enum_constant", Define(Variant, Name::Field("name"), Closed)),
    ("method_declaration", Define(Method, Name::Field("name"), Closed)),
    (
        "constructor_declaration",
        Define(Method, Name::Field("name"), Closed),
    ),
    (
        "compact_constructor_declaration",
        Define(Method, Name::Field("name"), Closed),
    ),
    (
        "annotation_type_element_declaration",
        Define(Method, Name::Field("name"), Closed),
    ),
    ("field_declaration", Look(java_field)),
    ("constant_declaration", Look(java_field)),
    ("import_declaration", Imports(java_import)),
];

fn java_field(source: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let name = node
        .child_by_field_name("declarator")
        .and_then(|declarator| declarator.child_by_field_name("name"));
    let modifiers = child_of_kind(node, "modifiers").map(|modifiers| source.of(modifiers));
    let constant = node.kind() == "constant_declaration"
        || modifiers.is_some_and(|modifiers| modifiers.contains("static") && modifiers.contains("final"));
    Found::named(if constant { Constant } else { Field }, name, Closed)
}

fn java_import(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    let path = child_of_kind(node, "scoped_identifier").or_else(|| child_of_kind(node, "identifier"));
    if let Some(path) = path {
        imports.push(Import {
            target: source.of(path).split_whitespace().collect(),
            names: everything(has_child(node, "asterisk")),
            line: line_of(node),
        });
    }
}

fn everything(is: bool) -> Vec<String> {
    if is { vec!["*".to_owned()] } else { Vec::new() }
}

pub(super) const KOTLIN: &[Row] = &[
    ("line_comment", Above),
    ("block_comment", Above),
    ("class_declaration", Look(kotlin_class)),
    ("object_declaration", Define(Class, Name::Field("name"), Open)),
    ("companion_object", Descend),
    ("class_body", Descend),
    ("enum_class_body", Descend),
    ("enum_entry", Define(Variant, Name::Child("identifier"), Closed)),
    ("primary_constructor", Descend),
    ("class_parameters", Descend),
    ("class_parameter", Look(kotlin_parameter)),
    ("secondary_constructor", Look(kotlin_constructor)),
    (
        "function_declaration",
        Define(Function, Name::Field("name"), Closed),
    ),
    ("property_declaration", Look(kotlin_property)),
    ("type_alias", Define(Type, Name::Field("type"), Closed)),
    ("import", Imports(kotlin_import)),
];

fn kotlin_class(source: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let is_enum = child_of_kind(node, "modifiers")
        .is_some_and(|modifiers| source.of(modifiers).split_whitespace().any(|word| word == "enum"));
    let kind = if has_child(node, "interface") {
        Interface
    } else if is_enum || has_child(node, "enum_class_body") {
        Enum
    } else {
        Class
    };
    Found::named(kind, node.child_by_field_name("name"), Open)
}

/// `class Store(val path: Path)`: with `val` or `var` a parameter is a property.
fn kotlin_parameter(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    if has_child(node, "val") || has_child(node, "var") {
        Found::named(Property, child_of_kind(node, "identifier"), Closed)
    } else {
        Found::Nothing
    }
}

fn kotlin_constructor(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    Found::named(Method, child_of_kind(node, "constructor"), Closed)
}

fn kotlin_property(source: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    let name =
        child_of_kind(node, "variable_declaration").and_then(|inner| child_of_kind(inner, "identifier"));
    let constant =
        child_of_kind(node, "modifiers").is_some_and(|modifiers| source.of(modifiers).contains("const"));
    Found::named(value_kind(constant, scope), name, Closed)
}

fn value_kind(constant: bool, scope: Scope) -> SymbolKind {
    match (constant, scope.is_in_type()) {
        (true, _) => Constant,
        (false, true) => Property,
        (false, false) => Variable,
    }
}

fn kotlin_import(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    if let Some(path) =
        child_of_kind(node, "qualified_identifier").or_else(|| child_of_kind(node, "identifier"))
    {
        imports.push(Import {
            target: source.of(path).split_whitespace().collect(),
            names: everything(has_child(node, "*")),
            line: line_of(node),
        });
    }
}

pub(super) const SCALA: &[Row] = &[
    ("comment", Above),
    ("block_comment", Above),
    ("package_clause", Descend),
    ("package_object", Define(Module, Name::Field("name"), Open)),
    ("object_definition", Define(Class, Name::Field("name"), Open)),
    ("class_definition", Define(Class, Name::Field("name"), Open)),
    ("trait_definition", Define(Trait, Name::Field("name"), Open)),
    ("enum_definition", Define(Enum, Name::Field("name"), Open)),
    ("template_body", Descend),
    ("with_template_body", Descend),
    ("enum_body", Descend),
    ("enum_case_definitions", Descend),
    ("simple_enum_case", Define(Variant, Name::Field("name"), Closed)),
    ("full_enum_case", Define(Variant, Name::Field("name"), Closed)),
    ("extension_definition", Descend),
    (
        "function_definition",
        Define(Function, Name::Field("name"), Closed),
    ),
    (
        "function_declaration",
        Define(Function, Name::Field("name"), Closed),
    ),
    ("val_definition", Look(scala_value)),
    ("var_definition", Look(scala_value)),
    ("val_declaration", Look(scala_value)),
    ("var_declaration", Look(scala_value)),
    ("type_definition", Define(Type, Name::Field("name"), Closed)),
    ("given_definition", Look(scala_given)),
    ("import_declaration", Imports(scala_import)),
];

fn scala_value(_: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    let name = node
        .child_by_field_name("name")
        .or_else(|| node.child_by_field_name("pattern"));
    match name {
        Some(name) if matches!(name.kind(), "identifier" | "operator_identifier") => {
            Found::named(value_kind(false, scope), Some(name), Closed)
        }
        _ => Found::Nothing,
    }
}

fn scala_given(_: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    Found::named(value_kind(false, scope), node.child_by_field_name("name"), Open)
}

/// `import a.b.{C, D => E}, f.g`: the tree has the parts of all paths in one row, the text has them in order.
fn scala_import(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    let text = source.of(node);
    let mut rest = text.strip_prefix("import").unwrap_or(text).trim();
    while !rest.is_empty() {
        let mut depth = 0_u32;
        let end = rest.find(|letter| {
            match letter {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            letter == ',' && depth == 0
        });
        let (one, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after.trim_start_matches(',').trim_start();
        imports.extend(scala_path(one, line_of(node)));
    }
}

fn scala_path(path: &str, line: u32) -> Option<Import> {
    let path: String = path.chars().filter(|letter| !letter.is_control()).collect();
    let (target, names) = match path.split_once(".{") {
        Some((target, list)) => (target.trim(), list.trim_end_matches(['}', ' '])),
        None => {
            let path = path.split(" as ").next().unwrap_or_default().trim();
            match path.rsplit_once('.') {
                Some((target, "_" | "*" | "given")) => (target, "*"),
                _ => (path, ""),
            }
        }
    };
    if target.is_empty() {
        return None;
    }
    let names = names
        .split(',')
        .filter_map(|name| name.split_whitespace().next())
        .map(|name| if name == "_" { "*" } else { name })
        .map(str::to_owned)
        .collect();
    Some(Import {
        target: target.split_whitespace().collect(),
        names,
        line,
    })
}
