//! Change sets on real files, with a real store, real git and real crashes.
#![allow(
    clippy::disallowed_methods,
    reason = "tests play the user, who writes files and runs programs of their own"
)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper that fails fails its test; the exemption for tests does not reach helpers"
)]
#![allow(clippy::type_complexity, reason = "a table of cases is a list of tuples")]

mod crash;
mod edits;
mod git;
mod place;
mod property;
mod review;
mod stage;
mod undo;
mod view;
