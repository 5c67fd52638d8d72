//! Markdown: its headings, each with the text below it.

use tree_sitter::Node;

use super::{
    SymbolKind::Heading,
    rules::{
        Does::Look,
        Found,
        Inside::{Closed, Open},
        Row, Scope, Source, child_of_kind,
    },
};

pub(super) const ROWS: &[Row] = &[("section", Look(section)), ("setext_heading", Look(underlined))];

fn section(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    match child_of_kind(node, "atx_heading") {
        Some(heading) => match heading.child_by_field_name("heading_content") {
            Some(content) => Found::named(Heading, Some(content), Open),
            None => Found::Descend,
        },
        // What comes before the first heading.
        None => Found::Descend,
    }
}

/// The grammar puts no section around a heading that is underlined; it stands for itself.
fn underlined(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    Found::named(Heading, node.child_by_field_name("heading_content"), Closed)
}
