//! Contents that are recognised by their first bytes, and names that promise such a content.

struct Kind {
    name: &'static str,
    /// Bytes at an offset; all must match.
    magic: &'static [(usize, &'static [u8])],
    extensions: &'static [&'static str],
}

const fn kind(
    name: &'static str,
    magic: &'static [(usize, &'static [u8])],
    extensions: &'static [&'static str],
) -> Kind {
    Kind {
        name,
        magic,
        extensions,
    }
}

/// Only signatures that no text starts with.
const KINDS: &[Kind] = &[
    kind("a PNG image", &[(0, b"\x89PNG\r\n\x1a\n")], &["png"]),
    kind("a JPEG image", &[(0, b"\xFF\xD8\xFF")], &["jpg", "jpeg"]),
    kind("a GIF image", &[(0, b"GIF87a")], &["gif"]),
    kind("a GIF image", &[(0, b"GIF89a")], &["gif"]),
    kind("a WebP image", &[(0, b"RIFF"), (8, b"WEBP")], &["webp"]),
    kind("an icon image", &[(0, b"\0\0\x01\0")], &["ico"]),
    kind("a TIFF image", &[(0, b"II*\0")], &["tif", "tiff"]),
    kind("a TIFF image", &[(0, b"MM\0*")], &["tif", "tiff"]),
    kind("an image", &[(4, b"ftypavif")], &["avif"]),
    kind("an image", &[(4, b"ftypheic")], &["heic"]),
    kind("a video", &[(4, b"ftyp")], &["mp4", "mov", "m4a"]),
    kind("a video", &[(0, b"\x1A\x45\xDF\xA3")], &["mkv", "webm"]),
    kind("a sound file", &[(0, b"RIFF"), (8, b"WAVE")], &["wav"]),
    kind("a sound file", &[(0, b"OggS")], &["ogg"]),
    kind("a sound file", &[(0, b"fLaC")], &["flac"]),
    kind("a PDF document", &[(0, b"%PDF-")], &["pdf"]),
    kind(
        "a ZIP archive",
        &[(0, b"PK\x03\x04")],
        &["zip", "jar", "docx", "xlsx", "pptx", "whl"],
    ),
    kind("a ZIP archive", &[(0, b"PK\x05\x06")], &["zip"]),
    kind("a gzip archive", &[(0, b"\x1F\x8B")], &["gz", "tgz"]),
    kind("a bzip2 archive", &[(0, b"BZh"), (4, b"1AY&SY")], &["bz2"]),
    kind("an xz archive", &[(0, b"\xFD7zXZ\0")], &["xz"]),
    kind("a zstd archive", &[(0, b"\x28\xB5\x2F\xFD")], &["zst"]),
    kind("a 7z archive", &[(0, b"7z\xBC\xAF\x27\x1C")], &["7z"]),
    kind("a RAR archive", &[(0, b"Rar!\x1a\x07")], &["rar"]),
    kind("a tar archive", &[(257, b"ustar")], &["tar"]),
    kind("an ELF program", &[(0, b"\x7fELF")], &["so"]),
    kind("a Mach-O program", &[(0, b"\xCF\xFA\xED\xFE")], &["dylib"]),
    kind(
        "a Java class or Mach-O program",
        &[(0, b"\xCA\xFE\xBA\xBE")],
        &["class"],
    ),
    kind("a Windows program", &[(0, b"MZ"), (3, b"\0")], &["exe", "dll"]),
    kind("a WebAssembly module", &[(0, b"\0asm")], &["wasm"]),
    kind(
        "a SQLite database",
        &[(0, b"SQLite format 3\0")],
        &["sqlite", "sqlite3"],
    ),
    kind("a font", &[(0, b"wOFF")], &["woff"]),
    kind("a font", &[(0, b"wOF2")], &["woff2"]),
    kind("a font", &[(0, b"\0\x01\0\0")], &["ttf"]),
    kind("a font", &[(0, b"OTTO\0")], &["otf"]),
    kind("a git object pack", &[(0, b"PACK\0\0\0")], &["pack"]),
];

/// What a content that starts with `head` is, if its signature is known: "a PNG image".
pub fn binary_kind(head: &[u8]) -> Option<&'static str> {
    KINDS
        .iter()
        .find(|kind| {
            kind.magic
                .iter()
                .all(|(at, bytes)| head.get(*at..).is_some_and(|rest| rest.starts_with(bytes)))
        })
        .map(|kind| kind.name)
}

/// What a file of this extension should have been, for saying that an empty one is not.
pub(crate) fn kind_by_extension(extension: &str) -> Option<&'static str> {
    KINDS
        .iter()
        .find(|kind| {
            kind.extensions
                .iter()
                .any(|known| known.eq_ignore_ascii_case(extension))
        })
        .map(|kind| kind.name)
}
