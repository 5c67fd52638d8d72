//! Which folders hold tracked files, read from git's index. A folder called `build` is output by custom, but source
//! when it is tracked.

use std::{
    collections::HashSet,
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

/// Larger than the index of any repository a person works in.
const MAX_INDEX_BYTES: u64 = 512 * 1024 * 1024;

/// The folders of `repository` below `inside` that have one of the `names` and hold tracked files, relative to
/// `inside`. Empty where the index cannot be read.
pub(super) fn tracked_folders(repository: &Path, inside: &Path, names: &[&str]) -> HashSet<PathBuf> {
    let path = repository.join(".git/index");
    let readable = std::fs::symlink_metadata(&path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_INDEX_BYTES);
    let bytes = match readable {
        true => std::fs::read(&path).unwrap_or_default(),
        false => Vec::new(),
    };
    let mut folders = HashSet::new();
    let mut add = |name: &[u8]| {
        let Ok(relative) = Path::new(OsStr::from_bytes(name)).strip_prefix(inside) else {
            return;
        };
        let above = relative.ancestors().skip(1);
        for folder in above.filter(|folder| {
            let last = folder.file_name().and_then(OsStr::to_str);
            last.is_some_and(|last| names.contains(&last))
        }) {
            if !folders.contains(folder) {
                folders.insert(folder.to_path_buf());
            }
        }
    };
    // The length of an object's name tells SHA-1 repositories from SHA-256 ones; the wrong one makes no sense.
    for hash_bytes in [20, 32] {
        if let Some(entries) = entries(&bytes, hash_bytes) {
            entries.iter().for_each(|name| add(name));
            break;
        }
    }
    folders
}

/// The paths in an index of version 2, 3 or 4 (see gitformat-index), or `None` when it is not one.
fn entries(bytes: &[u8], hash_bytes: usize) -> Option<Vec<Vec<u8>>> {
    let body = bytes.strip_prefix(b"DIRC")?;
    let version = u32::from_be_bytes(*body.first_chunk()?);
    let count = u32::from_be_bytes(*body.get(4..)?.first_chunk()?);
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut at = 12;
    for _ in 0..count {
        let start = at;
        at += 40 + hash_bytes;
        let flags = u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?);
        let is_extended = version >= 3 && flags & 0x4000 != 0;
        at += if is_extended { 4 } else { 2 };
        let mut name = Vec::new();
        if version == 4 {
            let (dropped, length) = offset_number(bytes.get(at..)?)?;
            at += length;
            let previous = names.last().map_or(&[][..], Vec::as_slice);
            name.extend_from_slice(previous.get(..previous.len().checked_sub(dropped)?)?);
        }
        let rest = bytes.get(at..)?;
        let end = memchr::memchr(0, rest)?;
        name.extend_from_slice(&rest[..end]);
        // Entries are sorted; nothing else that happens to parse would be.
        if name.is_empty() || names.last().is_some_and(|previous| *previous > name) {
            return None;
        }
        at += end + 1;
        if version < 4 {
            at = start + (at - start).next_multiple_of(8);
        }
        names.push(name);
    }
    Some(names)
}

/// A number as in pack offsets: seven bits a byte, the most significant first, each continued one counting one more.
fn offset_number(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0usize;
    for (at, byte) in bytes.iter().take(5).enumerate() {
        value = (value << 7) | usize::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
        value += 1;
    }
    None
}
