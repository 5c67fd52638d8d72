//! Collects the files of a segment and writes its bytes.

use std::{collections::HashMap, os::unix::ffi::OsStrExt, path::Path};

use super::{
    BLOCK_TERMS, COUNT_MASK, Coverage, HEADER_BYTES, IN_DEFINITION, IN_FILE_NAME, IN_FOLDER, MAGIC, SECTIONS,
    Stamp,
};
use crate::{
    chunks,
    codec::{put, put_bytes},
    language::Language,
    outline::Outline,
    terms,
};

/// One file as it is to be indexed.
pub(crate) struct Document<'a> {
    pub path: &'a Path,
    pub stamp: Stamp,
    pub hash: [u8; 16],
    pub language: Language,
    pub coverage: Coverage,
    /// Empty unless the content is indexed.
    pub text: &'a str,
    pub outline: &'a Outline,
}

#[derive(Default)]
pub(crate) struct Builder {
    /// The terms of each word met so far, in `word_terms`: most words are met very often.
    words: HashMap<Box<str>, (u32, u32)>,
    word_terms: Vec<u32>,
    terms: HashMap<Box<str>, u32>,
    lists: Vec<List>,
    files: Vec<u8>,
    file_count: u32,
    pieces: Vec<u8>,
    piece_count: u32,
    outlines: Vec<u8>,
    posting_bytes: usize,
    /// Term and where it is, of the piece at hand.
    found: Vec<(u32, u8)>,
}

/// Where a term occurs.
#[derive(Default)]
struct List {
    bytes: Vec<u8>,
    last: u32,
    pieces: u32,
}

impl Builder {
    pub(crate) fn file_count(&self) -> u32 {
        self.file_count
    }

    /// Roughly what the builder holds in memory, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.posting_bytes * 2
            + self.lists.len() * 120
            + self.words.len() * 90
            + self.files.len()
            + self.pieces.len()
            + self.outlines.len()
    }

    pub(crate) fn add(&mut self, document: &Document<'_>) {
        let first_piece = self.piece_count;
        self.add_path(document.path);
        let mut terms = 0;
        if document.coverage == Coverage::Indexed {
            terms = self.add_text(document);
        }
        let outline_from = self.outlines.len();
        put_outline(&mut self.outlines, document.outline);
        put_bytes(&mut self.files, document.path.as_os_str().as_bytes());
        put(&mut self.files, document.stamp.size);
        put(&mut self.files, document.stamp.modified);
        self.files.extend_from_slice(&document.hash);
        self.files.push(document.language as u8);
        self.files.push(document.coverage as u8);
        put(&mut self.files, u64::from(self.piece_count - first_piece));
        put(&mut self.files, u64::from(terms));
        put(&mut self.files, (self.outlines.len() - outline_from) as u64);
        self.file_count += 1;
    }

    fn add_path(&mut self, path: &Path) {
        let text = path.to_string_lossy();
        let name_from = text.rfind('/').map_or(0, |at| at + 1);
        for (part, place) in [
            (&text[..name_from], IN_FOLDER),
            (&text[name_from..], IN_FILE_NAME),
        ] {
            for word in terms::words(part) {
                self.meet(word, place);
            }
        }
        self.end_piece(0);
    }

    fn add_text(&mut self, document: &Document<'_>) -> u32 {
        let lines: Vec<&str> = document.text.lines().collect();
        let blank = |line: u32| {
            lines
                .get(line as usize - 1)
                .is_none_or(|text| text.trim_start().is_empty())
        };
        let definitions = &document.outline.definitions;
        let mut named: Vec<(u32, &str)> = definitions
            .iter()
            .map(|definition| (definition.first_line, definition.name.as_str()))
            .collect();
        named.sort_unstable();
        let mut named = named.into_iter().peekable();
        let mut total = 0;
        for piece in chunks::cut(lines.len() as u32, definitions, blank) {
            let before = self.found.len();
            for line in &lines[piece.first as usize - 1..piece.last as usize] {
                for word in terms::words(line) {
                    self.meet(word, 0);
                }
            }
            let terms = (self.found.len() - before) as u32;
            while let Some((_, name)) = named.next_if(|(line, _)| *line <= piece.last) {
                for word in terms::words(name) {
                    self.meet(word, IN_DEFINITION);
                }
            }
            total += terms;
            put(&mut self.pieces, u64::from(piece.last - piece.first + 1));
            put(&mut self.pieces, u64::from(terms));
            self.end_piece_lists();
        }
        total
    }

    fn meet(&mut self, word: &str, place: u8) {
        let (from, count) = match self.words.get(word) {
            Some(known) => *known,
            None => {
                let from = self.word_terms.len() as u32;
                terms::each_term(word, |term| {
                    let next = self.lists.len() as u32;
                    let id = match self.terms.get(term) {
                        Some(id) => *id,
                        None => {
                            self.terms.insert(term.into(), next);
                            self.lists.push(List::default());
                            next
                        }
                    };
                    self.word_terms.push(id);
                });
                let known = (from, self.word_terms.len() as u32 - from);
                self.words.insert(word.into(), known);
                known
            }
        };
        for term in &self.word_terms[from as usize..(from + count) as usize] {
            self.found.push((*term, place));
        }
    }

    fn end_piece(&mut self, lines: u32) {
        put(&mut self.pieces, u64::from(lines));
        put(&mut self.pieces, self.found.len() as u64);
        self.end_piece_lists();
    }

    fn end_piece_lists(&mut self) {
        let piece = self.piece_count;
        self.piece_count += 1;
        let mut found = std::mem::take(&mut self.found);
        found.sort_unstable();
        for group in found.chunk_by(|a, b| a.0 == b.0) {
            let Some(list) = self.lists.get_mut(group[0].0 as usize) else {
                continue;
            };
            let mut count = 0;
            let mut places = 0;
            for (_, place) in group {
                // A definition's name is also in its text; where it stands counts there.
                count += usize::from(*place != IN_DEFINITION);
                places |= place;
            }
            let before = list.bytes.len();
            put(&mut list.bytes, u64::from(piece - list.last));
            list.bytes
                .push((count.min(usize::from(COUNT_MASK)) as u8) | places);
            list.last = piece;
            list.pieces += 1;
            self.posting_bytes += list.bytes.len() - before;
        }
        found.clear();
        self.found = found;
    }

    /// The finished bytes.
    pub(crate) fn finish(self) -> Vec<u8> {
        let mut terms: Vec<(Box<str>, u32)> = self.terms.into_iter().collect();
        terms.sort_unstable();
        let mut heads = Vec::new();
        let mut blocks = Vec::new();
        let mut postings = Vec::with_capacity(self.posting_bytes);
        for block in terms.chunks(BLOCK_TERMS) {
            put_bytes(&mut heads, block[0].0.as_bytes());
            put(&mut heads, blocks.len() as u64);
            put(&mut heads, postings.len() as u64);
            let mut before: &str = "";
            for (term, id) in block {
                let list = &self.lists[*id as usize];
                let shared = term
                    .bytes()
                    .zip(before.bytes())
                    .take_while(|(a, b)| a == b)
                    .count();
                put(&mut blocks, shared as u64);
                put_bytes(&mut blocks, &term.as_bytes()[shared..]);
                put(&mut blocks, u64::from(list.pieces));
                put(&mut blocks, list.bytes.len() as u64);
                postings.extend_from_slice(&list.bytes);
                before = term;
            }
        }
        let sections: [&[u8]; SECTIONS] = [
            &self.files,
            &self.pieces,
            &heads,
            &blocks,
            &postings,
            &self.outlines,
        ];
        let mut bytes =
            Vec::with_capacity(HEADER_BYTES + sections.iter().map(|part| part.len()).sum::<usize>());
        bytes.extend_from_slice(&MAGIC);
        let mut offset = HEADER_BYTES as u64;
        let mut hasher = blake3::Hasher::new();
        for (at, section) in sections.iter().enumerate() {
            bytes.extend_from_slice(&offset.to_le_bytes());
            bytes.extend_from_slice(&(section.len() as u64).to_le_bytes());
            offset += section.len() as u64;
            if at < super::reader::READ_AT_ONCE {
                hasher.update(section);
            }
        }
        bytes.extend_from_slice(hasher.finalize().as_bytes());
        for section in sections {
            bytes.extend_from_slice(section);
        }
        bytes
    }
}

fn put_outline(bytes: &mut Vec<u8>, outline: &Outline) {
    put(bytes, outline.definitions.len() as u64);
    for definition in &outline.definitions {
        put_bytes(bytes, definition.name.as_bytes());
        bytes.push(definition.kind as u8);
        put(bytes, u64::from(definition.first_line));
        put(
            bytes,
            u64::from(definition.last_line.saturating_sub(definition.first_line)),
        );
        put(
            bytes,
            definition
                .container
                .map_or(0, |container| u64::from(container) + 1),
        );
    }
    put(bytes, outline.imports.len() as u64);
    for import in &outline.imports {
        put_bytes(bytes, import.target.as_bytes());
        put(bytes, u64::from(import.line));
        put(bytes, import.names.len() as u64);
        for name in &import.names {
            put_bytes(bytes, name.as_bytes());
        }
    }
    bytes.push(u8::from(outline.complete));
}
