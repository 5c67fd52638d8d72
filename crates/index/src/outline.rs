//! What a source file defines and what it imports, read off its syntax tree.
//!
//! Owns the grammars, the parser and its limits. Knows nothing of workspaces or of which file an import means (that
//! is `imports`). Broken code gives what can be seen in it; a file beyond the limits gives the outline of its
//! beginning and says so.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// In the order in which they begin; a container before what it contains.
    pub definitions: Vec<Definition>,
    /// In the order of their lines.
    pub imports: Vec<Import>,
    /// `false` where a limit or the caller ended the reading early: there may be more than is listed.
    pub complete: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub name: String,
    pub kind: SymbolKind,
    /// Counted from 1. Includes the comment and the attributes or decorators directly above.
    pub first_line: u32,
    /// The last line that belongs to it, `first_line` or later.
    pub last_line: u32,
    /// What it is defined in, as an index into [`Outline::definitions`]; always a smaller one than its own.
    pub container: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    Function,
    Method,
    Class,
    Struct,
    Enum,
    /// One case of an enum.
    Variant,
    Interface,
    Trait,
    /// A block that adds methods to a type that is defined elsewhere: Rust's `impl`, Swift's `extension`.
    Implementation,
    Type,
    Module,
    Constant,
    Variable,
    Field,
    Property,
    Macro,
    /// A heading of a text, with all below it.
    Heading,
    /// A key of a settings file.
    Key,
    /// A CSS selector, an HTML id or custom element.
    Selector,
    Table,
}

/// One import, include or require as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The module, package, file or namespace, without quotes: `../store`, `crate::disk`, `os.path`, `stdio.h`.
    pub target: String,
    /// What is taken from it, under the names it has there; `*` for all. Empty when the target itself is meant.
    pub names: Vec<String>,
    /// Counted from 1.
    pub line: u32,
}
