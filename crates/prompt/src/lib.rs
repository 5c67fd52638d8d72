//! Turns what is known about a request into what the model is sent. Pure: no IO, no clock, no randomness, so
//! the same input always gives the same bytes and provider caches hit.
//!
//! Owns the prompt text (`layers/*.md`), the token estimate and the context pack. It must not know how sources
//! are read or how a request is transported.

pub mod budget;
pub mod compose;
pub mod condense;
pub mod pack;
pub mod rank;
mod repair;
pub mod select;

pub use budget::{Calibration, TokenBudgetManager};
pub use compose::{Instructions, PromptBundle, PromptRequest, compose, nested_instructions};
pub use pack::{ContextPack, ContextSource, Omitted, SourceKind};
pub use repair::{Repair, repair_request};
