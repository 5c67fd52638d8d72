//! Real commands, run as the engine runs them.

#![allow(
    clippy::disallowed_methods,
    reason = "tests play the user, who writes files and runs programs"
)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod escape;
mod helper;
mod network;
mod run;
mod setting;
mod staged;
mod stop;
mod terminal;
