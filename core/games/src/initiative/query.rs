//! The questions a state answers: `order LOSER WINNER` and `reach UNIT`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::judge::check_move;
use super::movement::{Side, movement_order};
use super::state::State;
use turnfold_core::hex::Hex;
use turnfold_core::rules::Answer;
use turnfold_core::seat::Seat;
use turnfold_core::text::{Malformed, number, split_verb};

pub(super) fn query(state: &State, question: &str) -> Result<Option<Answer>, Malformed> {
    match split_verb(question) {
        ("order", Some(counts)) => order(counts).map(Some),
        ("reach", Some(unit)) => reach(state, unit).map(Some),
        _ => Ok(None),
    }
}

/// IN-4 for any two counts of 0..=1000.
fn order(counts: &str) -> Result<Answer, Malformed> {
    let count = |word: &str| number::<u32>(word).ok().filter(|count| *count <= 1000);
    let read = counts.split_once(' ').and_then(|(loser, winner)| Some((count(loser)?, count(winner)?)));
    let Some((loser, winner)) = read else {
        let message = format!("`order` takes two counts of 0 to 1000, found `{}`", counts.escape_debug());
        return Err(Malformed(message));
    };
    let side = |player, units| Side { player, units };
    let impulses: Vec<(&str, u32)> = movement_order(side(Seat::P1, loser), side(Seat::P2, winner))
        .iter()
        .map(|impulse| (if impulse.player == Seat::P1 { "L" } else { "W" }, impulse.units))
        .collect();
    let words: Vec<String> = impulses.iter().map(|(side, units)| format!("{side}{units}")).collect();
    Ok(Answer::new(words.join(" "), &impulses))
}

/// The hexes that `move` (IN-11) would accept were the unit selected.
fn reach(state: &State, id: &str) -> Result<Answer, Malformed> {
    let Some(unit) = state.units.iter().find(|unit| unit.id.as_str() == id) else {
        return Err(Malformed(format!("no unit has the id `{}`", id.escape_debug())));
    };
    let hexes: Vec<Hex> = state.board.hexes().filter(|&hex| check_move(state, unit, hex).is_ok()).collect();
    let words: Vec<String> = hexes.iter().map(ToString::to_string).collect();
    Ok(Answer::new(words.join(" "), &hexes))
}
