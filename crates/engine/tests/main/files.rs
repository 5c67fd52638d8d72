//! The user's files over the wire: what is seen, what is saved, what is moved and taken back.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use protocol::{
    ErrorCode,
    request::{
        EntryKind, FileOperation, FileView, FilesChangeParams, FilesFindParams, FilesListParams,
        FilesReadParams, FilesSaveParams, FilesSearchParams, FilesUndoParams,
    },
};

use crate::support::Place;

fn read(path: &str) -> FilesReadParams {
    FilesReadParams {
        path: path.to_owned(),
    }
}

fn list(path: &str) -> FilesListParams {
    FilesListParams {
        path: path.to_owned(),
        max: None,
    }
}

fn change(operation: FileOperation) -> FilesChangeParams {
    FilesChangeParams { operation }
}

fn project(root: &Path) {
    fs::create_dir_all(root.join("src/deep/empty")).unwrap();
    fs::create_dir_all(root.join("node_modules/x")).unwrap();
    fs::write(root.join("src/a.rs"), "fn a() {}\n").unwrap();
    fs::write(root.join("src/deep/b.bin"), b"\0\x01\xFF").unwrap();
    fs::write(root.join("src/deep/run.sh"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(root.join("src/deep/run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::set_permissions(root.join("src/deep"), fs::Permissions::from_mode(0o700)).unwrap();
    symlink("a.rs", root.join("src/link")).unwrap();
    symlink("/etc", root.join("out")).unwrap();
    fs::write(root.join("Über ß.txt"), "text").unwrap();
    fs::write(root.join("README.md"), "# Read\n").unwrap();
}

#[tokio::test]
async fn a_folder_is_listed_in_columns() {
    let place = Place::new(project);
    for root in ["", "."] {
        let listed = place.call(list(root)).await;
        let rows: Vec<(&str, EntryKind, bool)> = listed
            .names
            .iter()
            .zip(&listed.kinds)
            .zip(&listed.ignored)
            .map(|((name, kind), ignored)| (name.as_str(), *kind, *ignored))
            .collect();
        assert_eq!(
            rows,
            [
                ("node_modules", EntryKind::Folder, true),
                ("src", EntryKind::Folder, false),
                ("README.md", EntryKind::File, false),
                ("out", EntryKind::Link, false),
                ("Über ß.txt", EntryKind::File, false),
            ]
        );
    }
    let few = place
        .call(FilesListParams {
            path: "src".to_owned(),
            max: Some(1),
        })
        .await;
    assert_eq!((few.names, few.omitted), (vec!["deep".to_owned()], 2));
    for (path, code) in [
        ("..", ErrorCode::PathOutside),
        ("out", ErrorCode::PathOutside),
        ("src/../../x", ErrorCode::PathOutside),
        ("missing", ErrorCode::PathNotFound),
        ("README.md", ErrorCode::PathNotADirectory),
    ] {
        assert_eq!(place.code(list(path)).await, code, "{path}");
        let outside = if code == ErrorCode::PathOutside {
            code
        } else {
            continue;
        };
        assert_eq!(
            place.code(read(&format!("{path}/passwd"))).await,
            outside,
            "{path}"
        );
    }
}

/// Each way a file can be written down, read and saved with one more character: everything else stays.
#[tokio::test]
async fn a_save_keeps_how_a_file_is_written() {
    let utf16 = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let cases: [(&str, &str, Vec<u8>, Vec<u8>); 5] = [
        ("utf-8", "lf", "é\n".into(), "é\n!".into()),
        (
            "utf-8-bom",
            "crlf",
            "\u{FEFF}é\r\n".into(),
            "\u{FEFF}é\r\n!".into(),
        ),
        (
            "utf-16le",
            "lf",
            [vec![0xFF, 0xFE], utf16("é\n")].concat(),
            [vec![0xFF, 0xFE], utf16("é\n!")].concat(),
        ),
        ("windows-1252", "none", b"caf\xE9".to_vec(), b"caf\xE9!".to_vec()),
        ("utf-8", "mixed", "a\r\nb\n".into(), "a\r\nb\n!".into()),
    ];
    let place = Place::new(|_| {});
    let file = place.root().join("f");
    for (encoding, endings, before, after) in cases {
        fs::write(&file, &before).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let shown = place.call(read("f")).await;
        let FileView::Text {
            text,
            encoding: found,
            endings: lines,
        } = shown.view
        else {
            panic!("{encoding}: {:?}", shown.view);
        };
        assert_eq!((found.as_str(), lines.as_str()), (encoding, endings));
        let saved = place
            .call(FilesSaveParams {
                path: "f".to_owned(),
                text: text + "!",
                expected: Some(shown.content_hash),
                encoding: found,
            })
            .await;
        assert_eq!(fs::read(&file).unwrap(), after, "{encoding}");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(place.call(read("f")).await.content_hash, saved.content_hash);
    }
}

#[tokio::test]
async fn a_save_that_would_lose_something_is_refused_and_writes_nothing() {
    let place = Place::new(|root| {
        project(root);
        fs::write(root.join("latin"), b"caf\xE9").unwrap();
        fs::create_dir(root.join(".git")).unwrap();
    });
    let old = place.call(read("README.md")).await.content_hash;
    let latin = place.call(read("latin")).await.content_hash;
    // The user's other editor.
    fs::write(place.root().join("README.md"), "# Changed\n").unwrap();
    let now = place.call(read("README.md")).await.content_hash;
    let before = place.tree();
    let cases = [
        ("README.md", Some(old), "utf-8", "x", ErrorCode::EditStale),
        ("README.md", None, "utf-8", "x", ErrorCode::EditStale),
        (
            "latin",
            Some(latin.clone()),
            "windows-1252",
            "你",
            ErrorCode::FileEncoding,
        ),
        ("latin", Some(latin), "ebcdic", "x", ErrorCode::RequestInvalid),
        (".git/config", None, "utf-8", "x", ErrorCode::PathProtected),
        ("out/x", None, "utf-8", "x", ErrorCode::PathOutside),
    ];
    for (path, expected, encoding, text, code) in cases {
        let error = place
            .refused(FilesSaveParams {
                path: path.to_owned(),
                text: text.to_owned(),
                expected,
                encoding: encoding.to_owned(),
            })
            .await;
        assert_eq!(error.code, code, "{path}: {error}");
        if code == ErrorCode::EditStale {
            // What is there now is named, to compare with or to overwrite.
            assert_eq!(error.detail.as_deref(), Some(now.0.as_str()));
        }
    }
    assert_eq!(place.tree(), before);
}

#[tokio::test]
async fn what_is_no_text_or_too_much_of_it_is_said() {
    let place = Place::new(|root| {
        fs::write(root.join("a.png"), b"\x89PNG\r\n\x1a\n....").unwrap();
        fs::write(root.join("long"), "x".repeat(5 * 1024 * 1024 + 1)).unwrap();
    });
    let shown = place.call(read("a.png")).await;
    assert_eq!(
        shown.view,
        FileView::Binary {
            what: "a PNG image".to_owned()
        }
    );
    let FileView::Large {
        head,
        tail,
        omitted_bytes,
    } = place.call(read("long")).await.view
    else {
        panic!("not large");
    };
    assert_eq!(
        head.len() as u64 + tail.len() as u64 + omitted_bytes,
        5 * 1024 * 1024 + 1
    );
}

/// Every step the user can take in the tree, taken back, and done again.
#[tokio::test]
async fn every_step_in_the_tree_can_be_taken_back_and_done_again() {
    let text = str::to_owned;
    let steps = [
        FileOperation::CreateFile {
            path: text("new/deep/f"),
        },
        FileOperation::CreateFolder {
            path: text("new/folder"),
        },
        FileOperation::Rename {
            from: text("src/a.rs"),
            to: text("src/b.rs"),
        },
        FileOperation::Rename {
            from: text("src"),
            to: text("moved/to/src"),
        },
        FileOperation::Rename {
            from: text("src/link"),
            to: text("link"),
        },
        FileOperation::Delete {
            paths: vec![text("README.md"), text("src"), text("src/a.rs")],
        },
        FileOperation::Delete {
            paths: vec![text("out"), text("Über ß.txt")],
        },
    ];
    for step in steps {
        let place = Place::new(project);
        let before = place.tree();
        let done = place.call(change(step.clone())).await;
        let after = place.tree();
        assert_ne!(before, after, "{step:?}");
        assert_eq!(done.notes, [""; 0], "{step:?}");
        let undone = place
            .call(FilesUndoParams {
                undo: done.undo.clone(),
            })
            .await;
        assert_eq!(place.tree(), before, "undo of {step:?}");
        let redone = place.call(FilesUndoParams { undo: undone.undo }).await;
        assert_eq!(place.tree(), after, "redo of {step:?}");
        place.call(FilesUndoParams { undo: redone.undo }).await;
        assert_eq!(place.tree(), before, "second undo of {step:?}");
        // One step is taken back once.
        let again = place.code(FilesUndoParams { undo: done.undo }).await;
        assert_eq!(again, ErrorCode::ChangesNothingToUndo, "{step:?}");
        assert!(Path::new("/etc/passwd").exists());
    }
}

#[tokio::test]
async fn a_step_that_would_lose_something_is_refused_and_changes_nothing() {
    let text = str::to_owned;
    let place = Place::new(|root| {
        project(root);
        fs::create_dir_all(root.join("repo/.git/objects")).unwrap();
        fs::create_dir(root.join("many")).unwrap();
        for number in 0..2_001 {
            fs::write(root.join(format!("many/{number}")), "").unwrap();
        }
    });
    let before = place.tree();
    let rename = |from: &str, to: &str| FileOperation::Rename {
        from: from.to_owned(),
        to: to.to_owned(),
    };
    let delete = |paths: &[&str]| FileOperation::Delete {
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
    };
    for (operation, code) in [
        (
            FileOperation::CreateFile {
                path: text("README.md"),
            },
            ErrorCode::PathExists,
        ),
        (
            FileOperation::CreateFolder { path: text("src") },
            ErrorCode::PathExists,
        ),
        (
            FileOperation::CreateFile {
                path: text("README.md/x"),
            },
            ErrorCode::PathNotADirectory,
        ),
        (
            FileOperation::CreateFile { path: text("../x") },
            ErrorCode::PathOutside,
        ),
        (
            FileOperation::CreateFile { path: text("out/x") },
            ErrorCode::PathOutside,
        ),
        (
            FileOperation::CreateFile { path: text(".git/x") },
            ErrorCode::PathProtected,
        ),
        (rename("README.md", "src/a.rs"), ErrorCode::PathExists),
        (rename("missing", "x"), ErrorCode::PathNotFound),
        (rename("src", "src/deep/src"), ErrorCode::PathExists),
        (delete(&["README.md", "missing"]), ErrorCode::PathNotFound),
        (delete(&["README.md", "many"]), ErrorCode::FileTooLarge),
        (delete(&["README.md", "repo"]), ErrorCode::PathProtected),
        (delete(&["."]), ErrorCode::PathProtected),
        (delete(&["../ws"]), ErrorCode::PathOutside),
    ] {
        let error = place.refused(change(operation.clone())).await;
        assert_eq!(error.code, code, "{operation:?}: {error}");
        assert!(error.user_action.is_some(), "{operation:?}");
    }
    assert_eq!(place.tree(), before);
}

#[tokio::test]
async fn what_the_user_did_since_is_not_undone_with_a_step() {
    let place = Place::new(project);
    let created = place
        .call(change(FileOperation::CreateFile { path: "n".to_owned() }))
        .await;
    fs::write(place.root().join("n"), "written since").unwrap();
    let deleted = place
        .call(change(FileOperation::Delete {
            paths: vec!["src".to_owned()],
        }))
        .await;
    fs::create_dir(place.root().join("src")).unwrap();
    fs::write(place.root().join("src/a.rs"), "another").unwrap();
    let before = place.tree();
    for (undo, code) in [
        (created.undo, ErrorCode::EditStale),
        (deleted.undo.clone(), ErrorCode::PathExists),
    ] {
        assert_eq!(place.code(FilesUndoParams { undo }).await, code);
    }
    assert_eq!(place.tree(), before);
    // Once the place is free again the step can be taken back after all.
    fs::remove_dir_all(place.root().join("src")).unwrap();
    place.call(FilesUndoParams { undo: deleted.undo }).await;
    assert_eq!(fs::read(place.root().join("src/a.rs")).unwrap(), b"fn a() {}\n");
}

#[tokio::test]
async fn files_are_found_by_letters_as_soon_as_they_are_there() {
    let place = Place::new(project);
    let find = |query: &str| FilesFindParams {
        query: query.to_owned(),
        max: None,
    };
    let found = place.call(find("srun")).await.found;
    assert_eq!(found[0].path, "src/deep/run.sh");
    assert_eq!(found[0].positions.len(), 4);
    assert!(place.call(find("brandnew")).await.found.is_empty());
    place
        .call(change(FileOperation::CreateFile {
            path: "src/brand_new.rs".to_owned(),
        }))
        .await;
    assert_eq!(
        place.call(find("brandnew")).await.found[0].path,
        "src/brand_new.rs"
    );
}

#[tokio::test]
async fn lines_are_searched_by_text_and_by_pattern() {
    let place = Place::new(project);
    let search = |pattern: &str, literal, ignore_case, globs: &[&str]| FilesSearchParams {
        pattern: pattern.to_owned(),
        literal,
        ignore_case,
        globs: globs.iter().map(|glob| (*glob).to_owned()).collect(),
    };
    for (params, hits) in [
        (search("fn a()", true, false, &[]), vec![("src/a.rs", 1, 1)]),
        (search(r"a\(\)", false, false, &[]), vec![("src/a.rs", 1, 4)]),
        (search("READ", true, true, &["*.md"]), vec![("README.md", 1, 3)]),
        (search("READ", true, false, &[]), vec![]),
    ] {
        let result = place.call(params.clone()).await;
        let found: Vec<_> = result
            .hits
            .iter()
            .map(|hit| (hit.path.as_str(), hit.line, hit.column))
            .collect();
        assert_eq!(found, hits, "{params:?}");
        assert!(result.notes[0].starts_with("Searched"));
    }
    assert_eq!(
        place.code(search("(", false, false, &[])).await,
        ErrorCode::SearchPattern
    );
}
