//! The tools of the coding assistant. Every call, whoever makes it, goes through the router.

pub mod catalogue;
mod changes;
pub mod command;
mod outcome;
mod reads;
pub mod router;

pub use outcome::Outcome;
pub use reads::listing_text;
