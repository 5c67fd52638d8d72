//! The host: starts and watches the backends that windows work with, and serves the screen on this machine.
//!
//! Owns the registry of live contexts, their supervision, the local server with its guards, and being the one host of
//! a user. It has no agent logic, reads no file of a workspace and does not know the engine but by the wire contract:
//! what a window asks of a context goes there unchanged.

pub mod adapter;
mod assembly;
pub mod attach;
mod folders;
mod http;
pub mod machine;
mod methods;
pub mod registry;
pub mod server;
pub mod supervise;

pub use adapter::engine::Breadth;
pub use assembly::{Host, HostConfig, Program, Started, Target, start};

pub use process::Opened;

/// Shows a window on `url`, in a browser with a profile of its own where one can do that. Must be called within a
/// tokio runtime.
pub async fn open_window(url: &str, home: &store::DataHome) -> Result<Opened, protocol::RuntimeError> {
    Ok(process::open_window(url, &home.browser_profile()?).await)
}
