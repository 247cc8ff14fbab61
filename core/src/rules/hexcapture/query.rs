//! The question a state answers: `chance Q,R`.

use alloc::format;
use alloc::string::{String, ToString};

use super::state::{Field, State};
use crate::hex::Hex;
use crate::rules::{Answer, QueryError};
use crate::text::{OrNone, split_verb};

pub(super) fn query(state: &State, question: &str) -> Result<Answer, QueryError> {
    match split_verb(question) {
        ("chance", Some(hex)) => chance(state, hex),
        (verb, _) => Err(QueryError::Unknown {
            ruleset: "hexcapture",
            found: String::from(verb),
            known: "`chance Q,R`",
        }),
    }
}

/// HC-13 for any cell of the world; nothing for an empty one.
fn chance(state: &State, hex: &str) -> Result<Answer, QueryError> {
    let at: Hex = hex.parse().map_err(|malformed| QueryError::Arguments(ToString::to_string(&malformed)))?;
    if !state.board.contains(at) {
        let message = format!("hex {at} is off the board of radius {}", state.board.radius());
        return Err(QueryError::Arguments(message));
    }
    let chance = state.chance(Field::World, at);
    Ok(Answer::new(OrNone(chance).to_string(), &chance))
}
