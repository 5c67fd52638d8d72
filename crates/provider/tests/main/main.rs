//! The gateway against a model server on loopback: real HTTP, real wire formats, both families.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod cancel;
mod history;
mod matrix;
mod quirks;
mod recorded;
mod support;
