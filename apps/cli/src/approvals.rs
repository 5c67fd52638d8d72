//! `vibe-coder approvals` and `vibe-coder commands`: the standing rules about commands, and the commands that run.

use protocol::{
    CommandId, RuleId, RuntimeError, SessionId,
    commands::{
        ApprovalsAddParams, ApprovalsListParams, ApprovalsRevokeParams, CommandListParams, CommandRule,
        RuleEffect, RulePlace,
    },
    request::CommandStopParams,
};

use crate::{
    args::{Approvals, ApprovalsVerb, Commands, CommandsVerb, Common, EffectChoice},
    connect,
    exit::Exit,
    output,
};

pub async fn run(common: Common, arguments: Approvals) -> Result<Exit, RuntimeError> {
    let client = connect::client(common).await?;
    match arguments.verb {
        ApprovalsVerb::List { json } => {
            let rules = client.call(ApprovalsListParams {}).await?.rules;
            match json {
                true => rules.iter().for_each(output::json),
                false if rules.is_empty() => output::line("No rules. Commands ask as the policy says."),
                false => rules.iter().for_each(|rule| output::line(rule_line(rule))),
            }
        }
        ApprovalsVerb::Add {
            effect,
            pattern,
            anywhere,
            session,
            json,
        } => {
            let rule = client
                .call(ApprovalsAddParams {
                    pattern,
                    effect: match effect {
                        EffectChoice::Allow => RuleEffect::Allow,
                        EffectChoice::Ask => RuleEffect::Ask,
                        EffectChoice::Never => RuleEffect::Never,
                    },
                    place: match anywhere {
                        true => RulePlace::Anywhere,
                        false => RulePlace::Sandboxed,
                    },
                    session_id: session.map(SessionId::from_text),
                })
                .await?;
            match json {
                true => output::json(&rule),
                false => output::line(rule_line(&rule)),
            }
        }
        ApprovalsVerb::Revoke { id } => {
            let id = RuleId::from_text(id);
            client.call(ApprovalsRevokeParams { id: id.clone() }).await?;
            output::line(format!("Revoked {id}; such commands ask again."));
        }
    }
    Ok(Exit::Done)
}

fn rule_line(rule: &CommandRule) -> String {
    let effect = match rule.effect {
        RuleEffect::Allow => "allow",
        RuleEffect::Ask => "ask",
        RuleEffect::Never => "never",
    };
    let place = match (rule.effect, rule.place) {
        (RuleEffect::Allow, RulePlace::Sandboxed) => "in a sandbox",
        _ => "anywhere",
    };
    let reach = match &rule.session_id {
        Some(session) => format!("session {session}"),
        None => "this workspace".to_owned(),
    };
    format!(
        "{}  {effect}  `{}`  {place}, {reach}, used {}×: {}",
        rule.id, rule.pattern, rule.used, rule.because
    )
}

pub async fn commands(common: Common, arguments: Commands) -> Result<Exit, RuntimeError> {
    let client = connect::client(common).await?;
    match arguments.verb {
        CommandsVerb::List { json } => {
            let running = client.call(CommandListParams {}).await?.commands;
            match json {
                true => running.iter().for_each(output::json),
                false if running.is_empty() => output::line("No command runs."),
                false => running.iter().for_each(|command| {
                    output::line(format!(
                        "{}  in {}  {}",
                        command.command_id, command.cwd, command.command
                    ))
                }),
            }
        }
        CommandsVerb::Stop { id } => {
            let command_id = CommandId::from_text(id);
            client.call(CommandStopParams { command_id }).await?;
            output::line("Stopping it and everything it started.");
        }
    }
    Ok(Exit::Done)
}
