//! C and C++.

use tree_sitter::Node;

use super::{
    Import,
    SymbolKind::{
        self, Class, Enum, Field, Function, Macro, Method, Module, Struct, Type, Variable, Variant,
    },
    rules::{
        Does::{Above, Define, Descend, Import as Imports, Look, Wrap},
        Found,
        Inside::{Closed, Open},
        Name, Row, Scope, Source, child_of_kind, line_of,
    },
};

/// Declarators inside declarators, `int *(*f(void))[3]`; more is not written.
const MAX_DECLARATORS: usize = 32;

pub(super) const C: &[Row] = &[
    ("comment", Above),
    ("function_definition", Look(function)),
    ("declaration", Look(declaration)),
    ("type_definition", Look(typedef)),
    ("struct_specifier", Look(structure)),
    ("union_specifier", Look(structure)),
    ("enum_specifier", Look(enumeration)),
    ("enumerator_list", Descend),
    ("enumerator", Define(Variant, Name::Field("name"), Closed)),
    ("field_declaration_list", Descend),
    ("field_declaration", Look(field)),
    ("declaration_list", Descend),
    ("compound_statement", Descend),
    ("labeled_statement", Descend),
    ("linkage_specification", Descend),
    ("preproc_if", Descend),
    ("preproc_ifdef", Descend),
    ("preproc_elif", Descend),
    ("preproc_elifdef", Descend),
    ("preproc_else", Descend),
    ("preproc_def", Look(constant_macro)),
    ("preproc_function_def", Define(Macro, Name::Field("name"), Closed)),
    ("preproc_include", Imports(include)),
];

pub(super) const CPP: &[Row] = &[
    ("comment", Above),
    ("attribute_declaration", Above),
    ("namespace_definition", Look(namespace)),
    ("class_specifier", Look(class)),
    ("template_declaration", Wrap),
    ("concept_definition", Define(Type, Name::Field("name"), Closed)),
    ("alias_declaration", Define(Type, Name::Field("name"), Closed)),
    ("function_definition", Look(function)),
    ("declaration", Look(declaration)),
    ("type_definition", Look(typedef)),
    ("struct_specifier", Look(structure)),
    ("union_specifier", Look(structure)),
    ("enum_specifier", Look(enumeration)),
    ("enumerator_list", Descend),
    ("enumerator", Define(Variant, Name::Field("name"), Closed)),
    ("field_declaration_list", Descend),
    ("field_declaration", Look(field)),
    ("declaration_list", Descend),
    ("compound_statement", Descend),
    ("labeled_statement", Descend),
    ("linkage_specification", Descend),
    ("preproc_if", Descend),
    ("preproc_ifdef", Descend),
    ("preproc_elif", Descend),
    ("preproc_elifdef", Descend),
    ("preproc_else", Descend),
    ("preproc_def", Look(constant_macro)),
    ("preproc_function_def", Define(Macro, Name::Field("name"), Closed)),
    ("preproc_include", Imports(include)),
];

/// What a declarator declares: its name, and whether it is a function.
struct Declared<'tree> {
    name: Node<'tree>,
    function: bool,
    /// `Store::open`: a member, defined outside its class.
    qualified: bool,
}

fn declared(node: Node<'_>) -> Option<Declared<'_>> {
    let mut at = node.child_by_field_name("declarator")?;
    let mut function = false;
    let mut qualified = false;
    for _ in 0..MAX_DECLARATORS {
        let next = match at.kind() {
            "function_declarator" => {
                let inner = at.child_by_field_name("declarator");
                // `int (*handler)(int)` is a variable that holds a function.
                function |= inner.is_none_or(|inner| inner.kind() != "parenthesized_declarator");
                inner
            }
            "qualified_identifier" => {
                qualified = true;
                at.child_by_field_name("name")
            }
            "template_function" | "template_method" => at.child_by_field_name("name"),
            "reference_declarator" | "parenthesized_declarator" | "attributed_declarator" => {
                let last = u32::try_from(at.named_child_count())
                    .unwrap_or_default()
                    .checked_sub(1);
                last.and_then(|last| at.named_child(last))
            }
            _ => at.child_by_field_name("declarator"),
        };
        match next {
            Some(next) => at = next,
            None => {
                return Some(Declared {
                    name: at,
                    function,
                    qualified,
                });
            }
        }
    }
    None
}

fn function(source: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let Some(declared) = declared(node) else {
        return Found::Descend;
    };
    // `class EXPORTED Store { … };` with an unknown macro reads like a function that returns a class.
    let returned = node.child_by_field_name("type");
    if let Some(returned) = returned
        && !declared.function
        && returned.child_by_field_name("body").is_none()
        && matches!(returned.kind(), "class_specifier" | "struct_specifier")
    {
        let kind = if returned.kind() == "class_specifier" {
            Class
        } else {
            Struct
        };
        return Found::named(kind, Some(declared.name), Open);
    }
    // `TEST(Store, Opens) { … }`: what a macro is given names the function better than the macro.
    if returned.is_none() && is_macro(source.of(declared.name)) {
        let parameters = node
            .child_by_field_name("declarator")
            .and_then(|declarator| declarator.child_by_field_name("parameters"))
            .filter(|parameters| parameters.named_child_count() > 0);
        if let Some(parameters) = parameters {
            return Found::Definition {
                kind: Function,
                name: parameters.start_byte() + 1..parameters.end_byte().saturating_sub(1),
                inside: Closed,
            };
        }
    }
    let kind = if declared.qualified { Method } else { Function };
    Found::named(kind, Some(declared.name), Closed)
}

fn is_macro(name: &str) -> bool {
    name.len() > 1
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

fn declaration(_: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    if scope.is_in_function() {
        return Found::Nothing;
    }
    let has_body = node
        .child_by_field_name("type")
        .is_some_and(|of| of.child_by_field_name("body").is_some());
    if has_body {
        return Found::Wrap;
    }
    match declared(node) {
        // A constructor or operator that a class declares has no type before it, which makes it a declaration.
        Some(declared) if declared.function => Found::named(Function, Some(declared.name), Closed),
        Some(declared) if !declared.qualified => Found::named(Variable, Some(declared.name), Closed),
        _ => Found::Nothing,
    }
}

fn typedef(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let kind = match node.child_by_field_name("type") {
        Some(of) if of.child_by_field_name("body").is_some() => match of.kind() {
            "enum_specifier" => Enum,
            _ => Struct,
        },
        _ => Type,
    };
    Found::named(kind, declared(node).map(|declared| declared.name), Open)
}

/// Without a body it only mentions the type.
fn with_body(node: Node<'_>, kind: SymbolKind) -> Found {
    if node.child_by_field_name("body").is_none() {
        return Found::Nothing;
    }
    match node.child_by_field_name("name") {
        Some(name) => Found::named(kind, Some(last_part(name)), Open),
        None => Found::Descend,
    }
}

fn structure(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    with_body(node, Struct)
}

fn enumeration(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    with_body(node, Enum)
}

fn class(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    with_body(node, Class)
}

fn namespace(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    match node.child_by_field_name("name") {
        Some(name) => Found::named(Module, Some(name), Open),
        None => Found::Descend,
    }
}

/// `Outer::Inner` and `Holder<int>` are known by their own name.
fn last_part(name: Node<'_>) -> Node<'_> {
    let mut at = name;
    for _ in 0..MAX_DECLARATORS {
        match at.child_by_field_name("name") {
            Some(inner) => at = inner,
            None => break,
        }
    }
    at
}

fn field(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    match declared(node) {
        Some(declared) if declared.function => Found::named(Method, Some(declared.name), Closed),
        Some(declared) => Found::named(Field, Some(declared.name), Open),
        // A nested type, or an anonymous union whose members are its own.
        None => Found::Wrap,
    }
}

/// Without a value it is an include guard or a switch.
fn constant_macro(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    match node.child_by_field_name("value") {
        Some(_) => Found::named(Macro, node.child_by_field_name("name"), Closed),
        None => Found::Nothing,
    }
}

fn include(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    let Some(path) = node.child_by_field_name("path") else {
        return;
    };
    if child_of_kind(node, "identifier").is_some() {
        return;
    }
    imports.push(Import {
        target: source.unquoted(path).to_owned(),
        names: Vec::new(),
        line: line_of(node),
    });
}
