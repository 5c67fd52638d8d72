//! Turns the bytes of a program's output into the lines a terminal would show.
//!
//! Carriage returns, backspaces and erasures overwrite, as on a screen; colours are kept or dropped; every other
//! control sequence vanishes. This is the one place where output is decoded, and bytes that are not UTF-8 become
//! U+FFFD here. The log keeps the raw bytes.

use std::collections::VecDeque;
use std::sync::Arc;

/// What becomes of colours and other text attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Kept as SGR sequences, reset at each line's end, so that a line can be shown by itself.
    Keep,
    Drop,
}

/// Renders a whole output.
pub fn render(bytes: &[u8], colour: Colour) -> String {
    let mut screen = Screen::new(colour);
    screen.push(bytes);
    let mut text = screen.take_lines();
    text.push_str(&screen.finish());
    text
}

/// The lines that cursor movements can still reach. What scrolled out is final.
const REACHABLE_LINES: usize = 100;
/// A longer line is broken: no memory grows with a line that never ends.
const MAX_LINE: usize = 64 * 1024;
/// Longest attribute text kept per character; a program that only ever adds attributes starts anew.
const MAX_STYLE: usize = 64;

/// A terminal's view of a stream that arrives in chunks. A chunk may end within a character or a sequence.
pub struct Screen {
    colour: Colour,
    lines: VecDeque<Vec<Cell>>,
    row: usize,
    column: usize,
    style: Option<Arc<str>>,
    finished: String,
    state: Parse,
    parameters: String,
    character: Vec<u8>,
}

#[derive(Clone)]
struct Cell {
    character: char,
    style: Option<Arc<str>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parse {
    Text,
    Escape,
    /// After `ESC (` and its like: one more byte.
    Charset,
    Control,
    /// OSC, DCS and their like: until BEL or ST.
    Text8,
    Text8Escape,
}

impl Screen {
    pub fn new(colour: Colour) -> Self {
        Self {
            colour,
            lines: VecDeque::from([Vec::new()]),
            row: 0,
            column: 0,
            style: None,
            finished: String::new(),
            state: Parse::Text,
            parameters: String::new(),
            character: Vec::new(),
        }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.byte(byte);
        }
    }

    /// The lines that are complete since the last call, each with its newline. A line that the cursor is still on
    /// is not among them: a progress bar gives one line, not a thousand.
    pub fn take_lines(&mut self) -> String {
        while self.row > 0 {
            self.finish_first_line();
        }
        std::mem::take(&mut self.finished)
    }

    /// The line under the cursor as it stands.
    pub fn current_line(&self) -> String {
        self.lines
            .get(self.row)
            .map(|line| self.line_text(line))
            .unwrap_or_default()
    }

    /// What is left at the end of the stream.
    pub fn finish(mut self) -> String {
        if !self.character.is_empty() {
            self.character.clear();
            self.put(char::REPLACEMENT_CHARACTER);
        }
        let mut text = std::mem::take(&mut self.finished);
        let last = self.lines.len().saturating_sub(1);
        for (index, line) in self.lines.iter().enumerate() {
            text.push_str(&self.line_text(line));
            if index < last {
                text.push('\n');
            }
        }
        text
    }

    fn byte(&mut self, byte: u8) {
        match self.state {
            Parse::Text => self.text(byte),
            Parse::Escape => {
                self.state = match byte {
                    b'[' => {
                        self.parameters.clear();
                        Parse::Control
                    }
                    b']' | b'P' | b'X' | b'^' | b'_' => Parse::Text8,
                    b'(' | b')' | b'*' | b'+' | b'#' | b'%' => Parse::Charset,
                    _ => Parse::Text,
                }
            }
            Parse::Charset => self.state = Parse::Text,
            Parse::Control => match byte {
                0x40..=0x7e => {
                    self.state = Parse::Text;
                    self.control(byte);
                }
                0x20..=0x3f if self.parameters.len() < 256 => self.parameters.push(char::from(byte)),
                0x20..=0x3f => {}
                // A control character within a sequence acts; anything else ends it.
                b'\n' | b'\r' => {
                    self.state = Parse::Text;
                    self.text(byte);
                }
                _ => self.state = Parse::Text,
            },
            Parse::Text8 => match byte {
                0x07 => self.state = Parse::Text,
                0x1b => self.state = Parse::Text8Escape,
                _ => {}
            },
            Parse::Text8Escape => {
                self.state = match byte {
                    b'\\' => Parse::Text,
                    0x1b => Parse::Text8Escape,
                    _ => Parse::Text8,
                }
            }
        }
    }

    fn text(&mut self, byte: u8) {
        if !self.character.is_empty() || byte >= 0x80 {
            self.character.push(byte);
            match std::str::from_utf8(&self.character) {
                Ok(text) => {
                    let decoded = text.chars().next();
                    self.character.clear();
                    decoded.into_iter().for_each(|character| self.put(character));
                }
                Err(error) if error.error_len().is_none() => {}
                Err(_) => {
                    // The last byte may begin something else.
                    let retry = self.character.len() > 1;
                    self.character.clear();
                    self.put(char::REPLACEMENT_CHARACTER);
                    if retry {
                        self.text(byte);
                    }
                }
            }
            return;
        }
        match byte {
            b'\n' => self.line_feed(),
            b'\r' => self.column = 0,
            0x08 => self.column = self.column.saturating_sub(1),
            0x1b => self.state = Parse::Escape,
            b'\t' => self.put('\t'),
            0x00..=0x1f | 0x7f => {}
            _ => self.put(char::from(byte)),
        }
    }

    fn put(&mut self, character: char) {
        // C1 controls arrive as two bytes of UTF-8 and would be acted on by whoever shows the text.
        if ('\u{80}'..='\u{9f}').contains(&character) {
            return;
        }
        if self.column >= MAX_LINE {
            self.line_feed();
        }
        let cell = Cell {
            character,
            style: self.style.clone(),
        };
        let column = self.column;
        if let Some(line) = self.lines.get_mut(self.row) {
            while line.len() < column {
                line.push(Cell {
                    character: ' ',
                    style: None,
                });
            }
            match line.get_mut(column) {
                Some(place) => *place = cell,
                None => line.push(cell),
            }
        }
        self.column += 1;
    }

    fn line_feed(&mut self) {
        self.column = 0;
        self.row += 1;
        if self.row >= self.lines.len() {
            self.lines.push_back(Vec::new());
        }
        while self.lines.len() > REACHABLE_LINES && self.row > 0 {
            self.finish_first_line();
        }
    }

    fn finish_first_line(&mut self) {
        if let Some(line) = self.lines.pop_front() {
            let text = self.line_text(&line);
            self.finished.push_str(&text);
            self.finished.push('\n');
        }
        self.row = self.row.saturating_sub(1);
    }

    fn control(&mut self, action: u8) {
        let numbers: Vec<usize> = self
            .parameters
            .split(';')
            .map(|number| number.parse().unwrap_or(0))
            .collect();
        let first = numbers.first().copied().unwrap_or(0);
        let count = first.clamp(1, MAX_LINE);
        match action {
            b'm' => self.select_style(),
            b'K' => self.erase_in_line(first),
            b'J' if first == 0 => {
                self.erase_in_line(0);
                for line in self.lines.iter_mut().skip(self.row + 1) {
                    line.clear();
                }
            }
            b'A' => self.row = self.row.saturating_sub(count),
            b'F' => {
                self.row = self.row.saturating_sub(count);
                self.column = 0;
            }
            b'B' | b'E' => {
                self.row = (self.row + count).min(self.lines.len().saturating_sub(1));
                if action == b'E' {
                    self.column = 0;
                }
            }
            b'C' => self.column = (self.column + count).min(MAX_LINE),
            b'D' => self.column = self.column.saturating_sub(count),
            b'G' => self.column = count - 1,
            b'P' => {
                let column = self.column;
                if let Some(line) = self.lines.get_mut(self.row)
                    && column < line.len()
                {
                    line.drain(column..(column + count).min(line.len()));
                }
            }
            _ => {}
        }
    }

    fn erase_in_line(&mut self, what: usize) {
        let column = self.column;
        let Some(line) = self.lines.get_mut(self.row) else {
            return;
        };
        match what {
            0 => line.truncate(column),
            1 => line.iter_mut().take(column + 1).for_each(|cell| {
                *cell = Cell {
                    character: ' ',
                    style: None,
                }
            }),
            _ => line.clear(),
        }
    }

    fn select_style(&mut self) {
        if self.colour == Colour::Drop
            || self
                .parameters
                .chars()
                .any(|c| !c.is_ascii_digit() && c != ';' && c != ':')
        {
            return;
        }
        // A reset may stand first in a longer list; what follows it starts from nothing.
        let (reset, added) = match self.parameters.as_str() {
            "" | "0" => (true, ""),
            list => list.strip_prefix("0;").map_or((false, list), |rest| (true, rest)),
        };
        let before = if reset {
            ""
        } else {
            self.style.as_deref().unwrap_or_default()
        };
        let style = if before.len() + added.len() > MAX_STYLE || before.is_empty() {
            added.to_owned()
        } else {
            format!("{before};{added}")
        };
        self.style = (!style.is_empty()).then(|| Arc::from(style));
    }

    fn line_text(&self, line: &[Cell]) -> String {
        let mut text = String::with_capacity(line.len());
        let mut style: Option<&Arc<str>> = None;
        for cell in line {
            if cell.style.as_ref() != style {
                if style.is_some() {
                    text.push_str("\x1b[0m");
                }
                style = cell.style.as_ref();
                if let Some(style) = style {
                    text.push_str("\x1b[");
                    text.push_str(style);
                    text.push('m');
                }
            }
            text.push(cell.character);
        }
        if style.is_some() {
            text.push_str("\x1b[0m");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASES: &[(&[u8], &str)] = &[
        (b"plain\nlines\n", "plain\nlines\n"),
        (b"no newline", "no newline"),
        (b"windows\r\nends\r\n", "windows\nends\n"),
        (b"10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        (b"longer text\rshort\n", "shortr text\n"),
        (b"longer text\rshort\x1b[K\n", "short\n"),
        (b"abc\x08\x08X\n", "aXc\n"),
        (b"\x1b[31mred\x1b[0m plain\n", "red plain\n"),
        (
            b"\x1b]0;title\x07text \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n",
            "text link\n",
        ),
        (b"a\nb\n\x1b[1A\x1b[2Kc\n", "a\nc\n"),
        (b"one\ntwo\x1b[1A\rONE\x1b[1B\rTWO\n", "ONE\nTWO\n"),
        (b"a\x1b[3Cb\n", "a   b\n"),
        (b"bell\x07 nul\0 del\x7f\n", "bell nul del\n"),
        (b"caf\xc3\xa9 \xe2\x82\xac\n", "caf\u{e9} \u{20ac}\n"),
        (b"latin \xe9 one\n", "latin \u{fffd} one\n"),
        (b"cut \xe2\x82", "cut \u{fffd}"),
        (b"\xc2\x9b31mc1\n", "31mc1\n"),
        (b"\x1b(Bx\x1b=y\n", "xy\n"),
    ];

    #[test]
    fn lines_are_those_a_terminal_shows() {
        for (bytes, expected) in CASES {
            assert_eq!(
                render(bytes, Colour::Drop),
                *expected,
                "{:?}",
                String::from_utf8_lossy(bytes)
            );
        }
    }

    /// The same bytes, cut anywhere.
    #[test]
    fn chunks_may_end_anywhere() {
        for (bytes, expected) in CASES {
            for at in 0..bytes.len() {
                let mut screen = Screen::new(Colour::Drop);
                let (first, second) = bytes.split_at(at);
                screen.push(first);
                screen.push(second);
                assert_eq!(
                    screen.finish(),
                    *expected,
                    "{:?} at {at}",
                    String::from_utf8_lossy(bytes)
                );
            }
        }
    }

    #[test]
    fn colours_can_be_kept() {
        assert_eq!(
            render(b"\x1b[1m\x1b[32mok\x1b[0m fine\x1b[31m\nred\n", Colour::Keep),
            "\x1b[1;32mok\x1b[0m fine\n\x1b[31mred\x1b[0m\n"
        );
    }

    #[test]
    fn a_line_without_end_stays_bounded() {
        let mut screen = Screen::new(Colour::Drop);
        for _ in 0..10 {
            screen.push(&[b'a'; MAX_LINE]);
            let _ = screen.take_lines();
        }
        assert!(screen.lines.iter().map(Vec::len).sum::<usize>() <= 2 * MAX_LINE);
        screen.push(b"\x1b[999999999Cx\x1b[999999999Cy\x1b[999999999P\x1b[999999999A\x1b[999999999Bz");
        assert!(screen.finish().len() < 10 * MAX_LINE);
    }
}
