//! What a command would do now; every rule about commands stands here, once.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::board::Place;
use super::command::Command;
use super::energy::{Chakra, Color, Energy};
use super::ranged::{ChannelNumber, EnergyId, Row};
use super::reason::Rejection;
use super::sequence::{Variant, can_be_carried_out};
use super::state::{MayaPlace, Phase, Player, State};
use super::tokens::{Token, TokenNumber};
use turnfold_core::collections::gathered;
use turnfold_core::seat::Seat;

/// What is to be done for the active player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(pub(super) Step);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Take {
        row: Row,
        places: Vec<MayaPlace>,
        /// The token that goes to the notch; none for the universe.
        token: Option<(TokenNumber, Chakra)>,
    },
    Open {
        channel: ChannelNumber,
        token: TokenNumber,
    },
    Move {
        from: Place,
        to: Row,
        variant: Variant,
    },
    Confirm,
    Undo,
    Cancel,
    Meditate(Chakra),
    Pick {
        /// Where the energy is that leaves the game.
        black: Place,
        color: Color,
        /// The energy of the bag that comes for it.
        id: EnergyId,
    },
}

pub(super) fn decide(state: &State, seat: Seat, command: &Command) -> Result<Plan, Rejection> {
    if !belongs_to_phase(state, command) {
        return Err(Rejection::WrongPhase);
    }
    let player = state.player(seat).filter(|_| seat == state.active).ok_or(Rejection::NotYourTurn)?;
    plan(state, player, command).map(Plan)
}

fn belongs_to_phase(state: &State, command: &Command) -> bool {
    match (command, &state.phase) {
        (Command::Take { .. } | Command::Channel(_) | Command::Meditate(_), Phase::Take)
        | (Command::Cancel | Command::Pick(_), Phase::PickColor) => true,
        (Command::Move { .. }, Phase::Channel(sequence)) => !sequence.is_complete(),
        // CH-11: midway there is neither a way back nor an end.
        (Command::Confirm | Command::Undo, Phase::Channel(sequence)) => sequence.is_complete(),
        (Command::Cancel, Phase::Channel(sequence)) => sequence.moved.is_empty(),
        _ => false,
    }
}

/// Plans a command that this phase takes from this player.
fn plan(state: &State, player: &Player, command: &Command) -> Result<Step, Rejection> {
    match command {
        Command::Take { row, ids } => plan_take(state, player, *row, ids.as_slice()),
        // CH-5: the reasons are tried in the order of the rule.
        Command::Channel(channel) => {
            let token = player.tokens.next_free().ok_or(Rejection::NoToken)?;
            if player.tokens.at(Token::Channel(*channel)).is_some() {
                return Err(Rejection::ChannelUsed);
            }
            if !is_possible(state, player, *channel) {
                return Err(Rejection::Impossible);
            }
            Ok(Step::Open { channel: *channel, token })
        }
        // CH-10: what is offered has been looked ahead for, so nothing else is checked.
        Command::Move { id, row } => {
            let sequence = state.sequence().ok_or(Rejection::WrongPhase)?;
            let offered = sequence.offered(&player.board, *id, *row);
            let (from, to, variant) = offered.ok_or(Rejection::NotOffered)?;
            Ok(Step::Move { from, to, variant })
        }
        Command::Confirm => Ok(Step::Confirm),
        Command::Undo => Ok(Step::Undo),
        Command::Cancel => Ok(Step::Cancel),
        // CH-6, CH-16: nothing forbids it.
        Command::Meditate(chakra) => Ok(Step::Meditate(*chakra)),
        Command::Pick(color) => {
            let (black, id) = exchange(state, player, *color).ok_or(Rejection::NotOffered)?;
            Ok(Step::Pick { black, color: *color, id })
        }
    }
}

/// CH-4: the checks of a take, in the order of the ruling.
fn plan_take(state: &State, player: &Player, row: i32, ids: &[EnergyId]) -> Result<Step, Rejection> {
    let found = ids.iter().map(|id| state.find_in_maya(*id)).collect::<Option<Vec<_>>>();
    let (places, energies): (Vec<MayaPlace>, Vec<Energy>) =
        found.ok_or(Rejection::NotOneFlow)?.into_iter().unzip();
    let column = places.first().map(|place| place.column).ok_or(Rejection::NotOneFlow)?;
    if places.iter().any(|place| place.column != column) {
        return Err(Rejection::NotOneFlow);
    }
    let colors: BTreeSet<Color> = gathered(energies.iter().map(|energy| energy.color));
    if colors.len() < energies.len() {
        return Err(Rejection::SameColour);
    }
    let row = u16::try_from(row).ok().and_then(Row::new);
    let row = row.filter(|row| *row != Row::EARTH).ok_or(Rejection::BadRow)?;
    if player.board.room(row) < energies.len() {
        return Err(Rejection::RowFull);
    }
    let shows_either = state.flow(column).any(|(_, energy)| energy.color.is_black_or_white());
    match colors.iter().filter(|color| color.is_black_or_white()).count() {
        0 if shows_either => return Err(Rejection::MustTakeBlackOrWhite),
        2 => return Err(Rejection::BlackAndWhite),
        _ => {}
    }
    let token = Chakra::of_row(row).map(|chakra| notch_token(player, chakra)).transpose()?;
    if colors.iter().any(|color| !color.is_black_or_white() && player.board.count_of(*color) >= 3) {
        return Err(Rejection::TooManyOfColour);
    }
    if let Some((_, chakra)) = token {
        let mut board = player.board;
        for energy in &energies {
            board.put(row, *energy);
        }
        if player.tokens.in_notches() == 4 && !board.is_harmonised(chakra) {
            return Err(Rejection::LastToken);
        }
    }
    Ok(Step::Take { row, places, token })
}

/// CH-4: the token that a take puts into the notch of a chakra's row.
fn notch_token(player: &Player, chakra: Chakra) -> Result<(TokenNumber, Chakra), Rejection> {
    if player.tokens.at(Token::Notch(chakra)).is_some() {
        return Err(Rejection::NotchBlocked);
    }
    let token = player.tokens.next_free().ok_or(Rejection::NoToken)?;
    Ok((token, chakra))
}

/// CH-5, CH-12: whether a channel could be carried out, tokens disregarded.
pub(super) fn is_possible(state: &State, player: &Player, channel: ChannelNumber) -> bool {
    if channel == ChannelNumber::EXCHANGE {
        Color::ALL.into_iter().any(|color| exchange(state, player, color).is_some())
    } else {
        can_be_carried_out(&player.board, channel)
    }
}

/// CH-12: the place of the black energy that leaves and the energy that comes for it, if the color may be picked.
fn exchange(state: &State, player: &Player, color: Color) -> Option<(Place, EnergyId)> {
    let board = &player.board;
    let (black, _) = board.placed_in(Row::EARTH).rev().find(|(_, energy)| energy.color == Color::Black)?;
    if board.room(Row::UNIVERSE) == 0 || (color != Color::Black && board.count_of(color) >= 3) {
        return None;
    }
    let (id, _) = state.bag.iter().find(|(_, other)| **other == color)?;
    Some((black, *id))
}
