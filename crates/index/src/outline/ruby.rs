//! Ruby.

use tree_sitter::Node;

use super::{
    Import,
    SymbolKind::{Class, Constant, Function, Method, Module, Property},
    rules::{
        Does::{Above, Define, Descend, ImportAndLook, Look},
        Found,
        Inside::{Closed, Open},
        Name, Row, Scope, Source, child_of_kind, line_of,
    },
};

pub(super) const ROWS: &[Row] = &[
    ("comment", Above),
    ("module", Define(Module, Name::Field("name"), Open)),
    ("class", Define(Class, Name::Field("name"), Open)),
    ("singleton_class", Descend),
    ("body_statement", Descend),
    ("method", Define(Function, Name::Field("name"), Closed)),
    ("singleton_method", Define(Method, Name::Field("name"), Closed)),
    ("assignment", Look(assignment)),
    ("if", Descend),
    ("unless", Descend),
    ("then", Descend),
    ("else", Descend),
    ("begin", Descend),
    ("call", ImportAndLook(require, call)),
    ("argument_list", Descend),
    ("simple_symbol", Look(attribute)),
    ("do_block", Descend),
];

fn assignment(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let left = node
        .child_by_field_name("left")
        .filter(|left| left.kind() == "constant");
    // `Point = Struct.new(:x) do … end` has methods.
    Found::named(Constant, left, Open)
}

/// `private def …`, attributes, and blocks whose methods belong to what is around them.
fn call(source: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    let method = node.child_by_field_name("method").map(|method| source.of(method));
    match method.unwrap_or_default() {
        "private" | "protected" | "public" | "module_function" | "private_class_method" | "memoize" => {
            Found::Descend
        }
        "attr_accessor" | "attr_reader" | "attr_writer" | "attribute" | "scope" | "alias_method" => {
            Found::Descend
        }
        "included" | "class_methods" | "refine" | "new" | "class_eval" | "module_eval" => Found::Descend,
        "describe" | "context" | "namespace" if scope.is_top() => Found::Descend,
        _ => Found::Nothing,
    }
}

/// `attr_reader :path, :size` makes a method of each; of `attribute :path, :string` and the like only the first.
fn attribute(source: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let arguments = node.parent();
    let method = arguments
        .and_then(|arguments| arguments.parent())
        .and_then(|call| call.child_by_field_name("method"))
        .map(|method| source.of(method));
    let is_first = arguments.and_then(|arguments| arguments.named_child(0)) == Some(node);
    match method.unwrap_or_default() {
        "attr_accessor" | "attr_reader" | "attr_writer" => {}
        "attribute" | "scope" | "alias_method" if is_first => {}
        _ => return Found::Nothing,
    }
    Found::Definition {
        kind: Property,
        name: node.start_byte() + 1..node.end_byte(),
        inside: Closed,
    }
}

fn require(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    if node.child_by_field_name("receiver").is_some() {
        return;
    }
    let method = node.child_by_field_name("method").map(|method| source.of(method));
    let position = match method.unwrap_or_default() {
        "require" | "require_relative" | "load" | "require_dependency" => 0,
        "autoload" => 1,
        _ => return,
    };
    let path = node
        .child_by_field_name("arguments")
        .and_then(|arguments| arguments.named_child(position))
        .and_then(|argument| child_of_kind(argument, "string_content"));
    let Some(path) = path else {
        return;
    };
    let written = source.of(path);
    let relative = method == Some("require_relative") && !written.starts_with('.');
    imports.push(Import {
        target: if relative {
            format!("./{written}")
        } else {
            written.to_owned()
        },
        names: Vec::new(),
        line: line_of(node),
    });
}
