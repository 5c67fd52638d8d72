//! How a project is checked, and what a check's output says: which commands test the files that changed, the nearest
//! first, and the results of the common runners as names, places and counts.
//!
//! Pure: reads what it is given and starts nothing. It must not know where a command runs, what a result is bound to, or
//! who asked for it.

mod command;
pub mod project;
pub mod report;

pub use command::{Kind, is_same_check, kind_of};
pub use project::{Check, Reach, Tree, choose};
pub use report::{Failure, Report, read};
