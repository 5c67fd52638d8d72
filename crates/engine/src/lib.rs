//! The coding runtime of one workspace: sessions, turns, tools and events, behind the wire contract.
//!
//! Owns when things happen. It must not know how a file is written (changeset), a process started (process), a
//! model reached (provider) or an event stored (store), and knows nothing of windows, hosts or islands.

mod context;
pub mod demo;
pub mod doctor;
mod engine;
mod events;
pub mod listen;
mod models;
mod notices;
mod paths;
pub mod providers;
mod requests;
mod rooms;
mod session;
mod spending;
mod tools;
mod turn;
pub mod wire;

pub use engine::{Engine, EngineConfig, Environment};
pub use events::{Subscription, Timeline};
pub use session::machine;
pub use wire::Client;
pub use workspace::Breadth;
