//! What becomes of a command that is not simply allowed: refused with its reason, allowed by the run's setting, or
//! asked about and waited for. A hard block is never lifted.

use process::policy::{ApprovedCommand, Grant, Ruling, Verdict};
use protocol::{
    ApprovalId, ErrorCode, ItemKind, ItemStatus, RuntimeError, ToolCallId,
    commands::{AnswerScope, RuleEffect, RulePlace},
    request::Approvals,
    timeline::{ApprovalDecision, ApprovalItem},
};
use store::{Durability, log::LogEvent};

use super::card::Card;
use crate::{
    rules::NewRule,
    session::{Answer, SessionInput},
    turn::Turn,
};

/// Ends a command at once that no approval could let through.
pub fn refuse_hopeless(verdict: &Verdict) -> Result<(), RuntimeError> {
    match verdict.ruling() {
        Ruling::Allow | Ruling::Ask => Ok(()),
        Ruling::NotInThisMode | Ruling::Block => {
            verdict.clone().approve().map(drop).map_err(RuntimeError::from)
        }
    }
}

/// Whether `decide` will say no without anyone being asked.
pub fn is_denied(turn: &Turn, verdict: &Verdict) -> bool {
    verdict.ruling() == Ruling::Ask && turn.approvals == Approvals::Deny
}

pub async fn decide(
    turn: &Turn,
    call: &ToolCallId,
    verdict: Verdict,
    place: RulePlace,
    card: &mut Card<'_>,
) -> Result<ApprovedCommand, RuntimeError> {
    if verdict.ruling() != Ruling::Ask {
        return Ok(verdict.approve()?);
    }
    card.awaiting_approval()?;
    let approval_id = ApprovalId::mint();
    let mut question = ApprovalItem {
        approval_id: approval_id.clone(),
        tool_call_id: call.clone(),
        request: verdict.command().to_owned(),
        reason: verdict.reason(),
        patterns: verdict.patterns().iter().map(ToString::to_string).collect(),
        decision: None,
        decided_because: String::new(),
    };
    let (decision, because) = match turn.approvals {
        Approvals::Deny => (ApprovalDecision::Deny, "approvals are set to deny".to_owned()),
        Approvals::Allow => (ApprovalDecision::Allow, "approvals are set to allow".to_owned()),
        Approvals::Ask => {
            turn.session.step(SessionInput::ApprovalNeeded)?;
            let item = turn.start_item(ItemKind::Approval(question.clone()))?;
            let answer = turn.session.ask(approval_id.clone());
            let Answer { decision, scope } = tokio::select! {
                answer = answer => answer.map_err(|_| RuntimeError::cancelled())?,
                () = turn.cancel.cancelled() => return Err(RuntimeError::cancelled()),
            };
            turn.session.step(SessionInput::ApprovalAnswered)?;
            log(turn, approval_id, decision);
            let because = keep(turn, &question, decision, scope, place)?;
            question.decision = Some(decision);
            question.decided_because.clone_from(&because);
            let decided = protocol::TimelineItem {
                kind: ItemKind::Approval(question),
                ..item
            };
            turn.complete_item(decided, status(decision), Durability::Full)?;
            return grant(verdict, decision, &because);
        }
    };
    log(turn, approval_id, decision);
    question.decision = Some(decision);
    question.decided_because.clone_from(&because);
    turn.add_item(ItemKind::Approval(question), status(decision), Durability::Normal)?;
    grant(verdict, decision, &because)
}

/// Makes the answer a rule where it is meant to reach further. Returns it in words.
fn keep(
    turn: &Turn,
    question: &ApprovalItem,
    decision: ApprovalDecision,
    scope: AnswerScope,
    place: RulePlace,
) -> Result<String, RuntimeError> {
    let said = match decision {
        ApprovalDecision::Allow => "you allowed it",
        ApprovalDecision::Deny => "you denied it",
    };
    let (session, reach) = match scope {
        AnswerScope::Session => (Some(turn.session.id.clone()), "in this session"),
        AnswerScope::Workspace => (None, "in this workspace"),
        AnswerScope::Once => return Ok(format!("{said} once")),
    };
    if question.patterns.is_empty() {
        return Ok(format!(
            "{said} once; what it would run is not known well enough for more"
        ));
    }
    for pattern in &question.patterns {
        turn.rooms.rules.add(NewRule {
            pattern: pattern.clone(),
            effect: match decision {
                ApprovalDecision::Allow => RuleEffect::Allow,
                ApprovalDecision::Deny => RuleEffect::Never,
            },
            place,
            session: session.clone(),
            because: format!("{said} when asked about `{}`", question.request),
            now: turn.rooms.sink.now(),
        })?;
    }
    Ok(format!(
        "{said}, and always {reach}: {}",
        question.patterns.join(", ")
    ))
}

fn log(turn: &Turn, approval: ApprovalId, decision: ApprovalDecision) {
    let allowed = decision == ApprovalDecision::Allow;
    turn.log(&LogEvent::ApprovalDecided {
        session: turn.session.id.clone(),
        approval,
        allowed,
    });
}

fn status(decision: ApprovalDecision) -> ItemStatus {
    match decision {
        ApprovalDecision::Allow => ItemStatus::Succeeded,
        ApprovalDecision::Deny => ItemStatus::Failed,
    }
}

fn grant(
    verdict: Verdict,
    decision: ApprovalDecision,
    because: &str,
) -> Result<ApprovedCommand, RuntimeError> {
    match decision {
        ApprovalDecision::Allow => Ok(verdict.approve_by(Grant::by_person(because))?),
        ApprovalDecision::Deny => Err(RuntimeError::new(
            ErrorCode::PermissionDenied,
            format!("Not run: {}.", verdict.reason()),
        )
        .because(format!("It needs approval: {because}."))
        .action("Find a way without it, or tell the user what to run.")),
    }
}
