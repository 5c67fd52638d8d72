//! Enums that cross the wire are closed (§54): no hidden variants, no registration at run time, and for some of
//! them no `_` arm, so that a new variant makes the compiler name every place that must think about it.

use super::Finding;
use super::sources::Source;
use super::tree::Tree;

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, enums) in &tree.rooms.closed {
        findings.extend(check_closed(tree, file, enums));
    }
    for source in tree.sources.iter().filter(|source| !source.is_test) {
        findings.extend(check_registration(source));
        findings.extend(check_matches(source, &tree.rooms.exhaustive));
    }
    findings
}

fn check_closed(tree: &Tree, file: &str, enums: &[String]) -> Vec<Finding> {
    let source = tree.sources.iter().find(|source| source.file == file);
    let missing = enums.iter().filter(|name| {
        // The second form is an enum that a macro of ours writes: `states! { SessionState { … } }`.
        !source.is_some_and(|source| {
            source.find(&["enum", name]).next().is_some() || source.find(&[name, "{"]).next().is_some()
        })
    });
    let missing = missing.map(|name| {
        let line = tree.rooms_line(&format!("\"{name}\""));
        Finding::new(
            "rooms.toml",
            line,
            format!("{file} has no enum {name}"),
            "correct the entry",
        )
    });
    let opened = source.into_iter().flat_map(|source| {
        source.find(&["non_exhaustive"]).map(|index| {
            Finding::new(
                file,
                source.tokens[index].line,
                "#[non_exhaustive] in a file of closed enums",
                "remove it: every variant is known to every reader",
            )
        })
    });
    missing.chain(opened).collect()
}

/// A public function `register…` that takes a tool.
fn check_registration(source: &Source) -> Vec<Finding> {
    source
        .find(&["fn"])
        .filter(|&index| source.text(index + 1).starts_with("register"))
        .filter(|&index| is_public(source, index) && takes_tool(source, index))
        .map(|index| {
            Finding::new(
                &source.file,
                source.tokens[index].line,
                format!("{} adds tools at run time", source.text(index + 1)),
                "add a variant to protocol::ToolId; there is no other way to make a tool",
            )
        })
        .collect()
}

fn is_public(source: &Source, fn_index: usize) -> bool {
    let before = &source.tokens[fn_index.saturating_sub(6)..fn_index];
    let qualifiers = [
        "async", "const", "unsafe", "pub", "(", ")", "crate", "super", "in",
    ];
    before
        .iter()
        .rev()
        .take_while(|token| qualifiers.contains(&token.text.as_str()))
        .any(|token| token.text == "pub")
}

fn takes_tool(source: &Source, fn_index: usize) -> bool {
    let Some(open) = (fn_index..source.tokens.len()).find(|&index| source.text(index) == "(") else {
        return false;
    };
    (open..source.closing(open)).any(|index| source.text(index).starts_with("Tool"))
}

fn check_matches(source: &Source, exhaustive: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for index in source.find(&["match"]) {
        let Some(open) = body(source, index) else { continue };
        let patterns = arm_patterns(source, open);
        let over = exhaustive
            .iter()
            .find(|name| patterns.iter().any(|arm| names(source, *arm, name)));
        let wildcard = patterns
            .iter()
            .find(|(start, end)| end - start == 1 && source.text(*start) == "_");
        if let (Some(name), Some((start, _))) = (over, wildcard) {
            findings.push(Finding::new(
                &source.file,
                source.tokens[*start].line,
                format!("`_` in a match on {name}"),
                "name the variants",
            ));
        }
    }
    findings
}

/// The `{` of a match: the first one that is not inside parentheses or brackets of the matched value.
fn body(source: &Source, match_index: usize) -> Option<usize> {
    let mut index = match_index + 1;
    loop {
        match source.text(index) {
            "{" => return Some(index),
            "(" | "[" => index = source.closing(index),
            "" if index >= source.tokens.len() => return None,
            _ => {}
        }
        index += 1;
    }
}

/// Each arm's pattern (with its guard) as a range of token indices.
fn arm_patterns(source: &Source, open: usize) -> Vec<(usize, usize)> {
    let end = source.closing(open);
    let mut patterns = Vec::new();
    let mut start = open + 1;
    let mut index = start;
    while index < end {
        match source.text(index) {
            "(" | "[" | "{" => index = source.closing(index),
            "=>" => {
                patterns.push((start, index));
                index = arm_end(source, index + 1, end);
                start = index + 1;
            }
            _ => {}
        }
        index += 1;
    }
    patterns
}

/// The last token of an arm's expression, including the comma after it.
fn arm_end(source: &Source, first: usize, end: usize) -> usize {
    if source.text(first) == "{" {
        let close = source.closing(first);
        return if source.text(close + 1) == "," {
            close + 1
        } else {
            close
        };
    }
    let mut index = first;
    while index < end && source.text(index) != "," {
        if matches!(source.text(index), "(" | "[" | "{") {
            index = source.closing(index);
        }
        index += 1;
    }
    index
}

/// Whether the pattern starts with a path through `name`: `ToolId::ReadFile`, `protocol::ToolId::ReadFile`.
fn names(source: &Source, (start, end): (usize, usize), name: &str) -> bool {
    (start..end)
        .map(|index| source.text(index))
        .take_while(|text| *text == "::" || text.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        .any(|text| text == name)
        && (start..end).any(|index| source.text(index) == name && source.text(index + 1) == "::")
}
