//! The only spawner. Owns the life of every process the product starts: the policy that decides whether a shell
//! command may start, the run of an approved one, the product's own fixed programs, its long-lived children (engines,
//! sidecars) and the window of a browser.
//!
//! It knows nothing of sessions, change sets, models or stores. A shell command enters as text and can only be
//! started as an [`ApprovedCommand`], which only [`policy`] makes.

mod browser;
pub mod display;
mod environment;
mod login;
pub mod machine;
pub mod policy;
pub mod runner;
mod service;
pub mod staged;
mod tool;

pub use browser::{Opened, open_window};
pub use environment::CommandEnvironment;
pub use login::{LoginError, login_environment};
pub use policy::ApprovedCommand;
pub use service::{Orphaned, Service, ServiceEnd, ServiceEnvironment, ServiceSpec, start_service};
pub use tool::{Tool, ToolLimits, ToolOutput, ToolRunError, run_tool};
