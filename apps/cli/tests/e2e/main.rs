//! The product from outside: the real binary, real repositories, real commands, and a model server that speaks the
//! vendors' formats.
#![allow(
    clippy::disallowed_methods,
    reason = "tests play the user, who writes files and runs programs of their own"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails fails its test; the exemption for tests does not reach helpers"
)]
#![allow(clippy::type_complexity, reason = "a table of cases is a list of tuples")]

mod agent;
mod approvals;
mod background;
mod bad_input;
mod cases;
mod commands;
mod context;
mod crash;
mod database;
mod edits;
mod exec;
mod files;
mod golden;
mod host;
mod instructions;
mod listen;
mod long_sessions;
mod memory;
mod models;
mod names;
mod network;
mod providers;
mod review;
mod secrets;
mod sessions;
mod snapshots;
mod spending;
mod staged;
mod stale;
mod support;
mod told;
mod undo;
mod user;
mod verify;
mod wire;
