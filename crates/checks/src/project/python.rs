//! Python: pytest, tox, unittest, with uv, poetry or pdm where they manage the project.

use super::{Check, Kind, Place, Reach, is_plain, join};

pub(super) fn checks(place: &Place<'_>) -> Vec<Check> {
    let manager = [
        ("uv.lock", "uv run "),
        ("poetry.lock", "poetry run "),
        ("pdm.lock", "pdm run "),
        ("Pipfile.lock", "pipenv run "),
    ]
    .into_iter()
    .find(|(lock, _)| {
        place.has(lock)
            || place
                .above()
                .any(|folder| place.tree.names(folder).iter().any(|name| name == lock))
    })
    .map_or("", |(_, prefix)| prefix);
    let check = |command: String, reach| Check::new(command, &place.folder, reach, Kind::Test);
    if uses_pytest(place) {
        let pytest = match manager {
            "" => "python3 -m pytest".to_owned(),
            manager => format!("{manager}pytest"),
        };
        let tests: Vec<&str> = place
            .changed
            .iter()
            .map(String::as_str)
            .filter(|path| is_test_file(path.rsplit('/').next().unwrap_or(path)) && is_plain(path))
            .collect();
        // A change of anything else may break any test.
        if !tests.is_empty() && tests.len() == place.changed.len() {
            return vec![
                check(format!("{pytest} {}", tests.join(" ")), Reach::Focused),
                check(pytest, Reach::Broad),
            ];
        }
        return vec![check(pytest, Reach::Focused)];
    }
    if place.has("tox.ini") {
        return vec![check(format!("{manager}tox"), Reach::Focused)];
    }
    if place.has("noxfile.py") {
        return vec![check(format!("{manager}nox"), Reach::Focused)];
    }
    let python = format!("{manager}python3 -m unittest");
    if place.names.iter().any(|name| is_test_file(name)) {
        return vec![check(python, Reach::Focused)];
    }
    let tests = ["tests", "test"].into_iter().find(|folder| {
        let names = place.tree.names(&join(&place.folder, folder));
        names.iter().any(|name| is_test_file(name))
    });
    match tests {
        Some(folder) => vec![check(
            format!("{python} discover -s {folder} -t ."),
            Reach::Focused,
        )]
        .into_iter()
        .map(|check| {
            match place
                .tree
                .text(&join(&place.folder, &format!("{folder}/__init__.py")))
            {
                Some(_) => check,
                // Without a package its folder is the top.
                None => Check {
                    command: check.command.replace(" -t .", ""),
                    ..check
                },
            }
        })
        .collect(),
        None => Vec::new(),
    }
}

pub(super) fn is_test_file(name: &str) -> bool {
    name.ends_with(".py") && (name.starts_with("test_") || name.ends_with("_test.py"))
}

/// Whether anything of the project names pytest.
fn uses_pytest(place: &Place<'_>) -> bool {
    let files = [
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "requirements.txt",
        "requirements-dev.txt",
        "dev-requirements.txt",
        "requirements/dev.txt",
        "requirements/test.txt",
        "Pipfile",
        "setup.py",
    ];
    place.has("pytest.ini")
        || place.has("conftest.py")
        || ["tests", "test"].iter().any(|folder| {
            place
                .tree
                .text(&join(&place.folder, &format!("{folder}/conftest.py")))
                .is_some()
        })
        || files
            .iter()
            .filter_map(|name| place.text(name))
            .any(|text| text.contains("pytest"))
}
