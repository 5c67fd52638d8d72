//! The text that stands in place of an earlier part of a conversation. It is made of recorded facts, so that no model
//! is needed and nothing in it is invented; what is true only now (running commands, open reviews) says so.

use crate::{budget::TokenBudgetManager, compose::kept_inside};

const HEAD: &str = include_str!("../layers/condensed.md");

/// What happened so far, oldest first, as the records say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub requests: Vec<RequestFacts>,
    /// "src/app.rs: edited", one line for each path.
    pub files: Vec<String>,
    /// "`cargo test` in .: exit 1", the latest run of each.
    pub commands: Vec<String>,
    /// What a person decided: approvals, accepted and rejected changes.
    pub decisions: Vec<String>,
    pub standing: Standing,
}

/// One message of the user and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFacts {
    pub words: String,
    pub end: RequestEnd,
    /// The assistant's last words about it.
    pub answer: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestEnd {
    /// It is being worked on.
    Open,
    /// "answered", "stopped by the user", "failed: …".
    Ended(String),
}

/// What is true now, whatever was said before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// "[open] …", "[done] …", "[cancelled] …".
    pub plan: Vec<String>,
    /// Changes that wait for the user's review.
    pub reviews: Vec<String>,
    pub running: Vec<String>,
}

impl Standing {
    pub fn is_empty(&self) -> bool {
        self.plan.is_empty() && self.reviews.is_empty() && self.running.is_empty()
    }

    fn sections(&self) -> String {
        section("The plan: only open steps are work", &self.plan)
            + &section("Waits for the user's review; do not do it again", &self.reviews)
            + &section("Commands that are running", &self.running)
    }

    /// For a later turn of a condensed conversation: what its summary cannot know. Empty when there is nothing.
    pub fn render(&self) -> String {
        match self.is_empty() {
            true => String::new(),
            false => format!(
                "<context>\n# Where things stand now\n{}</context>\n",
                self.sections()
            ),
        }
    }
}

/// How much of each kind a summary keeps. The first that fits is taken.
struct Detail {
    words: usize,
    answer: usize,
    requests: usize,
    lines: usize,
}

const DETAILS: [Detail; 4] = [
    Detail {
        words: 2_000,
        answer: 800,
        requests: 200,
        lines: 200,
    },
    Detail {
        words: 600,
        answer: 300,
        requests: 100,
        lines: 60,
    },
    Detail {
        words: 300,
        answer: 0,
        requests: 40,
        lines: 30,
    },
    Detail {
        words: 150,
        answer: 0,
        requests: 15,
        lines: 12,
    },
];

/// Within `max_tokens` where that can be: the request that is being worked on is never cut.
pub fn summary(facts: &Facts, max_tokens: u64) -> String {
    let mut text = String::new();
    for detail in &DETAILS {
        text = render(facts, detail);
        if TokenBudgetManager::estimate(&text) <= max_tokens {
            break;
        }
    }
    text
}

fn render(facts: &Facts, detail: &Detail) -> String {
    let mut text = format!("<condensed>\n{}\n", HEAD.trim_end());
    let (open, ended): (Vec<_>, Vec<_>) = facts
        .requests
        .iter()
        .partition(|request| request.end == RequestEnd::Open);
    let earlier = ended.len().saturating_sub(detail.requests);
    let mut lines = Vec::new();
    if earlier > 0 {
        lines.push(format!("({earlier} earlier ones are not listed)"));
    }
    for request in &ended[earlier..] {
        let RequestEnd::Ended(end) = &request.end else {
            continue;
        };
        let mut line = format!("“{}” ({end})", inside(&request.words, detail.words));
        let answer = inside(&request.answer, detail.answer);
        if !answer.is_empty() {
            line.push_str(&format!("\n  You said: {}", answer.replace('\n', "\n  ")));
        }
        lines.push(line);
    }
    text.push_str(&section(
        "What the user asked for before, in their words; it has ended",
        &lines,
    ));
    text.push_str(&section(
        "What the user decided",
        newest(&facts.decisions, detail.lines),
    ));
    text.push_str(&section("Files", newest(&facts.files, detail.lines)));
    text.push_str(&section(
        "Commands that ran",
        newest(&facts.commands, detail.lines),
    ));
    text.push_str(&facts.standing.sections());
    for request in open {
        text.push_str(&format!(
            "\n## What you are working on now, in the user's words\n{}\n",
            kept_inside(request.words.trim_end(), "condensed")
        ));
    }
    text.push_str("</condensed>\n");
    text
}

fn newest(lines: &[String], most: usize) -> &[String] {
    &lines[lines.len().saturating_sub(most)..]
}

fn section(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut text = format!("\n## {title}\n");
    for line in lines {
        text.push_str(&format!("- {line}\n"));
    }
    text
}

fn inside(text: &str, characters: usize) -> String {
    kept_inside(&shortened(text, characters), "condensed")
}

fn shortened(text: &str, characters: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(characters) {
        Some(_) if characters == 0 => String::new(),
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

/// What stands in place of a tool's result. `what` is "read_file src/app.rs".
pub fn result_left_out(what: &str, bytes: usize) -> String {
    format!("[The result of {what} ({bytes} bytes) was left out to make room. Call it again if you need it.]")
}

/// A result with its middle left out, in at most about `bytes`.
pub fn result_shortened(content: &str, bytes: usize) -> String {
    if content.len() <= bytes {
        return content.to_owned();
    }
    let part = bytes.saturating_sub(120) / 2;
    let mut head = part;
    while !content.is_char_boundary(head) {
        head -= 1;
    }
    let mut tail = content.len() - part;
    while !content.is_char_boundary(tail) {
        tail += 1;
    }
    format!(
        "{}\n[{} bytes in the middle were left out to make room. Ask for less at a time.]\n{}",
        &content[..head],
        tail - head,
        &content[tail..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts {
            requests: vec![
                RequestFacts {
                    words: "Rename the flag.".into(),
                    end: RequestEnd::Ended("answered".into()),
                    answer: "The flag is renamed in `src/flags.rs:4`.".into(),
                },
                RequestFacts {
                    words: "Now mend the parser, and keep its errors.".into(),
                    end: RequestEnd::Open,
                    answer: String::new(),
                },
            ],
            files: vec!["src/flags.rs: read, edited".into()],
            commands: vec!["`cargo test` in .: exit 1".into()],
            decisions: vec!["You may run `cargo test`: allowed".into()],
            standing: Standing {
                plan: vec![
                    "[done] rename".into(),
                    "[cancelled] document".into(),
                    "[open] mend".into(),
                ],
                reviews: vec!["“Rename the flag”: src/flags.rs".into()],
                running: vec!["cmd_1 `npm run dev` in web".into()],
            },
        }
    }

    #[test]
    fn golden_summary_of_a_conversation() {
        insta::assert_snapshot!(summary(&facts(), 10_000));
    }

    /// What a later turn is told about reviews, whatever an earlier summary says.
    #[test]
    fn golden_diff_review() {
        let standing = Standing {
            reviews: vec![
                "The change to src/flags.rs, src/main.rs: waits for review".into(),
                "The change to docs/flags.md: conflicts with the user's own edits, not on disk".into(),
            ],
            ..Standing::default()
        };
        insta::assert_snapshot!(standing.render());
        assert_eq!(Standing::default().render(), "");
    }

    #[test]
    fn what_is_open_stays_whole_whatever_the_limit() {
        let mut facts = facts();
        facts.requests[1].words = "word ".repeat(2_000);
        for number in 0..300 {
            facts.requests.insert(
                0,
                RequestFacts {
                    words: format!("Earlier {number} {}", "x".repeat(500)),
                    end: RequestEnd::Ended("answered".into()),
                    answer: "y".repeat(500),
                },
            );
        }
        let text = summary(&facts, 100);
        assert!(text.contains(facts.requests[300].words.trim_end()));
        assert!(!text.contains(&"y".repeat(300)));
        assert!(text.contains("npm run dev") && text.contains("[open] mend"));
        assert!(text.contains("earlier ones are not listed"));
    }

    #[test]
    fn a_long_result_keeps_its_ends_and_never_splits_a_character() {
        let content = format!("begin{}end", "é".repeat(5_000));
        let short = result_shortened(&content, 1_000);
        assert!(short.len() <= 1_000, "{}", short.len());
        assert!(short.starts_with("begin") && short.ends_with("end"));
        assert_eq!(result_shortened("short", 1_000), "short");
    }
}
