//! What an answer must be to be believed (MD-7), besides its types.

use turnfold_core::DueRoll;
use turnfold_core::picture::{Arrow, Block, Picture, TextLine};
use turnfold_core::text::in_one_line;

/// A broken law.
pub(crate) type Broken = String;

/// How many dice fall at once.
const DICE_MAX: u32 = 10_000;

/// How long names are: of rulesets, codes, rules and purposes of rolls.
const NAME_BYTES_MAX: usize = 64;

/// Requires a name of a ruleset.
pub(crate) fn ruleset_name(name: &str) -> Result<(), Broken> {
    let is_name = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        && name.len() <= NAME_BYTES_MAX;
    if is_name { Ok(()) } else { Err(format!("its name is {name:?}, expected lowercase letters and digits")) }
}

/// Requires an id of a rule.
pub(crate) fn rule_id(id: &str) -> Result<(), Broken> {
    let is_in = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-';
    if (1..=NAME_BYTES_MAX).contains(&id.len()) && id.bytes().all(is_in) {
        return Ok(());
    }
    Err(format!("{id:?} is no id of a rule, such as `CT-7`"))
}

/// Requires a roll that can be made.
pub(crate) fn due_roll(due: &DueRoll) -> Result<(), Broken> {
    snake_case(&due.purpose)?;
    if due.low > due.high || !(1..=DICE_MAX).contains(&due.count) {
        return Err(format!("a roll of {} values in {}..={} is due", due.count, due.low, due.high));
    }
    Ok(())
}

/// Requires a picture that shows nothing off its boards, and escapes its texts.
pub(crate) fn picture(picture: &mut Picture) -> Result<(), Broken> {
    picture.blocks.iter_mut().try_for_each(|block| match block {
        Block::Hexes(hexes) => {
            hexes.cells.iter_mut().for_each(|cell| escape([&mut cell.label, &mut cell.mark]));
            let is_on = |hex| hexes.board.contains(hex);
            hexes.targets.iter_mut().for_each(|(_, name)| escape([name]));
            let targets = hexes.targets.iter().all(|(hex, _)| is_on(*hex));
            on_board(targets && hexes.cells.iter().all(|cell| is_on(cell.at)) && all_on(&hexes.arrows, is_on))
        }
        Block::Grid(grid) => {
            for cell in &mut grid.cells {
                escape([&mut cell.mark]);
                cell.piece.iter_mut().for_each(|piece| {
                    escape([&mut piece.glyph, &mut piece.letter, &mut piece.name]);
                });
            }
            let is_on = |square| grid.board.contains(square);
            on_board(grid.cells.iter().all(|cell| is_on(cell.at)) && all_on(&grid.arrows, is_on))
        }
        Block::Rows(rows) => {
            for row in rows {
                escape_line(&mut row.label);
                escape([&mut row.target]);
                for piece in &mut row.pieces {
                    escape([&mut piece.text, &mut piece.mark, &mut piece.target]);
                }
            }
            Ok(())
        }
        Block::Bars(bars) => {
            for bar in bars {
                escape_line(&mut bar.label);
                escape([&mut bar.target]);
                bar.chips.iter_mut().for_each(|chip| escape([&mut chip.text, &mut chip.target]));
            }
            Ok(())
        }
        Block::Lines(lines) => {
            lines.iter_mut().for_each(escape_line);
            Ok(())
        }
    })
}

fn escape<const N: usize>(texts: [&mut String; N]) {
    for text in texts {
        *text = in_one_line(text);
    }
}

fn escape_line(line: &mut TextLine) {
    line.spans.iter_mut().for_each(|span| escape([&mut span.text]));
}

fn all_on<P: Copy>(arrows: &[Arrow<P>], is_on: impl Fn(P) -> bool) -> bool {
    arrows.iter().all(|arrow| arrow.path.len() >= 2 && arrow.path.iter().all(|place| is_on(*place)))
}

fn on_board(is_on: bool) -> Result<(), Broken> {
    if is_on { Ok(()) } else { Err("a picture shows something off its board".into()) }
}

pub(crate) fn snake_case(name: &str) -> Result<(), Broken> {
    let is_in = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_in) {
        return Ok(());
    }
    Err(format!("the name {:?} is not in snake_case", name.chars().take(NAME_BYTES_MAX).collect::<String>()))
}

/// Requires a text without control characters but these.
pub(crate) fn plain(text: &str, allowed: &str) -> Result<(), Broken> {
    let control = text.chars().find(|character| character.is_control() && !allowed.contains(*character));
    control
        .map_or(Ok(()), |found| Err(format!("a text with the control character {}", found.escape_unicode())))
}
