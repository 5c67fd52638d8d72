//! The workspace's paths for finding one by a few letters, kept between keystrokes and made anew when files come or go.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use index::PathIndex;
use protocol::RuntimeError;
use workspace::{Overlay, Workspace, never};

/// Folders that nobody watches change too: older than this, the paths are not believed.
const LONGEST_USE: Duration = Duration::from_secs(10);

#[derive(Default)]
pub struct PathCache(Mutex<Option<Cached>>);

struct Cached {
    paths: Arc<PathIndex>,
    made_at: Instant,
}

impl PathCache {
    /// Blocks while they are made, about 0.2 s for 50,000 files.
    pub fn current(&self, workspace: &Workspace) -> Result<Arc<PathIndex>, RuntimeError> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = &*cached
            && cached.made_at.elapsed() < LONGEST_USE
        {
            return Ok(cached.paths.clone());
        }
        let made_at = Instant::now();
        let paths = Arc::new(PathIndex::of_workspace(workspace, &Overlay::default(), &never)?);
        *cached = Some(Cached {
            paths: paths.clone(),
            made_at,
        });
        Ok(paths)
    }

    /// Files came or went.
    pub fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
