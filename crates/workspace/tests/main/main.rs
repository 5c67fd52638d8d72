//! The read side against real folders, links, pipes and git repositories.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests make the files they read, run git beside us, and end at the first surprise"
)]

mod files;
mod git;
mod list;
mod read;
mod scope;
mod search;
mod support;
mod walk;
