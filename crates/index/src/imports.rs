//! Which files of a repository an import means, judged by the set of its paths alone.
//!
//! Reads no file: manifests that name packages or roots are handed in as text. Where several files could be meant
//! and nothing decides, the answer is none of them.

use std::path::PathBuf;

/// A file that names packages, path aliases or source roots: Cargo.toml, go.mod, package.json, tsconfig.json,
/// composer.json.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Relative to the workspace root.
    pub path: PathBuf,
    pub text: String,
}
