//! Commands of the user's, those that run, and the standing rules about all of them.

use protocol::{
    ErrorCode, RuntimeError,
    commands::{
        ApprovalsAddParams, ApprovalsListResult, ApprovalsRevokeParams, CommandAccepted, CommandInputParams,
        CommandListResult, CommandRule, CommandRunParams,
    },
    request::{CommandStopParams, Done},
};

use crate::{
    Engine,
    rules::NewRule,
    tools::command::{self, Asked, By, Purpose},
};

/// Returns when the command has a card; what it does arrives as events.
pub async fn run(engine: &Engine, params: CommandRunParams) -> Result<CommandAccepted, RuntimeError> {
    if params.command.trim().is_empty() {
        return Err(
            RuntimeError::new(ErrorCode::RequestInvalid, "The command is empty.").action("Type what to run."),
        );
    }
    let session = engine.session(&params.session_id)?;
    let asked = Asked {
        command: params.command,
        cwd: params.cwd,
        timeout_seconds: None,
        lifetime: params.lifetime,
        terminal: params.terminal,
        by: By::User,
        purpose: Purpose::Work,
    };
    let command_id = command::run_for_user(engine.shared_rooms(), session, asked).await?;
    Ok(CommandAccepted { command_id })
}

pub fn list(engine: &Engine) -> CommandListResult {
    CommandListResult {
        commands: engine.rooms().commands.running(),
    }
}

/// The command's whole tree is ended; a turn that waits for it goes on with what it has printed so far.
pub fn stop(engine: &Engine, params: &CommandStopParams) -> Result<Done, RuntimeError> {
    match engine.rooms().commands.stop(&params.command_id) {
        true => Ok(Done {}),
        false => Err(
            RuntimeError::new(ErrorCode::RequestInvalid, "This command is not running.")
                .action("It has ended, or has not started yet."),
        ),
    }
}

pub fn input(engine: &Engine, params: &CommandInputParams) -> Result<Done, RuntimeError> {
    engine
        .rooms()
        .commands
        .type_in(&params.command_id, &params.text)?;
    Ok(Done {})
}

pub fn rules(engine: &Engine) -> ApprovalsListResult {
    ApprovalsListResult {
        rules: engine.rooms().rules.list(),
    }
}

pub fn add_rule(engine: &Engine, params: ApprovalsAddParams) -> Result<CommandRule, RuntimeError> {
    if let Some(session) = &params.session_id {
        engine.session(session)?;
    }
    let rooms = engine.rooms();
    rooms.rules.add(NewRule {
        pattern: params.pattern,
        effect: params.effect,
        place: params.place,
        session: params.session_id,
        because: "you added it".to_owned(),
        now: rooms.sink.now(),
    })
}

pub fn revoke_rule(engine: &Engine, params: &ApprovalsRevokeParams) -> Result<Done, RuntimeError> {
    engine.rooms().rules.revoke(&params.id)?;
    Ok(Done {})
}
