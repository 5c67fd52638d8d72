//! Walks a parsed command line in the order the shell would run it, and hands every simple command on.
//!
//! It keeps what the shell would keep on the way: the directories it could be in and the values variables could
//! have. A node it does not know asks; nothing is skipped.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use tree_sitter::{Node, Parser, Tree};

use super::words::{Arg, Value};
use super::{CommandClass, Finding, Level, PolicyContext};

pub(super) struct Judged {
    pub(super) findings: Vec<Finding>,
    /// The words of every simple command, where they are known.
    pub(super) parts: Vec<Option<Vec<String>>>,
    pub(super) last_pipeline: Vec<Option<String>>,
    pub(super) changes_repository: bool,
}

pub(super) fn judge_text(command: &str, context: &PolicyContext) -> Judged {
    let mut judge = Judge::new(context);
    let places = Places {
        known: BTreeSet::from([context.cwd.clone()]),
        unknown: false,
    };
    judge.script(command, &places);
    Judged {
        changes_repository: judge.changes_repository,
        findings: judge.findings,
        parts: judge.parts,
        last_pipeline: last_pipeline(command),
    }
}

/// The directories a command may run in.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Places {
    pub(super) known: BTreeSet<PathBuf>,
    /// It may also be one that cannot be told.
    pub(super) unknown: bool,
}

impl Places {
    fn or(mut self, other: &Places) -> Places {
        self.known.extend(other.known.iter().cloned());
        self.unknown |= other.unknown;
        self.bounded()
    }

    /// More than a few folders count as unknown.
    pub(super) fn bounded(mut self) -> Places {
        while self.known.len() > MAX_PLACES {
            self.unknown |= self.known.pop_last().is_some();
        }
        self
    }
}

/// Where the shell is after a statement.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// If the statement succeeded.
    pub(super) success: Places,
    /// However it ended.
    pub(super) any: Places,
}

impl Flow {
    pub(super) fn stay(places: &Places) -> Flow {
        Flow {
            success: places.clone(),
            any: places.clone(),
        }
    }
}

pub(super) struct Judge<'a> {
    pub(super) context: &'a PolicyContext,
    pub(super) findings: Vec<Finding>,
    pub(super) parts: Vec<Option<Vec<String>>>,
    /// The simple command that is being judged.
    pub(super) part: Option<usize>,
    pub(super) variables: HashMap<String, Value>,
    pub(super) functions: HashSet<String>,
    pub(super) source: String,
    /// Whether a git command was met that is not known to read only.
    pub(super) changes_repository: bool,
    depth: usize,
    loops: usize,
    statements: usize,
    /// Within arithmetic, the value of a variable is itself evaluated, and may substitute commands.
    arithmetic: usize,
    /// Within `[ … ]`, where operators compare and do not calculate.
    in_test: bool,
}

/// Most folders that are followed at once.
const MAX_PLACES: usize = 8;

/// Statements looked at in all; each may touch the file system.
const MAX_STATEMENTS: usize = 2000;

/// Loops are looked at twice, so their nesting must stay small.
const MAX_LOOPS: usize = 5;

/// Scripts within scripts (`bash -c "bash -c …"`) and nested syntax beyond this ask.
const MAX_DEPTH: usize = 60;

impl<'a> Judge<'a> {
    fn new(context: &'a PolicyContext) -> Self {
        Self {
            context,
            findings: Vec::new(),
            parts: Vec::new(),
            part: None,
            variables: HashMap::new(),
            functions: HashSet::new(),
            source: String::new(),
            changes_repository: false,
            depth: 0,
            loops: 0,
            statements: 0,
            arithmetic: 0,
            in_test: false,
        }
    }

    pub(super) fn allow(&mut self, class: CommandClass, reason: impl Into<String>) {
        self.find(Level::Allow, class, reason.into());
    }

    pub(super) fn ask(&mut self, reason: impl Into<String>) {
        self.find(Level::Ask, CommandClass::Other, reason.into());
    }

    pub(super) fn block(&mut self, reason: impl Into<String>) {
        self.find(Level::Block, CommandClass::Other, reason.into());
    }

    fn find(&mut self, level: Level, class: CommandClass, reason: String) {
        self.findings.push(Finding {
            level,
            class,
            reason,
            part: self.part,
        });
    }

    /// Judges a whole script text, also one that a wrapper is given as an argument.
    pub(super) fn script(&mut self, text: &str, places: &Places) -> Flow {
        // What it holds are commands of their own.
        let outer = self.part.take();
        let flow = self.script_inner(text, places);
        self.part = outer;
        flow
    }

    fn script_inner(&mut self, text: &str, places: &Places) -> Flow {
        let stay = Flow::stay(places);
        if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
            self.ask("the command contains control characters");
            return stay;
        }
        // The parser takes other white space for part of a word or not, the shell always does.
        if text.len() > 100_000 || self.depth > MAX_DEPTH {
            self.ask("the command is too long or too deeply nested to be judged");
            return stay;
        }
        let Some(tree) = parsed(text) else {
            self.ask("the command could not be parsed");
            return stay;
        };
        let root = tree.root_node();
        if root.has_error() {
            self.ask("the command could not be parsed");
            // What can be seen in the broken tree may still be worth a block, so it is judged all the same.
        }
        let outer = std::mem::replace(&mut self.source, text.to_owned());
        self.depth += 1;
        let flow = self.sequence(root, places);
        self.depth -= 1;
        self.source = outer;
        flow
    }

    pub(super) fn text(&self, node: Node<'_>) -> String {
        self.source.get(node.byte_range()).unwrap_or_default().to_owned()
    }

    /// The statements below `node`, one after the other.
    fn sequence(&mut self, node: Node<'_>, places: &Places) -> Flow {
        let mut flow = Flow::stay(places);
        for child in named_children(node) {
            flow = self.statement(child, &flow.any.clone(), &[]);
        }
        flow
    }

    /// One statement. `extra` are words that the parser took for redirection targets, though the shell passes
    /// them to the command: `find . > list -delete`.
    pub(super) fn statement(&mut self, node: Node<'_>, places: &Places, extra: &[Node<'_>]) -> Flow {
        self.depth += 1;
        self.statements += 1;
        let flow = if self.depth > MAX_DEPTH || self.statements > MAX_STATEMENTS {
            self.ask("the command is too long or too deeply nested to be judged");
            Flow::stay(places)
        } else {
            self.statement_inner(node, places, extra)
        };
        self.depth -= 1;
        flow
    }

    fn statement_inner(&mut self, node: Node<'_>, places: &Places, extra: &[Node<'_>]) -> Flow {
        let takes_extra = matches!(
            node.kind(),
            "command" | "list" | "pipeline" | "redirected_statement" | "negated_command"
        );
        if !extra.is_empty() && !takes_extra {
            self.ask("the command could not be parsed");
        }
        match node.kind() {
            "command" => self.command(node, places, extra),
            "list" => self.list(node, places, extra),
            "pipeline" => {
                let children = named_children(node);
                let last = children.len().saturating_sub(1);
                for (index, child) in children.into_iter().enumerate() {
                    let extra = if index == last { extra } else { &[] };
                    self.isolated(|judge| {
                        judge.statement(child, places, extra);
                    });
                }
                Flow::stay(places)
            }
            "redirected_statement" => self.redirected(node, places, extra),
            "negated_command" => {
                let mut flow = Flow::stay(places);
                for child in named_children(node) {
                    flow = self.statement(child, places, extra);
                }
                Flow {
                    success: flow.any.clone(),
                    any: flow.any,
                }
            }
            "subshell" => {
                self.isolated(|judge| {
                    judge.sequence(node, places);
                });
                Flow::stay(places)
            }
            "compound_statement" | "do_group" => self.sequence(node, places),
            "if_statement" | "elif_clause" | "else_clause" | "while_statement" | "case_item" => {
                self.branches(node, places)
            }
            "case_statement" => {
                for value in node.children_by_field_name("value", &mut node.walk()) {
                    self.expression(value, places);
                }
                self.branches(node, places)
            }
            "for_statement" => {
                self.loop_variable(node, places);
                self.branches(node, places)
            }
            "c_style_for_statement" => self.branches(node, places),
            "function_definition" => {
                self.function(node, places);
                Flow::stay(places)
            }
            "variable_assignment" => {
                self.assignment(node, places);
                Flow::stay(places)
            }
            "variable_assignments" => {
                for child in named_children(node) {
                    self.assignment(child, places);
                }
                Flow::stay(places)
            }
            "declaration_command" => {
                self.declaration(node, places);
                Flow::stay(places)
            }
            "unset_command" => {
                for child in named_children(node) {
                    let name = self.text(child);
                    if name.contains('[') {
                        self.ask("`unset` with an index may run commands");
                    }
                    self.variables.insert(name, Value::Known(vec![String::new()]));
                    self.expression(child, places);
                }
                Flow::stay(places)
            }
            "test_command" => {
                self.expression(node, places);
                Flow::stay(places)
            }
            "comment" => Flow::stay(places),
            _ => {
                self.expression(node, places);
                Flow::stay(places)
            }
        }
    }

    /// `a && b || c`, nested to the left by the parser.
    fn list(&mut self, node: Node<'_>, places: &Places, extra: &[Node<'_>]) -> Flow {
        let before = self.variables.clone();
        let children = named_children(node);
        let operators: Vec<String> = all_children(node)
            .into_iter()
            .filter(|child| !child.is_named())
            .map(|child| child.kind().to_owned())
            .collect();
        let mut flow = Flow::stay(places);
        let last = children.len().saturating_sub(1);
        for (index, child) in children.into_iter().enumerate() {
            let extra = if index == last { extra } else { &[] };
            if index == 0 {
                flow = self.statement(child, places, extra);
                continue;
            }
            match operators.get(index - 1).map(String::as_str) {
                Some("&&") => {
                    let next = self.statement(child, &flow.success.clone(), extra);
                    flow = Flow {
                        success: next.success,
                        any: flow.any.or(&next.any),
                    };
                }
                _ => {
                    let next = self.statement(child, &flow.any.clone(), extra);
                    flow = Flow {
                        success: flow.success.or(&next.success),
                        any: flow.any.or(&next.any),
                    };
                }
            }
        }
        // Within the list the assignments hold; after it, each of them may not have happened.
        if node.parent().is_none_or(|parent| parent.kind() != "list") {
            self.join(before);
        }
        flow
    }

    /// Parts of which some may run, a loop's in any number of rounds.
    fn branches(&mut self, node: Node<'_>, places: &Places) -> Flow {
        let before = self.variables.clone();
        let is_loop = node.kind().ends_with("for_statement") || node.kind() == "while_statement";
        self.loops += usize::from(is_loop);
        if self.loops > MAX_LOOPS {
            self.ask("the command is too deeply nested to be judged");
        }
        let findings = self.findings.len();
        let mut any = places.clone();
        self.parts(node, &mut any);
        // A loop's second round starts where its first ended.
        if is_loop && self.loops <= MAX_LOOPS && (any != *places || self.variables != before) {
            self.findings.truncate(findings);
            self.join(before.clone());
            self.parts(node, &mut any);
        }
        self.loops -= usize::from(is_loop);
        self.join(before);
        Flow {
            success: any.clone(),
            any,
        }
    }

    fn parts(&mut self, node: Node<'_>, any: &mut Places) {
        for child in named_children(node) {
            if child.kind() != "variable_name" {
                let flow = self.statement(child, &any.clone(), &[]);
                *any = any.clone().or(&flow.any);
            }
        }
    }

    /// Variables as after a part that may or may not have run.
    fn join(&mut self, before: HashMap<String, Value>) {
        let names: HashSet<String> = self.variables.keys().chain(before.keys()).cloned().collect();
        for name in names {
            let old = before.get(&name).cloned();
            let new = self.variables.get(&name).cloned();
            if old != new {
                let old = old.unwrap_or_else(|| self.inherited(&name));
                let new = new.unwrap_or_else(|| self.inherited(&name));
                self.variables.insert(name, old.or(new));
            }
        }
    }

    /// What happens in a subshell stays there.
    pub(super) fn isolated(&mut self, run: impl FnOnce(&mut Self)) {
        let variables = self.variables.clone();
        let functions = self.functions.clone();
        run(self);
        self.variables = variables;
        self.functions = functions;
    }

    fn loop_variable(&mut self, node: Node<'_>, places: &Places) {
        let mut values = Some(Vec::new());
        let mut cursor = node.walk();
        for value in node.children_by_field_name("value", &mut cursor) {
            let word = self.word(value, places);
            values = match (values, word.values) {
                (Some(mut all), Some(more)) => {
                    all.extend(more);
                    Some(all)
                }
                _ => None,
            };
        }
        if let Some(variable) = node.child_by_field_name("variable") {
            let name = self.text(variable);
            // Without `in …` the loop runs over arguments that are not known here.
            let value = match values {
                Some(values) if !values.is_empty() => Value::Known(values).bounded(),
                _ => Value::Unknown,
            };
            self.set_variable(&name, value);
        }
    }

    fn function(&mut self, node: Node<'_>, places: &Places) {
        let name = node
            .child_by_field_name("name")
            .map(|name| self.text(name))
            .unwrap_or_default();
        let Some(body) = node.child_by_field_name("body") else {
            self.ask("the command could not be parsed");
            return;
        };
        if calls(body, &name, &self.source) {
            self.block(format!("the function `{name}` starts itself again without end"));
        }
        self.functions.insert(name);
        self.isolated(|judge| {
            // Arguments of the call are not known here.
            for argument in ["1", "2", "3", "4", "5", "6", "7", "8", "9"] {
                judge.variables.insert(argument.to_owned(), Value::Unknown);
            }
            judge.statement(body, places, &[]);
        });
        // It may run at any time, so what it assigns may be so from now on.
        let assigned: Vec<String> = assigned_names(body, &self.source);
        for name in assigned {
            self.variables.insert(name, Value::Unknown);
        }
        let mut cursor = node.walk();
        for redirect in node.children_by_field_name("redirect", &mut cursor) {
            self.redirect(redirect, places);
        }
    }

    fn redirected(&mut self, node: Node<'_>, places: &Places, outer: &[Node<'_>]) -> Flow {
        let body = node.child_by_field_name("body");
        let mut extra: Vec<Node<'_>> = Vec::new();
        for child in named_children(node) {
            if Some(child) != body {
                extra.extend(self.redirect(child, places));
            }
        }
        extra.extend(outer);
        match body {
            Some(body) => self.statement(body, places, &extra),
            None => {
                if !extra.is_empty() {
                    self.ask("the command could not be parsed");
                }
                Flow::stay(places)
            }
        }
    }

    /// Judges a redirection and returns the words behind its target, which are the command's.
    fn redirect<'t>(&mut self, node: Node<'t>, places: &Places) -> Vec<Node<'t>> {
        match node.kind() {
            "file_redirect" => {
                let mut cursor = node.walk();
                let mut destinations = node.children_by_field_name("destination", &mut cursor);
                let target = destinations.next();
                let rest: Vec<Node<'t>> = destinations.collect();
                let operator: String = all_children(node)
                    .into_iter()
                    .find(|child| !child.is_named())
                    .map(|child| child.kind().to_owned())
                    .unwrap_or_default();
                match target {
                    Some(target) => {
                        let word = self.word(target, places);
                        self.redirect_target(&operator, &word, places);
                    }
                    None if operator.ends_with('-') => {}
                    None => self.ask("the command could not be parsed"),
                }
                rest
            }
            "herestring_redirect" => {
                self.expression(node, places);
                Vec::new()
            }
            "heredoc_redirect" => {
                let mut extra = Vec::new();
                let mut cursor = node.walk();
                let arguments: Vec<Node<'t>> = node.children_by_field_name("argument", &mut cursor).collect();
                for child in named_children(node) {
                    match child.kind() {
                        "heredoc_start" | "heredoc_end" | "heredoc_content" | "file_descriptor" => {}
                        "heredoc_body" => self.expression(child, places),
                        "file_redirect" | "herestring_redirect" => extra.extend(self.redirect(child, places)),
                        _ if arguments.contains(&child) => extra.push(child),
                        _ => self.isolated(|judge| {
                            judge.statement(child, places, &[]);
                        }),
                    }
                }
                extra
            }
            _ => {
                self.ask("the command could not be parsed");
                Vec::new()
            }
        }
    }

    fn command(&mut self, node: Node<'_>, places: &Places, extra: &[Node<'_>]) -> Flow {
        let mut args: Vec<Arg> = Vec::new();
        let mut name = None;
        let mut assignments = Vec::new();
        let mut late: Vec<Node<'_>> = Vec::new();
        for child in named_children(node) {
            match child.kind() {
                "variable_assignment" => assignments.push(child),
                "command_name" => name = Some(child),
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    late.extend(self.redirect(child, places))
                }
                "comment" => {}
                "subshell" => {
                    self.ask("the command could not be parsed");
                    self.statement(child, places, &[]);
                }
                _ => args.extend(self.word(child, places).into_args()),
            }
        }
        let Some(name) = name else {
            // A redirection before an assignment, and the like.
            assignments
                .into_iter()
                .for_each(|child| self.assignment(child, places));
            if !late.is_empty() || !extra.is_empty() {
                self.ask("the command could not be parsed");
            }
            return Flow::stay(places);
        };
        let reads = matches!(self.text(name).as_str(), "read" | "mapfile" | "readarray");
        for assignment in assignments {
            // `IFS= read -r line` is how lines are read.
            if !(reads && self.text(assignment).starts_with("IFS=")) {
                self.prefix_assignment(assignment, places);
            }
        }
        for word in late.iter().chain(extra) {
            args.extend(self.word(*word, places).into_args());
        }
        let mut words: Vec<Arg> = Vec::new();
        for child in named_children(name) {
            words.extend(self.word(child, places).into_args());
        }
        words.extend(args);
        self.simple(&words, places)
    }

    /// Everything that is no statement: only what it substitutes can do something.
    pub(super) fn expression(&mut self, node: Node<'_>, places: &Places) {
        match node.kind() {
            "command_substitution" | "process_substitution" => {
                if self.arithmetic > 0 {
                    self.ask("it calculates with a value that could run a command");
                }
                let outside = (self.arithmetic, self.in_test);
                (self.arithmetic, self.in_test) = (0, false);
                self.isolated(|judge| {
                    for child in named_children(node) {
                        if child.kind() == "file_redirect" {
                            judge.redirect(child, places);
                        } else {
                            judge.statement(child, places, &[]);
                        }
                    }
                });
                (self.arithmetic, self.in_test) = outside;
            }
            "command" | "list" | "pipeline" | "redirected_statement" | "subshell" | "negated_command" => {
                self.statement(node, places, &[]);
            }
            "variable_assignment" => self.assignment(node, places),
            "subscript" | "arithmetic_expansion" | "postfix_expression" | "ternary_expression" => {
                self.evaluated(node, places);
            }
            "test_command" => {
                let evaluates = self.text(node).starts_with("[[");
                self.test(node, places, evaluates);
            }
            "binary_expression" | "unary_expression" if self.arithmetic == 0 && !self.in_test => {
                self.evaluated(node, places);
            }
            "variable_name" | "word" if self.arithmetic > 0 && is_name(&self.text(node)) => {
                let word = self.variable(&self.text(node), places);
                self.operand(&word);
            }
            "word" | "raw_string" | "ansi_c_string" | "simple_expansion" | "expansion" | "string"
            | "concatenation"
                if self.arithmetic > 0 =>
            {
                let word = self.word(node, places);
                self.operand(&word);
            }
            "simple_expansion" | "expansion" | "string" | "concatenation" => {
                self.word(node, places);
            }
            kind if super::tables::EXPRESSIONS.contains(&kind) => {
                for child in named_children(node) {
                    self.expression(child, places);
                }
            }
            _ => self.ask("the command could not be parsed"),
        }
    }
}

impl Judge<'_> {
    fn evaluated(&mut self, node: Node<'_>, places: &Places) {
        self.arithmetic += 1;
        for child in named_children(node) {
            self.expression(child, places);
        }
        self.arithmetic -= 1;
    }

    /// What arithmetic would evaluate. A value such as `a[$(touch x)]` runs a command.
    fn operand(&mut self, word: &super::words::Word) {
        let plain = |value: &String| {
            value
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_ +-.".contains(c))
        };
        if !word
            .values
            .as_ref()
            .is_some_and(|values| values.iter().all(plain))
        {
            self.ask("it calculates with a value that could run a command");
        }
    }

    /// `[ … ]` and `[[ … ]]`: only the latter calculates, and `-v` takes an index apart in both.
    fn test(&mut self, node: Node<'_>, places: &Places, evaluates: bool) {
        let operator = node
            .child_by_field_name("operator")
            .map(|operator| self.text(operator))
            .unwrap_or_default();
        let calculates =
            evaluates && matches!(operator.as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge");
        let names = matches!(operator.as_str(), "-v" | "-R");
        let outer = std::mem::replace(&mut self.in_test, true);
        self.arithmetic += usize::from(calculates || names);
        for child in named_children(node) {
            match child.kind() {
                "binary_expression" | "unary_expression" | "parenthesized_expression" => {
                    self.test(child, places, evaluates);
                }
                "test_operator" => {}
                _ => self.expression(child, places),
            }
        }
        self.arithmetic -= usize::from(calculates || names);
        self.in_test = outer;
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a function's body starts the function itself.
fn calls(node: Node<'_>, name: &str, source: &str) -> bool {
    if node.kind() == "command_name" && source.get(node.byte_range()) == Some(name) {
        return true;
    }
    named_children(node)
        .into_iter()
        .any(|child| calls(child, name, source))
}

fn assigned_names(node: Node<'_>, source: &str) -> Vec<String> {
    let mut names = Vec::new();
    if node.kind() == "variable_assignment"
        && let Some(name) = node.child_by_field_name("name")
    {
        names.extend(source.get(name.byte_range()).map(str::to_owned));
    }
    for child in named_children(node) {
        names.extend(assigned_names(child, source));
    }
    names
}

fn parsed(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    parser.parse(narrowed(text).as_ref(), None)
}

/// The scanner of the shell grammar (0.25) asks C's `isdigit` about whole code points in a brace expression, which
/// reads memory at random for those above 255 and has ended the program. For the shell these are plain parts of a
/// word: letters of the same length take their place for the parser, words are read from the text itself.
fn narrowed(text: &str) -> Cow<'_, str> {
    let is_narrow = |letter: char| letter <= '\u{ff}';
    if text.chars().all(is_narrow) {
        return Cow::Borrowed(text);
    }
    let mut narrow = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_narrow(letter) {
            narrow.push(letter);
        } else {
            narrow.extend(std::iter::repeat_n('x', letter.len_utf8()));
        }
    }
    Cow::Owned(narrow)
}

pub(super) fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

fn all_children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// The command name of each stage of the last pipeline, where the command line ends with one.
fn last_pipeline(command: &str) -> Vec<Option<String>> {
    let Some(tree) = parsed(command) else {
        return Vec::new();
    };
    let mut node = tree.root_node();
    loop {
        let children = named_children(node);
        node = match node.kind() {
            "program" | "list" => match children.into_iter().rfind(|child| child.kind() != "comment") {
                Some(last) => last,
                None => return Vec::new(),
            },
            "redirected_statement" => match node.child_by_field_name("body") {
                Some(body) => body,
                None => return Vec::new(),
            },
            "pipeline" => {
                return children
                    .into_iter()
                    .map(|stage| command_name(stage, command))
                    .collect();
            }
            _ => return vec![command_name(node, command)],
        };
    }
}

fn command_name(node: Node<'_>, source: &str) -> Option<String> {
    let command = match node.kind() {
        "redirected_statement" => node.child_by_field_name("body")?,
        _ => node,
    };
    let name = command.child_by_field_name("name")?;
    source.get(name.byte_range()).map(str::to_owned)
}
