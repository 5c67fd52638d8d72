//! A change set as a person and the wire see it: files, hunks, counts and the unified diff.
//!
//! Reads contents through a function it is given; decides nothing.

use std::sync::Arc;

use protocol::{ChangeSet, ChangeSetFile, ContentHash, FileStatus};
use store::StoreError;
use workspace::text::{self, Encoding};

use crate::{
    diff::Diff,
    edit::Layout,
    lines::Width,
    record::{Counts, Effect, FileRecord, Located, SetRecord},
    unified::{self, Form, Side},
};

/// Larger contents are not shown as lines and are decided about as a whole.
const MAX_SHOWN_BYTES: usize = 8 * 1024 * 1024;

pub(crate) fn change_set(
    record: &SetRecord,
    mut content: impl FnMut(&ContentHash) -> Result<Arc<[u8]>, StoreError>,
) -> Result<ChangeSet, StoreError> {
    let mut files = Vec::with_capacity(record.files.len());
    for file in &record.files {
        files.push(shown_file(file, &mut content)?);
    }
    Ok(ChangeSet {
        id: record.id.clone(),
        session_id: record.session_id.clone(),
        title: if record.title.is_empty() {
            title(record)
        } else {
            record.title.clone()
        },
        reason: record.reason.clone(),
        created_at: record.created_at,
        updated_at: record.updated_at,
        status: record.status,
        files,
        snapshots: record.snapshots.clone(),
        source_tool_call_ids: record.source_tool_call_ids.clone(),
    })
}

/// "Edit src/app.rs", "Edit 3 files".
fn title(record: &SetRecord) -> String {
    use protocol::ChangeType;
    let mut files = record.files.iter();
    match (files.next(), files.count()) {
        (None, _) => "No changes".to_owned(),
        (Some(file), 0) => {
            let path = file.effect.path().map(|path| path.display()).unwrap_or_default();
            let verb = match file.effect.kind() {
                ChangeType::Create => "Create",
                ChangeType::Modify => "Edit",
                ChangeType::Delete => "Delete",
                ChangeType::Rename => "Rename",
            };
            format!("{verb} {path}")
        }
        (Some(_), more) => format!("Edit {} files", more + 1),
    }
}

fn shown_file(
    file: &FileRecord,
    content: &mut impl FnMut(&ContentHash) -> Result<Arc<[u8]>, StoreError>,
) -> Result<ChangeSetFile, StoreError> {
    let effect = &file.effect;
    let version = |at: &Option<Located>| at.as_ref().map(|at| at.version.clone());
    let (before, after) = (version(&effect.from), version(&effect.to));
    let mode = |version: &Option<crate::record::Version>| version.as_ref().map(|version| version.mode);
    let modes_matter = mode(&before) != mode(&after);
    let kind = effect.kind();
    let mut shown = ChangeSetFile {
        path: effect.path().map(|path| path.display()).unwrap_or_default(),
        change_type: kind,
        old_path: (kind == protocol::ChangeType::Rename)
            .then(|| effect.from.as_ref().map(|from| from.path.display()))
            .flatten(),
        status: file.status,
        before_mode: mode(&before).filter(|_| modes_matter),
        after_mode: mode(&after).filter(|_| modes_matter),
        before_content_hash: before.map(|version| version.hash),
        after_content_hash: after.map(|version| version.hash),
        added: file.decided.added,
        deleted: file.decided.deleted,
        binary: false,
        hunks: Vec::new(),
        conflict: file.conflict.clone(),
        by_command: file.by_command.clone(),
    };
    if file.is_open() {
        let (before, after) = ends(effect, content)?;
        if is_opaque(&before) || is_opaque(&after) {
            shown.binary = true;
            (shown.added, shown.deleted) = (0, 0);
        } else {
            let diff = Diff::of(&before, &after);
            (shown.added, shown.deleted) = diff.counts();
            let encoding = encoding(&after).or(encoding(&before)).unwrap_or(Encoding::Utf8);
            shown.hunks = diff.hunks(|line| text::decode(line, encoding));
        }
    }
    Ok(shown)
}

/// The contents before and after.
pub(crate) type Ends = (Arc<[u8]>, Arc<[u8]>);

/// Both contents; an end that is not there is empty.
pub(crate) fn ends(
    effect: &Effect,
    content: &mut impl FnMut(&ContentHash) -> Result<Arc<[u8]>, StoreError>,
) -> Result<Ends, StoreError> {
    let mut read = |at: &Option<Located>| match at {
        Some(at) => content(&at.version.hash),
        None => Ok(Arc::from(&[][..])),
    };
    Ok((read(&effect.from)?, read(&effect.to)?))
}

/// Added and deleted lines of a whole change; none for what is not shown as lines.
pub(crate) fn counts(before: &[u8], after: &[u8]) -> Counts {
    if is_opaque(before) || is_opaque(after) {
        return Counts::default();
    }
    let (added, deleted) = Diff::of(before, after).counts();
    Counts { added, deleted }
}

/// Whether a content is not shown as lines: binary, or too large to be read.
pub(crate) fn is_opaque(bytes: &[u8]) -> bool {
    is_large(bytes.len()) || Layout::of(bytes).is_err()
}

/// Whether a content of that many bytes is decided about as a whole, whatever it is.
pub(crate) fn is_large(size: usize) -> bool {
    size > MAX_SHOWN_BYTES
}

/// Bytes in place of a content that is not taken into memory: no text, and others for another content.
pub(crate) fn stand_in(hash: &ContentHash) -> Arc<[u8]> {
    [b"\0", hash.0.as_bytes()].concat().into()
}

pub(crate) fn encoding(bytes: &[u8]) -> Option<Encoding> {
    (!bytes.is_empty())
        .then(|| Layout::of(bytes).ok())
        .flatten()
        .map(|layout| layout.encoding)
}

pub(crate) fn patch_bytes(
    record: &SetRecord,
    mut content: impl FnMut(&ContentHash) -> Result<Arc<[u8]>, StoreError>,
) -> Result<Vec<u8>, StoreError> {
    let mut out = Vec::new();
    for file in pending(record) {
        let (before, after) = ends(&file.effect, &mut content)?;
        let wide = [&before, &after]
            .iter()
            .any(|bytes| Width::of(bytes) != Width::Byte);
        let form = if wide || is_opaque(&before) || is_opaque(&after) {
            Form::Opaque
        } else {
            Form::Lines
        };
        write(&mut out, &file.effect, &before, &after, form);
    }
    Ok(out)
}

pub(crate) fn diff_text(
    record: &SetRecord,
    mut content: impl FnMut(&ContentHash) -> Result<Arc<[u8]>, StoreError>,
) -> Result<String, StoreError> {
    let mut out = Vec::new();
    for file in pending(record) {
        let (before, after) = ends(&file.effect, &mut content)?;
        if is_opaque(&before) || is_opaque(&after) {
            write(&mut out, &file.effect, &before, &after, Form::Opaque);
            continue;
        }
        // Decoded first, so that the whole text is UTF-8 whatever the files are.
        let decoded =
            |bytes: &[u8]| encoding(bytes).map_or_else(String::new, |encoding| text::decode(bytes, encoding));
        let (before, after) = (decoded(&before), decoded(&after));
        write(
            &mut out,
            &file.effect,
            before.as_bytes(),
            after.as_bytes(),
            Form::Lines,
        );
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn pending(record: &SetRecord) -> impl Iterator<Item = &FileRecord> {
    record
        .files
        .iter()
        .filter(|file| file.status == FileStatus::Pending || file.status == FileStatus::Conflicted)
}

fn write(out: &mut Vec<u8>, effect: &Effect, before: &[u8], after: &[u8], form: Form) {
    fn side<'a>(at: &'a Option<Located>, bytes: &'a [u8]) -> Option<Side<'a>> {
        at.as_ref().map(|at| Side {
            path: &at.path.0,
            bytes,
            mode: at.version.mode,
        })
    }
    unified::write_file(out, side(&effect.from, before), side(&effect.to, after), form);
}
