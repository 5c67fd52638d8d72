use std::os::unix::fs::PermissionsExt;

use protocol::{ErrorCode, RuntimeError};
use workspace::{
    LineRange, Overlay, ReadError, ReadLimits, TextView, Truncation, Workspace, read, read_bytes, read_text,
    text::{Encoding, Indent, LineEndings},
};

use crate::support::{Place, draft, fixture_bytes};

fn view(workspace: &Workspace, path: &str, overlay: &Overlay) -> Result<TextView, ReadError> {
    let path = workspace.resolve(path).unwrap();
    read_text(&path, overlay, LineRange::ALL, ReadLimits::default())
}

fn failure(workspace: &Workspace, path: &str, overlay: &Overlay) -> RuntimeError {
    view(workspace, path, overlay)
        .map(|view| panic!("{path}: {view:?}"))
        .map_err(RuntimeError::from)
        .unwrap_err()
}

/// E01, E02, E03: the reader sees text, and is told how it is written.
#[test]
fn text_is_shown_as_it_is_written() {
    let place = Place::new();
    for name in [
        "latin1.txt",
        "bom-crlf.ps1",
        "crlf.txt",
        "mixed-eol.txt",
        "tabs.go",
    ] {
        place.file(name, fixture_bytes(name));
    }
    place
        .file("empty.txt", "")
        .file("utf16.txt", b"\xFF\xFEh\0\xE9\0\r\0\n\0");
    let workspace = place.open();
    let none = Overlay::default();
    use Encoding::*;
    for (name, encoding, endings, indent) in [
        ("latin1.txt", Windows1252, LineEndings::Lf, Indent::None),
        ("bom-crlf.ps1", Utf8Bom, LineEndings::Crlf, Indent::None),
        ("crlf.txt", Utf8, LineEndings::Crlf, Indent::None),
        ("mixed-eol.txt", Utf8, LineEndings::Mixed, Indent::None),
        ("tabs.go", Utf8, LineEndings::Lf, Indent::Tabs),
        ("empty.txt", Utf8, LineEndings::None, Indent::None),
        ("utf16.txt", Utf16Le, LineEndings::Crlf, Indent::None),
    ] {
        let view = view(&workspace, name, &none).unwrap();
        let raw = std::fs::read(place.root().join(name)).unwrap();
        // In UTF-16 LE a line ends in `\n` and a zero byte.
        let text = raw.strip_suffix(b"\0").unwrap_or(&raw);
        let lines = text.split_inclusive(|byte| *byte == b'\n').count() as u64;
        let ended = text.is_empty() || text.last() == Some(&b'\n');
        assert_eq!(
            (view.encoding, view.endings, view.indent),
            (encoding, endings, indent),
            "{name}"
        );
        assert_eq!((view.total_lines, view.final_newline), (lines, ended), "{name}");
        assert_eq!(view.content_hash, read::content_hash(&raw), "{name}");
        assert_eq!(view.size_bytes, raw.len() as u64, "{name}");
        assert!(!view.text.contains(['\r', '\u{FEFF}', '\u{FFFD}']), "{name}");
    }
    let tabs = view(&workspace, "tabs.go", &none).unwrap();
    assert!(
        tabs.numbered().lines().any(|line| line.starts_with("4│\t")),
        "{}",
        tabs.numbered()
    );
    assert!(
        tabs.description().contains("indented with tabs"),
        "{}",
        tabs.description()
    );
    assert_eq!(view(&workspace, "utf16.txt", &none).unwrap().text, "hé");
    assert_eq!(
        view(&workspace, "empty.txt", &none).unwrap().description(),
        "empty file, UTF-8"
    );
}

/// X04: nothing that is not text gets through, and the refusal says what it is.
#[test]
fn what_is_not_text_is_refused_in_words() {
    let place = Place::new();
    let noise: Vec<u8> = (0..3000u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    place
        .file("corrupt.png", fixture_bytes("corrupt.png"))
        .file("empty.png", "")
        .file("paper.pdf", "%PDF-1.7\n%\u{e2}\u{e3}\n1 0 obj\n")
        .file("noise", noise)
        .file("settings.json", "{}")
        .file("src/settings.rs", "")
        .file("locked", "x")
        .link("nowhere", "gone");
    rustix::fs::mkfifoat(rustix::fs::CWD, place.root().join("pipe"), rustix::fs::Mode::RUSR).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.root().join("socket")).unwrap();
    let workspace = place.open();
    let overlay = draft(&[("drafted/settings.toml", Some("")), ("removed.txt", None)]);
    for (path, code, message, action) in [
        (
            "corrupt.png",
            ErrorCode::FileBinary,
            "is a PNG image, not text (2.0 KB)",
            "",
        ),
        (
            "empty.png",
            ErrorCode::FileBinary,
            "is empty, not a PNG image",
            "",
        ),
        (
            "paper.pdf",
            ErrorCode::FileBinary,
            "is a PDF document, not text (",
            "",
        ),
        (
            "noise",
            ErrorCode::FileBinary,
            "is binary data, not text (2.9 KB)",
            "",
        ),
        ("src", ErrorCode::PathIsDirectory, "src is a folder", "List it"),
        (
            "drafted",
            ErrorCode::PathIsDirectory,
            "drafted is a folder",
            "List it",
        ),
        ("pipe", ErrorCode::FileIo, "is a pipe, a socket or a device", ""),
        ("socket", ErrorCode::FileIo, "is a pipe, a socket or a device", ""),
        (
            "setings.json",
            ErrorCode::PathNotFound,
            "setings.json does not exist",
            "Did you mean settings.json?",
        ),
        (
            "src/settings.ts",
            ErrorCode::PathNotFound,
            "does not exist",
            "src/settings.rs",
        ),
        (
            "scr/settings.rs",
            ErrorCode::PathNotFound,
            "does not exist",
            "Did you mean src",
        ),
        (
            "drafted/setting.toml",
            ErrorCode::PathNotFound,
            "does not exist",
            "drafted/settings.toml",
        ),
        (
            "nowhere",
            ErrorCode::PathNotFound,
            "gone does not exist",
            "List the folder",
        ),
        (
            "removed.txt",
            ErrorCode::PathNotFound,
            "is deleted in the pending changes",
            "Create it",
        ),
    ] {
        let error = failure(&workspace, path, &overlay);
        assert_eq!(error.code, code, "{path}: {error}");
        assert!(error.message.contains(message), "{path}: {}", error.message);
        assert!(error.user_action.unwrap().contains(action), "{path}");
    }
    let locked = place.root().join("locked");
    std::fs::set_permissions(&locked, PermissionsExt::from_mode(0o000)).unwrap();
    // The superuser reads everything.
    if std::fs::read(&locked).is_err() {
        assert_eq!(failure(&workspace, "locked", &overlay).code, ErrorCode::FileIo);
    }
}

/// X04: a large file gives a bounded excerpt, with the truth about the rest.
#[test]
fn a_large_file_gives_a_bounded_excerpt() {
    let place = Place::new();
    let line = "0123456789 abcdefghij 0123456789 abcdefghij\n";
    let mut content = line.repeat(20 * 1024 * 1024 / line.len());
    let total = content.lines().count() as u64 + 1;
    // The only byte that is not ASCII is the last one.
    content.push('é');
    let latin: Vec<u8> = content.bytes().filter(|byte| *byte != 0xC3).collect();
    place.file("large.log", &latin);
    let workspace = place.open();
    let path = workspace.resolve("large.log").unwrap();
    let none = Overlay::default();
    let view = read_text(&path, &none, LineRange::ALL, ReadLimits::default()).unwrap();
    assert!(view.text.len() <= 48 * 1024);
    assert_eq!(view.truncated, Some(Truncation::Bytes));
    assert_eq!((view.first_line, view.total_lines), (1, total));
    assert_eq!(view.last_line, view.text.lines().count() as u64);
    assert_eq!(
        (view.encoding, view.final_newline),
        (Encoding::Windows1252, false)
    );
    assert_eq!(view.content_hash, read::content_hash(&latin));
    assert!(
        view.description()
            .contains(&format!("more from line {}", view.last_line + 1))
    );

    let range = |first, last| read_text(&path, &none, LineRange { first, last }, ReadLimits::default());
    let end = range(total - 1, None).unwrap();
    assert_eq!(
        (end.first_line, end.last_line, end.truncated),
        (total - 1, total, None)
    );
    assert!(end.text.ends_with("\n©"), "{}", end.text);
    for (first, last) in [(total + 1, None), (0, None), (5, Some(4))] {
        let error = RuntimeError::from(range(first, last).unwrap_err());
        assert_eq!(error.code, ErrorCode::ToolArguments, "{first}");
    }

    place.file("one-line.js", "x".repeat(200_000) + "\nlast");
    let path = workspace.resolve("one-line.js").unwrap();
    let view = read_text(&path, &none, LineRange::ALL, ReadLimits::default()).unwrap();
    let (first, last) = view.text.split_once('\n').unwrap();
    assert_eq!(
        first.strip_prefix(&"x".repeat(2_000)),
        Some("… [198000 more characters in this line]")
    );
    assert_eq!((last, view.cut_lines), ("last", 1));

    let file = std::fs::File::create(place.root().join("sparse.txt")).unwrap();
    file.set_len(3 * 1024 * 1024 * 1024).unwrap();
    let error = failure(&workspace, "sparse.txt", &none);
    assert_eq!(error.code, ErrorCode::FileTooLarge);
    assert!(error.message.contains("3.0 GB"), "{}", error.message);
}

#[test]
fn reads_see_the_draft() {
    let place = Place::new();
    place
        .file("file.txt", "disk\n")
        .file("tool.sh", "x")
        .link("link", "file.txt");
    std::fs::set_permissions(place.root().join("tool.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    let workspace = place.open();
    let overlay = draft(&[("file.txt", Some("draft\n")), ("new/file.txt", Some("new"))]);
    let bytes = |path: &str, overlay: &Overlay, max| {
        let path = workspace.resolve(path).unwrap();
        read_bytes(&path, overlay, max).map(|file| (file.bytes.to_vec(), file.mode))
    };
    for path in ["file.txt", "link"] {
        assert_eq!(view(&workspace, path, &overlay).unwrap().text, "draft", "{path}");
        assert_eq!(
            bytes(path, &overlay, 100).unwrap(),
            (b"draft\n".to_vec(), 0o644),
            "{path}"
        );
        assert_eq!(
            bytes(path, &Overlay::default(), 100).unwrap().0,
            b"disk\n",
            "{path}"
        );
    }
    assert_eq!(view(&workspace, "new/file.txt", &overlay).unwrap().text, "new");
    assert!(
        view(&workspace, "file.txt", &overlay)
            .unwrap()
            .description()
            .contains("pending changes")
    );
    assert_eq!(bytes("tool.sh", &overlay, 1).unwrap(), (b"x".to_vec(), 0o755));
    for overlay in [&overlay, &Overlay::default()] {
        assert!(matches!(
            bytes("file.txt", overlay, 4),
            Err(ReadError::TooLarge { max: 4, .. })
        ));
    }
}
