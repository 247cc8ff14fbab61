//! Decides what a command would do now. Each rule about commands is checked here, once.

use alloc::vec;
use alloc::vec::Vec;

use super::board::{Place, ROW_SIZE};
use super::command::{Command, Ids};
use super::energy::{Chakra, Color};
use super::ranged::{ChannelNumber, EnergyId, Row};
use super::reason::Rejection;
use super::sequence::{Variant, can_be_carried_out};
use super::state::{MayaPlace, Phase, Player, State};
use super::tokens::{Token, TokenNumber};
use turnfold_core::seat::Seat;

/// What to do for the active player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(pub(super) Step);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Take {
        row: Row,
        places: Vec<MayaPlace>,
        /// The token for the notch of the chakra's row; `None` for the universe.
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
        /// The place of the energy that leaves the game.
        black: Place,
        color: Color,
        /// The energy of the bag that replaces it.
        id: EnergyId,
    },
}

pub(super) fn decide(state: &State, seat: Seat, command: &Command) -> Result<Plan, Rejection> {
    if !belongs_to_phase(state, command) {
        return Err(Rejection::WrongPhase);
    }
    if seat != state.active {
        return Err(Rejection::NotYourTurn);
    }
    let player = state.player(seat).ok_or(Rejection::NotYourTurn)?;
    Ok(Plan(plan(state, player, command)?))
}

fn belongs_to_phase(state: &State, command: &Command) -> bool {
    match (command, &state.phase) {
        (Command::Take { .. } | Command::Channel(_) | Command::Meditate(_), Phase::Take)
        | (Command::Cancel | Command::Pick(_), Phase::PickColor) => true,
        (Command::Move { .. }, Phase::Channel(sequence)) => !sequence.is_complete(),
        // CH-11: between its first and last move, a channel can be neither undone nor ended.
        (Command::Confirm | Command::Undo, Phase::Channel(sequence)) => sequence.is_complete(),
        (Command::Cancel, Phase::Channel(sequence)) => sequence.moved.is_empty(),
        _ => false,
    }
}

/// Plans a command that the phase allows and the active player gave.
fn plan(state: &State, player: &Player, command: &Command) -> Result<Step, Rejection> {
    match command {
        Command::Take { row, ids } => plan_take(state, player, *row, ids.as_slice()),
        // CH-5: the reasons are checked in the order of the rule.
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
        // CH-10: offers include the look-ahead, so nothing else is checked.
        Command::Move { id, row } => {
            let sequence = state.sequence().ok_or(Rejection::WrongPhase)?;
            let offered = sequence.offered(&player.board, *id, *row);
            let (from, to, variant) = offered.ok_or(Rejection::NotOffered)?;
            Ok(Step::Move { from, to, variant })
        }
        Command::Confirm => Ok(Step::Confirm),
        Command::Undo => Ok(Step::Undo),
        Command::Cancel => Ok(Step::Cancel),
        // CH-6, CH-16: always possible in this phase.
        Command::Meditate(chakra) => Ok(Step::Meditate(*chakra)),
        Command::Pick(color) => {
            let (black, id) = exchange(state, player, *color).ok_or(Rejection::NotOffered)?;
            Ok(Step::Pick { black, color: *color, id })
        }
    }
}

/// CH-4: plans a take. The reasons are checked in the order of the ruling.
fn plan_take(state: &State, player: &Player, row: i32, ids: &[EnergyId]) -> Result<Step, Rejection> {
    // No list, because most of the candidates that are judged are no legal takes.
    let first_id = ids.first().ok_or(Rejection::NotOneFlow)?;
    let first = state.find_in_maya(*first_id).ok_or(Rejection::NotOneFlow)?;
    let column = first.0.column;
    let mut found = [first; 3];
    for (slot, id) in found.iter_mut().zip(ids) {
        *slot = state.find_in_maya(*id).ok_or(Rejection::NotOneFlow)?;
        if slot.0.column != column {
            return Err(Rejection::NotOneFlow);
        }
    }
    let chosen = found.get(..ids.len()).ok_or(Rejection::NotOneFlow)?;
    for (index, (_, energy)) in chosen.iter().enumerate() {
        for (_, earlier) in chosen.iter().take(index) {
            if earlier.color == energy.color {
                return Err(Rejection::SameColour);
            }
        }
    }
    let row = u16::try_from(row).ok().and_then(Row::new).ok_or(Rejection::BadRow)?;
    if row == Row::EARTH {
        return Err(Rejection::BadRow);
    }
    if player.board.room(row) < ids.len() {
        return Err(Rejection::RowFull);
    }
    let mut blacks_and_whites = 0;
    for (_, energy) in chosen {
        blacks_and_whites += u8::from(energy.color.is_black_or_white());
    }
    if blacks_and_whites == 0 && state.flow(column).any(|(_, energy)| energy.color.is_black_or_white()) {
        return Err(Rejection::MustTakeBlackOrWhite);
    }
    if blacks_and_whites == 2 {
        return Err(Rejection::BlackAndWhite);
    }
    let token = match Chakra::of_row(row) {
        Some(chakra) => Some((notch_token(player, chakra)?, chakra)),
        None => None,
    };
    for (_, energy) in chosen {
        if !energy.color.is_black_or_white() && player.board.count_of(energy.color) >= 3 {
            return Err(Rejection::TooManyOfColour);
        }
    }
    if let Some((_, chakra)) = token
        && player.tokens.in_notches() == 4
    {
        let mut board = player.board;
        for (_, energy) in chosen {
            board.put(row, *energy);
        }
        if !board.is_harmonised(chakra) {
            return Err(Rejection::LastToken);
        }
    }
    let places = chosen.iter().map(|(place, _)| *place).collect();
    Ok(Step::Take { row, places, token })
}

/// CH-4: returns the token that a take puts into the notch of a chakra's row.
fn notch_token(player: &Player, chakra: Chakra) -> Result<TokenNumber, Rejection> {
    if player.tokens.at(Token::Notch(chakra)).is_some() {
        return Err(Rejection::NotchBlocked);
    }
    player.tokens.next_free().ok_or(Rejection::NoToken)
}

/// CH-5, CH-12: returns `true` if a channel could be carried out, regardless of tokens.
pub(super) fn is_possible(state: &State, player: &Player, channel: ChannelNumber) -> bool {
    if channel == ChannelNumber::EXCHANGE {
        Color::ALL.into_iter().any(|color| exchange(state, player, color).is_some())
    } else {
        can_be_carried_out(&player.board, channel)
    }
}

/// CH-12: returns the place of the black energy and the id of its replacement, if the color may be picked.
fn exchange(state: &State, player: &Player, color: Color) -> Option<(Place, EnergyId)> {
    let board = &player.board;
    let (black, _) = board.placed_in(Row::EARTH).rev().find(|(_, energy)| energy.color == Color::Black)?;
    if board.room(Row::UNIVERSE) == 0 || (color != Color::Black && board.count_of(color) >= 3) {
        return None;
    }
    let (id, _) = state.bag.iter().find(|(_, other)| **other == color)?;
    Some((black, *id))
}

/// Lists the commands worth trying; none for a seat that is not a player.
pub(super) fn candidates(state: &State, seat: Seat) -> Vec<Command> {
    let Some(player) = state.player(seat) else { return Vec::new() };
    let mut commands = vec![Command::Confirm, Command::Undo, Command::Cancel];
    commands.extend(takes(state));
    commands.extend(ChannelNumber::all().map(Command::Channel));
    commands.extend(Chakra::all().map(Command::Meditate));
    commands.extend(Color::ALL.map(Command::Pick));
    for (place, energy) in player.board.placed() {
        for row in Row::all() {
            if place.row != Row::EARTH && row != Row::UNIVERSE {
                commands.push(Command::Move { id: energy.id, row: i32::from(row.get()) });
            }
        }
    }
    commands
}

/// Returns the takes of every choice from a flow, in every order, into rows 1 to 8: by row, flow, size and places.
pub(super) fn takes(state: &State) -> Vec<Command> {
    let mut choices = Vec::new();
    for column in 0..ROW_SIZE {
        push_choices(state, column, &mut choices);
    }
    let mut takes = Vec::with_capacity(choices.len() * Row::all().count());
    for row in Row::all() {
        for ids in &choices {
            if row != Row::EARTH {
                takes.push(Command::Take { row: i32::from(row.get()), ids: *ids });
            }
        }
    }
    takes
}

/// Appends every choice of one to three energies of a flow, in every order, shorter choices first.
fn push_choices(state: &State, column: usize, choices: &mut Vec<Ids>) {
    let flow: Vec<EnergyId> = state.flow(column).map(|(_, energy)| energy.id).collect();
    let mut last = choices.len();
    for id in &flow {
        choices.push(Ids::one(*id));
    }
    for _ in 1..3 {
        let until = choices.len();
        for index in last..until {
            let Some(shorter) = choices.get(index).copied() else { break };
            for id in &flow {
                if !shorter.as_slice().contains(id) {
                    choices.extend(shorter.with(*id));
                }
            }
        }
        last = until;
    }
}
