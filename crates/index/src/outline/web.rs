//! HTML and CSS.

use memchr::memmem;
use tree_sitter::Node;

use super::{
    Import,
    SymbolKind::{Property, Selector},
    rules::{
        Does::{Above, Descend, Import as Imports, ImportAndLook, Look},
        Found,
        Inside::{Closed, Open},
        Row, Scope, Source, child_of_kind, line_of,
    },
};
use crate::language::Language;

/// Scripts of one page that are looked into.
const MAX_SCRIPTS: usize = 20;

pub(super) const HTML: &[Row] = &[
    ("comment", Above),
    ("element", ImportAndLook(linked, element)),
    ("script_element", Imports(linked)),
];

fn element(source: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let Some(tag) = opening(node) else {
        return Found::Descend;
    };
    if let Some(id) = attribute(source, tag, "id") {
        return Found::named(Selector, Some(id), Open);
    }
    match child_of_kind(tag, "tag_name") {
        Some(name) if source.of(name).contains('-') => Found::named(Selector, Some(name), Open),
        _ => Found::Descend,
    }
}

fn linked(source: Source<'_>, node: Node<'_>, imports: &mut Vec<Import>) {
    let Some(tag) = opening(node) else {
        return;
    };
    let name = child_of_kind(tag, "tag_name").map(|name| source.of(name));
    let value = match name {
        Some("script") => attribute(source, tag, "src"),
        Some("link") => attribute(source, tag, "href"),
        _ => None,
    };
    if let Some(value) = value {
        imports.push(Import {
            target: source.of(value).to_owned(),
            names: Vec::new(),
            line: line_of(tag),
        });
    }
}

fn opening(node: Node<'_>) -> Option<Node<'_>> {
    child_of_kind(node, "start_tag").or_else(|| child_of_kind(node, "self_closing_tag"))
}

fn attribute<'tree>(source: Source<'_>, tag: Node<'tree>, name: &str) -> Option<Node<'tree>> {
    let mut cursor = tag.walk();
    let attribute = tag
        .named_children(&mut cursor)
        .filter(|child| child.kind() == "attribute")
        .find(|attribute| {
            child_of_kind(*attribute, "attribute_name").is_some_and(|found| source.of(found) == name)
        })?;
    child_of_kind(attribute, "quoted_attribute_value")
        .and_then(|quoted| child_of_kind(quoted, "attribute_value"))
        .or_else(|| child_of_kind(attribute, "attribute_value"))
}

/// A script inside a page or component.
pub(super) struct Script<'text> {
    pub(super) language: Language,
    pub(super) text: &'text str,
    pub(super) lines_before: u32,
}

/// The scripts written out in a page; templates and data in script elements are none.
pub(super) fn scripts(page: &str) -> impl Iterator<Item = Script<'_>> {
    memmem::find_iter(page.as_bytes(), "<script")
        .take(MAX_SCRIPTS)
        .filter_map(|start| {
            let tag = &page[start..];
            let tag_end = tag.find('>')?;
            let attributes = &tag[..tag_end];
            let body = &tag[tag_end + 1..];
            let text = &body[..body.find("</script")?];
            let is_script = !attributes.contains("type=")
                || attributes.contains("module")
                || attributes.contains("javascript");
            if text.trim().is_empty() || !is_script {
                return None;
            }
            let typed = ["lang=\"ts", "lang='ts", "lang=ts"]
                .iter()
                .any(|mark| attributes.contains(mark));
            let before = page.as_bytes().get(..start + tag_end + 1)?;
            let lines_before = memchr::memchr_iter(b'\n', before).count();
            Some(Script {
                language: if typed {
                    Language::TypeScript
                } else {
                    Language::JavaScript
                },
                text,
                lines_before: u32::try_from(lines_before).ok()?,
            })
        })
}

pub(super) const CSS: &[Row] = &[
    ("comment", Above),
    ("rule_set", Look(rule)),
    ("block", Descend),
    ("media_statement", Descend),
    ("supports_statement", Descend),
    ("scope_statement", Descend),
    ("at_rule", Descend),
    ("keyframes_statement", Look(keyframes)),
    ("declaration", Look(custom_property)),
];

fn rule(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    Found::named(Selector, child_of_kind(node, "selectors"), Open)
}

fn keyframes(_: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    Found::named(Selector, child_of_kind(node, "keyframes_name"), Closed)
}

/// `--accent` and SCSS's `$accent` are used elsewhere, other properties are not.
fn custom_property(source: Source<'_>, node: Node<'_>, _: Scope) -> Found {
    let name = child_of_kind(node, "property_name").filter(|name| source.of(*name).starts_with(['-', '$']));
    match name {
        Some(name) if !source.of(name).starts_with("-w") && !source.of(name).starts_with("-m") => {
            Found::named(Property, Some(name), Closed)
        }
        _ => Found::Nothing,
    }
}

/// `@import "a", "b"`, and SCSS's `@use "a"` and `@forward "a"`, of which the grammar makes nothing.
pub(super) fn css_imports(text: &str, imports: &mut Vec<Import>) {
    for (number, line) in (1_u32..).zip(text.lines()) {
        let line_text = line.trim_start_matches('\u{feff}').trim_start();
        if !["@import ", "@use ", "@forward "]
            .iter()
            .any(|word| line_text.starts_with(word))
        {
            continue;
        }
        let quote = if line_text.contains('"') { '"' } else { '\'' };
        imports.extend(line_text.split(quote).skip(1).step_by(2).map(|target| Import {
            target: target.to_owned(),
            names: Vec::new(),
            line: number,
        }));
    }
}
