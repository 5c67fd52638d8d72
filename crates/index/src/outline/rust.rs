//! Rust.

use tree_sitter::Node;

use super::{
    Import,
    SymbolKind::{
        Constant, Enum, Field, Function, Implementation, Macro, Module, Struct, Trait, Type, Variable,
        Variant,
    },
    rules::{
        Does::{Above, Define, Descend, Import as Imports, Look, Wrap},
        Found,
        Inside::{Closed, Open},
        Name, Row, Scope, Source, line_of,
    },
};

pub(super) const ROWS: &[Row] = &[
    ("attribute_item", Above),
    ("line_comment", Above),
    ("block_comment", Above),
    ("function_item", Define(Function, Name::Field("name"), Closed)),
    (
        "function_signature_item",
        Define(Function, Name::Field("name"), Closed),
    ),
    ("struct_item", Define(Struct, Name::Field("name"), Open)),
    ("union_item", Define(Struct, Name::Field("name"), Open)),
    ("enum_item", Define(Enum, Name::Field("name"), Open)),
    ("enum_variant", Define(Variant, Name::Field("name"), Closed)),
    ("field_declaration", Define(Field, Name::Field("name"), Closed)),
    ("trait_item", Define(Trait, Name::Field("name"), Open)),
    ("impl_item", Look(implementation)),
    ("type_item", Define(Type, Name::Field("name"), Closed)),
    ("associated_type", Define(Type, Name::Field("name"), Closed)),
    ("const_item", Define(Constant, Name::Field("name"), Closed)),
    ("static_item", Define(Variable, Name::Field("name"), Closed)),
    ("macro_definition", Define(Macro, Name::Field("name"), Closed)),
    ("mod_item", super::rules::Does::ImportAndLook(module_file, module)),
    ("foreign_mod_item", Descend),
    ("expression_statement", Wrap),
    ("macro_invocation", Look(macro_item)),
    ("block", Descend),
    ("declaration_list", Descend),
    ("field_declaration_list", Descend),
    ("enum_variant_list", Descend),
    ("use_declaration", Imports(uses)),
    ("extern_crate_declaration", Imports(external_crate)),
];

/// `impl<T> Display for Store<T>` is `Store`'s.
fn implementation(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let mut of = node.child_by_field_name("type");
    while let Some(inner) = of.and_then(|of| of.child_by_field_name("type")) {
        of = Some(inner);
    }
    Found::named(Implementation, of, Open)
}

/// `bitflags! { pub struct Flags { … } }`: the grammar sees only words inside, the first item names the whole.
fn macro_item(source: Source<'_>, node: Node<'_>, scope: Scope) -> Found {
    if scope.is_in_function() {
        return Found::Nothing;
    }
    let text = source.of(node);
    let mut kind = None;
    let mut start = 0;
    for word in text.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
        let at = node.start_byte() + start;
        // Separators are letters of any length: the next word begins after the one behind this.
        start += word.len();
        start += text
            .get(start..)
            .and_then(|rest| rest.chars().next())
            .map_or(0, char::len_utf8);
        if word.is_empty() {
            continue;
        }
        if let Some(kind) = kind {
            return Found::Definition {
                kind,
                name: at..at + word.len(),
                inside: Closed,
            };
        }
        kind = match word {
            "struct" | "union" => Some(Struct),
            "enum" => Some(Enum),
            "trait" => Some(Trait),
            "fn" => Some(Function),
            _ => None,
        };
    }
    Found::Nothing
}

fn module(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    match node.child_by_field_name("body") {
        Some(_) => Found::named(Module, node.child_by_field_name("name"), Open),
        None => Found::Nothing,
    }
}

/// `mod disk;` stands for a file: the path `self::disk`.
fn module_file(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    if node.child_by_field_name("body").is_some() {
        return;
    }
    if let Some(name) = node.child_by_field_name("name") {
        imports.push(Import {
            target: format!("self::{}", source.of(name)),
            names: Vec::new(),
            line: line_of(node),
        });
    }
}

fn external_crate(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    if let Some(name) = node.child_by_field_name("name") {
        imports.push(Import {
            target: source.of(name).to_owned(),
            names: Vec::new(),
            line: line_of(node),
        });
    }
}

/// One import for each path that names are taken from: `a::{b, c::d}` takes `b` from `a` and `d` from `a::c`.
fn uses(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    let Some(argument) = node.child_by_field_name("argument") else {
        return;
    };
    let mut waiting = vec![(String::new(), argument)];
    let first = imports.len();
    let inline = inline_modules(node);
    while let Some((prefix, node)) = waiting.pop() {
        match node.kind() {
            "scoped_use_list" => {
                let path = node.child_by_field_name("path").map(|path| source.of(path));
                if let Some(list) = node.child_by_field_name("list") {
                    waiting.push((joined(&prefix, path.unwrap_or_default()), list));
                }
            }
            "use_list" => {
                let mut cursor = node.walk();
                let mut inner: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
                inner.reverse();
                waiting.extend(inner.into_iter().map(|child| (prefix.clone(), child)));
            }
            "use_as_clause" => {
                if let Some(path) = node.child_by_field_name("path") {
                    waiting.push((prefix, path));
                }
            }
            "use_wildcard" => {
                let path = node.named_child(0).map(|path| source.of(path));
                take(
                    imports,
                    first,
                    joined(&prefix, path.unwrap_or_default()),
                    "*",
                    line_of(node),
                );
            }
            "scoped_identifier" | "identifier" | "crate" | "self" | "super" => {
                let path = joined(&prefix, source.of(node));
                match path.strip_suffix("::self").unwrap_or(&path).rsplit_once("::") {
                    Some((target, name)) => take(imports, first, target.to_owned(), name, line_of(node)),
                    None => imports.push(Import {
                        target: path.strip_suffix("::self").unwrap_or(&path).to_owned(),
                        names: Vec::new(),
                        line: line_of(node),
                    }),
                }
            }
            _ => {}
        }
    }
    for _ in 0..inline {
        one_module_out(imports, first);
    }
}

/// Modules with a body around a node: each takes one `super` to get out of, and the file is still the same.
fn inline_modules(node: Node<'_>) -> usize {
    let mut around = node.parent();
    let mut count = 0;
    while let Some(node) = around {
        count += usize::from(node.kind() == "mod_item");
        around = node.parent();
    }
    count
}

/// Writes paths as they are seen from one module further out. What stays in the file imports nothing.
fn one_module_out(imports: &mut Vec<Import>, first: usize) {
    let mut index = 0;
    imports.retain_mut(|import| {
        index += 1;
        if index <= first {
            return true;
        }
        if let Some(rest) = import.target.strip_prefix("super::") {
            let further = rest == "super" || rest.starts_with("super::");
            import.target = if further {
                rest.to_owned()
            } else {
                format!("self::{rest}")
            };
            return true;
        }
        import.target != "super" && import.target != "self" && !import.target.starts_with("self::")
    });
}

fn take(imports: &mut Vec<Import>, first: usize, target: String, name: &str, line: u32) {
    let known = imports
        .iter_mut()
        .skip(first)
        .find(|import| import.target == target && !import.names.is_empty());
    match known {
        Some(import) => import.names.push(name.to_owned()),
        None => imports.push(Import {
            target,
            names: vec![name.to_owned()],
            line,
        }),
    }
}

fn joined(prefix: &str, path: &str) -> String {
    let path: String = path.split_whitespace().collect();
    match (prefix.is_empty(), path.is_empty()) {
        (true, _) => path,
        (_, true) => prefix.to_owned(),
        _ => format!("{prefix}::{path}"),
    }
}
