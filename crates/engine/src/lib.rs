//! The coding runtime of one workspace: sessions, turns, tools and events, behind the wire contract.
//!
//! Owns when things happen. It must not know how a file is written (changeset), a process started (process), a
//! model reached (provider) or an event stored (store), and knows nothing of windows, hosts or islands.

mod calibration;
mod commands;
mod context;
pub mod demo;
pub mod doctor;
mod engine;
mod events;
mod health;
mod instructions;
mod isolation;
mod knowledge;
pub mod listen;
mod login;
mod memory;
mod models;
mod notices;
mod paths;
pub mod providers;
mod requests;
mod rooms;
mod rules;
mod secrets;
mod session;
mod spending;
mod tools;
mod turn;
mod verification;
pub mod wire;

pub use engine::{Engine, EngineConfig, Environment};
pub use events::{Subscription, Timeline};
/// What `main` calls first: the program is also the helper that enters a command's staged view.
pub use process::staged::run_if_asked as act_as_view_helper;
pub use session::machine;
pub use wire::Client;
pub use workspace::Breadth;
