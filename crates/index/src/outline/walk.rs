//! One walk over a syntax tree, the same for every language; the tables say what each node is.
//!
//! It goes only where definitions can be, keeps its own stack, and allocates nothing for a node that defines
//! nothing.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::{
    Definition, Outline, SymbolKind,
    rules::{Does, Found, Inside, Kinds, Name, Scope, Source, child_of_kind, is_type},
};

/// Levels of the tree that are looked into; written code stays far below.
const MAX_LEVELS: usize = 256;
/// Definitions of one file that are kept.
const MAX_DEFINITIONS: usize = 20_000;
/// Imports of one file that are kept.
const MAX_IMPORTS: usize = 2_000;
/// Bytes of a name that are kept.
const MAX_NAME_BYTES: usize = 160;
/// Nodes between two questions whether to stop.
const NODES_BETWEEN_STOPS: u32 = 512;

/// Lines, counted from 1.
#[derive(Clone, Copy)]
struct Lines {
    first: u32,
    last: u32,
}

#[derive(Clone, Copy)]
struct Level {
    container: Option<u32>,
    scope: Scope,
    /// The comments and attributes that end on the line above or on this one.
    above: Option<Lines>,
    /// Nothing was defined yet in a wrapper: all that is passed in it belongs to what comes.
    wrapped: bool,
    /// Where the node before ended: a comment behind code on the same line belongs to that code.
    previous_last: u32,
}

struct Walk<'a> {
    kinds: &'a Kinds,
    source: Source<'a>,
    lines: u32,
    levels: Vec<Level>,
    outline: Outline,
}

pub(super) fn walk(tree: &Tree, kinds: &Kinds, text: &str, stop: &dyn Fn() -> bool) -> Outline {
    let lines = text.as_bytes().iter().filter(|&&byte| byte == b'\n').count();
    let lines = lines + usize::from(!text.ends_with('\n'));
    let mut walk = Walk {
        kinds,
        source: Source(text),
        lines: u32::try_from(lines).unwrap_or(u32::MAX).max(1),
        levels: vec![Level {
            container: None,
            scope: Scope::default(),
            above: None,
            wrapped: false,
            previous_last: 0,
        }],
        outline: Outline {
            complete: true,
            ..Outline::default()
        },
    };
    let mut cursor = tree.walk();
    if !cursor.goto_first_child() {
        return walk.outline;
    }
    let mut until_stop = NODES_BETWEEN_STOPS;
    loop {
        until_stop -= 1;
        if until_stop == 0 {
            until_stop = NODES_BETWEEN_STOPS;
            if stop() {
                walk.outline.complete = false;
                break;
            }
        }
        if walk.outline.definitions.len() >= MAX_DEFINITIONS || walk.outline.imports.len() >= MAX_IMPORTS {
            walk.outline.complete = false;
            break;
        }
        let below = walk.visit(cursor.node());
        if let Some(level) = below {
            if walk.levels.len() >= MAX_LEVELS {
                walk.outline.complete = false;
            } else if cursor.goto_first_child() {
                walk.levels.push(level);
                continue;
            }
        }
        while !cursor.goto_next_sibling() {
            if walk.levels.len() == 1 || !cursor.goto_parent() {
                return walk.outline;
            }
            walk.levels.pop();
        }
    }
    walk.outline
}

impl Walk<'_> {
    /// Takes note of a node; gives the level to go on with where its children matter.
    fn visit(&mut self, node: Node<'_>) -> Option<Level> {
        let level = *self.levels.last()?;
        if !node.is_named() {
            return None;
        }
        let lines = self.lines_of(node);
        let does = match self.kinds.does(node) {
            Some(does) => does,
            // What is inside was still understood.
            None if node.is_error() => Does::Descend,
            None => {
                let above = level.above.filter(|_| level.wrapped);
                self.passed(
                    lines,
                    above.map(|above| Lines {
                        last: lines.last,
                        ..above
                    }),
                );
                return None;
            }
        };
        let inner = Level {
            above: None,
            wrapped: false,
            previous_last: 0,
            ..level
        };
        let found = match does {
            Does::Above => {
                self.passed(lines, extended(level, lines));
                return None;
            }
            Does::Descend => Found::Descend,
            Does::Wrap => Found::Wrap,
            Does::Define(kind, name, inside) => {
                let name = match name {
                    Name::Field(field) => node.child_by_field_name(field),
                    Name::Child(kind) => child_of_kind(node, kind),
                };
                match name {
                    // A definition that is not finished yet: its parts may be.
                    None => Found::Descend,
                    name => Found::named(kind, name, inside),
                }
            }
            Does::Import(read) => {
                read(self.source, node, &mut self.outline.imports);
                Found::Nothing
            }
            Does::Look(look) => look(self.source, node, level.scope),
            Does::ImportAndLook(read, look) => {
                read(self.source, node, &mut self.outline.imports);
                look(self.source, node, level.scope)
            }
        };
        self.passed(lines, None);
        match found {
            Found::Nothing => None,
            Found::Descend => Some(inner),
            Found::Wrap => Some(Level {
                above: Some(Lines {
                    first: adjacent(level.above, lines).unwrap_or(lines.first),
                    last: lines.first,
                }),
                wrapped: true,
                ..inner
            }),
            Found::Definition { kind, name, inside } => {
                let first = adjacent(level.above, lines).unwrap_or(lines.first);
                let whole = Lines { first, ..lines };
                let inner = self.define(kind, name, whole, inner);
                // A function whose end is missing has swallowed those that follow it.
                let broken = matches!(kind, SymbolKind::Function | SymbolKind::Method) && node.has_error();
                (inside == Inside::Open || broken).then_some(inner)
            }
        }
    }

    fn define(&mut self, kind: SymbolKind, name: Range<usize>, lines: Lines, inner: Level) -> Level {
        let name = cleaned(self.source.0.get(name).unwrap_or_default());
        if name.is_empty() {
            return inner;
        }
        let kind = match (kind, inner.scope.within) {
            (SymbolKind::Function, Some(within)) if is_type(within) => SymbolKind::Method,
            (kind, _) => kind,
        };
        if self.repeats(inner.container, kind, name, lines) {
            return inner;
        }
        let index = u32::try_from(self.outline.definitions.len()).unwrap_or(u32::MAX);
        self.outline.definitions.push(Definition {
            name: name.to_owned(),
            kind,
            first_line: lines.first,
            last_line: lines.last,
            container: inner.container,
        });
        Level {
            container: Some(index),
            scope: Scope {
                depth: inner.scope.depth + 1,
                within: Some(kind),
            },
            ..inner
        }
    }

    /// `typedef struct point { … } point;` is one thing.
    fn repeats(&self, container: Option<u32>, kind: SymbolKind, name: &str, lines: Lines) -> bool {
        let Some(container) = container.and_then(|index| self.outline.definitions.get(index as usize)) else {
            return false;
        };
        container.kind == kind && container.name == name && container.last_line == lines.last
    }

    fn passed(&mut self, lines: Lines, above: Option<Lines>) {
        if let Some(level) = self.levels.last_mut() {
            level.above = above;
            level.wrapped &= above.is_some();
            level.previous_last = lines.last;
        }
    }

    fn lines_of(&self, node: Node<'_>) -> Lines {
        let (start, end) = (node.start_position(), node.end_position());
        // A node that ends at the start of a line does not reach into it.
        let end_row = if end.column == 0 && end.row > start.row {
            end.row - 1
        } else {
            end.row
        };
        let line = |row: usize| u32::try_from(row).map_or(self.lines, |row| (row + 1).min(self.lines));
        let first = line(start.row);
        Lines {
            first,
            last: line(end_row).max(first),
        }
    }
}

/// The first line of what stands directly above, when it does.
fn adjacent(above: Option<Lines>, node: Lines) -> Option<u32> {
    above
        .filter(|above| above.last + 1 >= node.first)
        .map(|above| above.first)
}

/// What stands above, with one more comment or attribute.
fn extended(level: Level, node: Lines) -> Option<Lines> {
    if let Some(first) = adjacent(level.above, node) {
        return Some(Lines { first, ..node });
    }
    (level.previous_last != node.first).then_some(node)
}

/// One line of a name, without quotes and not endless.
fn cleaned(name: &str) -> &str {
    let line = name.trim_start().lines().next().unwrap_or_default();
    let line = unquoted(line.trim());
    &line[..line.floor_char_boundary(MAX_NAME_BYTES)]
}

fn unquoted(name: &str) -> &str {
    for quote in ['"', '\'', '`'] {
        if let Some(inner) = name.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner.trim();
        }
    }
    name
}
