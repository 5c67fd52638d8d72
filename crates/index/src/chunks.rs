//! Cuts a file into pieces of about forty lines that begin and end where its symbols do. Pure.
//!
//! Ranking works on pieces: a long file is found by its best part, and only that part need be shown.

use crate::outline::Definition;

/// Lines of a piece: what is aimed at, and the bounds.
const WANTED: u32 = 40;
const LEAST: u32 = 16;
const MOST: u32 = 64;

/// A piece by its lines, counted from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    pub first: u32,
    pub last: u32,
}

/// Pieces that cover all `lines` of the text without overlap. `blank` tells whether a line (from 1) is blank.
pub(crate) fn cut(line_count: u32, definitions: &[Definition], blank: impl Fn(u32) -> bool) -> Vec<Lines> {
    // How good it is to begin a piece at a line: a definition begins there, the outermost ones count most.
    let mut worth = vec![0u8; line_count as usize + 2];
    for definition in definitions {
        let value = if definition.container.is_none() { 12 } else { 9 };
        if let Some(place) = worth.get_mut(definition.first_line as usize) {
            *place = (*place).max(value);
        }
        if let Some(place) = worth.get_mut(definition.last_line as usize + 1) {
            *place = (*place).max(value - 3);
        }
    }
    let mut pieces = Vec::new();
    let mut first = 1;
    while first <= line_count {
        let left = line_count - first + 1;
        if left <= MOST {
            // Whether the rest is one piece or two.
            let halves = left > WANTED + LEAST;
            if !halves {
                pieces.push(Lines {
                    first,
                    last: line_count,
                });
                break;
            }
        }
        let mut best = (i32::MIN, first + WANTED);
        for start in first + LEAST..=(first + MOST).min(line_count + 1) {
            let at_symbol = i32::from(worth.get(start as usize).copied().unwrap_or(0)) * 2;
            let after_blank = if blank(start - 1) { 6 } else { 0 };
            let distance = (start - first).abs_diff(WANTED) as i32;
            let value = at_symbol + after_blank - distance;
            if value > best.0 {
                best = (value, start);
            }
        }
        pieces.push(Lines {
            first,
            last: best.1 - 1,
        });
        first = best.1;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::SymbolKind;

    fn function(first_line: u32, last_line: u32) -> Definition {
        Definition {
            name: "f".to_owned(),
            kind: SymbolKind::Function,
            first_line,
            last_line,
            container: None,
        }
    }

    #[test]
    fn pieces_cover_everything_once_and_begin_at_symbols() {
        let definitions: Vec<Definition> = (0..10).map(|n| function(n * 30 + 1, n * 30 + 29)).collect();
        let pieces = cut(300, &definitions, |_| false);
        let mut next = 1;
        for piece in &pieces {
            assert_eq!(piece.first, next);
            assert_eq!(piece.first % 30, 1, "{pieces:?}");
            next = piece.last + 1;
        }
        assert_eq!(next, 301);
    }

    #[test]
    fn text_without_symbols_is_cut_too() {
        for lines in [0, 1, 15, 16, 40, 64, 65, 1000] {
            let pieces = cut(lines, &[], |line| line % 7 == 0);
            let covered: u32 = pieces.iter().map(|piece| piece.last - piece.first + 1).sum();
            assert_eq!(covered, lines);
            assert!(pieces.iter().all(|piece| piece.last - piece.first < MOST));
        }
    }
}
