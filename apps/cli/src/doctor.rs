//! `vibe-coder doctor`: what works on this machine, and the rescue of a damaged database.

use engine::doctor::{self, CheckStatus};
use protocol::RuntimeError;

use crate::{
    args::{Common, Doctor},
    connect,
    exit::Exit,
    output,
};

pub fn run(common: Common, arguments: Doctor) -> Result<Exit, RuntimeError> {
    let config = connect::config(common, engine::Environment::of_process())?;
    if arguments.salvage {
        for line in doctor::salvage(&config)? {
            output::line(line);
        }
        return Ok(Exit::Done);
    }
    let checks = doctor::examine(&config);
    let failed = checks.iter().any(|check| check.status == CheckStatus::Failed);
    for check in &checks {
        if arguments.json {
            output::json(check);
            continue;
        }
        let glyph = match check.status {
            CheckStatus::Works => "✓",
            CheckStatus::Limited => "!",
            CheckStatus::Failed => "✕",
        };
        output::line(format!("{glyph} {}: {}", check.name, check.detail));
        if let Some(action) = &check.action {
            output::line(format!("    {action}"));
        }
    }
    Ok(if failed { Exit::Failed } else { Exit::Done })
}
