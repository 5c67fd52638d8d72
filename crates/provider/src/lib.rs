//! The only way to a model: requests out, one stream of events back, whatever the provider. Owns wire formats,
//! retries, limits, errors by cause, usage and the scripted double. Knows nothing of sessions, tools or prompts.

pub mod catalogue;
pub mod check;
pub mod config;
pub mod cost;
pub mod error;
pub mod event;
pub mod gateway;
pub mod health;
pub mod machine;
pub mod message;
pub mod presets;
pub mod scenario;
pub mod secret;

mod adapter;
mod assemble;
mod http;
mod live;
mod output;
mod proxy;
mod retry;
mod scripted;

pub use catalogue::{LiveModel, ModelEntry, ModelFacts};
pub use config::{Family, Limits, ProviderConfig, RetryPolicy};
pub use cost::{Prices, cost};
pub use error::{ProviderError, ProviderErrorKind};
pub use event::ModelEvent;
pub use gateway::{Gateway, ModelStream};
pub use health::{Health, Observer, Outcome};
pub use message::{
    Answer, AnswerFormat, Block, CutCall, Message, ModelRequest, Origin, Role, StopReason, ToolUse,
};
pub use presets::{ProviderEntry, ProviderSettings};
pub use scenario::Scenario;
pub use secret::Secret;
