use std::collections::BTreeMap;

use super::*;

/// Paths and their texts.
struct Files(BTreeMap<&'static str, &'static str>);

impl Tree for Files {
    fn names(&self, folder: &str) -> Vec<String> {
        let mut names: Vec<String> = self
            .0
            .keys()
            .filter_map(|path| match folder.is_empty() {
                true => Some(*path),
                false => path.strip_prefix(folder)?.strip_prefix('/'),
            })
            .map(|rest| rest.split('/').next().unwrap_or(rest).to_owned())
            .collect();
        names.dedup();
        names
    }

    fn text(&self, path: &str) -> Option<String> {
        self.0.get(path).map(|text| (*text).to_owned())
    }
}

/// "folder: command" of each check, the wide ones marked.
fn chosen(files: &[(&'static str, &'static str)], changed: &[&str]) -> Vec<String> {
    let files = Files(files.iter().copied().collect());
    let changed: Vec<String> = changed.iter().map(|path| (*path).to_owned()).collect();
    choose(&files, &changed)
        .into_iter()
        .map(|check| {
            let wide = if check.reach == Reach::Broad {
                " (wide)"
            } else {
                ""
            };
            format!("{}: {}{wide}", check.folder, check.command)
        })
        .collect()
}

const PACKAGE: &str = "[package]\nname = \"a\"\n";
const WORKSPACE: &str = "[workspace]\nmembers = [\"crates/*\"]\n";
const JEST: &str = r#"{"scripts":{"test":"jest","typecheck":"tsc --noEmit","lint":"eslint ."}}"#;

/// Files with their texts, what changed, and the checks.
type Case = (
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
    &'static [&'static str],
);

#[test]
fn each_kind_of_project_has_its_checks() {
    let cases: &[Case] = &[
        (&[("Cargo.toml", PACKAGE)], &["src/lib.rs"], &[": cargo test"]),
        (
            &[("Cargo.toml", PACKAGE), (".config/nextest.toml", "")],
            &["src/lib.rs"],
            &[": cargo nextest run"],
        ),
        (
            &[("Cargo.toml", WORKSPACE), ("crates/a/Cargo.toml", PACKAGE)],
            &["crates/a/src/lib.rs"],
            &["crates/a: cargo test", ": cargo test --workspace (wide)"],
        ),
        (
            &[("Cargo.toml", WORKSPACE)],
            &["Cargo.toml"],
            &[": cargo test --workspace (wide)"],
        ),
        (
            &[("package.json", JEST), ("pnpm-lock.yaml", "")],
            &["src/a.ts"],
            &[": pnpm test", ": pnpm run typecheck", ": pnpm run lint (wide)"],
        ),
        (
            &[("package.json", JEST)],
            &["src/a.test.ts"],
            &[
                ": npm test -- src/a.test.ts",
                ": npm run typecheck",
                ": npm test (wide)",
                ": npm run lint (wide)",
            ],
        ),
        (
            &[(
                "package.json",
                r#"{"scripts":{"test":"mocha"},"packageManager":"yarn@4"}"#,
            )],
            &["a.js"],
            &[": yarn test"],
        ),
        (
            &[
                ("package.json", r#"{"scripts":{"test":"bun test"}}"#),
                ("bun.lock", ""),
            ],
            &["a.ts"],
            &[": bun run test"],
        ),
        (
            &[(
                "package.json",
                r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#,
            )],
            &["a.js"],
            &[],
        ),
        (
            &[
                (
                    "package.json",
                    r#"{"workspaces":["packages/*"],"scripts":{"test":"turbo test"}}"#,
                ),
                ("package-lock.json", ""),
                ("packages/a/package.json", r#"{"scripts":{"test":"vitest"}}"#),
            ],
            &["packages/a/src/a.ts"],
            &["packages/a: npm test", ": npm test (wide)"],
        ),
        (
            &[("pyproject.toml", "[tool.pytest.ini_options]"), ("uv.lock", "")],
            &["a/b.py"],
            &[": uv run pytest"],
        ),
        (
            &[("requirements.txt", "pytest==8"), ("tests/test_a.py", "")],
            &["tests/test_a.py"],
            &[
                ": python3 -m pytest tests/test_a.py",
                ": python3 -m pytest (wide)",
            ],
        ),
        (&[("tox.ini", "[tox]"), ("a.py", "")], &["a.py"], &[": tox"]),
        (
            &[("pyproject.toml", ""), ("tests/test_a.py", "")],
            &["a.py"],
            &[": python3 -m unittest discover -s tests"],
        ),
        (
            &[
                ("pyproject.toml", ""),
                ("tests/test_a.py", ""),
                ("tests/__init__.py", ""),
            ],
            &["a.py"],
            &[": python3 -m unittest discover -s tests -t ."],
        ),
        (&[("test_a.py", "")], &["a.py"], &[": python3 -m unittest"]),
        (
            &[("go.mod", "module a")],
            &["a.go", "inner/b.go"],
            &[": go test . ./inner", ": go test ./... (wide)"],
        ),
        (&[("go.mod", "module a")], &["go.mod"], &[": go test ./..."]),
        (
            &[("pom.xml", ""), ("mvnw", ""), ("core/pom.xml", "")],
            &["core/src/main/java/A.java"],
            &[": ./mvnw test -pl core -am", ": ./mvnw test (wide)"],
        ),
        (&[("pom.xml", "")], &["src/main/java/A.java"], &[": mvn test"]),
        (
            &[("settings.gradle", ""), ("gradlew", ""), ("app/build.gradle", "")],
            &["app/src/A.kt"],
            &[": ./gradlew test -p app", ": ./gradlew test (wide)"],
        ),
        (&[("a.sln", "")], &["src/A.cs"], &[": dotnet test"]),
        (
            &[("composer.json", r#"{"scripts":{"test":"phpunit"}}"#)],
            &["src/A.php"],
            &[": composer test"],
        ),
        (
            &[("composer.json", "{}"), ("phpunit.xml", "")],
            &["src/A.php"],
            &[": vendor/bin/phpunit"],
        ),
        (
            &[("Gemfile", ""), ("spec/a_spec.rb", "")],
            &["lib/a.rb"],
            &[": bundle exec rspec"],
        ),
        (
            &[("Gemfile", ""), ("Rakefile", ""), ("test/a_test.rb", "")],
            &["lib/a.rb"],
            &[": bundle exec rake test"],
        ),
        (&[("mix.exs", "")], &["lib/a.ex"], &[": mix test"]),
        (
            &[("Makefile", "all: x\n\ntest: all\n\t./run\n")],
            &["a.c"],
            &[": make test"],
        ),
        (&[("Makefile", "test := 1\nall:\n")], &["a.c"], &[]),
        (&[("justfile", "test *args:\n  x\n")], &["a.c"], &[": just test"]),
        (&[("README.md", "")], &["README.md"], &[]),
    ];
    for (files, changed, expected) in cases {
        assert_eq!(chosen(files, changed), *expected, "{changed:?} in {files:?}");
    }
}

#[test]
fn a_mixed_repository_is_checked_where_it_changed() {
    let files = [
        ("Cargo.toml", WORKSPACE),
        ("crates/a/Cargo.toml", PACKAGE),
        ("web/package.json", r#"{"scripts":{"test":"jest"}}"#),
        ("tools/pyproject.toml", "pytest"),
        ("Makefile", "test:\n"),
    ];
    assert_eq!(chosen(&files, &["web/src/a.ts"]), ["web: npm test"]);
    assert_eq!(
        chosen(&files, &["tools/a.py", "crates/a/src/lib.rs"]),
        [
            "tools: python3 -m pytest",
            "crates/a: cargo test",
            ": cargo test --workspace (wide)"
        ]
    );
    // A makefile below a package of the file's own language does not hide that.
    let files = [("Cargo.toml", PACKAGE), ("native/Makefile", "test:\n")];
    assert_eq!(chosen(&files, &["native/build.rs"]), [": cargo test"]);
    assert_eq!(chosen(&files, &["native/a.c"]), ["native: make test"]);
}

#[test]
fn with_nothing_changed_the_whole_workspace_is_checked() {
    let files = [
        ("web/package.json", r#"{"scripts":{"test":"jest"}}"#),
        ("api/go.mod", "module api"),
        ("docs/index.md", ""),
    ];
    assert_eq!(chosen(&files, &[]), ["api: go test ./...", "web: npm test"]);
    assert_eq!(
        chosen(&[("Cargo.toml", PACKAGE), ("x/Cargo.toml", PACKAGE)], &[]),
        [": cargo test"]
    );
}

#[test]
fn many_packages_are_left_to_the_wide_check() {
    let mut files = vec![("Cargo.toml", WORKSPACE)];
    for manifest in ["a/Cargo.toml", "b/Cargo.toml", "c/Cargo.toml", "d/Cargo.toml"] {
        files.push((manifest, PACKAGE));
    }
    let changed = ["a/src/lib.rs", "b/src/lib.rs", "c/src/lib.rs", "d/src/lib.rs"];
    assert_eq!(chosen(&files, &changed), [": cargo test --workspace (wide)"]);
}

#[test]
fn names_that_a_shell_would_read_never_reach_a_command() {
    let files = [("package.json", JEST), ("go.mod", "module a")];
    let checks = chosen(&files, &["src/$(id).test.ts", "a;b/c.go"]);
    assert!(
        checks
            .iter()
            .all(|check| !check.contains('$') && !check.contains(';')),
        "{checks:?}"
    );
}
