//! The command line: one verb, one engine, one answer.
//!
//! Owns arguments, what is printed, and exit codes. Everything it does goes through the engine's wire contract, the
//! same that a window or another editor uses.

mod approvals;
mod args;
mod changes;
mod connect;
mod context;
mod demo;
mod doctor;
mod engine_mode;
mod exec;
mod exit;
mod memory;
mod output;
mod providers;
mod sessions;
mod settings;
mod show;
mod verify;
mod window;

use std::process::ExitCode;

use clap::Parser;

use crate::{
    args::{Arguments, Verb},
    exit::Exit,
};

fn main() -> ExitCode {
    if let Some(code) = engine::act_as_view_helper() {
        return code;
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return exit::for_usage(&error),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return output::fatal(&protocol::RuntimeError::internal(error)).into(),
    };
    let exit = runtime.block_on(run(arguments));
    // A read that ignores cancellation must not hold up the end; nothing that writes is left by now.
    runtime.shutdown_background();
    exit.into()
}

async fn run(arguments: Arguments) -> Exit {
    let common = arguments.common;
    let Some(verb) = arguments.verb else {
        let opened = window::open(common, arguments.window).await;
        return opened.unwrap_or_else(|error| output::fatal(&error));
    };
    if let Err(error) = window::is_for_no_verb(&arguments.window) {
        return output::fatal(&error);
    }
    let done = match verb {
        Verb::Serve(arguments) => window::serve(common, arguments).await,
        Verb::Exec(arguments) => exec::run(common, arguments).await,
        Verb::Changes(arguments) => changes::run(common, arguments).await,
        Verb::Sessions(arguments) => sessions::run(common, arguments).await,
        Verb::Verify(arguments) => verify::run(common, arguments).await,
        Verb::Approvals(arguments) => approvals::run(common, arguments).await,
        Verb::Context(arguments) => context::run(common, arguments).await,
        Verb::Commands(arguments) => approvals::commands(common, arguments).await,
        Verb::Memory(arguments) => memory::run(common, arguments).await,
        Verb::Settings(arguments) => settings::run(arguments),
        Verb::Providers(arguments) => providers::run(arguments).await,
        Verb::Doctor(arguments) => doctor::run(common, arguments),
        Verb::Demo(arguments) => demo::run(arguments).await,
        Verb::Engine(arguments) => engine_mode::run(common, arguments).await,
    };
    done.unwrap_or_else(|error| output::fatal(&error))
}
