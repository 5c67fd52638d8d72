//! JavaScript and TypeScript, with JSX.

use memchr::memmem;
use tree_sitter::Node;

use super::{
    Import,
    SymbolKind::{
        self, Class, Enum, Field, Function, Interface, Method, Module, Property, Type, Variable, Variant,
    },
    rules::{
        Does::{Above, Define, Descend, Import as Imports, ImportAndLook, Look, Wrap},
        Found,
        Inside::{Closed, Open},
        Name, Row, Scope, Source, child_of_kind, constant_or_variable, has_child, line_of,
    },
};

/// How deep object literals are looked into: `export default { methods: { save() {} } }`.
const OBJECT_DEPTH: u32 = 3;

pub(super) const JAVASCRIPT: &[Row] = &[
    ("comment", Above),
    ("decorator", Above),
    ("export_statement", ImportAndLook(re_export, export)),
    ("import_statement", Imports(import)),
    (
        "function_declaration",
        Define(Function, Name::Field("name"), Open),
    ),
    (
        "generator_function_declaration",
        Define(Function, Name::Field("name"), Open),
    ),
    ("class_declaration", Define(Class, Name::Field("name"), Open)),
    ("class_body", Descend),
    ("method_definition", Define(Method, Name::Field("name"), Open)),
    ("field_definition", Look(class_field)),
    ("statement_block", Descend),
    ("lexical_declaration", Wrap),
    ("variable_declaration", Wrap),
    ("variable_declarator", Look(variable)),
    ("expression_statement", Wrap),
    ("assignment_expression", Look(assignment)),
    ("call_expression", Look(call)),
    ("parenthesized_expression", Descend),
    ("member_expression", Look(member)),
    ("unary_expression", Look(negated)),
    ("arguments", Descend),
    ("function_expression", Look(anonymous)),
    ("arrow_function", Look(anonymous)),
    ("class", Look(anonymous)),
    ("object", Look(object)),
    ("pair", Look(pair)),
];

pub(super) const TYPESCRIPT: &[Row] = &[
    ("comment", Above),
    ("decorator", Above),
    ("export_statement", ImportAndLook(re_export, export)),
    ("import_statement", Imports(import)),
    (
        "function_declaration",
        Define(Function, Name::Field("name"), Open),
    ),
    (
        "function_signature",
        Define(Function, Name::Field("name"), Closed),
    ),
    (
        "generator_function_declaration",
        Define(Function, Name::Field("name"), Open),
    ),
    ("class_declaration", Define(Class, Name::Field("name"), Open)),
    (
        "abstract_class_declaration",
        Define(Class, Name::Field("name"), Open),
    ),
    ("class_body", Descend),
    ("method_definition", Define(Method, Name::Field("name"), Open)),
    ("method_signature", Define(Method, Name::Field("name"), Closed)),
    (
        "abstract_method_signature",
        Define(Method, Name::Field("name"), Closed),
    ),
    ("public_field_definition", Look(class_field)),
    ("property_signature", Define(Field, Name::Field("name"), Closed)),
    (
        "interface_declaration",
        Define(Interface, Name::Field("name"), Open),
    ),
    ("interface_body", Descend),
    ("object_type", Descend),
    ("type_alias_declaration", Define(Type, Name::Field("name"), Open)),
    ("enum_declaration", Define(Enum, Name::Field("name"), Open)),
    ("enum_body", Descend),
    ("enum_assignment", Define(Variant, Name::Field("name"), Closed)),
    ("property_identifier", Look(enum_member)),
    ("internal_module", Define(Module, Name::Field("name"), Open)),
    ("module", Define(Module, Name::Field("name"), Open)),
    ("ambient_declaration", Wrap),
    ("statement_block", Descend),
    ("lexical_declaration", Wrap),
    ("variable_declaration", Wrap),
    ("variable_declarator", Look(variable)),
    ("expression_statement", Wrap),
    ("assignment_expression", Look(assignment)),
    ("call_expression", Look(call)),
    ("parenthesized_expression", Descend),
    ("member_expression", Look(member)),
    ("unary_expression", Look(negated)),
    ("arguments", Descend),
    ("as_expression", Descend),
    ("satisfies_expression", Descend),
    ("function_expression", Look(anonymous)),
    ("arrow_function", Look(anonymous)),
    ("class", Look(anonymous)),
    ("object", Look(object)),
    ("pair", Look(pair)),
];

/// What an expression would be under a name.
fn kind_of(value: Node<'_>) -> Option<SymbolKind> {
    match value.kind() {
        "arrow_function" | "function_expression" | "generator_function" => Some(Function),
        "class" => Some(Class),
        _ => None,
    }
}

fn export(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let Some(value) = node.child_by_field_name("value") else {
        return Found::Wrap;
    };
    match kind_of(value) {
        // `export default () => …`: `default` is the name it is imported by.
        Some(kind) if value.child_by_field_name("name").is_none() => {
            Found::named(kind, child_of_kind(node, "default"), Open)
        }
        Some(kind) => Found::named(kind, value.child_by_field_name("name"), Open),
        None if matches!(value.kind(), "object" | "call_expression") => {
            Found::named(Variable, child_of_kind(node, "default"), Open)
        }
        None => Found::Wrap,
    }
}

fn variable(source: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    let Some(name) = node
        .child_by_field_name("name")
        .filter(|name| name.kind() == "identifier")
    else {
        return Found::Nothing;
    };
    match node.child_by_field_name("value") {
        Some(value) if let Some(kind) = kind_of(value) => Found::named(kind, Some(name), Open),
        // An import under another spelling.
        Some(value) if source.of(value).starts_with("require(") => Found::Nothing,
        _ if scope.is_in_function() => Found::Nothing,
        _ => Found::named(constant_or_variable(source.of(name)), Some(name), Open),
    }
}

/// `exports.read = …`, `Store.prototype.save = function …`, `module.exports = { … }`.
fn assignment(source: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    let (Some(left), Some(right)) = (
        node.child_by_field_name("left"),
        node.child_by_field_name("right"),
    ) else {
        return Found::Nothing;
    };
    let exported = matches!(source.of(left), "module.exports" | "exports");
    let kind = kind_of(right);
    if exported && right.kind() == "object" {
        return Found::named(Variable, Some(left), Open);
    }
    match (left.kind(), kind) {
        ("member_expression", Some(kind)) => {
            let name = if exported {
                right.child_by_field_name("name")
            } else {
                left.child_by_field_name("property")
            };
            Found::named(kind, name.or(Some(left)), Open)
        }
        ("member_expression", None) if source.of(left).starts_with("exports.") && scope.is_top() => {
            Found::named(Variable, left.child_by_field_name("property"), Closed)
        }
        // `a = b = function …`
        (_, None) if right.kind() == "assignment_expression" => Found::Descend,
        ("identifier", Some(kind)) if scope.is_top() => Found::named(kind, Some(left), Open),
        _ => Found::Nothing,
    }
}

/// Calls around a module's code or around one component: `(function () { … })()`, `define([…], function …)`,
/// `memo(() => …)`, `defineComponent({ … })`. Tests (`describe`, `it`) define nothing.
fn call(source: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    let Some(function) = node.child_by_field_name("function") else {
        return Found::Nothing;
    };
    let named = matches!(scope.within, Some(Variable | SymbolKind::Constant));
    match function.kind() {
        "parenthesized_expression" | "function_expression" if scope.is_top() => Found::Descend,
        "member_expression" if scope.is_top() && is_wrapper(function) => Found::Descend,
        "identifier" if scope.is_top() && matches!(source.of(function), "define" | "$" | "jQuery") => {
            Found::Descend
        }
        _ if named && scope.depth == 1 => Found::Descend,
        _ => Found::Nothing,
    }
}

/// `(function () { … }).call(this)`
fn is_wrapper(member: Node<'_>) -> bool {
    member
        .child_by_field_name("object")
        .is_some_and(|object| object.kind() == "parenthesized_expression")
}

fn member(_: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    if scope.is_top() && is_wrapper(node) {
        Found::Descend
    } else {
        Found::Nothing
    }
}

/// `!function () { … }()`
fn negated(_: Source<'_>, _: Node<'_>, scope: Scope) -> Found {
    if scope.is_top() {
        Found::Descend
    } else {
        Found::Nothing
    }
}

/// A function or class as a value. Mostly a name was already found for it; `memo(function Row() { … })` has its own.
fn anonymous(_: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    match node.child_by_field_name("name") {
        Some(name) if matches!(scope.within, Some(Variable | SymbolKind::Constant)) => {
            Found::named(kind_of(node).unwrap_or(Function), Some(name), Open)
        }
        _ => Found::Descend,
    }
}

fn object(_: Source<'_>, _: Node<'_>, scope: Scope) -> Found {
    if scope.depth <= OBJECT_DEPTH && !scope.is_in_function() {
        Found::Descend
    } else {
        Found::Nothing
    }
}

fn pair(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let key = node.child_by_field_name("key");
    match node.child_by_field_name("value") {
        Some(value) if kind_of(value) == Some(Function) => Found::named(Method, key, Open),
        Some(value) if value.kind() == "object" => Found::named(Property, key, Open),
        _ => Found::Nothing,
    }
}

fn class_field(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let name = node
        .child_by_field_name("name")
        .or_else(|| node.child_by_field_name("property"));
    let function = node.child_by_field_name("value").and_then(kind_of) == Some(Function);
    if function {
        Found::named(Method, name, Open)
    } else {
        Found::named(Field, name, Closed)
    }
}

fn enum_member(_: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    if scope.within == Some(Enum) {
        Found::named(Variant, Some(node), Closed)
    } else {
        Found::Nothing
    }
}

fn import(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    // `import fs = require('fs')` keeps its path one level down.
    let path = node.child_by_field_name("source").or_else(|| {
        child_of_kind(node, "import_require_clause").and_then(|clause| clause.child_by_field_name("source"))
    });
    let Some(path) = path else {
        return;
    };
    let mut names = Vec::new();
    if let Some(clause) = child_of_kind(node, "import_clause") {
        let mut cursor = clause.walk();
        for part in clause.named_children(&mut cursor) {
            match part.kind() {
                "identifier" => names.push("default".to_owned()),
                "namespace_import" => names.push("*".to_owned()),
                "named_imports" => specified(source, part, "import_specifier", &mut names),
                _ => {}
            }
        }
    }
    imports.push(Import {
        target: source.unquoted(path).to_owned(),
        names,
        line: line_of(node),
    });
}

fn re_export(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    let Some(path) = node.child_by_field_name("source") else {
        return;
    };
    let mut names = Vec::new();
    match child_of_kind(node, "export_clause") {
        Some(clause) => specified(source, clause, "export_specifier", &mut names),
        None if has_child(node, "*") || has_child(node, "namespace_export") => names.push("*".to_owned()),
        None => {}
    }
    imports.push(Import {
        target: source.unquoted(path).to_owned(),
        names,
        line: line_of(node),
    });
}

fn specified(source: Source<'_>, clause: Node<'_>, kind: &str, names: &mut Vec<String>) {
    let mut cursor = clause.walk();
    for part in clause
        .named_children(&mut cursor)
        .filter(|part| part.kind() == kind)
    {
        if let Some(name) = part.child_by_field_name("name") {
            names.push(source.of(name).to_owned());
        }
    }
}

/// `require('./a')` and `import('./a')` can stand in any expression, where the walk does not go: they are found in
/// the text.
pub(super) fn called_imports(text: &str, imports: &mut Vec<Import>) {
    for call in ["require(", "import("] {
        let (mut line, mut counted) = (1_u32, 0);
        for at in memmem::find_iter(text.as_bytes(), call) {
            let before = text[..at].chars().next_back();
            if before
                .is_some_and(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '$' | '#'))
            {
                continue;
            }
            let Some(target) = quoted(&text[at + call.len()..]) else {
                continue;
            };
            let newlines = memchr::memchr_iter(b'\n', &text.as_bytes()[counted..at]).count();
            line = line.saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX));
            counted = at;
            let known = imports
                .iter()
                .any(|import| import.line == line && import.target == target);
            if !known {
                imports.push(Import {
                    target: target.to_owned(),
                    names: Vec::new(),
                    line,
                });
            }
        }
    }
    imports.sort_by_key(|import| import.line);
}

/// The string literal that a text begins with.
fn quoted(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let quote = text
        .chars()
        .next()
        .filter(|letter| matches!(letter, '"' | '\'' | '`'))?;
    let (inner, _) = text[1..].split_once(quote)?;
    let plain = !inner.is_empty() && inner.len() <= 260 && !inner.contains(['\n', '$']);
    plain.then_some(inner)
}
