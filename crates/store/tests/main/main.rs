//! The store through its public interface, on real files and with real processes.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests make users' files, damage ours, and kill processes"
)]
#![expect(clippy::unwrap_used, reason = "a failing step of a test fails it")]

mod contents;
mod crash;
mod damage;
mod events;
mod full;
mod identity;
mod locks;
mod settings;
mod support;
