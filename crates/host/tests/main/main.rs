//! The host from outside: a real server, real HTTP and WebSockets, real programs as sidecars.
#![allow(
    clippy::disallowed_methods,
    reason = "tests prepare files and processes by hand"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails fails its test; the exemption for tests does not reach helpers"
)]
#![allow(clippy::type_complexity, reason = "a table of cases is a list of tuples")]

mod attach;
mod security;
mod sidecars;
mod support;
