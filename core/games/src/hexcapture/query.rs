//! The question a state answers: `chance Q,R`.

use alloc::format;
use alloc::string::ToString;

use super::state::{Field, State};
use turnfold_core::hex::Hex;
use turnfold_core::rules::Answer;
use turnfold_core::text::{Malformed, OrNone, split_verb};

pub(super) fn query(state: &State, question: &str) -> Result<Option<Answer>, Malformed> {
    match split_verb(question) {
        ("chance", Some(hex)) => chance(state, hex).map(Some),
        _ => Ok(None),
    }
}

/// HC-13 for any cell of the world; nothing for an empty one.
fn chance(state: &State, hex: &str) -> Result<Answer, Malformed> {
    let at: Hex = hex.parse()?;
    if !state.board.contains(at) {
        let message = format!("hex {at} is off the board of radius {}", state.board.radius());
        return Err(Malformed(message));
    }
    let chance = state.chance(Field::World, at);
    Ok(Answer::new(OrNone(chance).to_string(), &chance))
}
