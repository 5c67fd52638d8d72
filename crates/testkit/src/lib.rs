//! Dev only: what tests of several crates share. A hermetic place to work in and runs of the product as a test sees
//! them. Nothing here is part of the product.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    reason = "test support fails by panicking, and prepares files and processes by hand"
)]

mod hermetic;
pub mod model_server;
pub mod network;
mod run;
mod window;

pub use hermetic::{Hermetic, tree};
pub use model_server::ModelServer;
pub use run::{ExecRun, Running};
pub use window::{Answer, Window, request};
