//! Real commands, run as the engine runs them.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod run;
mod setting;
mod stop;
