//! The read side of a workspace: which paths belong to it, what their files say, and how to find things in them.
//!
//! Owns scoped paths, decoding, listing, walking, searching and our own read-only git calls. Every read sees the
//! disk with an [`Overlay`] laid over it, so that an agent reads its own draft. It writes no user file (that is
//! `changeset`), keeps nothing between calls, and knows nothing of sessions, models or tools.
//!
//! All functions block; callers on an async runtime use a blocking thread.

mod beneath;
pub mod files;
pub mod git;
mod ignored;
pub mod list;
mod overlay;
pub mod read;
mod rules;
mod scope;
pub mod search;
pub mod text;
pub mod walk;
pub mod watch;

pub use ignored::{IgnoreRules, Ignored};
pub use overlay::{Overlay, OverlayEntry};
pub use read::{FileBytes, LineRange, ReadError, ReadLimits, TextView, Truncation, read_bytes, read_text};
pub use rules::SkipReason;
pub use scope::{Breadth, OpenError, PathError, Workspace, WorkspacePath};

/// Asked often during long work; `true` ends the work early. An engine passes its cancellation token here.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// For work that nobody cancels.
pub fn never() -> bool {
    false
}

/// A path as people and models read it: `/` between parts, bytes that are not UTF-8 shown as U+FFFD.
pub fn display_path(path: &std::path::Path) -> String {
    if path.as_os_str().is_empty() {
        return ".".to_owned();
    }
    let shown = path.to_string_lossy().into_owned();
    if std::path::MAIN_SEPARATOR == '/' {
        shown
    } else {
        shown.replace(std::path::MAIN_SEPARATOR, "/")
    }
}

/// Whether a file of that name usually holds keys or passwords: it is not looked into without being asked for.
pub fn may_hold_credentials(path: &std::path::Path) -> bool {
    path.file_name()
        .is_some_and(|name| process::policy::names_credentials(&name.to_string_lossy()))
}

/// A name for a list of one name a line: one with a line break, a tab or another control character is quoted as in
/// JSON, so that it cannot be read as two entries and can be given back as it is shown.
pub fn on_one_line(name: &str) -> std::borrow::Cow<'_, str> {
    if !name.contains(char::is_control) {
        return name.into();
    }
    let mut quoted = String::from("\"");
    for character in name.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            control if control.is_control() => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(control)));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted.into()
}

/// A size for people: "512 bytes", "20.0 MB".
pub(crate) fn size_in_words(bytes: u64) -> String {
    const KILO: f64 = 1024.0;
    let size = bytes as f64;
    match bytes {
        1 => "1 byte".to_owned(),
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KB", size / KILO),
        1_048_576..1_073_741_824 => format!("{:.1} MB", size / (KILO * KILO)),
        _ => format!("{:.1} GB", size / (KILO * KILO * KILO)),
    }
}
