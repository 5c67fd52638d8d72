//! Nothing unfinished, nothing skipped, and every module says what it owns.

use super::Finding;
use super::sources::Source;
use super::tree::Tree;

/// Tokens that stand for work not done, in product and test code alike.
const UNFINISHED: &[(&[&str], &str, &str)] = &[
    (&["todo", "!"], "todo!", "finish it, or leave the path out"),
    (
        &["unimplemented", "!"],
        "unimplemented!",
        "finish it, or leave the path out",
    ),
    (&["#", "[", "ignore"], "#[ignore]", "mend the test or remove it"),
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.sources
        .iter()
        .flat_map(|source| check_source(tree, source))
        .collect()
}

fn check_source(tree: &Tree, source: &Source) -> Vec<Finding> {
    if let Some(reason) = &source.unreadable {
        return vec![Finding::new(
            &source.file,
            1,
            format!("not Rust: {reason}"),
            "make it compile",
        )];
    }
    let mut findings: Vec<Finding> = UNFINISHED
        .iter()
        .flat_map(|(pattern, name, way_out)| {
            source
                .find_anywhere(pattern)
                .map(move |index| Finding::new(&source.file, source.tokens[index].line, *name, *way_out))
        })
        .collect();
    let folder = tree
        .members
        .get(&source.package)
        .map_or("", |member| member.folder.as_str());
    let in_src = source
        .file
        .strip_prefix(folder)
        .is_some_and(|rest| rest.starts_with("src/"));
    if in_src && !has_test_file_name(source) && source.find_anywhere(&["#", "!", "[", "doc"]).next().is_none()
    {
        findings.push(Finding::new(
            &source.file,
            1,
            "no module header",
            "open with a //! that says what the module owns and must not know",
        ));
    }
    findings
}

/// The tests of a module that has its own header need none.
fn has_test_file_name(source: &Source) -> bool {
    source.file.ends_with("tests.rs") || source.file.contains("/tests/")
}
