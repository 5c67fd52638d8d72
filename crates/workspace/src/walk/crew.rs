//! The stack of work that the walking threads share. Knows nothing of what the work is about.

use std::{
    os::fd::OwnedFd,
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use super::worker::Names;
use crate::rules::Rules;

pub(super) enum Item {
    Directory {
        relative: Arc<Path>,
        rules: Rules,
        /// Whether `rules` already take in this directory's own ignore files.
        entered: bool,
    },
    /// Some of the files of one directory.
    Files {
        relative: Arc<Path>,
        directory: Arc<OwnedFd>,
        names: Names,
    },
}

pub(super) struct Crew {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    items: Vec<Item>,
    /// Items that were taken and may still bring new ones.
    working: usize,
    ended: bool,
}

impl Crew {
    pub(super) fn new(items: Vec<Item>) -> Self {
        Self {
            state: Mutex::new(State {
                items,
                working: 0,
                ended: false,
            }),
            changed: Condvar::new(),
        }
    }

    pub(super) fn add(&self, items: impl ExactSizeIterator<Item = Item>) {
        if items.len() == 0 {
            return;
        }
        self.lock().items.extend(items);
        self.changed.notify_all();
    }

    /// The next piece of work; waits while others may still find some.
    pub(super) fn next(&self) -> Option<(Item, Turn<'_>)> {
        let mut state = self.lock();
        loop {
            if state.ended {
                return None;
            }
            if let Some(item) = state.items.pop() {
                state.working += 1;
                return Some((item, Turn(self)));
            }
            if state.working == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Nobody gets more work.
    pub(super) fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A worker that panicked ends the walk with its panic; the list itself is sound.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Held while a piece of work is done, and given up even if that ends in a panic: the others would wait for ever.
pub(super) struct Turn<'a>(&'a Crew);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.working -= 1;
        if state.working == 0 && state.items.is_empty() {
            self.0.changed.notify_all();
        }
    }
}
