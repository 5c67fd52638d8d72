//! A person's standing rules about commands: what is allowed without a question, always asked about, or never run.
//!
//! A rule names commands by a pattern: words as the shell would pass them, and `*` for arguments. It is held against
//! every simple command of a line, so a chain cannot carry an unknown part past it. Pure; who keeps the rules and to
//! which session or workspace they belong is not known here.

use super::{Ruling, Verdict, tables};

/// What a rule does with the commands it names, the strictest of those that match winning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Runs without a question where the policy would ask. Never lifts a block.
    Allow,
    /// Asks where the policy would allow.
    Ask,
    Never,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub pattern: Pattern,
    pub effect: Effect,
}

/// Words, each a literal or `*`: any number of arguments. For [`Effect::Allow`] `*` stands for no option, so that
/// an allowed `git push *` does not allow `git push --force`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<PatternWord>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternWord {
    Literal(String),
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error("a pattern begins with the name of a program, not with `*`")]
    NoProgram,
    #[error("a quote is not closed")]
    OpenQuote,
}

impl std::str::FromStr for Pattern {
    type Err = PatternError;

    /// Words are parted by spaces; within single quotes nothing is special.
    fn from_str(text: &str) -> Result<Self, PatternError> {
        let mut words = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let mut word = String::new();
            let mut quoted = false;
            let mut in_quotes = false;
            let mut end = rest.len();
            for (at, letter) in rest.char_indices() {
                match letter {
                    '\'' => {
                        in_quotes = !in_quotes;
                        quoted = true;
                    }
                    letter if letter.is_whitespace() && !in_quotes => {
                        end = at;
                        break;
                    }
                    letter => word.push(letter),
                }
            }
            if in_quotes {
                return Err(PatternError::OpenQuote);
            }
            words.push(match word == "*" && !quoted {
                true => PatternWord::Any,
                false => PatternWord::Literal(word),
            });
            rest = rest.get(end..).unwrap_or_default().trim_start();
        }
        match words.first() {
            Some(PatternWord::Literal(_)) => Ok(Self(words)),
            _ => Err(PatternError::NoProgram),
        }
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, word) in self.0.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            match word {
                PatternWord::Any => write!(f, "{space}*")?,
                PatternWord::Literal(word) => write!(f, "{space}{}", quoted(word))?,
            }
        }
        Ok(())
    }
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| !letter.is_whitespace() && letter != '\'';
    match !word.is_empty() && word != "*" && word.chars().all(plain) {
        true => word.to_owned(),
        // A quote within quotes cannot be written; such a word matches nothing, which asks.
        false => format!("'{}'", word.replace('\'', "")),
    }
}

impl Pattern {
    fn matches(&self, words: &[String], effect: Effect) -> bool {
        matches(&self.0, words, effect)
    }
}

fn matches(pattern: &[PatternWord], words: &[String], effect: Effect) -> bool {
    match pattern.split_first() {
        None => words.is_empty(),
        Some((PatternWord::Literal(literal), pattern)) => words
            .split_first()
            .is_some_and(|(word, words)| word == literal && matches(pattern, words, effect)),
        Some((PatternWord::Any, pattern)) => {
            let fits = |word: &String| effect != Effect::Allow || !word.starts_with('-');
            let most = words.iter().take_while(|word| fits(word)).count();
            (0..=most).any(|taken| matches(pattern, &words[taken..], effect))
        }
    }
}

/// One simple command of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Its words; absent where they are only known when it runs.
    pub words: Option<Vec<String>>,
    /// Whether a person has to be asked because of it.
    pub asks: bool,
}

/// What a standing OK for a part covers: the same program and subcommand with the same options and any arguments where
/// that is one kind of thing, otherwise the very same words.
fn pattern_of(words: &[String]) -> Pattern {
    let literal = |word: &String| PatternWord::Literal(word.clone());
    let name = |index: usize| words.get(index).map(String::as_str).unwrap_or_default();
    let of_one_kind = tables::ONE_KIND
        .iter()
        .any(|(program, words)| *program == name(0) && words.split('|').any(|word| word == name(1)));
    let harmless = |word: &String| !word.starts_with('-') || tables::KIND_OPTIONS.contains(&word.as_str());
    if !of_one_kind || !words.iter().skip(2).all(harmless) {
        return Pattern(words.iter().map(literal).collect());
    }
    let mut pattern: Vec<PatternWord> = words.iter().take(2).map(literal).collect();
    for word in words.iter().skip(2) {
        match word.starts_with('-') {
            true => pattern.push(literal(word)),
            false if pattern.last() != Some(&PatternWord::Any) => pattern.push(PatternWord::Any),
            false => {}
        }
    }
    Pattern(pattern)
}

impl Verdict {
    /// What a standing OK for this command would allow from now on, a pattern for each part that asks. Empty where
    /// it cannot be given: nothing asks, or what would run is only known when it runs.
    pub fn patterns(&self) -> Vec<Pattern> {
        if self.ruling != Ruling::Ask || !self.parts_ask {
            return Vec::new();
        }
        let mut patterns = Vec::new();
        for part in self.parts.iter().filter(|part| part.asks) {
            let Some(words) = &part.words else {
                return Vec::new();
            };
            let pattern = pattern_of(words);
            if !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        }
        patterns
    }

    /// The person's rules that decided, if any did.
    pub fn decided_by(&self) -> &[Pattern] {
        &self.rules
    }

    /// The verdict with a person's rules: never wins over ask, ask over allow, and a block stays a block.
    pub fn under(mut self, rules: &[Rule]) -> Self {
        let strictest = |part: &Part| -> Option<&Rule> {
            let words = part.words.as_ref()?;
            rules
                .iter()
                .filter(|rule| rule.pattern.matches(words, rule.effect))
                .max_by_key(|rule| rule.effect)
        };
        let found: Vec<Option<&Rule>> = self.parts.iter().map(strictest).collect();
        let with = |effect: Effect| found.iter().flatten().find(|rule| rule.effect == effect);
        if let Some(rule) = with(Effect::Never) {
            if self.ruling != Ruling::Block {
                self.ruling = Ruling::Block;
                self.rules = vec![rule.pattern.clone()];
                self.reasons = vec![format!("your rule says never for `{}`", rule.pattern)];
            }
        } else if let Some(rule) = with(Effect::Ask) {
            if self.ruling == Ruling::Allow {
                self.ruling = Ruling::Ask;
                self.rules = vec![rule.pattern.clone()];
                // The rule is about this part whatever is answered, so no standing OK comes of it.
                self.parts_ask = false;
                self.reasons = vec![format!("your rule says to ask for `{}`", rule.pattern)];
            }
        } else if self.ruling == Ruling::Ask && self.parts_ask {
            let asking = self.parts.iter().zip(&found).filter(|(part, _)| part.asks);
            let granted: Option<Vec<&Rule>> = asking.map(|(_, rule)| *rule).collect();
            if let Some(granted) = granted.filter(|granted| !granted.is_empty()) {
                let mut patterns: Vec<String> =
                    granted.iter().map(|rule| format!("`{}`", rule.pattern)).collect();
                patterns.dedup();
                self.ruling = Ruling::Allow;
                self.rules = granted.iter().map(|rule| rule.pattern.clone()).collect();
                self.reasons = vec![format!("your standing OK for {}", patterns.join(" and "))];
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Checks, PolicyContext, judge};

    fn verdict(command: &str, rules: &[(&str, Effect)]) -> Verdict {
        let rules: Vec<Rule> = rules
            .iter()
            .map(|(pattern, effect)| Rule {
                pattern: pattern.parse().unwrap(),
                effect: *effect,
            })
            .collect();
        let context = PolicyContext::new("/tmp", "/tmp").checks(Checks::Allow);
        judge(command, &context).under(&rules)
    }

    #[test]
    fn a_standing_ok_is_offered_for_the_kind_of_command_or_for_its_very_words() {
        let cases: [(&str, &[&str]); 13] = [
            ("npm install lodash", &["npm install *"]),
            ("npm  install 'a' b -D", &["npm install * -D"]),
            ("npm install --prefix /etc x", &["npm install --prefix /etc x"]),
            ("git push origin main", &["git push *"]),
            ("git push --force", &["git push --force"]),
            ("rm -rf build", &["rm -rf build"]),
            (
                "npm install a && npm install b && git push",
                &["npm install *", "git push"],
            ),
            ("curl https://example.invalid/x > 'a b'", &[]),
            ("npm install $UNKNOWN_THING", &[]),
            ("ls | xargs rm", &[]),
            ("find . -exec rm {} +", &["find . -exec rm {} +"]),
            ("while read f; do rm \"$f\"; done", &[]),
            ("ls", &[]),
        ];
        for (command, expected) in cases {
            let patterns: Vec<String> = verdict(command, &[])
                .patterns()
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(patterns, expected, "{command}");
        }
    }

    #[expect(clippy::type_complexity, reason = "a table of cases is a list of tuples")]
    #[test]
    fn never_wins_over_ask_wins_over_allow_and_a_block_stays() {
        use Effect::{Allow, Ask, Never};
        let cases: [(&str, &[(&str, Effect)], Ruling); 16] = [
            ("npm install x", &[("npm install *", Allow)], Ruling::Allow),
            (
                "npm install x",
                &[("npm install *", Allow), ("npm *", Ask)],
                Ruling::Ask,
            ),
            (
                "npm install x",
                &[("npm install *", Allow), ("npm *", Never), ("npm *", Ask)],
                Ruling::Block,
            ),
            (
                "npm install x && git push",
                &[("npm install *", Allow)],
                Ruling::Ask,
            ),
            (
                "npm install x && git push",
                &[("npm install *", Allow), ("git push", Allow)],
                Ruling::Allow,
            ),
            (
                "echo $(git push -f)",
                &[("echo *", Allow), ("git push *", Allow)],
                Ruling::Ask,
            ),
            ("git push --force", &[("git push *", Allow)], Ruling::Ask),
            ("git push --force", &[("git push *", Never)], Ruling::Block),
            (
                "timeout 5 git push --force",
                &[("git push *", Never)],
                Ruling::Block,
            ),
            ("ls | cat", &[("cat *", Never)], Ruling::Block),
            ("ls", &[("ls *", Ask)], Ruling::Ask),
            ("sudo ls", &[("sudo *", Allow), ("ls *", Allow)], Ruling::Block),
            ("sh -c 'git push'", &[("git push", Allow)], Ruling::Allow),
            (
                "npm install x > /etc/passwd",
                &[("npm install *", Allow)],
                Ruling::Block,
            ),
            ("npm install x > /opt/y", &[("npm install *", Allow)], Ruling::Ask),
            ("npm install $X", &[("npm install *", Allow)], Ruling::Ask),
        ];
        for (command, rules, expected) in cases {
            assert_eq!(verdict(command, rules).ruling(), expected, "{command} {rules:?}");
        }
    }

    #[test]
    fn patterns_are_read_as_they_are_written() {
        for text in ["git push *", "echo 'a b' *", "find . -name '*'"] {
            assert_eq!(text.parse::<Pattern>().unwrap().to_string(), text);
        }
        assert_eq!("* x".parse::<Pattern>(), Err(PatternError::NoProgram));
        assert_eq!("".parse::<Pattern>(), Err(PatternError::NoProgram));
        assert_eq!("a 'b".parse::<Pattern>(), Err(PatternError::OpenQuote));
    }
}
