//! What happened in a session, from its stored events and the state of its change sets and commands: no model is asked,
//! and nothing is taken from what a model said about it but its own last words.

use std::collections::BTreeMap;

use prompt::condense::{Facts, RequestEnd, RequestFacts, Standing};
use protocol::{
    ChangeSet, ChangeSetStatus, EventBody, ItemKind, ItemStatus, RuntimeError, SessionId, TimelineItem,
    ToolId, TurnId,
    event::TurnOutcome,
    timeline::{ApprovalDecision, CommandItem, PlanStep},
};

use crate::{events::Timeline, rooms::Rooms};

/// About the turns that `covers` names; what is true now is told whole.
pub fn gather(
    rooms: &Rooms,
    session: &SessionId,
    covers: &dyn Fn(&TurnId) -> bool,
) -> Result<Facts, RuntimeError> {
    let events = rooms.store.session_events(session)?.events;
    let mut ends = BTreeMap::new();
    for event in &events {
        if let EventBody::TurnCompleted { turn_id, outcome, .. } = &event.body {
            ends.insert(turn_id.clone(), outcome_words(outcome));
        }
    }
    let items = Timeline::of(&events).into_items();
    let sets = rooms.changes.list(Some(session))?;
    let mut facts = of_items(&items, &ends, covers);
    facts.decisions.extend(sets.iter().filter_map(decided));
    facts.standing = now(rooms, session, &items, &sets);
    Ok(facts)
}

/// What a condensed conversation must be told anew at each turn's start.
pub fn standing(rooms: &Rooms, session: &SessionId) -> Result<Standing, RuntimeError> {
    let events = rooms.store.session_events(session)?.events;
    let items = Timeline::of(&events).into_items();
    let sets = rooms.changes.list(Some(session))?;
    Ok(now(rooms, session, &items, &sets))
}

fn now(rooms: &Rooms, session: &SessionId, items: &[TimelineItem], sets: &[ChangeSet]) -> Standing {
    let running = rooms.commands.running().into_iter();
    Standing {
        plan: plan_lines(items),
        reviews: sets.iter().filter_map(waits).collect(),
        running: running
            .filter(|command| command.session_id == *session)
            .map(|command| {
                format!(
                    "{} `{}` in {}",
                    command.command_id,
                    one_line(&command.command),
                    command.cwd
                )
            })
            .collect(),
    }
}

/// The newest plan: an older one is no longer work.
fn plan_lines(items: &[TimelineItem]) -> Vec<String> {
    let plan = items.iter().rev().find_map(|item| match &item.kind {
        ItemKind::Plan { steps } => Some(steps),
        _ => None,
    });
    plan.into_iter().flatten().map(plan_line).collect()
}

fn plan_line(step: &PlanStep) -> String {
    let state = match step.status {
        ItemStatus::Pending | ItemStatus::Running => "open",
        ItemStatus::Succeeded => "done",
        ItemStatus::Failed => "failed",
        ItemStatus::Cancelled => "cancelled",
    };
    format!("[{state}] {}", one_line(&step.text))
}

fn of_items(
    items: &[TimelineItem],
    ends: &BTreeMap<TurnId, String>,
    covers: &dyn Fn(&TurnId) -> bool,
) -> Facts {
    let mut facts = Facts::default();
    let mut requests: Vec<(TurnId, RequestFacts)> = Vec::new();
    let mut files: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
    let mut commands: Vec<(String, String)> = Vec::new();
    for item in items.iter().filter(|item| covers(&item.correlation_id)) {
        match &item.kind {
            ItemKind::UserMessage { text, .. } => {
                let end = ends.get(&item.correlation_id).cloned();
                let request = RequestFacts {
                    words: text.clone(),
                    end: end.map_or(RequestEnd::Open, RequestEnd::Ended),
                    answer: String::new(),
                };
                requests.push((item.correlation_id.clone(), request));
            }
            ItemKind::AssistantMessage { text, .. } if !text.trim().is_empty() => {
                let turn = &item.correlation_id;
                if let Some((_, request)) = requests.iter_mut().rfind(|(id, _)| id == turn) {
                    request.answer.clone_from(text);
                }
            }
            ItemKind::ToolCall(call) if item.status == ItemStatus::Succeeded => {
                if let Some(did) = ToolId::from_name(&call.name).and_then(done_to_file) {
                    let said = files.entry(one_line(&call.target)).or_default();
                    if !said.contains(&did) {
                        said.push(did);
                    }
                }
            }
            ItemKind::Command(command) => {
                let line = format!("`{}` in {}", one_line(&command.command), command.cwd);
                commands.retain(|(known, _)| *known != line);
                commands.push((line, command_end(command)));
            }
            ItemKind::Verification(check) => {
                let line = format!("Check `{}`", one_line(&check.command));
                commands.retain(|(known, _)| *known != line);
                commands.push((line, one_line(&check.summary)));
            }
            ItemKind::Approval(approval) => {
                let decision = match approval.decision {
                    Some(ApprovalDecision::Allow) => "allowed",
                    Some(ApprovalDecision::Deny) => "refused",
                    None => continue,
                };
                let line = format!("`{}`: {decision}", one_line(&approval.request));
                facts.decisions.push(line);
            }
            _ => {}
        }
    }
    facts.requests = requests.into_iter().map(|(_, request)| request).collect();
    facts.files = files
        .into_iter()
        .map(|(path, did)| format!("{path}: {}", did.join(", ")))
        .collect();
    facts.commands = commands
        .into_iter()
        .map(|(line, end)| format!("{line}: {end}"))
        .collect();
    facts
}

fn done_to_file(tool: ToolId) -> Option<&'static str> {
    match tool {
        ToolId::ReadFile => Some("read"),
        ToolId::CreateFile => Some("created"),
        ToolId::DeleteFile => Some("deleted"),
        ToolId::RenameFile => Some("renamed"),
        ToolId::EditFile | ToolId::MultiEdit | ToolId::ReplaceFile | ToolId::ApplyPatch => Some("edited"),
        ToolId::ListDirectory
        | ToolId::SearchFiles
        | ToolId::SearchContent
        | ToolId::GitStatus
        | ToolId::GitDiff
        | ToolId::RunCommand
        | ToolId::CheckCommand
        | ToolId::RunChecks => None,
    }
}

fn command_end(command: &CommandItem) -> String {
    match (command.exit_code, command.signal) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => command.state.to_string(),
    }
}

fn outcome_words(outcome: &TurnOutcome) -> String {
    match outcome {
        TurnOutcome::Completed => "answered".to_owned(),
        TurnOutcome::Failed { error } => format!("failed: {}", one_line(&error.message)),
        TurnOutcome::Cancelled => "stopped by the user".to_owned(),
        TurnOutcome::Interrupted => "interrupted when the app ended".to_owned(),
    }
}

fn decided(set: &ChangeSet) -> Option<String> {
    let what = match set.status {
        ChangeSetStatus::Accepted => "accepted, on disk",
        ChangeSetStatus::PartiallyAccepted => "partly accepted",
        ChangeSetStatus::Rejected => "rejected, the files are as before",
        ChangeSetStatus::Restored => "undone, the files are as before",
        ChangeSetStatus::Conflicted
        | ChangeSetStatus::Draft
        | ChangeSetStatus::Proposed
        | ChangeSetStatus::PendingReview => return None,
    };
    Some(format!("The change to {}: {what}", paths(set)))
}

fn waits(set: &ChangeSet) -> Option<String> {
    let what = match set.status {
        ChangeSetStatus::Draft => "drafted, put up for review when the turn ends",
        ChangeSetStatus::Proposed | ChangeSetStatus::PendingReview => "waits for review",
        ChangeSetStatus::PartiallyAccepted => "the rest waits for review",
        ChangeSetStatus::Conflicted => "conflicts with the user's own edits, not on disk",
        ChangeSetStatus::Accepted | ChangeSetStatus::Rejected | ChangeSetStatus::Restored => return None,
    };
    (!set.files.is_empty()).then(|| format!("The change to {}: {what}", paths(set)))
}

fn paths(set: &ChangeSet) -> String {
    let paths: Vec<String> = set.files.iter().map(|file| one_line(&file.path)).collect();
    paths.join(", ")
}

fn one_line(text: &str) -> String {
    const MOST: usize = 300;
    let line = text.trim().replace(['\n', '\r'], " ");
    match line.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use protocol::{ItemId, Mode};

    use super::*;

    fn item(turn: &str, kind: ItemKind) -> TimelineItem {
        TimelineItem {
            id: ItemId::mint(),
            session_id: SessionId::from_text("ses_1".to_owned()),
            correlation_id: TurnId::from_text(turn.to_owned()),
            created_at: 1,
            updated_at: None,
            status: ItemStatus::Succeeded,
            visible: true,
            kind,
        }
    }

    fn asked(turn: &str, text: &str) -> TimelineItem {
        item(
            turn,
            ItemKind::UserMessage {
                text: text.into(),
                mode: Mode::Agent,
            },
        )
    }

    fn plan(turn: &str, steps: &[(&str, ItemStatus)]) -> TimelineItem {
        let steps = steps.iter().map(|(text, status)| PlanStep {
            text: (*text).into(),
            status: *status,
        });
        item(
            turn,
            ItemKind::Plan {
                steps: steps.collect(),
            },
        )
    }

    /// X02: what is done or cancelled does not come back as work; an older plan is none.
    #[test]
    fn x02_a_plan_keeps_the_states_of_its_newest_form() {
        let items = [
            asked("trn_1", "Plan it."),
            plan("trn_1", &[("old step", ItemStatus::Pending)]),
            plan(
                "trn_1",
                &[
                    ("rename the flag", ItemStatus::Succeeded),
                    ("write documents", ItemStatus::Cancelled),
                    ("mend the parser", ItemStatus::Running),
                ],
            ),
        ];
        assert_eq!(
            plan_lines(&items),
            [
                "[done] rename the flag",
                "[cancelled] write documents",
                "[open] mend the parser"
            ]
        );
    }

    #[test]
    fn requests_have_their_ends_and_only_covered_turns_are_told() {
        let items = [
            asked("trn_1", "First."),
            item(
                "trn_1",
                ItemKind::AssistantMessage {
                    text: "Did the first.".into(),
                    provider: "p".into(),
                    model: "m".into(),
                },
            ),
            asked("trn_2", "Second."),
            asked("trn_3", "Third."),
        ];
        let ends = BTreeMap::from([
            (
                TurnId::from_text("trn_1".to_owned()),
                outcome_words(&TurnOutcome::Completed),
            ),
            (
                TurnId::from_text("trn_2".to_owned()),
                outcome_words(&TurnOutcome::Cancelled),
            ),
        ]);
        let facts = of_items(&items, &ends, &|turn| turn.as_str() != "trn_3");
        let told: Vec<(&str, &RequestEnd, &str)> = facts
            .requests
            .iter()
            .map(|request| (request.words.as_str(), &request.end, request.answer.as_str()))
            .collect();
        let ended = |words: &str| RequestEnd::Ended(words.to_owned());
        assert_eq!(
            told,
            [
                ("First.", &ended("answered"), "Did the first."),
                ("Second.", &ended("stopped by the user"), ""),
            ]
        );
    }
}
