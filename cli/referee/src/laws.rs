//! What answers must fulfill besides their types (MD-7).

use turnfold_core::DueRoll;
use turnfold_core::picture::{Arrow, Block, Picture, TextLine};
use turnfold_core::text::in_one_line;

const DICE_MAX: u32 = 10_000;

/// The most bytes of names: of rulesets, codes, rules and purposes of rolls.
const NAME_BYTES_MAX: usize = 64;

pub(crate) fn ruleset_name(name: &str) -> Result<(), String> {
    let is_name = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        && name.len() <= NAME_BYTES_MAX;
    if !is_name {
        return Err(format!("its name is {name:?}, expected lowercase letters and digits"));
    }
    Ok(())
}

pub(crate) fn rule_id(id: &str) -> Result<(), String> {
    if (1..=NAME_BYTES_MAX).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-')
    {
        return Ok(());
    }
    Err(format!("{id:?} is no id of a rule, such as `CT-7`"))
}

pub(crate) fn due_roll(due: &DueRoll) -> Result<(), String> {
    snake_case(&due.purpose)?;
    if due.low > due.high || !(1..=DICE_MAX).contains(&due.count) {
        return Err(format!("a roll of {} values in {}..={} is due", due.count, due.low, due.high));
    }
    Ok(())
}

/// Requires a picture that shows nothing off its boards, and escapes its texts.
pub(crate) fn picture(picture: &mut Picture) -> Result<(), String> {
    for block in &mut picture.blocks {
        let mut is_on_board = true;
        match block {
            Block::Hexes(hexes) => {
                let board = &hexes.board;
                for cell in &mut hexes.cells {
                    is_on_board &= board.contains(cell.at);
                    escape([&mut cell.label, &mut cell.mark]);
                }
                for (hex, name) in &mut hexes.targets {
                    is_on_board &= board.contains(*hex);
                    escape([name]);
                }
                is_on_board &= hexes.arrows.iter().all(|arrow| is_path(arrow, |hex| board.contains(hex)));
            }
            Block::Grid(grid) => {
                let board = &grid.board;
                for cell in &mut grid.cells {
                    is_on_board &= board.contains(cell.at);
                    escape([&mut cell.mark]);
                    if let Some(piece) = &mut cell.piece {
                        escape([&mut piece.glyph, &mut piece.letter, &mut piece.name]);
                    }
                }
                is_on_board &=
                    grid.arrows.iter().all(|arrow| is_path(arrow, |square| board.contains(square)));
            }
            Block::Rows(rows) => {
                for row in rows {
                    escape_line(&mut row.label);
                    escape([&mut row.target]);
                    for piece in &mut row.pieces {
                        escape([&mut piece.text, &mut piece.mark, &mut piece.target]);
                    }
                }
            }
            Block::Bars(bars) => {
                for bar in bars {
                    escape_line(&mut bar.label);
                    escape([&mut bar.target]);
                    for chip in &mut bar.chips {
                        escape([&mut chip.text, &mut chip.target]);
                    }
                }
            }
            Block::Lines(lines) => lines.iter_mut().for_each(escape_line),
        }
        if !is_on_board {
            return Err("a picture shows something off its board".into());
        }
    }
    Ok(())
}

fn escape<const N: usize>(texts: [&mut String; N]) {
    for text in texts {
        *text = in_one_line(text);
    }
}

fn escape_line(line: &mut TextLine) {
    for span in &mut line.spans {
        escape([&mut span.text]);
    }
}

fn is_path<P: Copy>(arrow: &Arrow<P>, is_on: impl Fn(P) -> bool) -> bool {
    arrow.path.len() >= 2 && arrow.path.iter().all(|place| is_on(*place))
}

pub(crate) fn snake_case(name: &str) -> Result<(), String> {
    if (1..=NAME_BYTES_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    {
        return Ok(());
    }
    Err(format!("the name {:?} is not in snake_case", name.chars().take(NAME_BYTES_MAX).collect::<String>()))
}

pub(crate) fn plain(text: &str, allowed: &str) -> Result<(), String> {
    match text.chars().find(|found| found.is_control() && !allowed.contains(*found)) {
        Some(found) => Err(format!("a text with the control character {}", found.escape_unicode())),
        None => Ok(()),
    }
}
