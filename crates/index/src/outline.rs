//! What a source file defines and what it imports, read off its syntax tree.
//!
//! Owns the grammars, the parser and its limits. Knows nothing of workspaces or of which file an import means (that
//! is `imports`). Broken code gives what can be seen in it; a file beyond the limits gives the outline of its
//! beginning and says so.

mod c_family;
mod csharp;
mod data;
mod go;
mod jvm;
mod markdown;
mod php;
mod python;
mod ruby;
mod rules;
mod rust;
mod script;
mod shell;
mod sql;
mod swift;
mod walk;
mod web;

use std::{
    borrow::Cow,
    collections::HashMap,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use tree_sitter::{ParseOptions, Parser, Tree};

use crate::language::Language;
use rules::Kinds;

/// Bytes of a file that are parsed; what follows is left out. Written code is far smaller, generated code is not
/// worth more.
const MAX_PARSED_BYTES: usize = 1024 * 1024;
/// Bytes that are parsed of a file whose text is so far from its language that the parser gives up on it.
const RETRY_BYTES: usize = 32 * 1024;
/// How often a parse may report progress, whatever the file's size and for each of its kilobytes. A sound file needs
/// about 5 for each kilobyte; a text in another language, where every reading is tried, up to a hundred times that.
const PROGRESS_BASE: usize = 20_000;
const PROGRESS_PER_KILOBYTE: usize = 100;
/// Some steps take long: each tag of a page that is nested a thousand levels deep. Far above what any written file
/// takes, so that outlines do not depend on the machine.
const MAX_PARSE_TIME: Duration = Duration::from_secs(3);

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

/// Reads outlines one after the other. Keep one for each thread: it holds the parser and the tables it has made.
#[derive(Default)]
pub struct Outliner {
    parser: Option<Parser>,
    grammars: HashMap<Language, Option<Kinds>>,
}

impl Outliner {
    pub fn new() -> Outliner {
        Outliner::default()
    }

    /// The outline of a file's text. `stop` is asked often; once it says `true`, what is known so far comes back as
    /// incomplete. A language without a grammar has an empty, complete outline.
    pub fn outline(&mut self, language: Language, source: &str, stop: &dyn Fn() -> bool) -> Outline {
        let Some(kinds) = self
            .grammars
            .entry(language)
            .or_insert_with(|| Kinds::of(language))
        else {
            return Outline {
                complete: true,
                ..Outline::default()
            };
        };
        let parser = self.parser.get_or_insert_with(Parser::new);
        if parser.set_language(kinds.grammar()).is_err() {
            return Outline::default();
        }
        let text = beginning(source, MAX_PARSED_BYTES);
        let readable = match language {
            Language::Bash => narrowed(text),
            _ => Cow::Borrowed(text),
        };
        let (text, tree) = match parse(parser, &readable, stop) {
            Some(tree) => (text, tree),
            None if stop() => return Outline::default(),
            None => {
                let shorter = beginning(text, RETRY_BYTES);
                match parse(parser, &readable[..shorter.len()], stop) {
                    Some(tree) => (shorter, tree),
                    None => return Outline::default(),
                }
            }
        };
        let mut outline = walk::walk(&tree, kinds, text, stop);
        if language == Language::Html {
            for script in web::scripts(text) {
                let inner = self.outline(script.language, script.text, stop);
                add_inside(&mut outline, inner, script.lines_before);
            }
        }
        if language == Language::Css {
            web::css_imports(text, &mut outline.imports);
        }
        if matches!(
            language,
            Language::JavaScript | Language::TypeScript | Language::Tsx
        ) {
            script::called_imports(text, &mut outline.imports);
        }
        outline.complete &= text.len() == source.len();
        outline
    }
}

/// The outline of one file; see [`Outliner`] for many.
pub fn outline(language: Language, source: &str, stop: &dyn Fn() -> bool) -> Outline {
    Outliner::new().outline(language, source, stop)
}

/// Adds the outline of a part that begins some lines down, in the order of the lines.
fn add_inside(outline: &mut Outline, inner: Outline, lines_before: u32) {
    let base = u32::try_from(outline.definitions.len()).unwrap_or(u32::MAX);
    outline.complete &= inner.complete;
    outline
        .imports
        .extend(inner.imports.into_iter().map(|import| Import {
            line: import.line.saturating_add(lines_before),
            ..import
        }));
    outline.imports.sort_by_key(|import| import.line);
    outline
        .definitions
        .extend(inner.definitions.into_iter().map(|definition| {
            Definition {
                first_line: definition.first_line.saturating_add(lines_before),
                last_line: definition.last_line.saturating_add(lines_before),
                container: definition
                    .container
                    .map(|container| container.saturating_add(base)),
                ..definition
            }
        }));
    // A container begins no later than what it contains, and the sort is stable: it stays before it.
    let mut order: Vec<usize> = (0..outline.definitions.len()).collect();
    order.sort_by_key(|index| {
        outline
            .definitions
            .get(*index)
            .map(|definition| definition.first_line)
    });
    let mut place = vec![0; order.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old] = u32::try_from(new).unwrap_or(u32::MAX);
    }
    let moved = order
        .iter()
        .filter_map(|index| outline.definitions.get(*index).cloned());
    outline.definitions = moved
        .map(|definition| Definition {
            container: definition
                .container
                .and_then(|container| place.get(container as usize).copied()),
            ..definition
        })
        .collect();
}

/// Whole lines from the start, as many as fit.
fn beginning(source: &str, limit: usize) -> &str {
    if source.len() <= limit {
        return source;
    }
    let cut = source.floor_char_boundary(limit);
    let cut = source[..cut].rfind('\n').map_or(cut, |newline| newline + 1);
    &source[..cut]
}

/// The scanner of the shell grammar (0.25) asks C's `isdigit` about whole code points, which reads memory at random
/// for those above 255. Letters of the same length take their place; names are read from the text itself.
fn narrowed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut narrow = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_ascii() {
            narrow.push(letter);
        } else {
            narrow.extend(std::iter::repeat_n('x', letter.len_utf8()));
        }
    }
    Cow::Owned(narrow)
}

/// `None` when it was stopped or took too many steps.
fn parse(parser: &mut Parser, text: &str, stop: &dyn Fn() -> bool) -> Option<Tree> {
    let bytes = text.as_bytes();
    let mut left = PROGRESS_BASE + bytes.len() / 1024 * PROGRESS_PER_KILOBYTE;
    let started = Instant::now();
    let mut progress = |_: &tree_sitter::ParseState| {
        left -= 1;
        if left == 0 || (left.is_multiple_of(16) && (stop() || started.elapsed() > MAX_PARSE_TIME)) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut read = |offset: usize, _| bytes.get(offset..).unwrap_or_default();
    let options = ParseOptions::new().progress_callback(&mut progress);
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    if tree.is_none() {
        // Else the next parse would go on where this one was stopped.
        parser.reset();
    }
    tree
}

#[cfg(test)]
mod tests;
