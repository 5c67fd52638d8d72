//! The page `docs/qa/providers.md`: what the matrix tests hold, as a table. It is made of the same constants, and a
//! page that says something else fails.

use std::{fmt::Write as _, path::Path};

use provider::Family;

use crate::{
    matrix::{BEHAVIOURS, DIFFERENT, ERRORS, FAULTS, after_output, before_output, under_fault},
    support::{FAMILIES, ask, transcript},
};

const INTRODUCTION: &str = "# Every family, every failure

Made by the tests of `crates/provider` (`UPDATE_PAGES=1 cargo nextest run -p provider page` writes it). Each row is
the same scenario or fault, played by the model server of `testkit` over real HTTP in each family's real wire
format. A tick says that the family gives exactly the events in the second column; the matrix tests fail where it
does not.

";

const ELSEWHERE: [(&str, &str); 8] = [
    (
        "Image in a message, JSON mode, JSON of a schema",
        "forms::images_and_schemas_are_sent_in_each_familys_own_form",
    ),
    (
        "Cancelled before headers, before text, after text, during a wait",
        "cancel::cancelling_works_at_every_moment_and_closes_the_connection",
    ),
    (
        "The request prefix is the same bytes over 20 turns",
        "history::each_request_continues_the_bytes_of_the_one_before",
    ),
    (
        "Reasoning goes only to the model that wrote it",
        "history::v06_reasoning_goes_only_to_the_model_that_produced_it",
    ),
    (
        "Every stored history is sendable",
        "sendable::every_stored_history_is_sendable_to_every_family",
    ),
    (
        "Waits in seconds and dates, quota not retried",
        "recorded::v07_a_rate_limit_is_waited_for_as_the_provider_says",
    ),
    (
        "Bytes cut at every position",
        "recorded::v04_text_survives_any_split_of_its_bytes",
    ),
    (
        "Parallel calls in pieces, with and without index and id",
        "quirks::compatible_servers_may_leave_out_what_openai_sends",
    ),
];

#[tokio::test]
async fn the_page_says_what_the_matrix_holds() {
    let mut page = INTRODUCTION.to_owned();
    page.push_str("## Behaviours\n\n");
    head(&mut page, "Behaviour");
    for (name, yaml) in BEHAVIOURS {
        row(
            &mut page,
            name,
            name,
            &transcript(&ask(Family::Anthropic, yaml, |_| {}).await),
        );
    }
    page.push_str("\n## Errors before and after output\n\n");
    head(&mut page, "Error");
    for kind in ERRORS {
        let words = kind.replace('_', " ");
        row(
            &mut page,
            &words,
            kind,
            &transcript(&ask(Family::Anthropic, before_output(kind).as_str(), |_| {}).await),
        );
        let after = transcript(&ask(Family::Anthropic, after_output(kind).as_str(), |_| {}).await);
        row(&mut page, &format!("{words}, after text"), "after output", &after);
    }
    page.push_str("\n## Faults of servers and networks\n\n");
    head(&mut page, "Fault");
    for (name, fault) in FAULTS {
        row(
            &mut page,
            name,
            name,
            &under_fault(Family::Anthropic, fault).await,
        );
    }
    page.push_str("\n## Where a family differs\n\n");
    for (name, family, why) in DIFFERENT {
        writeln!(
            page,
            "- {} and “{}”: {why}.",
            title(family),
            name.replace('_', " ")
        )
        .unwrap();
    }
    page.push_str("\n## Held for every family by tests of their own\n\n| What | Test |\n|---|---|\n");
    for (what, test) in ELSEWHERE {
        writeln!(page, "| {what} | `{test}` |").unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/qa/providers.md");
    if std::env::var_os("UPDATE_PAGES").is_some() {
        #[expect(clippy::disallowed_methods, reason = "a page that this test owns")]
        std::fs::write(&path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page,
        "docs/qa/providers.md is out of date: UPDATE_PAGES=1 cargo nextest run -p provider page"
    );
}

fn title(family: Family) -> &'static str {
    match family {
        Family::Anthropic => "Anthropic Messages",
        Family::OpenAiChat => "OpenAI Chat",
        Family::OpenAiResponses => "OpenAI Responses",
        Family::Gemini => "Gemini",
        Family::Scripted => "Scripted",
    }
}

fn head(page: &mut String, first: &str) {
    write!(page, "| {first} | Events |").unwrap();
    FAMILIES
        .iter()
        .for_each(|family| write!(page, " {} |", title(*family)).unwrap());
    writeln!(page, "\n|---|---|{}", "---|".repeat(FAMILIES.len())).unwrap();
}

/// Only how it ended and what came in between; the snapshots have the whole.
fn row(page: &mut String, name: &str, key: &str, transcript: &str) {
    let retries = transcript
        .lines()
        .filter(|line| line.starts_with("retrying"))
        .count();
    let last = transcript.lines().last().unwrap_or_default();
    let end = match last.strip_prefix("done: ") {
        Some(done) => format!("done, {}", done.split(',').next().unwrap_or_default()),
        None => last.to_owned(),
    };
    let waits = match retries {
        0 => String::new(),
        1 => "one retry, then ".to_owned(),
        several => format!("{several} retries, then "),
    };
    write!(page, "| {name} | {waits}{end} |").unwrap();
    for family in FAMILIES {
        let different = DIFFERENT.iter().any(|row| row.0 == key && row.1 == family);
        write!(page, " {} |", if different { "see below" } else { "✓" }).unwrap();
    }
    page.push('\n');
}
