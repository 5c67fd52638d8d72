//! The gateway against a model server on loopback: real HTTP, real wire formats, every family.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod cancel;
mod check;
mod forms;
mod history;
mod matrix;
mod page;
mod quirks;
mod recorded;
mod sendable;
mod support;
mod switching;
