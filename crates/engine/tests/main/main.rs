//! The engine from its client's side: requests over the wire contract, real files, real git, real commands.
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

mod files;
mod notices;
mod service;
mod support;
mod timeline;
