//! The end of an agent's work: its changes are checked, a failure is given back to it a few times with its reason
//! shown, and then the turn ends with what is true.

use protocol::{
    ItemKind, ItemStatus, Mode, RuntimeError, TimelineItem,
    checks::{CheckReach, VerificationItem},
    timeline::PlanStep,
};
use store::{AutomaticChecks, Durability};

use super::{Conclusion, Wanted, look, project, run, words};
use crate::{session::SessionInput, tools::command::By, turn::Turn};

/// The end of an output that the model is given with a failure, in characters.
const OUTPUT: usize = 3_000;

/// Of one turn.
#[derive(Default)]
pub struct Repairs {
    done: u32,
    /// The files that the last failure was seen on.
    failed_on: String,
    /// What is being repaired, and its card.
    open: Option<(TimelineItem, PlanStep)>,
}

/// What comes after an answer that calls no tool.
pub enum Next {
    End,
    /// The model is to go on with this.
    Repair(String),
}

/// Checks what the turn changed and decides how to go on. What may be claimed is kept for the summary.
pub async fn after_answer(turn: &Turn, repairs: &mut Repairs) -> Result<Next, RuntimeError> {
    let Some(changed) = changed_in(turn)? else {
        return Ok(Next::End);
    };
    let settings = turn.rooms.home.settings()?.checks;
    let reach = match (turn.mode, settings.automatic) {
        (Mode::Ask | Mode::Edit, _) => {
            let because = format!("{} mode runs no checks. Agent mode does.", capital(turn.mode));
            turn.set_verified(words::not_verified(&because));
            return Ok(Next::End);
        }
        (Mode::Agent, AutomaticChecks::Off) => {
            let because =
                "checks do not run by themselves (checks.automatic is off). `vibe-coder verify` runs them.";
            turn.set_verified(words::not_verified(because));
            return Ok(Next::End);
        }
        (Mode::Agent, AutomaticChecks::Focused) => CheckReach::Focused,
        (Mode::Agent, AutomaticChecks::Broad) => CheckReach::Broad,
    };
    let wanted = Wanted {
        changed,
        reach,
        by: By::Model,
        reason: match repairs.done {
            0 => "This turn changed files.".to_owned(),
            done => format!("After repair {done} of {}.", settings.repairs),
        },
        seconds: settings.seconds,
    };
    let conclusion = run(turn, &wanted).await?;
    let failed = match conclusion {
        Conclusion::Passed(results) => {
            repairs.close(turn, ItemStatus::Succeeded)?;
            turn.set_verified(words::passed(&results));
            return Ok(Next::End);
        }
        Conclusion::Unknown { because, .. } => {
            repairs.close(turn, ItemStatus::Failed)?;
            turn.set_verified(words::not_verified(&because));
            return Ok(Next::End);
        }
        Conclusion::Failed(failed, _) => *failed,
    };
    repairs.close(turn, ItemStatus::Failed)?;
    let tree = look(turn).await?.hash;
    // Who changed nothing after a failure has nothing more to offer.
    let gave_up = repairs.failed_on == tree;
    if repairs.done >= settings.repairs || gave_up {
        turn.set_verified(words::left_failing(&failed, repairs.done));
        return Ok(Next::End);
    }
    repairs.done += 1;
    repairs.failed_on = tree;
    let reason = format!(
        "Repair {} of {}: {}: {}{}",
        repairs.done,
        settings.repairs,
        words::in_folder(&failed),
        failed.summary,
        words::names(&failed.failures)
    );
    repairs.begin(turn, &reason)?;
    let output = output_of(turn, &failed);
    Ok(Next::Repair(prompt::repair_request(&prompt::Repair {
        attempt: repairs.done,
        attempts: settings.repairs,
        result: &words::for_model(
            &failed,
            std::time::Duration::from_millis(failed.duration_ms.unwrap_or_default()),
        ),
        output: &output,
    })))
}

impl Repairs {
    fn begin(&mut self, turn: &Turn, reason: &str) -> Result<(), RuntimeError> {
        let step = PlanStep {
            text: reason.to_owned(),
            status: ItemStatus::Running,
        };
        let item = turn.start_item(ItemKind::Plan {
            steps: vec![step.clone()],
        })?;
        self.open = Some((item, step));
        turn.session.step(SessionInput::CheckStarted)?;
        turn.session.step(SessionInput::RepairStarted)?;
        turn.session.step(SessionInput::ContextReady)
    }

    fn close(&mut self, turn: &Turn, status: ItemStatus) -> Result<(), RuntimeError> {
        let Some((mut item, mut step)) = self.open.take() else {
            return Ok(());
        };
        step.status = status;
        item.kind = ItemKind::Plan { steps: vec![step] };
        turn.complete_item(item, status, Durability::Normal)
    }
}

/// The paths of the proposal, where this turn worked on them.
fn changed_in(turn: &Turn) -> Result<Option<Vec<String>>, RuntimeError> {
    let set = turn.rooms.changes.open_set(&turn.session.id)?;
    let worked_on = set.filter(|set| set.updated_at >= turn.started_at);
    let changed = worked_on
        .map(|set| project::changed_paths(&set))
        .unwrap_or_default();
    Ok((!changed.is_empty()).then_some(changed))
}

/// The end of what the check printed. Without it the model still has the result.
fn output_of(turn: &Turn, failed: &VerificationItem) -> String {
    let shown = failed
        .command_id
        .as_ref()
        .map(|id| turn.rooms.commands.status(id));
    let output = match shown {
        Some(crate::commands::Status::Ended(ended)) => ended.recent_output,
        _ => String::new(),
    };
    let output = output.trim();
    match output.char_indices().rev().nth(OUTPUT) {
        Some((cut, _)) => format!("…{}", &output[cut..]),
        None => output.to_owned(),
    }
}

fn capital(mode: Mode) -> &'static str {
    match mode {
        Mode::Ask => "Ask",
        Mode::Edit => "Edit",
        Mode::Agent => "Agent",
    }
}
