//! Each rule, proven to fire: a small real workspace without findings, and one change that breaks one rule.

use std::fs;
use std::path::Path;

use super::check;
use super::tree::Tree;

/// A wire contract, two rooms, a test tool, and two external crates that lie outside the workspace.
const CLEAN: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\nexclude = [\"outside\"]\n[workspace.lints.rust]\n",
    ),
    (
        "rooms.toml",
        r#"everyone_may_use = ["protocol"]
longest_chain = 3
exhaustive = ["ToolId"]
globals = [{ file = "crates/low/src/lib.rs", name = "SEEN", because = "a counter for tests of this rule" }]
[file]
want = 10
ceiling = 20
[rooms.protocol]
lines = 50
[rooms.low]
lines = 50
[rooms.high]
may_use = ["low"]
lines = 50
[rooms.testkit]
dev_only = true
lines = 50
[dependencies]
"engine-*" = ["low"]
[[owners]]
of = "starting a process"
calls = ["std::process::Command::new"]
files = ["crates/low/src/spawn/"]
[[owners]]
of = "writing a file"
calls = ["std::fs::write"]
system_calls = ["renameat"]
files = ["crates/low/src/write.rs"]
[closed]
"crates/protocol/src/lib.rs" = ["ToolId", "Mode"]
"#,
    ),
    (
        "clippy.toml",
        r#"disallowed-methods = [
  { path = "std::process::Command::new", reason = "owned" },
  { path = "std::fs::write", reason = "owned" },
]
"#,
    ),
    ("deny.toml", "[licenses]\nallow = [\"MIT\", \"Apache-2.0\"]\n"),
    (
        "crates/protocol/Cargo.toml",
        "[package]\nname = \"protocol\"\n[lints]\nworkspace = true\n",
    ),
    (
        "crates/protocol/src/lib.rs",
        "//! Contract.\nmacro_rules! modes { ($name:ident {}) => {}; }\nmodes! { Mode {} }\npub enum ToolId { Read, Write }\n",
    ),
    (
        "crates/low/Cargo.toml",
        r#"[package]
name = "low"
[dependencies]
protocol = { path = "../protocol" }
engine-one = { path = "../../outside/engine-one" }
plain = { path = "../../outside/plain" }
[dev-dependencies]
testkit = { path = "../testkit" }
[lints]
workspace = true
"#,
    ),
    (
        "crates/low/src/lib.rs",
        r#"//! Low. A comment may say todo!() and static mut.
static SEEN: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
static WORDS: std::sync::LazyLock<Vec<&'static str>> = std::sync::LazyLock::new(|| vec!["todo!()"]);
#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    fn files() { std::fs::write("x", "y"); }
}
"#,
    ),
    (
        "crates/low/src/spawn/mod.rs",
        "//! Spawns.\n#[expect(clippy::disallowed_methods)]\nfn spawn() { std::process::Command::new(\"x\"); }\n",
    ),
    (
        "crates/low/src/write.rs",
        "//! Writes.\n#[expect(clippy::disallowed_methods)]\nfn write() { std::fs::write(\"x\", \"y\"); }\n",
    ),
    (
        "crates/high/Cargo.toml",
        "[package]\nname = \"high\"\n[dependencies]\nlow = { path = \"../low\" }\n[lints]\nworkspace = true\n",
    ),
    ("crates/high/src/lib.rs", "//! High.\n"),
    (
        "crates/high/tests/main.rs",
        "fn files() { std::fs::write(\"x\", \"y\"); }\n",
    ),
    (
        "crates/testkit/Cargo.toml",
        "[package]\nname = \"testkit\"\n[lints]\nworkspace = true\n",
    ),
    (
        "crates/testkit/src/lib.rs",
        "//! Test tool.\nfn files() { std::fs::write(\"x\", \"y\"); }\n",
    ),
    (
        "outside/engine-one/Cargo.toml",
        "[package]\nname = \"engine-one\"\nlicense = \"MIT/Apache-2.0\"\n[workspace]\n",
    ),
    ("outside/engine-one/src/lib.rs", "static mut FREE: u8 = 0;\n"),
    (
        "outside/plain/Cargo.toml",
        "[package]\nname = \"plain\"\nlicense = \"(GPL-3.0-only OR Apache-2.0) AND MIT\"\n[workspace]\n",
    ),
    ("outside/plain/src/lib.rs", ""),
];

/// How a case differs from the clean workspace.
enum Change {
    Write(&'static str, &'static str),
    Append(&'static str, &'static str),
    Replace(&'static str, &'static str, &'static str),
}
use Change::{Append, Replace, Write};

const CASES: &[(Change, &[&str])] = &[
    // edges
    (
        Replace(
            "crates/high/Cargo.toml",
            "[lints]",
            "testkit = { path = \"../testkit\" }\n[lints]",
        ),
        &[
            "crates/high/Cargo.toml:5: [edges] `high` may not depend on `testkit`; move it to [dev-dependencies]",
        ],
    ),
    (
        Replace("rooms.toml", "longest_chain = 3", "longest_chain = 2"),
        &[
            "rooms.toml:2: [edges] a chain of 3 rooms: high → low → protocol; 2 is the longest allowed, so one of \
           them must not need the next",
        ],
    ),
    (
        Replace(
            "rooms.toml",
            "[dependencies]",
            "[rooms.gone]\nlines = 1\n[dependencies]",
        ),
        &["rooms.toml:18: [edges] no crate is called `gone`; remove it"],
    ),
    // dependency-owners
    (
        Replace(
            "crates/high/Cargo.toml",
            "[lints]",
            "engine-one = { path = \"../../outside/engine-one\" }\n[lints]",
        ),
        &[
            "crates/high/Cargo.toml:5: [dependency-owners] `engine-one` belongs to low, not to `high`; use what its \
           owner offers",
        ],
    ),
    // manifests
    (
        Replace("crates/high/Cargo.toml", "[lints]\nworkspace = true\n", ""),
        &[
            "crates/high/Cargo.toml:1: [manifests] the workspace's lints are not inherited; write [lints] with \
           workspace = true",
        ],
    ),
    (
        Append("crates/high/Cargo.toml", "[features]\nextra = []\n"),
        &[
            "crates/high/Cargo.toml:7: [manifests] Cargo feature `extra`; decide at run time by a flag of \
           protocol::flags, or make a crate of its own",
        ],
    ),
    // owners
    (
        Append(
            "crates/high/src/lib.rs",
            "#[allow(clippy::disallowed_methods)]\nfn f() {}\n",
        ),
        &[
            "crates/high/src/lib.rs:2: [owners] clippy::disallowed_methods is lifted outside the owner files; call \
           the owner, or name this file as one in rooms.toml",
        ],
    ),
    (
        Append("crates/low/src/write.rs", "#[allow(clippy::all)]\nmod wide {}\n"),
        &[
            "crates/low/src/write.rs:4: [owners] clippy::all is lifted outside the owner files; call the owner, or \
           name this file as one in rooms.toml",
        ],
    ),
    (
        Append(
            "crates/low/src/write.rs",
            "use std::process::Command;\nfn f() { Command::new(\"x\"); }\n",
        ),
        &[
            "crates/low/src/write.rs:5: [owners] Command::new outside the owner of: starting a process; its owners \
           are crates/low/src/spawn/",
        ],
    ),
    (
        Append("crates/high/src/lib.rs", "use rustix::{fs::{renameat}};\n"),
        &[
            "crates/high/src/lib.rs:2: [owners] renameat outside the owner of: writing a file; its owners are crates/low/src/write.rs",
        ],
    ),
    (
        Replace("rooms.toml", "crates/low/src/write.rs", "crates/low/src/moved.rs"),
        &[
            "crates/low/src/write.rs:2: [owners] clippy::disallowed_methods is lifted outside the owner files; \
             call the owner, or name this file as one in rooms.toml",
            "crates/low/src/write.rs:3: [owners] fs::write outside the owner of: writing a file; its owners are \
             crates/low/src/moved.rs",
            "rooms.toml:28: [owners] owner crates/low/src/moved.rs does not exist; remove or correct it",
        ],
    ),
    (
        Replace("clippy.toml", "std::fs::write", "std::fs::copy"),
        &[
            "clippy.toml:3: [owners] std::fs::copy has no owner; add it to an owner's calls in rooms.toml",
            "rooms.toml:26: [owners] clippy does not ban std::fs::write; add it to clippy.toml",
        ],
    ),
    // ceilings
    (
        Append(
            "crates/high/src/lib.rs",
            "//\n//\n//\n//\n//\n//\n//\n//\n//\n//\n//\n//\n//\n//\n//\n//\n//\n//\n//\n//\n",
        ),
        &[
            "crates/high/src/lib.rs:21: [ceilings] 21 lines, 20 is the ceiling for a file; split it where its header \
           says “and”",
        ],
    ),
    (
        Replace(
            "rooms.toml",
            "[rooms.protocol]\nlines = 50",
            "[rooms.protocol]\nlines = 3",
        ),
        &[
            "rooms.toml:8: [ceilings] `protocol` has 4 lines outside tests, 3 is its ceiling; make it smaller, or \
           raise the ceiling in a change that says why",
        ],
    ),
    // globals
    (
        Append(
            "crates/high/src/lib.rs",
            "static mut COUNT: u8 = 0;\nthread_local! {}\n",
        ),
        &[
            "crates/high/src/lib.rs:2: [globals] a mutable static; put it in a value that its user holds (a \
             LazyLock of constant data is fine)",
            "crates/high/src/lib.rs:3: [globals] thread_local! makes global state; put it in a value that its \
             user holds (a LazyLock of constant data is fine)",
        ],
    ),
    (
        Append(
            "crates/high/src/lib.rs",
            "static ALL: LazyLock<Mutex<Vec<u8>>> = LazyLock::new(make);\n",
        ),
        &[
            "crates/high/src/lib.rs:2: [globals] static ALL can change through Mutex; put it in a value that its \
           user holds (a LazyLock of constant data is fine)",
        ],
    ),
    (
        Replace("crates/low/src/lib.rs", "static SEEN", "static GONE"),
        &[
            "crates/low/src/lib.rs:2: [globals] static GONE can change through AtomicU32; put it in a value that \
             its user holds (a LazyLock of constant data is fine)",
            "rooms.toml:4: [globals] no static SEEN in crates/low/src/lib.rs; remove the entry",
        ],
    ),
    // closed
    (
        Replace(
            "crates/protocol/src/lib.rs",
            "pub enum ToolId",
            "#[non_exhaustive]\npub enum ToolId",
        ),
        &[
            "crates/protocol/src/lib.rs:4: [closed] #[non_exhaustive] in a file of closed enums; remove it: every \
           variant is known to every reader",
        ],
    ),
    (
        Replace("crates/protocol/src/lib.rs", "modes! { Mode {} }\n", ""),
        &["rooms.toml:30: [closed] crates/protocol/src/lib.rs has no enum Mode; correct the entry"],
    ),
    (
        Append(
            "crates/high/src/lib.rs",
            "pub async fn register_tool(&mut self, tool: ToolSpec) {}\n",
        ),
        &[
            "crates/high/src/lib.rs:2: [closed] register_tool adds tools at run time; add a variant to \
           protocol::ToolId; there is no other way to make a tool",
        ],
    ),
    (
        Append(
            "crates/high/src/lib.rs",
            "fn f(t: ToolId) -> u8 {\n match (t, 1).0 {\n protocol::ToolId::Read if t.ok() => { 1 }\n _ => 2,\n }\n}\n",
        ),
        &["crates/high/src/lib.rs:5: [closed] `_` in a match on ToolId; name the variants"],
    ),
    // hygiene
    (
        Append(
            "crates/high/src/lib.rs",
            "fn f() { todo!() }\n#[cfg(test)]\nmod tests {\n#[ignore]\nfn f() {}\n}\n",
        ),
        &[
            "crates/high/src/lib.rs:2: [hygiene] todo!; finish it, or leave the path out",
            "crates/high/src/lib.rs:5: [hygiene] #[ignore]; mend the test or remove it",
        ],
    ),
    (
        Write("crates/high/src/more.rs", "// Not a header.\n"),
        &[
            "crates/high/src/more.rs:1: [hygiene] no module header; open with a //! that says what the module owns \
           and must not know",
        ],
    ),
    // licences
    (
        Replace("outside/plain/Cargo.toml", "AND MIT", "AND GPL-3.0-only"),
        &[
            "deny.toml:2: [licences] plain 0.0.0: licence “(GPL-3.0-only OR Apache-2.0) AND GPL-3.0-only” is not \
           allowed; use another crate, or allow it here after reading the licence",
        ],
    ),
    (
        Replace("outside/plain/Cargo.toml", "license", "description"),
        &[
            "deny.toml:2: [licences] plain 0.0.0: states no licence; use another crate, or allow it here after \
           reading the licence",
        ],
    ),
];

#[test]
fn the_clean_workspace_has_no_findings() {
    let folder = tempfile::tempdir().unwrap();
    write_clean(folder.path());
    assert_eq!(findings(folder.path()), Vec::<String>::new());
}

#[test]
fn each_rule_fires() {
    for (change, expected) in CASES {
        let folder = tempfile::tempdir().unwrap();
        write_clean(folder.path());
        match change {
            Write(file, text) => write(folder.path(), file, text),
            Append(file, text) => {
                let before = fs::read_to_string(folder.path().join(file)).unwrap();
                write(folder.path(), file, &(before + text));
            }
            Replace(file, from, to) => {
                let before = fs::read_to_string(folder.path().join(file)).unwrap();
                assert!(before.contains(from), "{file} has no {from:?}");
                write(folder.path(), file, &before.replacen(from, to, 1));
            }
        }
        assert_eq!(findings(folder.path()), *expected);
    }
}

#[test]
fn a_room_must_be_known_to_be_used() {
    let folder = tempfile::tempdir().unwrap();
    write_clean(folder.path());
    let manifest = "[package]\nname = \"other\"\n[lints]\nworkspace = true\n";
    write(folder.path(), "crates/other/Cargo.toml", manifest);
    write(folder.path(), "crates/other/src/lib.rs", "//! Other.\n");
    let manifest = fs::read_to_string(folder.path().join("crates/low/Cargo.toml")).unwrap();
    let manifest = manifest.replace(
        "[dev-dependencies]\n",
        "[dev-dependencies]\nother.path = \"../other\"\n",
    );
    write(folder.path(), "crates/low/Cargo.toml", &manifest);
    assert_eq!(
        findings(folder.path()),
        [
            "crates/low/Cargo.toml:8: [edges] `low` may not depend on `other`; it may use protocol",
            "crates/other/Cargo.toml:1: [edges] `other` is not in rooms.toml; add it there with what it may use",
        ]
    );
}

#[test]
fn a_misspelt_rule_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write_clean(folder.path());
    let rooms = fs::read_to_string(folder.path().join("rooms.toml")).unwrap();
    write(
        folder.path(),
        "rooms.toml",
        &rooms.replace("\nmay_use", "\nmayuse"),
    );
    let error = Tree::load(folder.path()).err().unwrap();
    assert!(error.contains("unknown field `mayuse`"), "{error}");
}

fn write_clean(root: &Path) {
    for (file, text) in CLEAN {
        write(root, file, text);
    }
}

#[expect(clippy::disallowed_methods, reason = "a test writes its fixture")]
fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn findings(root: &Path) -> Vec<String> {
    check(&Tree::load(root).unwrap())
}
