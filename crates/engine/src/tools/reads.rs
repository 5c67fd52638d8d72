//! The reading tools: what they read is base and draft together, and every answer is bounded and says what it left
//! out.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use index::PathIndex;
use protocol::RuntimeError;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use workspace::{
    LineRange, Overlay, ReadLimits, display_path, files, git,
    list::{self, DraftMark, Listing},
    on_one_line,
    search::{self, Case, ContentQuery, Syntax},
    walk::WalkOptions,
};

use super::{
    catalogue::{GitDiff, ListDirectory, ReadFile, SearchContent, SearchFiles, ToolArguments},
    outcome::{Outcome, ToolOutcome},
    router::AuthorizedToolCall,
};
use crate::{rooms::Rooms, secrets::SecretPaths, session::Session, turn::Turn};

const MAX_LISTED: usize = 400;
const MAX_FOUND_FILES: usize = 100;
/// Bytes of all hits together that the model is given.
const MAX_HIT_BYTES: usize = 32 * 1024;
const MAX_DIFF_BYTES: usize = 48 * 1024;
const MAX_STATUS_LINES: usize = 200;

/// Runs on a blocking thread. Cancelling abandons the wait at once; a read has no effect that could come late.
pub async fn run(turn: &Turn, call: AuthorizedToolCall) -> ToolOutcome {
    let reader = Reader {
        rooms: turn.rooms.clone(),
        session: turn.session.clone(),
        cancel: turn.cancel.clone(),
    };
    let work = tokio::task::spawn_blocking(move || reader.read(call.arguments));
    tokio::select! {
        done = work => done.map_err(RuntimeError::internal)?,
        () = turn.cancel.cancelled() => Err(RuntimeError::cancelled()),
    }
}

struct Reader {
    rooms: Arc<Rooms>,
    session: Arc<Session>,
    cancel: CancellationToken,
}

impl Reader {
    fn read(&self, arguments: ToolArguments) -> ToolOutcome {
        match arguments {
            ToolArguments::ReadFile(arguments) => self.file(arguments),
            ToolArguments::ListDirectory(arguments) => self.directory(arguments),
            ToolArguments::SearchFiles(arguments) => self.find_files(arguments),
            ToolArguments::SearchContent(arguments) => self.find_content(arguments),
            ToolArguments::GitStatus(_) => self.status(),
            ToolArguments::GitDiff(arguments) => self.diff(arguments),
            ToolArguments::CreateFile(_)
            | ToolArguments::EditFile(_)
            | ToolArguments::MultiEdit(_)
            | ToolArguments::ReplaceFile(_)
            | ToolArguments::ApplyPatch(_)
            | ToolArguments::DeleteFile(_)
            | ToolArguments::RenameFile(_)
            | ToolArguments::RunCommand(_)
            | ToolArguments::CheckCommand(_)
            | ToolArguments::RunChecks(_) => Err(RuntimeError::internal(
                "a call that is no read reached the reader",
            )),
        }
    }

    fn overlay(&self) -> Result<Overlay, RuntimeError> {
        self.rooms.changes.overlay(&self.session.id)
    }

    fn file(&self, arguments: ReadFile) -> ToolOutcome {
        let path = self.rooms.workspace.resolve(&arguments.path)?;
        SecretPaths::of(&self.rooms)?.check(&path)?;
        let range = LineRange {
            first: arguments.start_line.map_or(1, u64::from),
            last: arguments.end_line.map(u64::from),
        };
        let view = workspace::read_text(&path, &self.overlay()?, range, ReadLimits::default())?;
        let shown = path.display();
        self.session.saw(&shown, view.content_hash.clone());
        let (first, last) = (view.first_line, view.last_line);
        if self
            .session
            .stands_already(&shown, &view.content_hash, first, last)
        {
            let content = format!(
                "{}: unchanged since you read it in this conversation; lines {first}–{last} stand in the result \
                 above. Read it once more if you need it again.",
                on_one_line(&shown)
            );
            return Ok(Outcome::new(content, "unchanged, not sent again"));
        }
        let content = format!(
            "{}: {}\n{}",
            on_one_line(&shown),
            view.description(),
            view.numbered()
        );
        let lines = match (view.first_line, view.last_line) {
            (first, last) if last < first => "empty".to_owned(),
            (1, last) if last == view.total_lines => format!("{last} lines"),
            (first, last) => format!("lines {first}–{last} of {}", view.total_lines),
        };
        Ok(Outcome::new(content, lines).with_data(json!({
            "path": shown,
            "firstLine": view.first_line,
            "lastLine": view.last_line,
            "totalLines": view.total_lines,
            "contentHash": view.content_hash,
        })))
    }

    fn directory(&self, arguments: ListDirectory) -> ToolOutcome {
        let path = self
            .rooms
            .workspace
            .resolve(arguments.path.as_deref().unwrap_or("."))?;
        let listing = list::list(&self.rooms.workspace, &path, &self.overlay()?, MAX_LISTED)?;
        let summary = format!("{} entries", listing.entries.len() + listing.omitted);
        Ok(Outcome::new(
            format!("{}\n{}", on_one_line(&path.display()), listing_text(&listing)),
            summary,
        ))
    }

    fn find_files(&self, arguments: SearchFiles) -> ToolOutcome {
        let (workspace, overlay, stop) = (&self.rooms.workspace, self.overlay()?, || {
            self.cancel.is_cancelled()
        });
        let options = WalkOptions::default();
        let is_glob = arguments.query.contains(['*', '?', '[', '{']);
        let (paths, omitted, skipped) = if is_glob {
            let globs = [arguments.query.clone()];
            let found = files::matching(workspace, &overlay, &globs, &options, MAX_FOUND_FILES, &stop)?;
            (found.paths, found.omitted, found.skipped)
        } else {
            let all = files::all(workspace, &overlay, &options, &stop)?;
            let skipped = all.skipped.clone();
            // One more than is shown, to know whether there are more.
            let mut paths: Vec<PathBuf> = PathIndex::build(all)
                .find(&arguments.query, MAX_FOUND_FILES + 1)
                .into_iter()
                .map(|hit| hit.path)
                .collect();
            let omitted = paths.len().saturating_sub(MAX_FOUND_FILES);
            paths.truncate(MAX_FOUND_FILES);
            (paths, omitted, skipped)
        };
        let summary = counted(paths.len() + omitted, "file");
        let mut content: String = paths.iter().map(|path| line_of(path) + "\n").collect();
        if paths.is_empty() {
            content.push_str("No file matches.\n");
        }
        if omitted > 0 {
            content.push_str("More are not shown; ask for something more exact.\n");
        }
        if !skipped.is_empty() {
            content.push_str(&format!("Not looked at: {}.\n", skipped.in_words().join("; ")));
        }
        Ok(Outcome::new(content, summary))
    }

    fn find_content(&self, arguments: SearchContent) -> ToolOutcome {
        let paths = match &arguments.path {
            Some(path) => vec![self.rooms.workspace.resolve(path)?],
            None => Vec::new(),
        };
        let secrets = SecretPaths::of(&self.rooms)?;
        paths.iter().try_for_each(|path| secrets.check(path))?;
        let query = ContentQuery {
            pattern: arguments.pattern,
            syntax: if arguments.literal {
                Syntax::Literal
            } else {
                Syntax::Regex
            },
            case: if arguments.ignore_case {
                Case::Insensitive
            } else {
                Case::Sensitive
            },
            paths,
            globs: arguments.glob.into_iter().collect(),
            ..ContentQuery::default()
        };
        let stop = || self.cancel.is_cancelled();
        let mut found = search::content(&self.rooms.workspace, &self.overlay()?, &query, &stop)?;
        found.hits.retain(|hit| !secrets.holds(&hit.path));
        let mut content = String::new();
        let mut shown = 0;
        for hit in &found.hits {
            let line = format!("{}:{}: {}\n", line_of(&hit.path), hit.line, hit.text);
            if content.len() + line.len() > MAX_HIT_BYTES {
                break;
            }
            content.push_str(&line);
            shown += 1;
        }
        found.hits_left_out += (found.hits.len() - shown) as u64;
        let summary = format!(
            "{} in {}",
            counted(shown + found.hits_left_out as usize, "match"),
            counted(found.files_with_hits as usize, "file")
        );
        if shown == 0 {
            content.push_str("No match.\n");
        }
        content.push_str(&found.notes().join("\n"));
        Ok(Outcome::new(content, summary))
    }

    fn status(&self) -> ToolOutcome {
        let status = git::status(&self.rooms.workspace)?;
        let mut lines: Vec<String> = status.entries.iter().map(status_line).collect();
        let summary = counted(lines.len(), "changed file");
        let more = lines.len().saturating_sub(MAX_STATUS_LINES);
        lines.truncate(MAX_STATUS_LINES);
        if more > 0 {
            lines.push(format!("… and {more} more"));
        }
        if lines.is_empty() {
            lines.push("Nothing is changed.".to_owned());
        }
        let branch = status
            .branch
            .map_or_else(|| "no branch".to_owned(), |branch| format!("branch {branch}"));
        Ok(Outcome::new(format!("{branch}\n{}\n", lines.join("\n")), summary))
    }

    fn diff(&self, arguments: GitDiff) -> ToolOutcome {
        let paths = match &arguments.path {
            Some(path) => vec![self.rooms.workspace.resolve(path)?],
            None => Vec::new(),
        };
        let secrets = SecretPaths::of(&self.rooms)?;
        paths.iter().try_for_each(|path| secrets.check(path))?;
        let scope = if arguments.staged {
            git::DiffScope::Staged
        } else {
            git::DiffScope::All
        };
        let diff = git::diff(&self.rooms.workspace, scope, &paths, MAX_DIFF_BYTES)?;
        let (mut content, left_out) = secrets.without(&diff.text);
        if left_out {
            content.push_str("\nFiles on the user's list of secret files are left out.\n");
        }
        if diff.truncated {
            content.push_str("\nThe diff is longer than this; name a path to see less at a time.\n");
        }
        if content.is_empty() {
            content.push_str("No difference.\n");
        }
        let summary = counted(content.lines().count(), "line");
        Ok(Outcome::new(content, summary))
    }
}

fn status_line(entry: &git::StatusEntry) -> String {
    let from = entry
        .old_path
        .as_ref()
        .map_or_else(String::new, |old| format!("{} → ", line_of(old)));
    format!("{from}{}: {}", line_of(&entry.path), entry.in_words())
}

fn line_of(path: &Path) -> String {
    on_one_line(&display_path(path)).into_owned()
}

fn counted(count: usize, noun: &str) -> String {
    let ending = match (count, noun.ends_with("ch")) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {noun}{ending}")
}

/// One entry a line, folders marked with `/`, ignored and drafted ones said to be so.
pub fn listing_text(listing: &Listing) -> String {
    let mut text = String::new();
    for entry in &listing.entries {
        text.push_str(&entry.label());
        if entry.ignored.is_some() {
            text.push_str("  (ignored)");
        }
        match entry.draft {
            Some(DraftMark::Created) => text.push_str("  (new in your draft)"),
            Some(DraftMark::Changed) => text.push_str("  (changed in your draft)"),
            None => {}
        }
        text.push('\n');
    }
    for name in &listing.deleted_in_draft {
        text.push_str(&format!("{}  (deleted in your draft)\n", on_one_line(name)));
    }
    if listing.omitted > 0 {
        text.push_str(&format!("… and {} more\n", listing.omitted));
    }
    if text.is_empty() {
        text.push_str("(empty)\n");
    }
    text
}
