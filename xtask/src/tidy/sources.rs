//! One Rust file as the rules see it: a flat run of tokens, each with its line and whether it is test code.
//! Comments and the insides of literals are no tokens, so that no rule fires on words.

use std::str::FromStr;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

pub struct Source {
    /// Relative to the root, `/` between parts.
    pub file: String,
    pub package: String,
    pub lines: usize,
    /// Lines that are not inside test code.
    pub product_lines: usize,
    pub tokens: Vec<Token>,
    /// The whole file is test code.
    pub is_test: bool,
    /// Why the file has no tokens.
    pub unreadable: Option<String>,
}

#[derive(Clone)]
pub struct Token {
    /// A name, an operator (`::`, `=>` and `'` with its name are one), a delimiter; `""` for a literal.
    pub text: String,
    pub line: usize,
    pub in_test: bool,
}

impl Source {
    pub fn parse(file: String, text: String, package: &str, dev_only: bool) -> Source {
        let lines = text.lines().count();
        let (stream, unreadable) = match TokenStream::from_str(&text) {
            Ok(stream) => (stream, None),
            Err(error) => (TokenStream::new(), Some(error.to_string())),
        };
        let trees: Vec<TokenTree> = stream.into_iter().collect();
        let is_test = dev_only || has_test_path(&file) || opens_with_cfg_test(&trees);
        let mut tokens = Vec::new();
        flatten(&trees, is_test, &mut tokens);
        let product_lines = lines.saturating_sub(test_lines(&tokens));
        Source {
            file,
            package: package.to_owned(),
            lines,
            product_lines,
            tokens,
            is_test,
            unreadable,
        }
    }

    /// Every place outside test code where these tokens stand in a row; gives their index.
    pub fn find<'a>(&'a self, pattern: &'a [&'a str]) -> impl Iterator<Item = usize> + 'a {
        self.find_anywhere(pattern)
            .filter(|&index| !self.tokens[index].in_test)
    }

    pub fn find_anywhere<'a>(&'a self, pattern: &'a [&'a str]) -> impl Iterator<Item = usize> + 'a {
        self.tokens
            .windows(pattern.len())
            .enumerate()
            .filter(move |(_, window)| {
                window
                    .iter()
                    .zip(pattern)
                    .all(|(token, text)| token.text == *text)
            })
            .map(|(index, _)| index)
    }

    /// The index of the delimiter that closes the one at `open`.
    pub fn closing(&self, open: usize) -> usize {
        let mut depth = 0usize;
        for (index, token) in self.tokens.iter().enumerate().skip(open) {
            match token.text.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth -= 1;
                    if depth == 0 {
                        return index;
                    }
                }
                _ => {}
            }
        }
        self.tokens.len()
    }

    pub fn text(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| token.text.as_str())
    }
}

/// Lines from the first to the last token of each run of test code.
fn test_lines(tokens: &[Token]) -> usize {
    tokens
        .chunk_by(|one, next| one.in_test == next.in_test)
        .filter(|run| run[0].in_test)
        .map(|run| run[run.len() - 1].line - run[0].line + 1)
        .sum()
}

fn has_test_path(file: &str) -> bool {
    let (folders, name) = file.rsplit_once('/').unwrap_or(("", file));
    folders
        .split('/')
        .any(|folder| matches!(folder, "tests" | "benches" | "examples"))
        || name == "tests.rs"
        || name.ends_with("_tests.rs")
}

fn flatten(trees: &[TokenTree], in_test: bool, out: &mut Vec<Token>) {
    let mut index = 0;
    while index < trees.len() {
        let attributes = attributes_at(trees, index);
        if !in_test && attributes.iter().any(|attribute| gates_on_test(attribute)) {
            let end = item_end(trees, index + 2 * attributes.len());
            flatten(&trees[index..end], true, out);
            index = end;
            continue;
        }
        match &trees[index] {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                let in_test = in_test || is_cfg_attr_test(&inside);
                push(out, open, group.span_open().start().line, in_test);
                flatten(&inside, in_test, out);
                push(out, close, group.span_close().start().line, in_test);
            }
            TokenTree::Ident(name) => {
                push(out, &name.to_string(), name.span().start().line, in_test);
            }
            TokenTree::Literal(literal) => push(out, "", literal.span().start().line, in_test),
            TokenTree::Punct(punct) => {
                let line = punct.span().start().line;
                let next = trees.get(index + 1);
                match (punct.as_char(), punct.spacing(), next) {
                    ('\'', _, Some(TokenTree::Ident(name))) => {
                        push(out, &format!("'{name}"), line, in_test);
                        index += 1;
                    }
                    (first @ (':' | '='), Spacing::Joint, Some(TokenTree::Punct(second)))
                        if matches!((first, second.as_char()), (':', ':') | ('=', '>')) =>
                    {
                        push(out, &format!("{first}{}", second.as_char()), line, in_test);
                        index += 1;
                    }
                    (other, ..) => push(out, &other.to_string(), line, in_test),
                }
            }
        }
        index += 1;
    }
}

fn push(out: &mut Vec<Token>, text: &str, line: usize, in_test: bool) {
    out.push(Token {
        text: text.to_owned(),
        line,
        in_test,
    });
}

/// The contents of the outer attributes (`#[…]`) that start at `index`, in a row.
fn attributes_at(trees: &[TokenTree], index: usize) -> Vec<Vec<TokenTree>> {
    let mut attributes = Vec::new();
    let mut rest = &trees[index..];
    while let [TokenTree::Punct(hash), TokenTree::Group(group), after @ ..] = rest {
        if hash.as_char() != '#' || group.delimiter() != Delimiter::Bracket {
            break;
        }
        attributes.push(group.stream().into_iter().collect());
        rest = after;
    }
    attributes
}

/// One past the item whose attributes end at `index`: its block or its semicolon.
fn item_end(trees: &[TokenTree], index: usize) -> usize {
    let ends = |tree: &TokenTree| match tree {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    };
    trees[index..]
        .iter()
        .position(ends)
        .map_or(trees.len(), |offset| index + offset + 1)
}

/// `#[test]`, `#[some::test]`, or a `#[cfg(…)]` that asks for `test`.
fn gates_on_test(attribute: &[TokenTree]) -> bool {
    match attribute {
        [TokenTree::Ident(name), TokenTree::Group(condition)] if name == "cfg" => {
            let condition = condition.stream().to_string();
            condition == "test" || (condition.starts_with("all") && mentions_test(&condition))
        }
        [.., TokenTree::Ident(last)] => last == "test",
        [.., TokenTree::Ident(last), TokenTree::Group(_)] => last == "test",
        _ => false,
    }
}

/// `cfg_attr(test, …)`: the attribute holds only in tests, the item always.
fn is_cfg_attr_test(attribute: &[TokenTree]) -> bool {
    match attribute {
        [TokenTree::Ident(name), TokenTree::Group(arguments)] if name == "cfg_attr" => arguments
            .stream()
            .into_iter()
            .next()
            .is_some_and(|first| first.to_string() == "test"),
        _ => false,
    }
}

fn mentions_test(condition: &str) -> bool {
    !condition.contains("not")
        && condition
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| word == "test")
}

fn opens_with_cfg_test(trees: &[TokenTree]) -> bool {
    trees.windows(3).any(|window| match window {
        [
            TokenTree::Punct(hash),
            TokenTree::Punct(bang),
            TokenTree::Group(group),
        ] => {
            let attribute: Vec<TokenTree> = group.stream().into_iter().collect();
            hash.as_char() == '#' && bang.as_char() == '!' && gates_on_test(&attribute)
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is test code, and only that, is free of the owner rule.
    #[test]
    fn test_code_is_told_from_product_code() {
        let cases = [
            ("fn a() { mark!() }", "product"),
            ("#[cfg(test)] mod t { fn a() { mark!() } }", "test"),
            ("#[cfg(test)] use a::b; fn a() { mark!() }", "product"),
            (
                "#[allow(x)] #[cfg(all(test, unix))] fn a<T>() -> T where T: B, C: D { mark!() }",
                "test",
            ),
            ("#[cfg(not(test))] fn a() { mark!() }", "product"),
            ("#[cfg(all(unix, not(test)))] fn a() { mark!() }", "product"),
            ("#[tokio::test] async fn a() { mark!() }", "test"),
            ("#[tokio::test(flavor = \"x\")] async fn a() { mark!() }", "test"),
            ("#![cfg(test)] fn a() { mark!() }", "test"),
            ("#![cfg_attr(test, mark!)] fn a() {}", "test"),
            ("#![cfg_attr(unix, mark!)] fn a() {}", "product"),
            ("#[cfg(test)] fn a() {} fn b() { mark!() }", "product"),
        ];
        for (text, expected) in cases {
            let source = Source::parse("src/lib.rs".to_owned(), text.to_owned(), "x", false);
            let seen = match source.find(&["mark", "!"]).next() {
                Some(_) => "product",
                None => "test",
            };
            assert_eq!(seen, expected, "{text}");
        }
    }
}
