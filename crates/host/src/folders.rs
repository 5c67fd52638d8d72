//! Names of folders, for a folder picker inside the window. Never names of files, and no content.

use std::path::{Path, PathBuf};

use protocol::{ErrorCode, RuntimeError, host::HostFoldersResult};

const MOST: usize = 2_000;

/// The folders in `path`; of the home folder when it is empty. Blocks.
pub(crate) fn list(path: &str) -> Result<HostFoldersResult, RuntimeError> {
    let path = match path {
        "" => home().unwrap_or_else(|| "/".into()),
        path => PathBuf::from(path),
    };
    if !path.is_absolute() {
        return Err(RuntimeError::new(
            ErrorCode::RequestInvalid,
            "The path of a folder starts with /.",
        ));
    }
    let entries = std::fs::read_dir(&path).map_err(|error| unreadable(&path, &error))?;
    let mut folders: Vec<String> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            // Through links, as the user sees it.
            (!name.starts_with('.') && entry.path().is_dir()).then_some(name)
        })
        .take(MOST)
        .collect();
    folders.sort_by_key(|name| name.to_lowercase());
    Ok(HostFoldersResult {
        parent: path.parent().map(|parent| parent.to_string_lossy().into_owned()),
        path: path.to_string_lossy().into_owned(),
        folders,
    })
}

/// The user's home folder as it really is.
pub(crate) fn home() -> Option<PathBuf> {
    std::fs::canonicalize(std::env::home_dir()?).ok()
}

/// Why a folder cannot be opened as a workspace or looked into.
pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> RuntimeError {
    let shown = path.display();
    let (code, message) = match error.kind() {
        std::io::ErrorKind::NotFound => (
            ErrorCode::WorkspaceNotFound,
            format!("There is no folder {shown}."),
        ),
        std::io::ErrorKind::NotADirectory => (
            ErrorCode::WorkspaceNotADirectory,
            format!("{shown} is not a folder."),
        ),
        _ => (
            ErrorCode::WorkspaceUnreadable,
            format!("The folder {shown} cannot be read."),
        ),
    };
    RuntimeError::new(code, message)
        .because(error)
        .action("Choose a folder that you can read.")
}
