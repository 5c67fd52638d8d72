//! Timeline items, change sets and sessions as text for a terminal.

use protocol::{
    ChangeSet, ChangeSetFile, ChangeType, EventBody, EventEnvelope, FileStatus, ItemDelta, ItemId, ItemKind,
    ItemStatus, Spending, TimelineItem, checks::VerificationItem, request::SessionSummary,
};

use crate::output;

/// Prints a turn as it happens: the assistant's words on standard output, its work on standard error.
#[derive(Default)]
pub struct Progress {
    /// The answer that is being written, and how many bytes of it are out.
    writing: Option<(ItemId, usize)>,
}

impl Progress {
    pub fn event(&mut self, event: &EventEnvelope) {
        match &event.body {
            EventBody::ItemStarted { item } if matches!(item.kind, ItemKind::AssistantMessage { .. }) => {
                self.writing = Some((item.id.clone(), 0));
            }
            EventBody::ItemDelta {
                item_id,
                delta: ItemDelta::Text { text },
            } => {
                if let Some((writing, out)) = &mut self.writing
                    && writing == item_id
                {
                    *out += text.len();
                    output::text(text);
                }
            }
            EventBody::ItemCompleted { item } if matches!(item.kind, ItemKind::AssistantMessage { .. }) => {
                let ItemKind::AssistantMessage { text, .. } = &item.kind else {
                    return;
                };
                let out = self.writing.take().map_or(0, |(_, out)| out);
                // The end of a text comes with the item itself.
                output::line(text.get(out..).unwrap_or_default());
            }
            EventBody::ItemCompleted { item: done } if done.visible => match &done.kind {
                ItemKind::UserMessage { .. } | ItemKind::Thinking { .. } | ItemKind::ChangeSet { .. } => {}
                _ => output::note(item(done)),
            },
            _ => {}
        }
    }
}

fn glyph(status: ItemStatus) -> &'static str {
    match status {
        ItemStatus::Pending | ItemStatus::Running => "…",
        ItemStatus::Succeeded => "✓",
        ItemStatus::Failed => "✕",
        ItemStatus::Cancelled => "■",
    }
}

/// One item, on one or more lines.
pub fn item(item: &TimelineItem) -> String {
    let glyph = glyph(item.status);
    match &item.kind {
        ItemKind::UserMessage { text, mode } => format!("\n> {text}   ({mode})"),
        ItemKind::AssistantMessage { text, .. } => text.clone(),
        ItemKind::Thinking { text } => format!("{glyph} Thought, {} characters", text.chars().count()),
        ItemKind::Plan { steps } => {
            let lines: Vec<String> = steps.iter().map(|step| format!("  - {}", step.text)).collect();
            format!("{glyph} Plan\n{}", lines.join("\n"))
        }
        ItemKind::ToolCall(call) => {
            let summary = if call.summary.is_empty() {
                String::new()
            } else {
                format!(" · {}", call.summary)
            };
            format!("{glyph} {} {}{summary}", call.verb, call.target)
        }
        ItemKind::Command(command) => {
            let end = match (command.exit_code, command.signal) {
                (Some(code), _) => format!("exit {code}"),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => command.state.to_string(),
            };
            let seconds = command.duration_ms.unwrap_or_default() as f64 / 1000.0;
            let mut text = format!(
                "{glyph} $ {}   ({}, {seconds:.1} s, {})",
                command.command, end, command.isolation
            );
            for line in last_lines(&command.output, 6) {
                text.push_str(&format!("\n    {line}"));
            }
            for note in &command.notes {
                text.push_str(&format!("\n    note: {note}"));
            }
            text
        }
        ItemKind::ChangeSet { title, .. } => format!("{glyph} Proposed: {title}"),
        ItemKind::Diff { path, .. } => format!("{glyph} Diff of {path}"),
        ItemKind::Verification(result) => format!("{glyph} {}", check(result)),
        ItemKind::Error { error } => format!("{glyph} {error}"),
        ItemKind::Approval(approval) => {
            let decided = &approval.decided_because;
            format!("{glyph} {} — {} {decided}", approval.request, approval.reason)
        }
        ItemKind::Condensed(condensed) => {
            let undone = if condensed.undone {
                " (sent again since)"
            } else {
                ""
            };
            format!("— {}{undone}", condensed.title)
        }
        ItemKind::Summary(summary) => {
            let cost = summary
                .cost
                .map_or_else(String::new, |cost| format!(", ${cost:.4}"));
            let seconds = summary.duration_ms as f64 / 1000.0;
            let mut text = format!(
                "— {} files changed, {} commands, {} tokens in, {} out{cost}, {seconds:.1} s",
                summary.files_changed.len(),
                summary.commands_run,
                summary.usage.input,
                summary.usage.output,
            );
            if let Some(verified) = &summary.verified {
                text.push_str(&format!("\n  {}", verified.text));
            }
            for note in &summary.notes {
                text.push_str(&format!("\n  note: {note}"));
            }
            text
        }
    }
}

/// A result with what failed, each on a line of its own.
pub fn check(result: &VerificationItem) -> String {
    let stale = match &result.stale {
        Some(because) => format!("   (no longer holds: {because})"),
        None => String::new(),
    };
    let mut text = format!("Check {}: {}{stale}", result.command, result.summary);
    for failure in &result.failures {
        let place = match (&failure.file, failure.line) {
            (Some(file), Some(line)) => format!("{file}:{line}  "),
            (Some(file), None) => format!("{file}  "),
            _ => String::new(),
        };
        text.push_str(&format!("\n    {place}{}", failure.name));
    }
    text
}

fn last_lines(text: &str, count: usize) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().rev().take(count).collect();
    lines.reverse();
    lines
}

pub fn session_line(session: &SessionSummary) -> String {
    let interrupted = if session.interrupted { "  interrupted" } else { "" };
    let spent = spending(&session.spent).map_or_else(String::new, |spent| format!("  ({spent})"));
    format!(
        "{}  {}  {}{interrupted}{spent}",
        session.id, session.state, session.title
    )
}

/// "1200 tokens, $0.0150"; nothing where nothing was spent.
pub fn spending(spent: &Spending) -> Option<String> {
    if spent.tokens == 0 {
        return None;
    }
    let tokens = format!("{} tokens", spent.tokens);
    Some(match (spent.dollars > 0.0, spent.unpriced) {
        (true, 0) => format!("{tokens}, ${:.4}", spent.dollars),
        (true, unpriced) => format!(
            "{tokens}, ${:.4} and {unpriced} requests of unknown price",
            spent.dollars
        ),
        (false, _) => tokens,
    })
}

pub fn change_set_line(set: &ChangeSet) -> String {
    let (added, deleted) = set.line_counts();
    format!(
        "{}  {}  {} files  +{added} −{deleted}  {}",
        set.id,
        set.status,
        set.files.len(),
        set.title
    )
}

pub fn change_set_card(set: &ChangeSet) -> String {
    let mut text = change_set_line(set);
    for file in &set.files {
        text.push_str(&format!("\n  {}", file_line(file)));
    }
    text
}

fn file_line(file: &ChangeSetFile) -> String {
    let letter = match file.change_type {
        ChangeType::Create => "A",
        ChangeType::Modify => "M",
        ChangeType::Delete => "D",
        ChangeType::Rename => "R",
    };
    let from = file
        .old_path
        .as_ref()
        .map_or_else(String::new, |old| format!("{old} → "));
    let status = match file.status {
        FileStatus::Pending => String::new(),
        FileStatus::Accepted => "  accepted".to_owned(),
        FileStatus::Rejected => "  rejected".to_owned(),
        FileStatus::Conflicted => "  conflict".to_owned(),
    };
    let conflict = file
        .conflict
        .as_ref()
        .map_or_else(String::new, |why| format!(": {why}"));
    let by = file
        .by_command
        .as_ref()
        .map_or_else(String::new, |command| format!("  by `{command}`"));
    format!(
        "{letter} {from}{}  +{} −{}{status}{conflict}{by}",
        file.path, file.added, file.deleted
    )
}
