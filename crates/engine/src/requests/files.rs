//! Files as the user sees and edits them: on disk, without any draft of an assistant.

use changeset::Expected;
use protocol::{
    ErrorCode, RuntimeError,
    request::{
        EntryKind, FileOperation, FileView, FilesChangeParams, FilesChangeResult, FilesFindParams,
        FilesFindResult, FilesListParams, FilesListResult, FilesReadParams, FilesReadResult, FilesSaveParams,
        FilesSaveResult, FilesSearchParams, FilesSearchResult, FilesUndoParams, FoundPath, SearchHitLine,
    },
};
use workspace::{
    Overlay, WorkspacePath,
    list::{self, LinkTarget},
    never,
    read::{self, FileContent},
    search::{self, Case, ContentQuery, Syntax},
    text::{self, Encoding, LineEndings},
};

use crate::{Engine, rooms::Rooms};

const DEFAULT_ENTRIES: u32 = 2_000;
const MAX_ENTRIES: u32 = 50_000;
const DEFAULT_FOUND: u32 = 50;
const MAX_FOUND: u32 = 500;

pub fn list(engine: &Engine, params: &FilesListParams) -> Result<FilesListResult, RuntimeError> {
    let rooms = engine.rooms();
    let folder = place(rooms, &params.path)?;
    let max = params.max.unwrap_or(DEFAULT_ENTRIES).min(MAX_ENTRIES) as usize;
    let listing = list::list(&rooms.workspace, &folder, &Overlay::default(), max)?;
    let mut result = FilesListResult {
        path: folder.display(),
        names: Vec::with_capacity(listing.entries.len()),
        kinds: Vec::with_capacity(listing.entries.len()),
        ignored: Vec::with_capacity(listing.entries.len()),
        omitted: listing.omitted as u64,
    };
    for entry in listing.entries {
        result.names.push(entry.name.to_string_lossy().into_owned());
        result.kinds.push(match entry.kind {
            list::EntryKind::Directory => EntryKind::Folder,
            list::EntryKind::File => EntryKind::File,
            list::EntryKind::Link {
                leads_to: LinkTarget::File | LinkTarget::Directory | LinkTarget::Outside | LinkTarget::Missing,
                ..
            } => EntryKind::Link,
            list::EntryKind::Special => EntryKind::Special,
        });
        result.ignored.push(entry.ignored.is_some());
    }
    Ok(result)
}

pub fn read(engine: &Engine, params: &FilesReadParams) -> Result<FilesReadResult, RuntimeError> {
    let path = engine.rooms().workspace.resolve(&params.path)?;
    let file = read::whole_or_ends(&path)?;
    let view = match file.content {
        FileContent::Text {
            text,
            encoding,
            endings,
        } => FileView::Text {
            text,
            encoding: encoding_name(encoding).to_owned(),
            endings: match endings {
                LineEndings::Lf => "lf",
                LineEndings::Crlf => "crlf",
                LineEndings::Mixed => "mixed",
                LineEndings::None => "none",
            }
            .to_owned(),
        },
        FileContent::Ends {
            head,
            tail,
            omitted_bytes,
        } => FileView::Large {
            head,
            tail,
            omitted_bytes,
        },
        FileContent::Binary { what } => FileView::Binary { what },
    };
    Ok(FilesReadResult {
        path: path.display(),
        view,
        content_hash: file.version,
        size: file.size,
        mode: file.mode,
        read_only: path.is_protected() || file.mode & 0o222 == 0,
    })
}

pub fn save(engine: &Engine, params: &FilesSaveParams) -> Result<FilesSaveResult, RuntimeError> {
    let rooms = engine.rooms();
    let path = rooms.workspace.resolve(&params.path)?;
    let bytes = encoded(&params.text, &params.encoding)?;
    let expected = match &params.expected {
        Some(hash) => Expected::Content(hash.clone()),
        None => Expected::Absent,
    };
    let saved = rooms.changes.save(&path, &bytes, &expected).map_err(|error| {
        let error = RuntimeError::from(error);
        if error.code != ErrorCode::EditStale {
            return error;
        }
        // What is there now, so that the screen can offer to compare or overwrite exactly that.
        match workspace::read_bytes(&path, &Overlay::default(), changeset::MAX_FILE_BYTES) {
            Ok(found) => error.because(changeset::hash(&found.bytes)),
            Err(_) => error,
        }
    })?;
    engine.files_changed();
    Ok(FilesSaveResult { content_hash: saved })
}

pub fn change(engine: &Engine, params: &FilesChangeParams) -> Result<FilesChangeResult, RuntimeError> {
    let rooms = engine.rooms();
    let entry = |path: &str| rooms.workspace.resolve_entry(path);
    let changes = &rooms.changes;
    let done = match &params.operation {
        FileOperation::CreateFile { path } => changes.create_file(&entry(path)?)?,
        FileOperation::CreateFolder { path } => changes.create_folder(&entry(path)?)?,
        FileOperation::Rename { from, to } => changes.rename_entry(&entry(from)?, &entry(to)?)?,
        FileOperation::Delete { paths } => {
            let paths = paths
                .iter()
                .map(|path| entry(path))
                .collect::<Result<Vec<_>, _>>()?;
            changes.delete_entries(&paths)?
        }
    };
    Ok(changed(engine, done))
}

pub fn undo(engine: &Engine, params: &FilesUndoParams) -> Result<FilesChangeResult, RuntimeError> {
    let done = engine.rooms().changes.undo_step(&params.undo)?;
    Ok(changed(engine, done))
}

fn changed(engine: &Engine, done: changeset::UserStep) -> FilesChangeResult {
    engine.files_changed();
    FilesChangeResult {
        undo: done.undo,
        paths: done.paths,
        notes: done.notes,
    }
}

pub fn find(engine: &Engine, params: &FilesFindParams) -> Result<FilesFindResult, RuntimeError> {
    let max = params.max.unwrap_or(DEFAULT_FOUND).min(MAX_FOUND) as usize;
    let found = engine
        .paths()
        .current(&engine.rooms().workspace)?
        .find(&params.query, max)
        .into_iter()
        .map(|hit| FoundPath {
            path: workspace::display_path(&hit.path),
            positions: hit.positions,
        })
        .collect();
    Ok(FilesFindResult { found })
}

pub fn search(engine: &Engine, params: &FilesSearchParams) -> Result<FilesSearchResult, RuntimeError> {
    let query = ContentQuery {
        pattern: params.pattern.clone(),
        syntax: if params.literal {
            Syntax::Literal
        } else {
            Syntax::Regex
        },
        case: if params.ignore_case {
            Case::Insensitive
        } else {
            Case::Sensitive
        },
        globs: params.globs.clone(),
        limits: search::SearchLimits {
            max_hits: 2_000,
            max_hits_per_file: 200,
            ..search::SearchLimits::default()
        },
        ..ContentQuery::default()
    };
    let matches = search::content(&engine.rooms().workspace, &Overlay::default(), &query, &never)?;
    let notes = matches.notes();
    let hits = matches
        .hits
        .into_iter()
        .map(|hit| SearchHitLine {
            path: workspace::display_path(&hit.path),
            line: hit.line,
            column: hit.column,
            text: hit.text,
        })
        .collect();
    Ok(FilesSearchResult { hits, notes })
}

/// A folder or file as named on the wire, where the empty path is the root.
fn place(rooms: &Rooms, path: &str) -> Result<WorkspacePath, RuntimeError> {
    match path {
        "" => Ok(rooms.workspace.top()),
        path => Ok(rooms.workspace.resolve(path)?),
    }
}

const ENCODINGS: [(Encoding, &str); 5] = [
    (Encoding::Utf8, "utf-8"),
    (Encoding::Utf8Bom, "utf-8-bom"),
    (Encoding::Utf16Le, "utf-16le"),
    (Encoding::Utf16Be, "utf-16be"),
    (Encoding::Windows1252, "windows-1252"),
];

fn encoding_name(encoding: Encoding) -> &'static str {
    ENCODINGS
        .iter()
        .find(|(known, _)| *known == encoding)
        .map_or("utf-8", |(_, name)| name)
}

fn encoded(text: &str, encoding: &str) -> Result<Vec<u8>, RuntimeError> {
    let Some((encoding, _)) = ENCODINGS.iter().find(|(_, name)| *name == encoding) else {
        let names: Vec<&str> = ENCODINGS.iter().map(|(_, name)| *name).collect();
        return Err(RuntimeError::new(
            ErrorCode::RequestInvalid,
            format!("“{encoding}” is not an encoding files are saved in."),
        )
        .action(format!("Use one of {}.", names.join(", "))));
    };
    let Some(body) = text::encode(text, *encoding) else {
        let lost = text
            .chars()
            .find(|character| text::encode(&character.to_string(), *encoding).is_none())
            .unwrap_or(char::REPLACEMENT_CHARACTER);
        return Err(RuntimeError::new(
            ErrorCode::FileEncoding,
            format!("Not saved: “{lost}” does not exist in {}.", encoding.name()),
        )
        .action("Remove the character, or save the file as UTF-8."));
    };
    Ok([encoding.mark(), &body].concat())
}
