//! What the walk does at each kind of node: one table for each language, compiled for its grammar.

use std::ops::Range;

use tree_sitter::Node;

use super::{
    Import, SymbolKind, c_family, csharp, data, go, jvm, markdown, php, python, ruby, rust, script, shell,
};
use super::{sql, swift, web};
use crate::language::Language;

/// Node kind and what it means. A kind that is not listed is passed over with all it contains.
pub(super) type Row = (&'static str, Does);

#[derive(Clone, Copy)]
pub(super) enum Does {
    /// Definitions may be inside; this is none itself.
    Descend,
    /// Like `Descend`, and what stands directly above belongs to the first definition inside: `export`, `template<>`.
    Wrap,
    /// A comment, attribute or decorator: belongs to the definition directly below.
    Above,
    Define(SymbolKind, Name, Inside),
    Import(fn(Source<'_>, Node<'_>, &mut Vec<Import>)),
    Look(fn(Source<'_>, Node<'_>, Scope) -> Found),
    /// An import that may hold definitions as well: `export { a } from './b'`, a call that may be a `require`.
    ImportAndLook(
        fn(Source<'_>, Node<'_>, &mut Vec<Import>),
        fn(Source<'_>, Node<'_>, Scope) -> Found,
    ),
}

#[derive(Clone, Copy)]
pub(super) enum Name {
    Field(&'static str),
    /// The first child of this kind.
    Child(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// What it contains may be definitions of their own.
    Open,
    Closed,
}

pub(super) enum Found {
    Nothing,
    Descend,
    Wrap,
    Definition {
        kind: SymbolKind,
        /// Bytes of the text that are the name.
        name: Range<usize>,
        inside: Inside,
    },
}

impl Found {
    pub(super) fn named(kind: SymbolKind, name: Option<Node<'_>>, inside: Inside) -> Found {
        match name {
            Some(name) => Found::Definition {
                kind,
                name: name.byte_range(),
                inside,
            },
            None => Found::Nothing,
        }
    }
}

/// Where in the outline a node stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scope {
    /// Definitions around it.
    pub(super) depth: u32,
    /// The innermost definition around it.
    pub(super) within: Option<SymbolKind>,
}

impl Scope {
    /// Not inside a type, a function or a value; a module or namespace may be around it.
    pub(super) fn is_top(self) -> bool {
        matches!(self.within, None | Some(SymbolKind::Module))
    }

    pub(super) fn is_in_type(self) -> bool {
        self.within.is_some_and(is_type)
    }

    pub(super) fn is_in_function(self) -> bool {
        matches!(self.within, Some(SymbolKind::Function | SymbolKind::Method))
    }
}

pub(super) fn is_type(kind: SymbolKind) -> bool {
    matches!(
        kind,
        SymbolKind::Class
            | SymbolKind::Struct
            | SymbolKind::Enum
            | SymbolKind::Interface
            | SymbolKind::Trait
            | SymbolKind::Implementation
    )
}

/// The text that a tree was made from.
#[derive(Clone, Copy)]
pub(super) struct Source<'text>(pub(super) &'text str);

impl<'text> Source<'text> {
    pub(super) fn of(self, node: Node<'_>) -> &'text str {
        self.0.get(node.byte_range()).unwrap_or_default()
    }

    /// A literal without its quotes.
    pub(super) fn unquoted(self, node: Node<'_>) -> &'text str {
        self.of(node).trim_matches(['"', '\'', '`', '<', '>'])
    }
}

pub(super) fn line_of(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row).unwrap_or(u32::MAX - 1) + 1
}

pub(super) fn child_of_kind<'tree>(node: Node<'tree>, kind: &str) -> Option<Node<'tree>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|child| child.kind() == kind)
}

pub(super) fn has_child(node: Node<'_>, kind: &str) -> bool {
    child_of_kind(node, kind).is_some()
}

/// `SCREAMING_CASE` is how most languages without a keyword for it mark a constant.
pub(super) fn constant_or_variable(name: &str) -> SymbolKind {
    let mut letters = name.chars().filter(|letter| letter.is_alphabetic()).peekable();
    if letters.peek().is_some() && letters.all(char::is_uppercase) {
        SymbolKind::Constant
    } else {
        SymbolKind::Variable
    }
}

/// A language's table, addressed by the numbers its grammar gives to node kinds.
pub(super) struct Kinds {
    grammar: tree_sitter::Language,
    rows: &'static [Row],
    /// For each kind number the row, counted from 1; 0 for none.
    row_of: Vec<u8>,
}

impl Kinds {
    /// `None` for a language without a grammar.
    pub(super) fn of(language: Language) -> Option<Kinds> {
        let (grammar, rows) = table(language)?;
        let row_of = (0..grammar.node_kind_count())
            .map(|id| {
                let id = u16::try_from(id).ok()?;
                if !grammar.node_kind_is_named(id) {
                    return None;
                }
                let kind = grammar.node_kind_for_id(id)?;
                let row = rows.iter().position(|(name, _)| *name == kind)?;
                u8::try_from(row + 1).ok()
            })
            .map(Option::unwrap_or_default)
            .collect();
        Some(Kinds {
            grammar,
            rows,
            row_of,
        })
    }

    pub(super) fn grammar(&self) -> &tree_sitter::Language {
        &self.grammar
    }

    pub(super) fn does(&self, node: Node<'_>) -> Option<Does> {
        let row = *self.row_of.get(usize::from(node.kind_id()))?;
        let index = usize::from(row).checked_sub(1)?;
        Some(self.rows.get(index)?.1)
    }

    #[cfg(test)]
    pub(super) fn unknown_rows(&self) -> Vec<&'static str> {
        self.rows
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| self.grammar.id_for_node_kind(name, true) == 0)
            .collect()
    }
}

fn table(language: Language) -> Option<(tree_sitter::Language, &'static [Row])> {
    Some(match language {
        Language::Rust => (tree_sitter_rust::LANGUAGE.into(), rust::ROWS),
        Language::TypeScript => (
            tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            script::TYPESCRIPT,
        ),
        Language::Tsx => (tree_sitter_typescript::LANGUAGE_TSX.into(), script::TYPESCRIPT),
        Language::JavaScript => (tree_sitter_javascript::LANGUAGE.into(), script::JAVASCRIPT),
        Language::Python => (tree_sitter_python::LANGUAGE.into(), python::ROWS),
        Language::Go => (tree_sitter_go::LANGUAGE.into(), go::ROWS),
        Language::Java => (tree_sitter_java::LANGUAGE.into(), jvm::JAVA),
        Language::Kotlin => (tree_sitter_kotlin_ng::LANGUAGE.into(), jvm::KOTLIN),
        Language::C => (tree_sitter_c::LANGUAGE.into(), c_family::C),
        Language::Cpp => (tree_sitter_cpp::LANGUAGE.into(), c_family::CPP),
        Language::CSharp => (tree_sitter_c_sharp::LANGUAGE.into(), csharp::ROWS),
        Language::Ruby => (tree_sitter_ruby::LANGUAGE.into(), ruby::ROWS),
        Language::Php => (tree_sitter_php::LANGUAGE_PHP.into(), php::ROWS),
        Language::Swift => (tree_sitter_swift::LANGUAGE.into(), swift::ROWS),
        Language::Scala => (tree_sitter_scala::LANGUAGE.into(), jvm::SCALA),
        Language::Bash => (tree_sitter_bash::LANGUAGE.into(), shell::ROWS),
        Language::Sql => (tree_sitter_sequel::LANGUAGE.into(), sql::ROWS),
        Language::Html => (tree_sitter_html::LANGUAGE.into(), web::HTML),
        Language::Css => (tree_sitter_css::LANGUAGE.into(), web::CSS),
        Language::Json => (tree_sitter_json::LANGUAGE.into(), data::JSON),
        Language::Yaml => (tree_sitter_yaml::LANGUAGE.into(), data::YAML),
        Language::Toml => (tree_sitter_toml_ng::LANGUAGE.into(), data::TOML),
        Language::Markdown => (tree_sitter_md::LANGUAGE.into(), markdown::ROWS),
        Language::Other => return None,
    })
}
