//! Reads a segment, from memory or by position from its file.

use std::{
    ffi::OsStr,
    fs::File,
    os::unix::{ffi::OsStrExt, fs::FileExt},
    path::PathBuf,
    sync::Arc,
};

use super::{
    BLOCK_TERMS, COUNT_MASK, Coverage, FileEntry, HEADER_BYTES, IN_DEFINITION, IN_FILE_NAME, IN_FOLDER,
    MAGIC, SECTIONS, Stamp,
};
use crate::{
    chunks::Lines,
    codec::{Damaged, Reader},
    outline::{Definition, Import, Outline},
};

/// The first sections, which every reader keeps in memory.
pub(super) const READ_AT_ONCE: usize = 3;
const FILES: usize = 0;
const PIECES: usize = 1;
const HEADS: usize = 2;
const BLOCKS: usize = 3;
const POSTINGS: usize = 4;
const OUTLINES: usize = 5;

/// Where the bytes of a segment are.
#[derive(Debug)]
pub(crate) enum Source {
    Memory(Arc<[u8]>),
    File(File),
}

impl Source {
    fn read(&self, offset: u64, length: usize) -> Result<Vec<u8>, Damaged> {
        match self {
            Source::Memory(bytes) => {
                let from = usize::try_from(offset).map_err(|_| Damaged)?;
                let to = from.checked_add(length).ok_or(Damaged)?;
                Ok(bytes.get(from..to).ok_or(Damaged)?.to_vec())
            }
            Source::File(file) => {
                let size = file.metadata().map_err(|_| Damaged)?.len();
                if offset.checked_add(length as u64).is_none_or(|end| end > size) {
                    return Err(Damaged);
                }
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, offset).map_err(|_| Damaged)?;
                Ok(bytes)
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Segment {
    source: Source,
    sections: [(u64, u64); SECTIONS],
    pub files: Vec<FileEntry>,
    outlines: Vec<(u64, u32)>,
    pieces: Vec<Piece>,
    heads: Vec<Head>,
    /// The first terms of all blocks, one after the other.
    head_terms: String,
    /// Terms in all pieces.
    pub total_terms: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// Index into the segment's files.
    pub file: u32,
    /// Both 0 for the piece that stands for the path.
    pub lines: Lines,
    pub terms: u32,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    term_end: u32,
    block: u64,
    postings: u64,
}

/// One piece that has a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    pub piece: u32,
    pub count: u8,
    pub in_definition: bool,
    pub in_folder: bool,
    pub in_file_name: bool,
}

impl Segment {
    pub(crate) fn open(source: Source) -> Result<Self, Damaged> {
        let header = source.read(0, HEADER_BYTES)?;
        if header.get(..MAGIC.len()) != Some(&MAGIC) {
            return Err(Damaged);
        }
        let mut sections = [(0, 0); SECTIONS];
        for (section, bytes) in sections.iter_mut().zip(header[MAGIC.len()..].chunks_exact(16)) {
            let number = |from: usize| -> Result<u64, Damaged> {
                let bytes = bytes.get(from..from + 8).ok_or(Damaged)?;
                Ok(u64::from_le_bytes(bytes.try_into().map_err(|_| Damaged)?))
            };
            *section = (number(0)?, number(8)?);
        }
        let read = |section: usize| -> Result<Vec<u8>, Damaged> {
            let (offset, length) = sections[section];
            source.read(offset, usize::try_from(length).map_err(|_| Damaged)?)
        };
        let (files, pieces, heads) = (read(FILES)?, read(PIECES)?, read(HEADS)?);
        let mut hasher = blake3::Hasher::new();
        for section in [&files, &pieces, &heads] {
            hasher.update(section);
        }
        if header[HEADER_BYTES - 32..] != *hasher.finalize().as_bytes() {
            return Err(Damaged);
        }
        let mut segment = Self {
            source,
            sections,
            files: Vec::new(),
            outlines: Vec::new(),
            pieces: Vec::new(),
            heads: Vec::new(),
            head_terms: String::new(),
            total_terms: 0,
        };
        segment.read_files(&files)?;
        segment.read_pieces(&pieces)?;
        segment.read_heads(&heads)?;
        Ok(segment)
    }

    fn read_files(&mut self, bytes: &[u8]) -> Result<(), Damaged> {
        let mut reader = Reader::new(bytes);
        let mut first_piece = 0u32;
        let mut outline = 0u64;
        while !reader.is_empty() {
            let path = PathBuf::from(OsStr::from_bytes(reader.bytes()?));
            let stamp = Stamp {
                size: reader.number()?,
                modified: reader.number()?,
            };
            let hash = reader.take(16)?.try_into().map_err(|_| Damaged)?;
            let language = super::language_of(reader.byte()?).ok_or(Damaged)?;
            let coverage = Coverage::of(reader.byte()?).ok_or(Damaged)?;
            let pieces = reader.small()?;
            let terms = reader.small()?;
            let outline_bytes = reader.small()?;
            self.outlines.push((outline, outline_bytes));
            outline += u64::from(outline_bytes);
            self.files.push(FileEntry {
                path,
                stamp,
                hash,
                language,
                coverage,
                first_piece,
                pieces,
                terms,
            });
            first_piece = first_piece.checked_add(pieces).ok_or(Damaged)?;
        }
        Ok(())
    }

    fn read_pieces(&mut self, bytes: &[u8]) -> Result<(), Damaged> {
        let mut reader = Reader::new(bytes);
        for (file, entry) in self.files.iter().enumerate() {
            let mut next = 1u32;
            for _ in 0..entry.pieces {
                let count = reader.small()?;
                let terms = reader.small()?;
                let last = (next - 1).checked_add(count).ok_or(Damaged)?;
                let lines = match count {
                    0 => Lines { first: 0, last: 0 },
                    _ => Lines { first: next, last },
                };
                next = last + 1;
                self.total_terms += u64::from(terms);
                self.pieces.push(Piece {
                    file: file as u32,
                    lines,
                    terms,
                });
            }
        }
        if reader.is_empty() { Ok(()) } else { Err(Damaged) }
    }

    fn read_heads(&mut self, bytes: &[u8]) -> Result<(), Damaged> {
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            let term = std::str::from_utf8(reader.bytes()?).map_err(|_| Damaged)?;
            self.head_terms.push_str(term);
            self.heads.push(Head {
                term_end: u32::try_from(self.head_terms.len()).map_err(|_| Damaged)?,
                block: reader.number()?,
                postings: reader.number()?,
            });
        }
        Ok(())
    }

    pub(crate) fn piece_count(&self) -> usize {
        self.pieces.len()
    }

    pub(crate) fn piece(&self, piece: u32) -> Option<Piece> {
        self.pieces.get(piece as usize).copied()
    }

    pub(crate) fn pieces_of(&self, file: u32) -> &[Piece] {
        let Some(entry) = self.files.get(file as usize) else {
            return &[];
        };
        let from = entry.first_piece as usize;
        self.pieces.get(from..from + entry.pieces as usize).unwrap_or(&[])
    }

    fn head_term(&self, block: usize) -> &str {
        let from = block
            .checked_sub(1)
            .map_or(0, |before| self.heads[before].term_end as usize);
        self.head_terms
            .get(from..self.heads[block].term_end as usize)
            .unwrap_or("")
    }

    fn block(&self, block: usize) -> Result<Vec<u8>, Damaged> {
        let from = self.heads[block].block;
        let to = match self.heads.get(block + 1) {
            Some(next) => next.block,
            None => self.sections[BLOCKS].1,
        };
        let length = to.checked_sub(from).ok_or(Damaged)?;
        self.source.read(
            self.sections[BLOCKS].0 + from,
            usize::try_from(length).map_err(|_| Damaged)?,
        )
    }

    /// The pieces that have the term, in order; none where no piece has it.
    pub(crate) fn postings(&self, term: &str) -> Result<Vec<Posting>, Damaged> {
        let block = self.partition(term);
        let Some(block) = block.checked_sub(1) else {
            return Ok(Vec::new());
        };
        let mut found = None;
        self.each_term_of(block, &mut |candidate, list| {
            if candidate == term {
                found = Some(list);
            }
        })?;
        match found {
            Some(list) => self.read_list(list),
            None => Ok(Vec::new()),
        }
    }

    /// The number of blocks whose first term is not after `term`.
    fn partition(&self, term: &str) -> usize {
        let (mut low, mut high) = (0, self.heads.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.head_term(middle) <= term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Calls `see` with every term of the dictionary and where its list is.
    #[cfg(test)]
    pub(crate) fn each_term(&self, mut see: impl FnMut(&str, ListPlace)) -> Result<(), Damaged> {
        for block in 0..self.heads.len() {
            self.each_term_of(block, &mut see)?;
        }
        Ok(())
    }

    fn each_term_of(&self, block: usize, see: &mut dyn FnMut(&str, ListPlace)) -> Result<(), Damaged> {
        let bytes = self.block(block)?;
        let mut reader = Reader::new(&bytes);
        let mut term: Vec<u8> = Vec::new();
        let mut offset = self.heads[block].postings;
        for _ in 0..BLOCK_TERMS {
            if reader.is_empty() {
                break;
            }
            let shared = reader.small()? as usize;
            term.truncate(shared);
            term.extend_from_slice(reader.bytes()?);
            let pieces = reader.small()?;
            let length = reader.small()?;
            see(
                std::str::from_utf8(&term).map_err(|_| Damaged)?,
                ListPlace {
                    offset,
                    length,
                    pieces,
                },
            );
            offset += u64::from(length);
        }
        Ok(())
    }

    pub(crate) fn read_list(&self, list: ListPlace) -> Result<Vec<Posting>, Damaged> {
        let bytes = self
            .source
            .read(self.sections[POSTINGS].0 + list.offset, list.length as usize)?;
        let mut reader = Reader::new(&bytes);
        let mut postings = Vec::with_capacity(list.pieces as usize);
        let mut piece = 0u32;
        while !reader.is_empty() {
            piece = piece.checked_add(reader.small()?).ok_or(Damaged)?;
            if piece as usize >= self.pieces.len() {
                return Err(Damaged);
            }
            let byte = reader.byte()?;
            postings.push(Posting {
                piece,
                count: byte & COUNT_MASK,
                in_definition: byte & IN_DEFINITION != 0,
                in_folder: byte & IN_FOLDER != 0,
                in_file_name: byte & IN_FILE_NAME != 0,
            });
        }
        Ok(postings)
    }

    pub(crate) fn outline(&self, file: u32) -> Result<Outline, Damaged> {
        let (offset, length) = *self.outlines.get(file as usize).ok_or(Damaged)?;
        let bytes = self
            .source
            .read(self.sections[OUTLINES].0 + offset, length as usize)?;
        read_outline(&mut Reader::new(&bytes))
    }
}

/// Where a list of postings lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListPlace {
    offset: u64,
    length: u32,
    pub pieces: u32,
}

fn read_outline(reader: &mut Reader<'_>) -> Result<Outline, Damaged> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| Damaged);
    let mut outline = Outline::default();
    for _ in 0..reader.number()? {
        let name = text(reader.bytes()?)?;
        let kind = super::kind_of(reader.byte()?).ok_or(Damaged)?;
        let first_line = reader.small()?;
        let last_line = first_line.checked_add(reader.small()?).ok_or(Damaged)?;
        let container = reader.small()?.checked_sub(1);
        outline.definitions.push(Definition {
            name,
            kind,
            first_line,
            last_line,
            container,
        });
    }
    for _ in 0..reader.number()? {
        let target = text(reader.bytes()?)?;
        let line = reader.small()?;
        let mut names = Vec::new();
        for _ in 0..reader.number()? {
            names.push(text(reader.bytes()?)?);
        }
        outline.imports.push(Import { target, names, line });
    }
    outline.complete = reader.byte()? == 1;
    Ok(outline)
}
