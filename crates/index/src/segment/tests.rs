use std::{path::Path, sync::Arc};

use super::{builder::Document, *};
use crate::{
    codec::Damaged,
    outline::{Definition, Outline, SymbolKind},
};

fn outline(names: &[(&str, u32)]) -> Outline {
    Outline {
        definitions: names
            .iter()
            .map(|(name, line)| Definition {
                name: (*name).to_owned(),
                kind: SymbolKind::Function,
                first_line: *line,
                last_line: *line,
                container: None,
            })
            .collect(),
        complete: true,
        ..Outline::default()
    }
}

fn built() -> Vec<u8> {
    let mut builder = Builder::default();
    for (path, text, names) in [
        (
            "src/read_file.rs",
            "fn openReader() {}\nlet other = openReader();\n",
            vec![("openReader", 1)],
        ),
        ("docs/guide.md", "How to open a reader\n", vec![]),
    ] {
        builder.add(&Document {
            path: Path::new(path),
            stamp: Stamp { size: 7, modified: 9 },
            hash: [3; 16],
            language: Language::of_path(Path::new(path)),
            coverage: Coverage::Indexed,
            text,
            outline: &outline(&names),
        });
    }
    builder.finish()
}

fn open(bytes: Vec<u8>) -> Result<Segment, Damaged> {
    Segment::open(Source::Memory(Arc::from(bytes)))
}

#[test]
fn terms_are_found_in_text_names_and_paths() {
    let segment = open(built()).unwrap();
    assert_eq!(segment.files[0].path, Path::new("src/read_file.rs"));
    assert_eq!(segment.files[0].stamp, Stamp { size: 7, modified: 9 });
    let places = |term: &str| -> Vec<(String, u32, u8, bool)> {
        segment
            .postings(term)
            .unwrap()
            .into_iter()
            .map(|posting| {
                let piece = segment.piece(posting.piece).unwrap();
                let path = &segment.files[piece.file as usize].path;
                (
                    path.display().to_string(),
                    piece.lines.last,
                    posting.count,
                    posting.in_definition,
                )
            })
            .collect()
    };
    assert_eq!(
        places("openreader"),
        [("src/read_file.rs".to_owned(), 2, 2, true)]
    );
    assert_eq!(
        places("open"),
        [
            ("src/read_file.rs".to_owned(), 2, 2, true),
            ("docs/guide.md".to_owned(), 1, 1, false)
        ]
    );
    let in_name = segment.postings("readfile").unwrap();
    assert!(in_name[0].in_file_name && !in_name[0].in_folder);
    assert_eq!(segment.piece(in_name[0].piece).unwrap().lines.first, 0);
    assert_eq!(places("nowhere"), []);
    assert_eq!(segment.outline(0).unwrap().definitions[0].name, "openReader");
}

/// A cut or changed file is noticed, never read as something else and never a panic.
#[test]
fn a_damaged_file_is_refused() {
    let bytes = built();
    for length in 0..bytes.len() {
        let Ok(segment) = open(bytes[..length].to_vec()) else {
            continue;
        };
        let lost = segment.each_term(|_, _| {}).is_err()
            || segment.postings("openreader").is_err()
            || segment.outline(0).is_err()
            || segment.outline(1).is_err();
        assert!(lost, "{length} of {} bytes", bytes.len());
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x41;
        if let Ok(segment) = open(changed) {
            let _ = segment.each_term(|_, list| drop(segment.read_list(list)));
            let _ = segment.outline(0);
        }
    }
}
