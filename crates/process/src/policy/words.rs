//! What a word of the command line means to the shell: its possible values, as far as they can be known.

use tree_sitter::Node;

use super::syntax::{Judge, Places, named_children};
use super::tables;
use crate::environment::names_secret;

/// The values a variable may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Known(Vec<String>),
    Unknown,
}

/// More possibilities than this count as unknown.
const MAX_VALUES: usize = 32;

impl Value {
    pub(super) fn bounded(self) -> Value {
        match self {
            Value::Known(mut values) => {
                values.sort();
                values.dedup();
                if values.len() > MAX_VALUES {
                    Value::Unknown
                } else {
                    Value::Known(values)
                }
            }
            Value::Unknown => Value::Unknown,
        }
    }

    pub(super) fn or(self, other: Value) -> Value {
        match (self, other) {
            (Value::Known(mut values), Value::Known(more)) => {
                values.extend(more);
                Value::Known(values).bounded()
            }
            _ => Value::Unknown,
        }
    }
}

/// A word before the shell splits it.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    /// `None` when it is only known when the command runs.
    pub(super) values: Option<Vec<String>>,
    /// Has unquoted wildcards.
    pub(super) glob: bool,
    /// Variables in it that have no value.
    pub(super) unset: Vec<String>,
    /// Variables in it whose name is that of a credential.
    pub(super) secrets: Vec<String>,
    /// Contains an unquoted expansion, which the shell splits at white space.
    splits: bool,
}

/// One argument of a command.
#[derive(Clone, Debug, Default)]
pub(super) struct Arg {
    pub(super) text: Option<String>,
    pub(super) glob: bool,
    pub(super) unset: Vec<String>,
    pub(super) secrets: Vec<String>,
}

impl Arg {
    pub(super) fn literal(text: impl Into<String>) -> Arg {
        Arg {
            text: Some(text.into()),
            ..Arg::default()
        }
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.text.as_deref() == Some(text)
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Whether a command takes it for an option. What is not known may be one.
    pub(super) fn is_option(&self) -> bool {
        self.text
            .as_ref()
            .is_none_or(|text| text.starts_with('-') && text.len() > 1)
    }
}

impl Word {
    fn known(text: impl Into<String>) -> Word {
        Word {
            values: Some(vec![text.into()]),
            ..Word::default()
        }
    }

    fn unknown() -> Word {
        Word::default()
    }

    fn join(self, next: Word) -> Word {
        let values = match (self.values, next.values) {
            (Some(left), Some(right)) if left.len() * right.len() <= MAX_VALUES => Some(
                left.iter()
                    .flat_map(|start| right.iter().map(move |end| format!("{start}{end}")))
                    .collect(),
            ),
            _ => None,
        };
        Word {
            values,
            glob: self.glob || next.glob,
            unset: [self.unset, next.unset].concat(),
            secrets: [self.secrets, next.secrets].concat(),
            splits: self.splits || next.splits,
        }
    }

    pub(super) fn into_args(self) -> Vec<Arg> {
        let arg = |text: Option<String>| Arg {
            text,
            glob: self.glob,
            unset: self.unset.clone(),
            secrets: self.secrets.clone(),
        };
        let Some(values) = &self.values else {
            return vec![arg(None)];
        };
        values
            .iter()
            .flat_map(|value| {
                if self.splits && value.contains(|c: char| c.is_whitespace()) {
                    value
                        .split_whitespace()
                        .map(|part| arg(Some(part.to_owned())))
                        .collect()
                } else if self.splits && value.is_empty() {
                    // The shell passes nothing, which an emptied target must not hide.
                    if self.unset.is_empty() {
                        Vec::new()
                    } else {
                        vec![arg(Some(String::new()))]
                    }
                } else {
                    vec![arg(Some(value.clone()))]
                }
            })
            .collect()
    }
}

impl Judge<'_> {
    /// Resolves a word and judges what it substitutes.
    pub(super) fn word(&mut self, node: Node<'_>, places: &Places) -> Word {
        let text = self.text(node);
        match node.kind() {
            "word"
            | "test_operator"
            | "regex"
            | "extglob_pattern"
            | "special_variable_name"
            | "variable_name" => self.bare(&text, places),
            "number" if named_children(node).is_empty() => Word::known(text),
            "raw_string" => Word::known(text.trim_start_matches('\'').trim_end_matches('\'')),
            "ansi_c_string" if !text.contains('\\') => {
                Word::known(text.trim_start_matches("$'").trim_end_matches('\''))
            }
            "ansi_c_string" => Word::unknown(),
            "string" => self.string(node, places),
            "translated_string" => {
                let mut word = Word::known("");
                for child in named_children(node) {
                    word = word.join(self.word(child, places));
                }
                word
            }
            "concatenation" => self.concatenation(node, &text, places),
            "simple_expansion" => {
                let mut word = self.variable(text.trim_start_matches('$'), places);
                word.splits = true;
                word.glob = word
                    .values
                    .as_ref()
                    .is_some_and(|values| values.iter().any(|value| has_wildcard(value)));
                word
            }
            "expansion" => self.expansion(node, &text, places),
            "arithmetic_expansion" => {
                self.expression(node, places);
                // Some number.
                Word::known("1")
            }
            "process_substitution" => {
                self.expression(node, places);
                Word::known("/dev/fd/63")
            }
            "brace_expression" => Word::unknown(),
            _ => {
                self.expression(node, places);
                Word::unknown()
            }
        }
    }

    /// A word without quotes or expansions around it; backslashes and a leading tilde are taken as the shell does.
    fn bare(&self, text: &str, places: &Places) -> Word {
        // The shell would make several words of `{a,b}` and `{1..3}`.
        if is_brace_expansion(text) {
            return Word::unknown();
        }
        let glob = has_wildcard(
            &text
                .replace("\\\\", "")
                .replace("\\*", "")
                .replace("\\?", "")
                .replace("\\[", ""),
        );
        let mut plain = String::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' => plain.extend(characters.next().filter(|next| *next != '\n')),
                other => plain.push(other),
            }
        }
        let mut word = match text.strip_prefix('~') {
            Some(rest) => {
                let (user, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                match user {
                    "" => {
                        let mut home = self.variable("HOME", places);
                        home.values = home
                            .values
                            .map(|values| values.iter().map(|value| format!("{value}{path}")).collect());
                        home
                    }
                    // Another user's folder, or one the shell was in: outside for all that can be known.
                    _ => Word::known(format!(
                        "/home{}",
                        if user.starts_with(['+', '-']) { "" } else { path }
                    )),
                }
            }
            None => Word::known(plain),
        };
        word.glob = glob;
        word
    }

    fn string(&mut self, node: Node<'_>, places: &Places) -> Word {
        let mut word = Word::known("");
        let mut position = node.start_byte() + 1;
        let end = node.end_byte().saturating_sub(1);
        for child in named_children(node) {
            // White space at an expansion's side is in no node.
            word = word.join(Word::known(unquoted(
                self.source.get(position..child.start_byte()).unwrap_or_default(),
            )));
            position = child.end_byte();
            let mut part = match child.kind() {
                "string_content" => Word::known(unquoted(&self.text(child))),
                // A loop's variable stands for all names that its wildcard finds, so that stays a wildcard here.
                _ => self.word(child, places),
            };
            part.splits = false;
            word = word.join(part);
        }
        word.join(Word::known(unquoted(
            self.source.get(position..end.max(position)).unwrap_or_default(),
        )))
    }

    fn concatenation(&mut self, node: Node<'_>, text: &str, places: &Places) -> Word {
        let mut word = Word::known("");
        let mut position = node.start_byte();
        let mut whole = true;
        for child in named_children(node) {
            whole &= child.start_byte() == position;
            position = child.end_byte();
            word = word.join(self.word(child, places));
        }
        if !whole || position != node.end_byte() || is_brace_expansion(text) {
            word.values = None;
        }
        word
    }

    fn expansion(&mut self, node: Node<'_>, text: &str, places: &Places) -> Word {
        for child in named_children(node) {
            match child.kind() {
                "variable_name" | "special_variable_name" | "regex" | "word" | "number" | "test_operator" => {
                }
                _ => self.expression(child, places),
            }
        }
        let inside = text.trim_start_matches("${").trim_end_matches('}');
        let is_name =
            |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name(inside) {
            let mut word = self.variable(inside, places);
            word.splits = true;
            word.glob = word
                .values
                .as_ref()
                .is_some_and(|values| values.iter().any(|value| has_wildcard(value)));
            return word;
        }
        // Indirection and prompt expansion evaluate a value, which may run commands.
        if inside.starts_with('!') || inside.contains('@') && !inside.contains("[@]") {
            self.ask("it takes a variable apart in a way that could run a command");
        }
        let mut word = Word::unknown();
        let name: String = inside
            .trim_start_matches(['!', '#'])
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        if names_secret(&name) && !self.variables.contains_key(&name) && !inside.starts_with('#') {
            word.secrets.push(name);
        }
        word
    }

    pub(super) fn variable(&self, name: &str, places: &Places) -> Word {
        let value = match name {
            "PWD" if !places.unknown => Value::Known(
                places
                    .known
                    .iter()
                    .map(|place| place.to_string_lossy().into_owned())
                    .collect(),
            ),
            _ => self
                .variables
                .get(name)
                .cloned()
                .unwrap_or_else(|| self.inherited(name)),
        };
        let mut word = match value {
            Value::Known(values) => Word {
                values: Some(values),
                ..Word::default()
            },
            Value::Unknown => Word::unknown(),
        };
        if !self.variables.contains_key(name) && names_secret(name) {
            word.secrets.push(name.to_owned());
        }
        if word
            .values
            .as_ref()
            .is_some_and(|values| values.iter().any(String::is_empty))
        {
            word.unset.push(name.to_owned());
        }
        word
    }

    /// What a variable is when the command line has not set it.
    pub(super) fn inherited(&self, name: &str) -> Value {
        if matches!(name, "?" | "#" | "$") {
            return Value::Known(vec!["1".to_owned()]);
        }
        if tables::SHELL_VARIABLES.contains(&name)
            || !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        {
            return Value::Unknown;
        }
        Value::Known(vec![
            self.context.environment.get(name).cloned().unwrap_or_default(),
        ])
    }

    pub(super) fn set_variable(&mut self, name: &str, value: Value) {
        self.variables.insert(name.to_owned(), value);
    }

    /// `X=…` on its own or after `export`.
    pub(super) fn assignment(&mut self, node: Node<'_>, places: &Places) {
        let Some(name_node) = node.child_by_field_name("name") else {
            self.expression(node, places);
            return;
        };
        let name = self.text(name_node);
        if name_node.kind() != "variable_name" {
            self.expression(name_node, places);
        }
        let appends = self
            .source
            .get(name_node.end_byte()..)
            .is_some_and(|rest| rest.starts_with("+="));
        let value = match node.child_by_field_name("value") {
            Some(value) => match self.word(value, places).values {
                Some(values) if !appends => Value::Known(values).bounded(),
                _ => Value::Unknown,
            },
            None => Value::Known(vec![String::new()]),
        };
        if tables::steers_programs(&name) {
            self.ask(format!("`{name}=` changes which programs run"));
        }
        if let Value::Known(values) = &value
            && values
                .iter()
                .any(|value| value.contains("$(") || value.contains('`'))
        {
            self.ask("it keeps a command in a variable");
        }
        let bare: String = name.chars().take_while(|c| *c != '[').collect();
        self.set_variable(&bare, if bare == name { value } else { Value::Unknown });
    }

    /// `X=… command`: holds for that command only, and not for the words of its own line.
    pub(super) fn prefix_assignment(&mut self, node: Node<'_>, places: &Places) {
        self.isolated(|judge| judge.assignment(node, places));
    }

    /// `export`, `declare`, `local`, `readonly`, `typeset`.
    pub(super) fn declaration(&mut self, node: Node<'_>, places: &Places) {
        let mut names = 0;
        for child in named_children(node) {
            match child.kind() {
                "variable_assignment" => {
                    names += 1;
                    self.assignment(child, places);
                }
                "variable_name" => {
                    names += 1;
                }
                _ => {
                    let word = self.word(child, places);
                    let options = word.values.clone().unwrap_or_default();
                    if options.is_empty() || options.iter().any(|option| !option.starts_with(['-', '+'])) {
                        self.ask("it declares a variable whose name is only known when it runs");
                    }
                    if options
                        .iter()
                        .any(|option| option.starts_with('-') && option.contains(['n', 'f', 'F', 'p']))
                    {
                        self.ask("it declares or prints variables in a way that cannot be judged");
                    }
                }
            }
        }
        if names == 0 {
            self.ask("it prints all variables");
        }
    }
}

/// Text between double quotes, with the backslashes that the shell takes away there taken away.
fn unquoted(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some('\n')) => {
                characters.next();
            }
            ('\\', Some('"' | '\\' | '$' | '`')) => plain.extend(characters.next()),
            (other, _) => plain.push(other),
        }
    }
    plain
}

pub(super) fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// `{a,b}` or `{1..3}` outside quotes. Also true for some texts the shell leaves alone, which then ask.
fn is_brace_expansion(text: &str) -> bool {
    let Some(open) = text.find('{') else { return false };
    let inside = text.get(open..).unwrap_or_default();
    inside.contains('}') && (inside.contains(',') || inside.contains(".."))
}
