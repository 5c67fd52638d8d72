use std::{fmt::Write as _, path::PathBuf};

use proptest::prelude::*;

use super::*;

fn never() -> bool {
    false
}

fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/outline")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// An outline as people would note it: what is inside stands further right.
fn shown(outline: &Outline) -> String {
    let mut text = String::new();
    for definition in &outline.definitions {
        let mut depth = 0;
        let mut container = definition.container;
        while let Some(index) = container {
            depth += 1;
            container = outline.definitions[index as usize].container;
        }
        let Definition {
            name,
            kind,
            first_line,
            last_line,
            ..
        } = definition;
        let indent = "  ".repeat(depth);
        writeln!(text, "{first_line:>3}-{last_line:<3} {indent}{kind:?} {name}").unwrap();
    }
    for import in &outline.imports {
        writeln!(
            text,
            "{:>3} import {} {}",
            import.line,
            import.target,
            import.names.join(", ")
        )
        .unwrap();
    }
    if !outline.complete {
        text.push_str("incomplete\n");
    }
    text
}

#[test]
fn every_row_names_a_node_of_its_grammar() {
    for language in Language::ALL {
        if let Some(kinds) = Kinds::of(language) {
            assert_eq!(kinds.unknown_rows(), Vec::<&str>::new(), "{}", language.name());
        }
    }
}

const FIXTURES: [(Language, &str); 24] = [
    (Language::Rust, "rust.rs"),
    (Language::TypeScript, "typescript.ts"),
    (Language::Tsx, "tsx.tsx"),
    (Language::JavaScript, "javascript.js"),
    (Language::Python, "python.py"),
    (Language::Go, "go.go"),
    (Language::Java, "java.java"),
    (Language::Kotlin, "kotlin.kt"),
    (Language::C, "c.c"),
    (Language::Cpp, "cpp.cpp"),
    (Language::CSharp, "csharp.cs"),
    (Language::Ruby, "ruby.rb"),
    (Language::Php, "php.php"),
    (Language::Swift, "swift.swift"),
    (Language::Scala, "scala.scala"),
    (Language::Bash, "bash.sh"),
    (Language::Sql, "sql.sql"),
    (Language::Html, "html.html"),
    (Language::Html, "component.vue"),
    (Language::Css, "css.css"),
    (Language::Json, "json.json"),
    (Language::Yaml, "yaml.yaml"),
    (Language::Toml, "toml.toml"),
    (Language::Markdown, "markdown.md"),
];

#[test]
fn outlines_list_what_a_file_defines_and_imports() {
    let mut outliner = Outliner::new();
    for (language, name) in FIXTURES {
        let outline = outliner.outline(language, &fixture(name), &never);
        insta::assert_snapshot!(name.replace('.', "_"), shown(&outline));
    }
}

/// Each family with a piece missing or too much: what stands around it is still found.
#[test]
fn broken_code_shows_what_can_be_seen() {
    let table: [(Language, &str, &[&str]); 12] = [
        (
            Language::Rust,
            "fn first() {}\nstruct Half { a: \n\nfn last() {}\n",
            &["first"],
        ),
        (
            Language::TypeScript,
            "function first() {}\nconst = ;\nclass Last { go() {} }\n",
            &["first", "Last", "go"],
        ),
        (
            Language::JavaScript,
            "function first() {}\nlet = = 3;\nclass Last { go() {} }\n",
            &["first", "Last", "go"],
        ),
        (
            Language::Python,
            "def first():\n    pass\n\ndef (:\n\nclass Last:\n    pass\n",
            &["first", "Last"],
        ),
        (
            Language::Go,
            "package a\nfunc First() {}\nfunc {\nfunc Last() {}\n",
            &["First", "Last"],
        ),
        (
            Language::Java,
            "class First { void a() {} void (; int b; }\nclass Last {}\n",
            &["First", "a", "Last"],
        ),
        (
            Language::C,
            "int first(void) { return 1; }\nint )) x;\nint last(void) { return 2; }\n",
            &["first", "last"],
        ),
        (
            Language::Ruby,
            "def first\nend\n\nclass Last\n  def go\n  end\n",
            &["first", "go"],
        ),
        (
            Language::Php,
            "<?php\nfunction first() {}\n$a = = ;\nclass Last { function go() {} }\n",
            &["first", "Last", "go"],
        ),
        // The first function has lost its end.
        (
            Language::C,
            "int first(void) {\n  if (a) {\n}\nint last(void) { return 2; }\n",
            &["first", "last"],
        ),
        (
            Language::Rust,
            "fn first() {\n  if a {\n}\nfn last() {}\n",
            &["last"],
        ),
        (
            Language::Json,
            "{ \"first\": 1, \"last\": { \"in\": }",
            &["first", "last"],
        ),
    ];
    for (language, source, names) in table {
        let outline = outline(language, source, &never);
        for name in names {
            assert!(
                outline
                    .definitions
                    .iter()
                    .any(|definition| definition.name == *name),
                "{}: no {name} in\n{}",
                language.name(),
                shown(&outline)
            );
        }
    }
}

#[test]
fn line_endings_and_a_byte_order_mark_change_nothing() {
    for (language, name) in FIXTURES {
        let text = fixture(name);
        let plain = outline(language, &text, &never);
        assert_eq!(
            outline(language, &text.replace('\n', "\r\n"), &never),
            plain,
            "{name} with CRLF"
        );
        assert_eq!(
            outline(language, &format!("\u{feff}{text}"), &never),
            plain,
            "{name} with a BOM"
        );
    }
}

/// The shell grammar looks characters up in a table of 256; beyond it the program ended.
#[test]
fn a_shell_script_with_wide_characters_after_a_brace_is_read() {
    let source = "a() { :; }\n# \u{1f600}\nb=${\u{1f600}}\nc={\u{e4ae5}\nd={1..\u{e4ae5}}\ne() { :; }\n";
    let names: Vec<String> = outline(Language::Bash, source, &never)
        .definitions
        .into_iter()
        .map(|definition| definition.name)
        .collect();
    assert!(names.contains(&"a".to_owned()), "{names:?}");
    assert!(names.contains(&"e".to_owned()), "{names:?}");
}

#[test]
fn deep_nesting_ends() {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(5_000), close.repeat(5_000));
    let table = [
        (Language::JavaScript, deep("{", "}")),
        (Language::Json, deep("[", "]")),
        (Language::Json, deep("{\"a\":", "}")),
        (Language::Html, "<a-b>".repeat(1_000)),
        (Language::Rust, deep("mod a {", "}")),
        (Language::Cpp, deep("namespace a {", "}")),
        (Language::Rust, format!("fn f() {{ {} }}", deep("(", ")"))),
    ];
    for (language, source) in table {
        let outline = outline(language, &source, &never);
        assert!(outline.definitions.len() < 1_000, "{}", language.name());
    }
}

#[test]
fn of_a_very_long_file_the_beginning_is_outlined() {
    let source = "def a():\n    pass\n".repeat(MAX_PARSED_BYTES / 10);
    let outline = outline(Language::Python, &source, &never);
    assert!(!outline.complete);
    assert!(outline.definitions.len() > 1_000, "{}", outline.definitions.len());
}

#[test]
fn a_caller_that_stops_gets_an_incomplete_outline() {
    let source = "def a():\n    pass\n".repeat(20_000);
    let outline = outline(Language::Python, &source, &|| true);
    assert!(!outline.complete);
}

#[test]
fn one_outliner_reads_on_after_it_was_stopped() {
    let mut outliner = Outliner::new();
    let long = "def a():\n    pass\n".repeat(20_000);
    assert!(!outliner.outline(Language::Python, &long, &|| true).complete);
    let after = outliner.outline(Language::Python, "def b():\n    pass\n", &never);
    assert_eq!(shown(&after), "  1-2   Function b\n");
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "class ",
            "def ",
            "fn ",
            "function ",
            "import ",
            "export default ",
            "{",
            "}",
            "(",
            ")",
            "\n",
            "\r\n",
            ":",
            ";",
            "=",
            "=>",
            "\"",
            "'",
            "`",
            "<a id=",
            ">",
            "#",
            "# ",
            "// ",
            "/*",
            "*/",
            "struct ",
            "name",
            "é",
            "\u{feff}",
            "require('./a')",
            "--",
            "@",
            "::",
            ".",
            ",",
            "$",
            "<?php ",
            "  ",
            "\t",
            "- ",
            "enum ",
            "package ",
            "use ",
        ])
        .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gives_ranges_within_the_file(text in pieces()) {
        let lines = u32::try_from(text.split('\n').count()).unwrap();
        let mut outliner = Outliner::new();
        for language in Language::ALL {
            let outline = outliner.outline(language, &text, &never);
            for (index, definition) in outline.definitions.iter().enumerate() {
                prop_assert!(1 <= definition.first_line && definition.first_line <= definition.last_line);
                prop_assert!(definition.last_line <= lines, "{} of {lines} in {}", definition.last_line, language.name());
                prop_assert!(!definition.name.is_empty());
                prop_assert!(definition.container.is_none_or(|container| (container as usize) < index));
            }
            for import in &outline.imports {
                prop_assert!(1 <= import.line && import.line <= lines);
            }
        }
    }
}
