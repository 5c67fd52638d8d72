//! Change sets on real files, with a real store, real git and real crashes.
#![allow(
    clippy::disallowed_methods,
    reason = "tests play the user, who writes files and runs programs of their own"
)]

mod crash;
mod edits;
mod git;
mod place;
mod property;
mod review;
mod stage;
mod undo;
