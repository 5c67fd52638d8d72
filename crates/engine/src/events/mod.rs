//! Events: numbering, persisting, sending and folding.

pub mod fold;
pub mod sink;

pub use fold::Timeline;
pub use sink::{EventSink, Subscription};
