//! The only spawner. Owns the life of every process the product starts: the policy that decides whether a shell
//! command may start, the run of an approved one, and the product's own fixed programs.
//!
//! It knows nothing of sessions, change sets, models or stores. A shell command enters as text and can only be
//! started as an [`ApprovedCommand`], which only [`policy`] makes.

pub mod display;
mod environment;
mod login;
pub mod machine;
pub mod policy;
pub mod runner;
pub mod staged;
mod tool;

pub use environment::CommandEnvironment;
pub use login::{LoginError, login_environment};
pub use policy::ApprovedCommand;
pub use tool::{Tool, ToolLimits, ToolOutput, ToolRunError, run_tool};
