//! Which language a file is written in, from its name and, where the name does not say, from its first bytes.
//!
//! Knows names only; what a language's syntax means is `outline`'s.

use std::path::Path;

/// A language with an outline of its own, or [`Language::Other`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    Rust,
    TypeScript,
    Tsx,
    JavaScript,
    Python,
    Go,
    Java,
    Kotlin,
    C,
    Cpp,
    CSharp,
    Ruby,
    Php,
    Swift,
    Scala,
    Bash,
    Sql,
    Html,
    Css,
    Json,
    Yaml,
    Toml,
    Markdown,
    Other,
}

/// What a file is for, which decides how it is weighed and cut into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    Code,
    /// Pages and their looks: HTML, CSS.
    Markup,
    /// Settings and records: JSON, YAML, TOML.
    Data,
    Prose,
    Unknown,
}

impl Language {
    pub const ALL: [Language; 24] = [
        Language::Rust,
        Language::TypeScript,
        Language::Tsx,
        Language::JavaScript,
        Language::Python,
        Language::Go,
        Language::Java,
        Language::Kotlin,
        Language::C,
        Language::Cpp,
        Language::CSharp,
        Language::Ruby,
        Language::Php,
        Language::Swift,
        Language::Scala,
        Language::Bash,
        Language::Sql,
        Language::Html,
        Language::Css,
        Language::Json,
        Language::Yaml,
        Language::Toml,
        Language::Markdown,
        Language::Other,
    ];

    /// By the path alone. A `.h` counts as C here; [`Language::of_file`] looks closer.
    pub fn of_path(path: &Path) -> Language {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return Language::Other;
        };
        if let Some(language) = by_name(name) {
            return language;
        }
        let Some((_, extension)) = name.rsplit_once('.') else {
            return Language::Other;
        };
        // R and C++ once used the case of an extension; everything else is written either way.
        if extension == "C" || extension == "H" {
            return Language::Cpp;
        }
        by_extension(&extension.to_ascii_lowercase())
    }

    /// By the path, then by what the first bytes show: a `#!` line, a header that is C++.
    pub fn of_file(path: &Path, first_bytes: &[u8]) -> Language {
        match Language::of_path(path) {
            Language::C if has_extension(path, "h") && looks_like_cpp(first_bytes) => Language::Cpp,
            Language::Other if path.extension().is_none() => by_shebang(first_bytes),
            language => language,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "Rust",
            Language::TypeScript => "TypeScript",
            Language::Tsx => "TSX",
            Language::JavaScript => "JavaScript",
            Language::Python => "Python",
            Language::Go => "Go",
            Language::Java => "Java",
            Language::Kotlin => "Kotlin",
            Language::C => "C",
            Language::Cpp => "C++",
            Language::CSharp => "C#",
            Language::Ruby => "Ruby",
            Language::Php => "PHP",
            Language::Swift => "Swift",
            Language::Scala => "Scala",
            Language::Bash => "Shell",
            Language::Sql => "SQL",
            Language::Html => "HTML",
            Language::Css => "CSS",
            Language::Json => "JSON",
            Language::Yaml => "YAML",
            Language::Toml => "TOML",
            Language::Markdown => "Markdown",
            Language::Other => "Other",
        }
    }

    pub fn content(self) -> Content {
        match self {
            Language::Rust
            | Language::TypeScript
            | Language::Tsx
            | Language::JavaScript
            | Language::Python
            | Language::Go
            | Language::Java
            | Language::Kotlin
            | Language::C
            | Language::Cpp
            | Language::CSharp
            | Language::Ruby
            | Language::Php
            | Language::Swift
            | Language::Scala
            | Language::Bash
            | Language::Sql => Content::Code,
            Language::Html | Language::Css => Content::Markup,
            Language::Json | Language::Yaml | Language::Toml => Content::Data,
            Language::Markdown => Content::Prose,
            Language::Other => Content::Unknown,
        }
    }
}

fn by_name(name: &str) -> Option<Language> {
    Some(match name {
        "Rakefile" | "Gemfile" | "Guardfile" | "Capfile" | "Vagrantfile" | "Podfile" | "Fastfile"
        | "Brewfile" | "Dangerfile" | "Appfile" => Language::Ruby,
        // Starlark is close enough to Python for an outline.
        "BUILD" | "WORKSPACE" | "BUILD.bazel" | "WORKSPACE.bazel" | "MODULE.bazel" | "SConstruct"
        | "SConscript" | "wscript" | "Tiltfile" | "Snakefile" => Language::Python,
        "Jakefile" => Language::JavaScript,
        "PKGBUILD" | "APKBUILD" | ".bashrc" | ".bash_profile" | ".bash_aliases" | ".profile" | ".zshrc"
        | ".zshenv" | ".envrc" | "gradlew" => Language::Bash,
        "Cargo.lock" | "poetry.lock" | "uv.lock" | "Pipfile" | "Gopkg.lock" => Language::Toml,
        ".eslintrc" | ".babelrc" | ".prettierrc" | ".jshintrc" | ".swcrc" | "Pipfile.lock"
        | "composer.lock" | "flake.lock" | "deno.lock" => Language::Json,
        ".clang-format" | ".clang-tidy" | ".clangd" | "CITATION.cff" | "pubspec.lock" => Language::Yaml,
        "README" | "CHANGELOG" | "CONTRIBUTING" => Language::Markdown,
        // Named so that a later extension rule does not take them for something else.
        "Dockerfile" | "Makefile" | "GNUmakefile" | "makefile" | "CMakeLists.txt" | "Justfile"
        | "justfile" => Language::Other,
        _ => return None,
    })
}

fn by_extension(extension: &str) -> Language {
    match extension {
        "rs" => Language::Rust,
        "ts" | "mts" | "cts" => Language::TypeScript,
        "tsx" => Language::Tsx,
        "js" | "mjs" | "cjs" | "jsx" | "es6" => Language::JavaScript,
        "py" | "pyi" | "pyw" | "bzl" | "star" => Language::Python,
        "go" => Language::Go,
        "java" => Language::Java,
        "kt" | "kts" => Language::Kotlin,
        "c" | "h" => Language::C,
        "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" | "ipp" | "inl" | "tpp" | "ixx"
        | "cppm" | "cu" | "cuh" | "ino" => Language::Cpp,
        "cs" | "csx" => Language::CSharp,
        "rb" | "rake" | "gemspec" | "ru" | "rbi" | "jbuilder" | "podspec" => Language::Ruby,
        "php" | "phtml" | "php5" | "php7" | "php8" | "phpt" => Language::Php,
        "swift" => Language::Swift,
        "scala" | "sc" | "sbt" => Language::Scala,
        "sh" | "bash" | "zsh" | "ksh" | "bats" => Language::Bash,
        "sql" | "ddl" | "psql" | "pgsql" | "mysql" => Language::Sql,
        "html" | "htm" | "xhtml" | "vue" | "svelte" => Language::Html,
        // Both are CSS with more; the outline reads what it knows of them.
        "css" | "scss" | "less" | "pcss" => Language::Css,
        "json" | "jsonc" | "json5" | "webmanifest" | "geojson" | "code-workspace" | "ipynb" => Language::Json,
        "yaml" | "yml" => Language::Yaml,
        "toml" => Language::Toml,
        "md" | "markdown" | "mdx" | "mdc" => Language::Markdown,
        _ => Language::Other,
    }
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension == wanted)
}

/// Lines that C cannot begin with. A header without any of them reads the same in both languages.
fn looks_like_cpp(first_bytes: &[u8]) -> bool {
    const STARTS: [&[u8]; 12] = [
        b"class ",
        b"namespace ",
        b"template<",
        b"template <",
        b"using ",
        b"public:",
        b"private:",
        b"protected:",
        b"virtual ",
        b"constexpr ",
        b"explicit ",
        b"friend ",
    ];
    first_bytes.split(|&byte| byte == b'\n').any(|line| {
        let line = line.trim_ascii_start();
        STARTS.iter().any(|start| line.starts_with(start)) || is_cpp_include(line)
    })
}

/// The headers of the C++ library have no extension: `#include <vector>`.
fn is_cpp_include(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"#include <") else {
        return false;
    };
    match rest.iter().position(|&byte| byte == b'>') {
        Some(end) => rest[..end]
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || *byte == b'_'),
        None => false,
    }
}

fn by_shebang(first_bytes: &[u8]) -> Language {
    let line = first_bytes
        .split(|&byte| byte == b'\n')
        .next()
        .unwrap_or_default();
    let Some(command) = line
        .strip_prefix(b"#!")
        .and_then(|line| std::str::from_utf8(line).ok())
    else {
        return Language::Other;
    };
    let mut words = command.split_whitespace();
    let mut program = base_name(words.next().unwrap_or_default());
    if program == "env" {
        // `env -S program args` and `env NAME=value program`.
        program = base_name(
            words
                .find(|word| !word.starts_with('-') && !word.contains('='))
                .unwrap_or_default(),
        );
    }
    match program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.') {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "bats" => Language::Bash,
        "python" | "pypy" | "uv" => Language::Python,
        "node" | "nodejs" | "bun" => Language::JavaScript,
        "deno" | "ts-node" | "tsx" => Language::TypeScript,
        "ruby" | "rake" => Language::Ruby,
        "php" => Language::Php,
        "swift" => Language::Swift,
        "scala" => Language::Scala,
        "kotlin" => Language::Kotlin,
        "rust-script" => Language::Rust,
        _ => Language::Other,
    }
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_extensions_decide() {
        let table = [
            ("src/main.rs", Language::Rust),
            ("a/b.test.tsx", Language::Tsx),
            ("a.d.ts", Language::TypeScript),
            ("A.JSX", Language::JavaScript),
            ("Rakefile", Language::Ruby),
            ("tools/BUILD", Language::Python),
            ("Dockerfile", Language::Other),
            ("CMakeLists.txt", Language::Other),
            ("x.H", Language::Cpp),
            ("x.h", Language::C),
            ("build.gradle.kts", Language::Kotlin),
            ("Cargo.lock", Language::Toml),
            (".github/workflows/ci.yml", Language::Yaml),
            ("noextension", Language::Other),
            ("", Language::Other),
        ];
        for (path, language) in table {
            assert_eq!(Language::of_path(Path::new(path)), language, "{path}");
        }
    }

    #[test]
    fn first_bytes_decide_where_the_name_does_not() {
        let table = [
            ("x.h", "int f(void);\n", Language::C),
            ("x.h", "#include <stdio.h>\nstruct a { int b; };\n", Language::C),
            ("x.h", "#pragma once\n#include <vector>\n", Language::Cpp),
            ("x.h", "#ifdef A\nnamespace a {\n", Language::Cpp),
            ("x.h", "struct a {\n  virtual void f();\n};\n", Language::Cpp),
            ("run", "#!/bin/sh\n", Language::Bash),
            ("run", "#!/usr/bin/env python3.11\n", Language::Python),
            ("run", "#!/usr/bin/env -S deno run\n", Language::TypeScript),
            ("run", "#!/usr/bin/env FOO=1 ruby\n", Language::Ruby),
            ("run", "plain", Language::Other),
            // The extension outranks a stray first line.
            ("a.py", "#!/bin/sh\n", Language::Python),
        ];
        for (path, text, language) in table {
            assert_eq!(
                Language::of_file(Path::new(path), text.as_bytes()),
                language,
                "{path} {text:?}"
            );
        }
    }

    #[test]
    fn every_language_is_listed_once() {
        let mut names: Vec<&str> = Language::ALL.iter().map(|language| language.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Language::ALL.len());
    }
}
