//! One thread's part of a search, and when all of them end.

use std::{
    io::{self, Read},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use grep_matcher::LineTerminator;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};

use super::{
    EndedEarly, Hit, SearchLimits,
    sink::{FileHits, HitSink},
};
use crate::Stop;

/// A line longer than this is not searched to its end.
const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// When to end before everything is searched.
pub(super) struct Ending<'a> {
    pub stop: Stop<'a>,
    pub deadline: Instant,
    pub out_of_time: AtomicBool,
    /// Set by whoever counts the hits.
    pub enough: AtomicBool,
}

impl Ending<'_> {
    pub(super) fn reached(&self) -> bool {
        if self.enough.load(Ordering::Relaxed) || (self.stop)() {
            return true;
        }
        if Instant::now() >= self.deadline {
            self.out_of_time.store(true, Ordering::Relaxed);
            return true;
        }
        false
    }

    pub(super) fn why(&self) -> Option<EndedEarly> {
        if (self.stop)() {
            Some(EndedEarly::Stopped)
        } else if self.out_of_time.load(Ordering::Relaxed) {
            Some(EndedEarly::Time)
        } else if self.enough.load(Ordering::Relaxed) {
            Some(EndedEarly::TooManyHits)
        } else {
            None
        }
    }
}

/// What one thread has found.
pub(super) struct Searching<'a> {
    matcher: &'a RegexMatcher,
    searcher: Searcher,
    limits: SearchLimits,
    pub hits: Vec<Hit>,
    pub left_out: u64,
    pub files_with_hits: u64,
    pub searched: u64,
    pub binary: u64,
    pub unsearchable: u64,
}

impl<'a> Searching<'a> {
    pub(super) fn new(matcher: &'a RegexMatcher, limits: SearchLimits) -> Self {
        let searcher = SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .line_number(true)
            .binary_detection(BinaryDetection::quit(0))
            // A map of a file that is cut meanwhile ends the process.
            .memory_map(MmapChoice::never())
            .heap_limit(Some(MAX_LINE_BYTES))
            .build();
        Self {
            matcher,
            searcher,
            limits,
            hits: Vec::new(),
            left_out: 0,
            files_with_hits: 0,
            searched: 0,
            binary: 0,
            unsearchable: 0,
        }
    }

    pub(super) fn search(&mut self, path: &Path, content: impl Read, ending: &Ending<'_>) {
        let mut sink = HitSink::new(path, self.matcher, self.limits);
        let content = Guarded { content, ending };
        let outcome = self.searcher.search_reader(self.matcher, content, &mut sink);
        match (outcome, sink.finish()) {
            // Cut short on purpose: what was found so far counts.
            (Err(_), file) if ending.reached() => self.keep(file),
            (Err(_), _) => self.unsearchable += 1,
            (Ok(()), file) => self.keep(file),
        }
    }

    fn keep(&mut self, file: FileHits) {
        if file.binary {
            self.binary += 1;
            return;
        }
        self.searched += 1;
        self.files_with_hits += u64::from(!file.hits.is_empty());
        self.hits.extend(file.hits);
        self.left_out += file.left_out;
    }
}

/// Lets a search of one huge file end in time.
struct Guarded<'a, R> {
    content: R,
    ending: &'a Ending<'a>,
}

impl<R: Read> Read for Guarded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ending.reached() {
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
        self.content.read(buffer)
    }
}
