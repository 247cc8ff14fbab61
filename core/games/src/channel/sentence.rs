//! Sentences about what happened. Everyone knows the colors of energies that have left the bag.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::effect::Effect;
use super::energy::Chakra;
use super::ranged::{EnergyId, Row};
use super::state::State;
use super::tokens::Token;
use turnfold_core::seat::{Perspective, Seat};
use turnfold_core::text::{capital, counted_in_words, listed};

pub(super) fn sentence(state: &State, seat: Seat, effect: &Effect, reader: Perspective) -> String {
    let by = seat.as_subject(reader);
    match effect {
        Effect::Taken { row, ids } => {
            let taken: Vec<_> = ids.iter().map(|id| energy(state, *id)).collect();
            format!("{by} took {} into {}.", listed(&taken), named(*row))
        }
        Effect::Refilled { row, col, id } => {
            let energy = capital(&energy(state, *id));
            format!("{energy} came out of the bag, to row {row}, column {col} of the maya.")
        }
        Effect::Token { token, to: Token::Board(_) } => format!("Token {token} is back on the board."),
        Effect::Token { token, to: Token::Notch(chakra) } => {
            format!("Token {token} is in the notch of {}.", named(chakra.row()))
        }
        Effect::Token { token, to: Token::Channel(channel) } => {
            format!("Token {token} is on channel {channel}.")
        }
        Effect::ChannelOpened { channel } => format!("{by} opened channel {channel}."),
        Effect::Moved { id, from, to, .. } => {
            format!("{by} moved {} from {} to {}.", energy(state, *id), named(*from), named(*to))
        }
        Effect::Harmonised { row } => format!("{} is in harmony.", capital(&named(*row))),
        Effect::Step { .. } => String::new(),
        Effect::Undone => format!("{by} took the whole channel back."),
        Effect::Cancelled => format!("{by} closed the channel again."),
        Effect::Confirmed => format!("{by} confirmed the moves."),
        Effect::Meditated { color } => format!("{by} learned what the {color} chakra is worth."),
        Effect::Picked { color, id } => {
            format!("{by} picked {color}: energy {id} went from the bag to row 1.")
        }
        Effect::LeftTheGame { id } => format!("{} left the game.", capital(&energy(state, *id))),
        Effect::Yinyang { row, halves } => {
            let halves = counted_in_words((*halves).into(), "half", "halves");
            format!("White and black met in {}. That makes {halves} of a yin-yang.", named(*row))
        }
        Effect::TurnEnded { next: None } => "The turn is over.".into(),
        Effect::TurnEnded { next: Some(next) } if reader.is_seat(*next) => "It is your turn.".into(),
        Effect::TurnEnded { next: Some(next) } => format!("It is {next}'s turn."),
        Effect::LastRound => "This is the last round.".into(),
        Effect::MatchOver { winners } => {
            let winners: Vec<_> =
                winners.iter().map(|winner| winner.as_subject(reader).to_string()).collect();
            format!("{} won.", listed(&winners))
        }
    }
}

/// Names an energy, such as `red 12`; omits the color if the energy is neither on a board nor in the maya.
fn energy(state: &State, id: EnergyId) -> String {
    match state.visible_energies().find(|energy| energy.id == id) {
        Some(energy) => format!("{} {id}", energy.color),
        None => format!("energy {id}"),
    }
}

fn named(row: Row) -> String {
    match Chakra::of_row(row) {
        Some(chakra) => format!("row {row} ({chakra})"),
        None => format!("row {row}"),
    }
}
