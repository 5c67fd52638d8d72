//! What the model is told when the checks of its own change fail.

const TEXT: &str = include_str!("../layers/repair.md");

pub struct Repair<'a> {
    pub attempt: u32,
    pub attempts: u32,
    /// The failed check with its failures, one a line.
    pub result: &'a str,
    /// The end of what it printed; may be empty.
    pub output: &'a str,
}

pub fn repair_request(repair: &Repair<'_>) -> String {
    let output = match repair.output {
        "" => String::new(),
        output => format!("\n<output>\n{output}\n</output>\n"),
    };
    TEXT.replace("{attempt}", &repair.attempt.to_string())
        .replace("{attempts}", &repair.attempts.to_string())
        .replace("{result}", repair.result)
        .replace("{output}", &output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_repair_request() {
        insta::assert_snapshot!(repair_request(&Repair {
            attempt: 1,
            attempts: 2,
            result: "`cargo test` failed: 1 of 2 failed (0.8 s)\n- tests::costs (src/lib.rs:9): left: 2; right: 1",
            output: "test tests::costs ... FAILED",
        }));
    }
}
